"""Statements that a drawn program may have, each a function that adds some to a draft. They read what is
there already where they can, so that features meet."""

from collections.abc import Callable

import numpy as np

from tests.seams.arithmetic import arithmetic
from tests.seams.draft import Draft, Tensor, Term, left
from tests.seams.operands import access, mask, operand

__all__ = ["MOVES", "apart", "saturated"]

Move = Callable[[Draft], None]


def _nest(draft: Draft, tensor: Tensor, further: float = 0.3, most: int = 3) -> list[str]:
    """The indices of a statement that reads a tensor: those of its modes, and sometimes one more."""
    nest = list(tensor.modes)
    others = [name for name in draft.some(4, 4) if name not in nest]
    if others and len(nest) < most and draft.chance(further):
        nest.append(others[0])
    return nest


def _used(*terms: Term | list[str]) -> list[str]:
    lists = [term.used if isinstance(term, Term) else term for term in terms]
    return list(dict.fromkeys(index for names in lists for index in names))


def _kept(draft: Draft, used: list[str], share: float = 0.5) -> list[str]:
    """The indices that a result has: some of those that are used, in any order."""
    if draft.chance(1 - share):
        return used if draft.chance(0.7) else draft.random.sample(used, len(used))
    return draft.random.sample(used, draft.random.randint(0, len(used)))


def _ordered(draft: Draft, nest: list[str], innermost: str | None = None) -> str:
    """An order of loops, if one is wished for."""
    if not draft.take("order") and not draft.chance(0.05):
        return ""
    names = draft.random.sample(nest, len(nest))
    if innermost:
        names = [*(name for name in names if name != innermost), innermost]
    return f"    order {', '.join(names)}" if names else ""


def elementwise(draft: Draft) -> None:
    """A function, or an operation on two operands."""
    base = draft.base()
    nest = _nest(draft, base, 0.1)
    a, b = access(draft, base, nest), operand(draft, nest)
    forms = ["relu({a})", "abs({a})", "max({a}, {b})", "min({a}, {b})", "lt({a}, {b})", "select({b}, {a}, 1)"]
    forms += ["{a} * {b}", "2 * {a} - {b}", "{a} + {b}", "eq({a}, {b}) * {a}", "rint({a})", "{a} - 1"]
    if draft.is_real:
        forms += ["exp({a})", "tanh({a})", "{a} / (2 + abs({b}))", "sigmoid({a} - {b})", "{b} / exp({a})"] * 2
    form = draft.random.choice(forms)
    if draft.value[0] == "i" or "8" in draft.value:
        form = form.replace("rint({a})", "relu({a})")
    used = _used(a, b) if "{b}" in form else a.used
    where, further = mask(draft, used) if used else ("", [])
    right = form.format(a=a.text, b=b.text)
    draft.write(used, right, mask=where + _ordered(draft, _used(used, further)))


def contraction(draft: Draft) -> None:
    """A product, summed over some of its indices."""
    base = draft.base()
    nest = _nest(draft, base)
    a, b = access(draft, base, nest), operand(draft, nest)
    used = _used(a, b)
    where, _ = mask(draft, used) if used else ("", [])
    draft.write(_kept(draft, used, 0.8), f"{a.text} * {b.text}", mask=where + _ordered(draft, used))


def row_sums(draft: Draft) -> None:
    """The sum of one tensor."""
    base = draft.base()
    a = access(draft, base, _nest(draft, base, 0.1))
    where, _ = mask(draft, a.used) if a.used else ("", [])
    draft.write(_kept(draft, a.used, 0.9), a.text, mask=where + _ordered(draft, a.used))


