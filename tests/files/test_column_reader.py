"""A table as people have it gives at every door what the clean table gives, with a note, or is
refused in one line; and the definitions behind it: missing, number, name, copy.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge.analysis.tables import FILES
from biasbridge.commands.agreement import agreement
from biasbridge.commands.check import check
from biasbridge.commands.init import init
from biasbridge.commands.scatter import scatter
from biasbridge.files import InputError
from biasbridge.files.columns import (
    _find_copies,
    are_flags,
    case_note,
    first_spellings,
    name_key,
    read_numbers,
    unwrap_lists,
)

RUN = Path(__file__).parent.parent.parent / "docs" / "runs" / "answer_en"
TEXTS = ("he said that of all the {} people here", "she said that of all the {} people here")
Result = tuple[Any, Sequence[str]]  # what a door says, and its notes


def make_posts() -> pd.DataFrame:
    """Posts about two groups, each also a model with a score and a gap."""
    rng = np.random.default_rng(7)
    n, group = 80, np.arange(80) % 2
    label = (rng.random(n) < 0.3 + 0.4 * group).astype(int)
    x = (rng.random(n) + 0.0001).round(4)
    texts = [TEXTS[g].format(number) for number, g in enumerate(group)]
    posts = pd.DataFrame({"id": [f"p{number}" for number in range(n)], "text": texts})
    posts["label"], posts["x"] = label, x
    posts["y"] = (x / 2 + rng.random(n) + 0.0001).round(4)
    posts["group"] = np.array(["men", "women"])[group]
    return posts


POSTS = make_posts()


def gaps(path: Path, names: Sequence[str]) -> Result:
    options: dict[str, Any] = {"score": "x", "measures": ["base_rate", "auc"], "threshold": 0.5}
    table = biasbridge.gaps(path, privileged=names[0], **options)
    values = table[table["kind"] == "value"].set_index(["group", "measure"])["value"]
    return values.to_dict(), table.attrs["notes"]


def agree(path: Path, names: Sequence[str]) -> Result:
    found = agreement(path, male=names[0], female=names[1])
    return (found.counts.to_dict(), found.precisions), found.counts.attrs["notes"]


def correlate(path: Path, names: Sequence[str]) -> Result:
    table = biasbridge.correlate(path, "x", "y", parent="group", by="group")
    return table[["group", "n", "r_pearson"]].to_dict("list"), table.attrs["notes"]


def draw(path: Path, names: Sequence[str]) -> Result:
    scatter(path, out="drawn.json", x="x", y="y", colour="group")
    chart = json.loads(Path("drawn.json").read_text(encoding="utf-8"))
    [rows] = chart["datasets"].values()
    drawn = [(row["x"], row["y"], row["colour"]) for row in rows if row["x"] is not None]
    return drawn, [json.dumps(chart, ensure_ascii=False).replace('", "', " ")]


def describe(path: Path, names: Sequence[str]) -> Result:
    lines = [line.replace(path.name, "posts") for line in check([path.name]).lines]
    told = "posts posts", "groups by", "warning", "missing", "a single run"
    return [line for line in lines if line.startswith(told)], lines


def plan(path: Path, names: Sequence[str]) -> Result:
    written = init([path.name], force=True)
    return written.path.read_text(encoding="utf-8").replace(path.name, "posts"), written.lines


DOORS = {
    "gaps": gaps,
    "agreement": agree,
    "correlate": correlate,
    "scatter": draw,
    "check": describe,
    "init": plan,
}
READS_MODELS = {"gaps", "agreement", "correlate", "scatter"}


class Kind(NamedTuple):
    """How a column of groups is written in later rows, or a file; the note; clean names."""

    write: Callable[[pd.DataFrame, Path], Path]
    note: str = ""
    names: tuple[str, str] = ("men", "women")
    doors: Collection[str] = DOORS


def as_csv(**options: Any) -> Callable[[pd.DataFrame, Path], Path]:
    def write(posts: pd.DataFrame, folder: Path) -> Path:
        posts.to_csv(folder / "posts.csv", index=False, **options)
        return folder / "posts.csv"

    return write


def spelled(*forms: str) -> Callable[[pd.DataFrame, Path], Path]:
    """The first group in these forms in turn, after its first row; ``{}``: as it is."""

    def write(posts: pd.DataFrame, folder: Path) -> Path:
        cells, first = posts["group"].tolist(), posts["group"].iloc[0]
        places = [place for place, cell in enumerate(cells) if cell == first][1:]
        for number, place in enumerate(places):
            cells[place] = forms[number % len(forms)].format(first)
        return as_csv()(posts.assign(group=cells), folder)

    return write


def listed(posts: pd.DataFrame, folder: Path) -> Path:
    names = {name: posts[name].map(lambda cell: [cell]) for name in ("group", "label")}
    lists = posts.assign(**names, tags=posts["group"].map(lambda name: [name, "b"]))
    lists.to_json(folder / "posts.jsonl", orient="records", lines=True)
    return folder / "posts.jsonl"


def listed_as_text(posts: pd.DataFrame, folder: Path) -> Path:
    return as_csv()(posts.assign(group=[str([x]) for x in posts["group"]]), folder)


def with_head(head: str, **options: Any) -> Callable[[pd.DataFrame, Path], Path]:
    def write(posts: pd.DataFrame, folder: Path) -> Path:
        path = as_csv(**options)(posts, folder)
        path.write_text(head + path.read_text(encoding="utf-8"), encoding="utf-8")
        return path

    return write


def copied(posts: pd.DataFrame, folder: Path) -> Path:
    return as_csv()(pd.concat([posts, posts[:9]]), folder)


ACCENTS = ("p\u00e8res", "m\u00e8res")
AGES = ("5-17", "18-24")
DATES = "cells of 'group' are dates; they are read as 5-17"
COMMENTS = "lines of # are left out before the header, line"
KINDS = {
    "blanks": Kind(spelled("{} ", "  {}")),
    "blanks of other scripts": Kind(spelled("{}\u00a0", "\u200b{}", "{}\ufeff")),
    "decomposed": Kind(spelled("pe\u0300res"), names=ACCENTS),
    "decomposed, with blanks": Kind(spelled("{}", " pe\u0300res\u00a0"), names=ACCENTS),
    "1.0": Kind(spelled("{}.0", "{}"), names=("1", "2")),
    "2.00": Kind(spelled("{}.00 "), names=("1", "2")),
    "decimal commas": Kind(as_csv(sep=";", decimal=",")),
    "decimal commas between tabs": Kind(as_csv(sep="\t", decimal=",")),
    "copies": Kind(copied, "9 of 89 rows repeat another row", doors=READS_MODELS),
    "NO and SI": Kind(spelled("{}"), names=("NO", "SI")),
    "no and ja": Kind(spelled("{}"), names=("no", "ja")),
    "dates": Kind(spelled("2024-05-17 00:00:00", "2025-05-17 00:00:00", "{}"), DATES, AGES),
    "17-May": Kind(spelled("17-May", "May-17", "{}"), DATES, AGES),
    "lists of one": Kind(listed),
    "lists of one as text": Kind(listed_as_text),
    "comments": Kind(with_head("# made in 2024\n# by hand\n"), COMMENTS),
    "comments and sep=": Kind(with_head("sep=;\n# made in 2024\n", sep=";"), COMMENTS),
    "a comma in the header": Kind(
        lambda posts, folder: as_csv(sep=";")(posts.assign(**{"a, b": "c"}), folder)
    ),
    "a comma in a header of tabs": Kind(
        lambda posts, folder: as_csv(sep="\t")(posts.assign(**{"a, b": "c"}), folder)
    ),
    "NA": Kind(spelled("{}", "NA"), "'NA' counts as empty"),
    "#N/A and nan": Kind(spelled("{}", "#N/A", "nan"), "'#N/A', 'nan' counts as empty"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_door_reads_what_the_clean_table_says(
    kind: str, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, note, names, doors = KINDS[kind]
    if door not in doors:
        pytest.skip("told in its own words")
    posts = POSTS.assign(group=POSTS["group"].map(dict(zip(("men", "women"), names, strict=True))))
    clean = posts.copy()
    if "counts as empty" in note:  # the words stand for an empty cell
        read = pd.read_csv(write(posts, tmp_path), keep_default_na=True)
        clean["group"] = read["group"]
    results = []
    for name, path_of in (("clean", as_csv()), ("dirty", write)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        path = path_of(clean if name == "clean" else posts, tmp_path / name)
        results.append(DOORS[door](path, names))
    (wanted, _), (found, notes) = results
    assert repr(found) == repr(wanted)
    assert note in " / ".join(notes)


@pytest.mark.parametrize("door", [name for name in DOORS if name != "gaps"])
@pytest.mark.parametrize("cell", [["men", "women"], {"a": 1}])
def test_cells_of_several_names_are_refused_with_the_remedy(
    cell: object, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    groups = [cell, *POSTS["group"][1:]]
    POSTS.assign(group=groups).to_json("posts.jsonl", orient="records", lines=True)
    with pytest.raises(InputError, match=r"column 'group' holds .* in row 1, .*; give one text or"):
        DOORS[door](tmp_path / "posts.jsonl", ("men", "women"))


@pytest.mark.parametrize("form", ["blanks", "decomposed", "decimal commas", "1.0"])
def test_effects_of_a_folder_that_was_edited_are_those_of_the_folder(
    form: str, tmp_path: Path
) -> None:
    for name in FILES:
        if (RUN / name).is_file():
            shutil.copy(RUN / name, tmp_path)
    points, scores = (pd.read_parquet(tmp_path / f"{x}.parquet") for x in ("points", "intrinsic"))
    if form == "blanks":
        points["method"] = points["method"].where(points.index % 2 > 0, points["method"] + "\u00a0")
    if form == "decomposed":
        scores["query"] = scores["query"] + "\u00e9"
        scores.to_parquet(tmp_path / "intrinsic.parquet")
        wanted = biasbridge.effects(tmp_path)
        scores["query"] = scores["query"].where(scores.index % 2 > 0, scores["query"] + " ")
        scores["query"] = scores["query"].str.normalize("NFD")
    if form == "decimal commas":
        scores["value"] = [f"{x!r}".replace(".", ",") for x in scores["value"].tolist()]
    if form == "1.0":
        points["dose"] = points["dose"].map(str)
    points.to_parquet(tmp_path / "points.parquet")
    scores.to_parquet(tmp_path / "intrinsic.parquet")
    wanted = wanted if form == "decomposed" else biasbridge.effects(RUN)
    pd.testing.assert_frame_equal(biasbridge.effects(tmp_path), wanted)


# Names, truth values, numbers, copies and lists, one by one.


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("women ", "women"),
        ("\u00a0women", "women"),
        ("New\u00a0York", "New York"),
        ("\ufeffwomen\u200b", "women"),
        ("Espan\u0303a", "España"),
        (1.0, "1"),
        ("1.0", "1"),
        ("-2.00", "-2"),
        ("1.5", "1.5"),
        (7, "7"),
        ("+3", "+3"),  # a sign belongs to the name
        ("a\u200db", "a\u200db"),  # joins letters within a word
        ("", ""),
    ],
)
def test_key(name: object, key: str) -> None:
    assert name_key(name) == key


def test_the_first_spelling_is_printed() -> None:
    assert first_spellings(["1.0", "1", "women ", "women"]) == {"1": "1.0", "women": "women"}
    assert first_spellings([1.0, "1"]) == {"1": "1"}


def test_names_that_differ_in_case_are_noted() -> None:
    assert case_note(["Women", "women", "men"], "groups") == (
        "groups that differ only in case count as different: 'Women' and 'women'"
    )
    assert case_note(["Women", "men"], "groups") == ""


@pytest.mark.parametrize(
    ("names", "are"),
    [
        (["NO", "SI"], False),  # Norway and Slovenia
        (["no", "ja"], False),  # Norwegian and Japanese
        (["no", "s\u00ed", "1"], True),
        (["FALSCH", "wahr"], True),
        ([], False),
    ],
)
def test_flags_are_words_of_one_language(names: list[str], are: bool) -> None:
    assert are_flags(names) is are


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["0,83", "1", ",5", "-2,5e3"], [0.83, 1, 0.5, -2500]),
        (["0,83", "0.5"], None),  # one of them parts something else
        (["1,234", "12,500"], None),  # thousands
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1,2,3", "0,5"], None),
        (["0,5", ""], [0.5, np.nan]),
    ],
)
def test_decimal_commas(cells: list[str], numbers: list[float] | None) -> None:
    read, has_commas = read_numbers(pd.Series(cells))
    assert has_commas or numbers is None
    if numbers is None:
        assert read.isna().any()
    else:
        assert read.tolist() == pytest.approx(numbers, nan_ok=True)


def test_numbers_in_columns_of_lists_and_words() -> None:
    numbers, has_commas = read_numbers(pd.Series(["1,5", ["a"], None, "word"], dtype=object))
    assert has_commas
    assert numbers.tolist()[0] == 1.5
    assert numbers.isna().tolist() == [False, True, True, True]


@pytest.mark.parametrize(("n_values", "n_copies"), [(9, 1), (8, 0)])
def test_rows_are_copies_where_nearly_all_others_differ(n_values: int, n_copies: int) -> None:
    table = pd.DataFrame({"x": [*range(n_values), *[0] * (10 - n_values), 0], "y": range(11)})
    table.loc[10, "y"] = 0
    assert _find_copies(table, ["x"]).sum() == n_copies
    assert _find_copies(table, []).sum() == 0


def test_a_few_kinds_of_rows_are_no_copies() -> None:
    table = pd.DataFrame({"label": ["0", "1"] * 30, "group": ["men", "women"] * 30})
    assert not _find_copies(table).any()


def test_other_lists_stay() -> None:
    lists = pd.DataFrame({"a": [["x"], ["y", "z"]], "b": ["[male]", "[x]"], "c": [["x"], ""]})
    assert unwrap_lists(lists)[["a", "b"]].equals(lists[["a", "b"]])
    assert unwrap_lists(lists)["c"].tolist() == ["x", ""]
