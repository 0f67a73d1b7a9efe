"""Splits: one tensor as a sum of parts, each in a format of its own, and programs as sums over the parts."""

from samhw.splits.apart import Apart
from samhw.splits.lanes import dealt
from samhw.splits.notation import check_split, parse_rule, rule_file
from samhw.splits.partition import PartSize, TensorSplit
from samhw.splits.rewrite import SplitProgram, split_program
from samhw.splits.rule import SplitRule, TensorPart

__all__ = [
    "Apart",
    "PartSize",
    "SplitProgram",
    "SplitRule",
    "TensorPart",
    "TensorSplit",
    "check_split",
    "dealt",
    "parse_rule",
    "rule_file",
    "split_program",
]
