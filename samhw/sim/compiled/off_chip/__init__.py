"""Tensors off chip in the compiled engine (docs/memory.md).

Which lines firings ask for depends on tokens only, so it is found along with these; in which cycles they ask
is known as soon as they are timed (asking.py). Then lines are served in the order of their cycles, and what
they bring can be timed (serving.py).
"""

from samhw.sim.compiled.off_chip.asking import bring_data, note_request
from samhw.sim.compiled.off_chip.room import make_line_room
from samhw.sim.compiled.off_chip.serving import serve_lines

__all__ = ["bring_data", "make_line_room", "note_request", "serve_lines"]
