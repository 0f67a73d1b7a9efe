"""What the streams of every primitive say, whatever the gaps between tokens and the depths of channels.

The expected streams come from nested lists, not from the firing tables.
"""

from collections.abc import Mapping
from random import Random

import pytest

from samhw.graph import Token, check_stream
from samhw.graph.numerics import value_type
from samhw.primitives.arg.component import Arg
from samhw.primitives.crd_hold.component import CrdHold
from samhw.primitives.drop_crd.component import DropCrd
from samhw.primitives.drop_val.component import DropVal
from samhw.primitives.gather.component import Gather
from samhw.primitives.intersect.component import Intersect
from samhw.primitives.locate.component import Locate
from samhw.primitives.pick.component import Pick
from samhw.primitives.reduce_scalar.component import ReduceScalar
from samhw.primitives.repeat.component import Repeater
from samhw.primitives.scan_compressed.component import ScanCompressed
from samhw.primitives.scan_dense.component import ScanDense
from samhw.primitives.scan_singleton.component import ScanSingleton
from samhw.primitives.scatter.component import Scatter
from samhw.primitives.shift.component import Shift
from samhw.primitives.top_k.component import TopK
from samhw.primitives.union.component import Union
from samhw.rtl.actor import Primitive
from tests.rtl.bench import ARCH, Offer, run
from tests.rtl.streams import encode, generate, transform
from tests.support.lanes import distributed

pytestmark = pytest.mark.slow

I32 = value_type("i32")
seeds = pytest.mark.parametrize("seed", range(8))


def times(random: Random, count: int) -> list[int]:
    """The earliest cycles of tokens: now and then a long gap, often none."""
    pace = random.choice([0, 0, 1, 3])
    result, time = [], 0
    for _ in range(count):
        time += random.choice([0, 0, 0, 1, pace, 2 * pace, 5 * pace])
        result.append(time)
    return result


def check(
    random: Random,
    component: Primitive,
    inputs: Mapping[str, list[Token]],
    outputs: Mapping[str, tuple[list[Token], int]],
    **options: object,
) -> None:
    """Runs twice in a row; an output is given by its tokens and its depth."""
    offers = {name: Offer(stream * 2, times(random, 2 * len(stream))) for name, stream in inputs.items()}
    result = run(
        component,
        offers,
        pops={name: times(random, 2 * len(stream)) for name, (stream, _) in outputs.items()},
        depths={name: random.choice([1, 2, 3, 8]) for name in outputs},
        cycles=5000,
        **options,
    )
    assert not result.error
    for name, (stream, depth) in outputs.items():
        check_stream(stream, depth)
        assert result.tokens(name) == stream * 2


def fiber(random: Random, length: int = 5) -> list[int]:
    """The coordinates of a fiber."""
    return sorted(random.sample(range(8), random.randint(0, length)))


@seeds
def test_scan_dense(seed):
    random = Random(seed)
    depth, extent = random.randint(0, 3), random.randint(0, 3)
    refs = generate(random, depth, lambda: random.choice([None, *range(10)]))
    check(
        random,
        ScanDense(arch=ARCH),
        {"ref": encode(refs, depth)},
        {
            "crd": (
                encode(transform(lambda r: [] if r is None else [*range(extent)], depth, refs), depth + 1),
                depth + 1,
            ),
            "ref": (
                encode(
                    transform(
                        lambda r: [] if r is None else [r * extent + c for c in range(extent)], depth, refs
                    ),
                    depth + 1,
                ),
                depth + 1,
            ),
        },
        controls={"extent": extent},
    )


@seeds
def test_scan_compressed(seed):
    random = Random(seed)
    depth = random.randint(0, 3)
    pos = [0]
    while len(pos) < 8:
        pos.append(pos[-1] + random.choice([0, 0, 1, 2, 3]))
    crd = [c for n in range(7) for c in sorted(random.sample(range(100), pos[n + 1] - pos[n]))]
    refs = generate(random, depth, lambda: random.choice([None, *range(7)]))
    positions = transform(lambda r: [] if r is None else [*range(pos[r], pos[r + 1])], depth, refs)
    coordinates = transform(lambda p: crd[p], depth + 1, positions)
    check(
        random,
        ScanCompressed(arch=ARCH, pos_capacity=8, crd_capacity=32),
        {"ref": encode(refs, depth)},
        {
            "crd": (encode(coordinates, depth + 1), depth + 1),
            "ref": (encode(positions, depth + 1), depth + 1),
        },
        controls={"extent": 100},
        memories={"mem_pos": pos, "mem_pos_next": pos, "mem_crd": crd},
    )


