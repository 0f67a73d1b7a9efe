"""Splits: one tensor as a sum of parts, each in a format of its own, and programs as sums over the parts; and
data with their rows in another order."""

from samhw.splits.apart import Apart
from samhw.splits.function import rule_file
from samhw.splits.lanes import Busiest, dealt
from samhw.splits.notation import check_split, parse_rule
from samhw.splits.partition import PartSize, TensorSplit
from samhw.splits.renumbering import Renumbering, RowOrders, order_rows, renumbered
from samhw.splits.rewrite import SplitProgram, split_program
from samhw.splits.row_orders import check_permute_rows
from samhw.splits.rule import SplitRule, TensorPart
from samhw.splits.rules import Hyb
from samhw.splits.statements import MOST_TERMS

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
