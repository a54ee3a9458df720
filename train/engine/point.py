"""Point of a study: a model with its metrics, probe, task and seed; the steps to compute it,
and how its last run ended, which is written to a file.

Whether a point is done is decided by the store alone.
"""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from biasbridge.extrinsic.task_words import FROM_TASK
from biasbridge.files import InputError, atomic_path, choice, nearest
from biasbridge.files.language import require_one_language
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.lookup import placeholder
from biasbridge.intrinsic.metric import AnyMetric, Metric, Probe
from biasbridge.train.engine.locks import NoLockError, StoreError, locked
from biasbridge.train.engine.scores import build_probes, build_score
from biasbridge.train.engine.source import full_name
from biasbridge.train.engine.steps import (
    ComparesGroups,
    Facts,
    PredictsVocabulary,
    SharedSteps,
    StepBuilder,
    Subject,
    Task,
)
from biasbridge.train.tasks.task_words import TaskWords, compares_genders

if TYPE_CHECKING:
    from biasbridge.intrinsic.words import Query
    from biasbridge.train.engine.store import Step, Store


_NO_TASK: Facts = {"task": "none"}
NAMES = {"base": "parent"}  # step names of a subject and their names in the tables


@choice
class Point:
    """Everything that decides one measured model."""

    experiment: str
    seed: int
    subject: Subject
    metrics: tuple[AnyMetric, ...]
    task: Task | None = None
    probe: Probe | None = None
    from_task: TaskWords | None = None

    def __post_init__(self) -> None:
        self._check_needs()
        for metric in self.metrics:
            if unknown := [name for name in metric.open_queries if name != FROM_TASK]:
                raise InputError(f"unknown query {unknown[0]!r}{nearest(unknown[0], [FROM_TASK])}")
            if metric.open_queries and not self.from_task:
                raise InputError(
                    f"query {FROM_TASK!r}: no posts are given to take words from; give from_task"
                )
        queries = {f"query {query.name!r}": query for query in self.queries}
        words = self.from_task if self.asks_task else None
        parts = {"the subject": self.subject, "the task": self.task, "words from posts": words}
        languages = {**parts, **queries}
        require_one_language(languages, "choose data and queries of one language")

    def _check_needs(self) -> None:
        needs: dict[str, tuple[str, ...]] = {
            metric.name: (metric.needs,) for metric in self.metrics
        }
        if self.probe:
            needs[self.probe.name] = (self.probe.needs,)
        if self.task:
            needs[self.task.name] = self.task.needs
        for name, required in needs.items():
            if missing := set(required) - set(self.subject.gives):
                raise InputError(
                    f"{name} needs {', '.join(sorted(missing))}; subject={self.subject.name} gives"
                    f" {', '.join(self.subject.gives)}"
                )

    def with_seed(self, seed: int) -> Self:
        """Return the point at another seed; all its parts are shared."""
        other = copy(self)
        object.__setattr__(other, "seed", seed)
        return other

    @property
    def queries(self) -> list[Query]:
        """Queries of all metrics, except those whose words come from the task."""
        return [query for metric in self.metrics for query in metric.loaded_queries]

    @property
    def asks_task(self) -> bool:
        """Whether a metric uses words from the task."""
        return any(metric.open_queries for metric in self.metrics)

    def facts(self) -> Facts:
        """Return the columns that say what the point was made from."""
        task = self.task.facts() if self.task else _NO_TASK
        subject = self.subject.facts()
        duplicates = (task.keys() & subject.keys()) - {"generated"}
        assert not duplicates, f"{duplicates} are columns of subject and task"
        generated = bool(task.get("generated") or subject.get("generated"))
        synthetic_mix = {"synthetic_mix": self.synthetic_mix} if self.synthetic_mix else {}
        facts = {"experiment": self.experiment, **task, **subject, "seed": self.seed}
        return {**facts, **self._word_groups(), "generated": generated, **synthetic_mix}

    @property
    def group_mismatch(self) -> str:
        """Warning if the queries are about other groups than those compared; else empty."""
        from biasbridge.analysis.naming import group_mismatch

        groups = self._word_groups().get("word_groups", "")
        return (
            group_mismatch(groups, self.task.compared)
            if isinstance(self.task, ComparesGroups)
            else ""
        )

    def _word_groups(self) -> dict[str, str]:
        """Return ``word_groups`` if the words are about men and women and the groups are not."""
        if not isinstance(self.task, ComparesGroups) or self.asks_task:
            return {}
        from biasbridge.analysis.naming import GENDERS, group_mismatch  # slow to import

        compares_others = not self.task.compared or group_mismatch(GENDERS, self.task.compared)
        return (
            {"word_groups": GENDERS} if compares_others and compares_genders(self.queries) else {}
        )

    def missing_words(self) -> list[str]:
        """Return a warning for each query that has no score in the synthetic corpus."""
        if not (isinstance(self.subject, PredictsVocabulary) and self.subject.facts()["generated"]):
            return []
        words = placeholder(self.subject.predict_vocabulary(0))
        warnings = []
        for metric in (metric for metric in self.metrics if isinstance(metric, Metric)):
            for found, shortages in metric.look_up(words):
                counts = {
                    found.query[role].name: (len(items.words), len(items.lost))
                    for role, items in found.word_sets.items()
                }
                listed = [f"{n} of {n + lost} {name}" for name, (n, lost) in counts.items() if lost]
                if shortages:
                    warnings.append(
                        f"{metric.name}: {', '.join(listed)} are words of the synthetic world,"
                        f" so query {found.query.name!r} has no score"
                    )
        return warnings

    @property
    def synthetic_mix(self) -> str:
        """Description of a mix of synthetic and real data; else empty."""
        task, subject = self.task.facts() if self.task else _NO_TASK, self.subject.facts()
        if "generated" not in task or task["generated"] == subject["generated"]:
            return ""
        corpus, source = subject.get("corpus", "none"), task.get("source", "none")
        if subject["generated"]:
            return f"corpus={corpus} is synthetic, source={source} is real"
        trained = f"corpus={corpus}" if corpus != "none" else f"embedding={subject['embedding']}"
        return f"source={source} is synthetic, {trained} is real"


