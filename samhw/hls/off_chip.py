"""Memories off the chip: the processes between a node and their lines."""

from collections import Counter
from collections.abc import Callable

from samhw.graph import Arch, Design, Memory, Node, Payload
from samhw.graph.sequence import most_at_a_time
from samhw.hls.cpp import INDEX, payload_class, word_width
from samhw.hls.program import HlsStream, MemoryPort
from samhw.hls.region_builder import RegionBuilder

__all__ = [
    "BURST",
    "LATENCY",
    "LINE_BYTES",
    "OUTSTANDING",
    "burst_of",
    "counts_of",
    "ends_of",
    "lines_of",
    "memory_bytes",
    "places_and_words",
    "read_words",
    "stored_coordinates",
    "write_words",
]

LINE_BYTES = 64
"""The most that m_axi moves in a cycle (UG1399: 512 bits)."""

BURST = 16
"""Lines, at most, in a burst: 1 KB, so that none crosses a border of 4 KB."""

OUTSTANDING = 16
"""Bursts on their way to a port."""

LATENCY = 64
"""Iterations from a burst's request to its first line: what Vitis takes a memory to need by default."""

AHEAD = 128
"""Tokens that the places of words may be ahead of the words: a memory's latency at one token a cycle."""

LINE, MASK = "samhw::line_t", "samhw::line_mask"


