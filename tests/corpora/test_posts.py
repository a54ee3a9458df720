"""Labelled posts: columns by name, labels by meaning, splits and groups checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge.corpora.posts import (
    DatasetSource,
    Davidson,
    Founta,
    HatEval,
    TableSource,
    prepare_posts,
)
from biasbridge.extrinsic.taggers import KeywordTagger
from biasbridge.files import InputError

ROWS = {
    "tweet": ["Good day", "you WUZZIT", "fine #tag", "a zogget"],
    "kind": ["no", "yes", "no", "maybe"],
    "who": ["men", "women", "", "women"],
    "part": ["train", "train", "dev", "test"],
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pd.DataFrame(ROWS).to_csv(tmp_path / "posts.csv", index=False)
    return tmp_path / "posts.csv"


def test_columns_labels_groups_and_splits(table: Path) -> None:
    source = TableSource(
        str(table), text="tweet", label="kind", group="who", split="part", positive=("yes", "maybe")
    )
    posts = source.load(seed=3).set_index("text").fillna({"group": ""})
    assert source.name == "posts"
    columns = posts[["label", "group", "split"]].itertuples(name=None)
    assert sorted(columns) == [
        ("a zogget", 1, "women", "test"),
        ("fine <HASH>", 0, "", "dev"),
        ("good day", 0, "men", "train"),
        ("you wuzzit", 1, "women", "train"),
    ]
    assert sorted(posts["id"]) == ["0", "1", "2", "3"]


def test_order_and_ids_say_nothing_about_the_file() -> None:
    frame = pd.DataFrame({"text": [f"word{i}" for i in range(200)], "label": [0] * 100 + [1] * 100})
    posts = prepare_posts(frame, positive=(), source="x", seed=1)
    assert abs(posts["label"][:100].mean() - 0.5) < 0.2
    assert posts["id"].tolist() == [str(i) for i in range(200)]
    assert not posts["text"].equals(prepare_posts(frame, positive=(), source="x", seed=2)["text"])
    assert set(posts["split"]) == {"all"}
    assert "group" not in posts


@pytest.mark.parametrize("labels", [["0.0", "1.0"], [False, True]])
def test_spellings_of_0_and_1(labels: list[object]) -> None:
    posts = prepare_posts(
        pd.DataFrame({"text": ["a", "b"], "label": labels}), positive=(), source="x", seed=0
    )
    assert dict(zip(posts["text"], posts["label"], strict=True)) == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"text": "tweets"}, r"no column 'tweets'; did you mean 'tweet'\?"),
        (
            {},
            {"positive": ()},
            (
                r"labels beyond 0 and 1: maybe, no, yes; name the positive labels in"
                r" source\.positive"
            ),
        ),
        ({}, {"positive": ("never",)}, "has the label 'never'"),
        (
            {"kind": ["yes"] * 4},
            {"positive": ("yes",)},
            "all 4 labels are 1; a classifier needs posts of both classes",
        ),
        ({"who": [""] * 4}, {}, "the group column is empty in every row"),
        ({"part": ["train", "train", "dev", "extra"]}, {}, "unknown split 'extra'"),
        ({"tweet": [""] * 4}, {}, "the text column is empty"),
    ],
)
def test_refuses(
    change: dict[str, list[str]], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    pd.DataFrame(ROWS | change).to_csv(tmp_path / "posts.csv", index=False)
    settings = {
        "text": "tweet",
        "label": "kind",
        "group": "who",
        "split": "part",
        "positive": ("yes", "maybe"),
    } | options
    with pytest.raises(InputError, match=message):
        TableSource(str(tmp_path / "posts.csv"), **settings).load(seed=0)  # type: ignore[arg-type]


def test_a_missing_label_is_no_0_and_a_missing_text_no_word() -> None:
    frame = pd.DataFrame({"text": ["a", None, "c"], "label": ["yes", "no", "no"]})
    posts = prepare_posts(frame, positive=("yes",), source="x", seed=0)
    assert sorted(posts["text"]) == ["a", "c"]
    for missing in (None, "", float("nan")):
        frame["label"] = ["yes", "no", missing]
        with pytest.raises(InputError, match="x: 1 posts have no label"):
            prepare_posts(frame, positive=("yes",), source="x", seed=0)


def test_dataset_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "data").mkdir()
    for split in ("train", "test"):
        pd.DataFrame({"text": [f"{split} one", f"{split} two"], "label": [0, 1]}).to_csv(
            tmp_path / "data" / f"{split}.csv", index=False
        )
    posts = DatasetSource(str(tmp_path / "data"), test="test").load(seed=0)
    assert posts.set_index("text")["split"].to_dict() == {
        "train one": "train", "train two": "train", "test one": "test", "test two": "test",
    }  # fmt: skip
    assert set(DatasetSource(str(tmp_path / "data")).load(seed=0)["split"]) == {"all"}
    with pytest.raises(InputError, match=r"source\.dev=test needs source\.test"):
        DatasetSource(str(tmp_path / "data"), dev="test").load(seed=0)


def write_hateval(folder: Path) -> HatEval:
    header = "id\ttext\tHS\tTR\tAG\n"
    (folder / "train_en.tsv").write_text(
        header + '201\t"lone quote refugee\t1\t0\t0\n202\tkitchen queen\t0\t0\t0\n',
        encoding="utf-8",
    )
    (folder / "dev_en.tsv").write_text(header + "18201\tno keyword\t0\t0\t0\n", encoding="utf-8")
    (folder / "test_text.txt").write_text("kitchen refugee\n\nkitchen alone\n", encoding="utf-8")
    (folder / "test_labels.txt").write_text("1\n0\n0\n", encoding="utf-8")
    return HatEval(str(folder), test_folder=str(folder))


def test_hateval_reads_lone_quotes_and_pairs_lines(tmp_path: Path) -> None:
    posts = write_hateval(tmp_path).load(seed=0).set_index("text")
    assert posts["label"].to_dict() == {
        '" lone quote refugee': 1, "kitchen queen": 0, "no keyword": 0, "kitchen refugee": 1,
        "kitchen alone": 0,
    }  # fmt: skip
    assert posts["split"].value_counts().to_dict() == {"train": 2, "dev": 1, "test": 2}
    assert posts["raw"]['" lone quote refugee'] == '"lone quote refugee'


def test_hateval_whole_and_by_target(tmp_path: Path) -> None:
    whole = replace(write_hateval(tmp_path), cross_validate=True)
    assert whole.cross_validated
    assert set(whole.load(seed=0)["split"]) == {"all"}
    header = "id\ttext\tHS\tTR\tAG\n"
    for name, first in (("train_en", 4700), ("dev_en", 18700)):
        rows = [f"{first + label}\t{name} {label}\t{label}\t0\t0\n" for label in (0, 1)]
        (tmp_path / f"{name}.tsv").write_text(header + "".join(rows), encoding="utf-8")
    posts = replace(whole, group="target").load(seed=0).set_index("raw")
    assert posts["group"].replace({np.nan: None}).to_dict() == {
        "train_en 0": "migrants", "train_en 1": "women", "dev_en 0": "migrants",
        "dev_en 1": "women", "kitchen refugee": None, "kitchen alone": None,
    }  # fmt: skip
    with pytest.raises(InputError, match=r"groups=hateval_es_women"):
        HatEval(str(tmp_path), language="es", group="target")


@pytest.mark.realdata
def test_hateval_targets_are_those_of_the_keywords(realdata: Path) -> None:
    """On either side of the first id about women lie 4,500 and 500 tweets; keywords against
    immigrants, by which the stream was searched, are hardly in any of those after it.
    """
    folder = realdata / "hatespeech"
    source = HatEval(
        str(folder / "hateval2019"),
        test_folder=str(folder / "tweeteval_hate"),
        cross_validate=True,
        group="target",
    )
    posts = source.load(seed=0)
    assert posts["group"].value_counts().to_dict() == {"women": 5000, "migrants": 5000}
    file = str(folder / "hateval2019" / "keyword_set.md")
    words = KeywordTagger(
        "migrants", file=file, heading="English language against immigrants", language="en"
    )
    tagged = words.tag(posts)["group"] == "migrants"
    assert tagged[posts["group"] == "migrants"].mean() > 0.75
    assert tagged[posts["group"] == "women"].sum() < 20


def test_the_larger_class_is_drawn_down_to_the_smaller(tmp_path: Path) -> None:
    rows = [f"{1 if number % 5 else 2},post {number}" for number in range(50)]  # 40 and 10
    (tmp_path / "davidson.csv").write_text("class,tweet\n" + "\n".join(rows), encoding="utf-8")
    source = Davidson(str(tmp_path / "davidson.csv"), positive=(1,), undersample=True)
    one, same, other = source.load(seed=0), source.load(seed=0), source.load(seed=1)
    assert one["label"].value_counts().to_dict() == {0: 10, 1: 10}
    assert set(one.loc[one["label"] == 0, "raw"]) == {
        f"post {number}" for number in range(0, 50, 5)
    }
    assert one.equals(same)
    assert set(one["raw"]) != set(other["raw"])
    assert one["label"].tolist() != sorted(one["label"])


def test_hateval_refuses_unpaired_lines(tmp_path: Path) -> None:
    source = write_hateval(tmp_path)
    (tmp_path / "test_labels.txt").write_text("1\n0\n", encoding="utf-8")
    with pytest.raises(InputError, match="paired by line"):
        source.load(seed=0)
    with pytest.raises(InputError, match=r"set source\.test_folder"):
        HatEval(str(tmp_path))


@pytest.mark.realdata
def test_davidson(realdata: Path) -> None:
    posts = Davidson(str(realdata / "hatespeech" / "davidson2017.csv")).load(seed=0)
    assert len(posts) == 24_783
    assert sum(posts["label"]) == 1_430 + 19_190
    assert set(posts["split"]) == {"all"}


@pytest.mark.realdata
def test_hateval(realdata: Path) -> None:
    folder = realdata / "hatespeech"
    source = HatEval(str(folder / "hateval2019"), test_folder=str(folder / "tweeteval_hate"))
    posts = source.load(seed=0)
    assert posts["split"].value_counts().to_dict() == {"train": 9_000, "dev": 1_000, "test": 2_970}
    assert posts.loc[posts["split"] == "train", "label"].sum() == 3_783


@pytest.mark.realdata
def test_hateval_in_spanish(realdata: Path) -> None:
    """4,500 train posts, 1,857 of them hateful, and 500 of dev, 222: Basile et al. (2019)."""
    folder = realdata / "hatespeech" / "hateval2019"
    posts = HatEval(str(folder), language="es").load(seed=0)
    assert len(posts) == 5_000
    assert posts["label"].sum() == 1_857 + 222
    assert set(posts["split"]) == {"all"}
    ids = pd.to_numeric(posts["id"])
    assert abs(np.corrcoef(ids, posts["label"])[0, 1]) < 0.05


def test_spanish_test_labels_of_others_are_joined_by_id(tmp_path: Path) -> None:
    header = "id\ttext\tHS\tTR\tAG\n"
    (tmp_path / "train_es.tsv").write_text(header + "1\tuno\t1\t0\t0\n2\tdos\t0\t0\t0\n")
    (tmp_path / "dev_es.tsv").write_text(header + "3\ttres\t0\t0\t0\n")
    (tmp_path / "test_es.tsv").write_text('id\ttext\n5\t"cinco\n4\tcuatro\n')
    labels = tmp_path / "labels.csv"
    labels.write_text("id,HS,TR,AG\n4,1,0,0\n5,0,0,0\n")
    source = HatEval(str(tmp_path), language="es", test_labels=str(labels))
    assert source.has_split
    posts = source.load(seed=0).set_index("raw")
    assert posts["label"].to_dict() == {"uno": 1, "dos": 0, "tres": 0, "cuatro": 1, '"cinco': 0}
    assert posts.loc[["cuatro", '"cinco'], "split"].eq("test").all()
    assert posts.loc[["uno", "dos", "tres"], "split"].tolist() == ["train", "train", "dev"]
    assert not replace(source, cross_validate=True).has_split
    labels.write_text("id,HS\n4,1\n")
    with pytest.raises(InputError, match="has no label of 1 posts of"):
        source.load(seed=0)


# The file of Founta et al. as their authors send it, made up: no line of names, tabs, votes.

ROWS_FOUNTA = [
    "what a lovely morning\tnormal\t4",
    "you are a rotten liar\tabusive\t3",
    '"two lines\nof ""quoted"" text"\thateful\t5',
    "win a free phone now\tspam\t4",
    'a lone " mark within\tnormal\t2',
]


def written(folder: Path, rows: list[str]) -> str:
    path = folder / "hatespeech_text_label_vote.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def labels_of(posts: pd.DataFrame) -> dict[str, int]:
    return dict(zip(posts["raw"], posts["label"], strict=True))


def test_abusive_and_hateful_are_1(tmp_path: Path) -> None:
    source = Founta(written(tmp_path, ROWS_FOUNTA))
    assert labels_of(source.load(seed=0)) == {
        "what a lovely morning": 0,
        "you are a rotten liar": 1,
        'two lines\nof "quoted" text': 1,
        "win a free phone now": 0,
        'a lone " mark within': 0,
    }
    assert source.positive_class == "abusive or hateful"
    assert (source.name, source.cross_validated) == ("founta", True)


def test_the_positive_labels_are_chosen(tmp_path: Path) -> None:
    posts = Founta(written(tmp_path, ROWS_FOUNTA), positive=("spam",)).load(seed=0)
    assert sum(labels_of(posts).values()) == labels_of(posts)["win a free phone now"] == 1


def test_marks_may_be_text(tmp_path: Path) -> None:
    rows = ['"so it begins\tnormal\t3', "rotten liar\tabusive\t3", "no idiots here\thateful\t3"]
    path = written(tmp_path, rows)
    with pytest.raises(InputError, match=r"line 1 is not delimited text .* source\.quoted=false"):
        Founta(path).load(seed=0)
    assert '"so it begins' in labels_of(Founta(path, quoted=False).load(seed=0))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("text\tlabel\tvotes", r"line 1 has the label 'label', .*; remove a header line"),
        ("123456\tnormal", r"line 1 has 2 cells, not text, label and votes"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Founta(written(tmp_path, [row, *ROWS_FOUNTA])).load(seed=0)
