"""Tensors off chip in the compiled engine (docs/memory.md).

Which lines firings ask for depends on tokens only, so it is found along with these (asking.py). In which
cycles they ask is known as soon as they are timed (waiting.py). Then lines are served in the order of their
cycles, and what they bring can be timed (serving.py).
"""

from samhw.sim.compiled.off_chip.asking import note_lines
from samhw.sim.compiled.off_chip.room import make_line_room
from samhw.sim.compiled.off_chip.serving import serve_lines

__all__ = ["make_line_room", "note_lines", "serve_lines"]
