"""One extent for each index: what the declared shapes say about the modes of all tensors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samhw.frontend.program import Program

__all__ = ["unify"]

Mode = tuple[str, int]


def unify(program: "Program") -> dict[Mode, int | None]:
    """The extent of every mode, by (tensor name, position); None where no shape of the program fixes it.

    Modes that share an index in some statement share their extent (union-find over the modes). Raises
    InputError, naming two tensors, when an index would need two extents.
    """
    parent: dict[Mode, Mode] = {}
    known: dict[Mode, tuple[int, str]] = {}  # of a root: the extent, and the tensor that has it declared
    for decl in program.tensors.values():
        for position, extent in enumerate(decl.shape):
            mode = (decl.name, position)
            parent[mode] = mode
            if extent is not None:
                known[mode] = (extent, decl.name)

    def find(mode: Mode) -> Mode:
        while parent[mode] != mode:
            parent[mode] = parent[parent[mode]]
            mode = parent[mode]
        return mode

    for statement in program.statements:
        first: dict[str, Mode] = {}
        for access in statement.accesses:
            for position, index in enumerate(access.indices):
                mode = (access.tensor, position)
                ours, theirs = find(first.setdefault(index, mode)), find(mode)
                if ours == theirs:
                    continue
                if ours in known and theirs in known and known[ours][0] != known[theirs][0]:
                    (extent, tensor), (other_extent, other) = known[ours], known[theirs]
                    raise program.error(
                        access.span,
                        f"index '{index}' has extent {extent} in '{tensor}' but {other_extent} in '{other}'; "
                        "give both tensors the same extent, or use two indices",
                    )
                parent[theirs] = ours
                if theirs in known:
                    known[ours] = known[theirs]

    return {mode: known[root][0] if (root := find(mode)) in known else None for mode in parent}
