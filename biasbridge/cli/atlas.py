"""``biasbridge atlas``: the atlas of published point sets, computed again."""

from analysis.atlas.__main__ import main as main
