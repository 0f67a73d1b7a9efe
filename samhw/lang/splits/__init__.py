"""Splits: one tensor as a sum of parts, each in a format of its own, and programs as sums over the parts; and
data with their rows in another order."""

from samhw.lang.splits.over_parts import Busiest, SplitProgram, dealt, split_program
from samhw.lang.splits.partition import Apart, PartSize, SplitRule, TensorPart, TensorSplit
from samhw.lang.splits.renumbering import Renumbering, RowOrders, check_permute_rows, order_rows, renumbered
from samhw.lang.splits.rule_text import check_split, parse_rule, rule_file
from samhw.lang.splits.rules import Hyb
from samhw.lang.splits.statements import MOST_TERMS

__all__ = [
    "MOST_TERMS",
    "Apart",
    "Busiest",
    "Hyb",
    "PartSize",
    "Renumbering",
    "RowOrders",
    "SplitProgram",
    "SplitRule",
    "TensorPart",
    "TensorSplit",
    "check_permute_rows",
    "check_split",
    "dealt",
    "order_rows",
    "parse_rule",
    "renumbered",
    "rule_file",
    "split_program",
]
