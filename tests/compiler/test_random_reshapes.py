"""Random reshapes: of tensors in every format and from every kind of data, alone, one after the other, fused
with unrelated statements and with concatenations. The results are NumPy's at every level of fusion, through
`samhw.compile` and through files as the command line takes them.

Five thousand programs, and 31 in RTL, run on demand:

    SAMHW_RANDOM_RESHAPES=5000 python -m pytest tests/compiler/test_random_reshapes.py
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samhw
from samhw.app.api.arguments import as_tensor, natural_format
from samhw.app.workload import bind_program, compile_workload
from samhw.choices.fuse import FUSION_LEVELS
from samhw.choices.schedule import Schedule
from samhw.errors import InputError
from samhw.targets.backends import run
from samhw.tensors import Format, Tensor, write_tensors
from tests.support.oracle.reshapes import FORMATS, Reshapes, draw

PROGRAMS = int(os.environ.get("SAMHW_RANDOM_RESHAPES", "100"))
BATCH = 25
RTL_PROGRAMS = max(2, PROGRAMS // 160)


def agrees(case: Reshapes, outputs: Mapping[str, Tensor]) -> None:
    """Copies that the compiler adds are results of regions too."""
    assert case.outputs <= outputs.keys()
    for name in outputs.keys() & case.expected.keys():
        found = outputs[name].to_dense()
        np.testing.assert_array_equal(found, case.expected[name], err_msg=f"{name} of\n{case.text}")


@pytest.mark.nightly(but=1)
@pytest.mark.parametrize("batch", range(PROGRAMS // BATCH))
def test_results_are_numpys(batch: int, tmp_path: Path) -> None:
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        case = draw(number)
        for fuse in FUSION_LEVELS:
            result = samhw.compile(case.text, fuse=fuse, permute=True).run(case.inputs)
            agrees(case, result.tensors)
            assert result.check().good
        file = tmp_path / "data.npz"
        held = {name: as_tensor(name, data, natural_format(data)) for name, data in case.inputs.items()}
        write_tensors(file, held)
        workload = bind_program(case.text, [str(file)])
        fuse = FUSION_LEVELS[number % len(FUSION_LEVELS)]
        compiled = compile_workload(workload, Schedule(fuse=fuse, permute=True))
        agrees(case, run(compiled, workload.tensors).outputs)


@pytest.mark.slow
@pytest.mark.verilator
def test_rtl_agrees() -> None:
    for number in range(RTL_PROGRAMS):
        case = draw(1_000_000 + number)
        design = samhw.compile(case.text, fuse=FUSION_LEVELS[number % len(FUSION_LEVELS)], permute=True)
        model = design.run(case.inputs)
        rtl = design.run(case.inputs, backend="verilator")
        assert [r.cycles for r in rtl.run.regions] == [r.cycles for r in model.run.regions], case.text
        agrees(case, rtl.tensors)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_only_what_is_stored_row_by_row_is_reshaped(rank: int) -> None:
    """Wherever the format comes from."""
    shape = (2, 3, 4)[:rank]
    array = np.arange(np.prod(shape)).reshape(shape)
    modes = ", ".join("ijk"[:rank])
    statement = f"Z[p, q] = reshape(A[{modes}])"
    for fmt in FORMATS[rank]:
        ways: tuple[tuple[str, dict[str, Any]], ...] = (
            (f"tensor A[{modes}] : {fmt}\ntensor Z[p=1, q]\n{statement}", {}),
            (f"tensor Z[p=1, q]\n{statement}", {"formats": {"A": fmt}}),
            (f"tensor Z[p=1, q]\n{statement}", {"schedule": Schedule(formats={"A": fmt})}),
        )
        for text, options in ways:
            if Format.parse(fmt, rank) == Format.parse("dense", rank):
                found = samhw.compile(text, **options).run(A=array)["Z"]
                np.testing.assert_array_equal(found, array.reshape(1, -1))
            else:
                with pytest.raises(InputError, match="goes through row-major order; store it as dense"):
                    samhw.compile(text, **options)
