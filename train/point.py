"""One point of a study: a subject, metrics and a probe of it, a task, a seed, and the steps that
they come to.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from extrinsic.task_words import FROM_TASK
from files import InputError, choice, nearest
from files.digest import digest_of
from files.language import require_one_language
from files.source import full_name
from intrinsic.probe import AnyMetric, Probe
from train.parts.genders import ask_about_genders
from train.parts.part import Facts, OfGroups, Stages, Subject, Task
from train.parts.scores import build_probes, build_score
from train.parts.task_words import TaskWords

if TYPE_CHECKING:
    from intrinsic.wordsets import Query
    from train.store import Stage, Store

NO_TASK: Facts = {"task": "none"}
NAMES = {"base": "parent"}  # of steps of a subject, in the tables


@choice
class Point:
    """Everything that decides one measured subject."""

    experiment: str
    seed: int
    subject: Subject
    metrics: tuple[AnyMetric, ...]
    task: Task | None = None
    probe: Probe | None = None
    from_task: TaskWords | None = None

    def __post_init__(self) -> None:
        self._check_needs()
        for each in self.metrics:
            if unknown := [name for name in each.open if name != FROM_TASK]:
                raise InputError(f"unknown query {unknown[0]!r}{nearest(unknown[0], [FROM_TASK])}")
            if each.open and not self.from_task:
                raise InputError(f"query {FROM_TASK!r}: no posts are named to take words from")
        queries = {f"query {query.name!r}": query for query in self.queries}
        words = self.from_task if self.asks_task else None
        parts = {"the subject": self.subject, "the task": self.task, "words from posts": words}
        used = {**parts, **queries}
        require_one_language(used, "choose data and queries of one language")

    def _check_needs(self) -> None:
        needs: dict[str, tuple[str, ...]] = {each.name: (each.needs,) for each in self.metrics}
        if self.probe:
            needs[self.probe.name] = (self.probe.needs,)
        if self.task:
            needs[self.task.name] = self.task.needs
        for name, wanted in needs.items():
            if lacking := set(wanted) - set(self.subject.gives):
                raise InputError(
                    f"{name} needs {', '.join(sorted(lacking))}; subject={self.subject.name} gives"
                    f" {', '.join(self.subject.gives)}"
                )

    @property
    def queries(self) -> list[Query]:
        """Those of all metrics, but for queries whose words come from the task."""
        return [query for metric in self.metrics for query in metric.asked]

    @property
    def asks_task(self) -> bool:
        """Whether a metric asks about words from the task."""
        return any(each.open for each in self.metrics)

    def facts(self) -> Facts:
        """The columns that say what the point was made from."""
        task = self.task.facts() if self.task else NO_TASK
        subject = self.subject.facts()
        twice = (task.keys() & subject.keys()) - {"generated"}
        assert not twice, f"{twice} are columns of subject and task"
        generated = bool(task.get("generated") or subject.get("generated"))
        mixture = {"mixture": self.mixture} if self.mixture else {}
        facts = {"experiment": self.experiment, **task, **subject, "seed": self.seed}
        return {**facts, **self._asks_about(), "generated": generated, **mixture}

    @property
    def doubt(self) -> str:
        """That the words are not about the groups compared, where these are named; else empty."""
        from analysis.groups import doubt

        about = self._asks_about().get("asks_about", "")
        return doubt(about, self.task.compared) if isinstance(self.task, OfGroups) else ""

    def _asks_about(self) -> dict[str, str]:
        """``asks_about``, where the words are about men and women, and the groups are not, as far
        as known.
        """
        if not isinstance(self.task, OfGroups) or self.asks_task:
            return {}
        from analysis.groups import GENDERS, doubt  # what analyses load, where there are groups

        unlike = not self.task.compared or doubt(GENDERS, self.task.compared)
        return {"asks_about": GENDERS} if unlike and ask_about_genders(self.queries) else {}

    @property
    def mixture(self) -> str:
        """What is synthetic and what is not, where that is not all or nothing; else empty."""
        task, subject = self.task.facts() if self.task else NO_TASK, self.subject.facts()
        if "generated" not in task or task["generated"] == subject["generated"]:
            return ""
        corpus, source = subject.get("corpus", "none"), task.get("source", "none")
        if subject["generated"]:
            return f"corpus={corpus} is generated and source={source} is not"
        trained = f"corpus={corpus}" if corpus != "none" else f"embedding={subject['embedding']}"
        return f"source={source} is generated and {trained} is not"


@dataclass(frozen=True)
class Plan:
    """The steps of one point: the subject's by name, one a metric, the probe's, and the last one of
    the task.
    """

    point: Point
    subject: Mapping[str, Stage]
    metrics: tuple[Stage, ...]
    probes: tuple[Stage, ...]
    task: Stage | None

    @property
    def ends(self) -> list[Stage]:
        """The steps whose results are the point's scores."""
        return [*self.metrics, *self.probes, *([self.task] if self.task else [])]

    @property
    def unit(self) -> Stage:
        """The subject's step that is one observation."""
        return self.subject[self.point.subject.unit]

    @property
    def parent(self) -> Stage:
        """The unmodified step that the unit was made from."""
        return self.subject.get("base", self.unit)

    @property
    def origin(self) -> Stage:
        """The first step of the subject's kind: the training that points wait for together."""
        name = self.point.subject.gives[0]
        stage = self.subject[name]
        while name in stage.inputs:
            stage = stage.inputs[name]
        return stage

    @cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name the point: two points with the same steps are one."""
        ends = sorted(stage.key for stage in self.ends)
        return hashlib.sha256("/".join(ends).encode()).hexdigest()[:16]

    @cached_property
    def _stages(self) -> dict[str, Stage]:
        return _ancestry(self.ends)

    def stages(self) -> dict[str, Stage]:
        """Every step by key, inputs first."""
        return self._stages

    def task_words(self) -> list[Stage]:
        """The steps in which words were drawn from the task."""
        return [each for each in self._stages.values() if each.made_by == full_name(TaskWords)]

    def keys(self) -> dict[str, str]:
        """The columns that name the point's results in the store: ``unit_key``, the observation,
        the subject's other steps (``parent_key``, the unmodified one), and the end of the task.
        """
        unit = self.point.subject.unit
        named = {NAMES.get(name, name): step for name, step in self.subject.items() if name != unit}
        others = {f"{name}_key": step.key for name, step in named.items()}
        task = self.task.key if self.task else ""
        return {"unit_key": self.unit.key, **others, "extrinsic_key": task}

    def options(self) -> dict[str, str]:
        """Every option of its steps but the seed, and the digest of what they read, as JSON in
        three columns: those of the parent, what the subject adds, and what the task adds.
        """
        subject = _options(self.subject.values())
        base = _options([self.subject["base"]]) if "base" in self.subject else subject
        task = _options([self.task] if self.task else [])
        of = {
            "parent_options": base,
            "method_options": {k: v for k, v in subject.items() if base.get(k) != v},
            "task_options": {k: v for k, v in task.items() if subject.get(k) != v},
        }
        return {name: json.dumps(options, sort_keys=True) for name, options in of.items()}


def _ancestry(ends: Iterable[Stage]) -> dict[str, Stage]:
    """The steps and all they rest on, by key, inputs first."""
    found: dict[str, Stage] = {}
    for stage in ends:
        found |= stage.ancestry()
    return found


def _options(ends: Iterable[Stage]) -> dict[str, object]:
    """``STEP.OPTION`` of the steps and all they rest on."""
    found: dict[str, object] = {}
    for stage in _ancestry(ends).values():
        found |= {f"{stage.name}.{name}": value for name, value in stage.params.items()}
        if stage.files:  # of those that go by another name the bytes are the same
            found[f"{stage.name}.files"] = digest_of(sorted(stage.files.values()))[:8]
    return found


def plan_point(point: Point, store: Store) -> Plan:
    """The point's steps; files from outside are hashed here, nothing is built."""
    steps = Stages(point.seed, store)
    subject = point.subject.build_steps(steps)
    words = point.from_task.build_steps(steps) if point.from_task and point.asks_task else None
    scores = [build_score(steps, metric, subject, words) for metric in point.metrics]
    metrics = {stage.key: stage for stage in scores}
    probe = point.probe
    probes = build_probes(steps, probe, point.metrics, subject, words) if probe else []
    task = point.task.build_steps(steps, subject) if point.task else None
    return Plan(point, subject, tuple(metrics.values()), tuple(probes), task)