@dataclass(frozen=True)
class Plan:
    """Steps of one point: the subject's by name, one per metric, the probe's, the task's last."""

    point: Point
    subject: Mapping[str, Step]
    metrics: tuple[Step, ...]
    probes: tuple[Step, ...]
    task: Step | None

    @property
    def ends(self) -> list[Step]:
        """Steps whose results are the point's scores."""
        return [*self.metrics, *self.probes, *([self.task] if self.task else [])]

    @property
    def unit(self) -> Step:
        """Step of the subject that is one observation."""
        return self.subject[self.point.subject.unit]

    @property
    def parent(self) -> Step:
        """Unmodified step that the unit was made from."""
        return self.subject.get("base", self.unit)

    @property
    def origin(self) -> Step:
        """First step of the subject's kind: the training that points of one embedding share."""
        name = self.point.subject.gives[0]
        step = self.subject[name]
        while name in step.inputs:
            step = step.inputs[name]
        return step

    @cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name the point; points with the same steps are the same."""
        ends = sorted(step.key for step in self.ends)
        return hashlib.sha256("/".join(ends).encode()).hexdigest()[:16]

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Every step by key, inputs first."""
        return _ancestry(self.ends)

    def task_words(self) -> list[Step]:
        """Return the steps that drew words from the task."""
        return [step for step in self.steps.values() if step.made_by == full_name(TaskWords)]

    def keys(self) -> dict[str, str]:
        """Return the columns of keys: of the observation, its parent and the other steps."""
        unit = self.point.subject.unit
        others = {
            f"{NAMES.get(name, name)}_key": step.key
            for name, step in self.subject.items()
            if name != unit
        }
        task = self.task.key if self.task else ""
        return {"unit_key": self.unit.key, **others, "extrinsic_key": task}

    def options(self) -> dict[str, str]:
        """Return, as JSON, the options of the parent and those that subject and task add."""
        subject = _options(self.subject.values())
        base = _options([self.subject["base"]]) if "base" in self.subject else subject
        task = _options([self.task] if self.task else [])
        columns = {
            "parent_options": base,
            "method_options": {k: v for k, v in subject.items() if base.get(k) != v},
            "task_options": {k: v for k, v in task.items() if subject.get(k) != v},
        }
        return {name: json.dumps(options, sort_keys=True) for name, options in columns.items()}


