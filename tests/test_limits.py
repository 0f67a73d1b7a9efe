"""What no machine holds is refused before any of it is taken."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from samhw.app.workload import make_workload
from samhw.errors import InputError
from samhw.lang import check_size, model_data, parse
from samhw.limits import check_memory, memory_limit
from samhw.tensors import Tensor, random_tensor, read_tensor
from samhw.tensors.generate import bigbird_mask, power_law_graph, pruned_weights

GB = 1 << 30


def test_the_limit_is_that_of_the_shell() -> None:
    code = "from samhw.limits import memory_limit; print(memory_limit())"
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({GB}, {GB}));"
    done = subprocess.run([sys.executable, "-c", limit + code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == GB
    assert resource.getpagesize() < memory_limit()


def test_more_than_the_limit_is_refused() -> None:
    check_memory(memory_limit(), "this", "hint")
    with pytest.raises(InputError, match=r"^this needs at least .*B of memory, but there are .*B; hint\."):
        check_memory(memory_limit() + 1, "this", "hint")
    with pytest.raises(InputError, match="a billion GB"):
        check_memory(10**30, "this", "hint")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 1 MB."""
    monkeypatch.setattr("samhw.limits.memory_limit", lambda: 1 << 20)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("shape", "format"),
    [((10**6, 10**6), "csr"), ((10**6, 1), "dense"), ((1, 10**6), "(compressed, dense)")],
)
def test_tensors_of_more_than_the_limit(shape: tuple[int, int], format: str) -> None:
    coords, values = np.zeros((2, 10), int), np.ones(10)
    Tensor.from_coo(coords, values, (100, 100), format)
    with pytest.raises(InputError, match="needs at least"):
        Tensor.from_coo(coords, values, shape, format)


@pytest.mark.usefixtures("small")
def test_random_tensors_of_more_than_the_limit() -> None:
    random_tensor((1000, 1000), "csr", seed=0, nnz=1000)
    with pytest.raises(InputError, match="drawing 20,001 of the 1,000,000 places"):
        random_tensor((1000, 1000), "csr", seed=0, nnz=20_001)
    with pytest.raises(InputError, match="needs at least"):
        random_tensor((10**9, 10**9), "csf", seed=0, nnz=10**6)
    for make in (
        lambda: pruned_weights((1000, 1000), 0.1, seed=0),
        lambda: power_law_graph(1000, 0.1, seed=0),
        lambda: bigbird_mask(1000, 10, seed=0),
    ):
        with pytest.raises(InputError, match="needs at least"):
            make()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.mtx", "%%MatrixMarket matrix coordinate real general\n900000000000 3 1\n1 1 1\n"),
        ("array.mtx", "%%MatrixMarket matrix array real symmetric\n1000000 1000000\n1\n"),
        ("array.mtx", "%%MatrixMarket matrix array real general\n100000000000 100000000000\n1\n"),
        ("huge.mtx", f"%%MatrixMarket matrix coordinate real general\n{10**30} {10**30} 1\n1 1 1\n"),
        ("huge.tns", f"# shape: {10**30} {10**30}\n1 1 1\n"),
        ("huge.tns", f"{10**30} 1 1\n"),
    ],
)
def test_files_that_no_machine_holds(tmp_path: Path, name: str, text: str) -> None:
    """Refused at once: the machine's own limit stands."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError):
        read_tensor(path)


def test_programs_that_no_machine_holds() -> None:
    program = parse("tensor A[i=4000000000]\ny[i] = A[i] * 2", "big")
    with pytest.raises(InputError, match=r"'big', whose largest tensor is A \(4,000,000,000\), needs"):
        make_workload(program)
    huge = "tensor A[i=4000000000, j=4000000000]{}\ntensor y[i] : csf\ny[i] = A[i, j]"
    with pytest.raises(InputError, match="needs at least a billion GB"):
        check_size(parse(huge.format("")).bind({}))
    with pytest.raises(InputError, match=r"needs at least 149\.0 GB"):
        check_size(parse(huge.format(" : csr")).bind({}))
    check_size(parse(huge.format(" : dcsr")).bind({}))
    with pytest.raises(InputError, match="whose largest tensor is W1"):
        model_data("gcn", sizes={"f": 10**9, "h": 10**9})


@pytest.mark.parametrize("setting", ["size=2000000000", "size=100000000", f"size={10**400}", "seed=-1"])
def test_random_data_that_no_machine_holds(setting: str) -> None:
    program = parse("tensor B[i, j] : csr\ntensor c[j] : dense\ntensor x[i] : dense\nx[i] = B[i, j] * c[j]")
    with pytest.raises(InputError):
        make_workload(program, [f"random:{setting}"])
