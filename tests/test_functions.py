"""``from biasbridge import audit, query, gaps, correlate, debias``: what goes in and comes out."""

from __future__ import annotations

import doctest
import importlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import biasbridge
from biasbridge import audit, correlate, debias, gaps, plot, query, read_results
from biasbridge.__main__ import main as biasbridge_command
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.result_folder import write_csv_tables, write_tables
from biasbridge.analysis.tables import read_tables
from biasbridge.commands.analogy import analogy
from biasbridge.commands.train import Study
from biasbridge.files import InputError
from biasbridge.files.language import GRAMMAR
from biasbridge.files.vectors import keyed, read_vectors, save_vectors
from biasbridge.intrinsic import effect_size
from biasbridge.intrinsic.words import load_query
from tests.analysis.conftest import make_tables

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.input_vectors import Vectors

ROLES = {
    "X": ["he", "him"],
    "Y": ["she", "her"],
    "A": ["office", "business"],
    "B": ["home", "family"],
}
WORDS = [word for role in ROLES.values() for word in role]
ROWS = np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype(np.float32)
BY_WORD = dict(zip(WORDS, ROWS, strict=True))


def expected() -> float:
    x, y, a, b = (np.array([BY_WORD[word] for word in role]) for role in ROLES.values())
    return effect_size(x, y, a, b)


def test_the_names_there_are() -> None:
    assert dir(biasbridge) == [
        *("audit", "bbq", "certify", "changed_items", "correlate", "data", "debias", "effects"),
        *("gaps", "gate", "plot", "predict", "query", "read_results", "relate", "report", "study"),
        *("thresholds", "tsne"),
    ]


def test_vectors_of_every_kind_have_one_score(tmp_path: Path) -> None:
    save_vectors(keyed(WORDS, ROWS), tmp_path / "a.vec")
    kinds: dict[str, Vectors] = {
        "gensim": keyed(WORDS, ROWS),
        "path": tmp_path / "a.vec",
        "text": str(tmp_path / "a.vec"),
        "table": pd.DataFrame(ROWS, index=WORDS),
        "dict": BY_WORD,
        "lists": {word: row.tolist() for word, row in BY_WORD.items()},
    }
    table = audit(kinds, ROLES, metrics=["weat"])
    assert table["vectors"].tolist() == list(kinds)
    assert table["value"].to_numpy() == pytest.approx(expected(), abs=1e-6)
    for each in kinds.values():
        [value] = audit(each, ROLES, metrics=["weat"])["value"]
        assert value == pytest.approx(expected(), abs=1e-6)


