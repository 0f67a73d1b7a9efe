"""The processes of each primitive: the functions of the library that do its actors' work, and their streams.

A primitive has the actors and internal channels of docs/primitives.md, with their depths, so that no design
lacks room that the graph's simulation has. Only the vector reducers differ: see `_vector`.
"""

from collections.abc import Callable

from samhw.graph import Node
from samhw.hls.cpp import INDEX, payload_class, value_class
from samhw.hls.factors import Elementwise, Factors, FoldedParts
from samhw.hls.off_chip import (
    counts_of,
    ends_of,
    places_and_words,
    read_words,
    stored_coordinates,
    write_words,
)
from samhw.hls.program import HlsStream
from samhw.hls.region_builder import RegionBuilder
from samhw.numerics import start_word

__all__ = ["LOWERINGS", "alu_operator"]


def _root(to: RegionBuilder, node: Node) -> None:
    out = to.output(node, "out")
    to.process("root", out, reads=(), writes=(out,))
    to.spread(node, {"out": out})


def _step_ref(to: RegionBuilder, node: Node) -> None:
    ref, (counter,) = to.output(node, "ref"), to.steps_of(node)
    extents = {name: to.extents[index] for name, index in node.extents.items()}
    down, limit = extents.get("down"), extents.get("extent", "1")
    present = counter if down is None else f"ap_int<40>({down}) - 1 - {counter}"
    offset = str(node.params["offset"])
    to.process("step_ref", ref, present, limit, reads=(), writes=(ref,), template=(offset,))
    to.spread(node, {"ref": ref})


def _scan_dense(to: RegionBuilder, node: Node) -> None:
    ref, extents = to.input(node, "ref"), to.extents_of(node)
    base = to.internal(node, "base", INDEX, to.arch.internal_depth(to.arch.locate))
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process("scan_dense_scale", ref, base, *extents, reads=(ref,), writes=(base,))
    to.process("scan_dense_walk", base, crd, out, *extents, reads=(base,), writes=(crd, out))
    to.spread(node, {"crd": crd, "ref": out})


def _scan_compressed(to: RegionBuilder, node: Node) -> None:
    _stored_walk(to, node, *_fetched_ends(to, node))


def _scan_ell(to: RegionBuilder, node: Node) -> None:
    ref, cnt = to.input(node, "ref"), to.memory(node, "cnt")
    if cnt.off_chip:
        _stored_walk(to, node, *counts_of(to, node, cnt))
        return
    depth = to.arch.internal_depth(to.arch.memory + to.arch.step)
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_ell_fetch",
        *(ref, start, last, cnt),
        reads=(ref,),
        writes=(start, last),
        template=(to.number(node), str(node.params["width"]), cnt.words),
    )
    _stored_walk(to, node, start, last)


def _scan_ragged(to: RegionBuilder, node: Node) -> None:
    start, last = _fetched_ends(to, node)
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_ragged_walk",
        *(start, last, crd, out),
        *to.extents_of(node),
        reads=(start, last),
        writes=(crd, out),
        template=(to.number(node),),
    )
    to.spread(node, {"crd": crd, "ref": out})


def _fetched_ends(to: RegionBuilder, node: Node) -> tuple[HlsStream, HlsStream]:
    """Where each fiber starts, and the number of its last coordinate, by `pos`."""
    ref, pos = to.input(node, "ref"), to.memory(node, "pos")
    if pos.off_chip:
        return ends_of(to, node, pos)
    depth = to.arch.internal_depth(to.arch.memory)
    start, last = to.internal(node, "start", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_compressed_fetch",
        *(ref, start, last, pos),
        reads=(ref,),
        writes=(start, last),
        template=(to.number(node), pos.words),
    )
    return start, last


def _stored_walk(to: RegionBuilder, node: Node, start: HlsStream, last: HlsStream) -> None:
    """The stored coordinates from the start of each fiber to its last one."""
    coordinates = to.memory(node, "crd")
    if coordinates.off_chip:
        refs = to.internal(node, "refs", INDEX, to.arch.internal_depth(to.arch.step))
        reads, template = (start, last), (to.number(node),)
        to.process("scan_stored_refs", *reads, refs, reads=reads, writes=(refs,), template=template)
        stored_coordinates(to, node, refs, coordinates)
        return
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_compressed_walk",
        *(start, last, crd, out, coordinates),
        *to.extents_of(node),
        reads=(start, last),
        writes=(crd, out),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"crd": crd, "ref": out})


