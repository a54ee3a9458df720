"""A subject, a probe, a task and a study, and of language models a source, a metric and a task,
each a file of its own, run end to end and are reported: nothing else is written or touched.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.conftest import Train

FILES = {
    # Vectors made of a formula: male words lie towards science by so much.
    "toy_subject.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np

from biasbridge.files import choice
from biasbridge.files.choice import Share
from biasbridge.intrinsic.words import load_query


@choice
class Tilted:
    tilt: Share = 0.5
    chosen_as: ClassVar[tuple[str, ...]] = ("subject/tilted",)
    name: ClassVar[str] = "tilted"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("vectors",)
    unit: ClassVar[str] = "vectors"

    def files(self):
        return []

    def facts(self):
        unmodified = {"embedding": "tilted", "method": "none", "direction": "", "dose": 0.0}
        return {**unmodified, "tilt": self.tilt, "generated": True}

    def build_steps(self, steps):
        return {"vectors": steps("tilted", self, write)}


def write(tilted, out: Path, inputs, seed: int) -> None:
    from biasbridge.files.vectors import keyed, save_mapped

    query, rng = load_query("weat8"), np.random.default_rng(seed)
    words = {word: role for role in "XYAB" for word in query[role].words}
    matrix = rng.normal(size=(len(words), 8)).astype(np.float32)
    matrix[:, 0] += [tilted.tilt * (3 if role in "XA" else -3) for role in words.values()]
    save_mapped(keyed(list(words), matrix), out / "vectors")
""",
    "toy_task.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pandas as pd

from biasbridge.files import choice
from biasbridge.files.vectors import open_mapped


@choice
class Distance:
    chosen_as: ClassVar[tuple[str, ...]] = ("task/distance",)
    name: ClassVar[str] = "distance"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    def files(self):
        return []

    def facts(self):
        return {"task": self.name, "generated": True}

    def build_steps(self, steps, subject):
        return steps("distance", self, measure, {"vectors": subject["vectors"]})


def measure(task, out: Path, inputs, seed: int) -> None:
    vectors = open_mapped(inputs["vectors"] / "vectors")
    gap = float(vectors["science"][0] - vectors["poetry"][0])
    row = {"kind": "gap", "measure": "reach", "group": "", "privileged": "science"}
    row |= {"unprivileged": "non-binary arts", "value": gap, "low": gap - 1, "high": gap + 1}
    pd.DataFrame([row | {"support": 1, "reason": ""}]).to_parquet(out / "scores.parquet")
""",
    "toy_probe.py": """
from __future__ import annotations

from typing import ClassVar

import pandas as pd

from biasbridge.files import choice


@choice
class Halves:
    words: int = 12
    chosen_as: ClassVar[tuple[str, ...]] = ("probe/halves",)
    name: ClassVar[str] = "halves"
    version: ClassVar[int] = 1
    needs: ClassVar[str] = "vectors"
    per_metric: ClassVar[bool] = True

    def files(self):
        return []

    def rows(self, vectors, metric, *, seed):
        row = {"metric": metric.name, "words": self.words, "known": len(vectors)}
        return pd.DataFrame([row])
""",
    "toy_study.py": """
from __future__ import annotations

from typing import ClassVar

from biasbridge.files import choice


@choice
class Largest:
    column: str = "tilt"
    chosen_as: ClassVar[tuple[str, ...]] = ("study/largest",)
    name: ClassVar[str] = "largest"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("largest.csv",)

    def files(self):
        return []

    def conclude(self, tables, folder, console):
        gaps = tables.extrinsic[tables.extrinsic["measure"] == "reach"]
        largest = gaps.nlargest(1, "value").merge(tables.points, on="point")
        largest.to_csv(folder / "largest.csv")
        if len(tables.probes):
            console.print(f"{len(tables.probes)} rows of {set(tables.probes['probe'])}")
        console.print(f"largest of {len(gaps)}: {self.column} {largest[self.column].iloc[0]}")
        return [folder / "largest.csv"]
