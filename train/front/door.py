"""``python train.py``: Hydra started, one job carried out, the process ended with its status."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode

from files import InputError
from files.rooms import HOME
from train.device import pick_device
from train.front.compose import CONF, hydra_node, read_point, read_study, refuse_unknown_keys
from train.front.options import read_options
from train.front.refuse import refuse
from train.front.settings import Settings, read_settings
from train.interrupt import GO_ON, Interrupted, interruptible
from train.outcome import Outcome, note, results_folder, run_point, sharing
from train.point import Plan, plan_point
from train.store import Store
from train.store.lease import end_with_the_sweep, lease
from train.worker import Worker, WorkerDiedError, keep_to_one_thread, silence_libraries

if TYPE_CHECKING:
    from pathlib import Path

    from omegaconf import DictConfig


class Door:
    """What a run of the front door has: the status that it ends with (0 all done, 1 a point failed,
    2 input refused), and the child of an engine that runs points one by one.
    """

    status = 0
    worker = Worker()


def main() -> NoReturn:
    """Run what the command line asks for and exit."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    # An engine's workers start elsewhere; they must find this copy of the project.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(HOME), os.environ.get("PYTHONPATH")))
    )
    Door.status, Door.worker = 0, Worker()
    try:
        with interruptible():
            read_options(sys.argv[1:])
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
    except Exception as error:
        refuse(error)
    except Interrupted as stop:
        print(GO_ON, file=sys.stderr)
        sys.exit(stop.status)
    finally:
        Door.worker.stop()
    sys.exit(Door.status)


def job(config: DictConfig) -> Outcome | None:
    """One Hydra job: one point. In a sweep its outcome is returned to the sweeper; alone its tables
    are written and printed.
    """
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        end_with_the_sweep()
        os.chdir(HydraConfig.get().runtime.cwd)  # an engine may start its workers elsewhere
        settings = read_settings(config)
        plan, store = _prepare(config, settings)
        return run_apart(plan, store, results_folder(settings.results), Door.worker)
    try:
        Door.status = run_alone(config)
    except Exception as error:  # refused here, for Hydra would print more about it than users need
        refuse(error)
    return None


def run_apart(plan: Plan, store: Store, results: Path, worker: Worker) -> Outcome:
    """Run the point in a child process, whose death is the point's failure and nobody else's."""
    try:
        return worker(run_point, plan, store, results)
    except WorkerDiedError as error:
        return note(Outcome(plan.key, "failed", str(error)), results)


def run_alone(config: DictConfig) -> int:
    """Run the point in this process, where a debugger can follow, and print what came out; the exit
    status.
    """
    from rich.console import Console

    from train.finish import finish
    from train.front.again import plan_remakes, remove
    from train.front.check import check_input

    console = Console()
    refuse_unknown_keys(config, hydra_node())
    settings = read_settings(config)
    check_input([read_point(config)], console)
    plan, store = _prepare(config, settings)
    again = plan_remakes([plan], [plan], store, settings, console)
    study = read_study(config)
    if settings.power:
        raise InputError("power=true plans a study; a single point is none, name a sweep")
    if settings.plan:
        return 0
    results = results_folder(settings.results) / plan.key
    keep_to_one_thread()
    silence_libraries()
    with lease(store.root, plan.stages()), sharing(results):
        remove(again, store)
        outcomes: dict[str, Outcome] = {}
        if settings.overwrite != "only-cache" and not all(map(store.intact, plan.ends)):
            store.prove_writable()
            store.orphans(remove=True)
            outcomes[plan.key] = run_point(plan, store, results)
            if outcomes[plan.key].refused:
                raise InputError(outcomes[plan.key].error)
        return finish([plan], outcomes, study, store, results, console)


def _prepare(config: DictConfig, settings: Settings) -> tuple[Plan, Store]:
    hydra_config = HydraConfig.get()
    number = hydra_config.job.num if hydra_config.mode == RunMode.MULTIRUN else 0
    store = open_store(config, settings, hydra_config.overrides.task, number)
    return plan_point(read_point(config), store), store


def open_store(
    config: DictConfig, settings: Settings, overrides: Sequence[str], number: int
) -> Store:
    """The store of job ``number``, which notes in its recipes what makes a result again; the device
    is picked here.
    """
    device = pick_device(str(config.device), number)
    config.device = device
    command = f"python train.py {shlex.join(['hydra.mode=RUN', *overrides])}"
    return Store(settings.store, {"command": command, "device": device})
