"""The page in a real browser: what a reader does with it works, nothing complains, and nothing
leaves it.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from analysis.alignment import ALIGNED, alignments
from analysis.correlate import correlate_slices
from analysis.correlation import Correlation
from analysis.joined import join_points
from analysis.report import build_report
from analysis.report.study_page import write_study_page
from analysis.results import Tables
from analysis.show import estimate

if TYPE_CHECKING:
    from analysis.findings import Finding

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
    " --window-size=1200,1000"
)
EMBEDDINGS = ("word2vec", "fasttext")
DONE = "return window.reportDone !== undefined"


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, module_tables: Tables, findings: list[Finding]
) -> Path:
    results = tmp_path_factory.mktemp("results")
    build_report(results, module_tables, join_points(module_tables), findings)
    return results


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    binary, driver = which("chromium") or which("google-chrome"), which("chromedriver")
    if not binary or not driver:
        pytest.skip("no chromium with chromedriver")
    options = webdriver.ChromeOptions()
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.binary_location = binary
    options.add_experimental_option("prefs", {"download.default_directory": str(folder / "saved")})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        found.get((folder / "report.html").as_uri())
        wait(lambda: found.execute_script(DONE))
        yield found
    finally:
        found.quit()


def wait(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("the page did not do it in time")


def choose(browser: Any, name: str, value: str) -> None:
    script = (
        "const menu = document.getElementById(arguments[0]); menu.value = arguments[1];"
        " menu.dispatchEvent(new Event('change'))"
    )
    browser.execute_script("window.report.scatter = null")
    browser.execute_script(script, f"menu-{name}", value)
    wait(lambda: browser.execute_script("return window.report.scatter !== null"))


def tables_of(metrics: Sequence[str] = ("m0",), reverse: bool = False) -> Tables:
    """A sweep of four parents, two a training algorithm, in nine conditions: three queries, the
    gaps of two measures that follow the first; ``reverse``: less of a score is more biased.
    """
    rng = np.random.default_rng(2)
    parent, dose = np.divmod(np.arange(36), 9)
    names = [f"p{i}" for i in range(36)]
    points = pd.DataFrame(
        {
            "point": names,
            "embedding": np.array(EMBEDDINGS)[parent % 2],
            "method": "balance",
            "dose": dose / 8,
            "status": "done",
            "generated": False,
            "unit_key": names,
            "base_key": parent.astype(str),
        }
    )
    x = {query: dose / 8 + 0.2 * rng.normal(size=36) for query in ("weat6b", "weat7", "weat8")}
    sign, ends = (-1, (1.0, 1.0)) if reverse else (1, (0.0, 9.0))
    scores = [
        pd.DataFrame({"point": names, "metric": metric, "query": query, "value": sign * each})
        for i, metric in enumerate(metrics)
        for query, value in x.items()
        for each in [value + 0.1 * i * rng.normal(size=36)]
    ]
    gaps = [
        pd.DataFrame({"point": names, "task": "t", "kind": "gap", "measure": measure})
        .assign(group="", group_by="annotation")
        .assign(value=0.1 * x["weat6b"] + 0.02 * rng.normal(size=36))
        for measure in ("precision", "recall")
    ]
    intrinsic = pd.concat(scores).assign(unbiased=ends[0], most=ends[1])
    return Tables(points, intrinsic, pd.concat(gaps))


def test_the_answer_stands_first(browser: Any, findings: list[Finding]) -> None:
    cells = "return [...document.querySelectorAll(arguments[0])].map((cell) => cell.textContent)"
    heads = browser.execute_script(cells, "#verdicts thead th")
    assert heads == [
        *("score", "gap", "models / parents / conditions", "r_rm [95%]", "p (Holm)"),
        *("given condition", "given utility", "lost", "verdict"),
    ]
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#verdicts tbody tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    confirmatory = [each for each in findings if each.confirmatory]
    assert len(rows) == len(confirmatory) == 4
    for row, each in zip(rows, confirmatory, strict=True):
        shown = dict(zip(heads, row, strict=True))
        assert shown["verdict"] == each.why
        assert shown["lost"] == str(each.lost)
        assert shown["models / parents / conditions"] == (
            f"{each.n} / {each.n_parents} / {each.n_conditions}"
        )
        assert shown["r_rm [95%]"] == estimate(*each.within.interval).replace(" ", "\u00a0")


def test_the_smallest_correlation_of_interest_is_dashed(browser: Any) -> None:
    dashes = (
        "return document.querySelectorAll(`#${arguments[0]} line[stroke-dasharray='4,3']`).length"
    )
    for figure in ("confirmatory", "forest"):
        assert browser.execute_script(dashes, figure) == 2


def test_a_menu_filters_what_is_shown(browser: Any) -> None:
    count = "return window.report.shown().length"
    choose(browser, "query", "all")
    choose(browser, "embedding", "all")
    every = browser.execute_script(count)
    choose(browser, "embedding", "word2vec")
    assert browser.execute_script(count) == every // 2
    assert browser.find_element("id", "selected").text == f"{every // 2} rows shown, none selected"
    drawn = browser.execute_script(
        "return window.report.scatter.view.data('shown').map((row) => row.embedding)"
    )
    assert drawn == ["word2vec"] * (every // 2)
    choose(browser, "embedding", "all")


def test_a_brush_selects_rows_and_lists_them(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    choose(browser, "query", "WEAT 7")
    figure = browser.find_element("css selector", "#scatter svg, #scatter canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
    size = figure.size
    drag = (
        ActionChains(browser)
        .move_to_element_with_offset(figure, -size["width"] // 4, -size["height"] // 5)
        .click_and_hold()
    )
    drag.move_by_offset(size["width"] // 2, size["height"] // 3).release().perform()
    said = wait(
        lambda: (
            "selected" in (text := browser.find_element("id", "selected").text)
            and "none" not in text
            and text
        )
    )
    number = int(said.split()[0])
    assert len(browser.find_elements("css selector", "#selection tbody tr")) == number > 0


def test_a_pointer_over_a_point_sees_what_it_is(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    choose(browser, "query", "WEAT 8")
    point = wait(
        lambda: browser.find_elements("css selector", "#scatter svg .mark-symbol.role-mark path")
    )[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    shown = wait(
        lambda: browser.execute_script(
            "return document.querySelector('#vg-tooltip-element.visible')?.textContent"
        )
    )
    assert all(word in shown for word in ("embedding", "dose", "WEAT 8", "95% interval"))


def test_a_heading_sorts_and_says_so(browser: Any) -> None:
    heading = browser.find_element("xpath", "//div[@id='t-points']//th[button[text()='dose']]")
    doses = (
        "return [...document.querySelectorAll('#t-points tbody tr')].map((row) =>"
        " row.children[4].textContent)"
    )
    button = heading.find_element("tag name", "button")
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", button
    )
    button.send_keys("\ue007")  # Enter: the keyboard suffices
    assert heading.get_attribute("aria-sort") == "ascending"
    up = [float(dose) for dose in browser.execute_script(doses)]
    assert up == sorted(up)
    button.send_keys("\ue007")
    assert heading.get_attribute("aria-sort") == "descending"
    assert [float(dose) for dose in browser.execute_script(doses)] == up[::-1]


def test_a_table_is_saved_as_csv(browser: Any, folder: Path, module_tables: Tables) -> None:
    browser.execute_script("document.querySelector('#t-points button.save').click()")
    saved = wait(
        lambda: (folder / "saved" / "points.csv").is_file() and folder / "saved" / "points.csv"
    )
    with saved.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["point"] for row in rows] == module_tables.points["point"].tolist()
    assert [float(row["dose"]) for row in rows] == module_tables.points["dose"].tolist()


def test_it_fits_a_phone(browser: Any) -> None:
    browser.set_window_size(390, 844)
    time.sleep(0.3)
    wide = browser.execute_script(
        """return [...document.querySelectorAll('main *')]
           .filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1
           && !e.closest('.wide') && !e.closest('.chart')).map((e) => e.tagName + '#' + e.id)"""
    )
    browser.set_window_size(1200, 1000)
    assert wide == []


WIDEST = Correlation(-0.88, -0.88, -0.88, 0.888, n=888, df=800)


def test_the_answer_needs_no_scrolling(
    browser: Any, tmp_path: Path, module_tables: Tables, findings: list[Finding]
) -> None:
    widest = [
        each._replace(
            within=WIDEST,
            given_condition=WIDEST,
            given_utility=WIDEST,
            n=888,
            n_parents=88,
            n_conditions=88,
            p_holm=0.888,
            why="positive for these 88 conditions; whether others would show it takes about 1000",
        )
        for each in findings
    ]
    build_report(tmp_path, module_tables, join_points(module_tables), widest)
    there = browser.current_url
    browser.get((tmp_path / "report.html").as_uri())
    wait(lambda: browser.execute_script(DONE))
    table = "document.querySelector('#verdicts .wide')"
    seen, whole, cell = browser.execute_script(
        f"return [{table}.clientWidth, {table}.scrollWidth,"
        f" {table}.querySelector('tbody tr').children[3].textContent]"
    )
    browser.get(there)
    wait(lambda: browser.execute_script(DONE))
    assert cell == "-.88\u00a0[-.88,-.88]", "an interval is not broken"
    assert whole <= seen


def test_nothing_complains_and_nothing_leaves_the_page(browser: Any) -> None:
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked


PAPER = 720  # CSS pixels between the margins of a page


@pytest.fixture
def paper(browser: Any) -> Iterator[Any]:
    """The browser as it lays a page out for paper, and its own page again afterwards."""
    there = browser.current_url
    size = {"width": PAPER, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(there)
    wait(lambda: browser.execute_script(DONE))


def test_on_paper_figures_are_whole_and_nothing_is_left_to_press(paper: Any) -> None:
    seen = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
    boxes = f"{seen}.map(e => e.getBoundingClientRect().right)"
    right = paper.execute_script(boxes, ".chart svg, .chart canvas, table")
    assert len(right) >= 6
    assert max(right) <= PAPER, "charts are drawn for a screen of 1200 pixels"
    assert paper.execute_script(seen, ".menus, button.save, .hint, .skip") == []
    folded = "return [...document.querySelectorAll('details')].map(each => each.open)"
    assert not any(paper.execute_script(folded))
    paper.execute_cdp_cmd("Page.printToPDF", {})
    assert all(paper.execute_script(folded)), "the rules of the verdicts are printed"


def test_on_paper_a_long_table_covers_nothing(paper: Any, tmp_path: Path) -> None:
    """It hid what came after it: it was as high as it is on a screen, where it scrolls."""
    points = pd.DataFrame({"point": ["a"], "status": ["done"], "generated": True})
    long = pd.DataFrame({"n": range(200)})
    path = write_study_page(tmp_path, points, "t", "a", [("Long", long)], [])
    paper.get(path.as_uri())
    bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    table = paper.execute_script(bottom, "table")
    assert table > 200
    assert table <= paper.execute_script(bottom, "section:has(table)")


def test_what_the_tasks_own_words_gain_is_a_table(browser: Any, tmp_path: Path) -> None:
    tables = tables_of()
    query = tables.intrinsic["query"].replace("weat6b", ALIGNED)
    tables = tables._replace(intrinsic=tables.intrinsic.assign(query=query))
    joined = join_points(tables)
    aligned = alignments(joined)
    build_report(tmp_path, tables, joined, correlate_slices(joined), aligned=aligned)
    there = browser.current_url
    browser.get((tmp_path / "report.html").as_uri())
    wait(lambda: browser.execute_script(DONE))
    head, *rows = browser.execute_script(
        "return [...document.querySelectorAll('#t-alignment tr')]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    browser.get(there)
    wait(lambda: browser.execute_script(DONE))
    assert head == [
        *("gap", "other words", "models", "parents", "r_rm, task's words", "r_rm, other words"),
        "difference, 95% interval",
    ]
    assert len(rows) == len(aligned) == 6
    for row, each in zip(rows, aligned, strict=True):
        other = {"all": "all other queries"}.get(each.other, each.other)
        shown = estimate(each.difference, each.low, each.high).replace(" ", "\u00a0")
        r = estimate(each.r_aligned), estimate(each.r_other)
        assert row == [f"{each.measure} gap", other, "36", "4", *r, shown]


@pytest.fixture
def other_page(browser: Any) -> Iterator[Callable[[Path], None]]:
    """Opens another page; the module's own comes back afterwards."""
    there = browser.current_url

    def opened(path: Path) -> None:
        browser.get(path.as_uri())
        wait(lambda: browser.execute_script(DONE))

    yield opened
    browser.set_window_size(1200, 1000)
    browser.get(there)
    wait(lambda: browser.execute_script(DONE))


