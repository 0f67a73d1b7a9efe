"""What is proved of which primitive, and the table of mutants:

python -m tests.formal.listing
"""

from collections.abc import Iterator

from tests.formal import test_banks, test_channel, test_firings, test_streams
from tests.formal.actors import ACTORS
from tests.formal.cases import CASES

__all__ = ["FIRINGS", "STREAMS", "mutants_table"]

_HEAD = "| contract | what is wrong |\n|---|---|\n"


def _kind(name: str) -> str:
    """`reduce_scalar, a sum in blocks`, `gather of rows` and `mark of reduce_scalar` tell of a kind each."""
    first, _, second = name.partition(",")[0].partition(" of ")
    return second if name in ACTORS and second else first


STREAMS = {_kind(name) for name in CASES}
"""The kinds whose streams are proved."""

FIRINGS = {_kind(name) for name in ACTORS}
"""The kinds of whose actors some, at least, are proved to fire as their rules say."""


def _mutants() -> Iterator[tuple[str, str]]:
    yield from (("channel", mutant.name) for mutant in test_channel.MUTANTS)
    yield from (("banks", mutant.name) for mutant in test_banks.MUTANTS)
    for table in (test_streams.MUTANTS, test_firings.MUTANTS):
        yield from ((contract, mutant.name) for contract, found in table.items() for mutant in found)
    yield from ((name, f"row {row + 1} is left out") for name, row in test_firings.FEW)


def mutants_table() -> str:
    """A row for each mutant."""
    return _HEAD + "".join(f"| {contract} | {wrong} |\n" for contract, wrong in _mutants())


if __name__ == "__main__":
    print(mutants_table(), end="")
