"""The page in a real browser: what a reader does with it works, nothing complains, and nothing
leaves it.
"""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from biasbridge import gaps
from biasbridge.analysis.answer import change_tables
from biasbridge.analysis.claims import declared, study_claims
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.report.page import build_report
from biasbridge.stats.formatting import format_estimate

if TYPE_CHECKING:
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run"
    " --disable-background-networking --disable-component-update --disable-sync"
    " --window-size=1200,1000"
)
DONE = "return window.reportDone !== undefined"


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, module_tables: Tables, findings: list[SliceResult]
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
    actual = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        actual.get((folder / "report.html").as_uri())
        wait(lambda: actual.execute_script(DONE))
        yield actual
    finally:
        actual.quit()


def wait(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if actual := condition():
            return actual
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


def test_the_answer_stands_first(browser: Any, findings: list[SliceResult]) -> None:
    rows_of = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    tests = declared(findings)
    changes = browser.execute_script(rows_of, ".card .cards tbody tr")
    rows = [row for table in change_tables(study_claims(tests)) for row in table.rows]
    assert changes == rows
    texts = "return [...document.querySelectorAll('#change svg text')].map((e) => e.textContent)"
    assert {"recall gapWEAT 7", "WEAT 7", "cannot tell"} <= set(browser.execute_script(texts))
    table = browser.execute_script(rows_of, "#t-tests tr")
    assert len(table) == 1 + len(tests) == 5
    for row, result in zip(table[1:], tests, strict=True):
        shown = dict(zip(table[0], row, strict=True))
        assert shown["verdict"] == result.verdict
        assert shown["lost"] == str(result.n_lost)
        assert shown["r_rm [95%]"] == format_estimate(*result.within.interval).replace(
            " ", "\u00a0"
        )


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


def test_figures_say_what_is_seen(browser: Any) -> None:
    texts = (
        "return [...document.querySelectorAll(`#${arguments[0]} svg text`)]"
        ".map((each) => each.textContent)"
    )
    choose(browser, "query", "WEAT 7")
    choose(browser, "gap", "recall gap")
    choose(browser, "embedding", "word2vec")
    actual = browser.execute_script(texts, "scatter")
    assert "WEAT 7 effect size (d)" in actual
    assert "recall gap (above 0: worse for female)" in actual
    assert "Recall gap and WEAT 7: r_rm 1.00 [.90,1.00], Pearson 1.00" in actual
    choose(browser, "embedding", "all")
    methods = browser.execute_script(texts, "by_method")
    assert {"balance", "attract_repel"} <= set(methods)
    assert methods.count("unmodified") == 1, "in the legend; no panel of its own"


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


def test_nothing_complains_and_nothing_leaves_the_page(browser: Any) -> None:
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []
    assert "undefined" not in browser.find_element("tag name", "body").text
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked), asked


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


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.usefixtures("other_page")  # the module's page comes back
def test_the_decision_of_gaps_fits_one_screen(browser: Any, tmp_path: Path, width: int) -> None:
    names = ["a", "people with a name of many words", "Donaudampfschifffahrtskapitänsfrauen"]
    rows = [
        {"label": label, "v1": label, "v2": label * (number % 10 > i), "group": name}
        for i, name in enumerate(names)
        for number in range(200)
        for label in (0, 1)
    ]
    page = tmp_path / "page.html"
    gaps(pd.DataFrame(rows), pred=["v1", "v2"]).report(page)
    frame = tmp_path / "frame.html"  # a window has a least width
    frame.write_text(f'<iframe src="page.html" style="width:{width}px;height:900px"></iframe>')
    browser.set_window_size(1500, 1000)
    browser.get(frame.as_uri())
    browser.switch_to.frame(0)
    first, decision, fold, wide, marks = browser.execute_script(
        """const box = (e) => e.getBoundingClientRect();
           const all = (q) => [...document.querySelectorAll(q)];
           return [document.querySelector('main').innerText.trim(),
             document.querySelector('#decision').innerText, box(all('details')[0]).top,
             all('main *').filter((e) => !e.closest('details')
               && box(e).right > document.documentElement.clientWidth + 1).map((e) => e.className),
             all('.dot').map((e) => [box(e).left, box(e.parentElement).left - 9,
               box(e.parentElement).right + 9 - box(e).width])]"""
    )
    browser.switch_to.default_content()
    assert first.startswith(decision)
    assert decision.startswith("Do not release v2: of 100 positive items about Donau")
    assert fold < 900
    assert wide == []
    assert len(marks) == 2 * 2 * 4
    assert all(low <= left <= high for left, low, high in marks)
