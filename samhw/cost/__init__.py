"""What a graph costs, without running it; and what is known of stored coordinates (`statistics`)."""

from samhw.cost.area import AreaEstimate, RegionArea, estimate_area
from samhw.cost.components import BASE, FAMILIES, Use
from samhw.cost.design_cost import (
    DesignEstimate,
    NodeEstimate,
    RegionEstimate,
    estimate_graph,
    estimated_cycles,
)
from samhw.cost.devices import (
    BEYOND_CLOCKS,
    DEVICES,
    FITS,
    GREATEST_CLOCK,
    MEASURED_ARCH,
    NO_FIT,
    SHOWN_DEVICES,
    Budget,
    Device,
    find_device,
    parse_budget,
    reached_clock,
)
from samhw.cost.stream_supports import Results
from samhw.cost.worst_case import Expected, estimate

__all__ = [
    "BASE",
    "BEYOND_CLOCKS",
    "DEVICES",
    "FAMILIES",
    "FITS",
    "GREATEST_CLOCK",
    "MEASURED_ARCH",
    "NO_FIT",
    "SHOWN_DEVICES",
    "AreaEstimate",
    "Budget",
    "DesignEstimate",
    "Device",
    "Expected",
    "NodeEstimate",
    "RegionArea",
    "RegionEstimate",
    "Results",
    "Use",
    "estimate",
    "estimate_area",
    "estimate_graph",
    "estimated_cycles",
    "find_device",
    "parse_budget",
    "reached_clock",
]
