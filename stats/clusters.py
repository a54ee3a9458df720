"""What clusters of items do to intervals, in words."""

from __future__ import annotations

from collections.abc import Sequence


def describe_clusters(n_clusters: Sequence[int], widening: Sequence[float]) -> str:
    """Return how many clusters there are, the most of any row, and how many times wider than those
    of independent items the intervals of gaps became; empty without gaps.
    """
    if not widening:
        return ""
    widths = [f"{width:.2f}".removeprefix("0") for width in sorted(widening)]
    return (
        f"{max(n_clusters):,} clusters: intervals of gaps are {widths[len(widths) // 2]} times as"
        f" wide as of independent items ({widths[0]} to {widths[-1]})."
    )