@pytest.mark.parametrize("form", ["dict", "named", "json", "yaml", "csv", "query"])
def test_words_of_every_form_are_one_query(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"mine.{form}"
    match form:
        case "json" | "yaml":  # JSON is YAML
            path.write_text(json.dumps({"mine": ROLES}), encoding="utf-8")
        case "csv":
            lines = [f"{role},{word}" for role, words in ROLES.items() for word in words]
            path.write_text("\n".join(["role,word", *lines]), encoding="utf-8")
    made = {"dict": query(ROLES), "named": query({"mine": ROLES}), "query": query(query(ROLES))}
    asked = made[form] if form in made else query(path)
    assert {role: list(asked[role].words) for role in "XYAB"} == ROLES
    assert asked.language == "und"
    [row] = audit(BY_WORD, asked, metrics=["weat"]).to_dict("records")
    assert (row["query"], row["value"]) == ("mine", pytest.approx(expected(), abs=1e-6))


def test_a_name_is_a_built_in_query() -> None:
    assert query("weat7") == load_query("weat7")
    asked = audit(BY_WORD, "weat6b", metrics=["weat"], min_found=0)
    assert asked.equals(audit(BY_WORD, queries="weat6b", metrics=["weat"], min_found=0))


def test_an_audit_notes_what_it_left_out() -> None:
    table = audit(BY_WORD, {**ROLES, "X3": ["they"]}, metrics=["weat"])
    assert table.attrs["notes"][2:] == ["weat compares two groups and ignores X3 of query 'mine'"]
    table = audit(BY_WORD, {role: ROLES[role] for role in "XYA"}, metrics=["rnd"])
    _, *notes = table.attrs["notes"]
    assert notes == ["query 'mine' has no B, needed by weat, generalised_weat, rnsb, bat, same"]


def test_debiasing_lowers_the_score_and_leaves_what_was_given() -> None:
    before = {word: row.copy() for word, row in BY_WORD.items()}
    moved = debias(BY_WORD, ROLES)
    assert audit(moved, ROLES, metrics=["weat"])["value"][0] < expected()
    assert all((before[word] == BY_WORD[word]).all() for word in WORDS)


@pytest.mark.parametrize("until", [0, 0.1, "mine=0", "0"])
def test_debiasing_until_a_score_tells_dose_and_scores(until: float | str) -> None:
    moved = debias(BY_WORD, ROLES, until=until)
    wanted = 0 if isinstance(until, str) else until
    [value] = audit(moved, ROLES, metrics="weat")["value"]
    assert value == pytest.approx(wanted, abs=2e-3)
    attrs = dict(moved.attrs)
    scores = attrs.pop("scores")
    assert isinstance(scores, pd.DataFrame)
    [row] = scores.to_dict("records")
    assert (row["metric"], row["query"]) == ("weat", "mine")
    assert (row["before"], row["after"]) == pytest.approx((expected(), value), abs=1e-6)
    dose = attrs.pop("dose")
    kept, *_, missing = attrs.pop("notes")
    assert kept.startswith("attract: 8 of 8 pairs kept")
    assert missing.startswith("no value (words out of vocabulary): weat weat6b, ")
    assert attrs == {"method": "attract_repel", "direction": "overbias"}  # the score was below 0
    same = debias(BY_WORD, ROLES, direction="overbias", dose=dose)
    assert (same.vectors == moved.vectors).all()


def test_results_are_read_as_one_table(tmp_path: Path) -> None:
    tables = make_tables()
    write_tables(tmp_path, tables)
    rows = read_results(tmp_path)
    whole = join_points(read_tables(tmp_path))
    pd.testing.assert_frame_equal(read_results(tmp_path, resamples=True), whole)
    without = whole.drop(columns=["x_resampled", "y_resampled"], errors="ignore")
    pd.testing.assert_frame_equal(rows, without)
    one = rows.query("measure == 'recall' and query == 'weat7' and status == 'done'").iloc[0]
    scores = tables.intrinsic.set_index(["point", "query"])["value"]
    assert one["x"] == scores[one["point"], "weat7"]
    assert abs(one["y"]) == pytest.approx(abs(one["x"]) / 10)


def test_what_reads_results_without_resamples_says_so(tmp_path: Path) -> None:
    """Sampling words and items is a part of the interval of r_rm."""
    tables = make_tables()
    rng = np.random.default_rng(0)
    scores, gaps = (
        table.assign(
            value=table["value"] + rng.normal(scale=scale, size=len(table)),
            resampled=[*rng.normal(scale=scale, size=(len(table), 200))],
        )
        for table, scale in ((tables.intrinsic, 0.5), (tables.extrinsic, 0.05))
    )
    points = tables.points.assign(unit_key=tables.points["point"])
    write_tables(tmp_path, tables._replace(points=points, intrinsic=scores, extrinsic=gaps))
    with_resamples = correlate(read_results(tmp_path, resamples=True), "x", "y", by="metric")
    rows = read_results(tmp_path)
    assert not rows.columns.str.endswith("resampled").any()
    without = correlate(rows, "x", "y", by="metric")
    said = "intervals leave out the sampling error of words and items, without resamples"
    assert without.attrs["notes"][-1] == f"{said}: read_results(..., resamples=True) reads them"
    assert not any("sampling error" in note for note in with_resamples.attrs["notes"])
    assert without["reliability_y"].isna().all()
    assert with_resamples["reliability_y"].notna().any()
    assert said in json.dumps(plot.scatter(rows).to_dict())


def test_vectors_in_lower_case_suggest_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """weat6 has 16 capitalised names, of which these vectors have 15 in lower case."""
    asked = [word for role in "XYAB" for word in load_query("weat6")[role].words]
    assert sum(word != word.lower() for word in asked) == 16
    words = [word.lower() for word in asked][1:]
    rows = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    save_vectors(keyed(words, rows), tmp_path / "low.vec")
    save_vectors(keyed([*words, "John"], np.vstack([rows, rows[:1]])), tmp_path / "mixed.vec")
    said = "low.vec has no capital letters: 15 query words are in lower case only"
    line = f'{said}; give case="lower" (--case lower)'

    def notes(file: str, **options: str) -> list[str]:
        table = audit(str(tmp_path / file), metrics="weat", queries="weat6", **options)  # type: ignore[arg-type]
        found: list[str] = table.attrs["notes"]
        return found

    assert line in notes("low.vec")
    assert not any("capital" in note for note in notes("low.vec", case="lower"))
    assert not any("capital" in note for note in notes("mixed.vec"))
    command = ["audit", str(tmp_path / "low.vec"), "--metric", "weat", "--query", "weat6"]
    assert biasbridge_command(command) == 1, "no score has a value"
    assert f"{line}\n" in capsys.readouterr().out


def test_correlations_of_a_folder_are_those_of_its_study(tmp_path: Path) -> None:
    write_tables(tmp_path, make_tables())
    rows = correlate(tmp_path)
    assert {"metric", "query", "measure", "r_rm"} <= {*rows}
    assert len(rows) > 1
    with pytest.raises(InputError, match="name two columns with --x and --y; the table has a, b"):
        correlate(pd.DataFrame({"a": [1.0], "b": [2.0]}))


def test_vectors_are_written_too(tmp_path: Path) -> None:
    moved = debias(BY_WORD, ROLES, out=tmp_path / "moved.vec")
    assert np.allclose(read_vectors(tmp_path / "moved.vec").vectors, moved.vectors, atol=1e-4)
    with pytest.raises(InputError, match="is there already; give another name, or --force"):
        debias(BY_WORD, ROLES, out=tmp_path / "moved.vec")


def test_the_words_are_drawn(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 6))
    words = [f"w{number}" for number in range(40)]
    sets = {role: words[10 * place : 10 * place + 10] for place, role in enumerate("XYAB")}
    vectors: dict[str, Any] = dict(zip(words, rows, strict=True))
    chart = biasbridge.tsne({"a": vectors}, sets, iterations=250, out=tmp_path / "a.json")
    assert "w39" in json.dumps(chart.to_dict())
    assert (tmp_path / "a.json").is_file()


