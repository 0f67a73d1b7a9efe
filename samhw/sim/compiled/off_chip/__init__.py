"""Tensors off chip in the compiled engine (docs/memory.md).

Which lines firings ask for depends on tokens only, so it is found along with these; in which cycles they ask
is known as soon as they are timed. Then lines are served in the order of their cycles, and what they bring
can be timed.
"""

from samhw.sim.compiled.off_chip.requests import bring_data, make_line_room, note_request, serve_lines

__all__ = ["bring_data", "make_line_room", "note_request", "serve_lines"]
