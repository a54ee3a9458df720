"""What made the results comes from the recipes' own words, and mixed versions are said first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.analysis.joined import join_points
from biasbridge.analysis.provenance import (
    BuildRecord,
    describe_mixture,
    read_provenance,
    write_provenance,
)
from biasbridge.analysis.report import build_report

if TYPE_CHECKING:
    from biasbridge.analysis.results import Tables
    from biasbridge.analysis.slice_results import SliceResult

ONE = BuildRecord("vectors", "Word2Vec", 3, "0.1.0", "", "aa", "Python 3.11.7, gensim 4.3.3")
SAME = ONE._replace(step="intrinsic", made_by="Weat", code="bb")
OTHER = ONE._replace(code="cc", libraries="Python 3.11.7, gensim 4.4.0")


def test_codes_of_one_stage_and_versions_of_any_are_compared() -> None:
    assert (
        describe_mixture([ONE, SAME, OTHER])
        == "vectors (Word2Vec) by 2 codes; gensim 4.3.3 and 4.4.0"
    )


def test_the_report_says_what_made_its_results_and_not_what_is_installed(
    tmp_path: Path, module_tables: Tables, findings: list[SliceResult]
) -> None:
    joined = join_points(module_tables)

    def page() -> str:
        return build_report(tmp_path, module_tables, joined, findings)[0].read_text("utf-8")

    assert "not recorded" in page()
    write_provenance(tmp_path, [ONE, OTHER, SAME])
    assert read_provenance(tmp_path) == [ONE, OTHER, SAME]
    line = "mixed: vectors (Word2Vec) by 2 codes; gensim 4.3.3 and 4.4.0. Biasbridge 0.1.0, Python"
    assert line in page()