def test_the_tables_of_a_study_are_those_of_its_folder(tmp_path: Path) -> None:
    recorded = Path(__file__).parents[1] / "docs" / "runs" / "transfer_minilm"
    folder = shutil.copytree(recorded, tmp_path / "results")
    effects = biasbridge.effects(folder)
    write_csv_tables(folder, {"effects": effects})
    tables = Study(folder, "").tables
    pd.testing.assert_frame_equal(tables.points, read_tables(folder).points)
    assert tables.effects["effect"].tolist() == pytest.approx(effects["effect"].tolist())
    declared = correlate(folder).query("verdict != ''")
    assert tables.correlations["r_rm"].tolist() == pytest.approx(declared["r_rm"].tolist())
    assert {*tables.gaps["measure"]} == {*tables.scopes["measure"]} == {*declared["measure"]}


@pytest.mark.slow
def test_a_study_returns_its_tables_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["corpus=generated", "corpus.sentences=1000", "size.dim=8", "size.epochs=1"]
    done = biasbridge.study(*small, "source=none", "seed=0,1", "-m")
    assert (done.folder, len(done.tables.points)) == (tmp_path / "results" / "point", 2)
    assert done.answer.startswith("2 points, synthetic data\n")
    one = biasbridge.study(*small, "source=none", "seed=1")
    assert one.tables.points["point"].item() in {*done.tables.points["point"]}
    with pytest.raises(InputError, match="unknown config key 'sed'; did you mean 'seed'"):
        biasbridge.study("sed=3")
    assert capfd.readouterr() == ("", "")


