"""What the recorded certificate says of the scores of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from studies.certificate.recorded import NOT_CERTIFIED, Worth, refused, worth

if TYPE_CHECKING:
    from intrinsic.audit import Audited


def certified(audited: Sequence[Audited]) -> tuple[list[Audited], list[str]]:
    """Every score with its line of the certificate, and the remark that names those that are not
    called bias: a planted one hardly moves them.
    """
    rows: list[Audited] = []
    known: dict[str, Worth] = {}
    for one in audited:
        found = worth(one.score.metric, one.score.convention, one.kind)
        said = ": ".join(filter(None, (found.verdict, found.why)))
        said = said if found.verdict != NOT_CERTIFIED else ""
        rows.append(one._replace(certificate=said, called_bias=found.called_bias))
        if not isnan(one.score.value):
            known[one.score.metric] = found
    remark = refused(known)
    return rows, [remark] if remark else []
