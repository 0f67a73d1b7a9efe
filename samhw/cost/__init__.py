"""What a graph costs, without running it."""

from samhw.cost.estimate import Expected, estimate

__all__ = ["Expected", "estimate"]
