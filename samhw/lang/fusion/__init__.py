"""What a region is once its statements are one: their instances, and the orders that the indices allow; and
which statements make good regions, by their kinds."""

from samhw.lang.fusion.fuse import FusedRegion, Instance, StoredUse, ways_to_share
from samhw.lang.fusion.kinds import (
    Dominator,
    Flow,
    StatementKind,
    group_flow,
    kind_groups,
    kind_of,
    post_dominators,
)
from samhw.lang.fusion.order import (
    PartialOrder,
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
    "PartialOrder",
    "StatementKind",
    "StoredUse",
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