def terms(draft: Draft) -> None:
    """A sum of terms, of which one may be summed over an index of its own."""
    base = draft.base()
    nest = _nest(draft, base)
    a, b = access(draft, base, nest), operand(draft, nest)
    kept = _kept(draft, a.used, 0.6)
    c = operand(draft, kept) if kept else Term("1", [])
    product = f"{a.text} * {b.text}" if draft.chance(0.5) else a.text
    b = b if product != a.text else Term("", [])
    right = f"{product} {draft.random.choice('+-')} {c.text}"
    inner = [index for index in _used(a, b) if index not in kept]
    where, _ = mask(draft, kept) if kept and not inner else ("", [])
    draft.write(kept, right, mask=where + _ordered(draft, _used(kept, a, b, c)))


def triple(draft: Draft) -> None:
    """A product of three tensors, which brackets may sum in another order."""
    base = draft.base(2)
    i, k = base.modes[0], base.modes[1]
    j = next(name for name in [*draft.some(4, 4), draft.axis()] if name not in base.modes)
    kept = [name for name in base.modes if name != k]
    middle = draft.input([k, j], has_these=True)
    last = draft.input([j, i] if draft.chance(0.3) else [j], has_these=True)
    a = access(draft, base, list(base.modes), dict(enumerate(base.modes)))
    result = draft.write(kept, f"{a.text} * {left(middle)} * {left(last)}")
    draft.triples.append((result.name, [base.name, middle.name, last.name]))


def extreme(draft: Draft) -> None:
    """A maximum, minimum or product."""
    base = draft.base()
    nest = _nest(draft, base, 0.2)
    a = access(draft, base, nest)
    b = operand(draft, nest) if draft.chance(0.3) else None
    used = _used(a, b) if b else a.used
    right = f"{a.text} - {b.text}" if b else a.text
    where, _ = mask(draft, used) if used else ("", [])
    kept = used[:-1] if draft.chance(0.7) else _kept(draft, used, 1.0)
    word = draft.random.choice(["max", "min", "prod"])
    draft.write(kept, right, reduction=word, mask=where + _ordered(draft, used))


def coordinates(draft: Draft) -> None:
    """Where the greatest is, or the best values of a row."""
    base = draft.base()
    a = access(draft, base, _nest(draft, base, 0.2))
    if not a.used:
        return row_sums(draft)
    inner = draft.random.choice(a.used)
    kept = [index for index in a.used if index != inner]
    where, _ = mask(draft, a.used)
    if draft.chance(0.6):
        draft.write(kept, a.text, reduction=draft.random.choice(["argmax", "argmin"]), mask=where)
        return None
    rank = draft.axis(draft.random.randint(1, 3))
    draft.computed.add(rank)
    word = draft.random.choice(["top", "bottom", "argtop", "argbottom"])
    result = Tensor(draft.fresh("T"), (*kept, rank), "dense")
    draft.tensors[result.name] = result
    draft.lines.append(f"{left(result)} {word}= {a.text}{where}")
    draft.nests.append([*kept, inner])
    return None


def running(draft: Draft) -> None:
    """A running reduction along one of its indices."""
    base = draft.base()
    nest = _nest(draft, base, 0.2)
    a = access(draft, base, nest)
    if not a.used:
        return row_sums(draft)
    along = draft.random.choice(a.used)
    word = draft.random.choice(["cumsum", "cumsum", "cummax", "cummin", "cumprod"])
    exclusive = ", exclusive" if draft.chance(0.3) else ""
    where, _ = mask(draft, a.used)
    kept = draft.random.sample(a.used, len(a.used)) if draft.chance(0.3) else a.used
    draft.write(kept, f"{word}({along}, {a.text}{exclusive})", mask=where)
    return None


def recurrence(draft: Draft) -> None:
    """A linear recurrence along one of its indices, which the result may lack."""
    base = draft.base()
    nest = _nest(draft, base, 0.3)
    a = access(draft, base, nest)
    if not a.used:
        return row_sums(draft)
    b = operand(draft, a.used)
    along = draft.random.choice(a.used)
    used = _used(a, b)
    where, _ = mask(draft, used)
    factor, summand = (a.text, b.text) if draft.chance(0.4) else (b.text, a.text)
    factor = "2" if draft.chance(0.2) else factor
    if along not in (a.used if factor == "2" else used):
        return row_sums(draft)
    used = a.used if factor == "2" else used
    summand = a.text if factor == "2" else summand
    kept = [index for index in used if index != along] if draft.chance(0.4) else used
    draft.write(kept, f"recur({along}, {factor}, {summand})", mask=where)
    return None


