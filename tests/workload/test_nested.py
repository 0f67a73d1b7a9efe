"""Functions of nested lists as programs of files: `file.py:NAME`."""

from pathlib import Path

import numpy as np
import pytest

from samhw.app.workload import bind_program
from samhw.errors import InputError, RunError
from tests.nested.examples import FOLDER

FILE = """
import os

import numpy as np
from samhw.lang import nested
from samhw.lang.nested import ListType

def rnn(xs, w):
    return xs.scanl(lambda s, x: np.tanh(x + s @ w), np.zeros(2))

TYPES = ListType((3,), (2,)), ListType((), (2, 2))

def typed():
    return rnn, TYPES

def listed():
    return rnn, [nested.nested_tensor(np.eye(3, 2)), np.eye(2)]

def lowered():
    return nested.lowered(nested.trace(rnn, *TYPES), copies=True), TYPES

def compared():
    return lambda xs: xs.map(lambda x: 1 if x > 0 else 2), TYPES[:1]

def between():
    def function(xss):
        return xss.scanl(lambda s, xs: xs.foldl(lambda t, x: t * x + s, 1), 0)
    return function, [ListType((3, 4))]

def empty():
    return rnn, (ListType((0,), (2,)), TYPES[1])

def tripled():
    items = np.array([float(os.environ["GREAT"]), 2, 0.5])
    return lambda xs: xs.map(lambda x: 3 * x), [nested.nested_tensor(items)]

def neither():
    return 1, 2, 3
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "nested_functions.py"
    path.write_text(FILE)
    return str(path)


@pytest.mark.parametrize("name", ["typed", "listed", "lowered"])
def test_a_function_is_a_program_with_its_data(file: str, name: str) -> None:
    workload = bind_program(f"{file}:{name}")
    assert workload.program.tensors["result"].shape == (3, 2)
    assert workload.oracle is not None
    assert workload.oracle() == pytest.approx(0, abs=1e-12)
    if name == "listed":
        assert np.array_equal(workload.tensors["xs"].to_dense(), np.eye(3, 2))


def test_a_program_that_is_another_function_is_found(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = bind_program(f"{file}:typed")
    monkeypatch.setattr("samhw.app.workload.bind_named.evaluate_nested", lambda *_: np.ones((3, 2)))
    assert workload.oracle is not None
    with pytest.raises(RunError, match="is off by"):
        workload.oracle()


@pytest.mark.parametrize("great", [1e30, np.inf, np.nan])
def test_each_element_is_compared_by_itself(great: float, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Items times 3, by hand."""
    monkeypatch.setenv("GREAT", str(great))
    workload = bind_program(f"{file}:tripled")
    assert workload.oracle is not None
    assert workload.oracle() == 0
    for wrong in ([3 * great, 6.000001, 1.5], [3 * great, 6, np.nan], [7, 6, 1.5], [3 * great, np.inf, 1.5]):
        monkeypatch.setattr("samhw.app.workload.bind_named.evaluate_nested", lambda *_, w=wrong: np.array(w))
        with pytest.raises(RunError, match="is off by"):
            workload.oracle()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("compared", "nested_functions.py:23: what a function computes is not known while it is traced"),
        ("between", "scanl, line 27 is inside of another scan"),
        ("empty", "parameter 'xs' is a list without items; give it one or more"),
        ("neither", "is to give a torch.nn.Module, or a function of nested lists"),
    ],
)
def test_errors_name_the_line(file: str, name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        bind_program(f"{file}:{name}")
    assert said in str(caught.value)


def test_its_data_are_its_own(file: str) -> None:
    with pytest.raises(InputError, match="has its own data"):
        bind_program(f"{file}:typed", ["random"])


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_a_program(path: Path) -> None:
    workload = bind_program(f"{path}:example")
    assert workload.oracle is not None
    assert workload.oracle() == pytest.approx(0, abs=1e-9)
