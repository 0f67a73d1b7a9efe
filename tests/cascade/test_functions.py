"""Functions of earlier results: a sum is rescaled by what is never zero, and what else there is waits for the
end, or is left alone."""

import numpy as np
import pytest

import samhw
from samhw.lang import parse
from samhw.lang.cascade import cascaded

S = np.array([[-2, 0, 1, -1], [1, 2, -1, 0.5], [-1, -2, -3, -1.5]])
GREATEST = S.max(1, keepdims=True)

TEXT = "tensor S[i, j]\nfuse {{\n  m[i] {} S[i, j]\n  l[i] = {}\n}}\n"


@pytest.mark.parametrize(
    ("reduction", "term", "wanted", "words"),
    [
        ("max=", "exp(S[i, j] - m[i])", np.exp(S - GREATEST), "rescaled"),
        ("max=", "exp(S[i, j] + m[i])", np.exp(S + GREATEST), "rescaled"),
        ("min=", "exp(S[i, j] - m[i])", np.exp(S - S.min(1, keepdims=True)), "rescaled"),
        ("=", "exp(S[i, j] + m[i])", np.exp(S + S.sum(1, keepdims=True)), "rescaled"),
        ("max=", "S[i, j] * exp(exp(-m[i]))", S * np.exp(np.exp(-GREATEST)), "rescaled"),
        # The greatest goes through zero, from which nothing leads back.
        ("max=", "m[i] * exp(S[i, j] - m[i])", GREATEST * np.exp(S - GREATEST), "left alone: H = "),
        ("max=", "exp(S[i, j] - m[i]) / m[i]", np.exp(S - GREATEST) / GREATEST, "left alone: H = "),
        ("max=", "S[i, j] * exp(1 / m[i])", S * np.exp(1 / GREATEST), "left alone: H = "),
        ("max=", "S[i, j] * abs(m[i])", S * np.abs(GREATEST), "deferred"),
        ("max=", "S[i, j] * log(abs(m[i]) + 2)", S * np.log(np.abs(GREATEST) + 2), "deferred"),
        ("max=", "S[i, j] * rsqrt(abs(m[i]))", S / np.sqrt(np.abs(GREATEST)), "deferred"),
        # No program says a function of sums that SymPy does not know.
        ("max=", "S[i, j] * tanh(m[i])", S * np.tanh(GREATEST), "left alone"),
        ("max=", "S[i, j] * relu(m[i])", S * np.maximum(GREATEST, 0), "left alone"),
        ("max=", "S[i, j] * sigmoid(m[i])", S / (1 + np.exp(-GREATEST)), "left alone"),
    ],
)
def test_sums_are_right(reduction: str, term: str, wanted: np.ndarray, words: str) -> None:
    program = parse(TEXT.format(reduction, term))
    assert words in str(cascaded(program, "rescaled").findings[0])
    found = samhw.compile(program, value="f32", schedule={"cascade": "rescaled"}).run({"S": S})
    np.testing.assert_allclose(found["l"], wanted.sum(1), rtol=1e-5)
