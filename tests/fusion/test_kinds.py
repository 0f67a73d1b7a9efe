"""The kinds of statements."""

import re

import pytest

from samhw.lang import load_model, parse
from samhw.lang.fusion import StatementKind, kind_of

TENSORS = """tensor A[i=4, k=4]
tensor B[i=4, k=4]
tensor W[k=4, j=4]
tensor D[i=4, k=4, l=4]
tensor x[k=4]
tensor y[i=4]
tensor s
"""


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("R[i, k] = relu(A[i, k])", StatementKind.ELEMENTWISE),
        ("R[i, k] = A[i, k] * B[i, k] where A[i, k]", StatementKind.ELEMENTWISE),
        ("R[i, k] = A[i, k] + x[k]", StatementKind.ELEMENTWISE),
        ("R[i, k] = s * A[i, k]", StatementKind.ELEMENTWISE),
        ("R[i, k] = 1 + y[i] * x[k]", StatementKind.BROADCAST),
        ("R = 2 * s", StatementKind.ELEMENTWISE),
        ("R[k, i] = A[i, k]", StatementKind.INJECTIVE),
        ("R[k, i] = A[i, k] + B[k, i]", StatementKind.INJECTIVE),
        ("R[m] = reshape(A[i, k])\ntensor R[m=16]", StatementKind.INJECTIVE),
        ("R[i, m] = concat(m, A[i, m], B[i, m])", StatementKind.INJECTIVE),
        ("R[i] = A[i, k]", StatementKind.REDUCTION),
        ("R[i] max= A[i, k]", StatementKind.REDUCTION),
        ("R[i] = A[i, k] * A[i, k] / s", StatementKind.REDUCTION),
        # Each element of the matrix is used once.
        ("R[i] = A[i, k] * x[k]", StatementKind.REDUCTION),
        ("R[i, j] = relu(A[i, k]) * W[k, j]", StatementKind.REDUCTION),
        ("R[i, j] max= A[i, k] * W[k, j]", StatementKind.REDUCTION),
        ("R[i, j] = A[i, k] * W[k, j]", StatementKind.CONTRACTION),
        ("R[i, j] = -(s * A[i, k] * W[k, j] / 2)", StatementKind.CONTRACTION),
        ("R[i, j] = A[i, k] * W[k, j] where A[i, j]", StatementKind.CONTRACTION),
        ("R[i, j] = A[i, k] * W[k, j] + x[j]", StatementKind.CONTRACTION),
        ("R[i, j] = D[i, k, l] * A[j, k] * W[l, j]", StatementKind.CONTRACTION),
        ("R[i] = A[i, k] + y[i]", StatementKind.CONTRACTION),
        ("R[i] = y[i] - A[i, k] * x[k]", StatementKind.CONTRACTION),
        ("R[i] prod= A[i, k]", StatementKind.REDUCTION),
        ("R[i, k] = cumsum(k, A[i, k])", StatementKind.OPAQUE),
    ],
)
def test_kinds(statement: str, kind: StatementKind) -> None:
    used = [line for line in TENSORS.splitlines() if re.search(rf"\b{line.split()[1][0]}\b", statement)]
    (found,) = parse("\n".join([*used, statement])).statements
    assert kind_of(found) is kind


def test_those_of_attention() -> None:
    kinds = {s.lhs.tensor: str(kind_of(s)) for s in load_model("bigbird_attention").statements}
    assert kinds == {
        **dict.fromkeys("SO", "contraction"),
        **dict.fromkeys("CEP", "elementwise"),
        **dict.fromkeys("ml", "reduction"),
    }