def lines_of(memory: Memory, stored: Payload, arch: Arch) -> int:
    """The lines of a memory off the chip, of words as it stores them."""
    return -(-memory.words * word_width(stored, arch) // (8 * LINE_BYTES))


def burst_of(lines: int) -> int:
    """The longest burst of a memory of that many lines: a power of two, and m_axi knows none below 2."""
    return max(min(BURST, 1 << (lines - 1).bit_length()), 2)


def memory_bytes(design: Design, arch: Arch, *, by_turns: bool) -> dict[str, int]:
    """The bytes that each memory takes on the chip: an array for each node that has it.

    Args:
        by_turns: regions share the arrays of one kernel; else each is a kernel that has its own.
    """
    users = {
        number: Counter(name for node in graph.nodes for name in node.memories.values())
        for number, graph in enumerate(design.regions)
    }
    arrays = most_at_a_time(design.sequence, users) if by_turns else sum(users.values(), Counter[str]())
    bits = {name: word_width(design.stored(memory), arch) for name, memory in design.memory.items()}
    return {name: memory.words * bits[name] // 8 * arrays[name] for name, memory in design.memory.items()}


def read_words(
    to: RegionBuilder,
    node: Node,
    ref: HlsStream,
    port: MemoryPort,
    out: Callable[[], HlsStream],
    *,
    places: str,
    stride: int = 1,
    words: int = 1,
    missing_is_zero: bool = False,
) -> HlsStream:
    """The words that references stand for, in a stream that `out` makes.

    Args:
        places: how many references there are, in C++.
        stride: words from where one reference's words begin to where the next one's do.
        words: of a reference.
    """
    at, first, length = _named(to, node, port, at=(INDEX, AHEAD), first=(INDEX, 2), length=(INDEX, 2))
    stored = to.graph.stored(port.memory)
    type = payload_class(stored)
    to.process(
        "line_ask",
        *(ref, at, first, length),
        reads=(ref,),
        writes=(at, first, length),
        template=(type, to.number(node), places, str(stride), str(words)),
        header="lines",
    )
    (lines,) = _named(to, node, port, lines=(LINE, 2))
    reads, most = (first, length), OUTSTANDING * burst_of(lines_of(port.memory, stored, to.arch))
    to.process(
        "line_read",
        *(*reads, lines, port),
        reads=reads,
        writes=(lines,),
        template=(str(most),),
        header="lines",
    )
    found = out()
    zero = str(missing_is_zero).lower()
    reads, template = (at, lines), (zero,)
    to.process("line_word", *reads, found, reads=reads, writes=(found,), template=template, header="lines")
    return found


def ends_of(to: RegionBuilder, node: Node, pos: MemoryPort) -> tuple[HlsStream, HlsStream]:
    """Where each fiber starts, and the number of its last coordinate, by `pos`: two words for a reference."""
    ref, depth = to.input(node, "ref"), to.arch.internal_depth(to.arch.memory)

    def words() -> HlsStream:
        return to.internal(node, "ends", INDEX, depth)

    found = read_words(to, node, ref, pos, words, places=f"{pos.words} - 1", words=2)
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process("scan_compressed_ends", found, start, last, reads=(found,), writes=(start, last))
    return start, last


def counts_of(to: RegionBuilder, node: Node, cnt: MemoryPort) -> tuple[HlsStream, HlsStream]:
    """The same of an ell level, by the counts of its fibers."""
    depth = to.arch.internal_depth(to.arch.memory)
    asked, later = _twice(to, node, to.input(node, "ref"))
    found = read_words(
        to, node, asked, cnt, lambda: to.internal(node, "count", INDEX, depth), places=cnt.words
    )
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_ell_ends",
        *(later, found, start, last),
        reads=(later, found),
        writes=(start, last),
        template=(to.number(node), str(node.params["width"])),
    )
    return start, last


def stored_coordinates(to: RegionBuilder, node: Node, refs: HlsStream, crd: MemoryPort) -> None:
    """The outputs of a level scanner, from its references and the coordinates that lie there."""
    depth = to.arch.internal_depth(to.arch.memory)
    asked, later = _twice(to, node, refs)
    found = read_words(
        to, node, asked, crd, lambda: to.internal(node, "found", INDEX, depth), places=crd.words
    )
    outputs = {"crd": to.output(node, "crd"), "ref": to.output(node, "ref")}
    to.process(
        "scan_stored_check",
        later,
        found,
        *outputs.values(),
        *to.extents_of(node),
        reads=(later, found),
        writes=tuple(outputs.values()),
        template=(to.number(node),),
        header="stored_walk",
    )
    to.spread(node, outputs)


def _twice(to: RegionBuilder, node: Node, stream: HlsStream) -> tuple[HlsStream, HlsStream]:
    """A stream for those that ask, and again for those that have the words, as much later as they may be."""
    asked, later = to.internal(node, "asked", INDEX, 2), to.internal(node, "later", INDEX, AHEAD)
    copies = (asked, later)
    to.process("copy", stream, *copies, reads=(stream,), writes=copies, header="fanout")
    return asked, later


def write_words(to: RegionBuilder, node: Node, at: HlsStream, words: HlsStream, port: MemoryPort) -> None:
    """Writes words at their places."""
    lines, masks, first, length = _named(
        to,
        node,
        port,
        # A burst is written when it is known how long it is: room for one, and for the next one meanwhile.
        lines=(LINE, 2 * BURST),
        masks=(MASK, 2 * BURST),
        first=(INDEX, 2),
        length=(INDEX, 2),
    )
    made = (lines, masks, first, length)
    to.process("line_gather", at, words, *made, reads=(at, words), writes=made, header="lines")
    reads = (first, length, lines, masks)
    to.process("line_write", *reads, port, reads=reads, header="lines")


def places_and_words(
    to: RegionBuilder, node: Node, port: MemoryPort, type: str = INDEX
) -> tuple[HlsStream, HlsStream]:
    """The streams of a writer."""
    at, words = _named(to, node, port, at=(INDEX, 2), words=(type, 2))
    return at, words


def _named(to: RegionBuilder, node: Node, port: MemoryPort, **streams: tuple[str, int]) -> list[HlsStream]:
    """Streams by what they carry for a memory, with type and depth."""
    array = port.memory.array
    return [to.internal(node, f"{array}_{name}", type, depth) for name, (type, depth) in streams.items()]