def _scan_dia(to: RegionBuilder, node: Node) -> None:
    ref, cnt, off = to.input(node, "ref"), to.memory(node, "cnt"), to.memory(node, "off")
    depth, later = to.arch.internal_depth(to.arch.memory), to.arch.memory + to.arch.step
    row, last = to.internal(node, "row", INDEX, depth), to.internal(node, "last", INDEX, depth)
    to.process(
        "scan_dia_fetch",
        *(ref, row, last, cnt),
        reads=(ref,),
        writes=(row, last),
        template=(cnt.words,),
    )
    depth = to.arch.internal_depth(later)
    at, place = to.internal(node, "at", INDEX, depth), to.internal(node, "place", INDEX, depth)
    rows, extent = to.extents_of(node)
    to.process(
        "scan_dia_walk",
        *(row, last, at, place, off, rows),
        reads=(row, last),
        writes=(at, place),
        template=(to.number(node), off.words),
    )
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_dia_keep",
        *(at, place, crd, out, extent),
        reads=(at, place),
        writes=(crd, out),
        template=(to.number(node),),
    )
    to.spread(node, {"crd": crd, "ref": out})


def _scan_singleton(to: RegionBuilder, node: Node) -> None:
    ref = to.input(node, "ref")
    coordinates = to.memory(node, "crd")
    if coordinates.off_chip:
        refs = to.internal(node, "refs", INDEX, to.arch.internal_depth(to.arch.step))
        to.process("scan_singleton_refs", ref, refs, reads=(ref,), writes=(refs,))
        stored_coordinates(to, node, refs, coordinates)
        return
    crd, out = to.output(node, "crd"), to.output(node, "ref")
    to.process(
        "scan_singleton",
        ref,
        crd,
        out,
        coordinates,
        *to.extents_of(node),
        reads=(ref,),
        writes=(crd, out),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"crd": crd, "ref": out})


def _pick(to: RegionBuilder, node: Node) -> None:
    inputs, coordinates = (to.input(node, "at"), to.input(node, "ref")), to.memory(node, "crd")
    if coordinates.off_chip:
        depth = to.arch.internal_depth(to.arch.memory)
        crd = read_words(
            *(to, node, inputs[0], coordinates, lambda: to.internal(node, "found", INDEX, depth)),
            places=coordinates.words,
        )
        out = to.output(node, "ref")
        to.process(
            "pick_found",
            crd,
            inputs[1],
            out,
            *to.extents_of(node),
            reads=(crd, inputs[1]),
            writes=(out,),
            template=(to.number(node),),
        )
        to.spread(node, {"ref": out})
        return
    out = to.output(node, "ref")
    to.process(
        "pick",
        *(*inputs, out, coordinates),
        *to.extents_of(node),
        reads=inputs,
        writes=(out,),
        template=(to.number(node), coordinates.words),
    )
    to.spread(node, {"ref": out})


def _plain(
    function: str, *template: Callable[[RegionBuilder, Node], str]
) -> Callable[[RegionBuilder, Node], None]:
    """A primitive of one process, which gets the inputs, the outputs, and the extents that it needs. Of
    template arguments it gets its number and those that are worked out by `template`."""

    def lower(to: RegionBuilder, node: Node) -> None:
        inputs = tuple(to.input(node, port.name) for port in node.inputs)
        outputs = {port.name: to.output(node, port.name) for port in node.outputs}
        writes = tuple(outputs.values())
        to.process(
            function,
            *inputs,
            *writes,
            *to.extents_of(node),
            reads=inputs,
            writes=writes,
            template=(to.number(node), *(argument(to, node) for argument in template)),
        )
        to.spread(node, outputs)

    return lower


