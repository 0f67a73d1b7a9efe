"""Nodes that fabrics have in common: simulator and RTL take the same cycles, give the same words, and name
the same node of the same region."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import samhw
from samhw.app.api import RunnableDesign
from samhw.errors import RunError
from samhw.graph import Design, HostOptions, Ports, RandomMemory, with_ports
from tests.seams.run import same
from tests.support.spent import counted, simulated

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

LAYERS = """S[i, j] = A[i, k] * X[k, j]
H[i, j] = relu(S[i, j] + b[j])
U[i, j] = A[i, k] * H[k, j] + S[i, j]
t[i] = U[i, j] * U[i, j]"""
SOFTMAX = """m[i] max= B[i, k]
E[i, k] = exp(B[i, k] - m[i]) where B[i, k]
l[i] = E[i, k]
P[i, k] = E[i, k] / l[i]
Y[i, j] = P[i, k] * X[k, j]"""
BESIDE = """S[i, j] = A[i, k] * X[k, j]
T[i, j] = B[i, k] * X[k, j] + 1
U[i, j] = S[i, j] * T[i, j]
v[j] = U[i, j] + S[i, j]"""
SCAN = """index i=6
tensor C[t=5, i=6] : dense
tensor H[t=5, i=6] : dense
y[i] = C[t, i]
scan t {
  H[t, i] = H[t - 1, i] * 2 + C[t, i]
}
z[i] = H[t, i] * y[i] + 1"""
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "layers": (LAYERS, {}),
    "floats": (SOFTMAX, {"value": "f32"}),
    "side by side": (BESIDE, {"parallel": "all"}),
    "a scan": (SCAN, {}),
    "blocks": (LAYERS, {"blocks": {"j": 2}}),
    "lanes": (BESIDE, {"lanes": {"i": 2}}),
    "two types": (LAYERS.replace("H[i, j] =", "H[i, j] : i8 ="), {}),
    "off chip": (BESIDE, {"memory": "random:3", "parallel": "all"}),
    "narrow and off chip": (LAYERS, {"memory": "constant:5", "value": "bf16"}),
    "half off chip": (BESIDE, {"memory": "random:3", "place": {"X": "ddr", "U": "ddr"}}),
    "two masters": (LAYERS, {"memory": with_ports(RandomMemory(3), Ports(masters=2))}),
    "banks": (BESIDE, {"lanes": {"i": 2}, "interleave": "X"}),
}
FEW = ("layers", "side by side", "two masters")
"""Those that every round runs."""


@cache
def _data() -> Mapping[str, Any]:
    rng = np.random.default_rng(11)
    found: dict[str, Any] = {}
    for name in ("A", "B"):
        found[name] = scipy.sparse.random_array((10, 10), density=0.3, rng=rng, format="csr")
        found[name].data = rng.integers(1, 4, len(found[name].data))
    return found | {
        "X": rng.integers(-3, 4, (10, 4)),
        "b": rng.integers(-3, 4, 4),
        "C": rng.integers(-3, 4, (5, 6)),
    }


def some_data(program: str) -> dict[str, Any]:
    """Data for the inputs of one of these programs."""
    return {name: given for name, given in _data().items() if f"{name}[" in program}


def _design(program: str, options: Mapping[str, Any]) -> tuple[RunnableDesign, dict[str, Any]]:
    """The design with as little hardware as there can be, and its data."""
    fields = {key: given for key, given in options.items() if key not in ("value", "memory")}
    data = some_data(program)
    formats = {name: "csr" for name in ("A", "B") if name in data}
    schedule = {"fuse": "none", "share_hardware": "all"} | fields
    value = options.get("value", "i32")
    return samhw.compile(program, formats=formats or None, value=value, schedule=schedule), data


@pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.nightly) for name in CASES]
)
def test_cycles_and_words(name: str) -> None:
    assert _agreed(*CASES[name]).shared_nodes


def test_nodes_apart_share_ports() -> None:
    design = _agreed(LAYERS, {"share_hardware": "none", "memory": "random:5"})
    assert not design.shared_nodes
    assert len(design.groups) == len(design.regions)


def _agreed(program: str, options: Mapping[str, Any]) -> Design:
    """What has been built, after simulator and RTL have agreed."""
    return agreed(*_design(program, options), options)


def agreed(design: RunnableDesign, data: Mapping[str, Any], options: Mapping[str, Any]) -> Design:
    """What has been built of a design, after simulator and RTL have agreed, with the options' memory."""
    held = {"memory": options["memory"]} if "memory" in options else {}
    model = design.run(data, **held)
    model.check()
    hardware = design.run(data, backend="verilator", **held)
    assert hardware.cycles == model.cycles
    same(hardware, model)
    return model.compiled.design


def test_an_error_names_the_node_of_its_region() -> None:
    """Two regions have one multiplier: in the second it overflows."""
    program = "index i=4\np[i] = x[i] * y[i] + 1\nq[i] = p[i] * y[i] * x[i]"
    design, _ = _design(program, {"value": "i16"})
    data = {"x": [90, 1, 2, 3], "y": [300, 1, 1, 1]}
    for backend in ("sim", "verilator"):
        with pytest.raises(RunError, match="Region text_1: overflow at node 'mul'"):
            design.run(data, backend=backend)


@pytest.mark.nightly
def test_counters_have_nodes_of_their_own() -> None:
    design, data = _design(LAYERS, {})
    run = design.host_run(data)
    wanted, [spent] = simulated(run), counted(run, HostOptions.parse("counters"))
    assert spent == wanted