def concatenation(draft: Draft) -> None:
    """Two tensors one after the other."""
    base = draft.base()
    place = draft.random.randrange(len(base.modes))
    along = draft.fresh("c")
    other = draft.axis()
    modes = [other if m == place else mode for m, mode in enumerate(base.modes)]
    parts = [base, draft.input(modes, has_these=True)]
    draft.sizes[along] = draft.sizes[base.modes[place]] + draft.sizes[other]
    names = [", ".join(along if m == place else mode for m, mode in enumerate(base.modes))] * 2
    texts = [f"{part.name}[{name}]" for part, name in zip(parts, names, strict=True)]
    draft.random.shuffle(texts)
    result = [along if m == place else mode for m, mode in enumerate(base.modes)]
    draft.write(result, f"concat({along}, {', '.join(texts)})")


def reshape(draft: Draft) -> None:
    """The elements of a tensor in another shape."""
    base = draft.base()
    if (base.format or "dense") != "dense":
        base = draft.write(list(base.modes), left(base))
        base.format = None
    count = 1
    for mode in base.modes:
        count *= draft.sizes[mode]
    divisors = [n for n in range(1, count + 1) if count % n == 0]
    rows = draft.random.choice(divisors)
    modes = [draft.axis(rows), draft.axis(count // rows)] if draft.chance(0.6) else [draft.axis(count)]
    draft.computed.update(modes)
    result = Tensor(draft.fresh("T"), tuple(modes), "dense")
    draft.tensors[result.name] = result
    draft.lines.append(f"{left(result)} = reshape({left(base)})")


def scatter(draft: Draft) -> None:
    """Places of the result that an index tensor names, or that are computed, inside of it or outside."""
    wish = draft.take("scatter", "affine result", "result outside") or "scatter"
    base = draft.base()
    nest = _nest(draft, base, 0.2)
    a = access(draft, base, nest)
    b = operand(draft, nest) if draft.chance(0.4) else Term("1", [])
    used = _used(a, b)
    if not used:
        return row_sums(draft)
    index = draft.random.choice(used)
    place, extent = _target(draft, wish, used, index)
    own = draft.axis(extent)
    draft.computed.add(own)
    rest = [name for name in used if name != index or (wish != "scatter" and draft.chance(0.4))]
    at = draft.random.randint(0, len(rest))
    result = Tensor(draft.fresh("Y"), (*rest[:at], own, *rest[at:]), "dense")
    where, _ = mask(draft, used)
    draft.tensors[result.name] = result
    right = a.text if b.text == "1" else f"{a.text} * {b.text}"
    draft.lines.append(f"{result.name}[{', '.join([*rest[:at], place, *rest[at:]])}] = {right}{where}")
    draft.nests.append(used)
    return None


def _target(draft: Draft, wish: str, used: list[str], index: str) -> tuple[str, int]:
    """The text of a place on the left, and the extent of that mode."""
    size = draft.sizes[index]
    if wish == "scatter":
        extent = draft.random.randint(1, 5)
        return f"{draft.list_of_places([index], extent).name}[{index}]", extent
    draft.computed.add(index)
    if wish == "affine result":
        factor, shift = draft.random.choice([1, 1, 2]), draft.random.randint(0, 2)
        extent = factor * (size - 1) + shift + draft.random.randint(1, 2)
        return f"{factor}*{index} + {shift}", extent
    others = [name for name in used if name != index]
    form = draft.random.choice(["{i} - 1", "{i} + 2", "2*{i} - 1", "1 - {i}", "-{i}"])
    further = f" + {others[0]}" if others and draft.chance(0.3) else ""
    draft.computed.update(others[:1] if further else [])
    return form.format(i=index) + further, max(1, size - 1)


def cascade(draft: Draft) -> None:
    """A reduction that depends on an earlier one over the same index."""
    base = draft.base()
    a = access(draft, base, _nest(draft, base, 0.0))
    if not a.used:
        return row_sums(draft)
    return (deviations if draft.chance(0.4) else softmax)(draft, a)


def deviations(draft: Draft, a: Term) -> None:
    """Products with the sum of a row, or with the distances from it, and something that is added once."""
    kept = a.used[:-1]
    where, _ = mask(draft, a.used)
    word = draft.random.choice(["", "", "max"])
    reduced = left(draft.write(kept, a.text, reduction=word, mask=where if draft.chance(0.5) else ""))
    factor = f"{a.text} * {reduced}"
    if draft.chance(0.6):
        apart = left(draft.write(a.used, f"{a.text} - {reduced}", mask=where))
        factor = draft.random.choice([apart, f"{apart} * {apart}", f"{apart} * {a.text}"])
    further = draft.random.choice(["", "", f" + {a.text}", f" - {factor}"])
    once = draft.random.choice(["", " - 1", f" + {reduced}", f" - {reduced} + 2"])
    draft.write(kept, f"{factor}{further}{once}")


def softmax(draft: Draft, a: Term) -> None:
    """The sum of exponentials depends on the maximum, and what is divided on both."""
    inner = a.used[-1]
    kept = [index for index in a.used if index != inner]
    where, _ = mask(draft, a.used)
    m = draft.write(kept, a.text, reduction="max", mask=where)
    shifted = f"{a.text} - {left(m)}"
    e = f"exp({shifted})" if draft.is_real else f"relu(3 + {shifted})"
    total = draft.write(kept, e, mask=where)
    if draft.is_real and draft.chance(0.6):
        draft.write(a.used, f"{e} / {left(total)}", mask=where)
    return


def residual(draft: Draft) -> None:
    """What is computed is read twice: as it is, and reduced."""
    live = draft.live()
    base = live if live is not None and live.modes else None
    if base is None:
        elementwise(draft)
        base = draft.live()
    assert base is not None
    if not base.modes:
        return
    nest = list(base.modes)
    word = draft.random.choice(["", "max"])
    reduced = draft.write(nest[:-1], left(base), reduction=word)
    where, _ = mask(draft, nest)
    draft.write(nest, f"{left(base)} - {left(reduced)}", mask=where)
    return


def apart(draft: Draft, *formats: str) -> str:
    """A product of a matrix and a vector over indices of their own: what tensors that share an index have to
    agree in, these agree in. The formats are those of the matrix, the vector and the result; gives the index
    that is summed over."""
    row, column = draft.axis(), draft.axis()
    matrix = draft.input([row, column], has_these=True)
    vector = draft.input([column], has_these=True)
    result = draft.write([row], f"{left(matrix)} * {left(vector)}")
    result.format = None
    for tensor, format in zip((matrix, vector, result), formats or ("csr", "dense"), strict=False):
        tensor.format = format
    return column


def saturated(draft: Draft) -> None:
    """The magnitude of the least number, which is beyond the greatest one."""
    least = draft.input([draft.axis()], has_these=True)
    least.format = "dense"
    least.data = np.full(draft.shape(least.modes), arithmetic(draft.value).lowest)
    draft.write(list(least.modes), f"abs({left(least)})").format = None


MOVES: dict[str, Move] = {
    "elementwise": elementwise,
    "contraction": contraction,
    "row sums": row_sums,
    "terms": terms,
    "product of three": triple,
    "extreme": extreme,
    "coordinates": coordinates,
    "running": running,
    "recurrence": recurrence,
    "concatenation": concatenation,
    "reshape": reshape,
    "scatter": scatter,
    "cascade": cascade,
    "sharing": residual,
}
"""By name. Scans are in `scans.py`."""
