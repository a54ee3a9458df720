"""How often frauds and honest metrics pass the certificate, in simulated studies:
python -m tests.studies.simulate_certificate docs/figures
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biasbridge.files.tables import write_csv
from biasbridge.studies.certificate_verdicts import CANNOT_TELL, DETECTS_HALF, DETECTS_PART
from tests.studies.simulated_scores import Response, verdicts

SLOPE = 12  # sd from no bias to the whole
HONEST = Response(lambda s: SLOPE * s)
ALARMING = HONEST._replace(alarm_rate=0.15)
# Name of a design: response and, where it is not 20 and 40, number of seeds or random models
DESIGNS: Mapping[str, tuple[Response, Mapping[str, Any]]] = {
    "honest": (HONEST, {}),
    "honest, saturating": (Response(lambda s: 8 * np.tanh(2.5 * s)), {}),
    "honest, claims nothing": (HONEST._replace(alarm_rate=0.0), {}),
    "offset of 1.5 sd": (Response(lambda s: SLOPE * s + 1.5), {}),
    "offset of -1.5 sd": (Response(lambda s: SLOPE * s - 1.5), {}),
    "offset of 1 sd": (Response(lambda s: SLOPE * s + 1), {}),
    "other words 1.5 sd": (HONEST._replace(off_target=1.5), {}),
    "other words -1.5 sd": (HONEST._replace(off_target=-1.5), {}),
    "other words 1 sd": (HONEST._replace(off_target=1.0), {}),
    "false alarms in 15%": (ALARMING, {}),
    "false alarms in 15%, not of random models": (ALARMING, {"random_alarm_rate": 0.05}),
    "false alarms in 15%, 20 random models": (ALARMING, {"n_random": 20}),
    "honest, 20 random models": (HONEST, {"n_random": 20}),
    "honest, 8 seeds": (HONEST, {"seeds": 8}),
    "honest, 3 seeds": (HONEST, {"seeds": 3}),
}


def simulate(studies: int) -> pd.DataFrame:
    """Return a row a design: the shares of studies that pass, are not decided and show a fault."""
    rows = []
    for name, (response, size) in DESIGNS.items():
        counts = verdicts(response, studies, **size)
        n_passes, n_open = counts[DETECTS_HALF] + counts[DETECTS_PART], counts[CANNOT_TELL]
        rows.append(
            {
                "design": name,
                "seeds": size.get("seeds", 20),
                "random": size.get("n_random", 40),
                "studies": studies,
                "passes": n_passes / studies,
                "cannot_tell": n_open / studies,
                "fault_shown": (studies - n_passes - n_open) / studies,
            }
        )
    return pd.DataFrame(rows)


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=500, help="of each design")
    given = parser.parse_args()
    table = simulate(given.studies)
    write_csv(table.round(4), given.out / "certificate_rates.csv")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
