"""write_compressed, as processes of C++."""

from samhw.graph import Node
from samhw.hls.off_chip import places_and_words, write_words
from samhw.hls.region_builder import RegionBuilder

__all__ = ["lower"]


def lower(to: RegionBuilder, node: Node) -> None:
    """One process."""
    crd, pos, coordinates = to.input(node, "crd"), to.memory(node, "pos"), to.memory(node, "crd")
    template = (to.number(node), pos.words, coordinates.words)
    if not pos.off_chip:
        scalars = (to.count(pos), to.count(coordinates), to.error(node))
        to.process("write_compressed", crd, pos, coordinates, *scalars, reads=(crd,), template=template)
        return
    positions, words = places_and_words(to, node, pos), places_and_words(to, node, coordinates)
    to.process(
        "write_compressed_places",
        *(crd, *positions, *words, to.error(node)),
        reads=(crd,),
        writes=(*positions, *words),
        template=template,
    )
    write_words(to, node, *positions, pos)
    write_words(to, node, *words, coordinates)
