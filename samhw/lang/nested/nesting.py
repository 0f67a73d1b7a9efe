"""Perfect nests: operators with nothing in between them are one block."""

from dataclasses import replace

from samhw.lang.nested.dataflow import BlockNode, Equation, Item
from samhw.lang.nested.function import NestedFunction

__all__ = ["perfect_nests"]


def perfect_nests(function: NestedFunction) -> NestedFunction:
    """The function with each operator that computes nothing but one other operator merged into it: the block
    nodes of the extended task dependence graph (the FractalTensor paper, section 4.4).

    Access operators may stand between the two.
    """

    def computes(item: Item) -> bool:
        return isinstance(item, BlockNode) or isinstance(function.buffers[item], Equation)

    def nested(item: Item) -> Item:
        if not isinstance(item, BlockNode):
            return item
        body = tuple(map(nested, item.body))
        inner = [other for other in body if computes(other)]
        match inner:
            case [BlockNode() as only]:
                views = tuple(other for other in body if other is not only)
                return BlockNode(item.loops + only.loops, views + only.body)
        return replace(item, body=body)

    return replace(function, body=tuple(map(nested, function.body)))