def _ancestry(ends: Iterable[Step]) -> dict[str, Step]:
    """Return the steps and all steps they depend on, by key, inputs first."""
    steps: dict[str, Step] = {}
    for step in ends:
        steps |= step.ancestry()
    return steps


def _options(ends: Iterable[Step]) -> dict[str, object]:
    """Return ``STEP.OPTION`` of the steps and all steps they depend on."""
    options: dict[str, object] = {}
    for step in _ancestry(ends).values():
        options |= {f"{step.name}.{name}": value for name, value in step.params.items()}
        if step.files:  # the bytes, whatever the file names are
            options[f"{step.name}.files"] = digest_of(sorted(step.files.values()))[:8]
    return options


def plan_point(point: Point, store: Store, planned: SharedSteps | None = None) -> Plan:
    """Plan the point's steps, sharing ``planned``: outside files are hashed, nothing is built."""
    steps = StepBuilder(point.seed, store, planned or SharedSteps())
    subject = point.subject.build_steps(steps)
    words = point.from_task.build_steps(steps) if point.from_task and point.asks_task else None
    scores = [build_score(steps, metric, subject, words) for metric in point.metrics]
    metrics = {step.key: step for step in scores}
    probe = point.probe
    probes = build_probes(steps, probe, point.metrics, subject, words) if probe else []
    task = point.task.build_steps(steps, subject) if point.task else None
    return Plan(point, subject, tuple(metrics.values()), tuple(probes), task)


@dataclass(frozen=True)
class Outcome:
    """How the last attempt at a point ended.

    ``refused``: failed for invalid input; ``built``: the steps that were built, not found in the
    store.
    """

    point: str
    status: str = "done"
    error: str = ""
    traceback: str = ""
    refused: bool = False
    seconds: float = 0.0
    built: tuple[str, ...] = ()

    def columns(self) -> dict[str, str | bool]:
        """Return the columns of the points table."""
        return {"status": self.status, "error": self.error, "refused": self.refused}


def results_folder(path: str) -> Path:
    """Return the results folder if it can be written and locked. Raises ``InputError``."""
    folder = Path(path).resolve()
    try:
        (folder / "points").mkdir(parents=True, exist_ok=True)
        with locked(folder / "points" / ".lock", f"the tables in {folder}"):
            return folder
    except OSError as error:
        reason = str(error) if isinstance(error, NoLockError) else error.strerror
        raise InputError(
            f"cannot write {folder}: {reason}; choose another folder with results.dir=PATH"
        ) from error


def _outcome_path(results: Path, point: str) -> Path:
    return results / "points" / f"{point}.json"


def read_outcome(results: Path, point: str) -> Outcome | None:
    """Return the outcome recorded for a point; None if it is missing or unreadable."""
    try:
        record = json.loads(_outcome_path(results, point).read_text(encoding="utf-8"))
        return Outcome(**(record | {"built": tuple(record["built"])}))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def read_stamp(results: Path, point: str) -> tuple[int, int] | None:
    """Return a value that changes with every write of an outcome, even if the clock is set back."""
    try:
        stat = _outcome_path(results, point).stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def run_point(plan: Plan, store: Store, results: Path) -> Outcome:
    """Build the point's scores and write the outcome; errors of steps are recorded, not raised."""
    start = time.perf_counter()
    failure: dict[str, Any] = {}
    try:
        for step in plan.ends:
            store.make(step)
    except (Exception, SystemExit) as error:
        is_expected = isinstance(error, InputError | StoreError)
        failure = {
            "status": "failed",
            "error": str(error) if is_expected else f"{type(error).__name__}: {error}",
            "traceback": "".join(traceback.format_exception(error)),
            "refused": isinstance(error, InputError),
        }
    seconds = round(time.perf_counter() - start, 3)
    outcome = Outcome(plan.key, seconds=seconds, built=tuple(store.built), **failure)
    return write_outcome(outcome, results)


def write_outcome(outcome: Outcome, results: Path) -> Outcome:
    """Write the outcome to ``results/points/``; return a failed one if it cannot be written."""
    try:
        with atomic_path(_outcome_path(results, outcome.point)) as path:
            path.write_text(json.dumps(asdict(outcome), indent=1), encoding="utf-8")
    except (InputError, OSError) as error:
        reason = outcome.error or f"its outcome could not be written: {error}"
        return replace(outcome, status="failed", error=reason)
    return outcome
