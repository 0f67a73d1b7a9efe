"""Scans of drawn programs: blocks of statements that are computed step by step."""

from tests.seams.draft import Draft, Tensor, left
from tests.seams.operands import access, mask, operand

__all__ = ["WISHES", "scan"]

WISHES = ("scan up", "scan down", "linear scan", "several states", "start of a scan", "further back")
"""The features that a scan can have."""


def scan(draft: Draft) -> None:
    """Steps along a mode of a tensor, with a state, or two of them."""
    way = draft.take("scan up", "scan down")
    wishes = {way} if way else set()
    while (wish := draft.take(*WISHES[2:])) is not None:
        wishes.add(wish)
    base = draft.base()
    mode = draft.random.choice([0, 0, len(base.modes) - 1])
    t = base.modes[mode]
    is_down = "scan down" in wishes or ("scan up" not in wishes and draft.chance(0.3))
    back = 2 if "further back" in wishes or draft.chance(0.15) else 1
    others = [name for name in draft.some(4, 4) if name != t]
    rest = [name for name in base.modes if name != t] or others[: draft.random.randint(0, 1)]
    now = access(draft, base, rest, {mode: t if draft.chance(0.8) else f"{t} {draft.random.choice('+-')} 1"})
    state = _state(draft, t, rest, mode)
    draft.begun.add(state.name)
    before = f"{t} + {back}" if is_down else f"{t} - {back}"
    lines = _step(draft, state, now.text, rest, t, before, is_linear="linear scan" in wishes)
    if "several states" in wishes or draft.chance(0.2):
        before = f"{t} + 1" if is_down else f"{t} - 1"
        form = "{} + {}" if "linear scan" in wishes else "max({}, {})"
        lines += _second(draft, state, rest, t, before, form)
    if draft.chance(0.5) or draft.take("fuse in a scan"):
        lines = ["fuse {", *(f"  {line}" for line in lines), "}"]
    draft.begun.clear()
    block = "\n  ".join(lines)
    draft.lines.append(f"scan {t}{' down' * is_down} {{\n  {block}\n}}")
    draft.nests.append(list(rest))
    if "start of a scan" in wishes or draft.chance(0.25):
        _start(draft, state, rest, t, back)


def _state(draft: Draft, t: str, rest: list[str], mode: int) -> Tensor:
    """What keeps the steps of a scan, in dense levels."""
    modes = [*rest]
    modes.insert(min(mode, len(rest)) if draft.chance(0.5) else 0, t)
    state = Tensor(draft.fresh("H"), tuple(modes), "dense")
    draft.tensors[state.name] = state
    return state


def _step(
    draft: Draft, state: Tensor, now: str, rest: list[str], t: str, before: str, *, is_linear: bool
) -> list[str]:
    """The statements of a step, which add something to an earlier one."""
    fixed = {state.modes.index(t): before}
    held = access(draft, state, rest, fixed).text
    lines = []
    where = ""
    if rest and draft.chance(0.3):
        held_mask = access(draft, state, rest, fixed).text
        where = f" where {held_mask}" if draft.take("computed mask") else mask(draft, rest)[0]
    right = f"{held} + {now}"
    inner = next((name for name in ("u", "v") if name not in draft.sizes), None)
    if rest and inner and draft.chance(0.35):
        # A product with weights, summed over an index of the step.
        draft.sizes[inner] = draft.sizes[rest[0]]
        weights = draft.input([inner, rest[0]], has_these=True)
        places = [before if name == t else inner if name == rest[0] else name for name in state.modes]
        right = f"{state.name}[{', '.join(places)}] * {left(weights)} + {now}"
    elif rest and draft.chance(0.3):
        right += f" * {operand(draft, rest).text}"
    if is_linear:
        lines.append(f"{left(state)} = {right}{where}")
    else:
        z = Tensor(draft.fresh("Z"), tuple(rest), None)
        draft.tensors[z.name] = z
        draft.begun.add(z.name)
        function = "tanh({})" if draft.is_real and draft.chance(0.3) else "min(max({}, -4), 4)"
        lines += [f"{left(z)} = {right}{where}", f"{left(state)} = {function.format(left(z))}"]
    return lines


def _second(draft: Draft, first: Tensor, rest: list[str], t: str, before: str, form: str) -> list[str]:
    """A second state, which reads the first one."""
    second = Tensor(draft.fresh("S"), first.modes if draft.chance(0.5) else (t, *rest), "dense")
    draft.tensors[second.name] = second
    draft.begun.add(second.name)
    held = ", ".join(before if name == t else name for name in second.modes)
    return [f"{left(second)} = {form.format(f'{second.name}[{held}]', left(first))}"]


def _start(draft: Draft, state: Tensor, rest: list[str], t: str, back: int) -> None:
    """What a state has before the first step."""
    begun = draft.input(list(rest), has_these=True)
    for distance in range(1, back + 1):
        places = ", ".join(f"-{distance}" if name == t else name for name in state.modes)
        draft.lines.append(f"{state.name}[{places}] = {left(begun)}")
