"""The report: one self-contained page that needs no network, and a LaTeX table beside it."""

from biasbridge.analysis.report.page import build_report

__all__ = ["build_report"]
