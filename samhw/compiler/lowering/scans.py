"""Scanners: the coordinates and references that a tensor view gives at a row; and levels that are entered at
the coordinates of a memory, and have no row."""

from samhw.compiler.einsum import Einsum, Part, PickedLevel, View, reachable
from samhw.compiler.fusion_table import Feed, PlannedNode
from samhw.compiler.lowering.builder import TableBuilder
from samhw.compiler.lowering.lockstep import Bundle, Lockstep, OperandStream, Payloads
from samhw.compiler.lowering.row import OpenRow
from samhw.compiler.lowering.space import FULL, CrdDomain, Cursor, Space
from samhw.errors import StreamError

__all__ = ["Scanner", "pick_levels"]


class Scanner:
    """Scans views at a row."""

    def __init__(self, row: OpenRow):
        self._row = row

    def view(self, view: View) -> Bundle | None:
        """What a view has at the row: a dense level waits to be located, others are scanned."""
        row = self._row
        if row.index not in view.indices:
            return None
        level, missing = row.cursor(view).level, row.cursor(view).missing
        if view.indices[level] != row.index:
            raise self._discordant(view, view.indices[level])
        if view.part is not None and view.part.index == row.index:
            return Bundle(self._part(view, view.part))
        is_sieve = view.sieve and row.is_last(view)
        if view.levels[level].locator is not None:
            bundle = Bundle(located=(view,), complete=not missing, empty=missing)
            return Bundle(self._sieve(view, self.dense(bundle)), empty=missing) if is_sieve else bundle
        stream = self._stored(view)
        return Bundle(self._sieve(view, stream) if is_sieve else stream, empty=missing)

    def dense(self, bundle: Bundle) -> Lockstep:
        """Scans the first of the operands that could have been located: it gives all the coordinates."""
        view, *located = bundle.located
        cursor = self._row.cursor(view)
        cursor.missing = frozenset()
        scan = self._scan(view, self._row.extent)
        self._fill(view, scan, cursor.ref)
        stream = _stream_of(view, scan, FULL if bundle.complete else None)
        bundle.stream, bundle.located = stream, tuple(located)
        return stream

    def every(self, name: str) -> Lockstep:
        """Every coordinate of the row, as a dense level has them.

        Args:
            name: of what the scanner stands for.
        """
        row = self._row
        inputs = {"ref": row.space.crd}
        subject = f"{name}_{row.index}"
        scan = row.make("scan_dense", subject, inputs, index=row.index, extent=row.extent)
        return _stream_of(None, scan, FULL)

    def _stored(self, view: View) -> Lockstep:
        cursor = self._row.cursor(view)
        domain: CrdDomain | None = (view.tensor, cursor.level, *view.indices[: cursor.level + 1])
        if cursor.missing or view.picks:
            # What has been looked up may be any fiber.
            domain, cursor.missing = None, frozenset()
        scan = self._scan(view, self._row.extent)
        self._fill(view, scan, cursor.ref)
        return _stream_of(view, scan, domain)

    def _part(self, view: View, part: Part) -> Lockstep:
        """The coordinates of a part of a concatenation, after those of the parts before it."""
        row, cursor = self._row, self._row.cursor(view)
        domain: CrdDomain | None = None
        scan = self._scan(view, part.extent)
        if view.levels[cursor.level].is_full:
            domain = None if cursor.missing else ("part", view.name)
        cursor.missing = frozenset()
        self._fill(view, scan, cursor.ref, part.before)
        crd = scan.output("crd")
        for extent in part.before:
            name = f"{view.name}_{row.index}"
            crd = row.make_inside("shift", name, {"crd": crd}, extent=extent).output("crd")
        return Lockstep(crd, domain, Payloads((OperandStream(view, scan.output("ref")),)))

    def _sieve(self, view: View, stream: Lockstep) -> Lockstep:
        """The coordinates at which a mask is not zero."""
        row = self._row
        ref = stream.payloads.streams[0].source
        array = row.make_inside("array", view.name, {"ref": ref}, vals=f"{view.tensor}.vals")
        row.table.reads[array.name] = row.space.levels_of(view, row.index)
        inputs: dict[str, Feed] = {"crd": stream.crd, "val": array.output("val")}
        sieve = row.make_inside("drop_val", view.name, inputs)
        val = sieve.output("val")
        row.fill(view.name, val, f"NonZero(⟨{view.name}_{row.index}⟩)")
        domain = ("nonzero", view.tensor, *view.indices)
        return Lockstep(sieve.output("crd"), domain, Payloads((OperandStream(view, val),)))

    def _scan(self, view: View, extent: str) -> PlannedNode:
        """Scans a level, of that extent."""
        row, cursor = self._row, self._row.cursor(view)
        level = cursor.level
        scanner = view.levels[level].scanner
        params = scanner.params(
            view.tensor, level, lambda depth: extent if depth == level else self._extent(view, depth)
        )
        subject = f"{view.name}_{row.index}"
        return row.make(scanner.kind, subject, {"ref": cursor.ref}, index=row.index, **params)

    def _extent(self, view: View, level: int) -> str:
        """The extent of an outer level: of its own part, if it is one of a concatenation."""
        outer = view.indices[level]
        if view.part is not None and view.part.index == outer:
            return view.part.extent
        return self._row.builder.dimension[outer]

    def _fill(self, view: View, scan: PlannedNode, ref: Feed, before: tuple[str, ...] = ()) -> None:
        """The cell of a scanner, and of the shifts after it."""
        label = " + ".join([f"LS({self._row.builder.text(ref)})", *(f"N({extent})" for extent in before)])
        self._row.fill(view.name, scan.output("ref"), label)

    def _discordant(self, view: View, outer: str) -> StreamError:
        index = self._row.index
        return StreamError(
            f"{view.tensor}[{', '.join(view.indices)}] is stored with {outer} outside {index}, but in "
            f"'{self._row.builder.title}' the reduction over {outer} lies inside of {index}",
            "choose another order",
            f"compute what reads {view.tensor} in a region of its own",
        )


def _stream_of(view: View | None, scan: PlannedNode, domain: CrdDomain | None) -> Lockstep:
    return Lockstep(scan.output("crd"), domain, Payloads((OperandStream(view, scan.output("ref")),)))


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