def _array(to: RegionBuilder, node: Node) -> None:
    ref, vals = to.input(node, "ref"), to.memory(node, "vals")
    if vals.off_chip:
        n = to.graph.given(node, "val").words
        places = f"{vals.words} / {n}" if n > 1 else vals.words
        val = read_words(
            *(to, node, ref, vals, lambda: to.output(node, "val")),
            places=places,
            stride=n,
            words=n,
            missing_is_zero=True,
        )
        to.spread(node, {"val": val})
        return
    val = to.output(node, "val")
    to.process("array", ref, val, vals, reads=(ref,), writes=(val,), template=(to.number(node), vals.words))
    to.spread(node, {"val": val})


def alu_operator(to: RegionBuilder, node: Node) -> str:
    """The functor of an ALU, with its immediates as words."""
    functor, given = _element_operator(to, node), to.graph.given(node, "val")
    if given.words == 1:
        return functor
    return f"samhw::blockwise<samhw::{Elementwise.of(node).name}, {functor}, {payload_class(given)}>"


def _element_operator(to: RegionBuilder, node: Node) -> str:
    """The functor of an ALU on single values."""
    op, operand, result = node.params["op"], to.graph.operand_type(node), to.graph.result_type(node)
    immediates = node.params.get("immediates", {})
    if op == "convert":
        return f"samhw::convert_to<{value_class(result)}>"
    if op == "scale":
        return f"samhw::scale_to<{value_class(result)}, {immediates['b']}, {immediates['c']}>"
    words = [operand.constant(number) for _, number in sorted(immediates.items())]
    functor = "_".join([op, *sorted(immediates)])
    if words:
        functor += f"<{', '.join(f'{word:#x}' for word in words)}>"
    if result != operand:
        return f"samhw::widened<{value_class(result)}, samhw::{functor}>"
    return f"samhw::{functor}"


def _axes(to: RegionBuilder, node: Node) -> str:
    """The class that says which factors the products of a matmul have."""
    return f"samhw::{Factors.of(node).name}"


def _parts(to: RegionBuilder, node: Node) -> str:
    """The class that says which parts of a block the results of a fold are made of."""
    return f"samhw::{FoldedParts.of(node).name}"


def _reduce_scalar(to: RegionBuilder, node: Node) -> None:
    value = to.graph.operand_type(node)
    op, number, type = node.params["op"], to.number(node), payload_class(to.graph.taken(node, "val"))
    latency, functor = to.arch.reduce_latency(op, value), f"samhw::{op}"
    val = to.input(node, "val")

    def pair(suffix: str, depth: int) -> tuple[HlsStream, HlsStream]:
        return to.internal(node, f"sum{suffix}", type, depth), to.internal(
            node, f"stop{suffix}", INDEX, depth
        )

    if value.block(op) > 1:
        here = pair("0", to.arch.internal_depth(to.arch.step))
        to.process("reduce_scalar_mark", val, *here, reads=(val,), writes=here)
        for stage in range(4):
            depth = 2 * latency + 2 if stage == 2 else to.arch.internal_depth(latency)
            behind = pair(str(stage + 1) if stage < 3 else "", depth)
            if stage < 3:
                to.process(
                    "reduce_scalar_pair",
                    *here,
                    *behind,
                    reads=here,
                    writes=behind,
                    template=(number, functor),
                )
            else:
                template = (number, functor, str(latency))
                to.process(
                    "reduce_scalar_chain", *here, *behind, reads=here, writes=behind, template=template
                )
            here = behind
    else:
        here = pair("", to.arch.internal_depth(to.arch.step))
        to.process(
            "reduce_scalar_accumulate",
            *(val, *here),
            reads=(val,),
            writes=here,
            template=(number, functor),
        )
    out = to.output(node, "val")
    to.process("reduce_scalar_emit", *here, out, reads=here, writes=(out,))
    to.spread(node, {"val": out})


