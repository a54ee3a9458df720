"""The report: one self-contained page that works without a network, and the tables and figures of a
paper beside it.
"""

from analysis.report.build import build_report

__all__ = ["build_report"]
