"""Schedules: how a program is computed, which never changes what it computes."""

from samhw.choices.schedule.cascade import CASCADES, cascade_text
from samhw.choices.schedule.counts import counts_text
from samhw.choices.schedule.fields import (
    AUTO,
    FUSION_LEVELS,
    FUSION_RULES,
    ITERATIONS,
    MODULE,
    FusionLevel,
    FusionRule,
    Iteration,
)
from samhw.choices.schedule.formats import with_formats
from samhw.choices.schedule.lanes import parse_lanes
from samhw.choices.schedule.regions import in_sequence, regions_of
from samhw.choices.schedule.schedule import Schedule
from samhw.choices.schedule.words import every, parse_order, with_words

__all__ = [
    "AUTO",
    "CASCADES",
    "FUSION_LEVELS",
    "FUSION_RULES",
    "ITERATIONS",
    "MODULE",
    "FusionLevel",
    "FusionRule",
    "Iteration",
    "Schedule",
    "cascade_text",
    "counts_text",
    "every",
    "in_sequence",
    "parse_lanes",
    "parse_order",
    "regions_of",
    "with_formats",
    "with_words",
]
