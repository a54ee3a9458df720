"""The files of ``biasbridge gaps``: what they say is what the table says, whatever names hold."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps
from biasbridge.commands.gaps import main
from biasbridge.files import InputError

HOSTILE = ("[x](u) <b>", "a|b*_c_", "100%$&#~^{}\\", "=1\n# x")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Predictions of two versions on four groups with names that every format must escape."""
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=600)
    group = rng.choice(HOSTILE, 600)
    v1 = np.where(rng.random(600) < 0.85, label, 1 - label)
    v2 = np.where((group == HOSTILE[0]) & (rng.random(600) < 0.6), 0, v1)
    table = pd.DataFrame({"label": label, "v1": v1, "v2": v2, "group": group})
    table["author"] = np.arange(600) // 6
    path = tmp_path / "p_1.csv"
    table.to_csv(path, index=False)
    return path


def write(source: Path, kind: str, *options: str) -> str:
    out = source.parent / f"out.{'json' if kind == 'eee' else kind}"
    main([str(source), *options, f"--{kind}", str(out)])
    return out.read_text(encoding="utf-8")


def test_json_holds_every_row_and_where_they_come_from(source: Path) -> None:
    text = write(source, "json", "--pred", "v1")
    document = json.loads(text, parse_constant=pytest.fail)
    expected = gaps(source, pred="v1")
    rows = pd.DataFrame(document["rows"])
    assert list(rows) == list(expected)
    for name in ("group", "unprivileged", "measure", "kind"):
        assert list(rows[name]) == list(expected[name])
    for name in ("value", "low", "high", "p_holm"):  # to the last digit
        assert [row[name] for row in document["rows"]] == [
            None if np.isnan(number) else number for number in expected[name]
        ]
    about = document["metadata"]
    assert (about["file"], about["n_rows"], about["columns"]["pred"]) == ("p_1.csv", 600, ["v1"])
    assert about["version"].startswith("biasbridge ")
    source.touch()
    assert write(source, "json", "--pred", "v1") == text


def test_json_alone_is_on_standard_output(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(source), "--pred", "v1", "--json", "-", "--fail-above", "recall=.9"])
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["rows"]) > 10
    assert "recall" in printed.err
    assert not (Path.cwd() / "-").exists()


def test_markdown_has_the_words_of_the_page_and_tables_that_names_do_not_break(
    source: Path,
) -> None:
    page = source.parent / "p.html"
    options = ["--pred", "v1", "--pred", "v2", "--report", str(page)]
    text = write(source, "md", *options)
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (6, 7, 8)  # gaps, changes, values with n
    plain = re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text)
    for group in HOSTILE[:3]:
        assert group in plain
    shown = unescape(page.read_text(encoding="utf-8"))
    claims = re.findall(r"<b>(v2 (?:misses|flags).*?)</b>", shown, flags=re.DOTALL)
    headline = re.findall(r'<p class="first">(v2 misses.*?)</p>', shown)
    assert headline
    for claim in [*claims, *headline]:
        assert claim in plain
    assert not re.search(r"(?<!\\)[<\[]x\]\(", text)
    assert not re.search(r"^# x", text, flags=re.MULTILINE)
    for part in (
        "### v2 - v1",
        "Data: p\\_1.csv, 600 rows; gold: label; pred: v1, v2",
        "Holm",
        "possible",
    ):
        assert part in text


def test_tex_has_values_and_gaps_of_every_group_and_escapes_names(source: Path) -> None:
    text = write(source, "tex", "--pred", "v1", "--measures", "recall,fpr")
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == 2
    assert r"{[}x{]}(u) \textless{}b\textgreater{} & " in text
    assert r"100\%\$\&\#\textasciitilde{}\textasciicircum{}\{\}\textbackslash{} & " in text
    expected = gaps(source, pred="v1", measures=["recall", "fpr"])
    [row] = expected.query("kind == 'gap' and measure == 'fpr' and unprivileged == 'a|b*_c_'")[
        ["value", "low", "high"]
    ].to_numpy()
    value, low, high = (f"{number:.2f}".replace("0.", ".") for number in row)
    cell = f"{'+' if row[0] > 0.005 else ''}{value} [{low},{high}]".replace("-", "$-$")
    assert rf"& {cell} \\" in text
    for line in text.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert len(re.findall(r"(?<!\\)&", line)) in (2, 3)


def test_every_eval_ever_has_the_gap_its_groups_and_its_unbiased_value(source: Path) -> None:
    text = write(source, "eee", "--pred", "v1", "--cluster", "author")
    log = json.loads(text)
    expected = gaps(source, pred="v1", cluster="author")
    kept = expected[expected["kind"].ne("ratio") & expected["value"].notna()]
    assert len(log["evaluation_results"]) == len(kept)
    for result, row in zip(log["evaluation_results"], kept.to_dict("records"), strict=True):
        parameters = result["metric_config"]["metric_parameters"]
        assert result["score_details"]["score"] == row["value"]
        interval = result["score_details"]["uncertainty"]["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == (row["low"], row["high"])
        assert (parameters["measure"], parameters["cluster_column"]) == (row["measure"], "author")
        is_value = row["kind"] == "value"
        assert parameters["group"] == row["group" if is_value else "unprivileged"]
        assert parameters.get("unbiased_value") == (None if is_value else 0)
        assert parameters.get("privileged_group", "") == row["privileged"]
    source.touch()
    again = json.loads(write(source, "eee", "--pred", "v1", "--cluster", "author"))
    assert again["evaluation_id"] == log["evaluation_id"]


def test_every_eval_ever_reads_it(source: Path) -> None:
    """By the types of its package, which needs Python 3.12."""
    types = pytest.importorskip("every_eval_ever.eval_types")
    text = write(source, "eee", "--pred", "v1", "--score", "author", "--cluster", "author")
    types.EvaluationLog.model_validate_json(text)


def test_every_eval_ever_is_of_one_classifier(source: Path) -> None:
    with pytest.raises(InputError, match="give one --pred"):
        write(source, "eee", "--pred", "v1", "--pred", "v2")
    scores = ["--score", "author", "--score", "v1", "--threshold", ".5"]
    with pytest.raises(InputError, match="give one --pred"):
        write(source, "eee", *scores)