@seeds
def test_scan_singleton(seed):
    random = Random(seed)
    depth = random.randint(0, 3)
    crd = [random.randrange(100) for _ in range(8)]
    refs = generate(random, depth, lambda: random.choice([None, *range(8)]))
    positions = transform(lambda r: [] if r is None else [r], depth, refs)
    check(
        random,
        ScanSingleton(arch=ARCH, crd_capacity=8),
        {"ref": encode(refs, depth)},
        {
            "crd": (encode(transform(lambda p: crd[p], depth + 1, positions), depth + 1), depth + 1),
            "ref": (encode(positions, depth + 1), depth + 1),
        },
        controls={"extent": 100},
        memories={"mem_crd": crd},
    )


@seeds
@pytest.mark.parametrize("kind", ["repeat", "crd_hold", "locate"])
def test_hold(kind, seed):
    random = Random(seed)
    depth, extent = random.randint(0, 3), 8
    inner = generate(random, depth, lambda: fiber(random))
    outer = transform(
        lambda _: random.choice([None, *range(20)] if kind != "crd_hold" else range(20)), depth, inner
    )
    if kind == "locate":
        held = transform(
            lambda r, xs: [None if r is None else r * extent + x for x in xs], depth, outer, inner
        )
    else:
        held = transform(lambda h, xs: [h for _ in xs], depth, outer, inner)
    expected = (encode(held, depth + 1), depth + 1)
    match kind:
        case "repeat":
            component, ports, out = Repeater(arch=ARCH, payload_width=32), ("ref", "crd"), "ref"
        case "crd_hold":
            component, ports, out = CrdHold(arch=ARCH), ("outer", "inner"), "crd"
        case _:
            component, ports, out = Locate(arch=ARCH), ("ref", "crd"), "ref"
    inputs = {ports[0]: encode(outer, depth), ports[1]: encode(inner, depth + 1)}
    controls = {"extent": extent} if kind == "locate" else {}
    check(random, component, inputs, {out: expected}, controls=controls)


@seeds
def test_pick(seed):
    random = Random(seed)
    depth, extent = random.randint(0, 3), random.randint(1, 40)
    crd = [random.randrange(extent) for _ in range(9)]
    at = generate(random, depth, lambda: random.choice([None, *range(9)]))
    ref = transform(lambda _: random.choice([None, *range(30)]), depth, at)
    found = transform(lambda p, r: None if p is None or r is None else r * extent + crd[p], depth, at, ref)
    check(
        random,
        Pick(arch=ARCH, crd_capacity=9),
        {"at": encode(at, depth), "ref": encode(ref, depth)},
        {"ref": (encode(found, depth), depth)},
        controls={"extent": extent},
        memories={"mem_crd": crd},
    )


@seeds
def test_shift(seed):
    random = Random(seed)
    depth, extent = random.randint(1, 3), random.choice([0, 5, 2**32 - 4])
    crds = generate(random, depth - 1, lambda: fiber(random))
    moved = transform(lambda c: (c + extent) % 2**32, depth, crds)
    check(
        random,
        Shift(arch=ARCH),
        {"crd": encode(crds, depth)},
        {"crd": (encode(moved, depth), depth)},
        controls={"extent": extent},
    )


@seeds
@pytest.mark.parametrize("lanes", [2, 3])
def test_scatter(lanes, seed):
    random = Random(seed)
    depth = random.randint(1, 3)
    refs = generate(random, depth, lambda: random.choice([None, *range(100)]))
    outputs = {
        f"ref{k}": (encode(part, depth), depth) for k, part in enumerate(distributed(refs, depth, lanes))
    }
    check(random, Scatter(arch=ARCH, lanes=lanes, payload_width=32), {"ref": encode(refs, depth)}, outputs)


@seeds
@pytest.mark.parametrize("lanes", [2, 3])
@pytest.mark.parametrize("levels", [0, 1, 2])
def test_gather(levels, lanes, seed):
    random = Random(seed)
    depth = levels + random.randint(1, 2)
    refs = generate(random, depth, lambda: random.choice([None, *range(100)]))
    inputs = {
        f"ref{k}": encode(part, depth) for k, part in enumerate(distributed(refs, depth - levels, lanes))
    }
    component = Gather(arch=ARCH, lanes=lanes, levels=levels, payload_width=32)
    check(random, component, inputs, {"ref": (encode(refs, depth), depth)})


