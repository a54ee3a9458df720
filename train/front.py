"""The front door's hinge: Hydra's configuration in, a point or a sweep out. With ``train.py`` the only module that knows Hydra."""

from __future__ import annotations

import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console

from files import InputError, atomic_path, nearest
from train.choices import to_point
from train.point import plan_point
from train.progress import SweepProgress
from train.run import distinct, finish, print_plan, record_path, run_point
from train.store import Store

CONF = Path(__file__).resolve().parent.parent / "conf"
DATA = "BIASBRIDGE_DATA"


def data_path(relative: str) -> str:
    """A path inside the folder of real data, for ``${data:...}`` in configuration files."""
    folder = os.environ.get(DATA)
    if not folder:
        raise InputError(f"this choice reads {relative} from the folder named by {DATA}, which is not set; set it, or give the path")
    return str(Path(folder) / relative)


OmegaConf.register_new_resolver("data", data_path, replace=True)


class SweepCallback(Callback):
    """Plans a sweep before its first job, shows its progress, and writes the tables after its last."""

    status = 0

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Compose every job's configuration, so that bad input ends the sweep before anything runs."""
        console = Console()
        try:
            cells = _cells(config)
            self.store = Store(config.store.dir)
            self.results = _results(config)
            self.plans = distinct([plan_point(_point(cell), self.store) for cell in cells])
        except Exception as error:
            _refuse(error)
        print_plan(self.plans, len(cells), self.store, console)
        if config.plan:
            sys.exit(0)
        records = [record_path(self.results, plan) for plan in self.plans]
        for path in records:
            path.unlink(missing_ok=True)
        self.progress = SweepProgress(records, console)
        self.progress.start()

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Join what the jobs left; the status is 0 only if every point is done."""
        self.progress.stop()
        SweepCallback.status = finish(self.plans, self.store, self.results, Console(), extend=config.results.extend)


def job(config: DictConfig) -> None:
    """One Hydra job: one point. In a sweep its outcome is only noted; alone its tables are written and printed."""
    try:
        store, results = Store(config.store.dir), _results(config)
        plan = plan_point(_point(config), store)
    except Exception as error:
        _refuse(error)
    if HydraConfig.get().mode == RunMode.MULTIRUN:
        run_point(plan, store, results)
        return
    print_plan([plan], 1, store, Console())
    if not config.plan:
        record = run_point(plan, store, results / plan.key)
        if record["refused"]:
            _refuse(InputError(record["error"]))
        SweepCallback.status = finish([plan], store, results / plan.key, Console())


def main() -> None:
    """Run what the command line asks for and exit: 0 all done, 1 a point failed, 2 the input was refused."""
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
    except (InputError, HydraException, OmegaConfBaseException) as error:
        _refuse(error)
    sys.exit(SweepCallback.status)


def _point(config: DictConfig) -> Any:
    tree = OmegaConf.to_container(config, resolve=True)
    assert isinstance(tree, dict)
    return to_point({str(key): value for key, value in tree.items() if key != "hydra"})


def _cells(config: DictConfig) -> list[DictConfig]:
    """The configuration of every cell of the grid, composed as Hydra's basic sweeper will compose it."""
    grid = [f"{key}={value}" for key, value in (config.hydra.sweeper.params or {}).items()]
    overrides = OverridesParser.create().parse_overrides([*grid, *config.hydra.overrides.task])
    core = GlobalHydra.instance().hydra
    assert core is not None
    batches = BasicSweeper.split_arguments(overrides, max_batch_size=None)
    return [
        core.compose_config(config_name=config.hydra.job.config_name, overrides=list(cell), run_mode=RunMode.RUN, from_shell=False)
        for batch in batches
        for cell in batch
    ]


def _results(config: DictConfig) -> Path:
    """The results folder, proven to be writable before anything runs."""
    folder = Path(config.results.dir).resolve()
    with atomic_path(folder / "points" / "probe") as probe:
        probe.touch()
    (folder / "points" / "probe").unlink()
    return folder


def _refuse(error: Exception) -> NoReturn:
    """Print what was wrong with the input and exit with status 2; anything else is a bug and keeps its traceback."""
    if not isinstance(error, InputError | HydraException | OmegaConfBaseException):
        raise SystemExit(_crash(error))
    print(f"error: {_explain(error)}", file=sys.stderr)
    raise SystemExit(2)


def _crash(error: Exception) -> int:
    traceback.print_exception(error)
    return 1


def _explain(error: BaseException) -> str:
    """The message of the innermost error that speaks of the input, with the nearest known key or option."""
    chain: list[BaseException] = [error]
    while cause := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(cause)
    for link in chain:
        if isinstance(link, InputError):
            return str(link)
    text = " ".join(str(error).partition("Config search path")[0].split())
    parent = next(filter(None, (getattr(link, "parent_node", None) for link in chain)), None)
    missing = re.search(r"Key '([^']+)'", " ".join(str(link) for link in chain))
    if missing and isinstance(parent, DictConfig):
        return f"unknown config key {missing[1]!r}{nearest(missing[1], map(str, parent))} ({text})"
    option = re.search(r"Could not find '([^']+)'", text)
    if option:
        name = option[1].split("/")[-1]
        return text + nearest(name, re.findall(r"[\w-]+", text.partition("Available options")[2]))
    return text
