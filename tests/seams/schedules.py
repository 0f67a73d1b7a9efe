"""Fields of schedules for a drawn program, each a function that adds one to a draft."""

import re
from collections.abc import Callable

from tests.seams.draft import Draft, Tensor
from tests.seams.moves import apart

__all__ = ["FIELDS"]


def _inputs(draft: Draft, least: int = 1) -> list[Tensor]:
    return [
        t for t in draft.tensors.values() if t.data is not None and not t.places and len(t.modes) >= least
    ]


def _computed(draft: Draft) -> list[Tensor]:
    return [t for t in draft.tensors.values() if t.data is None]


def _read(draft: Draft) -> list[Tensor]:
    """What is computed and read again, if there is any such thing."""
    lines = "\n".join(line.partition("= ")[2] for line in draft.lines)
    found = [t for t in _computed(draft) if re.search(rf"\b{t.name}\b", lines)]
    return found or _computed(draft)


def _index(draft: Draft) -> str | None:
    """An index of a statement, mostly an outer one."""
    nests = [nest for nest in draft.nests if len(nest) > 1] or [nest for nest in draft.nests if nest]
    if not nests:
        return None
    nest = draft.random.choice(nests)
    return nest[0] if draft.chance(0.6) else draft.random.choice(nest)


def lanes(draft: Draft) -> None:
    index = _index(draft)
    if index:
        draft.schedule["lanes"] = {index: draft.random.choice([2, 2, 3])}


def ranges(draft: Draft) -> None:
    """Ranges of rows, for an outermost index as often as can be."""
    if "lanes" not in draft.schedule:
        nests = [nest for nest in draft.nests if nest]
        if not nests:
            return
        draft.schedule["lanes"] = {draft.random.choice(nests)[0]: draft.random.choice([2, 3, 5])}
        if draft.chance(0.3):
            lanes = draft.schedule["lanes"]
            draft.schedule["lanes"] = dict.fromkeys(draft.random.choice(nests)[1:2], 2) | lanes
    draft.schedule["deal"] = {list(draft.schedule["lanes"])[-1]: "ranges"}


def interleave(draft: Draft) -> None:
    """Banks for all arrays that several lanes read."""
    if "lanes" not in draft.schedule:
        lanes(draft)
    draft.schedule["interleave"] = "all"


def blocks(draft: Draft) -> None:
    index = _index(draft) if draft.chance(0.6) else apart(draft)
    if index:
        draft.schedule["blocks"] = {index: draft.random.choice([1, 2, 2, 3])}


def split(draft: Draft) -> None:
    found = _inputs(draft, 2)
    if found:
        chosen = draft.random.choice(found)
        rules = ["rows(2)", "even(2)", "columns(2)", "hyb(1,1)"]
        if len(chosen.modes) == 2:
            rules += ["diagonal + csr", "dia(density=0.5) + csr", "blocks(2, density=0.5) + csr"]
        draft.schedule["split"] = {chosen.name: draft.random.choice(rules)}


def partial_sums(draft: Draft) -> None:
    if "split" not in draft.schedule:
        split(draft)
    found = _computed(draft)
    if "split" in draft.schedule and found:
        draft.schedule["partial_sums"] = draft.random.choice([[], [draft.random.choice(found).name]])


def permute_rows(draft: Draft) -> None:
    found = _inputs(draft)
    if found:
        chosen = draft.random.choice(found)
        orders = ["by length", "even(2)"]
        if len(chosen.modes) == 2 and draft.sizes[chosen.modes[0]] == draft.sizes[chosen.modes[1]]:
            orders.append("reverse Cuthill-McKee")
        draft.schedule["permute_rows"] = {chosen.name: draft.random.choice(orders)}


def cascade(draft: Draft) -> None:
    forms = ["rescaled", "rescaled", "deferred", "finite", "auto", {"tile": 2}]
    draft.schedule["cascade"] = draft.random.choice(forms)
    draft.schedule.setdefault("fuse", "full")


def brackets(draft: Draft) -> None:
    if draft.triples:
        result, (a, b, c) = draft.random.choice(draft.triples)
        text = draft.random.choice(["{a} * ({b} * {c})", "({a} * {b}) * {c}", "({a} * {c}) * {b}"])
        draft.schedule["brackets"] = {result: text.format(a=a, b=b, c=c)}


def share(draft: Draft) -> None:
    found = _read(draft)
    if found and draft.chance(0.5):
        ways = ["buffer", "store", "store", "recompute"]
        draft.schedule["share"] = {draft.random.choice(found).name: draft.random.choice(ways)}
    else:
        draft.schedule["share"] = draft.random.choice(["all", "none"])
    draft.schedule.setdefault("fuse", "full")


def queues(draft: Draft) -> None:
    found = _read(draft)
    if found:
        draft.schedule["queues"] = {draft.random.choice(found).name: draft.random.choice([1, 4])}
    draft.schedule.setdefault("fuse", "full")


