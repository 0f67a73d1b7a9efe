"""alu: an operation on each payload, or on payloads of up to three streams in lockstep."""

from collections.abc import Mapping
from math import prod

from samhw.graph.numerics import ALL_OPERATIONS, SCALE_MULTIPLIERS, SCALE_SHIFTS, WIDENING, ValueType
from samhw.graph.spec.arch import Arch
from samhw.graph.spec.base import KeepsLevels, Ports, Work
from samhw.graph.spec.blocked import Blocked, TakenBlocks
from samhw.graph.spec.params import RESULT, SHAPE, VALUE, Param, Params, Role, are_axes, choice, parameters
from samhw.graph.spec.streams import val
from samhw.primitives.matmul.spec import MOST_WORDS
from samhw.primitives.matmul.spec import SPEC as MATMUL

__all__ = ["OPERANDS", "SPEC", "axes_of", "block_of"]

OPERANDS = "abc"
"""The names of the operands, in the order of the operation's arguments."""

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def _are_immediates(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in value.values()
    )


def _are_axes_by_operand(value: object) -> bool:
    return isinstance(value, dict) and all(are_axes(axes) for axes in value.values())


def _is_among(value: object, allowed: range) -> bool:
    return isinstance(value, int) and value in allowed


class _Alu(KeepsLevels):
    kind = "alu"
    rule = "Takes a value from each input and gives the result of its operation, one a cycle."
    params = parameters(
        op=choice(*ALL_OPERATIONS),
        immediates=Param(
            "a map from operands (a, b, c) to numbers", _are_immediates, optional=True, role=Role.IMMEDIATES
        ),
        value=VALUE,
        to=RESULT,
        shape=SHAPE,
        axes=Param("a map from operands to the axes that each has", _are_axes_by_operand, optional=True),
    )
    inner_latency = None
    thins = False
    cell = None

    def refusal(self, depth: int, params: Params) -> str | None:
        op, immediates = params["op"], params.get("immediates", {})
        operands = OPERANDS[: ALL_OPERATIONS[op]]
        if unknown := sorted(set(immediates) - set(operands)):
            return f"has an immediate {unknown[0]!r}, but the operands of {op!r} are {', '.join(operands)}"
        if len(immediates) == len(operands):
            return "has immediates for all of its operands; leave one to a stream"
        if op == "scale" and not (
            _is_among(immediates.get("b", 0), SCALE_MULTIPLIERS)
            and _is_among(immediates.get("c", 0), SCALE_SHIFTS)
        ):
            return "has op = 'scale'; give it b, 0 to 2^31 - 1, and c, 0 to 62"
        return _refusal_of_blocks(params)

    def ports(self, depth: int, params: Params) -> tuple[Ports, Ports]:
        inputs = [val(name, depth, block_of(params, name)) for name in _streams(params)]
        return inputs, [val("val", depth, params.get("shape", ()))]

    def latency(self, port: str, params: Params, arch: Arch, value: ValueType) -> int:
        op = params["op"]
        types = self.result_type if op in WIDENING else self.operand_type
        return arch.alu_latency(op, types(params, value))

    def follows(self, port: str, params: Params) -> str | None:
        return _streams(params)[0]

    def work(self, params: Params) -> Work | None:
        names = OPERANDS[: ALL_OPERATIONS[params["op"]]]
        numbers = params.get("immediates", {})
        operands = tuple(numbers.get(name, name) for name in names)
        return Work(params["op"], _streams(params)[-1], operands, prod(params.get("shape", ())))

    def blocked(self, params: Params, blocks: TakenBlocks) -> Blocked | None:
        ports = _streams(params)
        axes = blocks.union(ports)
        if params["op"] != "mul" or len(ports) != 2:
            own = {port: [axes.index(i) for i in blocks.axes[port]] for port in ports}
            return Blocked(self.kind, {**params, "shape": blocks.shape(axes), "axes": own}, {"val": axes})
        over = (blocks.summed,) if blocks.summed else ()
        given = tuple(index for index in axes if index not in over)
        places = {index: n for n, index in enumerate((*given, *over))}
        taken = dict(zip("ab", ([places[i] for i in blocks.axes[port]] for port in ports), strict=True))
        value = {name: params[name] for name in ("value", "to") if name in params}
        shapes = {"shape": blocks.shape(given), "over": blocks.shape(over)}
        return Blocked(MATMUL.kind, {**shapes, **taken, **value}, {"val": given})

    def named(self, subject: str) -> str:
        """An alu is named after its operation, without more."""
        return subject

    def note(self, subject: str, params: Params, inputs: Mapping[str, str]) -> str:
        """What it computes, in terms of the streams that it reads."""
        op = str(params["op"])
        numbers = {port: f"{number:g}" for port, number in params.get("immediates", {}).items()}
        texts = [text for _, text in sorted((numbers | dict(inputs)).items())]
        if op in _INFIX and len(texts) == 2:
            return f"val: {texts[0]} {_INFIX[op]} {texts[1]}"
        return f"val: {op}({', '.join(texts)})"


SPEC = _Alu()


def _streams(params: Params) -> list[str]:
    """The operands that come in streams."""
    operands = OPERANDS[: ALL_OPERATIONS[params["op"]]]
    return [name for name in operands if name not in params.get("immediates", {})]


def _refusal_of_blocks(params: Params) -> str | None:
    """What is wrong with the blocks of an SPEC."""
    shape, axes = params.get("shape", ()), params.get("axes", {})
    if unknown := sorted(set(axes) - {*_streams(params)}):
        return f"has axes of {unknown[0]!r}, but its streams are {', '.join(_streams(params))}"
    used = {axis for port in _streams(params) for axis in axes_of(params, port)}
    if used != {*range(len(shape))}:
        return f"has a result of {len(shape)} axes, and operands with {sorted(used)}; give each to an operand"
    if prod(shape) > MOST_WORDS:
        return f"computes {prod(shape):,} elements at once; give smaller blocks, of {MOST_WORDS:,} at most"
    return None


def axes_of(params: Params, port: str) -> list[int]:
    """The axes of an operand, by their numbers among those of the result; all of them unless it says so."""
    return list(params.get("axes", {}).get(port, range(len(params.get("shape", ())))))


def block_of(params: Params, port: str) -> tuple[int, ...]:
    """The shape of the blocks of an operand."""
    shape = params.get("shape", ())
    return tuple(shape[axis] for axis in axes_of(params, port))
