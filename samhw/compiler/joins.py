"""Where coordinates meet: scanners, intersections and unions of one row."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from samhw.compiler.einsum import (
    CONCAT,
    EVERYWHERE,
    MASK,
    MUL,
    Apply,
    Constant,
    Einsum,
    Intermediate,
    Part,
    Reduce,
    View,
    vanishes,
)
from samhw.compiler.plan import FULL, Domain, Plan, Row, Space
from samhw.compiler.table import Primitive, Source
from samhw.errors import ScheduleError
from samhw.spec.join import MOST
from samhw.tensors import LevelType

__all__ = ["Join", "Joiner"]

Payload = tuple[Einsum | None, Source]
"""A stream in lockstep with coordinates, and the operand that it belongs to (None: nobody's)."""


@dataclass
class Join:
    """The coordinates of a row while they are joined."""

    crd: Source | None = None
    """None while only dense levels meet and none is scanned yet."""
    domain: Domain | None = None
    """Which coordinates; FULL also for dense levels that are not scanned yet."""
    payloads: list[Payload] = field(default_factory=list)
    dense: list[View] = field(default_factory=list)
    """Operands with a dense level here that need no scanner, because they can be located."""
    nested: Einsum | None = None
    """A stream with further rows inside, which cannot follow a join."""
    everywhere: bool = False
    """There are values at coordinates that no operand stores: all operands are optional."""
    optional: "list[Join]" = field(default_factory=list)
    """Operands that count as zero where they have no coordinate."""
    narrow: frozenset[Einsum] = frozenset()
    """Operands that have further coordinates, which an intersection has left out."""
    partial: frozenset[Einsum] = frozenset()
    """Operands whose payload is EMPTY at some of the coordinates that they have themselves."""
    zeros: bool = False
    """What a dense level stores is among the values, and not every coordinate is there."""

    @property
    def full(self) -> bool:
        """Every coordinate of the extent is present."""
        return self.domain == FULL

    @property
    def operands(self) -> frozenset[Einsum]:
        """Whose payloads there are."""
        return frozenset(operand for operand, _ in self.payloads if operand is not None)

    def has_all(self, operand: Einsum) -> bool:
        """The operand's payload is there wherever it has one, at the join's coordinates and elsewhere."""
        return operand not in self.narrow | self.partial

    def without(self, operands: Collection[Einsum | None]) -> "Join":
        """The same coordinates without the payloads of those operands."""
        return replace(self, payloads=[p for p in self.payloads if p[0] not in operands])


class Joiner:
    """Joins expressions at a row of a space."""

    def __init__(self, plan: Plan, space: Space, row: str):
        self.plan = plan
        self.space = space
        self.row = row
        self._done: dict[Einsum, Join | None] = {}

    def join(self, e: Einsum) -> Join | None:
        """The coordinates of e, or None if it has no such row; the same object for the same expression."""
        if e not in self._done:
            self._done[e] = self._join(e)
        return self._done[e]

    def _join(self, e: Einsum) -> Join | None:
        if e in self.space.streams:
            return self._stream(e)
        match e:
            case View():
                return self._scan(e)
            case Reduce() | Intermediate():
                return self.join(e.operand)
            case Apply():
                return self._apply(e)
            case _:
                return None

    # Operands

    def _scan(self, view: View) -> Join | None:
        if self.row not in view.indices:
            return None
        cursor = self.plan.cursor(self.space, view)
        if view.indices[cursor.level] != self.row:
            outer = view.indices[cursor.level]
            raise ScheduleError(
                f"{view.tensor}[{', '.join(view.indices)}] is stored with {outer} outside {self.row}, but in "
                f"'{self.plan.title}' the reduction over {outer} lies inside of {self.row}; store "
                f"{view.tensor} in another mode order, or compute what reads it in a region of its own."
            )
        if view.part is not None and view.part.index == self.row:
            return self._scan_part(view, view.part)
        if view.levels[cursor.level] is LevelType.dense:
            join = Join(domain=None if cursor.missing else FULL, dense=[view])
            if view.sieve and cursor.level == len(view.levels) - 1:
                self.scan_dense(join)
                return self._sieve(view, join)
            return join
        domain: Domain | None = (view.tensor, cursor.level, *view.indices[: cursor.level + 1])
        if cursor.missing:
            domain, cursor.missing = None, False
        scan = self._scan_compressed(view, self.plan.dimension[self.row])
        self.plan.table.fill(self.row, view.name, scan.output("ref"), f"LS({self.plan.text(cursor.ref)})")
        join = Join(scan.output("crd"), domain, [(view, scan.output("ref"))])
        if view.sieve and cursor.level == len(view.levels) - 1:
            return self._sieve(view, join)
        return join

    def _scan_compressed(self, view: View, extent: str) -> Primitive:
        cursor = self.plan.cursor(self.space, view)
        return self.plan.make(
            "scan_compressed",
            f"{view.name}_{self.row}",
            self.space.depth,
            {"ref": cursor.ref},
            index=self.row,
            pos=f"{view.tensor}.pos{cursor.level}",
            crd=f"{view.tensor}.crd{cursor.level}",
            extent=extent,
        )

    def _scan_part(self, view: View, part: Part) -> Join:
        """The coordinates of a part of a concatenation, behind those of the parts before it."""
        cursor = self.plan.cursor(self.space, view)
        domain: Domain | None = None
        if view.levels[cursor.level] is LevelType.dense:
            scan = self._scan_dense(view.name, cursor.ref, part.extent)
            domain = None if cursor.missing else ("part", view.name)
        else:
            scan = self._scan_compressed(view, part.extent)
        cursor.missing = False
        label = " + ".join([f"LS({self.plan.text(cursor.ref)})", *(f"N({x})" for x in part.before)])
        self.plan.table.fill(self.row, view.name, scan.output("ref"), label)
        crd = scan.output("crd")
        for extent in part.before:
            name = f"{view.name}_{self.row}"
            shift = self.plan.make("shift", name, self.space.depth + 1, {"crd": crd}, extent=extent)
            crd = shift.output("crd")
        return Join(crd, domain, [(view, scan.output("ref"))])

    def _sieve(self, view: View, join: Join) -> Join:
        """The coordinates at which a mask is not zero."""
        assert join.crd is not None
        depth = self.space.depth + 1
        array = self.plan.make(
            "array", view.name, depth, {"ref": join.payloads[0][1]}, vals=f"{view.tensor}.vals"
        )
        sieve = self.plan.make("drop_val", view.name, depth, {"crd": join.crd, "val": array.output("val")})
        val = sieve.output("val")
        self.plan.table.fill(self.row, view.name, val, f"NonZero(⟨{view.name}_{self.row}⟩)")
        return Join(sieve.output("crd"), ("nonzero", view.tensor, *view.indices), [(view, val)])

    def scan_dense(self, join: Join) -> None:
        """Scans the first of the operands that could have been located: it gives all the coordinates."""
        view, join.dense = join.dense[0], join.dense[1:]
        cursor = self.plan.cursor(self.space, view)
        cursor.missing = False
        scan = self._every(view.name, cursor.ref)
        self.plan.table.fill(self.row, view.name, scan.payloads[0][1], f"LS({self.plan.text(cursor.ref)})")
        join.crd = scan.crd
        join.payloads = [*join.payloads, (view, scan.payloads[0][1])]

    def _every(self, name: str, ref: Source) -> Join:
        """Every coordinate, as a dense level has them."""
        scan = self._scan_dense(name, ref, self.plan.dimension[self.row])
        return Join(scan.output("crd"), FULL, [(None, scan.output("ref"))])

    def _scan_dense(self, name: str, ref: Source, extent: str) -> Primitive:
        return self.plan.make(
            "scan_dense",
            f"{name}_{self.row}",
            self.space.depth,
            {"ref": ref},
            index=self.row,
            extent=extent,
        )

    def _stream(self, e: Einsum) -> Join | None:
        stream = self.space.streams[e]
        if not stream.pending or stream.pending[0].index != self.row:
            return None
        row = stream.pending[0]
        if len(stream.pending) > 1:
            return Join(row.crd, row.domain, nested=e)
        return Join(row.crd, row.domain, [(e, stream.val)])

    # Operations

    def _apply(self, e: Apply) -> Join | None:
        joins = [self.join(o) for o in e.operands]
        # An operand that stands in several places joins once.
        parts = list({id(j): j for j in joins if j is not None}.values())
        if not parts:
            return None
        if e.op == MUL:
            return self._intersect(parts)
        if e.op == CONCAT:
            return self._concat(e, parts)
        if e.op == MASK:
            # The mask's coordinates; the operand counts as zero where it has none.
            operand, mask = joins
            if mask is None:
                return operand if operand is None or operand.full else _everywhere([operand])
            return _optional(mask, [operand] if operand else [])
        if e.op == EVERYWHERE:
            return parts[0] if parts[0].full else _everywhere(parts)
        if e.op == "div" and joins[0] is not None:
            return _optional(joins[0], parts[1:])
        if e.op == "select" and self._is_led_by_branches(e):
            # Zero where both branches are, whatever the condition.
            branches = self._union(list({id(j): j for j in joins[1:] if j is not None}.values()))
            return _optional(branches, [joins[0]] if joins[0] else [])
        # What lacks the row has one value all along it, zero or not.
        lacking = any(map(self._lacks, e.operands))
        if any(p.full for p in parts) or (vanishes(e) and not lacking):
            return self._union(parts)
        return _everywhere(parts)

    def _is_led_by_branches(self, select: Apply) -> bool:
        """The branches of a `select` have this row and are zero elsewhere, and so is the `select`."""
        branches = select.operands[1:]
        numbers = [o.value for o in branches if isinstance(o, Constant)]
        return not any(numbers) and len(numbers) < len(branches) and not any(map(self._lacks, branches))

    def _lacks(self, operand: Einsum) -> bool:
        """The operand has no such row, and so may be nonzero all along it."""
        return not isinstance(operand, Constant) and self.join(operand) is None

    def _intersect(self, parts: list[Join]) -> Join:
        bounded = [p for p in parts if not p.everywhere]
        if not bounded:
            return _everywhere(parts)
        optional = [o for p in parts for o in p.optional]
        # What has values everywhere selects no coordinates.
        optional += [Join(dense=p.dense) for p in parts if p.everywhere]
        leaders = [p for p in bounded if p.crd is not None]
        dense = _once(v for p in bounded for v in p.dense)
        if any(map(self._missing, dense)) and len(dense) + len(leaders) > 1:
            # Where a union above has brought in a coordinate, the operand that lacks it counts as zero.
            self.plan.makes_zeros = True
        if not leaders:
            dense.sort(key=self._missing)
            domain = FULL if any(p.full for p in bounded) else None
            return Join(domain=domain, dense=dense, optional=optional)
        joined = self._merge("intersect", leaders)
        return replace(joined, dense=dense, optional=optional)

    def _union(self, parts: list[Join]) -> Join:
        optional = [o for p in parts for o in p.optional]
        if any(p.everywhere for p in parts):
            return _everywhere(parts)
        full = any(p.full for p in parts)
        unscanned = sorted((p for p in parts if p.crd is None), key=lambda p: not p.full)
        if len(unscanned) == len(parts) and full:
            dense = _once(v for p in unscanned for v in p.dense)
            return Join(domain=FULL, dense=dense, optional=optional)
        # One operand with every coordinate locates the others; without one, each gives those that it has.
        if not any(p.full for p in parts if p.crd is not None):
            for part in unscanned[:1] if full else unscanned:
                self.scan_dense(part)
        leaders = [p for p in parts if p.crd is not None]
        dense = _once(v for p in parts for v in p.dense)
        joined = self._merge("union", leaders)
        return replace(joined, dense=dense, optional=optional)

    def _concat(self, e: Apply, parts: list[Join]) -> Join:
        """The coordinates of all parts of a concatenation. At the rows other than that along which it goes,
        they meet like the terms of a sum."""
        views = [operand for operand in e.operands if isinstance(operand, View)]
        if any(view.part is not None and view.part.index == self.row for view in views):
            # Parts that have all of their own coordinates make up the whole.
            domain = FULL if all(p.domain is not None for p in parts) else None
            joined = replace(self._merge("union", parts), domain=domain)
        elif all(p.crd is None and not p.full for p in parts):
            # All are dense below coordinates that only some of them have.
            every = self._every(views[0].name, self.space.crd)
            joined = Join(every.crd, FULL, dense=_once(v for p in parts for v in p.dense))
        else:
            joined = self._union(parts)
        zeros = any(v.indices[-1] == self.row and v.levels[-1] is LevelType.dense for v in views)
        return replace(joined, zeros=zeros)

    # Joiners

    def _merge(self, kind: str, parts: list[Join]) -> Join:
        """Joins leaders, each of the coordinates that it has, and moves the cells of their operands into the
        join. Leaders with the same coordinates need no joiner."""
        groups: list[Join] = []
        for part in parts:
            same = next((g for g in groups if self._alike(g, part)), None)
            if same is None:
                groups.append(replace(part, dense=[], optional=[]))
            else:
                _take_in(same, part)
        if len(groups) == 1:
            return groups[0]
        for group in groups:
            if group.nested is not None:
                raise self.plan.refusal(group.nested, self.space.streams[group.nested], self.row)
        domains = [g.domain for g in groups]
        if kind == "union":
            domain = FULL if FULL in domains else None
        else:
            others = [d for d in domains if d != FULL]
            domain = others[0] if len(others) == 1 else None
        return self._joiner(kind, groups, domain)

    def _alike(self, a: Join, b: Join) -> bool:
        assert a.crd is not None
        assert b.crd is not None
        return (a.domain is not None and a.domain == b.domain) or self.plan.same(a.crd, b.crd)

    def _joiner(self, kind: str, parts: list[Join], domain: Domain | None) -> Join:
        """Makes the joiner, which each payload of each part enters."""
        if kind == "union":
            parts = self._each_once(parts)
        streams = [(part, operand, payload) for part in parts for operand, payload in _lockstep(part)]
        # Of several payloads of one operand the first is taken further.
        streams.sort(key=lambda stream: stream[1] in stream[0].partial)
        if len(streams) > MOST:
            raise ScheduleError(
                f"{len(streams)} streams meet at {self.row} in '{self.plan.title}', but one {kind} takes "
                f"{MOST}; compute some of the operands in a region of their own."
            )
        inputs: dict[str, Source] = {}
        for n, (part, _, payload) in enumerate(streams):
            assert part.crd is not None
            inputs[f"crd{n}"], inputs[f"ref{n}"] = part.crd, payload
        kinds = ["val" if self._is_val(operand) else "ref" for operand in (o for _, o, _ in streams)]
        join = self.plan.make(
            kind, self.row, self.space.depth + 1, inputs, inputs=len(streams), payloads=kinds
        )
        payloads: list[Payload] = []
        for n, (part, operand, _) in enumerate(streams):
            output = join.output(f"ref{n}")
            payloads = _united(payloads, [(operand, output)])
            if kind == "union" and isinstance(operand, View) and not part.full:
                self.plan.cursor(self.space, operand).missing = True
            if isinstance(operand, View | Reduce | Intermediate) and (
                isinstance(operand, View) or (self.row, operand.name) not in self.plan.table.joins
            ):
                if self.plan.table.get(self.row, operand.name) is None:
                    self.plan.table.fill(self.row, operand.name, output, f"⟨{operand.name}_{self.row}⟩")
                self.plan.table.move(self.row, operand.name, output, f"{kind.capitalize()}_{self.row}")
        narrow = frozenset[Einsum]().union(*(p.narrow for p in parts))
        partial = frozenset[Einsum]().union(*(p.partial for p in parts))
        if kind == "union":
            partial |= narrow
        else:
            partial = frozenset(o for o in partial if all(o in p.partial for p in parts if o in p.operands))
            narrow = narrow.union(*(p.operands for p in parts))
        return Join(join.output("crd"), domain, payloads, narrow=narrow, partial=partial)

    def _each_once(self, parts: list[Join]) -> list[Join]:
        """The parts of a union, in which each operand has the payload that is there wherever it has any."""
        result = []
        for n, part in enumerate(parts):
            twice = [o for o in part.operands if any(o in p.operands for p in parts[:n] + parts[n + 1 :])]
            given = [o for o in twice if self._best(parts, o) is not part]
            result.append(part.without(given))
        return result

    def _best(self, parts: list[Join], operand: Einsum) -> Join:
        """The part with the whole of an operand."""
        for part in parts:
            if operand in part.operands and part.has_all(operand):
                return part
        raise self._refusal(operand)

    def _refusal(self, operand: Einsum) -> ScheduleError:
        return ScheduleError(
            f"{_title(operand)} takes part in two terms of '{self.plan.title}' that have different "
            f"coordinates {self.row}; compute one of them in a region of its own."
        )

    # The end of a row

    def finish(self, join: Join, name: str, *, fill: bool, widen: bool) -> tuple[Row, Join]:
        """The row's coordinates, with every operand that has a say in them.

        Args:
            name: of the result, for scanners that stand for it.
            fill: every coordinate is wanted.
            widen: if there are values everywhere, coordinates may be added to those that the operands have.
        """
        if join.everywhere and not widen and join.optional:
            raise ScheduleError(
                f"'{self.plan.title}' has a value at every {self.row}, but {_stored(join.optional)} only "
                f"some {self.row}; restrict the statement to its coordinates with 'where', or give it, or a "
                f"result that has {self.row}, a dense level {self.row}."
            )
        join = replace(join, dense=sorted(join.dense, key=self._missing))
        missing = all(map(self._missing, join.dense))
        if join.crd is None and (join.dense and (not missing or not (fill or join.everywhere))):
            self.scan_dense(join)
            join.domain = None if missing else FULL
        filled = (fill or join.everywhere) and not join.full
        if filled:
            if join.nested is not None:
                raise ScheduleError(
                    f"'{self.plan.title}' is dense in {self.row}, but {_title(join.nested)} gives only some "
                    f"{self.row}, each with a fiber inside; store the result with a compressed level "
                    f"{self.row}, such as 'csf', or choose another order."
                )
            every = self._every(name, self.space.crd)
            joined = every if join.crd is None else self._merge("union", [join, every])
            join.crd, join.domain, join.payloads = joined.crd, FULL, joined.payloads
        for other in join.optional:
            self._join_left(join, other)
        assert join.crd is not None
        row = Row(self.row, join.crd, join.domain, filled or join.zeros)
        # What can be located has all of its coordinates.
        return row, join.without(join.partial.intersection(join.dense))

    def _join_left(self, leader: Join, other: Join) -> None:
        """Brings an optional operand to the leader's coordinates."""
        for further in other.optional:
            self._join_left(leader, further)
        leader.dense = _once([*leader.dense, *other.dense])
        if other.crd is None:
            return
        assert leader.crd is not None
        if self._alike(leader, other):
            _take_in(leader, other)
            return
        # What takes part in the leader is there already, unless it is there in part only.
        twice = leader.operands & other.operands
        better = twice & leader.partial
        if unsettled := [o for o in better if not other.has_all(o)]:
            raise self._refusal(unsettled[0])
        other = other.without(twice - better)
        if not other.payloads and other.nested is None:
            return
        own = [view for view in leader.operands if isinstance(view, View)]
        missing = {view: self._missing(view) for view in own}
        joined = self._merge("union", [replace(leader.without(better), optional=[]), other])
        partial = (leader.partial - better) | (other.operands & (other.narrow | other.partial))
        if not leader.full:
            # What only the other one has goes again: the leader's own coordinates select.
            select = Join(leader.crd, leader.domain, [(None, leader.crd)])
            joined = self._joiner("intersect", [select, joined], leader.domain)
            joined.payloads = joined.payloads[1:]
            leader.narrow |= other.operands
        for view in own:
            self.plan.cursor(self.space, view).missing = missing[view] or view in better
        leader.crd, leader.payloads, leader.partial = joined.crd, joined.payloads, partial

    def _is_val(self, operand: Einsum | None) -> bool:
        """The operand's payloads at this row are values, and not references."""
        if isinstance(operand, View):
            return operand.sieve and self.plan.cursor(self.space, operand).level == len(operand.levels) - 1
        return operand is not None

    def _missing(self, view: View) -> bool:
        return self.plan.cursor(self.space, view).missing


def _lockstep(part: Join) -> list[Payload]:
    """The payloads of a part, or its coordinates for want of any."""
    assert part.crd is not None
    return part.payloads or [(None, part.crd)]


def _once(views: Iterable[View]) -> list[View]:
    return list(dict.fromkeys(views))


def _united(payloads: list[Payload], further: list[Payload]) -> list[Payload]:
    """One stream for each operand."""
    present = {operand for operand, _ in payloads if operand is not None}
    return payloads + [p for p in further if p[0] not in present]


def _stored(joins: Iterable[Join]) -> str:
    """The first tensor whose coordinates are joined, by the name that the program has for it."""
    for join in joins:
        for operand, _ in join.payloads:
            if isinstance(operand, View):
                return f"{operand.tensor} stores"
    return "its operands store"


def _title(operand: Einsum) -> str:
    return operand.name if isinstance(operand, View | Reduce | Intermediate) else "An operand"


def _take_in(join: Join, other: Join) -> None:
    """Adds the payloads of another join with the same coordinates."""
    better = (join.partial & other.operands) - other.partial
    join.payloads = _united(join.without(better).payloads, other.payloads)
    join.partial = (join.partial - better) | (other.partial - join.operands) | (join.partial & other.partial)
    join.narrow |= other.narrow
    join.nested = join.nested or other.nested


def _optional(leader: Join, others: list[Join]) -> Join:
    return replace(leader, optional=leader.optional + others)


def _everywhere(parts: list[Join]) -> Join:
    """Values everywhere, whatever coordinates the parts have."""
    dense = _once(v for p in parts for v in p.dense)
    optional = [o for p in parts for o in p.optional]
    leaders = [replace(p, dense=[], optional=[], everywhere=False) for p in parts if p.crd is not None]
    return Join(dense=dense, everywhere=True, optional=optional + leaders)
