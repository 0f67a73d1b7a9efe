"""Perfect nests: operators with nothing in between them are one block."""

from dataclasses import replace

from samhw.nested.dataflow import Block, Computed, Item
from samhw.nested.function import NestedFunction

__all__ = ["perfect_nests"]


def perfect_nests(function: NestedFunction) -> NestedFunction:
    """The function with each operator that computes nothing but one other operator merged into it: the block
    nodes of the extended task dependence graph (the FractalTensor paper, section 4.4).

    Access operators may stand between the two.
    """

    def computes(item: Item) -> bool:
        return isinstance(item, Block) or isinstance(function.buffers[item], Computed)

    def nested(item: Item) -> Item:
        if not isinstance(item, Block):
            return item
        body = tuple(map(nested, item.body))
        inner = [other for other in body if computes(other)]
        match inner:
            case [Block() as only]:
                views = tuple(other for other in body if other is not only)
                return Block(item.loops + only.loops, views + only.body)
        return replace(item, body=body)

    return replace(function, body=tuple(map(nested, function.body)))
