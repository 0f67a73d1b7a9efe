"""Sums of products under any order of their loops: right, or refused since a stream would be entered from the
middle; and then both ways out that the refusal names lead to what is right."""

import re
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest

from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run

EXTENTS = {"i": 3, "j": 4, "k": 5, "l": 2}
FORMATS = {1: ("dense", "csf"), 2: ("csr", "csc", "dcsr", "dcsc", "dense", "dense @ (1, 0)")}
REFUSAL = re.compile(
    r"The sum over (\w) gives .* in which \w comes after (\w), or compute the sum in a statement"
)


@dataclass
class Sum:
    """A statement `Y[..] = term + term`, of a random seed."""

    seed: int
    formats: dict[str, str] = field(default_factory=dict)
    terms: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        for _ in range(rng.choice((1, 2, 2))):
            term = [self.access(rng, "ABCD"[len(self.formats)]) for _ in range(rng.choice((1, 2)))]
            self.terms.append(term)
        self.order = rng.sample(indices(self.terms), len(indices(self.terms)))
        self.kept = rng.sample(self.order, min(len(self.order), rng.choice((1, 2, 2))))
        self.formats[shown("Y", self.kept)] = rng.choice(FORMATS[len(self.kept)])

    def access(self, rng: Random, name: str) -> str:
        access = shown(name, rng.sample(tuple(EXTENTS), rng.choice((1, 2, 2, 2))))
        self.formats[access] = rng.choice(FORMATS[len(indices([[access]]))])
        return access

    def text(self, order: list[str], apart: str = "") -> str:
        """The program; each term that is summed over one index may stand in a statement of its own."""
        sides, statements, formats = [], [], dict(self.formats)
        for number, term in enumerate(self.terms):
            own = indices([term])
            sides.append(" * ".join(term))
            if apart in own:
                sum_of = shown(f"T{number}", [i for i in self.order if i in own and i in self.kept])
                formats[sum_of] = "csf" if "[" in sum_of else "dense"
                nest = ", ".join(i for i in self.order if i in own)
                statements.append(f"{sum_of} = {sides[-1]}    order {nest}\n")
                sides[-1] = sum_of
        left = indices([re.findall(r"\w+\[.*?\]", side) for side in sides])
        nest = ", ".join(i for i in order if i in left)
        declarations = (
            f"tensor {re.sub('[ijkl]', lambda i: f'{i[0]}={EXTENTS[i[0]]}', access)} : {fmt}\n"
            for access, fmt in formats.items()
        )
        last = f"{shown('Y', self.kept)} = {' + '.join(sides)}    order {nest}\n"
        return "".join((*declarations, *statements, last))

    def result(self, text: str) -> np.ndarray:
        work = make_workload(parse(text), ["random:density=0.6"])
        compiled = compile_workload(work, Schedule(permute=True), value=value_type("i32"))
        found = run(compiled, work.tensors).outputs["Y"].to_dense()
        arrays = {name: tensor.to_dense() for name, tensor in work.tensors.items()}
        expected = 0
        for term in self.terms:
            # What a term lacks of the result has one value all along.
            used = [i for i in self.kept if i in indices([term])]
            subscripts = ",".join("".join(indices([[access]])) for access in term)
            array = np.einsum(f"{subscripts}->{''.join(used)}", *(arrays[access[0]] for access in term))
            expected = expected + array.reshape([EXTENTS[i] if i in used else 1 for i in self.kept])
        np.testing.assert_array_equal(found, np.broadcast_to(expected, found.shape), err_msg=text)
        return found


def shown(name: str, modes: list[str]) -> str:
    return f"{name}[{', '.join(modes)}]" if modes else name


def indices(terms: list[list[str]]) -> list[str]:
    found = (i for term in terms for access in term for i in re.findall(r"\w+", access.partition("[")[2]))
    return list(dict.fromkeys(found))


def refusal(case: Sum, text: str) -> tuple[str, ...]:
    """The index of the sum that is refused, and the one after which it should come; none if all is right."""
    try:
        case.result(text)
    except InputError as error:
        found = REFUSAL.match(str(error))
        return found.groups() if found else pytest.fail(f"{text}: {error}")
    return ()


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("batch", range(4))
def test_any_order_is_followed_or_the_ways_out_are(batch: int) -> None:
    refused = 0
    for case in map(Sum, range(batch * 40, batch * 40 + 40)):
        if not (told := refusal(case, case.text(case.order))):
            continue
        refused += 1
        case.result(case.text(case.order, apart=told[0]))
        order = list(case.order)
        for _ in range(4):
            if not told:
                break
            order.remove(told[0])
            order.insert(order.index(told[1]) + 1, told[0])
            told = refusal(case, case.text(order))
        assert not told, case.text(case.order)
    assert refused