def test_levels_are_those_of_the_command() -> None:
    """Two parents in twelve conditions: r within parents and over conditions, and a verdict."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"parent": np.repeat(["a", "b"], 12), "list": [*range(12)] * 2})
    table["score"] = rng.normal(size=24) + 9 * (table["parent"] == "b")
    table["gap"] = table["score"] + 0.5 * rng.normal(size=24)
    table["gap"] -= 30 * (table["parent"] == "b")
    table["method"] = ["a", "b"] * 12
    levels: Any = {"observation": "list", "parent": "parent", "condition": ["method", "list"]}
    asked = partial(correlate, table, "score", "gap", **levels, confirmatory="all")
    [row] = asked().to_dict("records")
    own = table.groupby("parent")[["score", "gap"]].transform("mean")
    left = table[["score", "gap"]] - own
    assert row["r_rm"] == pytest.approx(left.corr().iloc[0, 1])
    means = left.groupby(table["list"]).mean()
    u, v = means.to_numpy(dtype=float).T
    over_conditions = asked(scopes=True).set_index("scope").loc["other doses"]
    assert over_conditions["change"] == pytest.approx(float(u @ v / (u @ u)) * np.ptp(u))
    assert (row["n"], row["n_parents"], row["n_conditions"]) == (24, 2, 12)
    assert row["verdict"] == "rises"
    [one_column] = asked(condition="list").to_dict("records")
    assert one_column["verdict"] == "cannot tell", "doses and methods are not told apart"


SEVEN: Any = 7
LISTED = pd.DataFrame({"x": [[1, 2], [3, 4]], "y": [0.1, 0.2]})
HUGE = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.1, 1e300, 0.2]})
TWICE = pd.DataFrame([[0, 1, 2]], columns=["x", "x", "y"])
# Functions, their arguments beside a table, an option that they lack, and the nearest
UNKNOWN: list[tuple[Any, tuple[Any, ...], str, str]] = [
    (gaps, (), "privilegd", "privileged"),
    (biasbridge.gate, ({"recall": 0.1},), "privilegd", "privileged"),
    (biasbridge.gate, ({"recall": 0.1},), "harms", "harm"),
    (biasbridge.thresholds, (), "mesures", "measures"),
    (biasbridge.changed_items, (), "gropu", "group"),
    (correlate, (), "xx", "x"),
    (plot.scatter, ("x", "y"), "titl", "title"),
]
REFUSED: list[tuple[str, Callable[[], object]]] = [
    *(
        (message, partial(audit, vectors, ROLES))
        for vectors, message in (
            ({"a": [1.0], "b": [1.0, 2.0]}, "vectors are not numbers of one length"),
            ({}, "vectors have the shape"),
            ({"a": [np.nan], "b": [1.0]}, "the vector of 'a' holds a NaN"),
            ("nowhere.vec", "no such file: nowhere.vec"),
        )
    ),
    ("unknown word set 'he'", partial(query, {"X": "he"})),
    ("1 is not a word", partial(query, {"X": [1]})),
    ("unknown key 'Q'", partial(query, {"Q": ["he"]})),
    ("unknown query 'weat77'", partial(query, "weat77")),
    ("^unknown query 'career'; words has mine; ", partial(audit, BY_WORD, ROLES, queries="career")),
    (
        "^unknown query 'career'; words has mine; ",
        partial(debias, BY_WORD, ROLES, until="career=0"),
    ),
    (
        "--until finds the dose; leave out --dose",
        partial(debias, BY_WORD, ROLES, dose=0.5, until="mine=0"),
    ),
    ("7 is not a name; give a name, or a list", partial(audit, BY_WORD, ROLES, metrics=SEVEN)),
    ("give a whole number from 0 to 2", partial(audit, BY_WORD, ROLES, seed=2**32)),
    ("resamples=100000000000: give a whole", partial(audit, BY_WORD, ROLES, resamples=10**11)),
    ("int is not a table; give a pandas table, or a path", partial(gaps, SEVEN)),
    ("NoneType is not a table", partial(gaps, None)),  # type: ignore[arg-type]
    ("int is not a table", partial(correlate, SEVEN, "x", "y")),
    ("the table names 'x' more than once; rename one", partial(gaps, TWICE)),
    ("the table names 'x' more than once; rename one", partial(correlate, TWICE, "x", "y")),
    ("holds .* in row 1, a list; give one", partial(correlate, LISTED, "y", "y", by="x")),
    ("utility=", partial(correlate, LISTED, "y", "y", utility=["y"])),  # type: ignore[arg-type]
    ("column 'y' holds 1e\\+300; give it in larger", partial(correlate, HUGE, "x", "y")),
    ("until x: give QUERY=VALUE", partial(debias, BY_WORD, ROLES, until="x")),
    ("until nan: give QUERY=VALUE", partial(debias, BY_WORD, ROLES, until=float("nan"))),
    ("no such file: nowhere/points.parquet", partial(read_results, "nowhere")),
    ("int is not a folder; give the path", partial(read_results, SEVEN)),
    *(
        (
            rf"{function.__name__}\(\) has no option '{wrong}'; did you mean '{right}'\?; give any",
            partial(function, LISTED, *arguments, **{wrong: "a"}),
        )
        for function, arguments, wrong, right in UNKNOWN
    ),
]


@pytest.mark.parametrize(("message", "asked"), REFUSED, ids=[each[0] for each in REFUSED])
def test_what_cannot_be_answered_is_refused(message: str, asked: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=message):
        asked()


def test_what_gensim_saved_is_read_where_it_is_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, words = str(tmp_path / "a.kv"), tmp_path / "mine.json"
    keyed(WORDS, ROWS).save(path)
    words.write_text(json.dumps({"mine": ROLES}), encoding="utf-8")
    pair = ["--words", str(words)]
    moved = [path, str(tmp_path / "b.vec"), *pair, "--direction", "debias"]
    asked = [["audit", path, *pair], ["debias", *moved], ["check", path, str(words)]]
    for each in asked:
        with pytest.raises(InputError, match=r"a\.kv is a Python pickle .* --trusted"):
            biasbridge_command(each)
        biasbridge_command([*each, "--trusted"])
    assert "embedding.trusted=true" in capsys.readouterr().out
    with pytest.raises(InputError, match="trusted=True in Python"):
        audit(path, ROLES)
    assert audit(path, ROLES, metrics=["weat"], trusted=True)["value"][0] == pytest.approx(
        expected(), abs=1e-6
    )
    assert debias(path, ROLES, trusted=True).index_to_key == WORDS


SPANISH = [*GRAMMAR["es"].split(), *WORDS]


def in_spanish() -> KeyedVectors:
    rows = np.random.default_rng(1).normal(size=(len(SPANISH), 6)).astype(np.float32)
    return keyed(SPANISH, rows)


def test_vectors_are_asked_in_the_language_of_their_frequent_words() -> None:
    table = audit(in_spanish(), metrics=["weat"])
    assert {load_query(name).language for name in table["query"]} == {"es"}
    notes = table.attrs["notes"]
    assert notes[0].startswith("vectors: assuming language 'es' (from its frequent words)")
    table = audit(in_spanish(), metrics=["weat"], language="en")
    assert {load_query(name).language for name in table["query"]} == {"en"}
    assert table.attrs["notes"][0] == "vectors: language 'en', as given"
    notes = audit(BY_WORD, ROLES, metrics="weat").attrs["notes"]
    assert notes[1] == "vectors: assuming language 'en' (no language given)"


def test_the_notes_say_which_scores_have_no_value_and_why() -> None:
    table = audit(BY_WORD, metrics=["weat"])
    _, total, *reasons = table.attrs["notes"]
    assert total == f"{table['value'].isna().sum()} of {len(table)} scores have no value"
    assert sum(line.count("weat weat") for line in reasons) == table["value"].isna().sum()
    assert any(line.startswith("weat weat1: word set 'flowers' has 0 of 25") for line in reasons)
    both = audit({"a": BY_WORD, "b": BY_WORD}, metrics=["weat"])
    assert both.attrs["notes"][3].startswith("a: weat weat1, b: weat weat1: word set")


def test_several_vectors_come_in_a_list_by_the_name_of_their_file(tmp_path: Path) -> None:
    save_vectors(keyed(WORDS, ROWS), tmp_path / "gn.txt")
    frame = pd.DataFrame(ROWS, index=WORDS)
    table = audit([keyed(WORDS, ROWS), tmp_path / "gn.txt", frame], ROLES, metrics=["weat"])
    assert table["vectors"].tolist() == ["vectors 1", "gn.txt", "vectors 3"]
    assert table["value"].to_numpy() == pytest.approx(expected(), abs=1e-6)
    path = tmp_path / "gn.txt"
    twice = audit([path, path], ROLES, metrics=["weat"])
    assert twice["vectors"].tolist() == ["gn.txt", "vectors 2"]
    for bad in ([[0.1, 0.2], [0.3, 0.4]], ROWS, 3):
        with pytest.raises(InputError, match="or several of these in a list, or by name"):
            audit(bad, ROLES)  # type: ignore[arg-type]


def test_a_text_is_one_name() -> None:
    table = pd.DataFrame({"x": range(8), "y": range(8), "origin": list("aabbccdd")})
    table["made"] = range(8)
    one = correlate(table, x="x", y="y", by="origin", observation="made", parent="origin")
    two = correlate(table, x="x", y="y", by=["origin"], observation=["made"], parent=["origin"])
    pd.testing.assert_frame_equal(one, two)
    scores = audit(BY_WORD, ROLES, metrics="weat", queries="mine")
    assert scores["metric"].tolist() == ["weat"]
    said = pd.DataFrame({"label": [0, 1] * 4, "prediction": [0, 1] * 4, "group": list("aabbccdd")})
    asked = gaps(said, measures="recall", unprivileged="a", min_support=0)
    assert set(asked["measure"]) == {"recall"}
    assert set(asked.query("kind == 'gap'")["unprivileged"]) == {"a"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"privileged": "men", "unprivileged": "woman"}, "no rows of group 'woman'"),
        ({"measures": "recal"}, "did you mean 'recall'"),
        ({"pred": ["prediction", "prediction"]}, "--pred prediction is given twice"),
        ({"multiclass": True, "positive": "1"}, "give one of the two"),
        ({"pred": ["prediction", "label"], "score": "label"}, "1 --score and 2 --pred"),
        ({"measures": "auc"}, "--measures auc needs scores; give their column by --score"),
        ({"group": ["group", "group"]}, "--group group is given twice"),
        ({"cross": ["group"]}, "--cross group: give two or more columns, each once"),
        ({"cross": ["group", "group"]}, "give two or more columns, each once"),
        (
            {"unprivileged": "men", "measures": "equalised_odds"},
            "--measures equalised_odds compares two groups; name another",
        ),
        ({"threshold": "half", "score": "label"}, "--threshold half: give a number"),
        ({"threshold": "share"}, "compares versions by their scores; give two or more --score"),
        ({"threshold": "share", "score": "label"}, "give two or more --score"),
        ({"threshold": "share", "score": ["label"] * 2}, "name one for each --score, or give"),
        ({"threshold": [0.5, 0.5], "score": "label"}, "2 thresholds and 1 --score"),
        ({"threshold": ["share", 0.5], "score": ["label"] * 2}, "not for the first"),
    ],
)
def test_what_the_command_refuses_is_refused(options: dict[str, Any], message: str) -> None:
    said = pd.DataFrame({"label": [0, 1] * 9, "prediction": 1, "group": ["men", "women", "x"] * 6})
    with pytest.raises(InputError, match=message):
        gaps(said, **options)


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        *product(
            ["label", "prediction", "score", "id"], [[1], {"a": 1}, b"\xff", 1j, np.array([1, 2])]
        ),
        *product(["group"], [{"a": 1}, b"\xff", 1j, [["a"]], [b"a"]]),
    ],
)
def test_cells_that_are_no_text_or_number_are_refused(column: str, cell: object) -> None:
    said = pd.DataFrame({"label": [0, 1] * 9, "prediction": 1, "group": ["a", "b", "c"] * 6})
    said = said.assign(score=0.5, id=range(18))
    said[column] = [cell, *said[column][1:]]
    with pytest.raises(InputError, match=f"column '{column}' holds "):
        gaps(said, score="score")


def test_the_true_labels_may_stand_as_a_classifier() -> None:
    said = pd.DataFrame({"label": ["x", "y"] * 20, "prediction": "x", "group": list("aabb") * 10})
    found = gaps(said, pred=["prediction", "label"], positive="x", measures="recall")
    whole = found.query("kind == 'value' and group == 'all' and measure == 'recall'")
    values = whole.set_index("classifier")["value"]
    assert values.to_dict() == {"prediction": 1, "label": 1, "label - prediction": 0}


@pytest.mark.parametrize("options", [{}, {"multiclass": True}, {"positive": "1"}])
def test_a_table_without_rows_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="has no rows"):
        gaps(pd.DataFrame({"label": [], "prediction": [], "group": []}), **options)


def test_groups_are_compared_by_name_and_a_comma_parts_none() -> None:
    said = pd.DataFrame({"label": 1, "prediction": [0, 1] * 6, "group": ["a", "x, y", "b"] * 4})
    found = gaps(said, measures="recall", unprivileged=["x, y", "a"], min_support=0)
    assert found.query("kind == 'gap'")["unprivileged"].tolist() == ["x, y", "a"]
    assert "max_difference" in {*found["kind"]}
    one = gaps(said, measures="recall", unprivileged="a", min_support=0)
    assert "max_difference" not in {*one["kind"]}, "no two groups are compared"


def test_gaps_of_part_of_a_table_are_those_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.integers(2, size=400) for name in ("label", "prediction")})
    data = data.assign(group=rng.choice(["a", "b"], 400), score=rng.random(400))
    part = data[data.index % 3 > 0]
    found = gaps(part, score="score")
    pd.testing.assert_frame_equal(found, gaps(part.reset_index(drop=True), score="score"))
    assert found.loc[found["group"] == "all", "support"].max() == len(part)


WHOLE = "give a whole number"


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (audit, {"model": BY_WORD, "seed": "x"}, f"seed='x': {WHOLE} of at least 0"),
        (audit, {"model": BY_WORD, "seed": -1}, f"seed=-1: {WHOLE} of at least 0"),
        (audit, {"model": BY_WORD, "seed": None}, f"seed=None: {WHOLE}"),
        (audit, {"model": BY_WORD, "layer": 1.5}, f"layer=1.5: {WHOLE}"),
        (audit, {"model": BY_WORD, "limit": 1}, "model=dict: give a folder, a hub name, or"),
        (debias, {"model": BY_WORD, "seed": "x"}, f"seed='x': {WHOLE} of at least 0"),
        (debias, {"model": BY_WORD, "layer": []}, rf"layer=\[\]: {WHOLE}"),
        (
            biasbridge.certify,
            {"metric": "weat", "seeds": "x"},
            f"seeds='x': {WHOLE} of at least 0 or null",
        ),
        (biasbridge.certify, {"metric": "weat", "config_dir": 3}, "config_dir=3: give a text"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    function: Callable[..., object], arguments: dict[str, object], message: str
) -> None:
    first, *options = arguments.items()
    with pytest.raises(InputError, match=message):
        function(first[1], **dict(options))


def test_whole_numbers_of_numpy_are_taken() -> None:
    numbers: dict[str, Any] = {"seed": np.int64(3), "layer": np.int32(-1)}
    rows = audit(BY_WORD, query(ROLES), metrics="weat", **numbers)
    assert rows["value"].iloc[0] == pytest.approx(expected())


@pytest.mark.parametrize(
    "name",
    [
        *("commands.audit", "commands.bbq", "commands.correlate", "commands.debias"),
        *("commands.effects", "commands.gaps", "commands.predict", "commands.train"),
        *("input_words", "plot"),
    ],
)
def test_the_examples_of_docstrings_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent)
    failed, attempted = doctest.testmod(importlib.import_module(f"biasbridge.{name}"))
    assert (failed, attempted > 0) == (0, True)


def test_zeros_and_ones_beside_other_labels() -> None:
    """Labels 0, 1 and 2 of which 0 and 1 are positive: 0 and 1 may be either, true is no label."""
    table = pd.DataFrame({"label": [0, 1, 2] * 20, "group": ["a", "b"] * 30})
    options: dict[str, Any] = {"positive": ["0", "1"], "measures": "recall"}
    truth = table.assign(prediction=table["label"] == 0)
    whole = gaps(truth, **options).query("kind == 'value' and group == 'all'")
    assert whole["value"].item() == 0.5
    with pytest.raises(InputError, match="holds 0 and 1 only, which may be labels of 'label'"):
        gaps(truth.assign(prediction=truth["prediction"].astype(int)), **options)
    labels = table.assign(prediction=[0, 1, 2, 0, 1, 1] * 10)
    assert len(gaps(labels, **options))


def test_messages_name_the_columns_of_the_table() -> None:
    table = pd.DataFrame({"gold": [0, 1] * 20, "hat": 1, "group": list("aabb") * 10, "p": "x"})
    named: dict[str, Any] = {"gold": "gold", "pred": "hat"}
    with pytest.raises(InputError, match="column 'p' holds 'x'"):
        gaps(table, score="p", **named)
    empty = table.assign(hat=["", *["1"] * 39])
    assert "rows lack 'hat' (1)" in gaps(empty, multiclass=True, **named).attrs["notes"][0]
    with pytest.raises(InputError, match="2 of 40 rows have no id"):
        gaps(table.assign(id=["", " ", *map(str, range(38))]), **named)
    with pytest.raises(InputError, match="no rows of group 'aa'"):
        gaps(table, privileged="aa", **named)


def test_columns_may_be_numbers() -> None:
    table = pd.DataFrame({0: [0.1, 0.4, 0.3, 0.9, 0.8], 1: [1.0, 2.0, 2.5, 3.0, 3.5]})
    rows = correlate(table, x="0", y="1")
    assert rows["n"].item() == 5


def test_options_of_language_models_are_refused_for_vectors() -> None:
    for option in ({"random_weights": True}, {"layer": 3}, {"pooling": "cls"}):
        with pytest.raises(InputError, match="applies to language models; leave it out"):
            audit({"he": [1, 0], "she": [0, 1]}, **option)


def test_an_analogy_is_answered_as_gensim_does_and_with_the_words_asked() -> None:
    words = [f"word_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    vectors = keyed(words, np.random.default_rng(1).normal(size=(26, 8)).astype(np.float32))
    a, b, c = words[:3]
    found = analogy(vectors, a, b, c.upper(), number=5)
    peer = vectors.most_similar(positive=[b, c], negative=[a], topn=5)
    assert found["word"].tolist() == [word for word, _ in peer]
    assert found["cosine"].to_numpy() == pytest.approx([cosine for _, cosine in peer], abs=1e-6)
    units = {word: vectors[word] / np.linalg.norm(vectors[word]) for word in words}
    target = units[b] - units[a] + units[c]
    cosines = {word: units[word] @ target / np.linalg.norm(target) for word in words}
    assert found["any_word"].tolist() == sorted(words, key=lambda word: -cosines[word])[:5]
    assert found["any_cosine"].max() == pytest.approx(max(cosines.values()))
    few = analogy(vectors, a, b, c, vocabulary=10)
    assert {*few["word"]} <= {*words[:10]}
    for asked, reason in ((("x", b, c), "not in the vocabulary: x"), ((a, b, b), "different")):
        with pytest.raises(InputError, match=reason):
            analogy(vectors, *asked)
