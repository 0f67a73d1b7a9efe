"""Decisions: all that is left open by a program and its schedule, chosen."""

from samhw.decision.decision import Decision, RegionDecision, Sharing
from samhw.decision.refusal import Refusal

__all__ = ["Decision", "Refusal", "RegionDecision", "Sharing"]
