"""Draws a case for a pair of features: a seed gives the same one again."""

import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tests.seams import formats, operands, scans
from tests.seams.case import Case
from tests.seams.draft import Draft
from tests.seams.features import FACES, FEATURES, MASKS, PLACES, VALUES
from tests.seams.moves import MOVES, apart, saturated
from tests.seams.schedules import FIELDS

__all__ = ["PAIRS", "draw", "pair_of"]

PAIRS = tuple(
    (a, b)
    for a, b in combinations((name for name in FEATURES if name != "pytorch"), 2)
    if not (a in VALUES and b in VALUES and {a, b} != {"fixed", "saturation"})
)
"""All pairs that one case can have: a program has one value type."""

TYPES = {
    "i8": ["i8"],
    "i16": ["i16"],
    "i32": ["i32"],
    "fixed": ["fixed<16,4>", "fixed<24,8>", "fixed<12,4>"],
    "saturation": ["fixed<12,4>", "fixed<8,7>"],
    "fp8": ["f8e4m3", "f8e5m2"],
    "bf16": ["bf16"],
    "f32": ["f32"],
}


COMMON = [name for name in FEATURES if name not in ("pytorch", "size 0", "bcsr")]
"""Features that a case may have besides its pair. A size of 0 is always refused, and blocks of one tensor
bind all that it meets."""

SELDOM = (
    "computed mask",
    "fixed place",
    "linear scan",
    "queues",
    "blocks",
    "partial sums",
    "kinds",
    "no fusion",
)
"""Features that a case often loses again, so that they are wished for more often."""


def pair_of(seed: int) -> tuple[str, str]:
    """The pair whose turn it is."""
    return PAIRS[seed * 7919 % len(PAIRS)]


def draw(seed: int, pair: Sequence[str] | None = None) -> Case:
    """A case that has, as far as it can, both features of a pair, by default the pair of the seed's turn, and
    some others."""
    source = random.Random(seed)
    pair = pair_of(seed) if pair is None else pair
    others = source.sample(COMMON, source.choice([0, 1, 2, 2, 3, 4]))
    others += source.sample(SELDOM, 1)
    wanted = list(dict.fromkeys([*pair, *(other for other in others if other not in VALUES)]))
    draft = Draft.begin(source, _value(source, wanted), _sizes(source, wanted))
    for name in wanted:
        if name in FACES:
            draft.faces.add(name)
    _add_statements(draft, wanted)
    for name in wanted:
        if name in FIELDS:
            FIELDS[name](draft)
    if "permission to copy" in wanted or source.random() < 0.85:
        draft.schedule["permute"] = True
    if len(draft.nests) > 1 and "fuse" not in draft.schedule and source.random() < 0.4:
        draft.schedule["fuse"] = "full"
    return _finished(draft, tuple(wanted))


def _value(source: random.Random, wanted: Sequence[str]) -> str:
    for name in wanted:
        if name in VALUES:
            if {"fixed", "saturation"} <= set(wanted):
                name = "saturation"
            return source.choice(TYPES[name])
    if "cascade" in wanted or "cascade form" in wanted:
        return source.choice(["f32", "f32", "bf16", "i32"])
    return source.choice(
        ["i32", "i32", "i32", "f32", "f32", "fixed<24,8>", "i16", "bf16", "i8", "f8e4m3", "i8", "f8e5m2"]
    )


def _sizes(source: random.Random, wanted: Sequence[str]) -> tuple[int, ...]:
    """Of i, j, k and l; often some are equal, so that a tensor fits in several ways."""
    square = source.randint(2, 4)
    sizes = [square if source.random() < 0.6 else source.randint(1 if i else 2, 5) for i in range(4)]
    if "size 1" in wanted:
        sizes[source.randrange(4)] = 1
        sizes[source.randrange(4)] = 1
    return tuple(sizes)


def _add_statements(draft: Draft, wanted: Sequence[str]) -> None:
    """Statements for what is wanted, in any order; what only a place in a statement can have is wished for
    before the first one."""
    wishes = [*formats.WISHES, *scans.WISHES, *operands.INDEX_WISHES, *MASKS, *PLACES, "order", "empty"]
    draft.wishes = [name for name in wanted if name in wishes]
    moves = [name for name in wanted if name in MOVES and name not in PLACES]
    if any(name in PLACES for name in wanted):
        moves += ["scatter"] * sum(name in PLACES for name in wanted)
    if any(name in scans.WISHES for name in wanted):
        moves += ["scan"] * (1 + ({"scan up", "scan down"} <= set(wanted)))
    if "cascade form" in wanted and "cascade" not in moves:
        moves.append("cascade")
    if "brackets" in wanted and "product of three" not in moves:
        moves.append("product of three")
    if {"sharing", "share", "queues"} & set(wanted) and "sharing" not in moves:
        moves.append("sharing")
    if "function" in wanted:
        moves.append("elementwise")
    draft.random.shuffle(moves)
    if len(moves) < 2 and {"computed mask", "kinds", "no fusion", "full fusion", "fuse auto"} & set(wanted):
        moves.append(draft.random.choice(["elementwise", "contraction", "terms", "extreme"]))
    if not moves or draft.chance(0.4):
        moves.append(draft.random.choice(["elementwise", "contraction", "row sums", "terms", "contraction"]))
    for name in moves:
        scans.scan(draft) if name == "scan" else MOVES[name](draft)
    for _ in range(2):
        if draft.wishes:
            draft.random.choice([MOVES["contraction"], MOVES["elementwise"], MOVES["terms"]])(draft)


def _finished(draft: Draft, wanted: tuple[str, ...]) -> Case:
    if "size 0" in wanted:
        _empty_an_index(draft)
    if "bcsr" in wanted:
        formats.in_blocks(draft) if draft.chance(0.5) else apart(draft, "bcsr(2)", "bdense(2)", "bdense(2)")
    if "saturation" in wanted:
        saturated(draft)
    text = draft.text(with_extents=draft.chance(0.6))
    if draft.chance(0.15):
        text = f"value {draft.value}\n{text}"
    data, other = {}, {}
    for tensor in draft.tensors.values():
        if tensor.data is not None:
            kind = np.int64 if tensor.places or draft.value[0] == "i" else np.float64
            data[tensor.name] = np.asarray(tensor.data).astype(kind)
            other[tensor.name] = np.asarray(tensor.other).astype(kind)
    placing = draft.random.randrange(1 << 16)
    case = Case(text, data, other, draft.schedule, draft.value, frozenset(draft.faces), placing, wanted)
    return case.with_text(text)


def _empty_an_index(draft: Draft) -> None:
    """Gives an index, and all data along it, no coordinate at all."""
    named = [mode for tensor in draft.tensors.values() if tensor.data is not None for mode in tensor.modes]
    index = draft.random.choice(named or ["i"])
    draft.sizes[index] = 0
    for tensor in draft.tensors.values():
        if tensor.data is not None and index in tensor.modes:
            tensor.data = tensor.other = np.zeros(draft.shape(tensor.modes))
