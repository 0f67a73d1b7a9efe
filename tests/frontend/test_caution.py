"""A function of products that a sum adds up is pointed out, and nothing else is."""

import pytest

import samhw
from samhw.lang import cautions, kernel_names, load_kernel, load_model, model_names, parse
from tests.support.command import good


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Y[i, j] = relu(A[i, k] * X[k, j])", "'relu(A[i, k] * X[k, j])' is added up over k"),
        ("y[i] = 2 * exp(A[i, k] * x[k] + b[i])", "'exp(A[i, k] * x[k] + b[i])' is added up over k"),
        ("y = tanh(A[i, k] * B[i, k])", "'tanh(A[i, k] * B[i, k])' is added up over i, k"),
    ],
)
def test_it_is_pointed_out(text: str, said: str) -> None:
    (sentence,) = cautions(parse(text, implied=True))
    assert sentence.startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        "l[i] = exp(S[i, j])",
        "l[i] = exp(S[i, j] - m[i])",
        "l[i] = exp(2 * S[i, j])",
        "l[i] = exp(S[i, j] * c[i])",
        "Y[i, k] = relu(A[i, k] * x[k])",
        "m[i] max= relu(A[i, k] * x[k])",
        "Y[i, j] = relu(A[i, k]) * X[k, j]",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert not cautions(parse(text, implied=True))


def test_no_program_of_ours_is() -> None:
    programs = [*map(load_kernel, kernel_names()), *map(load_model, model_names())]
    assert not [sentence for program in programs for sentence in cautions(program)]


def test_python_and_the_command_line_say_so() -> None:
    text = "y[i] = relu(A[i, k] * x[k])"
    with pytest.warns(UserWarning, match="added up over k, product by product; for relu of the sum"):
        samhw.compile(text)
    assert "for relu of the sum" in good("run", text, "--data", "random").stderr
