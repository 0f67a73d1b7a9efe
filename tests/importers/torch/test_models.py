"""Real modules: the examples and twice forty others, in the simulator and in hardware, unfused and by the
module tree."""

import re
import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import samhw.torch
from samhw.errors import InputError
from samhw.importers.torch import import_module
from samhw.lang.expr import Reshape
from tests.importers.torch.by_hand import BY_HAND
from tests.importers.torch.forty import FORTY
from tests.importers.torch.second_forty import SECOND_FORTY
from tests.importers.torch.unseen import DIGEST, UNSEEN, digest
from tests.support.thorough import sample

ROOT = Path(__file__).parents[3]
FILE = ROOT / "examples" / "pytorch" / "models.py"
EXAMPLES = {
    name: runpy.run_path(str(FILE))[name]
    for name in (
        *("gcn", "graph_sage", "gat", "pruned_mlp"),
        *("autoencoder", "gpt2_block", "encoder_block", "rotary_attention", "siren"),
        *("language_model", "selective_scan"),
    )
}
pytestmark = pytest.mark.filterwarnings("ignore:Sparse")


@pytest.mark.nightly(but=8)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "fuse"),
    sample(list(product(("f32", "bf16"), (None, "module"))), [("f32", None), ("bf16", "module")]),
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, value, fuse):
    module, arguments = EXAMPLES[name]()
    design = samhw.torch.compile(module, arguments, value=value, fuse=fuse)
    found = design.run()
    assert found.check().good
    if (name, value) == ("siren", "bf16"):
        return  # Sines of thirty times a sum: the check knows what roundings of bf16 become there.
    # A few places of bf16 are left after a dozen operators.
    tolerance = 1e-4 if value == "f32" else 0.1
    with torch.no_grad():
        wanted = module(*arguments)
    torch.testing.assert_close(found.output, wanted, rtol=tolerance, atol=tolerance)


IN_HARDWARE = [
    ("gat", "bf16", None),
    ("pruned_mlp", "f32", None),
    ("graph_sage", "bf16", "module"),
]
"""Both types, unfused and fused. The GCN has other tests in hardware, and the blocks and rotary attention,
which are left out, take half a minute each."""


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("name", "value", "fuse"),
    sample(list(product(EXAMPLES, ("f32", "bf16"), (None, "module"))), IN_HARDWARE),
)
def test_example_in_hardware(name, value, fuse):
    design = samhw.torch.compile(*EXAMPLES[name](), value=value, fuse=fuse)
    model, hardware = design.run(), design.run(backend="verilator")
    assert hardware.cycles == model.cycles
    for key in model.result:
        np.testing.assert_array_equal(hardware.result.tensors[key].vals, model.result.tensors[key].vals)


REFUSED = {
    "transformers.top_k_experts": ("aten.where", r"transformers.py:\d+: "),
    "science.hash_grid": ("aten.bitwise_xor", r"science.py:\d+: "),
}
TRAINING = {
    "graphs.dynamic_edge_conv": ("conv.1.running_mean", r"graphs.py:\d+: .* changes its buffer "),
    "graphs.masked_graph_transformer": ("norm1.running_mean", r"graphs.py:\d+: .* changes its buffer "),
    "vision.u_net": ("down.1.running_mean", r"vision.py:\d+: .* changes its buffer "),
}
"""Those written by hand whose batch norms are still training."""


def runs_or_is_refused(name, example, levels, refused=REFUSED):
    module, arguments = example()
    if name in refused:
        operator, place = refused[name]
        with pytest.raises(InputError) as refusal:
            samhw.torch.compile(module, arguments)
        assert re.search(f"{place}'{operator}' .*; ", str(refusal.value))
        return
    for fuse in levels:
        samhw.torch.compile(module, arguments, value="f32", fuse=fuse).run().check()


def few(names):
    """Every second one, and what is refused."""
    return [name for n, name in enumerate(names) if n % 2 == 0 or name in REFUSED]


@pytest.mark.nightly(but=7)
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(list(FORTY), few(FORTY)))
def test_forty(name):
    runs_or_is_refused(name, FORTY[name], sample((None, "module"), ("module",)))


