"""Tags against an annotation: counts by hand, the interval of statsmodels, the command."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from biasbridge.commands.agreement import main
from biasbridge.extrinsic.agreement import count_tags, cross_table, precision
from biasbridge.files import InputError

POSTS = pd.DataFrame(
    {
        "post": ["She left!", "#she @he they", "his (wife)", "the Lady's", "her", "a man"],
        "about": ["women", "", "men", "men", "women", "none"],
    }
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    POSTS.to_csv(tmp_path / "posts.csv", index=False)
    return str(tmp_path / "posts.csv")


def test_the_command_counts_what_is_tagged_and_what_is_annotated(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([path, "--text", "post", "--group", "about", "--female", "women", "--male", "men"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "annotation ┃ male ┃ female ┃ both ┃ neither" in printed
    assert "women │ 0 │ 2 │ 0 │ 0" in printed
    assert "men │ 0 │ 1 │ 1 │ 0" in printed
    assert "none │ 1 │ 0 │ 0 │ 1" in printed
    assert "tagged male: 0 of 1 annotated men: precision 0.00 [0.00, 0.79]" in printed
    assert "tagged female: 2 of 3 annotated women: precision 0.67 [0.21, 0.94]" in printed


def test_a_missing_annotation_is_none() -> None:
    """Parquet keeps cells without an annotation as missing, CSV as empty."""
    posts = POSTS.assign(about=POSTS["about"].replace("", None))
    assert count_tags(posts, "post", "about").equals(count_tags(POSTS, "post", "about"))


def test_quotes_and_addresses_are_no_words_of_groups() -> None:
    posts = pd.DataFrame({"post": ["'she is mad'", "see https://x.com/her-story"], "about": "w"})
    counts = count_tags(posts, "post", "about")
    assert counts[["female", "neither"]].to_numpy().tolist() == [[1, 1]]


@pytest.mark.parametrize(("k", "n"), [(49, 197), (2, 247), (0, 5), (5, 5), (1, 1)])
def test_the_interval_is_wilsons(k: int, n: int) -> None:
    """The first two are HateXplain's women and men."""
    tags, annotation = ["female"] * n + ["both"], ["women"] * k + ["men"] * (n - k) + ["women"]
    counts = cross_table(pd.Series(tags), pd.Series(annotation))
    found = precision(counts, "female", "women")
    assert (found.tagged, found.agree, found.value) == (n, k, k / n)
    assert (found.low, found.high) == pytest.approx(proportion_confint(k, n, method="wilson"))
    assert isnan(precision(counts, "male", "women").low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", "post", "--group", "abuot"], r"no column 'abuot'; did you mean 'about'\?"),
        (["--text", "post", "--group", "about"], "with --male or --female: 'men', 'none', 'women'"),
        (
            ["--text", "post", "--group", "about", "--female", "woman"],
            r"no post is annotated 'woman'; did you mean 'women'\?",
        ),
    ],
)
def test_what_is_missing_is_named(path: str, options: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        main([path, *options])
