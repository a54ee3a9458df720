"""The page of somebody's predictions says what the table says, in words, and needs no network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps
from biasbridge.analysis.table_charts import gap_panels
from biasbridge.commands.gaps import main
from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.extrinsic.gap_tables import read_blocks
from biasbridge.stats.formatting import order_groups


def predictions(n_groups: int, n: int = 3_000, *, name: str = "group {}") -> pd.DataFrame:
    """Groups of rising base rate; the last one's positives are found less often."""
    rng = np.random.default_rng(0)
    group = rng.integers(n_groups, size=n)
    label = rng.random(n) < np.linspace(0.1, 0.7, n_groups)[group]
    actual = np.where(group == n_groups - 1, 0.5, 0.8)
    prediction = rng.random(n) < np.where(label, actual, 0.1)
    names = np.array([name.format(i) for i in range(n_groups)])[group]
    return pd.DataFrame({"label": label, "prediction": prediction, "group": names}).astype(
        {"label": int, "prediction": int}
    )


def page_of(table: pd.DataFrame, folder: Path) -> str:
    """The text of its page."""
    page: Path = table.report(folder / "page.html")  # type: ignore[operator]
    return unescape(page.read_text(encoding="utf-8"))


def test_two_groups_are_named_with_gap_interval_and_n(tmp_path: Path) -> None:
    table = gaps(predictions(2), privileged="group 0", unprivileged="group 1")
    page = page_of(table, tmp_path)
    [row] = table[(table["kind"] == "gap") & (table["measure"] == "recall")].to_dict("records")
    ends = ("value", "low_simultaneous", "high_simultaneous")
    value, low, _ = (f"{row[name]:.2f}".lstrip("0") for name in ends)
    assert f"differs from 0 after adjustment (Bonferroni): group 1, recall +{value} [{low}," in page
    assert "Gap of group 1 to group 0 (positive: worse for group 1)" in page
    for side in ("privileged", "unprivileged"):
        assert f">{row[f'support_{side}']:,}<" in page


def test_where_base_rates_differ_their_own_precision_is_computed(tmp_path: Path) -> None:
    asked = ["base_rate", "recall", "fpr", "precision"]
    table = gaps(predictions(2), privileged="group 0", unprivileged="group 1", measures=asked)
    page = page_of(table, tmp_path)
    value = table[table["kind"] == "value"].set_index(["measure", "group"])["value"]
    recall, fpr = value["recall", "all"], value["fpr", "all"]
    for group in ("group 0", "group 1"):
        rate = value["base_rate", group]
        precision = recall * rate / (recall * rate + fpr * (1 - rate))
        assert f"{precision:.2f}".lstrip("0") in page[page.index("Base rates differ") :][:500]


def test_of_many_groups_what_is_beyond_chance_is_named(tmp_path: Path) -> None:
    table = gaps(
        predictions(15, 20_000), measures=["base_rate", "recall", "fpr", "precision", "f1"]
    )
    page = page_of(table, tmp_path)
    [line] = re.findall("<li>([^<]* from 0 after adjustment[^<]*)</li>", page)
    assert "group 14, recall +" in line
    assert "That alone moves precision and F1." in page
    [far] = table[(table["kind"] == "max_difference") & (table["measure"] == "recall")].to_dict(
        "records"
    )
    furthest = page[page.index("Furthest apart") :].split("</table>")[0]
    assert far["unprivileged"] in furthest
    assert page.count("<img ") == 5
    assert all('alt="' in tag for tag in re.findall("<img [^>]*>", page))


@pytest.mark.slow
def test_groups_that_are_alike_rarely_stand_out() -> None:
    """Of 20 tables of groups treated alike about one names a group."""
    rng = np.random.default_rng(1)
    named = 0
    for _ in range(20):
        data = pd.DataFrame({"label": rng.integers(2, size=4_000)})
        data["prediction"] = np.where(rng.random(4_000) < 0.8, data["label"], 1 - data["label"])
        data["group"] = rng.choice([f"g{i}" for i in range(10)], 4_000)
        found = gaps(data).query("kind == 'gap'")
        named += bool(((found["low_simultaneous"] > 0) | (found["high_simultaneous"] < 0)).any())
    assert named <= 4


def test_a_change_without_a_value_leaves_the_axis_of_the_others(tmp_path: Path) -> None:
    data = pd.concat([predictions(2), predictions(1, n=12, name="few")])
    data["later"] = np.where(data["group"] == "group 1", 0, data["prediction"])
    table = gaps(data, pred=["prediction", "later"])
    changes = table[table["earlier"] != ""]
    assert changes["low"].isna().any()
    domains = [
        panel.to_dict()["layer"]
        for panel in gap_panels(changes, order_groups(changes.to_dict("records"))).values()
    ]
    assert "NaN" not in json.dumps(domains)


