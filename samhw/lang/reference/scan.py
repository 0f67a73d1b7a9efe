"""The block of a scan: its statements, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from samhw.lang import Access, Program, Scan, Statement
from samhw.lang.reference.evaluate_statement import evaluate_statement
from samhw.lang.reference.relation import Points, Relation, modes
from samhw.lang.reference.typed_statements import Domains

__all__ = ["evaluate_scan"]


def evaluate_scan(
    domains: Domains,
    program: Program,
    scan: Scan,
    statements: Sequence[Statement],
    known: Mapping[str, Relation],
) -> dict[str, Relation]:
    """The results of the statements of a block, in the form of their domains.

    Args:
        program: with all extents.
        known: what was computed before, by the modes of the tensors.
    """
    return _Scan(domains, program, scan, statements, known).results()


class _Scan:
    def __init__(
        self,
        domains: Domains,
        program: Program,
        scan: Scan,
        statements: Sequence[Statement],
        known: Mapping[str, Relation],
    ) -> None:
        self.domains = domains
        self.scan = scan
        self.statements = statements
        self.known = known
        self.count = program.steps(statements[0]) or 0
        self.extents = {
            s: {index: n for index, n in program.extents(s).items() if n is not None} for s in statements
        }
        self.shapes = {s.lhs.tensor: program.tensors[s.lhs.tensor].shape for s in statements}
        self.starts = {
            start.lhs: evaluate_statement(
                domains.of(start.lhs.tensor),
                replace(start, lhs=Access.of(start.lhs.tensor, start.lhs.variables)),
                known,
                {index: n for index, n in program.extents(start).items() if n is not None},
            )
            for start in scan.starts
        }
        self.steps: dict[str, dict[int, Relation]] = {
            s.lhs.tensor: {} for s in statements if s.lhs.step is not None
        }
        """What has been computed of the tensors that the block writes step by step."""

    def results(self) -> dict[str, Relation]:
        present: dict[str, Relation] = {}
        for place in reversed(range(self.count)) if self.scan.down else range(self.count):
            present = {}
            for statement in self.statements:
                result = self.at_step(statement, place, {**self.known, **present})
                if statement.lhs.step is None:
                    present[statement.lhs.tensor] = result
                else:
                    self.steps[statement.lhs.tensor][place] = result
        whole = {s.lhs.tensor: self.stacked(s.lhs) for s in self.statements if s.lhs.tensor in self.steps}
        return {**present, **whole}

    def at_step(self, statement: Statement, place: int, known: Mapping[str, Relation]) -> Relation:
        """The result of a statement at a step, by the modes that it has besides."""
        sliced: dict[str, Relation] = {}
        domain = self.domains.of(statement.lhs.tensor)

        def change(access: Access) -> Access:
            sliced.update({index.tensor: known[index.tensor] for index in access.index_tensors})
            if access.step is None:
                sliced[access.tensor] = self.domains.taken(access.tensor, known[access.tensor], domain)
                return access
            mode, step = access.step
            # No tensor has such a name.
            name = f"{access.tensor} {mode} {step}"
            if name not in sliced:
                found = self.slice(access, place + step.offset, known)
                sliced[name] = self.domains.taken(access.tensor, found, domain)
            return replace(access, tensor=name, indices=_without(access.indices, mode))

        lhs = statement.lhs
        if lhs.step is not None:
            lhs = replace(lhs, indices=_without(lhs.indices, lhs.step[0]))
        alone = replace(
            replace(statement, lhs=Access.of("", ())).with_accesses(lambda a: change(a) if a.tensor else a),
            lhs=lhs,
            scan=None,
        )
        return evaluate_statement(domain, alone, sliced, self.extents[statement])

    def slice(self, access: Access, place: int, known: Mapping[str, Relation]) -> Relation:
        """What a tensor has at a step; what it starts from, or zero, outside of its own."""
        assert access.step is not None
        mode, tensor = access.step[0], access.tensor
        behind = place - self.count + 1 if self.scan.down else -place
        if behind > 0 and (start := self.scan.start(tensor, behind)) is not None:
            return self.starts[start.lhs]
        if tensor in self.steps:
            if place in self.steps[tensor]:
                return self.steps[tensor][place]
            return _zero([size or 0 for n, size in enumerate(self.shapes[tensor]) if n != mode])
        return _at(known[tensor], mode, place)

    def stacked(self, lhs: Access) -> Relation:
        """All steps of a result."""
        assert lhs.step is not None
        mode, rank = lhs.step[0], len(lhs.indices)
        parts = [self.steps[lhs.tensor][place].filled(modes(rank - 1)) for place in range(self.count)]
        values = np.stack([part.values for part in parts], axis=parts[0].lead + 1 + mode)
        own = iter(parts[0].extents[name] for name in modes(rank - 1))
        sizes = {str(n): self.count if n == mode else next(own) for n in range(rank)}
        return Relation(Points.everything(), modes(rank), values, sizes, parts[0].plain)


def _without(indices: Sequence, mode: int) -> tuple:  # type: ignore[type-arg]
    return (*indices[:mode], *indices[mode + 1 :])


def _zero(shape: Sequence[int]) -> Relation:
    names = modes(len(shape))
    return Relation(
        Points(names, np.zeros((len(names), 0), np.int64)) if names else Points.nothing(),
        (),
        np.zeros(0, np.int64),
        dict(zip(names, shape, strict=True)),
        plain=True,
    )


def _at(relation: Relation, mode: int, place: int) -> Relation:
    """A tensor at one coordinate of a mode, by the modes that are left."""
    name, rank = str(mode), len(relation.extents)
    left = [str(n) for n in range(rank) if n != mode]
    if not 0 <= place < relation.extents[name]:
        return _zero([relation.extents[other] for other in left])
    points, dense, values = relation.points, relation.dense, relation.values
    if name in points.indices:
        row = points.indices.index(name)
        chosen = points.coords[row] == place
        indices = _without(points.indices, row)
        points = Points(indices, np.delete(points.coords, row, axis=0)[:, chosen])
        values = values.compress(chosen, axis=relation.lead)
    else:
        values = np.take(values, place, axis=relation.lead + 1 + dense.index(name))
        dense = tuple(other for other in dense if other != name)
    extents = {n: extent for n, extent in relation.extents.items() if n != name}
    found = replace(relation, points=points, dense=dense, values=values, extents=extents, provenance=None)
    return found.renamed({old: str(new) for new, old in enumerate(left)})
