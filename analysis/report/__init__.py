"""The report: one self-contained page that works without a network, and the table of a paper beside
it.
"""

from analysis.report.page import build_report

__all__ = ["build_report"]
