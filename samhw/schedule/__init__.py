"""Schedules: how a program is computed, which never changes what it computes."""

from samhw.schedule.regions import regions_of
from samhw.schedule.schedule import FUSION_LEVELS, ITERATIONS, FusionLevel, Iteration, Schedule

__all__ = ["FUSION_LEVELS", "ITERATIONS", "FusionLevel", "Iteration", "Schedule", "regions_of"]