def test_a_group_without_a_value_is_last_in_the_order() -> None:
    data = pd.concat([predictions(3), predictions(1, n=9, name="few")])
    order = order_groups(gaps(data).to_dict("records"))
    assert order[-1] == "few"
    others = gaps(data[data["group"] != "few"])
    assert order[:-1] == order_groups(others.to_dict("records"))


def test_a_page_of_strangers_names_runs_nothing_and_loads_nothing(tmp_path: Path) -> None:
    table = gaps(predictions(3, name="<script>x{}</script>"))
    page = table.report(tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not re.findall(r'(?:src|href)="https?:', page)


def test_several_classifiers_and_classes_have_a_section_each(tmp_path: Path) -> None:
    data = predictions(2).assign(other=lambda rows: rows["label"])
    page = page_of(gaps(data, pred=["prediction", "other"], privileged="group 0"), tmp_path)
    for name in ("prediction", "other", "other - prediction"):
        assert f"Values and gaps of {name}<" in page


def test_characters_that_no_drawing_holds_are_shown_as_escapes(tmp_path: Path) -> None:
    """In a process of its own: a NUL in the text of an SVG ended Python, without a word."""
    names = [f"a{character}b" for character in "\0\1\x1b\ufffe\uffff"]
    data = predictions(len(names))
    data["group"] = data["group"].map(lambda group: names[int(group[-1])])
    data.to_csv(tmp_path / "p.csv", index=False)
    command = ["-m", "biasbridge", "gaps", "p.csv", "--report", "p.html", "--csv", "g.csv"]
    ended = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    for file in ("p.html", "g.csv"):
        written = (tmp_path / file).read_text(encoding="utf-8")
        for text in (written, ended.stdout):
            assert all(
                escape in text for escape in (r"a\x00b", r"a\x01b", r"a\ufffeb", r"a\uffffb")
            )
            assert not any(name in text for name in names)


def test_the_page_says_how_many_clusters_and_how_much_wider_intervals_are(tmp_path: Path) -> None:
    data = predictions(2)
    data["author"] = np.random.default_rng(0).integers(0, 25, len(data)).astype(str)
    table = gaps(data, privileged="group 0", cluster="author")
    widening = sorted(table.loc[table["kind"] == "gap", "widening"])
    low, middle, high = (
        f"{widening[number]:.2f}".removeprefix("0") for number in (0, len(widening) // 2, -1)
    )
    expected = f"25 clusters: intervals of gaps are {middle} times as wide as those of"
    said = f"{expected} independent items. The factor goes from {low} to {high}."
    assert said in page_of(table, tmp_path)
    assert "clusters:" not in page_of(gaps(data, privileged="group 0"), tmp_path)


def test_a_gap_is_named_where_its_simultaneous_interval_excludes_0() -> None:
    row = GapRow("gap", "recall", "", "rest", "a", 0.1, 0.01, 0.19)
    ends = {"a": 0.001, "b": -0.001}
    rows = [
        row._replace(unprivileged=name, low_simultaneous=low, high_simultaneous=0.2)
        for name, low in ends.items()
    ]
    [block] = read_blocks(rows)
    assert block.lines[0].startswith("1 of 2 gaps differs from 0 after adjustment (Bonferroni): a")
    [none] = read_blocks(rows[1:])
    assert none.lines[0] == "None of 1 gap differs from 0 after adjustment (Bonferroni)."
    assert block.lines[1].startswith(
        "Not after adjustment: b, recall +.10 [.01,.19]. By chance fewer than 1 of 2"
    )


@pytest.mark.parametrize(("high", "said"), [(0.499, False), (0.501, True)])
def test_base_rates_a_tenth_apart_ask_for_caution(high: float, said: bool) -> None:
    rates = [GapRow("value", "base_rate", name, "", "", x) for name, x in (("a", 0.4), ("b", high))]
    gap = GapRow("gap", "precision", "", "rest", "a", 0.1, -0.1, 0.3)
    [block] = read_blocks([*rates, gap])
    assert any(line.startswith("Base rates differ: 40%") for line in block.lines) == said


@pytest.mark.parametrize(
    ("flagged", "is_supposed"), [((1, 21), True), ((0, 10), False), ((0, 0), False)]
)
def test_a_precision_is_supposed_only_where_items_are_flagged(
    flagged: tuple[int, int], is_supposed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Group a has no positives, b 20 of 40; of the items of each the first are flagged."""
    sides = zip("ab", (0, 20), flagged, strict=True)
    items = [
        {"label": int(n < positive), "prediction": int(n < flag), "group": group}
        for group, positive, flag in sides
        for n in range(40)
    ]
    pd.DataFrame(items).to_csv(tmp_path / "p.csv", index=False)
    measures = "recall,fpr,base_rate,accuracy,precision"
    assert main([str(tmp_path / "p.csv"), "--min-support", "0", "--measures", measures]) == 0
    printed = capsys.readouterr().out
    assert ("Suppose recall" in printed) == is_supposed


@pytest.mark.parametrize(
    ("measure", "expected", "said", "is_supposed"),
    [
        ("precision", 0.1, True, True),
        ("precision", np.nan, True, True),
        ("precision", 0.0, False, False),  # no false positives: base rates move nothing
        ("accuracy", 0.1, True, False),
        ("recall", np.nan, False, False),
    ],
)
def test_base_rates_are_warned_of_where_they_move_a_gap_and_precision_where_it_is_one(
    measure: str, expected: float, said: bool, is_supposed: bool
) -> None:
    values = {"base_rate": (0.2, 0.6), "recall": (0.8, 0.8), "fpr": (0.1, 0.1)}
    rows = [
        GapRow("value", name, group, value=x)
        for name, pair in values.items()
        for group, x in zip(("all", "b"), pair, strict=True)
    ]
    rows += [GapRow("value", "base_rate", "a", value=0.2)]
    gap = GapRow("gap", measure, "", "a", "b", 0.1, -0.1, 0.3, expected_from_base_rates=expected)
    [block] = read_blocks([*rows, gap])
    text = " ".join(block.lines)
    assert ("That alone moves" in text, "Then precision" in text) == (said, is_supposed)


# The files of ``biasbridge gaps``: what they say is what the table says, whatever names hold.

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
    out = source.parent / f"out.{kind}"
    main([str(source), *options, "--write", str(out)])
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
    assert printed.err.startswith("Release: all 4 comparisons are within")
    assert not (Path.cwd() / "-").exists()


def test_markdown_has_the_words_of_the_page_and_tables_that_names_do_not_break(
    source: Path,
) -> None:
    page = source.parent / "p.html"
    options = ["--pred", "v1", "--pred", "v2", "--report", str(page)]
    text = write(source, "md", *options)
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 5, 6)
    plain = re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text)
    for group in HOSTILE[:3]:
        assert group in plain
    shown = unescape(page.read_text(encoding="utf-8"))
    heading, reason = re.findall(r'id="decision">(.*?)(: .*?)</h1>', shown)[0]
    assert f"**{heading}**{reason}" in plain
    assert not re.search(r"(?<!\\)[<\[]x\]\(", text)
    assert not re.search(r"^# x", text, flags=re.MULTILINE)
    for part in (
        "v2 - v1: Values of v1 to v2, and the change, in the last version's order of gaps:",
        "Data: p\\_1.csv, 600 rows; gold: label; pred: v1, v2",
        "Bonferroni",
        "possible",
    ):
        assert part in text


def test_tex_has_values_and_gaps_of_every_group_and_escapes_names(source: Path) -> None:
    text = write(source, "tex", "--pred", "v1", "--measures", "recall,fpr")
    assert text.count(r"\begin{tabular}") == text.count(r"\bottomrule") == 3
    assert text.count(r"\caption{") == text.count(r"\label{tab:gaps") == 3
    assert r"{[}x{]}(u) \textless{}b\textgreater{} & " in text
    assert r"100\%\$\&\#\textasciitilde{}\textasciicircum{}\{\}\textbackslash{} & " in text
    expected = gaps(source, pred="v1", measures=["recall", "fpr"])
    [row] = expected.query("kind == 'gap' and measure == 'fpr' and unprivileged == 'a|b*_c_'")[
        ["value", "low", "high"]
    ].to_numpy()
    value, low, high = (f"{number:.2f}".replace("0.", ".") for number in row)
    cell = (
        f"{'+' if row[0] > 0.005 else ''}{value} [{low},{high}]".replace("-", "$-$")
        .replace("[", "{[}")
        .replace("]", "{]}")
    )
    assert rf"& {cell} \\" in text
    for line in text.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            assert len(re.findall(r"(?<!\\)&", line)) in (2, 3, 4)
