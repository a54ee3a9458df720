"""``biasbridge audit``: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import dataclasses
import json
import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from gensim.models import KeyedVectors

from biasbridge import audit
from biasbridge.__main__ import main as command
from biasbridge.commands.audit import main
from biasbridge.files import InputError
from biasbridge.files.choice import find_choice
from biasbridge.files.paths import HOME
from biasbridge.files.vector_files import vector_files
from biasbridge.files.vectors import read_vectors, save_vectors
from biasbridge.intrinsic import METRICS
from biasbridge.intrinsic.audit import (
    assume_language,
    choose_metrics,
    rank_correlations,
    rank_files,
    score_metrics,
)
from biasbridge.intrinsic.describe import (
    _CONVENTIONS,
    _METRICS_PAGE,
    _conventions_table,
    _metrics_page,
)
from biasbridge.intrinsic.words import load_query
from biasbridge.train.cli.class_configs import class_configuration

ROOT = Path(__file__).resolve().parent.parent.parent
MINE = {
    "mine": {
        "X": ["xa", "xb", "xc"],
        "Y": ["ya", "yb", "yc"],
        "A": ["aa", "ab", "ac"],
        "B": ["ba", "bb", "gone"],
    }
}


def small(seed: int, words: list[str] | None = None) -> KeyedVectors:
    names = words or [word for role in MINE["mine"].values() for word in role if word != "gone"]
    vectors = KeyedVectors(vector_size=5)
    vectors.add_vectors(
        names, np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32)
    )
    return vectors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed, name in enumerate(("one.vec", "two.vec", "three.vec", "cc.en.vec")):
        save_vectors(small(seed), tmp_path / name)
    (tmp_path / "mine.json").write_text(json.dumps(MINE), encoding="utf-8")
    return tmp_path


def rows_of(
    folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str
) -> list[dict[str, Any]]:
    words = ["--words", str(folder / "mine.json"), "--json"]
    status = main([str(folder / "one.vec"), *words, *arguments])
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert status == all(row["value"] is None for row in rows)
    return rows


def test_json_is_a_list_of_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows_of(folder, capsys, "--metric", "weat")
    metric = METRICS["weat"](queries=("mine",), words=str(folder / "mine.json"))
    (expected,) = metric.score(small(0), seed=0)
    assert (row["metric"], row["query"]) == ("weat", "mine")
    assert (row["n_found"], row["n_oov"], row["oov"]) == (11, 1, "gone")
    # The file holds decimal digits
    assert row["value"] == pytest.approx(expected.value, abs=1e-4)
    assert row["single_scores"].keys() == {"xa", "xb", "xc", "ya", "yb", "yc"}
    (row,) = rows_of(folder, capsys, "--metric", "weat", "--min-found", "1")
    assert row["value"] is None
    assert row["reason"] == "word set 'mine.B' has 2 of 3 words (needs at least 3): missing gone"


def test_without_a_metric_all_that_can_ask_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(folder, capsys)
    expected = [
        name for name, kind in METRICS.items() if kind.accepts(load_query("weat7")) and name != "sq"
    ]
    assert list(dict.fromkeys(row["metric"] for row in rows)) == expected
    assert {"weat", "rnd", "rnsb", "mac", "ect", "bat", "same", "ibt", "generalised_weat"} <= set(
        expected
    )


def test_a_convention_is_taken_by_the_metrics_that_have_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(folder, capsys, "--convention", "wefe")
    assert {row["metric"] for row in rows} == {"weat", "rnd", "rnsb", "mac", "ect"}
    assert {row["convention"] for row in rows} == {"wefe"}
    with pytest.raises(
        InputError, match="any metric has no convention 'wefee'; did you mean 'wefe'"
    ):
        main([str(folder / "one.vec"), "--convention", "wefee"])


def test_several_files_are_ranked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / f"{name}.vec") for name in ("one", "two", "three")]
    target = folder / "rows.csv"
    words = ["--words", str(folder / "mine.json"), "--metric", "weat", "mac", "rnsb"]
    assert main([*files, *words, "--csv", str(target)]) == 0
    out = capsys.readouterr().out
    assert "Rank of the files, 1: nearest to unbiased" in out
    assert "Spearman's correlation between metrics over 3 files" in out
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["vectors"] for row in rows[:3]] == ["one.vec"] * 3
    assert len(rows) == 9


def test_ranks_go_by_the_distance_from_unbiased() -> None:
    import pandas as pd

    nan = float("nan")
    values = {
        "weat": (-1.0, 0.5, 0.0),
        "mac": (0.9, 0.7, 1.0),
        "sq": (0.9, 0.7, nan),
        "ect": (nan, 1.0, 1.0),
    }
    columns = ["metric", "convention", "query", "part", "vectors", "value", "unbiased"]
    rows = [
        (metric, "default", "q", "", file, value, unbiased)
        for metric, (*both, unbiased) in values.items()
        for file, value in zip("ab", both, strict=True)
    ]
    table = pd.DataFrame(rows, columns=columns)
    ranked = rank_files(table)
    assert ranked.index.tolist() == [("weat", "default", "q", ""), ("mac", "default", "q", "")]
    assert ranked.to_numpy().tolist() == [[2, 1], [1, 2]]
    assert rank_correlations(ranked).loc["weat", "mac"] == pytest.approx(-1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["one.vec", "--seed", "-1"], "seed=-1: give a whole number of at least 0"),
        (["one.vec", "--resamples", "99999999999"], "give a whole number from 0 to 1e+06"),
        (["one.vec", "--query", "weat11"], "unknown query 'weat11'"),
        (
            ["cc.en.vec", "--query", "gender_es"],
            (
                "query 'gender_es' is in 'es', but the vectors are assumed to be in 'en'; give"
                " --language es"
            ),
        ),
        (
            ["one.vec", "--language", "fi"],
            "no query in 'fi' for any metric; give your own with --words",
        ),
        (["one.vec", "--metric", "sq"], "give one with --similarity"),
        (
            ["one.vec", "--metric", "sembias", "--query", "weat7"],
            "query 'weat7' has no rows, pairs; sembias needs rows, pairs: add them to the"
            " query, or leave sembias out",
        ),
        (
            ["one.vec", "--query", "sembias", "--metric", "weat"],
            "query 'sembias' has no X, Y, A, B",
        ),
        ([], "give one or more files of word vectors, a language model, or --list"),
    ],
)
def test_refusals(
    arguments: list[str], says: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError) as refusal:
        main(arguments)
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("cc.es.300.vec", "es"),
        ("wiki.de.vec", "de"),
        ("es_tweets.bin", "es"),
        ("glove.6B.50d.txt", "en"),
        ("model.vec", "en"),
        ("rude.vec", "en"),
    ],
)
def test_a_file_name_may_state_its_language(name: str, language: str) -> None:
    assert assume_language(name)[0] == language


@pytest.mark.parametrize("language", ["de", "en", "es", "hr", "it", "ru", "tr"])
def test_every_language_has_an_audit(language: str) -> None:
    chosen = choose_metrics(language=language)
    queries = [load_query(name) for metric in chosen for name in metric.queries]
    assert {query.language for query in queries} == {language}
    assert "weat" in {metric.about.name for metric in chosen}
    words = list(
        dict.fromkeys(
            word for query in queries for wordset in query.sets.values() for word in wordset.words
        )
    )
    rows = [
        row
        for row, _ in score_metrics(
            small(0, words),
            [metric for metric in chosen if metric.about.name in ("weat", "mac", "rnd", "rnsb")],
        )
    ]
    assert all(row.reason == "" and row.n_oov == 0 for row in rows)


def test_list_names_every_metric_and_query(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in [*METRICS, "weat7_tr", "migrant_es"])


def test_the_page_is_what_the_code_says() -> None:
    remedy = "run python -m biasbridge.intrinsic.describe"
    assert (ROOT / _METRICS_PAGE).read_text(encoding="utf-8") == _metrics_page(ROOT), remedy
    assert (ROOT / _CONVENTIONS).read_text(encoding="utf-8") == _conventions_table(), remedy


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_configuration_that_names_its_options(name: str) -> None:
    shared = yaml.safe_load((ROOT / "conf" / "metric.yaml").read_text(encoding="utf-8"))
    result = find_choice([HOME], "intrinsic", name)
    assert result
    values: dict[str, Any] = shared | class_configuration(result)[name]
    kind = METRICS[name]
    assert values.pop("_target_") == f"{kind.__module__}.{kind.__qualname__}"
    assert values.keys() - {"usual"} == {field.name for field in dataclasses.fields(kind)}
    assert values["language"] == "${language}"
    if name == "sq":
        values["file"] = str(ROOT / "tests" / "similar.tsv")
    assert kind.configured(**values | {"language": "und"}).label == "default,case=lower"


def test_what_is_not_asked_and_not_compared_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = {role: words for role, words in MINE["mine"].items() if role != "B"}
    queries = {"more": MINE["mine"] | {"X3": ["xa"], "A3": ["aa"]}, "bare": bare}
    (folder / "two.json").write_text(json.dumps(queries), encoding="utf-8")
    words = ["--words", str(folder / "two.json")]
    assert main([str(folder / "one.vec"), *words, "--metric", "weat", "--query", "more"]) == 0
    shown = capsys.readouterr().out
    assert "weat compares two groups and ignores X3, A3 of query 'more'\n" in shown
    lacks = "query 'bare' has no B, needed by weat, generalised_weat, rnsb, bat, same\n"
    assert lacks in shown


def test_a_result_in_the_store_opens_as_vectors(tmp_path: Path) -> None:
    result = tmp_path / "store" / "vectors" / "0123"
    result.mkdir(parents=True)
    save_vectors(small(0), result / "vectors")
    (result / "recipe.json").touch()
    found = read_vectors(result)
    assert (found.vectors == small(0).vectors).all()
    assert vector_files(result) == [result / "vectors" / f for f in ("words.txt", "vectors.npy")]


def test_the_table_has_a_headline_and_a_line_a_score(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(folder / "one.vec"), "--words", str(folder / "mine.json")]
    rows = rows_of(folder, capsys, "--metric", "weat", "mac")
    main([*command, "--metric", "weat", "mac"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("one.vec: WEAT finds an association (p < .05) in ")
    for row in rows:
        assert any(f"{row['value']:.3f}" in line and "mine" in line for line in lines)
    main([*command, "--metric", "weat", "--verbose"])
    assert "Word Embedding Association Test" in capsys.readouterr().out


def test_the_headline_groups_tests_by_family_and_names_reverse_associations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores and p by a literal loop over all splits of 16 words."""
    queries = {name: load_query(name) for name in ("weat6", "weat6b", "weat7")}
    side = {word: 1.0 for role in "XA" for word in queries["weat6"][role].words}
    side |= {word: -1.0 for role in "YB" for word in queries["weat6"][role].words}
    side |= {word: 1.0 for role in "XB" for word in queries["weat7"][role].words}
    side |= {word: -1.0 for role in "YA" for word in queries["weat7"][role].words}
    rng = np.random.default_rng(0)
    values = {word: [x + rng.normal(0, 0.3), rng.normal(), 1.0] for word, x in side.items()}
    rows = [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in values.items()]
    (tmp_path / "v.vec").write_text("\n".join([f"{len(rows)} 3", *rows]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["v.vec", "--metric", "weat", "--query", *queries])
    printed = capsys.readouterr().out.splitlines()
    unit = {word: np.array(row) / np.linalg.norm(row) for word, row in values.items()}
    said = {}
    for name, query in queries.items():
        a, b = (np.mean([unit[w] for w in query[role].words], axis=0) for role in "AB")
        s = [float(unit[w] @ (a - b)) for role in "XY" for w in query[role].words]
        splits = [sum(s[i] for i in x) - sum(s) / 2 for x in combinations(range(16), 8)]
        d = (np.mean(s[:8]) - np.mean(s[8:])) / np.std(s)
        two_sided = np.mean([abs(total) >= abs(splits[0]) - 1e-12 for total in splits])
        said[name] = f"{name} {d:.2f}" + (f" (p {two_sided:.2g})" if d < 0 else "")
    begin = "v.vec: WEAT finds an association (p < .05) in"
    reverse = ", ".join(sorted([said["weat6b"], said["weat7"]], key=lambda x: x.split()[1])[::-1])
    assert printed[:2] == [
        f"{begin} 1 of 1 test of social bias with names: {said['weat6']}",
        f"{begin} 0 of 2 tests of social bias with terms; a reverse association (two-sided p) in"
        f" 2 of 2: {reverse}",
    ]
    assert printed[-1].startswith(
        "next: biasbridge debias v.vec debiased.vec --method leace --query"
    )
    assert command(shlex.split(printed[-1])[2:]) == 0
    assert Path("debiased.vec").is_file()
    notes = audit("v.vec", metrics="weat", queries=list(queries)).attrs["notes"]
    assert notes[:3] == [*printed[:2], printed[-1]]
    with_own_words = audit("v.vec", {"own": {r: queries["weat7"][r].words for r in "XYAB"}})
    [line] = [note for note in with_own_words.attrs["notes"] if "WEAT" in note]
    assert "0 of 1 test of social bias; a reverse association (two-sided p) in 1 of 1" in line


def test_the_singular_of_an_option_is_the_option(folder: Path) -> None:
    words = folder / "mine.json"
    one, many = (
        audit(folder / "one.vec", words, **{name: "weat"})  # type: ignore[arg-type]
        for name in ("metric", "metrics")
    )
    assert one.equals(many)
    with pytest.raises(InputError, match="no option 'metric'"):
        audit(folder / "one.vec", words, metric="weat", metrics="mac")  # type: ignore[call-arg]
