"""Tables as people have them are measured as the cleaned table is, or refused with the remedy.

Each dirty table is made from the same items, measured, and compared with a loop over the items that
remain when it is cleaned by hand.
"""

from __future__ import annotations

import json
import shlex
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge import gaps, gate, thresholds
from biasbridge.__main__ import main as command
from biasbridge.extrinsic.predictions import _exact_p
from biasbridge.files import InputError
from biasbridge.files.tables import read_table, write_table

COMPARED: dict[str, Any] = {"privileged": "men", "unprivileged": "women"}


class Item(NamedTuple):
    """A comment, with what people and the classifier said of it; None where nobody did."""

    id: int
    text: str
    label: int | None
    prediction: int | None
    score: float | None
    group: str
    author: str


def make_items() -> list[Item]:
    rng = np.random.default_rng(5)
    items = []
    for number in range(240):
        label, group = int(rng.random() < 0.5), ("men", "women")[number % 2]
        score = float(round(np.clip(0.3 + 0.4 * label + rng.normal(0, 0.25), 0.01, 0.99), 3))
        text = f"das café für Zoë, Nummer {number}"
        author = f"a{number // 4}"
        items.append(Item(number, text, label, int(score >= 0.5), score, group, author))
    return items


ITEMS = make_items()
LOST = {3, 7, 8, 11, 15, 19, 23, 31}  # seven of women, one of men


def frame(items: Sequence[Item] = ITEMS, **columns: Any) -> pd.DataFrame:
    """The table with an object a cell, so that numbers stay whole beside missing ones."""
    return pd.DataFrame(items, dtype=object).assign(**columns)


def gap(items: Sequence[Item], label: int, classify: Callable[[Item], int | None]) -> float:
    """The share predicted 1 of a label, of men minus women."""
    rates = []
    for group in ("men", "women"):
        n = hits = 0
        for item in items:
            if item.group == group and item.label == label:
                n += 1
                hits += classify(item) == 1
        rates.append(hits / n)
    return rates[0] - rates[1]


def gaps_by_loop(
    items: Sequence[Item], classify: Callable[[Item], int | None] = lambda item: item.prediction
) -> dict[str, float]:
    """Recall and false positive rate, positive where women fare worse."""
    return {"recall": gap(items, 1, classify), "fpr": -gap(items, 0, classify)}


def measured(table: Any, **options: Any) -> tuple[dict[str, float], list[str]]:
    rows = biasbridge.gaps(table, **{"measures": ["recall", "fpr"]} | COMPARED | options)
    gaps = rows[rows["kind"] == "gap"]
    return dict(zip(gaps["measure"], gaps["value"], strict=True)), rows.attrs["notes"]


def as_csv(table: pd.DataFrame, encoding: str = "utf-8", **options: Any) -> bytes:
    text: str = table.to_csv(index=False, **options)
    return text.encode(encoding)


def as_xlsx(sheets: Mapping[str, pd.DataFrame]) -> Mapping[str, str]:
    """The parts of a workbook in its least form, with numbers, truth values and text."""

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, int | float):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>'
        for n, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(
        f'<Relationship Id="r{n}" Type="{relations}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in numbers
    )
    kinds = [("xl/workbook.xml", "sheet.main")]
    kinds += [(f"xl/worksheets/s{n}.xml", "worksheet") for n in numbers]
    overrides = "".join(
        f'<Override PartName="/{part}" ContentType="{types}.{kind}+xml"/>' for part, kind in kinds
    )
    relation = "application/vnd.openxmlformats-package.relationships+xml"
    kinds_of = f'{package}/content-types"><Default Extension="rels" ContentType="{relation}"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{kinds_of}{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relations}"><sheets>{names}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}'
        "</Relationships>",
    }
    for n, table in zip(numbers, sheets.values(), strict=True):
        rows = [[*table.columns], *table.astype(object).to_numpy().tolist()]
        lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/s{n}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
        )
    return parts