@pytest.mark.nightly(but=7)
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(list(SECOND_FORTY), few(SECOND_FORTY)))
def test_second_forty(name):
    runs_or_is_refused(name, SECOND_FORTY[name], ("module",))


@pytest.mark.nightly(but=6)
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(list(BY_HAND), ["science.hash_grid", *list(BY_HAND)[::7]]))
def test_by_hand(name):
    torch.manual_seed(68)
    runs_or_is_refused(name, BY_HAND[name], (None,), REFUSED | TRAINING)


def test_the_unseen_are_frozen():
    assert digest() == DIGEST


UNSEEN_REFUSED = {
    "packages.normflows.spline": "'aten.index' gives as many elements as the data say",
    "packages.gateloop_transformer.simple": "'aten.logcumsumexp' takes or gives complex numbers",
}


@pytest.mark.nightly(but=8)
@pytest.mark.slow
@pytest.mark.parametrize("name", sample(list(UNSEEN), list(UNSEEN)[:160:20]))
def test_unseen(name):
    module, arguments = UNSEEN[name]()
    if name in UNSEEN_REFUSED:
        with pytest.raises(InputError, match=UNSEEN_REFUSED[name]):
            samhw.torch.compile(module, arguments)
        return
    samhw.torch.compile(module, arguments, value="f32").run().check()


def test_nothing_moves_for_heads():
    """Heads are split, transposed and joined again, and no statement moves an element."""
    program = import_module(*EXAMPLES["gpt2_block"]()).program
    assert not [s for s in program.statements if isinstance(s.rhs, Reshape)]
    # Nine of layer norms, three projections, seven of attention, one more projection, residuals and the MLP.
    assert len(program.statements) < 30


def test_scores_are_computed_under_the_mask():
    program = import_module(*EXAMPLES["gpt2_block"]()).program
    masked = [s for s in program.statements if s.mask is not None]
    assert [s.reduction for s in masked] == ["sum", "sum", "max", "sum"]
    assert all(str(program.tensors[s.lhs.tensor].format).endswith("compressed)") for s in masked[:2])


class SpectralLayer(torch.nn.Module):
    """Of a Fourier neural operator (Li et al., 2020): the lowest frequencies are mixed."""

    def __init__(self) -> None:
        super().__init__()
        self.lift, self.local = torch.nn.Linear(1, 2), torch.nn.Conv1d(2, 2, 1)
        self.mixed = torch.nn.Parameter(torch.randn(2, 2, 2, dtype=torch.cfloat))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.lift(x).permute(0, 2, 1)
        low = torch.fft.rfft(x)[:, :, :2]
        out = torch.zeros(1, 2, 3, dtype=torch.cfloat)
        out[:, :, :2] = torch.einsum("bix,iox->box", low, self.mixed)
        return torch.nn.functional.gelu(torch.fft.irfft(out, n=4) + self.local(x))


def test_auto_takes_no_more_cycles_than_the_regions_of_the_modules() -> None:
    torch.manual_seed(0)
    module, x = SpectralLayer().eval(), torch.randn(1, 4, 1)
    cycles = {}
    for fuse in ("module", "auto"):
        r = samhw.torch.compile(module, (x,), value="f32", fuse=fuse).run()
        r.check()
        cycles[fuse] = r.cycles
    assert cycles["auto"] <= 1.05 * cycles["module"]


def test_auto_looks_up_what_pads_a_convolution() -> None:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.ConstantPad1d((1, 0), 0.0), torch.nn.Conv1d(2, 2, 2)).eval()
    samhw.torch.compile(module, (torch.randn(1, 2, 8),), value="f32", schedule="auto").run().check()


def test_auto_counts_the_steps_of_a_scan_without_data_too() -> None:
    """What is far off with as much data as there is room for is not looked at with the data."""
    torch.manual_seed(0)
    cell, x = UNSEEN["state_space.legendre_memory"]()
    cycles = {
        schedule: samhw.torch.compile(cell, x, value="f32", schedule=schedule).run().cycles
        for schedule in ("auto", None)
    }
    assert cycles["auto"] <= cycles[None]
