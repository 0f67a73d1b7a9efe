"""What a region is once its statements are one: their instances, and the orders that the indices allow; and
which statements make good regions, by their kinds."""

from samhw.fusion.blocks import block_sizes
from samhw.fusion.flow import Dominator, Flow, post_dominators
from samhw.fusion.fuse import FusedRegion, Instance, StoredUse, ways_to_share
from samhw.fusion.groups import group_flow, kind_groups
from samhw.fusion.kinds import StatementKind, kind_of
from samhw.fusion.order import (
    check_order,
    count_orders,
    orders,
    outermost_orders,
    partial_order,
    swapped_orders,
)

__all__ = [
    "Dominator",
    "Flow",
    "FusedRegion",
    "Instance",
    "StatementKind",
    "StoredUse",
    "block_sizes",
    "check_order",
    "count_orders",
    "group_flow",
    "kind_groups",
    "kind_of",
    "orders",
    "outermost_orders",
    "partial_order",
    "post_dominators",
    "swapped_orders",
    "ways_to_share",
]
