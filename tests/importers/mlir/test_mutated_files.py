"""Files with errors in them end in a sentence, or compile: nothing crashes."""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from samhw.app.workload.mlir import workload_of
from samhw.errors import SamhwError
from samhw.importers.mlir import choose_function, read_module

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "mlir").glob("*.mlir"))
COUNT = int(os.environ.get("SAMHW_MUTANTS", "40"))
"""How many mutants there are of each file."""

TOKEN = re.compile(r"[%#@^!]?[\w.$]+|\s+|[^\w\s]")


def mutants(text: str, seed: int) -> Iterator[str]:
    """Texts with one to three tokens dropped, doubled, exchanged or cut off at the end."""
    rng = random.Random(seed)
    tokens = TOKEN.findall(text)
    for _ in range(COUNT):
        row = list(tokens)
        for _ in range(rng.randint(1, 3)):
            at, other = rng.randrange(len(row)), rng.randrange(len(row))
            match rng.randrange(6):
                case 0:
                    del row[at]
                case 1:
                    row.insert(at, row[other])
                case 2:
                    row[at], row[other] = row[other], row[at]
                case 3:
                    row[at] = row[other]
                case 4:
                    row[at] = rng.choice(["0", "-1", "99999999999", "?", "}", "<", '"', "f16", "\x00", "é"])
                case _:
                    del row[at : at + rng.randint(1, 12)]
        yield "".join(row)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_mutated_file_ends_in_a_sentence(path: Path) -> None:
    for number, text in enumerate(mutants(path.read_text(), 1)):
        try:
            module = read_module(text, "t.mlir")
            workload_of(module, choose_function(module, None), ("random:size=3",))
        except SamhwError as error:
            first = str(error).splitlines()[0]
            assert first.endswith((".", "?")), (number, first)
        except Exception as error:
            raise AssertionError(f"mutant {number} of {path.name}") from error
