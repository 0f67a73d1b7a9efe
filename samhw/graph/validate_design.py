"""Checks that the regions of a design fit together before anything is built from it."""

from collections import Counter

from samhw.errors import InputError
from samhw.graph.banks import banks_of, unbanked
from samhw.graph.design import Design
from samhw.graph.fabrics import are_alike
from samhw.graph.ir import Graph, MemoryRole
from samhw.graph.sequence import Parallel, Repeat, Run, Steps, walk
from samhw.graph.shared_nodes import wrong_nodes
from samhw.graph.validate import check_unique, validate

__all__ = ["validate_design"]


def validate_design(design: Design) -> None:
    """Raises `InputError` for the first thing that is wrong with a design or with one of its regions."""
    check_unique("region", (graph.name for graph in design.regions))
    check_unique("memory", (memory.name for memory in design.memories))
    check_unique("tensor", (tensor.name for tensor in design.tensors))
    check_unique("repeat", (step.index for step in walk(design.sequence) if isinstance(step, Repeat)))
    for graph in design.regions:
        validate(graph)
        _check_shared(design, graph)
    _check_views(design)
    _check_fixed(design)
    _check_sequence(design)
    _check_fabrics(design)
    _check_nodes(design)
    _check_repeats(design)
    _check_banks(design)
    _check_flow(design, design.sequence, {})


def _check_shared(design: Design, graph: Graph) -> None:
    """What a region uses is the design's."""
    if graph.value != design.value:
        raise InputError(
            f"Region {graph.name} computes on {graph.value}, and {design.name} on {design.value}; give them "
            "one type."
        )
    for memory in graph.memories:
        shared = design.memory.get(memory.name)
        if shared is None or (shared.capacity, shared.banks) != (memory.capacity, memory.banks):
            raise InputError(
                f"Memory {memory.name!r} of region {graph.name} is not that of {design.name}; make a design "
                "with Design.assemble."
            )
    for index, extent in graph.extents.items():
        if design.extents.get(index) != extent:
            raise InputError(
                f"Extent {index!r} of region {graph.name} is not that of {design.name}; make a design with "
                "Design.assemble."
            )


def _check_fixed(design: Design) -> None:
    """Fixed are extents that the data do not change."""
    for index in sorted({*design.fixed} - {*design.with_fixed_extents.fixed}):
        raise InputError(
            f"The extent of {index!r} is fixed, but {design.name} has none that could be; take "
            "Design.with_fixed_extents."
        )


def _check_views(design: Design) -> None:
    """An alias lies in the memories of another tensor, and of one that has memories."""
    stored = {tensor.name for tensor in design.tensors if not tensor.alias_of}
    for tensor in design.tensors:
        if tensor.stored not in stored:
            raise InputError(
                f"Tensor {tensor.name!r} of {design.name} is an alias of {tensor.alias_of!r}, which is not "
                "stored; name a tensor that is."
            )


def _check_sequence(design: Design) -> None:
    """Each region has one place, and no step is empty."""
    times = Counter[int]()
    for step in walk(design.sequence):
        match step:
            case Run(region):
                times[region] += 1
            case Repeat(_, extent, body):
                if not body:
                    raise InputError(f"The sequence of {design.name} repeats nothing; give '{step}' a body.")
                if extent not in design.extents:
                    raise InputError(
                        f"The sequence of {design.name} repeats a body {extent!r} times, an extent that it "
                        "lacks; add it."
                    )
            case Parallel(bodies):
                if not all(bodies) or len(bodies) < 2:
                    raise InputError(
                        f"The sequence of {design.name} has '{step}'; give it two bodies or more, and none "
                        "that is empty."
                    )
    for number in range(len(design.regions)):
        if times[number] != 1:
            raise InputError(
                f"The sequence of {design.name} has region {number} {times[number]} times; give each region "
                "one place."
            )
    if unknown := sorted(times.keys() - set(range(len(design.regions)))):
        raise InputError(f"The sequence of {design.name} runs region {unknown[0]}, which it lacks; add it.")


def _check_fabrics(design: Design) -> None:
    """Regions that share a fabric are alike, place by place; none is on two."""
    times = Counter(number for group in design.fabrics for number in group)
    for number, count in times.items():
        if count > 1 or not 0 <= number < len(design.regions):
            raise InputError(f"The fabrics of {design.name} have region {number} wrong; give each one place.")
    for group in design.fabrics:
        graphs = [design.regions[number] for number in group]
        if len(group) < 2 or sorted(group) != [*group] or not are_alike(graphs):
            raise InputError(
                f"The regions {', '.join(graph.name for graph in graphs)} of {design.name} cannot share a "
                "fabric as they are; leave them apart, or let samhw.compile find what may share one."
            )
        if not design.beside_any(group).isdisjoint(group):
            raise InputError(
                f"The regions {', '.join(graph.name for graph in graphs)} of {design.name} share a fabric, "
                "and some of them run side by side; leave them apart, or run them one after another."
            )


