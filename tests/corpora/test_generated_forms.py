"""The synthetic world with words in several forms."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from biasbridge.corpora.generated_forms import GeneratedForms
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.intrinsic.word_forms import word_form


def counted(path: Path) -> Counter[str]:
    return Counter(path.read_text(encoding="utf-8").split())


def test_forms_share_the_occurrences_of_their_word(tmp_path: Path) -> None:
    plain, forms = GeneratedCorpus(6_000), GeneratedForms(6_000, changed=0.6)
    plain.write(tmp_path / "plain", seed=1)
    counts = forms.write(tmp_path / "forms", seed=1)
    before, after = counted(tmp_path / "plain"), counted(tmp_path / "forms")
    assert counts["tokens"] == before.total() == after.total()
    for word, kinds in {"office": 3, "he": 2, "her": 2, "coffee": 3, "numbers": 2}.items():
        names = [str(word_form(word, form)) for form in ("capital", "upper", "plural")][:kinds]
        every = [after[word], *(after[name] for name in names)]
        assert sum(every) == before[word]
        assert every[0] == pytest.approx(0.4 * before[word], rel=0.3)
        assert min(every) > 0
    assert after["hes"] == after["numberses"] == 0
    assert after["likes"] == before["likes"], "words of no kind stay"


def test_nothing_changed_is_the_world_itself(tmp_path: Path) -> None:
    GeneratedCorpus(2_000).write(tmp_path / "plain", seed=3)
    GeneratedForms(2_000, changed=0.0).write(tmp_path / "forms", seed=3)
    GeneratedForms(2_000).write(tmp_path / "a", seed=3)
    GeneratedForms(2_000).write(tmp_path / "b", seed=3)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "forms").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
