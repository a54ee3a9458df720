"""Certify all recorded readings as one: ``python docs/studies/join_readings.py results/NAME``.

The readings of the folders join ``certificate_readings.csv.gz``; those of their materials that were
there before are replaced. Writes the certificate, choices, training and figure beside it; in the
figure real material has the verdict on the change alone.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.files.charts import save_charts
from biasbridge.files.tables import write_csv
from biasbridge.studies import SYNTHETIC
from biasbridge.studies.certificate_scores import strength_scores
from biasbridge.studies.certificate_tables import certificate_tables, verdict_chart, with_material

if TYPE_CHECKING:
    from biasbridge.analysis.charts import Drawing

HERE = Path(__file__).parent
READINGS = HERE / "certificate_readings.csv.gz"
RECORDED = HERE.parents[1] / "studies" / "recorded_verdicts.csv"
RESAMPLES = 500


def main(folders: Sequence[Path], out: Path) -> None:
    """Write the joined readings and the tables that follow from them."""
    readings = pd.read_csv(READINGS, low_memory=False)
    for folder in folders:
        added = pd.read_csv(folder / "certificate_readings.csv", low_memory=False)
        kept = ~readings["material"].isin(added["material"])
        readings = pd.concat([readings[kept], added], ignore_index=True)
    with gzip.GzipFile(out / READINGS.name, "wb", mtime=0) as text:
        text.write(readings.to_csv(index=False).encode())
    tables = certificate_tables(strength_scores(readings), RESAMPLES)
    write_csv(tables.certificate, out / "certificate.csv")
    write_csv(tables.choices, out / "certificate_choices.csv")
    write_csv(tables.training, out / "certificate_training.csv")
    save_charts(draw(tables.certificate), out / "certificate", (".svg",))
    if out == HERE:
        write_csv(tables.certificate, RECORDED)


def draw(certificate: pd.DataFrame) -> Drawing:
    """Draw the verdicts on the default conventions, of vectors above those of models."""
    table = certificate[certificate["convention"] == "default"]
    is_synthetic = table["material"] == SYNTHETIC
    verdicts = table["verdict"].where(is_synthetic, table["verdict_of_change"])
    table = with_material(table.assign(verdict=verdicts))
    is_of_vectors = table["subject"].str.startswith(("word2vec", "fasttext"))
    parts = table[is_of_vectors], table[~is_of_vectors]
    return verdict_chart(*[part for part in parts if len(part)])


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]], HERE)
