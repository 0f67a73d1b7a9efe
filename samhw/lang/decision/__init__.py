"""What is chosen about a region, and why a choice cannot be."""

from samhw.lang.decision.decision import Iteration, RegionDecision, Sharing
from samhw.lang.decision.refusal import Refusal

__all__ = ["Iteration", "Refusal", "RegionDecision", "Sharing"]
