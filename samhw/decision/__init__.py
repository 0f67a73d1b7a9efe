"""Decisions: all that is left open by a program and its schedule, chosen."""

from samhw.decision.decision import Decision, Iteration, RegionDecision, Sharing
from samhw.decision.refusal import Refusal

__all__ = ["Decision", "Iteration", "Refusal", "RegionDecision", "Sharing"]
