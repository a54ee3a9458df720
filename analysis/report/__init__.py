"""The report: one self-contained page that needs no network, and a LaTeX table beside it."""