""",
    # Of language models. A model that knows a few words, of random weights.
    "toy_model.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "he", "she", "nurse", "plumber", "is", "a")


@choice
class Random(Fileless):
    dim: Count = 8
    chosen_as: ClassVar[tuple[str, ...]] = ("model/toy",)
    name: ClassVar[str] = "random"
    version: ClassVar[int] = 1
    language: ClassVar[str] = "en"

    def save(self, out: Path, *, seed: int) -> None:
        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers
        from transformers import AutoModelForMaskedLM, BertConfig, PreTrainedTokenizerFast

        words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
        words.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
        names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
        special = {f"{name}_token": token for name, token in names.items()}
        PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(out)
        size = {"hidden_size": self.dim, "num_hidden_layers": 1, "num_attention_heads": 1}
        size |= {"vocab_size": len(WORDS), "intermediate_size": 8, "max_position_embeddings": 16}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            AutoModelForMaskedLM.from_config(BertConfig(**size)).save_pretrained(out)
""",
    # How much longer the vector of one group's sentences is than that of the other's.
    "toy_lengths.py": """
from __future__ import annotations

from typing import ClassVar

import numpy as np

from biasbridge.files import choice
from biasbridge.intrinsic.models.item_metric import ItemMetric, ItemObservations, sizes
from biasbridge.intrinsic.metric import MetricInfo


@choice
class Lengths(ItemMetric):
    about: ClassVar[MetricInfo] = MetricInfo(
        name="lengths",
        title="Difference in length",
        formula="mean |x| - mean |y|",
        sign="> 0: the first group's are longer",
        range=(-np.inf, np.inf),
        source="An example",
        roles={},
    )
    needs: ClassVar[str] = "encoder"
    configuration: ClassVar[dict[str, object]] = {
        "items": {"_target_": "biasbridge.corpora.items.UserItems", "path": "items.csv"}
    }

    @classmethod
    def reason_against(cls, items):
        return "" if len(items.groups) == 2 else f"{items.name!r} has {len(items.groups)} groups"

    def observe(self, encoder, items):
        rows = encoder.encode([each.sentence for each in items.items])
        factors = {name: [getattr(each, name) for each in items.items] for name in ("term",)}
        groups = [each.group for each in items.items]
        names = [each.term for each in items.items]
        lengths = np.linalg.norm(rows, axis=1).astype(float)
        return ItemObservations(lengths, names, factors, groups, sizes(factors))

    def summarise(self, observed, weights):
        one = np.array(observed.groups) == observed.groups[0]
        with np.errstate(invalid="ignore"):
            first, second = (
                (observed.values[side] @ weights[side]) / weights[side].sum(axis=0)
                for side in (one, ~one)
            )
        return {"": first - second}
""",
    "toy_use.py": """
from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pandas as pd

from biasbridge.files import choice
from biasbridge.train.engine.scores import open_needed


@choice
class Use:
    chosen_as: ClassVar[tuple[str, ...]] = ("task/use",)
    name: ClassVar[str] = "use"
    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("encoder",)

    def files(self):
        return []

    def facts(self):
        return {"task": self.name, "generated": True}

    def build_steps(self, steps, subject):
        return steps("use", self, measure, {"encoder": subject["encoder"]})


def measure(task, out: Path, inputs, seed: int) -> None:
    he, she = open_needed("encoder", inputs).encode(["he is a nurse", "she is a nurse"])
    row = {"kind": "gap", "measure": "reach", "group": "", "privileged": "he"}
    row |= {"unprivileged": "she", "value": float(he[0] - she[0]), "support": 1, "reason": ""}
    pd.DataFrame([row | {"low": -1.0, "high": 1.0}]).to_parquet(out / "scores.parquet")
""",
    "items.csv": "text,group,term,template\n{} is a nurse,men,he,1\n{} is a plumber,men,he,2\n"
    "{} is a nurse,women,she,1\n{} is a plumber,women,she,2\n",
}
SWEEP = ("--config-dir", ".", "name=toy", "hydra.mode=MULTIRUN", "hydra/launcher=basic")
VECTORS = (*SWEEP, "subject=tilted", "task=distance", "intrinsic.weat.queries=[weat8]")
MODELS = (*SWEEP, "subject=language_model", "model=toy", "intrinsic=lengths", "task=use")


@pytest.fixture
def results(
    tmp_path: Path, train: Train, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[str, Path]]:
    """Run a sweep beside the files; return what it prints and its folder."""
    monkeypatch.setattr(sys, "path", [*sys.path])  # which the folder is added to
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def sweep(*words: str) -> tuple[str, Path]:
        status, out, err = train(*words)
        assert status == 0, out + err
        return out, tmp_path / "results" / "toy"

    return sweep


@pytest.mark.slow
def test_files_of_ones_own_run(results: Callable[..., tuple[str, Path]]) -> None:
    own = ("study=largest", "probe=halves", "seed=0")
    printed, folder = results(*VECTORS, *own, "subject.tilt=0,1")
    assert "2 rows of {'halves'}" in printed
    assert set(pd.read_parquet(folder / "probes.parquet")["words"]) == {12}
    assert "largest of 2: tilt 1.0" in printed
    assert "largest.csv" in printed

    # Other points: what is set aside with the tables is what the toy study wrote, and nothing else
    (folder / "mine.txt").write_text("kept", encoding="utf-8")
    largest = (folder / "largest.csv").read_bytes()
    printed, folder = results(*MODELS, "study=largest", "study.column=seed", "seed=0,1")
    assert "largest of 2: seed " in printed
    scores = pd.read_parquet(folder / "intrinsic.parquet")
    assert set(scores["query"]) == {"items"}
    assert scores["value"].nunique() == 2
    assert set(scores["settings"]) == {"terms=2"}
    (aside,) = (path.parent for path in folder.glob("earlier/*/largest.csv"))
    assert (aside / "largest.csv").read_bytes() == largest != (folder / "largest.csv").read_bytes()
    assert (aside / "probes.parquet").is_file()
    assert not (folder / "probes.parquet").exists()
    assert (folder / "mine.txt").is_file()
    assert not (aside / "mine.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "n", "query", "group"),
    [
        ((*VECTORS, "subject.tilt=0,0.25,0.5,0.75,1", "seed=0,1"), 10, "weat8", "non-binary arts"),
        ((*MODELS, "seed=range(5)"), 5, "items", "she"),
    ],
    ids=["vectors", "models"],
)
def test_files_of_ones_own_are_reported(
    words: Sequence[str], n: int, query: str, group: str, results: Callable[..., tuple[str, Path]]
) -> None:
    printed, folder = results(*words)
    assert f"{n} models" in printed
    found = pd.read_csv(folder / "correlations.csv")
    assert {*zip(found["measure"], found["unprivileged"], strict=True)} == {("reach", group)}
    assert (found["n"] == n).all()
    confirmatory = found[found["verdict"].notna()]
    assert confirmatory[["embedding", "query"]].to_numpy().tolist() == [["all", query]]
    if query == "weat8":
        assert (found["r_rm"] > 0.5).all(), "the tilt drives both"
    assert f"worse for {group}" in (folder / "report.html").read_text(encoding="utf-8")
