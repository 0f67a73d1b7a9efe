"""matmul: the product of two blocks, summed over the axes that only they have."""

from math import prod

from samhw.graph.numerics import ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work
from samhw.graph.spec.params import RESULT, VALUE, Param, Params, are_axes, are_sizes, parameters
from samhw.graph.spec.streams import val

__all__ = ["MOST_WORDS", "SPEC", "operand_shape", "rounds"]

MOST_WORDS = 4096
"""Words of a payload, and products of a firing: 64 by 64, and 16 by 16 by 16."""

_SIZES = Param("a list of sizes of 1 or more", are_sizes)

_AXES = Param("a list of axes, each at most once", are_axes)


class _Matmul(KeepsLevels):
    kind = "matmul"
    rule = "Multiplies the blocks of two streams and adds up the products, a block a cycle."
    params = parameters(shape=_SIZES, over=_SIZES, a=_AXES, b=_AXES, value=VALUE, to=RESULT)
    inner_latency = None
    thins = False
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        sizes = [*params["shape"], *params["over"]]
        used = {*params["a"], *params["b"]}
        if used != {*range(len(sizes))}:
            return (
                f"has the axes {params['a']} and {params['b']}, but its result and its sum have "
                f"{len(sizes)}; give each to an operand"
            )
        if prod(sizes) > MOST_WORDS:
            return f"multiplies {prod(sizes):,} pairs at once; give smaller blocks, of {MOST_WORDS:,} at most"
        return None

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        inputs = [val(name, depth, operand_shape(params, name)) for name in "ab"]
        return inputs, [val("val", depth, params["shape"])]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        of = self.result_type(params, value)
        return arch.alu_latency("mul", of) + rounds(params) * arch.alu_latency("add", of)

    def follows(self, port: str, params: Params) -> str | None:
        return "a"

    def work(self, params: Params) -> Work | None:
        results, products = prod(params["shape"]), prod(params["over"])
        return Work("mul", "a", ("a", "b"), results * (2 * products - 1))


SPEC = _Matmul()


def operand_shape(params: Params, port: str) -> tuple[int, ...]:
    """The shape of the blocks of an operand."""
    sizes = [*params["shape"], *params["over"]]
    return tuple(sizes[axis] for axis in params[port])


def rounds(params: Params) -> int:
    """How many additions follow each other in a sum."""
    return int(prod(params["over"]) - 1).bit_length()
