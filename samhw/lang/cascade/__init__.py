"""Cascades: reductions over one index that depend on each other, as one pass with constant state.

What a program says in several passes over an index, such as the maximum, the sum and the weighted sum of an
attention, `cascaded` rewrites into running reductions and rescaled sums, as far as its test allows.
"""

from samhw.lang.cascade.one_pass_program import Cascaded, cascaded
from samhw.lang.cascade.rewrite_region import CascadeFinding
from samhw.lang.cascade.split_modes import CutView

__all__ = ["CascadeFinding", "Cascaded", "CutView", "cascaded"]
