"""Groups of statements that can run one after another, while more of them are made."""

from collections.abc import Sequence

from samhw.lang import Program

__all__ = ["RunOrder"]


class RunOrder:
    """The results of a program in groups, at first each by itself, in an order that the data flow permits.

    A new group changes that order from its first member to its last one alone (Pearce and Kelly, A Dynamic
    Topological Sort Algorithm for Directed Acyclic Graphs, JEA 11, 2006).
    """

    def __init__(self, program: Program):
        self._reads = {s.lhs.tensor: [access.tensor for access in s.needs] for s in program.statements}
        self._groups: list[Sequence[str]] = [[tensor] for tensor in self._reads]
        """Empty where another group has taken one in."""
        self._place = {tensor: n for n, tensor in enumerate(self._reads)}

    def unite(self, results: Sequence[str]) -> str | None:
        """Makes one group of results, which have to be whole groups. Where it could not run it changes
        nothing, and gives what one of them reads of another group that needs one of them."""
        own = {self._place[tensor] for tensor in results}
        span = range(min(own), max(own) + 1)
        behind: set[int] = set()
        for n in span:
            read = {self._place[r]: r for t in self._groups[n] for r in self._reads[t] if r in self._place}
            if n not in own:
                if not own.union(behind).isdisjoint(read):
                    behind.add(n)
            elif between := behind.intersection(read):
                return read[min(between)]
        groups = [self._groups[n] for n in span if n not in own | behind]
        groups += [results, *(self._groups[n] for n in sorted(behind))]
        groups += [()] * (len(span) - len(groups))
        for n, group in zip(span, groups, strict=True):
            self._groups[n] = group
            self._place |= dict.fromkeys(group, n)
        return None
