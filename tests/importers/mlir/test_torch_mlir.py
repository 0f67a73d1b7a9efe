"""What torch-mlir makes of PyTorch's modules, as programs.

Five of its texts stand beside this file. Where its wheel is installed, all the modules that the tests of
PyTorch's importer have go through it, and are compared with PyTorch.
"""

from pathlib import Path

import numpy as np
import pytest
import torch

from samhw.importers.core import HostArray
from samhw.importers.mlir import choose_function, import_function, read_module
from samhw.lang.reference import evaluate_program
from tests.importers.mlir.agree import assert_runs
from tests.importers.torch.forty import FORTY
from tests.importers.torch.second_forty import SECOND_FORTY
from tests.support.thorough import sample

TEXTS = sorted((Path(__file__).parent / "torch_mlir").glob("*.mlir"))
MODULES = {**FORTY, **{f"second {name}": make for name, make in SECOND_FORTY.items()}}
UNWRITTEN = (
    *("transformers.llama_block", "transformers.top_k_experts", "graphs.gcn", "graphs.gin", "graphs.appnp"),
    *("graphs.relational", "second transformers.parallel_block", "second graphs.gated_graph"),
)
"""What torch-mlir does not lower to linalg."""
WRITTEN = sorted(set(MODULES) - set(UNWRITTEN))


@pytest.mark.slow
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_text_runs(path):
    assert_runs(path.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(WRITTEN, WRITTEN[::8]))
@pytest.mark.filterwarnings("ignore")
def test_a_module_gives_what_pytorch_gives(name):
    fx = pytest.importorskip("torch_mlir.fx", reason="torch-mlir is not installed")
    module, given = MODULES[name]()
    # torch-mlir has no sparse layouts.
    dense = [x.to_dense() if isinstance(x, torch.Tensor) and x.layout != torch.strided else x for x in given]
    arguments = tuple(dense)
    with torch.no_grad():
        wanted = module(*arguments)
    text = str(fx.export_and_import(module, *arguments, output_type="linalg-on-tensors"))
    read = read_module(text, Path(f"{name}.mlir"))
    function = choose_function(read, None)
    names = [argument.lstrip("%") for argument, _ in function.arguments]
    tensors = [x.detach().numpy() for x in arguments if isinstance(x, torch.Tensor)]
    held = {one: HostArray.dense(x) for one, x in zip(names, tensors, strict=True)}
    found = import_function(read, function, held)
    results = evaluate_program(found.program, found.tensors(held))
    several = wanted.values() if isinstance(wanted, dict) else wanted
    for output, other in zip(
        found.outputs, [wanted] if isinstance(wanted, torch.Tensor) else several, strict=True
    ):
        np.testing.assert_allclose(output.of(results), other.numpy(), rtol=1e-4, atol=1e-4)
