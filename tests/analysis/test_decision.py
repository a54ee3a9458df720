"""The first screen of the page of gaps: the decision, its counts of 100, and the words."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps, gate
from biasbridge.analysis.report.decision import TOLERATED, Decision, decide_release
from biasbridge.analysis.report.gaps_page import write_gaps_page
from biasbridge.commands.gaps import main
from biasbridge.files import InputError
from biasbridge.files.group_names import GroupNames
from biasbridge.stats.formatting import order_groups


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


def decide(table: pd.DataFrame, **options: Any) -> Decision:
    versions = versions_of(table)
    bounds = options.pop("bounds", None)
    rules = {name: options.pop(name) for name in ("fail_if", "fail_on") if name in options}
    gated = gate(table, bounds, pred=versions, **rules, **options).decisions if bounds else None
    called = options.pop("items", "")
    return decide_release(gaps(table, pred=versions, **options), items=called, gated=gated)


BAD = items(400, women=(0.3,), men=(0.1,))
SURE = items(2_000, women=(0.1, 0.4), men=(0.1, 0.1))
ALIKE = items(4_000, women=(0.1, 0.1), men=(0.1, 0.09))
UNSURE = items(60, women=(0.1, 0.13), men=(0.1, 0.1))
# what is decided, its beginning, and what a count says
CASES = {
    "worse": (SURE, "Do not release v2", "of 100 positive items about women v1 missed 10, v2"),
    "alike": (ALIKE, "Release v2", "Least sure: of 100"),
    "unsure": (
        UNSURE,
        "Cannot tell",
        "positive items about women instead of 60 would probably tell",
    ),
    "too few": (
        few(ALIKE, 9),
        "Cannot tell",
        "about few: 9 actual positives of group few, fewer than 10",
    ),
    "one version": (
        BAD,
        "Cannot tell",
        "of 100 positive items about women the classifier misses 30",
    ),
    "one unsure": (UNSURE[["label", "group", "v1"]], "Cannot tell", "may be as large as"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_the_decision_without_a_gate(name: str) -> None:
    table, heading, text = CASES[name]
    decision = decide(table)
    assert decision.heading == heading
    assert text in " ".join((decision.reason, *decision.counts))


GATES = [
    # missed by women, n a group, bound, rule, exit status, decision
    (0.3, 2_000, 0.1, "worse", 3, "Do not release"),
    (0.3, 2_000, 0.1, "possible", 3, "Do not release"),
    (0.3, 2_000, 0.25, "worse", 0, "Release"),
    (0.3, 2_000, 0.25, "possible", 0, "Release"),
    (0.3, 60, 0.2, "worse", 0, "Cannot tell"),
    (0.3, 60, 0.2, "possible", 3, "Do not release"),
    (0.3, 60, 0.18, "worse", 0, "Cannot tell"),
]


@pytest.mark.parametrize(("missed", "n", "bound", "fail_if", "status", "heading"), GATES)
def test_the_decision_of_a_gate_agrees_with_its_exit_status(
    tmp_path: Path, missed: float, n: int, bound: float, fail_if: str, status: int, heading: str
) -> None:
    items(n, women=(missed,), men=(0.1,)).to_csv(tmp_path / "p.csv", index=False)
    page = tmp_path / "page.html"
    gate_options = ["--fail-above", f"recall={bound}", "--fail-if", fail_if]
    paths = [str(tmp_path / "p.csv"), "--report", str(page), "--quiet"]
    assert main([*paths, "--pred", "v1", *gate_options]) == status
    assert first_screen(page).startswith(f"{heading}: ")


@pytest.mark.parametrize("fail_if", ["worse", "possible"])
@pytest.mark.parametrize("n_few", [0, 9])
def test_a_group_without_a_value_is_never_released(
    fail_if: Literal["worse", "possible"], n_few: int
) -> None:
    table = few(items(4_000, women=(0.1,), men=(0.1,)), 9)
    if not n_few:  # named, with no item that counts
        table.loc[table["group"] == "few", "label"] = 0
    bounds = {"recall": 0.1}
    result = gate(table, bounds, pred="v1", fail_if=fail_if)
    decision = decide_release(gaps(table, pred="v1"), gated=result.decisions)
    fails = fail_if == "possible" or not n_few
    assert bool(result) is not fails
    assert decision.heading == ("Do not release" if fails else "Cannot tell")
    assert "too little is known about few" in decision.reason


@pytest.mark.slow
def test_random_tables_never_contradict_their_gate() -> None:
    """Release is never exit status 3, and "do not release" always is."""
    rng = np.random.default_rng(0)
    seen = set()
    rules: tuple[Literal["worse", "possible"], ...] = ("worse", "possible")
    for _ in range(60):
        shares = {name: (rng.uniform(0.05, 0.3),) for name in ("a", "b", "c")}
        table = items(int(rng.choice([9, 80, 3_000])), **shares)
        for fail_if in rules:
            bounds = {"recall": float(rng.choice([0.02, 0.1, 0.25]))}
            result = gate(table, bounds, pred="v1", fail_if=fail_if)
            heading = decide_release(gaps(table, pred="v1"), gated=result.decisions).heading
            assert (heading == "Do not release") is not result.passed
            highs = result.decisions["high_simultaneous"]
            assert (heading == "Release") is bool((highs <= bounds["recall"]).all())
            seen.add(heading)
    assert seen == {"Release", "Do not release", "Cannot tell"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "verdict", "most"), [(0.0, "Do not", 0.05), (0.06, "Release", 0.05)]
)
def test_wrong_decisions_are_rare(change: float, verdict: str, most: float) -> None:
    """Of versions alike at most .05 are refused; of one that misses .06 more, above the tolerated
    .05, for one of five groups at most .05 are released.
    """
    rng = np.random.default_rng(0)
    assert change > TOLERATED or not change
    wrong, runs, n = 0, 200, 3_000
    for _ in range(runs):
        group = np.repeat(list("abcde"), n)
        table = pd.DataFrame({"label": 1, "group": group})
        table["v1"] = (rng.random(5 * n) > 0.1).astype(int)
        flips = rng.random(5 * n) < 0.02
        lost = (group == "a") & (rng.random(5 * n) < change / 0.9)
        later = np.where(flips, (rng.random(5 * n) > 0.1).astype(int), table["v1"])
        table["v2"] = np.where(lost, 0, later)
        table = pd.concat([table, table.assign(label=0, v1=0, v2=0)], ignore_index=True)
        wrong += decide(table, measures=["recall", "fpr"]).heading.startswith(verdict)
    assert wrong / runs <= most + 2 * np.sqrt(most * (1 - most) / runs)


def test_as_many_items_as_are_said_tell_in_four_of_five_samples() -> None:
    """Undecided at 150 items a group; with the items said, the harm of .02 is sure or tolerated."""
    table = items(150, a=(0.1, 0.12), b=(0.1, 0.1), c=(0.1, 0.1))
    decision = decide(table)
    assert decision.heading == "Cannot tell"
    said = re.search(r"Some ([\d,]+) positive items about a ", " ".join(decision.counts))
    assert said is not None
    enough = int(said[1].replace(",", ""))
    assert enough > 150
    larger = items(enough, a=(0.1, 0.12), b=(0.1, 0.1), c=(0.1, 0.1))
    assert decide(larger).heading != "Cannot tell"


def test_digits_tell_versions_and_bounds_apart() -> None:
    table = items(20_000, women=(0.1, 0.104), men=(0.1, 0.1))
    assert "v1 missed 10.0, v2 misses 10.4" in decide(table).reason
    close = items(20_000, women=(0.161,), men=(0.1,))
    assert re.search(r"5\.\d+ to \d", decide(close, bounds={"recall": 0.05}).reason)


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
    decision = decide_release(gaps(BAD, pred="v1"), items=called, label=label)
    assert f"of 100 {expected} the classifier misses 30 (" in decision.counts[0]
    others = {"": "negative items"}.get(called + label, "other ")
    assert dict(decision.meanings)["Wrongly flagged"].startswith(others)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"measures": "f1"}, "the gap of F1 about women is"),
        ({"measures": "accuracy"}, "of 100 items about women the classifier gets 20 wrong"),
        ({"measures": "fnr"}, "of 100 positive items about women the classifier misses 30"),
        ({"measures": "recall", "privileged": "men"}, "about men 10"),
        ({"bounds": {"f1": 0.02}}, "points, is shown to be above the bound, 2"),
    ],
)
def test_other_measures_are_said_too(options: dict[str, Any], text: str) -> None:
    decision = decide(BAD, **options)
    assert text in " ".join((decision.reason, *decision.counts))


def test_a_class_is_named(tmp_path: Path) -> None:
    table = BAD.replace({"label": {0: "calm", 1: "angry"}, "v1": {0: "calm", 1: "angry"}})
    table.to_csv(tmp_path / "p.csv", index=False)
    page = tmp_path / "page.html"
    main(
        [str(tmp_path / "p.csv"), "--pred", "v1", "--multiclass", "--report", str(page), "--quiet"]
    )
    assert "of 100 angry items about women the classifier misses 30" in first_screen(page)


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
    "forty groups": (items(60, **LONG), {}),
    "a group without values": (few(ALIKE, 9), {}),
    "gate, possible": (UNSURE, {"bounds": {"recall": 0.1, "fpr": 0.1}, "fail_if": "possible"}),
    "gate, changes": (UNSURE, {"bounds": {"recall": 0.1}, "fail_on": "changes"}),
}


@pytest.mark.parametrize("name", list(PAGES))
def test_the_first_screen_has_fewer_than_120_words(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "biasbridge.analysis.report.gaps_page.describe_missing_charts"
    monkeypatch.setattr(missing, lambda: "charts lie below the first screen")
    table, options = PAGES[name]
    decision = decide(table, **options)
    versions = versions_of(table)
    path = tmp_path / "page.html"
    page = write_gaps_page(gaps(table, pred=versions), path, "p.csv", decision=decision)
    text = first_screen(page)
    assert text.startswith(f"{decision.heading}: {decision.reason}.")
    words = [word for word in text.split() if re.search("[A-Za-z]", word)]
    assert len(words) < 120
    body = page.read_text(encoding="utf-8").split("<main>")[1]
    assert re.match(r'\s*<section class="[^"]*">\s*<h1 id="decision">', body)
    assert body.count("<details>") == body.count("</details>") >= 3
    for group, cells in decision.chart.rows:
        assert group in text
        for count in (count for marks in cells for count in marks):
            assert 0 <= count[1] <= count[0] <= count[2] <= decision.chart.end


def test_groups_have_one_order_the_worst_first(tmp_path: Path) -> None:
    table = gaps(items(800, **GROUPS), pred=["v1", "v2"])
    order = order_groups(table.to_dict("records"))
    assert order == ["g6", "g5", "g4", "g3", "g2", "g1", "g0"]
    page = write_gaps_page(table, tmp_path / "page.html", "p").read_text(encoding="utf-8")
    for found in (
        re.findall(r'<th scope="row">(g\d)', page),
        *(re.findall(r'data-name="group">(g\d)<', part) for part in page.split("<table")),
    ):
        assert not found or found[:7] == order
    single = gaps(items(800, b=(0.1,), a=(0.2,), c=(0.05,)), pred="v1")
    one = order_groups(single.to_dict("records"))
    assert one == ["a", "b", "c"]


def test_criteria_without_gaps_are_not_decided() -> None:
    criterion = {"measures": "demographic_parity", "compare": "max-difference"}
    decision = decide(BAD, **criterion)
    assert (decision.heading, decision.chart.titles) == ("Cannot tell", [])
    assert decision.reason.startswith("you have not said")


# Display names

NAMES = {
    "names.csv": "group,name\nwomen,Women & girls\nmen,Men\n",
    "no_header.csv": "women,Women & girls\nmen,Men\n",
    "names.yaml": "women: Women & girls\nmen: Men\n",
}


@pytest.mark.parametrize("name", list(NAMES))
def test_display_names_are_wherever_people_read(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, names = tmp_path / "p.csv", tmp_path / name
    few(BAD, 9).to_csv(source, index=False)
    names.write_text(NAMES[name], encoding="utf-8")
    files = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "json", "md", "tex")}
    paths = [text for kind, path in files.items() for text in (f"--{kind}", str(path))]
    page = tmp_path / "page.html"
    options = ["--pred", "v1", "--fail-above", "recall=.05", "--names", str(names)]
    assert main([str(source), *options, *paths, "--report", str(page)]) == 3
    shown = capsys.readouterr().out
    read = {kind: path.read_text(encoding="utf-8") for kind, path in files.items()}
    for text in (shown, unescape(page.read_text(encoding="utf-8"))):
        assert "Women & girls" in text
        assert not re.search(r"\b(women|men)\b", text)
    assert "Women \\& girls" in read["md"]
    assert "Women \\& girls" in read["tex"]
    assert not re.search(r"\b(women|men)\b", read["md"] + read["tex"])
    for kind in ("csv", "json"):
        assert "Women" not in read[kind]
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


def test_thresholds_refuse_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not go with --thresholds"):
        main(["p.csv", "--score", "s", "--thresholds", "--items", "toxic comments"])


@pytest.mark.parametrize(("group", "heading"), [("few", "Cannot tell"), ("few & b", "Release v2")])
def test_crossed_groups_with_too_few_items_do_not_count(group: str, heading: str) -> None:
    table = few(ALIKE, 9).replace({"group": {"few": group}})
    assert decide(table).heading == heading


def test_calibration_error_is_worse_where_larger() -> None:
    rows = [
        {"kind": "value", "group": group, "measure": "ece", "earlier": "v1", "value": value}
        for group, value in (("better", -0.1), ("worse", 0.1), ("unknown", np.nan))
    ]
    assert order_groups(rows) == ["worse", "better", "unknown"]
