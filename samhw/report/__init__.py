"""Reports for people: plots and pages made from the JSON that commands print."""

from samhw.report.correlation import plot, write_report

__all__ = ["plot", "write_report"]