@seeds
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("kind", [Intersect, Union])
def test_joiners(kind, count, seed):
    random = Random(seed)
    depth = random.randint(1, 3)
    first = generate(random, depth - 1, lambda: fiber(random))
    crds = [first, *(transform(lambda _: fiber(random), depth - 1, first) for _ in range(count - 1))]
    payloads = [transform(lambda _: random.choice([None, *range(100)]), depth, crd) for crd in crds]

    def join(*fibers: list[int]) -> list[int]:
        combine = set.intersection if kind is Intersect else set.union
        return sorted(combine(*map(set, fibers)))

    def pick(coordinates: list[int], fiber: list[int], payloads: list[int]) -> list[int | None]:
        return [payloads[fiber.index(c)] if c in fiber else None for c in coordinates]

    joined = transform(join, depth - 1, *crds)
    picked = [transform(pick, depth - 1, joined, crd, refs) for crd, refs in zip(crds, payloads, strict=True)]
    inputs = {f"crd{i}": encode(crd, depth) for i, crd in enumerate(crds)}
    inputs |= {f"ref{i}": encode(refs, depth) for i, refs in enumerate(payloads)}
    outputs = {"crd": (encode(joined, depth), depth)}
    outputs |= {f"ref{i}": (encode(refs, depth), depth) for i, refs in enumerate(picked)}
    check(random, kind(arch=ARCH, payload_widths=[32] * count), inputs, outputs)


@seeds
def test_reduce_scalar(seed):
    random = Random(seed)
    depth = random.randint(1, 4)
    vals = generate(random, depth, lambda: random.choice([None, *range(1000)]))
    sums = transform(lambda xs: sum(x or 0 for x in xs), depth - 1, vals)
    check(
        random,
        ReduceScalar(arch=ARCH, value_type=I32, op="sum"),
        {"val": encode(vals, depth)},
        {"val": (encode(sums, depth - 1), depth - 1)},
    )


@seeds
def test_arg(seed):
    random = Random(seed)
    depth = random.randint(1, 3)
    crds = generate(random, depth - 1, lambda: fiber(random))
    vals = transform(lambda _: random.choice([None, 0, 1, 2, 2**32 - 1]), depth, crds)

    def first_greatest(crds, vals):
        values = [-1 if val == 2**32 - 1 else val or 0 for val in vals]
        return crds[values.index(max(values))] if crds else 0

    check(
        random,
        Arg(arch=ARCH, value_type=I32, op="max"),
        {"crd": encode(crds, depth), "val": encode(vals, depth)},
        {"val": (encode(transform(first_greatest, depth - 1, crds, vals), depth - 1), depth - 1)},
    )


@seeds
def test_top_k(seed):
    random = Random(seed)
    depth, k = random.randint(1, 3), random.randint(1, 5)
    crds = generate(random, depth - 1, lambda: fiber(random))
    vals = transform(lambda _: random.choice([None, 0, 1, 2, 2**32 - 1]), depth, crds)
    ranks = transform(lambda _: list(range(random.randint(0, 6))), depth - 1, crds)

    def in_order(crds, vals, ranks):
        values = [-1 if val == 2**32 - 1 else val or 0 for val in vals]
        best = [crds[n] for n in sorted(range(len(crds)), key=lambda n: -values[n])][:k]
        return [(best + 6 * [0])[rank] for rank in ranks]

    check(
        random,
        TopK(arch=ARCH, value_type=I32, op="max", gives="places", k=k),
        {"crd": encode(crds, depth), "val": encode(vals, depth), "rank": encode(ranks, depth)},
        {"val": (encode(transform(in_order, depth - 1, crds, vals, ranks), depth), depth)},
    )


@seeds
def test_drop_crd(seed):
    random = Random(seed)
    depth = random.randint(1, 3)
    outer = generate(random, depth - 1, lambda: fiber(random, 3))
    inner = transform(lambda _: random.choice([[], fiber(random, 3)]), depth, outer)
    kept = transform(
        lambda os, fibers: [o for o, f in zip(os, fibers, strict=True) if f], depth - 1, outer, inner
    )
    fibers = transform(lambda fibers: [f for f in fibers if f], depth - 1, inner)
    check(
        random,
        DropCrd(arch=ARCH),
        {"outer": encode(outer, depth), "inner": encode(inner, depth + 1)},
        {"outer": (encode(kept, depth), depth), "inner": (encode(fibers, depth + 1), depth + 1)},
    )


@seeds
def test_drop_val(seed):
    random = Random(seed)
    depth = random.randint(1, 3)
    crds = generate(random, depth - 1, lambda: fiber(random))
    vals = transform(lambda _: random.choice([None, 0, 1, 2**31]), depth, crds)
    keep = transform(lambda cs, vs: [(c, v) for c, v in zip(cs, vs, strict=True) if v], depth - 1, crds, vals)
    check(
        random,
        DropVal(arch=ARCH, value_type=I32),
        {"crd": encode(crds, depth), "val": encode(vals, depth)},
        {
            "crd": (encode(transform(lambda pair: pair[0], depth, keep), depth), depth),
            "val": (encode(transform(lambda pair: pair[1], depth, keep), depth), depth),
        },
    )
