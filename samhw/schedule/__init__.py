"""Schedules: how a program is computed, which never changes what it computes."""

from samhw.schedule.fields import FUSION_LEVELS, ITERATIONS, MODULE, ByModules, FusionLevel, Iteration
from samhw.schedule.formats import with_formats
from samhw.schedule.lanes import lanes_text, parse_lanes
from samhw.schedule.regions import regions_of
from samhw.schedule.schedule import Schedule

__all__ = [
    "FUSION_LEVELS",
    "ITERATIONS",
    "MODULE",
    "ByModules",
    "FusionLevel",
    "Iteration",
    "Schedule",
    "lanes_text",
    "parse_lanes",
    "regions_of",
    "with_formats",
]