def _running(to: RegionBuilder, node: Node) -> None:
    value = to.graph.operand_type(node)
    op, number, type = node.params["op"], to.number(node), value_class(value)
    latency, functor = to.arch.reduce_latency(op, value), f"samhw::{op}"
    val = to.input(node, "val")
    exclusive, blocked = node.params.get("exclusive", False), value.block(op) > 1

    def internal(name: str, depth: int) -> HlsStream:
        return to.internal(node, name, type, depth)

    def result(latency: int) -> HlsStream:
        """What the inclusive values go into. Streams are declared in the order of their writers."""
        return internal("all", to.arch.internal_depth(latency)) if exclusive else to.output(node, "val")

    if blocked:
        near, waiting = to.arch.internal_depth(latency), 2 * latency + 2
        first, second, third = internal("val1", near), internal("val2", near), internal("val3", waiting)
        total, carry = internal("total", waiting), internal("carry", near)
        rounds = [("", val, (first,)), ("", first, (second,)), ("_last", second, (third, total))]
        for k, (suffix, here, there) in enumerate(rounds):
            template = (number, functor, str(k))
            to.process(
                f"running_spread{suffix}", here, *there, reads=(here,), writes=there, template=template
            )
        template = (number, functor, str(latency))
        to.process("running_chain", total, carry, reads=(total,), writes=(carry,), template=template)
        out, reads, made = result(latency), (third, carry), (number, functor)
        to.process("running_add", *reads, out, reads=reads, writes=(out,), template=made)
    else:
        out, made = result(to.arch.step + 1), (number, functor)
        to.process("running_accumulate", val, out, reads=(val,), writes=(out,), template=made)
    if exclusive:
        everything, out, made = out, to.output(node, "val"), (type, f"{start_word(value, op):#x}")
        to.process("running_delay", everything, out, reads=(everything,), writes=(out,), template=made)
    to.spread(node, {"val": out})


def _recur(to: RegionBuilder, node: Node) -> None:
    value = to.graph.operand_type(node)
    number, type = to.number(node), value_class(value)
    latency = to.arch.reduce_latency("recur", value)
    near, waiting = to.arch.internal_depth(latency), 2 * latency + 2

    def pair(names: tuple[str, str], depth: int) -> tuple[HlsStream, HlsStream]:
        factor, val = (to.internal(node, name, type, depth) for name in names)
        return factor, val

    here = to.input(node, "factor"), to.input(node, "val")
    for k in range(3):
        there = pair((f"factor{k + 1}", f"val{k + 1}"), near)
        to.process("recur_spread", *here, *there, reads=here, writes=there, template=(number, str(k)))
        here = there
    there, blocks = pair(("factor4", "val4"), waiting), pair(("factors", "values"), waiting)
    writes = (*there, *blocks)
    to.process("recur_spread_last", *here, *writes, reads=here, writes=writes, template=(number, "3"))
    carry, out = to.internal(node, "carry", type, near), to.output(node, "val")
    template = (number, str(latency))
    to.process("recur_chain", *blocks, carry, reads=blocks, writes=(carry,), template=template)
    reads = (*there, carry)
    to.process("recur_add", *reads, out, reads=reads, writes=(out,), template=(number,))
    to.spread(node, {"val": out})


def _reduce_vector(to: RegionBuilder, node: Node) -> None:
    op = node.params["op"]
    _vector(to, node, "reduce_vector_accumulate", op, f"samhw::{op}")


def _recur_vector(to: RegionBuilder, node: Node) -> None:
    _vector(to, node, "recur_vector_accumulate", "recur")


