"""Joiners: where streams of coordinates meet at a row, in an intersection or a union."""

from collections.abc import Sequence
from dataclasses import replace

from samhw.compiler.einsum import Einsum, Intermediate, Reduce, View
from samhw.compiler.fusion_table import Feed, PlannedOutput
from samhw.compiler.lowering.lockstep import Lockstep, Meeting, OperandStream, Payloads, met_domain
from samhw.compiler.lowering.row import OpenRow, title_of
from samhw.compiler.lowering.space import CrdDomain
from samhw.errors import StreamError
from samhw.graph.spec.base import MOST_JOINED

__all__ = ["StreamJoiner"]


class StreamJoiner:
    """Joins streams of coordinates at a row."""

    def __init__(self, row: OpenRow):
        self._row = row

    def join(self, meeting: Meeting, streams: Sequence[Lockstep]) -> Lockstep:
        """Joins streams, and moves the cells of their operands into the join. Streams with the same
        coordinates need no joiner."""
        groups: list[Lockstep] = []
        for stream in streams:
            same = next((n for n, group in enumerate(groups) if self.are_alike(group, stream)), None)
            if same is None:
                groups.append(stream)
            else:
                groups[same] = self._alike(groups[same], stream)
        if len(groups) == 1:
            return groups[0]
        space = self._row.space
        for group in groups:
            if group.nested is not None:
                raise self._row.builder.refusal(group.nested, space.streams[group.nested], self._row.index)
        return self._met(meeting, groups, met_domain(meeting, [group.domain for group in groups]))

    def are_alike(self, a: Lockstep, b: Lockstep) -> bool:
        """Both have the same coordinates."""
        same_domain = a.domain is not None and a.domain == b.domain
        return same_domain or self._row.builder.same(a.crd, b.crd)

    def lead(self, leader: Lockstep, optional: Lockstep) -> Lockstep:
        """Brings optional operands to the leader's coordinates."""
        if self.are_alike(leader, optional):
            return self._alike(leader, optional)
        # What takes part in the leader is there already, unless it is there in part only.
        mine, theirs = leader.payloads, optional.payloads
        twice = mine.operands & theirs.operands
        better = twice & mine.partial
        for operand, _ in mine.streams:
            if operand in better and operand is not None and not theirs.has_all(operand):
                raise self.refusal(operand)
        optional = replace(optional, payloads=theirs.without(twice - better))
        if not optional.payloads.streams and optional.nested is None:
            return leader
        space = self._row.space
        here = frozenset([self._row.index])
        missing = {
            operand: space.missing(operand) | (here if operand in better else frozenset())
            for operand in mine.operands
        }
        joined = self.join(Meeting.UNION, [replace(leader, payloads=mine.without(better)), optional])
        streams = joined.payloads.streams
        if not leader.full:
            # What only the other one has goes again: the leader's own coordinates select.
            select = Lockstep(leader.crd, leader.domain, Payloads((OperandStream(None, leader.crd),)))
            joined = self._met(Meeting.INTERSECTION, [select, joined], leader.domain)
            streams = joined.payloads.streams[1:]
        for operand in mine.operands:
            space.set_missing(operand, missing[operand])
        payloads = Payloads.led(mine, optional.payloads, streams, full=leader.full)
        return replace(leader, crd=joined.crd, payloads=payloads)

    def _alike(self, a: Lockstep, b: Lockstep) -> Lockstep:
        """What comes along with the same coordinates in two places."""
        self._refuse_partial([a, b])
        return a.and_that_of(b)

    def _met(self, meeting: Meeting, parts: Sequence[Lockstep], domain: CrdDomain | None) -> Lockstep:
        """Makes the joiner, which each payload of each part enters."""
        if meeting is Meeting.UNION:
            parts = self._each_once(parts)
        else:
            self._refuse_partial(parts)
        entering = [(part, payload) for part in parts for payload in part.streams]
        # Of several payloads of one operand the first is taken further.
        entering.sort(key=lambda stream: stream[1].operand in stream[0].payloads.partial)
        outputs = self._node(meeting, entering)
        space = self._row.space
        for (part, (operand, _)), output in zip(entering, outputs, strict=True):
            if meeting is Meeting.UNION and operand is not None and not part.full:
                space.set_missing(operand, space.missing(operand) | {self._row.index})
            self._move(meeting, operand, output)
        leaving = [
            OperandStream(payload.operand, output)
            for (_, payload), output in zip(entering, outputs, strict=True)
        ]
        payloads = Payloads.met(meeting, [part.payloads for part in parts], leaving)
        return Lockstep(outputs[0].node.output("crd"), domain, payloads)

    def _node(
        self, meeting: Meeting, entering: Sequence[tuple[Lockstep, OperandStream]]
    ) -> list[PlannedOutput]:
        """The outputs of a new joiner, one for each payload."""
        row = self._row
        if len(entering) > MOST_JOINED:
            raise StreamError(
                f"{len(entering)} streams meet at {row.index} in '{row.builder.title}', but one "
                f"{meeting.value} takes {MOST_JOINED}",
                "compute some of the operands in a region of their own",
            )
        inputs: dict[str, Feed] = {}
        for n, (part, payload) in enumerate(entering):
            inputs[f"crd{n}"], inputs[f"ref{n}"] = part.crd, payload.source
        kinds = ["val" if self._is_val(payload.operand) else "ref" for _, payload in entering]
        node = row.make_inside(
            meeting.value, row.index, inputs, index=row.index, inputs=len(entering), payloads=kinds
        )
        return [node.output(f"ref{n}") for n in range(len(entering))]

    def _is_val(self, operand: Einsum | None) -> bool:
        """The operand's payloads at this row are values, and not references."""
        if isinstance(operand, View):
            return operand.sieve and self._row.is_last(operand)
        return operand is not None

    def _move(self, meeting: Meeting, operand: Einsum | None, output: PlannedOutput) -> None:
        """Moves the operand's cell, if it has one, into a join. Other spaces may have moved a stream's."""
        row = self._row
        if not isinstance(operand, View | Reduce | Intermediate):
            return
        if isinstance(operand, View) or (row.index, operand.name) not in row.table.joins:
            row.show(operand.name, output)
            row.table.move(row.index, operand.name, output, f"{meeting.value.capitalize()}_{row.index}")

    def _each_once(self, parts: Sequence[Lockstep]) -> list[Lockstep]:
        """The parts of a union, in which each operand has the payload that is there wherever it has any."""
        result = []
        for n, part in enumerate(parts):
            elsewhere = frozenset[Einsum]().union(
                *(p.payloads.operands for p in (*parts[:n], *parts[n + 1 :]))
            )
            twice = [o for o, _ in part.payloads.streams if o is not None and o in elsewhere]
            given = [o for o in twice if self._best(parts, o) is not part]
            result.append(replace(part, payloads=part.payloads.without(given)))
        return result

    def _best(self, parts: Sequence[Lockstep], operand: Einsum) -> Lockstep:
        """The part with the whole of an operand."""
        for part in parts:
            if operand in part.payloads.operands and part.payloads.has_all(operand):
                return part
        raise self.refusal(operand)

    def _refuse_partial(self, parts: Sequence[Lockstep]) -> None:
        """Refuses an operand that several parts bring, each in part: none of its payloads serves them all."""
        brought: dict[Einsum, set[PlannedOutput]] = {}
        for part in parts:
            for operand, source in part.payloads.streams:
                if operand is not None:
                    brought.setdefault(operand, set()).add(self._origin(source))
        partial = Payloads.met(Meeting.ALIKE, [part.payloads for part in parts]).partial
        for operand, sources in brought.items():
            if len(sources) > 1 and operand in partial:
                raise self.refusal(operand)

    def _origin(self, source: Feed) -> PlannedOutput:
        """What a payload is at all coordinates that it has now: an intersection has taken away others, and
        before that, unions nothing."""
        output = self._row.table.resolve(source)
        for meeting in (Meeting.INTERSECTION, Meeting.UNION):
            while output.node.kind == meeting.value:
                output = self._row.table.resolve(output.node.inputs[output.port])
        return output

    def refusal(self, operand: Einsum) -> StreamError:
        """The error for an operand of which no part has the whole."""
        return StreamError(
            f"{title_of(operand)} takes part in two terms of '{self._row.builder.title}' that have different "
            f"coordinates {self._row.index}",
            "compute one of them in a region of its own",
        )
