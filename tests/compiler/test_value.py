"""The value type that a program gets if none is asked for."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samhw
from samhw.app.workload import make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import asked_text, asked_type, choose_value
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph.numerics import value_type
from samhw.lang import Program, ProgramBuilder, dumps, parse
from tests.support.strategies.chains import chained_programs

VECTOR = "tensor a[i=4] : dense\ntensor b[i] : dense\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y[i] = a[i] * b[i]", "i32"),
        ("y[i] = max(a[i], -3) - select(lt(a[i], b[i]), 1, b[i])", "i32"),
        ("y[i] = a[i] * b[i] * 2.0", "i32"),
        ("y[i] = a[i] * b[i] * 2147483647", "i32"),
        ("y[i] = a[i] * b[i] * 2147483648", "f32"),
        ("y[i] = a[i] * 0.5 * b[i]", "f32"),
        ("y[i] = a[i] + leaky_relu(b[i], 0.1)", "f32"),
        ("y[i] = a[i] / b[i]", "f32"),
        ("y[i] = a[i] + exp(b[i])", "f32"),
        ("value bf16\ny[i] = a[i] * b[i]", "bf16"),
        ("value i8\ny[i] = a[i] / b[i]", "i8"),
        ("value fixed< 16, 8 >  # a comment\ny[i] = a[i] / b[i]", "fixed<16,8>"),
    ],
)
def test_of_the_text(text: str, value: str) -> None:
    program = parse(VECTOR + text)
    assert choose_value(None, program) == value_type(value)
    assert choose_value(value_type("i16"), program) == value_type("i16")
    assert parse(dumps(program)) == program


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ([1, -2], "i32"),
        ([1.0, -2.0], "i32"),
        ([], "i32"),
        ([True, False], "i32"),
        ([-(2**31), 2**31 - 1], "i32"),
        ([2**31], "f32"),
        ([1.5, 0], "f32"),
        ([np.nan], "f32"),
        ([np.inf], "f32"),
    ],
)
def test_of_the_data(data: list[float], value: str) -> None:
    program = parse(VECTOR + "y[i] = a[i] * b[i]")
    assert choose_value(None, program, [np.asarray(data)]) == value_type(value)


numbers = st.one_of(st.integers(-(2**33), 2**33), st.integers(-5, 5), st.floats(width=32))


@pytest.mark.slow
@settings(max_examples=300)
@given(st.booleans().flatmap(lambda whole: chained_programs(integers=whole)), st.lists(numbers, max_size=4))
def test_i32_wherever_it_will_do(program: Program, data: list[float]) -> None:
    """Against the type itself: it takes the data, and compiles the program."""
    array = np.asarray(data)
    try:
        value_type("i32").encode(array)
        takes_data = True
    except InputError:
        takes_data = False
    found = str(choose_value(None, program, [array]))
    assert found in ("i32", "f32")
    assert found == "f32" or takes_data
    if choose_value(None, program) == value_type("i32"):
        assert (found == "i32") == takes_data
        with suppress(ScheduleError):
            compile_job(Job(program, value=value_type("i32"), schedule=Schedule(permute=True)))


@pytest.mark.parametrize("text", ["auto", "i8", "fixed<16,8>", "f32"])
def test_what_a_text_asks_for(text: str) -> None:
    assert asked_text(asked_type(text)) == text


def test_unknown_value_type() -> None:
    with pytest.raises(InputError, match="Unknown value type 'f99'"):
        asked_type("f99")


def test_random_data_are_drawn_for_what_the_text_needs() -> None:
    whole = make_workload(parse(VECTOR + "y[i] = a[i] * b[i]"))
    assert all(tensor.vals.dtype.kind == "i" for tensor in whole.tensors.values())
    assert whole.value() == value_type("i32")
    fractions = make_workload(parse(VECTOR + "y[i] = a[i] / b[i]"))
    assert any(np.any(tensor.vals % 1) for tensor in fractions.tensors.values())


def test_in_python() -> None:
    p = ProgramBuilder("scale", value="bf16")
    i = p.index("i", 4)
    a, y = p.tensor("a", i, "csf"), p.tensor("y", i)
    y[i] = a[i] * 2
    program = p.program()
    assert compile_job(Job(program)).value == value_type("bf16")
    assert dumps(program).startswith("value bf16\n")
    p.value = "f33"
    with pytest.raises(InputError, match="Unknown value type 'f33'"):
        p.program()


@pytest.mark.parametrize(
    "text",
    [
        "tensor value[i=4] : dense\ny[i] = value[i] * 2",
        "tensor a[i=4] : dense\nvalue[i] = a[i] * 2",
        "tensor a[i=4] : dense\nvalue = a[i] * 2",
        "tensor a[i=4] : dense\nvalue max= a[i]",
        "value f32\ntensor f32[value=4] : dense\nvalue min = f32[value]",
    ],
)
def test_a_tensor_may_be_called_value(text: str) -> None:
    program = parse(text)
    assert "value" in program.tensors or "f32" in program.tensors
    assert program.value == (value_type("f32") if text.startswith("value f32") else None)
    assert parse(dumps(program)) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value f33", r"1:7: Unknown value type 'f33'"),
        ("value fixed<16,99>", r"1:7: fixed<16,99> is not a value type"),
        ("value fixed<16", r"expected ','"),
        ("value i8 i16", r"expected a comment or the end of the line, found 'i16'"),
        ("value i8\nvalue i8", r"2:1: the value type is given twice"),
    ],
)
def test_bad_lines(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(f"{text}\ntensor a[i=4] : dense\ny[i] = a[i] * 2")


@pytest.mark.parametrize(
    ("one", "other", "value", "unit"),
    [
        ("i8", "i8", "i32", "i8"),
        ("u8", "i8", "i32", "i16"),
        ("i8", "i16", "i32", "i16"),
        ("f8e4m3", "f8e5m2", "f32", "bf16"),
        ("f16", "f8e5m2", "f32", "f16"),
        ("f16", "bf16", "f32", "f32"),
    ],
)
def test_factors_of_two_types_meet_in_the_narrowest_that_has_both(
    one: str, other: str, value: str, unit: str
) -> None:
    """i8 and u8 meet in i16, of which a unit makes i32."""
    text = f"tensor A[i, k] : csr, {one}\ntensor X[k, j] : dense, {other}\nT[i, j] = A[i, k] * X[k, j]"
    design = samhw.compile(text, value=value)
    held = {"A": np.array([[0, 3, 0], [2, 0, 1]]), "X": np.array([[1, 2], [3, 4], [5, 6]])}
    run = design.run(**held)
    np.testing.assert_array_equal(run["T"], held["A"] @ held["X"])
    (graph,) = (region.graph for region in design.compiled.regions)
    (product,) = (node for node in graph.nodes if node.params.get("op") == "mul")
    assert (str(graph.operand_type(product)), str(graph.result_type(product))) == (unit, value)