def with_cell(place: str) -> Mapping[str, str]:
    """A workbook with a further cell; the others have no place of their own."""
    parts = as_xlsx({"a": frame()})
    cell = f'<row><c r="{place}"><v>1</v></c></row></sheetData>'
    return {name: text.replace("</sheetData>", cell) for name, text in parts.items()}


def write(content: Any, path: Path) -> Any:
    """The path of the written content; a table is handed over as it is."""
    if isinstance(content, pd.DataFrame):
        return content
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, Mapping):
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in content.items():
                archive.writestr(name, text)
    else:
        path.write_text(content, encoding="utf-8")
    return path


def keep(lost: set[int] = LOST) -> list[Item]:
    return [item for item in ITEMS if item.id not in lost]


def without(column: str, lost: set[int] = LOST) -> pd.DataFrame:
    table = frame()
    table.loc[[item.id in lost for item in ITEMS], column] = None
    return table


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return rows


def nested() -> list[dict[str, Any]]:
    return [
        {"y": row["label"], "meta": {"group": row["group"], "of": {"pred": row["prediction"]}}}
        for row in records(frame())
    ]


def spell(column: str, *forms: Mapping[int, object]) -> pd.DataFrame:
    """The table with the forms of 0 and 1 in turn."""
    cells = [forms[n % len(forms)][value] for n, value in enumerate(frame()[column])]
    return frame().assign(**{column: pd.Series(cells, dtype=object)})


def shares() -> pd.DataFrame:
    """Annotators' fractions of labels and groups, as in Civil Comments, and a score."""
    rng = np.random.default_rng(6)
    yes, no = ([0.5, 0.6, 0.75, 1.0], [0.0, 0.1, 0.25, 0.4])

    def draw(has_said: int | None) -> float:
        return float(rng.choice(yes if has_said else no))

    return pd.DataFrame(
        {
            "label": [draw(item.label) for item in ITEMS],
            "men": [draw(item.group == "men") for item in ITEMS],
            "women": [draw(item.group == "women") for item in ITEMS],
            "prediction": [item.score for item in ITEMS],
        }
    )


MIXED = ({0: 0, 1: 1}, {0: "0", 1: "1"}, {0: "false", 1: "true"}, {0: "none", 1: "hate"})
TRUTH = ({0: "FALSCH", 1: "TRUE"}, {0: "FALSE", 1: "WAHR"}, {0: "FAUX", 1: "VRAI"})
SCORES: dict[str, Any] = {"score": "score", "measures": ["recall", "fpr", "auc"]}
GERMAN: dict[str, Any] = {"sep": ";", "decimal": ","}


class Dirty(NamedTuple):
    """A file (none: a table in memory) and its options, the cleaned items, and a note."""

    file: str
    content: Any
    note: str = ""
    items: list[Item] = ITEMS
    options: Mapping[str, Any] = {}


