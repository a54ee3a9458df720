"""A gate decides alike as command, function and fixture, by intervals that formulas give here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml

from biasbridge import gaps, gate
from biasbridge.__main__ import main
from biasbridge.files import InputError
from biasbridge.stats.formatting import format_trimmed

pytest_plugins = ["pytester", "biasbridge.pytest_plugin"]
ROOT = Path(__file__).resolve().parent.parent
MEN, WOMEN, MORE_WOMEN = (100, 90, 100, 10), (100, 60, 100, 10), (100, 95, 100, 10)


def wilson(k: int, n: int, z: float) -> tuple[float, float]:
    middle, half = k / n + z * z / (2 * n), z * sqrt(k * (n - k) / n**3 + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def interval(first: tuple[int, int], second: tuple[int, int], n_gaps: int) -> tuple[float, float]:
    """Newcombe's interval of a difference of shares (k, n), Bonferroni's for so many gaps."""
    z = NormalDist().inv_cdf(1 - 0.025 / n_gaps)
    (p, q), (a, b), (c, d) = (
        (first[0] / first[1], second[0] / second[1]),
        wilson(*first, z),
        wilson(*second, z),
    )
    return p - q - sqrt((p - a) ** 2 + (d - q) ** 2), p - q + sqrt((b - p) ** 2 + (q - c) ** 2)


def items(**groups: tuple[int, int, int, int]) -> pd.DataFrame:
    """Items of groups by actual positives, of these predicted, negatives, of these predicted."""
    rows = [
        (label, int(number < hits), "[]" if name == "none" else name)
        for name, (n1, tp, n0, fp) in groups.items()
        for label, n, hits in ((1, n1, tp), (0, n0, fp))
        for number in range(n)
    ]
    return pd.DataFrame(rows, columns=["label", "prediction", "group"])


def classes(hits: dict[str, int]) -> pd.DataFrame:
    """Of classes a, b, c a hundred items for each group, so many of them called by their name."""
    rows = [
        (
            name,
            name if number < hits.get(group + name, 80) else "abca"["abc".index(name) + 1],
            group,
        )
        for group in ("men", "women")
        for name in "abc"
        for number in range(100)
    ]
    return pd.DataFrame(rows, columns=["label", "prediction", "group"])


PAIR = items(men=MEN, women=WOMEN)
LOW, HIGH = interval((90, 100), (60, 100), 1)
LOW_OF_TWO = interval((90, 100), (60, 100), 2)[0]
REST = items(men=MEN, women=WOMEN, none=(100, 80, 0, 0))
LOW_OF_REST = interval((170, 200), (60, 100), 2)[0]  # of women; men have a gap too
FEW = items(men=(12, 11, 40, 4), women=(12, 7, 40, 4))
NONE = items(men=MEN, women=(5, 3, 100, 10))
FALSE_ALARMS = items(men=MEN, women=(100, 88, 100, 60))
OTHERS = PAIR.assign(fair=items(men=MEN, women=(100, 88, 100, 10))["prediction"])
CONTRAST = items(men=MEN, women=(100, 80, 100, 10))
CONTRAST["other"] = items(men=(100, 60, 100, 10), women=(100, 95, 100, 10))["prediction"]
GROWN = CONTRAST.assign(later=items(men=MEN, women=(100, 40, 100, 10))["prediction"])
# Each 25 items of one cluster are called alike, so that 100 count as few
CLUSTERED = PAIR.assign(author=PAIR.groupby(["group", "label"]).cumcount() // 25)
CLUSTERED["author"] = CLUSTERED["group"] + CLUSTERED["author"].astype(str)
LOW_OF_CLASSES = interval((80, 100), (40, 100), 3)[0]


class Case(NamedTuple):
    """Items, bounds and options, the verdict, and what its sentence holds."""

    table: pd.DataFrame
    bounds: dict[str, float]
    verdict: str
    said: Sequence[str] = ()
    options: dict[str, Any] = {"privileged": "men"}  # noqa: RUF012


YES, NO, UNKNOWN = "release", "do not release", "cannot tell"
WOMEN_MISSED = "of 100 positive items about women the classifier misses 40"
VERSIONS: dict[str, Any] = {"privileged": "men", "pred": ["prediction", "later"]}
CASES = {
    "shown above": Case(PAIR, {"recall": LOW - 1e-4}, NO, [WOMEN_MISSED, "allowed."]),
    "not shown above": Case(PAIR, {"recall": LOW + 1e-4}, UNKNOWN, [WOMEN_MISSED]),
    "perhaps above": Case(PAIR, {"recall": HIGH - 1e-4}, UNKNOWN, [WOMEN_MISSED]),
    "shown within": Case(PAIR, {"recall": HIGH + 1e-4}, YES, ["the only comparison is within"]),
    "adjusted for two": Case(PAIR, {"recall": LOW_OF_TWO + 1e-4, "fpr": 0.5}, UNKNOWN),
    "above for two": Case(PAIR, {"recall": LOW_OF_TWO - 1e-4, "fpr": 0.5}, NO),
    "within for two": Case(PAIR, {"recall": HIGH + 1e-4, "fpr": 0.5}, YES, ["all 2 comparisons"]),
    "favoured": Case(items(men=WOMEN, women=MORE_WOMEN), {"recall": 0}, YES),
    "few items": Case(FEW, {"recall": 0.1}, UNKNOWN, ["a difference of 33.3 (-1.8 to 60.6)"]),
    "no value": Case(NONE, {"recall": 0.99}, UNKNOWN, [
        "too little is known about women: 5 actual positives of group women"
    ]),
    "five items": Case(NONE, {"recall": 0.99}, YES, [], {"privileged": "men", "min_support": 0}),
    "against the rest": Case(REST, {"recall": LOW_OF_REST - 1e-4}, NO, [
        "about all others 15"
    ], {}),
    "not against the rest": Case(REST, {"recall": LOW_OF_REST + 1e-4}, UNKNOWN, [], {}),
    "a rate of errors": Case(FALSE_ALARMS, {"recall": 0.05, "fpr": 0.3}, NO, [
        "of 100 negative items about women the classifier wrongly flags 60"
    ]),
    "the earlier version is not judged": Case(
        GROWN.rename(columns={"later": "prediction", "prediction": "later"}), {"recall": 0.25}, YES,
        ["Release later:"], VERSIONS | {"harm": 0.05},
    ),
    "harm": Case(GROWN, {"recall": 0.9}, NO, [
        "of 100 positive items about women prediction missed 20, later misses 60: 40 more",
        "where 2 are allowed"
    ], VERSIONS),
    "harm that is allowed": Case(GROWN, {"recall": 0.9}, YES, [], VERSIONS | {"harm": 0.55}),
    "clusters": Case(
        CLUSTERED, {"recall": 0.1}, UNKNOWN, ["a difference of 30 (-"],
        {"privileged": "men", "cluster": "author"},
    ),
    "items of clusters": Case(CLUSTERED, {"recall": 0.1}, NO),
    "a class": Case(
        classes({"womenb": 40}), {"recall": LOW_OF_CLASSES - 1e-4}, NO,
        ["of 100 b items about women the classifier misses 60, about men 20"],
        {"privileged": "men", "multiclass": True},
    ),
    "one adjustment over classes": Case(
        classes({"womenb": 40}), {"recall": LOW_OF_CLASSES + 1e-4}, UNKNOWN, [],
        {"privileged": "men", "multiclass": True},
    ),
    "classes alike": Case(classes({}), {"recall": 0.2}, YES, ["all 3 comparisons"],
        {"privileged": "men", "multiclass": True},
    ),
}  # fmt: skip


def flags(case: Case) -> list[str]:
    bounds = ",".join(f"{name}={bound!r}" for name, bound in case.bounds.items())
    arguments = ["--fail-above", bounds]
    for name, value in case.options.items():
        for cell in value if isinstance(value, list) else [value]:
            arguments += [f"--{name.replace('_', '-')}", *([] if cell is True else [str(cell)])]
    return arguments


@pytest.mark.parametrize("name", CASES)
def test_command_function_and_fixture_decide_alike(
    name: str, assert_gap: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES[name]
    path = tmp_path / "items.csv"
    case.table.to_csv(path, index=False)
    result = gate(case.table, case.bounds, **case.options)
    assert result.verdict == case.verdict
    assert bool(result) is (case.verdict == YES)
    for part in case.said:
        assert part in result.sentence
    status = main(["gaps", str(path), "--measures", "precision", *flags(case)])
    printed = capsys.readouterr().out
    assert status == result.status == {YES: 0, NO: 3, UNKNOWN: 4}[case.verdict]
    assert printed.splitlines()[0] == result.sentence
    assert "precision" in printed
    if result:
        assert assert_gap(path, case.bounds, **case.options)
    else:
        with pytest.raises(pytest.fail.Exception) as failure:
            assert_gap(path, case.bounds, **case.options)
        assert str(failure.value) == result.sentence


@pytest.mark.parametrize(
    ("number", "text"), [(0.5, ".5"), (-0.05, "-.05"), (10.5, "10.5"), (100.25, "100.25"), (0, "0")]
)
def test_numbers_lose_only_a_zero_before_the_point(number: float, text: str) -> None:
    assert format_trimmed(number) == text


def test_the_bound_itself_is_within() -> None:
    row = gaps(PAIR, privileged="men", measures="recall").query("kind == 'gap'").iloc[0]
    assert gate(PAIR, {"recall": row["high"]}, privileged="men")
    less = gate(PAIR, {"recall": np.nextafter(row["high"], 0)}, privileged="men")
    assert less.verdict == UNKNOWN
    low = float(row["low_simultaneous"])
    assert gate(PAIR, {"recall": low}, privileged="men").verdict == UNKNOWN
    assert gate(PAIR, {"recall": np.nextafter(low, 0)}, privileged="men").verdict == NO


def test_the_fixture_is_found_by_name_and_fails_a_test_with_the_sentence(
    pytester: pytest.Pytester,
) -> None:
    PAIR.to_csv(pytester.path / "items.csv", index=False)
    pytester.makepyfile(
        """
        def test_release(assert_gap):
            assert_gap("items.csv", {"recall": .1}, privileged="men")

        def test_other_bound(assert_gap):
            assert assert_gap("items.csv", {"recall": .42}, privileged="men")
        """
    )
    done = pytester.runpytest_inprocess("-p", "biasbridge.pytest_plugin", "-p", "no:xdist")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*Do not release: of 100 positive items about women *"])


def test_the_plugin_loads_nothing_heavy() -> None:
    code = "import sys, biasbridge.pytest_plugin; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.check_output(command, cwd=ROOT, text=True).split()
    assert not {*loaded} & {"numpy", "pandas", "rich", "torch", "extrinsic"}


REFUSED = [
    ("recal=.1", [], "'recal' has no gap here; did you mean 'recall'?"),
    ("base_rate=.1", [], "'base_rate' has no gap here"),
    ("equalised_odds=.1", [], "'equalised_odds' has no gap here"),
    ("recall=1", [], r"the bound of recall is 1.0; give a number in [0, 1)"),
    ("recall=-.1", [], r"the bound of recall is -0.1; give a number in [0, 1)"),
    ("recall=nan", [], "the bound of recall is nan"),
    ("recall", [], "'recall' is not NAME=NUMBER; write it like recall=.1"),
    ("recall=.1,recall=.2", [], "recall has two values"),
    ("auc=.1", [], "--measures auc needs scores"),
    ("recall=.1", ["--harm", ".05"], "--harm: a change needs two versions; give a --pred for each"),
    ("recall=.1", ["--harm", "2"], "--harm: a change needs two versions; give a --pred for each"),
]


@pytest.mark.parametrize(("bounds", "options", "message"), REFUSED)
def test_a_gate_that_cannot_decide_is_refused(
    bounds: str, options: list[str], message: str, tmp_path: Path
) -> None:
    PAIR.to_csv(tmp_path / "items.csv", index=False)
    with pytest.raises(InputError) as refusal:
        main(["gaps", str(tmp_path / "items.csv"), "--fail-above", bounds, *options])
    assert message in str(refusal.value)


def test_what_nothing_can_be_decided_on_is_refused() -> None:
    with pytest.raises(InputError, match="are both 'men'; name two groups"):
        gate(PAIR, {"recall": 0.1}, privileged="men", unprivileged=["men"])
    with pytest.raises(InputError, match="the gate has no bound"):
        gate(PAIR, {})
    with pytest.raises(InputError, match=r"the smallest harm is 2; give a number in \[0, 1\)"):
        gate(GROWN, {"recall": 0.1}, harm=2, **VERSIONS)


def test_the_workflow_calls_a_gate_that_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = yaml.safe_load((ROOT / "examples" / "gaps_gate.yml").read_text(encoding="utf-8"))
    steps = [step.get("run", "") for step in workflow["jobs"]["gate"]["steps"]]
    [command] = [step for step in steps if step.startswith("biasbridge ")]
    PAIR.to_csv(tmp_path / "predictions.csv", index=False)
    monkeypatch.chdir(tmp_path)
    assert main(command.split()[1:]) == 3
    assert (tmp_path / "gaps.html").is_file()


def test_a_group_of_which_nothing_is_measured_is_never_released() -> None:
    """As after a join that lost a group; a crossed group may be empty."""
    table = pd.DataFrame(
        {"label": [1, 1, 0, 0] * 60, "prediction": [1, 1, 0, 0] * 60, "old": [0, 1, 1, 0] * 60}
    )
    assert gate(table, {"recall": 0.1}, group="old")
    result = gate(table.assign(women=0), {"recall": 0.1}, group=["old", "women"])
    assert result.verdict == UNKNOWN
    assert "too little is known about women: no actual positive" in result.sentence
    men = table.assign(group=np.where(table["old"], "women", "men"))
    men["label"] = men["label"].where(men["group"] == "women", 0)
    assert gate(men, {"recall": 0.1}, privileged="men").verdict == UNKNOWN
    crossed = table.assign(age=table["old"].map({0: "x", 1: "y"}), sex=["f", "m"] * 120)
    crossed = crossed[(crossed["age"] == "x") | (crossed["sex"] == "m")]
    assert gate(crossed, {"recall": 0.1}, group="age", cross=["age", "sex"])
