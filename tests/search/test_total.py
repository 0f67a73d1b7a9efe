"""What is accepted statement by statement is accepted however it is fused, whatever the tensors store.

More random programs run on demand:

    SAMHW_RANDOM_FUSION=2000 python -m pytest -n 2 tests/search/test_total.py
"""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from samhw.choices.iteration import ITERATIONS
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError
from samhw.graph.numerics import value_type
from samhw.lang import Capacity, Program
from tests.support.strategies.chains import chained_programs

EXAMPLES = int(os.environ.get("SAMHW_RANDOM_FUSION", "40"))


def accepted(program: Program, schedule: Schedule, capacity: Capacity | None = None) -> Compiled | str:
    """The design, or why there is none."""
    try:
        return compile_job(Job(program, schedule, value=value_type("f32"), capacity=capacity or Capacity()))
    except InputError as error:
        return str(error)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.data())
def test_fusion_refuses_nothing(data: st.DataObject) -> None:
    program = data.draw(chained_programs(integers=False, concordant=data.draw(st.booleans())))
    permute = data.draw(st.booleans())
    iteration = data.draw(st.sampled_from(ITERATIONS))
    counts = st.integers(1, 200)
    capacity = Capacity(entries={name: data.draw(counts) for name in program.tensors})
    if isinstance(
        accepted(program, Schedule(fuse="none", iteration=iteration, permute=permute), capacity), str
    ):
        return
    for fuse in ("partial", "full", "kinds"):
        for share in ("auto", "all"):
            found = accepted(
                program, Schedule(fuse=fuse, iteration=iteration, permute=permute, share=share), capacity
            )
            assert isinstance(found, Compiled), f"{fuse}, {share}: {found}\n{program.text}"
