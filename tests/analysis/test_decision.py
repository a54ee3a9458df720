"""The decision in words, and the first screen of the page of gaps."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps
from biasbridge.commands.gaps import main
from biasbridge.extrinsic.gap_tables import error_chart, read_blocks
from biasbridge.files import InputError
from biasbridge.files.group_names import GroupNames
from biasbridge.stats.formatting import order_groups

if TYPE_CHECKING:
    from biasbridge.extrinsic.claims import Decision
    from biasbridge.prediction_tables import MeasuredGaps


def items(n: int, **missed: tuple[float, ...]) -> pd.DataFrame:
    """``n`` positive and ``n`` negative items a group, of which each version misses a share and
    flags .1.
    """
    tables = []
    for group, shares in missed.items():
        table = pd.DataFrame({"label": [1] * n + [0] * n, "group": group.replace("_", " ")})
        for number, share in enumerate(shares, 1):
            hits = np.arange(n) >= round(share * n)
            table[f"v{number}"] = [*hits.astype(int), *(np.arange(n) < n // 10).astype(int)]
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def few(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """The same with a group of so many positive items."""
    rare = {"label": 1, "group": "few", "v1": [1] * n, "v2": [1] * n}
    return pd.concat([table, pd.DataFrame(rare)[list(table)]], ignore_index=True)


def versions_of(table: pd.DataFrame) -> list[str]:
    return [name for name in map(str, table) if name.startswith("v")]


BAD = items(400, women=(0.3,), men=(0.1,))
SURE = items(2_000, women=(0.1, 0.4), men=(0.1, 0.1))
ALIKE = items(4_000, women=(0.1, 0.1), men=(0.1, 0.09))
UNSURE = items(60, women=(0.1, 0.13), men=(0.1, 0.1))


def measured(table: pd.DataFrame, **options: Any) -> MeasuredGaps:
    """What is measured, with what positive items are called."""
    called = options.pop("items", "")
    found = gaps(table, pred=versions_of(table), **options)
    return replace(found.measured, names=GroupNames({}, items=called))


def decide(table: pd.DataFrame, **options: Any) -> Decision:
    return measured(table, **options).decision


def test_a_group_with_too_few_items_leaves_all_open() -> None:
    decision = decide(few(ALIKE, 9))
    assert decision.verdict == "cannot tell"
    assert "about few: 9 actual positives of group few, fewer than 10" in decision.reason
    assert decision.lines[0].startswith("Nearest to the limit: of 100")


def test_digits_tell_versions_and_bounds_apart() -> None:
    table = items(20_000, women=(0.1, 0.104), men=(0.1, 0.1))
    assert "v1 missed 10.0, v2 misses 10.4: 0.4 more (" in decide(table).reason
    close = items(20_000, women=(0.161,), men=(0.1,))
    reason = decide(close, bounds={"recall": 0.055}).reason
    assert re.search(r"6\.1 more \(5\.\d to 6\.\d\), where 5.5 are allowed", reason)


@pytest.mark.parametrize(
    ("called", "label", "expected"),
    [
        ("", "", "positive items about women"),
        ("", "hateful", "hateful items about women"),
        ("toxic comments", "", "toxic comments about women"),
        ("spam", "1", "spam about women"),
        ("toxic <i>posts</i>", "", "toxic <i>posts</i> about women"),
    ],
)
def test_what_items_are_called(called: str, label: str, expected: str) -> None:
    table = BAD.replace({"label": {1: label}, "v1": {1: label}}) if label == "hateful" else BAD
    decision = decide(table, items=called, positive=label or ())
    assert f"of 100 {expected} the classifier misses 30, " in decision.reason
    others = {"": "negative items"}.get(called + label, "not ")
    assert dict(decision.meanings)["Wrongly flagged"].startswith(others)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"measures": "f1"}, "the gap of F1 about women is"),
        ({"measures": "accuracy"}, "of 100 items about women the classifier gets 20 wrong"),
        ({"measures": "fnr"}, "of 100 positive items about women the classifier misses 30"),
        ({"measures": "recall", "privileged": "men"}, "about men 10"),
        ({"bounds": {"f1": 0.02}}, ", where .02 is allowed"),
    ],
)
def test_other_measures_are_said_too(options: dict[str, Any], text: str) -> None:
    assert text in decide(BAD, **options).reason


def test_a_class_is_named(tmp_path: Path) -> None:
    table = BAD.replace({"label": {0: "calm", 1: "angry"}, "v1": {0: "calm", 1: "angry"}})
    table.to_csv(tmp_path / "p.csv", index=False)
    page = tmp_path / "page.html"
    main(
        [str(tmp_path / "p.csv"), "--pred", "v1", "--multiclass", "--report", str(page), "--quiet"]
    )
    assert "of 100 angry items about women the classifier misses 30" in first_screen(page)


def test_every_medium_has_the_same_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "p.csv"
    SURE.to_csv(source, index=False)
    files = {kind: tmp_path / f"out.{kind}" for kind in ("html", "json", "md")}
    written = [text for path in files.values() for text in ("--write", str(path))]
    versions = ["--pred", "v1", "--pred", "v2"]
    assert main([str(source), *versions, *written]) == 3
    sentence = capsys.readouterr().out.splitlines()[0]
    assert sentence.startswith("Do not release v2: of 100 positive items about women v1 missed 10")
    table = gaps(source, pred=["v1", "v2"])
    decision = table.decision
    assert decision.sentence == repr(table).splitlines()[0] == sentence
    shown = re.findall(r'id="decision">(.*?)</h1>', files["html"].read_text(encoding="utf-8"))
    assert shown == [sentence]
    record = json.loads(files["json"].read_text(encoding="utf-8"))["decision"]
    assert f"Do not release v2: {record['reason']}." == sentence
    assert record["verdict"] == "do not release"
    first = record["claims"][0]
    assert (first["group"], first["verdict"], first["limit"]) == ("women", "above", 0.02)
    card = files["md"].read_text(encoding="utf-8").replace("\\", "").replace("**", "")
    assert sentence in card
    capsys.readouterr()
    assert main([str(source), *versions, "--quiet"]) == 3
    assert capsys.readouterr().out == f"{sentence}\n"


# The page: one screen.

GROUPS = {f"g{i}": (0.1, 0.1 + 0.01 * i) for i in range(7)}
LONG = {f"people_of_the_very_long_name_number_{i}": (0.1 + 0.005 * i, 0.1) for i in range(40)}


def first_screen(page: Path) -> str:
    """The text before what is folded."""
    text = page.read_text(encoding="utf-8")
    main_part = text[text.index("<body>") :].split("<details>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", "", main_part.replace("<t", " <t"))).split())


PAGES: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "two groups": (BAD, {}),
    "seven groups, worse": (items(800, **GROUPS), {"items": "toxic comments"}),
    "seven groups, unsure": (items(60, **GROUPS), {"items": "toxic comments"}),
    "a group without values": (few(ALIKE, 9), {}),
    "bounds": (UNSURE, {"bounds": {"recall": 0.1, "fpr": 0.1}}),
}


@pytest.mark.parametrize("name", list(PAGES))
def test_the_first_screen_has_fewer_than_140_words_and_every_group(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "biasbridge.gap_pages.describe_missing_charts"
    monkeypatch.setattr(missing, lambda: "charts lie below the first screen")
    table, options = PAGES[name]
    found = measured(table, **options)
    page = found.report(tmp_path / "page.html")
    text = first_screen(page)
    assert text.startswith(found.decision.sentence)
    words = [word for word in text.split() if re.search("[A-Za-z]", word)]
    assert len(words) < 140
    body = page.read_text(encoding="utf-8").split("<main>")[1]
    assert re.match(r'\s*<section class="[^"]*">\s*<h1 id="decision">', body)
    assert body.count("<details>") == body.count("</details>") >= 2
    assert all(group in text for group in {*table["group"]})


def test_counts_lie_within_their_axis() -> None:
    found = measured(items(800, **GROUPS))
    chart = error_chart(read_blocks(found.shown))
    assert chart.titles == ["Missed", "Wrongly flagged"]
    for _, cells in chart.rows:
        for value, low, high in (count for counts, _ in cells for count in counts):
            assert 0 <= low <= value <= high <= chart.end


def test_groups_have_one_order_the_largest_gap_first(tmp_path: Path) -> None:
    found = measured(items(800, **GROUPS))
    order = order_groups([row._asdict() for row in found.rows])
    assert order == ["g6", "g5", "g4", "g3", "g2", "g1", "g0"]
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for listed in (
        re.findall(r'<th scope="row">(g\d)', page),
        *(re.findall(r'data-name="group">(g\d)<', part) for part in page.split("<table")),
    ):
        assert not listed or listed[:7] == order
    assert "argest gap first" in page
    single = gaps(items(800, b=(0.1,), a=(0.2,), c=(0.05,)), pred="v1")
    assert order_groups(single.to_dict("records")) == ["a", "b", "c"]


def test_criteria_without_gaps_are_not_decided() -> None:
    found = measured(BAD, measures="demographic_parity")
    assert found.decision.verdict == "cannot tell"
    assert found.decision.reason == "no groups are compared in a measure of errors"
    assert not error_chart(read_blocks(found.shown)).titles


# Display names

NAMES = {
    "names.csv": "group,name\nwomen,Women & girls\nmen,Men\n",
    "no_header.csv": "women,Women & girls\nmen,Men\n",
    "names.yaml": "women: Women & girls\nmen: Men\nlabel: toxic posts\n",
}


@pytest.mark.parametrize("name", list(NAMES))
def test_display_names_are_wherever_people_read(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, names = tmp_path / "p.csv", tmp_path / name
    few(BAD, 9).to_csv(source, index=False)
    names.write_text(NAMES[name], encoding="utf-8")
    files = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "json", "md", "tex")}
    paths = [text for path in files.values() for text in ("--write", str(path))]
    page = tmp_path / "page.html"
    options = ["--pred", "v1", "--fail-above", "recall=.05", "--names", str(names)]
    assert main([str(source), *options, *paths, "--report", str(page)]) == 3
    shown = capsys.readouterr().out
    read = {kind: path.read_text(encoding="utf-8") for kind, path in files.items()}
    for text in (shown, unescape(page.read_text(encoding="utf-8"))):
        assert "Women & girls" in text
        assert not re.search(r"\b(women|men)\b", text)
        assert ("of 100 toxic posts about Women" in text) == (name == "names.yaml")
    assert "Women \\& girls" in read["md"]
    assert "Women \\& girls" in read["tex"]
    assert not re.search(r"\b(women|men)\b", read["md"] + read["tex"])
    for kind in ("csv", "json"):
        assert "Women" not in read[kind].partition('"rows"')[2 if kind == "json" else 0]
        assert "women" in read[kind]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("9 items of group men, fewer than 10", "9 items of group Men, fewer than 10"),
        ("the items of group men are one cluster", "the items of group Men are one cluster"),
        (
            "2 have fewer than 10 items: men (3), men & b (4)",
            "2 have fewer than 10 items: Men (3), ",
        ),
        ("By group: women 1 of 1,500, men 0 of 9", "By group: Women & girls 1 of 1,500, Men 0"),
        ("more often of men than of other rows", "more often of Men than of other rows"),
        ("column 'men' of women; men by men", "column 'men' of women; men by men"),
    ],
)
def test_names_in_reasons_and_notes(text: str, shown: str) -> None:
    assert GroupNames({"women": "Women & girls", "men": "Men"}).in_text(text).startswith(shown)


def test_versions_have_names_by_the_columns_of_their_scores(tmp_path: Path) -> None:
    scores = {"s1": SURE["v1"] * 0.8, "s2": SURE["v2"] * 0.8}
    SURE.assign(**scores).to_csv(tmp_path / "p.csv", index=False)
    names, page, rows = (tmp_path / name for name in ("n.yaml", "page.html", "rows.csv"))
    names.write_text("s1: today\ns2: candidate\n", encoding="utf-8")
    options = ["--score", "s1", "--score", "s2", "--threshold", "0.5", "--names", str(names)]
    main([str(tmp_path / "p.csv"), *options, "--report", str(page), "--csv", str(rows), "--quiet"])
    text = first_screen(page)
    assert "candidate" in text
    assert "s2" not in text.partition("Data:")[0]
    assert "candidate" not in rows.read_text(encoding="utf-8")


def test_parts_of_a_crossed_group_have_names(tmp_path: Path) -> None:
    table = pd.concat([BAD.assign(race=race) for race in ("b", "w")], ignore_index=True)
    table.rename(columns={"group": "gender"}).to_csv(tmp_path / "p.csv", index=False)
    names = tmp_path / "n.yaml"
    names.write_text("women: Women\nb: Black\nmen & w: White men\n", encoding="utf-8")
    page = tmp_path / "page.html"
    options = ["--pred", "v1", "--cross", "gender,race", "--names", str(names)]
    main([str(tmp_path / "p.csv"), *options, "--report", str(page), "--quiet"])
    text = first_screen(page)
    for name in ("Women & Black", "Women & w", "White men", "men & Black"):
        assert name in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("woman,Women\n,\n", "names 'woman', which is not a group of the table; groups: .*'women'"),
        ("women,People\nmen,People\n", "'People' is the name of men and of women"),
        ("women,all\nmen,Men\n", "'all' is the name of all items and of women"),
        ("women,men\n,\n", "'men' is the name of men and of women"),
        ("women\nmen\n", "one column; give two"),
    ],
)
def test_wrong_names_are_refused(tmp_path: Path, content: str, message: str) -> None:
    BAD.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "n.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / "p.csv"), "--pred", "v1", "--names", str(tmp_path / "n.csv")])


@pytest.mark.parametrize(("group", "heading"), [("few", "Cannot tell"), ("few & b", "Release v2")])
def test_crossed_groups_with_too_few_items_do_not_count(group: str, heading: str) -> None:
    table = few(ALIKE, 9).replace({"group": {"few": group}})
    assert decide(table).heading == heading
