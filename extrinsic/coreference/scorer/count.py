"""What a metric counts in a document."""

from __future__ import annotations

from typing import NamedTuple


class Count(NamedTuple):
    """Recall is ``found / key``, precision ``right / response``.

    Over documents each of the four is summed before the division, as the reference scorer does.
    """

    found: float
    key: float
    right: float
    response: float