NESTED = {"gold": "y", "pred": "meta.of.pred", "group": "meta.group"}
SHARES: dict[str, Any] = {"group": ["men", "women"], "score": "prediction", "threshold": 0.5}
LACK = "8 of 240 rows lack"
DIRTY: dict[str, Dirty] = {
    "mixed labels": Dirty(
        "p.csv", as_csv(spell("label", *MIXED)), options={"positive": ["hate", "1"]}
    ),
    "no label": Dirty(
        "p.csv",
        as_csv(without("label")),
        f"{LACK} 'label' (8); they are left out. By group: women 7 of 120, men 1 of 120",
        keep(),
    ),
    "no prediction": Dirty(
        "p.jsonl",
        "\n".join(map(json.dumps, records(without("prediction")))),
        f"{LACK} 'prediction' (8); they are left out",
        keep(),
    ),
    "empty clusters": Dirty(
        "p.csv",
        as_csv(without("author")),
        "8 of 240 rows have an empty 'author': each of these items is a cluster of its own",
        options={"cluster": "author"},
    ),
    "Excel": Dirty("p.xlsx", as_xlsx({"Sheet 1": frame(), "Sheet 2": pd.DataFrame()})),
    "cp1252": Dirty(
        "p.csv",
        as_csv(frame(text="10\u00a0000"), "cp1252"),
        "is not UTF-8: read as Windows-1252 (cp1252), line 2 has '0,10\\xa0000",
    ),
    "German Excel": Dirty(
        "p.csv",
        as_csv(frame().astype({"label": float, "score": float}), "cp1252", **GERMAN),
        "cp1252",
        options=SCORES,
    ),
    "UTF-16": Dirty("p.tsv", as_csv(frame(), "utf-16", sep="\t"), "is read as UTF-16"),
    "UTF-16 without a mark": Dirty("p.csv", as_csv(frame(), "utf-16-le"), "is read as UTF-16"),
    "UTF-16, the high byte first": Dirty("p.csv", as_csv(frame(), "utf-16-be"), "as UTF-16"),
    "UTF-8 with a mark": Dirty("p.csv", as_csv(frame(), "utf-8-sig")),
    "nested JSON": Dirty("p.jsonl", "\n".join(map(json.dumps, nested())), options=NESTED),
    "an array of nested JSON": Dirty("p.json", json.dumps(nested(), indent=1), options=NESTED),
    "ids as floats": Dirty(
        "p.csv", as_csv(frame(id=[n if n % 2 else float(n) for n in range(240)]))
    ),
    "TRUE and FALSCH": Dirty("p.csv", as_csv(spell("label", *TRUTH))),
    "ja and nein": Dirty("p.csv", as_csv(spell("prediction", {0: "nein", 1: "ja"}))),
    "copies": Dirty(
        "p.csv",
        as_csv(frame([*ITEMS, *ITEMS[:5]])),
        "5 of 245 rows repeat another row with the same id in all columns; they are left out",
    ),
    "copies without ids": Dirty(
        "p.csv",
        as_csv(frame([*ITEMS, *ITEMS[:5]]).drop(columns="id")),
        "5 of 245 rows repeat an earlier row in all columns",
        [*ITEMS, *ITEMS[:5]],
    ),
    "annotator fractions": Dirty(
        "p.csv",
        as_csv(shares()),
        "columns of fractions are cut: 0.5",
        options=SHARES | {"cut": 0.5},
    ),
    "groups in the index": Dirty("", frame().set_index("group")),
    "missing scores": Dirty(
        "p.csv",
        as_csv(without("score")),
        f"{LACK} 'score >= 0.5' (8) or 'score' (8); they are left out",
        keep(),
        {"score": "score", "threshold": 0.5},
    ),
}


@pytest.mark.parametrize("name", DIRTY)
def test_gaps_are_those_of_the_cleaned_table(name: str, tmp_path: Path) -> None:
    file, content, note, items, options = DIRTY[name]
    if file.endswith(".xlsx"):
        pytest.importorskip("python_calamine")
    gaps, notes = measured(write(content, tmp_path / file), **options)
    assert {name: gaps[name] for name in ("recall", "fpr")} == pytest.approx(gaps_by_loop(items))
    assert note in " / ".join(notes)


@pytest.mark.parametrize("name", [name for name, row in DIRTY.items() if row.file])
def test_the_command_that_check_prints_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, content, *_ = DIRTY[name]
    if file.endswith(".xlsx"):
        pytest.importorskip("python_calamine")
    monkeypatch.chdir(tmp_path)
    write(content, tmp_path / file)
    assert command(["check", file]) == 0
    printed = capsys.readouterr().out
    assert command(shlex.split(printed.partition(": biasbridge ")[2])) == 0


class Refused(NamedTuple):
    """A file (none: a table in memory), what its error says, and its options."""

    file: str
    content: Any
    message: str
    options: Mapping[str, Any] = {}


def label_of(cell: object) -> pd.DataFrame:
    """The table with a cell as its first label, beside whole numbers."""
    return frame(label=pd.Series([cell, *frame()["label"][1:]], dtype=object))