def formats(draft: Draft) -> None:
    found = [t for t in draft.tensors.values() if t.modes and not t.places]
    if found:
        chosen = draft.random.choice(found)
        rank = len(chosen.modes)
        levels = ", ".join(draft.random.choice(["dense", "compressed"]) for _ in range(rank))
        order = draft.random.sample(range(rank), rank)
        swapped = f" @ ({', '.join(map(str, order))})" if rank > 1 and draft.chance(0.5) else ""
        draft.schedule["formats"] = {chosen.name: f"({levels}){swapped}"}


def global_space(draft: Draft) -> None:
    draft.schedule["iteration"] = "global"


def fused(level: str) -> Callable[[Draft], None]:
    def fuse(draft: Draft) -> None:
        draft.schedule["fuse"] = level

    return fuse


def no_fusion(draft: Draft) -> None:
    draft.schedule["fuse"] = []


def fused_text(draft: Draft) -> None:
    """Statements of the text that follow each other, as one region."""
    plain = [n for n, line in enumerate(draft.lines) if re.match(r"\w+(\[[^]]*\])? \S*= ", line)]
    begins = [n for n in plain if n + 1 in plain]
    if not begins:
        return
    begin = draft.random.choice(begins)
    end = begin + 2 + (begin + 2 in plain and draft.chance(0.5))
    lines = "\n  ".join(draft.lines[begin:end])
    draft.lines[begin:end] = [f"fuse {{\n  {lines}\n}}"]


def regions(draft: Draft) -> None:
    """What is computed in lists, each a region, with orders for some of them."""
    names = [tensor.name for tensor in _computed(draft)]
    found = []
    while names:
        size = draft.random.choice([1, 2, 2, 3])
        found.append(names[:size])
        names = names[size:]
    draft.schedule["fuse"] = [group for group in found if len(group) > 1]
    orders = {}
    for group in found:
        lines = "\n".join(line for line in draft.lines if re.match(rf"({'|'.join(group)})\b", line))
        used = [word for word in dict.fromkeys(re.findall(r"\w+", lines)) if word in draft.sizes]
        if used and draft.chance(0.4):
            orders[group[-1]] = used if draft.chance(0.5) else draft.random.sample(used, len(used))
    if orders:
        draft.schedule["order"] = orders


def share_hardware(draft: Draft) -> None:
    """With a twin of a statement, which may differ in a number or an operation."""
    found = [n for n, line in enumerate(draft.lines) if re.match(r"T\d+\b.* = ", line)]
    twins = []
    if found:
        line = draft.lines[draft.random.choice(found)]
        name = line[: re.match(r"\w+", line).end()]  # type: ignore[union-attr]
        original = draft.tensors[name]
        twin = draft.result([*original.modes], only_dense=original.format is None)
        twin.format = original.format
        right = line[len(name) :]
        if draft.chance(0.3):
            right = right.replace(
                *draft.random.choice([(" + ", " - "), (" * ", " + "), (" = ", " max= ")]), 1
            )
        draft.lines.append(f"{twin.name}{right}")
        draft.nests.append([*original.modes])
        twins = [[name, twin.name]]
    draft.schedule["share_hardware"] = draft.random.choice(["all", "auto", "none", twins or "all"])
    draft.schedule.setdefault("fuse", [])


def parallel(draft: Draft) -> None:
    """Of equal regions, too, and of those in the steps of a scan."""
    share_hardware(draft)
    _twin_in_scan(draft)
    draft.schedule["parallel"] = "all"


def fixed_extents(draft: Draft) -> None:
    draft.schedule["fixed_extents"] = True


def _twin_in_scan(draft: Draft) -> None:
    """Another one of a state that is a function of what its step has computed, so that neither waits."""
    for n, block in enumerate(draft.lines):
        state = re.search(r"^ +(H\d+)\[.* = (min|tanh)\(.*$", block, re.MULTILINE)
        if block.startswith("scan") and state:
            original = draft.tensors[state[1]]
            twin = Tensor(draft.fresh("H"), original.modes, "dense")
            draft.tensors[twin.name] = twin
            line = state[0].replace(state[1], twin.name, 1)
            draft.lines[n] = block.replace(state[0], f"{state[0]}\n{line}")
            return


FIELDS: dict[str, Callable[[Draft], None]] = {
    "lanes": lanes,
    "ranges of rows": ranges,
    "banks": interleave,
    "blocks": blocks,
    "split": split,
    "partial sums": partial_sums,
    "row order": permute_rows,
    "cascade form": cascade,
    "brackets": brackets,
    "share": share,
    "queues": queues,
    "share hardware": share_hardware,
    "side by side": parallel,
    "scheduled format": formats,
    "global iteration": global_space,
    "full fusion": fused("full"),
    "kinds": fused("kinds"),
    "fuse auto": fused("auto"),
    "no fusion": no_fusion,
    "fused text": fused_text,
    "regions": regions,
    "fixed extents": fixed_extents,
}
"""By the name of the feature."""
