"""A sweep's report: numbers, a table for a terminal, and one page without requests."""

from lineshaft.evals.report.page import page_of
from lineshaft.evals.report.summary import (
    Loss,
    SweepSummary,
    TaskRow,
    VariantRow,
    nothing_valid,
    summarised,
)
from lineshaft.evals.report.table import judgement_lines, table_lines

__all__ = [
    "Loss",
    "SweepSummary",
    "TaskRow",
    "VariantRow",
    "judgement_lines",
    "nothing_valid",
    "page_of",
    "summarised",
    "table_lines",
]