def _vector(to: RegionBuilder, node: Node, function: str, op: str, *functor: str) -> None:
    """The further banks of docs/primitives.md are a stream that holds a whole fiber for each of them, and
    with it the room of all internal channels that the rule has between the banks and the end."""
    arch, value = to.arch, to.graph.operand_type(node)
    bits = node.params["bits"]
    address_bits = sum(bits)
    bitmaps = max(1, -(-address_bits // 5))
    spacing = arch.reduce_latency(op, value)
    room = arch.internal_depth(spacing + 1)
    room += bitmaps * (arch.internal_depth(arch.memory) + arch.internal_depth(arch.step))
    waiting = node.params.get("banks", 2) - 1
    # Fibers, and the stops between them.
    depth = waiting * (1 << address_bits) + waiting - 1 + room
    addr = to.internal(node, "addr", INDEX, depth)
    sums = to.internal(node, "sum", payload_class(to.graph.given(node, "val")), depth)
    inputs = tuple(to.input(node, port.name) for port in node.inputs)
    outputs = {port.name: to.output(node, port.name) for port in node.outputs}
    writes = tuple(outputs.values())
    widths = tuple(map(str, bits))
    to.process(
        function,
        *(*inputs, addr, sums),
        reads=inputs,
        writes=(addr, sums),
        template=(to.number(node), *functor, str(spacing), *widths),
    )
    to.process("reduce_vector_emit", addr, sums, *writes, reads=(addr, sums), writes=writes, template=widths)
    to.spread(node, outputs)


def _write_compressed(to: RegionBuilder, node: Node) -> None:
    crd, pos, coordinates = to.input(node, "crd"), to.memory(node, "pos"), to.memory(node, "crd")
    scalars = (to.count(pos), to.count(coordinates), to.error(node))
    template = (to.number(node), pos.words, coordinates.words)
    if not pos.off_chip:
        to.process("write_compressed", crd, pos, coordinates, *scalars, reads=(crd,), template=template)
        return
    positions, words = places_and_words(to, node, pos), places_and_words(to, node, coordinates)
    to.process(
        "write_compressed_places",
        *(crd, *positions, *words, *scalars),
        reads=(crd,),
        writes=(*positions, *words),
        template=template,
    )
    write_words(to, node, *positions, pos)
    write_words(to, node, *words, coordinates)


def _write_dense(to: RegionBuilder, node: Node) -> None:
    crd = to.input(node, "crd")
    to.process(
        "write_dense",
        crd,
        *to.extents_of(node),
        to.error(node),
        reads=(crd,),
        template=(to.number(node),),
    )


def _write_val(to: RegionBuilder, node: Node) -> None:
    _written_values(to, node, "write_val", to.input(node, "val"))


def _write_at(to: RegionBuilder, node: Node) -> None:
    _written_values(to, node, "write_at", to.input(node, "ref"), to.input(node, "val"))


def _written_values(to: RegionBuilder, node: Node, function: str, *reads: HlsStream) -> None:
    vals = to.memory(node, "vals")
    scalars, template = (to.count(vals), to.error(node)), (to.number(node), vals.words)
    if not vals.off_chip:
        to.process(function, *reads, vals, *scalars, reads=reads, template=template)
        return
    places = places_and_words(to, node, vals, payload_class(to.graph.taken(node, "val")))
    to.process(f"{function}_places", *reads, *places, *scalars, reads=reads, writes=places, template=template)
    write_words(to, node, *places, vals)


LOWERINGS: dict[str, Callable[[RegionBuilder, Node], None]] = {
    "root": _root,
    "step_ref": _step_ref,
    "scan_dense": _scan_dense,
    "scan_compressed": _scan_compressed,
    "scan_singleton": _scan_singleton,
    "scan_ell": _scan_ell,
    "scan_ragged": _scan_ragged,
    "scan_dia": _scan_dia,
    "repeat": _plain("repeat"),
    "crd_hold": _plain("crd_hold"),
    "locate": _plain("locate"),
    "pick": _pick,
    "shift": _plain("shift"),
    "scatter": _plain("scatter"),
    "gather": _plain("gather", lambda to, node: str(node.params["levels"])),
    "intersect": _plain("intersect"),
    "union": _plain("unite"),
    "array": _array,
    "alu": _plain("alu", alu_operator),
    "matmul": _plain("matmul", _axes),
    "fold": _plain("fold", _parts, lambda to, node: f"samhw::{node.params['op']}"),
    "reduce_scalar": _reduce_scalar,
    "running": _running,
    "recur": _recur,
    "last": _plain("last"),
    "arg": _plain("arg", lambda to, node: str(node.params["op"] == "max").lower()),
    "top_k": _plain(
        "top_k",
        lambda to, node: str(node.params["op"] == "max").lower(),
        lambda to, node: str(node.params["gives"] == "places").lower(),
        lambda to, node: str(node.params["k"]),
    ),
    "reduce_vector": _reduce_vector,
    "recur_vector": _recur_vector,
    "drop_crd": _plain("drop_crd"),
    "drop_val": _plain("drop_val"),
    "write_compressed": _write_compressed,
    "write_dense": _write_dense,
    "write_val": _write_val,
    "write_at": _write_at,
}
"""By kind of primitive."""
