"""Models at several levels of fusion: simulator and RTL agree to the cycle and the bit, and with NumPy."""

from dataclasses import replace

import pytest

from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_model_workload
from samhw.choices.fuse import FusionLevel
from samhw.choices.schedule import Schedule
from samhw.graph.numerics import value_type
from samhw.targets.backends import run
from tests.support.thorough import sample

SMALL = {
    "gcn": "random:f=8,h=4,c=3",
    "gat": "random:f=4,c=3",
    "bigbird_attention": "random:i=16,d=4",
    "gpt3_block": "random:i=8,e=4,h=2,d=2,f=4",
}

MODELS = [
    ("gcn", "none", "f32"),
    ("gat", "full", "bf16"),
    ("bigbird_attention", "full", "f32"),
    ("gcn", "full", "fixed<16,8>"),
    ("gcn", "partial", "bf16"),
    ("gpt3_block", "partial", "bf16"),
]
"""What is left to SAMHW_THOROUGH=1 is at the end; partial fusion has lanes in test_lanes.py."""


@pytest.mark.nightly(but=2)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("name", "level", "value"),
    sample(MODELS, MODELS[:3]),
)
def test_cycles_and_words_agree(name: str, level: FusionLevel, value: str) -> None:
    workload = make_model_workload(name, [SMALL[name]])
    workload = replace(workload, program=Schedule(fuse=level).apply(workload.program))
    compiled = compile_workload(workload, value=value_type(value))
    model = run(compiled, workload.tensors)
    rtl = run(compiled, workload.tensors, "verilator")
    assert [r.cycles for r in rtl.regions] == [r.cycles for r in model.regions]
    assert rtl.cycles == model.cycles
    for ours, theirs in zip(model.regions, rtl.regions, strict=True):
        for tensor, found in ours.outputs.items():
            for array, words in found.arrays().items():
                assert words.tobytes() == theirs.outputs[tensor].arrays()[array].tobytes(), tensor
    assert check(workload, compiled, model.outputs).good
