"""What a region is once its statements are one: their instances, and the orders that the indices allow."""

from samhw.fusion.fuse import FusedRegion, Instance, StoredUse, ways_to_share
from samhw.fusion.order import check_order, count_orders, orders, partial_order
from samhw.fusion.stored import greatest_sizes, stored_format

__all__ = [
    "FusedRegion",
    "Instance",
    "StoredUse",
    "check_order",
    "count_orders",
    "greatest_sizes",
    "orders",
    "partial_order",
    "stored_format",
    "ways_to_share",
]