def test_without_scores_gaps_are_drawn_and_no_axes_are_empty(
    browser: Any, tmp_path: Path, tables: Tables, other_page: Callable[[Path], None]
) -> None:
    tables = tables._replace(intrinsic=tables.intrinsic.assign(value=math.nan, reason="no word"))
    joined = join_points(tables)
    build_report(tmp_path, tables, joined, correlate_slices(joined))
    other_page(tmp_path / "report.html")
    charts, marks, rows = browser.execute_script(
        "return [[...document.querySelectorAll('.chart')].map((each) => each.id),"
        " document.querySelectorAll('#gaps .mark-symbol.role-mark path').length,"
        " [...document.querySelectorAll('#t-gaps tbody tr')]"
        ".map((row) => row.children[2].textContent)]"
    )
    assert charts == ["gaps", "curves"]
    assert marks == 19, "two gaps of ten embeddings, one of them undefined"
    assert len(rows) == 20
    assert rows.count("-") == 1
    assert ".02\u00a0[-.01,.06]" in rows


def test_two_metrics_share_no_axis_and_no_line(
    browser: Any, tmp_path: Path, other_page: Callable[[Path], None]
) -> None:
    tables = tables_of(("m0", "m1"))
    joined = join_points(tables)
    build_report(tmp_path, tables, joined, correlate_slices(joined))
    other_page(tmp_path / "report.html")
    marks = (
        "return ['by_query', 'by_method', 'by_embedding'].map((id) =>"
        " document.querySelectorAll(`#${id} .mark-symbol.role-mark path`).length)"
    )
    half = len(joined[joined["metric"] == "m0"])
    assert half == len(joined) / 2
    assert browser.execute_script(marks) == [half] * 3
    labels = browser.execute_script(
        "return [...document.querySelectorAll('#forest .role-axis-label text')]"
        ".map((label) => label.textContent).filter((label) => label.includes(','))"
    )
    assert len(labels) == len(set(labels)) == 3 * 3 * 2, "embeddings and all, queries and gaps"
    assert all(label.startswith("m0, ") for label in labels)
    assert [label.startswith("m0, all, ") for label in labels] == [False] * 12 + [True] * 6
    before = browser.execute_script("return document.querySelector('#by_query').innerHTML")
    choose(browser, "metric", "m1")
    wait(
        lambda: (
            browser.execute_script(marks) == [half] * 3
            and browser.execute_script("return document.querySelector('#by_query').innerHTML")
            != before
        )
    )


