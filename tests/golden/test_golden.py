"""What each pass makes of small programs stands in files, and means what went in."""

from pathlib import Path

import numpy as np
import pytest

from samhw.compiler.graph_passes import GRAPH_PASSES
from samhw.compiler.passes import pass_names, with_derived
from samhw.lang import Program
from samhw.lang.reference import evaluate_program
from samhw.targets.backends import run
from samhw.tensors import Tensor
from tests.golden.case import CHOICES, Case
from tests.support.program_cases import random_tensors

CASES = [Case.read(path) for path in sorted(Path(__file__).parent.glob("*/*.txt"))]
BY_NAME = [pytest.param(case, id=f"{case.name}-{case.path.stem}") for case in CASES]

NEVER_REFUSES = {
    "alias_reshapes": "a reshape that cannot be an alias is copied",
    "banks": "every vector reducer may have as many banks as it is given",
    "compress_results": "it does what the decision names, which the search has tried",
    "mask_edges": "what no mask helps is refused where blocks are lowered",
    "reads": "what cannot be shared is read twice",
}
"""The passes without a case that is refused, and why."""


@pytest.mark.parametrize("case", BY_NAME)
def test_the_file_says_what_comes_out(case: Case, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update", False):
        case.write()
    else:
        assert case.found == case.expected


@pytest.mark.parametrize("case", BY_NAME)
def test_what_comes_out_means_what_went_in(case: Case) -> None:
    """Programs by the reference, graphs in the simulator."""
    if case.is_refused:
        return
    program = case.job.program.bind({})
    for seed in range(2):
        data = some_data(program, np.random.default_rng(seed))
        if case.name in GRAPH_PASSES:
            stored = run(case.compiled(), data).outputs
            found = {name: tensor.to_dense() for name, tensor in stored.items()}
        else:
            found = evaluate_program(case.left.program, with_derived(data, case.left.recipes))
        expected = evaluate_program(program, data)
        for decl in program.outputs:
            np.testing.assert_allclose(found[decl.name], expected[decl.name], rtol=1e-5, err_msg=decl.name)


def some_data(program: Program, rng: np.random.Generator) -> dict[str, Tensor]:
    """Random tensors, with places in index tensors."""
    tensors = random_tensors(program, rng)
    for name in program.index_tensors:
        places = rng.integers(0, program.places(name) or 1, tensors[name].shape)
        tensors[name] = Tensor.from_dense(places, program.tensors[name].format)
    return tensors


@pytest.mark.parametrize("name", [*CHOICES, *pass_names(), *GRAPH_PASSES])
def test_each_pass_has_cases(name: str) -> None:
    """Three at least that it takes, and one that it refuses, if it refuses any."""
    own = [case for case in CASES if case.name == name]
    refused = [case for case in own if case.is_refused]
    assert len(own) - len(refused) >= 3
    assert bool(refused) is (name not in NEVER_REFUSES)
    assert all(case.head.startswith("# ") for case in own)


def test_each_folder_is_a_pass() -> None:
    assert {case.name for case in CASES} == {*CHOICES, *pass_names(), *GRAPH_PASSES}
