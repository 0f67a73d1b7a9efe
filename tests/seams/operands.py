"""Accesses of a drawn program: which index stands at each mode."""

from tests.seams.draft import Draft, Tensor, Term

__all__ = ["INDEX_WISHES", "access", "mask", "operand"]

INDEX_WISHES = ("gather", "affine inside", "affine outside", "clamp", "wrap", "fixed place")
"""The features that an index of an access can have."""


def access(draft: Draft, tensor: Tensor, nest: list[str], fixed: dict[int, str] | None = None) -> Term:
    """A tensor under the indices of a nest: those of its modes where the nest has them, or computed places.

    Args:
        draft: the program.
        tensor: what is read.
        nest: the indices that there are.
        fixed: by mode, what stands there in any case.
    """
    texts: list[str] = []
    used: list[str] = []
    wished = None
    modes = [m for m in range(len(tensor.modes)) if not fixed or m not in fixed]
    if modes and nest and draft.chance(0.8):
        wish = draft.take(*INDEX_WISHES)
        wished = (draft.random.choice(modes), wish) if wish else None
    for mode, name in enumerate(tensor.modes):
        if fixed and mode in fixed:
            texts.append(fixed[mode])
            continue
        extent = draft.sizes[name]
        alike = [index for index in nest if draft.sizes[index] == extent and index not in used]
        if wished and wished[0] == mode:
            term = _computed(draft, wished[1] or "wrap", nest, extent)
        elif alike:
            index = name if name in alike and draft.chance(0.8) else draft.random.choice(alike)
            term = Term(index, [index])
        else:
            kind = draft.random.choice([*INDEX_WISHES[:5]]) if nest else "fixed place"
            term = _computed(draft, kind, nest, extent)
        texts.append(term.text)
        used += [index for index in term.used if index not in used]
    return Term(f"{tensor.name}[{', '.join(texts)}]" if texts else tensor.name, used)


def operand(draft: Draft, nest: list[str], most: int = 2) -> Term:
    """A tensor that was there already, or a new one, under some of the indices of a nest."""
    known = [t for t in draft.tensors.values() if not t.places and len(t.modes) <= most]
    known = [t for t in known if t.name not in draft.begun]
    if known and draft.chance(0.35):
        return access(draft, draft.random.choice(known), nest)
    modes = draft.random.sample(nest, draft.random.randint(min(1, len(nest)), min(most, len(nest))))
    return access(draft, draft.input(modes), nest)


def mask(draft: Draft, nest: list[str]) -> tuple[str, list[str]]:
    """The text of a mask, if one is wished for or drawn, and the indices that it uses."""
    live = [t for t in draft.tensors.values() if t.data is None and 0 < len(t.modes) <= len(nest)]
    live = [t for t in live if t.name not in draft.begun]
    wish = draft.take("mask", "computed mask") if live else draft.take("mask")
    if wish is None and not draft.chance(0.08):
        return "", []
    if wish == "computed mask":
        term = access(draft, draft.random.choice(live), nest)
    else:
        term = operand(draft, nest)
    return (f" where {term.text}", term.used) if term.used else ("", [])


def _computed(draft: Draft, kind: str, nest: list[str], extent: int) -> Term:
    """A place in a mode of this extent."""
    index = draft.random.choice(nest)
    size = draft.sizes[index]
    if kind == "fixed place":
        return Term(str(draft.random.randrange(extent)), [])
    if kind == "gather":
        modes = draft.random.sample(nest, 2) if len(nest) > 1 and draft.chance(0.2) else [index]
        places = draft.list_of_places(modes, extent)
        return Term(f"{places.name}[{', '.join(modes)}]", modes)
    draft.computed.add(index)
    if kind == "affine inside":
        if size <= extent:
            shift = draft.random.randint(0, extent - size)
            return Term(
                f"{index} + {shift}" if draft.chance(0.6) else f"{size - 1 + shift} - {index}", [index]
            )
        kind = "wrap"
    text, used = index, [index]
    factor = draft.random.choice([1, 1, 2, -1])
    if factor != 1:
        text = f"-{index}" if factor < 0 else f"{factor}*{index}"
    others = [other for other in nest if other != index]
    if others and draft.chance(0.35):
        used.append(draft.random.choice(others))
        draft.computed.add(used[1])
        text += f" + {used[1]}"
    shift = draft.random.choice([-2, -1, 1, 2, extent - 1])
    text += f" - {-shift}" if shift < 0 else f" + {shift}"
    return Term(text if kind == "affine outside" else f"{kind}({text})", used)