def _check_nodes(design: Design) -> None:
    """Nodes that are one in hardware are alike, and the channels before them as deep."""
    if why := wrong_nodes(design):
        raise InputError(
            f"The nodes that {design.name} has in common are wrong: {why}; let them be none, or let "
            "samhw.compile find what may be one."
        )


def _check_banks(design: Design) -> None:
    """What lies in banks may, and these give each port a word in a cycle."""
    for memory in design.memories:
        if not memory.banks:
            continue
        if why := unbanked(design, memory.name):
            raise InputError(
                f"Memory {memory.name!r} of {design.name} cannot lie in banks: {why}; give it banks 0."
            )
        if (least := banks_of(design, memory.name)) > memory.banks or memory.banks & memory.banks - 1:
            raise InputError(
                f"Memory {memory.name!r} of {design.name} lies in {memory.banks} banks; give it a power of "
                f"two, at least {least}."
            )


def _check_flow(
    design: Design,
    steps: Steps,
    written: dict[str, str],
    ready: frozenset[str] = frozenset(),
    repeated: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """Each memory has one region that writes it, or the host, and is written before it is read. Bodies that
    run in parallel find nothing that another one of them writes.

    Args:
        written: the memories that have been met as written, each with the region that does; this adds to it.
        ready: the memories that are written before these steps. The result has those that are written
            then.
        repeated: the memories that a repeat around these steps writes.
    """
    for step in steps:
        match step:
            case Run(region):
                graph = design.regions[region]
                _check_memories(design, graph, written, ready, repeated)
                ready |= {memory.name for memory in graph.memories if memory.role is MemoryRole.OUTPUT}
            case Repeat(_, _, body):
                # What the body writes, its regions may read at later steps.
                ready = _check_flow(design, body, written, ready, repeated | _written(design, body))
            case Parallel(bodies):
                own = [_written(design, body) for body in bodies]
                after = ready
                for place, body in enumerate(bodies):
                    others = frozenset[str]().union(*own[:place], *own[place + 1 :])
                    after |= _check_flow(design, body, written, ready, repeated - others)
                ready = after
    return ready


def _written(design: Design, steps: Steps) -> frozenset[str]:
    """The memories that the regions of some steps write."""
    regions = [design.regions[step.region] for step in walk(steps) if isinstance(step, Run)]
    return frozenset(m.name for graph in regions for m in graph.memories if m.role is MemoryRole.OUTPUT)


def _check_repeats(design: Design) -> None:
    """Nodes know the steps of repeats that are around their regions, and of no others."""
    around = _repeats_around(design.sequence)
    for number, graph in enumerate(design.regions):
        for node in graph.nodes:
            for repeat in node.repeats.values():
                if repeat not in around[number]:
                    raise InputError(
                        f"Node {node.name!r} of region {graph.name} needs the step of the repeat {repeat!r}, "
                        "which is not around the region; repeat it."
                    )


def _repeats_around(steps: Steps, around: frozenset[str] = frozenset()) -> dict[int, frozenset[str]]:
    """The repeats around each region of a sequence."""
    found: dict[int, frozenset[str]] = {}
    for step in steps:
        match step:
            case Run(region):
                found[region] = around
            case Repeat(index, _, body):
                found |= _repeats_around(body, around | {index})
            case Parallel(bodies):
                for body in bodies:
                    found |= _repeats_around(body, around)
    return found


def _check_memories(
    design: Design,
    graph: Graph,
    written: dict[str, str],
    ready: frozenset[str],
    repeated: frozenset[str],
) -> None:
    """What `_check_flow` asks of one region. Of what a repeat writes, its regions may read earlier steps."""
    stepped = {tensor.stored for tensor in graph.tensors if tensor.is_step}
    reads = {
        name
        for node in graph.nodes
        for param, name in node.memories.items()
        if not node.spec.memories[param].written
    }
    for memory in graph.memories:
        role = design.memory[memory.name].role
        if memory.role is MemoryRole.OUTPUT:
            if role is MemoryRole.INPUT:
                raise InputError(
                    f"Region {graph.name} writes memory {memory.name!r}, which is an input; make it an "
                    "output or a buffer."
                )
            if (other := written.setdefault(memory.name, graph.name)) != graph.name:
                raise InputError(
                    f"The regions {other} and {graph.name} both write memory {memory.name!r}; give each "
                    "its own."
                )
            if memory.name in reads and not (memory.name in repeated and memory.tensor in stepped):
                raise InputError(
                    f"Region {graph.name} reads memory {memory.name!r}, which it writes, and nothing repeats "
                    "it; repeat it, or read what another region writes."
                )
        elif memory.name in repeated and memory.tensor in stepped:
            continue
        elif role is MemoryRole.OUTPUT:
            raise InputError(
                f"Region {graph.name} reads memory {memory.name!r}, which is an output; make it a buffer."
            )
        elif role is MemoryRole.BUFFER and memory.name not in ready:
            raise InputError(
                f"Region {graph.name} reads memory {memory.name!r}, which no earlier region writes; "
                "order the regions otherwise."
            )
