"""``python train.py``: the command read, its point or its sweep run, the process ended with its
status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from hydra import initialize_config_dir

from files import InputError
from files.rooms import HOME
from train.front.compose import CONF, Command, check_keys, read_command, read_point, read_study
from train.front.engine import limit_process, prepare
from train.front.refuse import refuse
from train.front.settings import read_settings
from train.front.sweep import sweep
from train.interrupt import GO_ON, Interrupted, interruptible
from train.outcome import Outcome, results_folder, run_point, sharing
from train.store.lease import lease


def main() -> NoReturn:
    """Run what the command line asks for and exit: 0 all done, 1 a point failed, 2 input
    refused.
    """
    # An engine's workers start elsewhere; they must find this copy of the project.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(HOME), os.environ.get("PYTHONPATH")))
    )
    try:
        with interruptible():
            status = run(sys.argv[1:])
    except Exception as error:
        refuse(error)
    except Interrupted as stop:
        print(GO_ON, file=sys.stderr)
        sys.exit(stop.status)
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run a point or a sweep; the exit status."""
    with initialize_config_dir(str(CONF), job_name="train", version_base="1.3"):
        command = read_command(arguments)
        return sweep(command) if command.is_sweep else run_alone(command)


def run_alone(command: Command) -> int:
    """Run the point in this process, where a debugger can follow, and print what came out; the exit
    status.
    """
    from rich.console import Console

    from train.finish import finish
    from train.front.check import check_input
    from train.front.rebuild import plan_rebuilds, remove

    config, console = command.config, Console()
    check_keys(config, config.hydra)
    settings = read_settings(config)
    check_input([read_point(config)], console)
    plan, store = prepare(config, settings, command.overrides, 0)
    rebuilt = plan_rebuilds([plan], [plan], store, settings, console)
    study = read_study(config)
    if settings.power:
        raise InputError("power=true plans a study; a single point is none, name a sweep")
    if settings.plan:
        return 0
    results = results_folder(f"{settings.results}/{plan.key}")
    limit_process()
    with lease(store.root, plan.stages()), sharing(results):
        remove(rebuilt, store)
        outcomes: dict[str, Outcome] = {}
        if settings.overwrite != "only-cache" and not all(map(store.intact, plan.ends)):
            store.prove_writable()
            store.orphans(remove=True)
            outcomes[plan.key] = run_point(plan, store, results)
            if outcomes[plan.key].refused:
                raise InputError(outcomes[plan.key].error)
        return finish([plan], outcomes, study, store, results, console)
