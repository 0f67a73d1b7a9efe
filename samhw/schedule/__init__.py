"""Schedules: how a program is computed, which never changes what it computes."""

from samhw.schedule.fields import FUSION_LEVELS, ITERATIONS, FusionLevel, Iteration
from samhw.schedule.regions import regions_of
from samhw.schedule.schedule import Schedule

__all__ = ["FUSION_LEVELS", "ITERATIONS", "FusionLevel", "Iteration", "Schedule", "regions_of"]