def test_scores_of_which_less_is_more_biased_fall_from_left_to_right(
    browser: Any, tmp_path: Path, other_page: Callable[[Path], None]
) -> None:
    tables = tables_of(reverse=True)
    joined = join_points(tables)
    build_report(tmp_path, tables, joined, correlate_slices(joined))
    other_page(tmp_path / "report.html")
    for figure in ("scatter", "by_query", "by_method", "by_embedding"):
        axes = browser.execute_script(
            "return [...document.querySelectorAll(`#${arguments[0]} .role-axis`)]"
            ".filter((axis) => axis.querySelector('.role-axis-title')?.textContent"
            " === 'score of the metric, less is more biased')"
            ".map((axis) => [...axis.querySelectorAll('.role-axis-label text')]"
            ".map((tick) => [tick.getBoundingClientRect().left, tick.textContent]))",
            figure,
        )
        assert axes, figure
        ticks = sorted((left, float(text.replace("\u2212", "-"))) for left, text in axes[0])
        numbers = [value for _, value in ticks]
        assert len(numbers) > 1, figure
        assert numbers == sorted(numbers, reverse=True), figure


def test_long_labels_of_slices_are_shown_whole_one_below_the_other(
    browser: Any, tmp_path: Path, tables: Tables, other_page: Callable[[Path], None]
) -> None:
    names = {name: f"{'a_name_that_is_longer_than_a_line' * 3}_{name}" for name in EMBEDDINGS}
    points = tables.points.assign(embedding=tables.points["embedding"].map(names))
    groups = {"privileged": "posts that mention men", "unprivileged": "posts that mention women"}
    whole = tables._replace(points=points, extrinsic=tables.extrinsic.assign(**groups))
    for title, some in {
        "forest": whole,
        "gaps": whole._replace(intrinsic=whole.intrinsic.assign(value=math.nan, reason="none")),
    }.items():
        joined = join_points(some)
        build_report(tmp_path / title, some, joined, correlate_slices(joined))
        other_page(tmp_path / title / "report.html")
        labels, boxes = browser.execute_script(
            "const labels = [...document.getElementById(arguments[0])"
            ".querySelectorAll('.role-axis-label text')]"
            ".filter((label) => label.textContent.includes(','));"
            " return [labels.map((label) => label.textContent),"
            " labels.map((label) => { const { top, bottom, left } = label.getBoundingClientRect();"
            " return [top, bottom, left] })]",
            title,
        )
        assert any(label.startswith(names["word2vec"]) for label in labels)
        assert not any("\u2026" in label for label in labels)
        assert all(left >= 0 for _, _, left in boxes)
        assert all(one[1] <= other[0] + 1 for one, other in itertools.pairwise(boxes))


def test_on_a_phone_the_answer_is_cards_and_wide_tables_say_so(browser: Any) -> None:
    browser.set_window_size(390, 844)
    time.sleep(0.3)
    right, name, cue = browser.execute_script(
        "return [Math.max(...[...document.querySelectorAll('#verdicts td')]"
        ".map((cell) => cell.getBoundingClientRect().right)),"
        " getComputedStyle(document.querySelector('#verdicts td'), '::before').content,"
        " document.querySelector('#t-points .cue').checkVisibility()]"
    )
    browser.set_window_size(1200, 1000)
    assert right <= 500, "the least width of a window of this browser"
    assert name == '"score"'
    assert cue


def test_points_lie_within_the_frame(browser: Any) -> None:
    cells = browser.execute_script(
        "return [...document.querySelectorAll('#by_query svg .mark-group.role-scope.cell > g')]"
        ".map((cell) => { const frame = cell.querySelector('path.background')"
        ".getBoundingClientRect(); return [...cell.querySelectorAll('.mark-symbol path')]"
        ".some((mark) => { const box = mark.getBoundingClientRect(); return box.left < frame.left"
        " || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom; }) })"
    )
    assert cells == [False] * 4, "two queries by two gaps"
