"""The built-in programs with windows and recurrences, as a user types them, and what they compute."""

import numpy as np
import pytest
from numpy.typing import NDArray

import samhw
from samhw.errors import InputError
from samhw.lang import Program, load_program, load_sequence, sequence_names
from tests.support.command import good, report
from tests.support.plain_sequences import PLAIN
from tests.support.thorough import sample

Array = NDArray[np.float64]
RNG = np.random.default_rng(0)


def drawn(*shapes: tuple[int, ...]) -> list[Array]:
    return [RNG.normal(size=shape) for shape in shapes]


def sites(*shape: int) -> Array:
    return (RNG.random(shape) < 0.3).astype(float)


def voxels(x: int, y: int, z: int, channels: int, features: int) -> list[Array]:
    """Of which a third is there."""
    dense, kernel = drawn((x, y, z, channels), (3, 3, 3, channels, features))
    return [dense * sites(x, y, z)[..., None], sites(x, y, z), kernel]


CASES: dict[str, list[list[Array]]] = {
    "conv2d": [drawn((2, 6, 4), (3, 2, 3, 3), (3,)), drawn((1, 2, 2), (1, 1, 3, 3), (1,))],
    "sparse_conv3d": [voxels(4, 3, 5, 2, 3), voxels(1, 2, 1, 1, 1)],
    "retention": [
        drawn((2, 5, 3), (2, 5, 3), (2, 5, 2), (2,)),
        drawn((1, 1, 2), (1, 1, 2), (1, 1, 1), (1,)),
    ],
    "selective_scan": [
        drawn((5, 3), (5, 3), (3, 4), (5, 4), (5, 4), (3,)),
        drawn((1, 2), (1, 2), (2, 1), (1, 1), (1, 1), (2,)),
    ],
}
TEXTS = list(CASES)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_against_numpy(name: str) -> None:
    program = load_program(name)
    for arrays in CASES[name]:
        named = dict(zip((decl.name for decl in program.operands), arrays, strict=True))
        result = samhw.compile(program, value="f32").run(named)
        assert result.check().verdict == "right"
        (found,) = result.tensors.values()
        assert np.allclose(found.to_dense(), PLAIN[name](**named), atol=1e-4)


@pytest.mark.filterwarnings("ignore:invalid value encountered")  # The first maximum of attention is -inf.
@pytest.mark.parametrize("name", [name for name in sequence_names() if name not in TEXTS])
def test_a_function(name: str) -> None:
    assert not isinstance(load_sequence(name), Program)
    good("compile", name)
    with pytest.raises(InputError, match=r"samhw\.lang\.nested\.lowered if it is of nested lists"):
        load_program(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(sequence_names(), ["grid_rnn", "retention"]))
def test_run(name: str) -> None:
    data = ["--data", "random:size=4"] if name in TEXTS else []
    assert report("run", name, *data)["status"] == "right"


@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize("name", sample(sequence_names(), ["sparse_conv3d"]))
def test_hardware(name: str) -> None:
    """With as many cycles as in the simulator, where there are cycles."""
    data = ["--data", "random:size=4"] if name in TEXTS else []
    model = report("run", name, *data)
    rtl = report("run", name, *data, "--backend", "verilator")
    assert (rtl["status"], rtl["cycles"]) == (model["status"], model["cycles"])
    assert report("run", name, *data, "--backend", "hls")["status"] == model["status"] == "right"


def test_an_unknown_one_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"there is no built-in program 'conv4d' \(did you mean 'conv2d'.*\?\); there are b2b_gemm",
    ):
        load_sequence("conv4d")
