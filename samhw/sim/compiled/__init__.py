"""The compiled engine: the rule of `samhw.sim.engine` in machine code, at a cost per firing that stays flat.

Which firings an actor does depends on tokens only, so a machine is run in two steps: first firings and
tokens, then their cycles.
"""

from samhw.sim.compiled.compiled_engine import run
from samhw.sim.machine_code import Untranslatable

__all__ = ["Untranslatable", "run"]