REFUSED: dict[str, Refused] = {
    "mixed labels": Refused(
        "p.csv", as_csv(spell("label", *MIXED)), r"'hate', 'none' .*--positive LABEL"
    ),
    "no label anywhere": Refused(
        "p.csv",
        as_csv(frame(label="")),
        "column 'label' is empty in every row; a row needs a value in each of 'label', 'pred",
    ),
    "never all": Refused(
        "",
        frame(label=[None, 1] * 120, other=[1, None] * 120),
        r"a value is missing in every row; a row needs .* each of 'label', 'prediction', 'other'",
        {"pred": ["prediction", "other"]},
    ),
    "no cluster": Refused(
        "", frame(author=None), "'author' is empty in every row; leave", {"cluster": "author"}
    ),
    "an infinite label": Refused("p.csv", as_csv(label_of("inf")), "'label' holds 'inf' in 1 of"),
    "a label without end": Refused("", label_of(float("-inf")), "'label' holds -inf in 1 of 240"),
    "an infinite prediction": Refused(
        "p.csv", as_csv(frame(prediction=[1e400, *frame()["score"][1:]])), "holds 'inf', '0"
    ),
    "a label too large for a float": Refused(
        "p.jsonl",
        "\n".join(map(json.dumps, records(label_of(10**400)))),
        "'label' holds '1000.* in 1 of 240 rows; it must be 0 or 1",
    ),
    "fractions as labels": Refused(
        "p.csv",
        as_csv(shares()),
        r"column 'label' holds numbers such as 0\.\d+, not labels; give --cut 0.5",
        SHARES,
    ),
    "fractions as groups": Refused(
        "",
        frame(group=shares()["men"]),
        r"'group' holds numbers such as 0\.\d+, not names of groups; give --cut 0.5 \(cut=0.5\)",
    ),
    "scores as predictions": Refused(
        "",
        frame(prediction=frame()["score"]),
        r"holds scores such as 0\.\d+; give --score prediction --threshold 0.5",
    ),
    "an id with two predictions": Refused(
        "",
        frame([*ITEMS, ITEMS[0]._replace(prediction=1 - int(ITEMS[0].prediction or 0))]),
        "the rows of id '0' differ in their prediction",
    ),
    "an id twice": Refused(
        "",
        frame([*ITEMS, ITEMS[0]._replace(text="another")]),
        "id '0' occurs twice in group 'men'; give each item an id of its own",
    ),
    "a nameless index": Refused(
        "",
        frame().set_index("group").rename_axis(None),
        r"no column 'group'.*its index has no name: give table.rename_axis\('group'\)",
    ),
    "two encodings": Refused(
        "p.csv", "text,é\n".encode() + "é,1\n".encode("cp1252"), "line 2 is not UTF-8"
    ),
    "two encodings, UTF-8 last": Refused(
        "p.csv",
        "text,é\n".encode("cp1252") + "é,1\n".encode(),
        "line 2 is UTF-8, but line 1 is not; write the file in one encoding",
    ),
    "Cyrillic of Windows": Refused(
        "p.csv",
        as_csv(frame(text="снег идет весь день"), "cp1251"),
        "neither UTF-8 nor in a Western encoding; convert it to UTF-8",
    ),
    "half a character": Refused("p.csv", as_csv(frame(), "utf-16")[:-1], "damaged UTF-16"),
    "another JSON": Refused(
        "p.json", json.dumps({"label": {"0": 1}}), "give an array of objects, or an object"
    ),
    "an array of JSON, cut off": Refused(
        "p.json", json.dumps(nested())[:-9], "is not an array of JSON objects"
    ),
    "two sheets": Refused(
        "p.xlsx",
        as_xlsx({"a": frame(), "b": frame()}),
        r"2 sheets with cells \('a', 'b'\); save the one with the table as CSV UTF-8, or delete",
    ),
    "no sheet": Refused("p.xlsx", as_xlsx({"a": pd.DataFrame()}), r"p\.xlsx is empty"),
    "a cell far off": Refused(
        "p.xlsx",
        with_cell("XFD1048576"),
        "1 cells are spread over 1,048,576 rows and 16,384 columns; delete those far from",
    ),
    "no workbook": Refused("p.xlsx", b"PK", "is not an Excel workbook, or is damaged .*; save it"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_tables_are_refused_with_the_remedy(name: str, tmp_path: Path) -> None:
    file, content, message, options = REFUSED[name]
    if file.endswith(".xlsx"):
        pytest.importorskip("python_calamine")
    with pytest.raises(InputError, match=message) as caught:
        measured(write(content, tmp_path / file), **options)
    assert "\n" not in str(caught.value)


def test_without_the_reader_of_excel_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = write(as_xlsx({"a": frame()}), tmp_path / "p.xlsx")
    with pytest.raises(InputError, match=r"needs python-calamine: run pip install '\.\[excel]'"):
        biasbridge.gaps(path)


def test_a_cell_of_excel_that_is_not_far_off_is_read(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    table = read_table(write(with_cell("AZ300"), tmp_path / "p.xlsx"))
    assert table.columns.tolist() == [*Item._fields]
    assert len(table) == 240


def test_cells_of_excel_are_text_as_in_csv(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    table = pd.DataFrame({"code": ["01", "NA"], "n": [1, 2.5], "is": [True, None]}, dtype=object)
    read = read_table(write(as_xlsx({"a": table}), tmp_path / "p.xlsx"))
    assert read.to_dict("list") == {"code": ["01", "NA"], "n": ["1", "2.5"], "is": ["True", ""]}


@pytest.mark.parametrize(
    ("texts", "is_noted"),
    [
        ([f"text {n}" for n in range(90)] + ["text 0"] * 10, True),
        ([f"text {n}" for n in range(90)] + ["a", "b"] * 5, True),
        ([f"text {n % 30}" for n in range(100)], False),  # a few templates
        ([f"0.{n}" for n in range(90)] + ["0.0"] * 10, False),  # scores
    ],
)
def test_rows_that_may_be_copies_are_noted(texts: list[str], is_noted: bool) -> None:
    groups = ["men", "women"] * 50
    table = pd.DataFrame({"text": texts, "label": 1, "prediction": 1, "group": groups})
    table["part"] = [n // 30 % 2 for n in range(100)]
    notes = biasbridge.gaps(table, measures="recall").attrs["notes"]
    assert any("repeat an earlier row" in note for note in notes) is is_noted


def test_a_row_that_lacks_one_version_is_left_out_of_all() -> None:
    other = [None if item.id in LOST else 1 - int(item.prediction or 0) for item in ITEMS]
    rows = biasbridge.gaps(
        frame(other=pd.Series(other, dtype=object)), pred=["prediction", "other"],
        measures=["recall", "fpr"], **COMPARED,
    )  # fmt: skip
    gaps = rows[rows["kind"] == "gap"].set_index(["classifier", "measure"])["value"]
    versions = {
        "prediction": lambda item: item.prediction,
        "other": lambda item: 1 - item.prediction,
    }
    for version, classify in versions.items():
        assert gaps[version].to_dict() == pytest.approx(gaps_by_loop(keep(), classify))
    note = rows.attrs["notes"][0]
    assert "'other' (8); they are left out of all versions. By group: women 7" in note


def test_thresholds_and_gates_leave_the_same_rows_out() -> None:
    table = without("score")
    by_threshold = biasbridge.thresholds(table, measures=["recall"], **COMPARED)
    for row in by_threshold.to_dict("records"):
        at = float(row["threshold"])
        wanted = gap(keep(), 1, lambda item, at=at: int(item.score >= at))  # type: ignore[misc]
        assert row["value"] == pytest.approx(wanted)
    assert any("lack 'score' (8)" in note for note in by_threshold.attrs["notes"])
    result = biasbridge.gate(without("prediction"), {"recall": 0.9}, **COMPARED)
    assert result.claims[0].row.value == pytest.approx(gaps_by_loop(keep())["recall"])


def test_an_empty_cluster_is_a_cluster_of_one() -> None:
    names = [f"own {item.id}" if item.id in LOST else item.author for item in ITEMS]
    first, second = (
        biasbridge.gaps(table, cluster="author", measures=["recall", "auc"], score="score")
        for table in (without("author"), frame(author=names))
    )
    pd.testing.assert_frame_equal(first, second)


def test_items_in_several_groups_have_one_cluster_each() -> None:
    long = pd.concat([without("author"), without("author").assign(group="all ages")])
    table = biasbridge.gaps(long, cluster="author", measures="recall", **COMPARED)
    positives = [item for item in ITEMS if item.label == 1]
    names = {item.id if item.id in LOST else item.author for item in positives}
    assert table.loc[table["group"] == "all", "n_clusters"].item() == len(names)


@pytest.mark.parametrize(
    ("values", "options", "is_read"),
    [
        ([0.25, 0.75], {}, True),  # two codes
        ([0.25, 0.5, 0.75], {}, False),
        ([0.25, 0.5, 0.75], {"privileged": "0.25"}, True),  # named as groups
        ([n + 0.5 for n in range(20)], {}, True),  # versions of something
        ([n + 0.5 for n in range(21)], {}, False),
        ([1.0, 2.0, 3.0], {}, True),
    ],
)
def test_numbers_as_groups(values: list[float], options: dict[str, Any], is_read: bool) -> None:
    table = frame(group=[values[n % len(values)] for n in range(240)])
    if is_read:
        assert {*biasbridge.gaps(table, **options)["group"]} >= {f"{values[1]:g}"}
    else:
        with pytest.raises(InputError, match=r"--cut 0.5 \(cut=0.5\)"):
            biasbridge.gaps(table, **options)


@pytest.mark.parametrize(("cut", "n"), [(0.5, 3), (0.51, 2)])
def test_a_fraction_at_the_cut_is_in_the_group(cut: float, n: int) -> None:
    table = frame()[:40].assign(group=np.array([0.5, 0.75, 1.0, np.nan, *[0.25] * 36]))
    rows = biasbridge.gaps(table, cut=cut, measures="accuracy", min_support=0)
    supports = rows[rows["kind"] == "value"].set_index("group")["support"]
    assert supports.to_dict() == {"group": n, "rest": 39 - n, "all": 40}, "an empty cell is unknown"


def test_many_keys_of_objects_are_data(tmp_path: Path) -> None:
    for n, is_field in ((100, True), (101, False)):
        rows = [{"of": {f"k{key}": key}} for key in range(n)]
        read = read_table(write("\n".join(map(json.dumps, rows)), tmp_path / f"{n}.jsonl"))
        assert ("of.k0" in read) is is_field
        assert read["of"][1] == {"k1": 1}


def test_groups_whose_rows_are_lost_significantly_often_are_named() -> None:
    lost = {*range(1, 40, 2)}  # 20 of women
    [note, *_] = measured(without("label", lost))[1]
    assert note.endswith(
        ". They are more often of women than of other rows (exact test, Holm-adjusted p < 0.05)"
    )
    [even, *_] = measured(without("label", {*range(40)}))[1]
    assert even.endswith("By group: men 20 of 120, women 20 of 120")


def test_the_exact_p_is_that_of_a_loop_over_the_tables_and_seldom_false() -> None:
    """Of 60 rows of which 12 are marked at random, the p of a group of 25 is at most .05 in fewer
    than .05 of the draws.
    """
    from math import comb

    n_rows, n_marked, n = 60, 12, 25
    chances = [
        comb(n_marked, hits) * comb(n_rows - n_marked, n - hits) / comb(n_rows, n)
        for hits in range(n_marked + 1)
    ]
    k = np.arange(n_marked + 1)
    p = _exact_p(k, np.full(len(k), n), n_marked, n_rows)
    for i, value in enumerate(p):
        tails = sum(chances[: i + 1]), sum(chances[i:])
        assert value == pytest.approx(min(1, 2 * min(tails)))
    assert sum(c for c, value in zip(chances, p, strict=True) if value < 0.05) < 0.05


def test_rows_keep_their_numbers_where_others_are_left_out(tmp_path: Path) -> None:
    table = without("prediction").assign(later=[1 - int(item.prediction or 0) for item in ITEMS])
    path = write(as_csv(pd.concat([table[:1], table])), tmp_path / "p.csv")  # the first twice
    changed = biasbridge.changed_items(path, pred=["prediction", "later"])
    rows = dict(zip(changed["id"].astype(int), changed["row"], strict=True))
    assert rows == {item.id: item.id + 1 + (item.id > 0) for item in keep()}


HUB = {"LABEL_1": 1, "LABEL_0": 0}


@pytest.mark.parametrize("codes", [HUB, "LABEL_1=1, LABEL_0=0"])
def test_recoded_labels_give_the_rows_of_the_codes(codes: str | dict[str, int]) -> None:
    items = pd.DataFrame({"label": [0, 1] * 40, "prediction": [0, 1, 1, 1] * 20})
    items["group"] = ["men", "women"] * 20 + ["women", "men"] * 20
    named = items.assign(prediction=[f" LABEL_{code}" for code in items["prediction"]])
    table = gaps(named, map=codes)
    assert table.equals(gaps(items))
    assert table.attrs["notes"] == ["recoded cells: LABEL_1 as 1 (60), LABEL_0 as 0 (20)"]
    assert named["prediction"].str.startswith(" LABEL").all(), "the table given stays"
    assert gate(named, {"recall": 0.9}, map=codes)
    both = named.assign(score=0.5, label=[f"LABEL_{code}" for code in items["label"]])
    scored = thresholds(both, map=codes, measures="recall")
    assert scored.equals(thresholds(items.assign(score=0.5), measures="recall"))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"LABEL_2": 1}, "map LABEL_2=1: no cell of label, prediction is 'LABEL_2'; did you mean"),
        ("neutrl=ok", "map neutrl=ok: no cell of label, prediction is 'neutrl'; did you mean 'neu"),
        ("LABEL_1", "map LABEL_1: write it like LABEL_1=1,neutral=ok"),
        ("=1", "map =1: write it like LABEL_1=1,neutral=ok"),
    ],
)
def test_a_map_that_fits_no_label_is_refused(codes: str | dict[str, int], message: str) -> None:
    items = pd.DataFrame({"label": ["LABEL_1", "neutral"] * 9, "group": ["a", "b", "c"] * 6})
    with pytest.raises(InputError, match=message):
        gaps(items.assign(prediction=items["label"]), map=codes)


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".csv"])
@pytest.mark.parametrize("column", ["label", "prediction", "score"])
@pytest.mark.parametrize(
    ("cell", "kind"), [([1, 0], "a list"), ({"a": 1}, "an object"), ([{"a": 1}], "a list")]
)
def test_a_nested_cell_is_named_by_column_row_and_value(
    ending: str, column: str, cell: object, kind: str, tmp_path: Path
) -> None:
    rows: list[dict[str, object]] = [
        {"label": n % 2, "prediction": 1, "score": 0.5, "group": "ab"[n % 3 % 2]} for n in range(9)
    ]
    if ending == ".jsonl":
        rows[3][column] = cell
        text = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / "p.jsonl").write_text(text, encoding="utf-8")
    else:
        nested = cell if ending == ".parquet" else json.dumps(cell)
        write_table(pd.DataFrame([row | {column: nested} for row in rows]), tmp_path / f"p{ending}")
    row = 4 if ending == ".jsonl" else 1
    message = f"column '{column}' holds .* in row {row}, {kind}; give one"
    with pytest.raises(InputError, match=message):
        gaps(tmp_path / f"p{ending}", score="score")
