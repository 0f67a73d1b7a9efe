"""Levels that are entered at the coordinates of a memory, and have no row."""

from samhw.compiler.einsum import Einsum, PickedLevel, View, reachable
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.space import Cursor, Space

__all__ = ["pick_levels"]


def pick_levels(builder: TableBuilder, space: Space, e: Einsum) -> None:
    """Takes each view below e through the levels that come next and have picks, as soon as all rows of what
    names their places are done."""
    for view in reachable([e], space.streams):
        if isinstance(view, View):
            for picked in view.picks:
                at, cursor = space.cursor(picked.at), space.cursor(view)
                if picked.level == cursor.level and at.level == len(picked.at.levels):
                    _pick(builder, space, view, picked, at)


def _pick(builder: TableBuilder, space: Space, view: View, picked: PickedLevel, at: Cursor) -> None:
    cursor, index = space.cursor(view), view.indices[picked.level]
    node = builder.make(
        "pick",
        f"{view.name}_{index}",
        space.depth,
        {"at": at.ref, "ref": cursor.ref},
        crd=picked.crd,
        extent=builder.dimension[index],
    )
    label = f"Pick({builder.text(at.ref)}, {builder.text(cursor.ref)})"
    cursor.ref = builder.table.fill(index, view.name, node.output("ref"), label)
    cursor.level += 1
    cursor.missing |= at.missing
