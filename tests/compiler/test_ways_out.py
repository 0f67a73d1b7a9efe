"""Refusals of the compiler, and the ways out that each names: taken, they lead to what NumPy computes.

What would be entered from the middle is in test_single_statements.py, and what ends a region by itself in
test_refusals.py.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from samhw.app.checking.check_run import check
from samhw.app.workload import Workload, compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled
from samhw.errors import InputError
from samhw.graph import Arch
from samhw.graph.numerics import value_type
from samhw.lang import parse
from samhw.targets.backends import run
from tests.compiler.test_sharing import NESTED


class Way(NamedTuple):
    """A program and how it is compiled: the refused one, or a way out."""

    text: str
    schedule: Mapping[str, Any] = MappingProxyType({})
    deepest: int = 1 << 30


def compiled(way: Way) -> tuple[Workload, Compiled]:
    arch = Arch(deepest=way.deepest)
    work = make_workload(parse(way.text), ["random:density=0.6"])
    return work, compile_workload(work, Schedule(**way.schedule), value=value_type("f32"), arch=arch)


COLUMNS = "tensor A[i=5, k=6] : csr\ntensor x[i=5] : dense\ntensor y[k] : dense\ny[k] = A[i, k] * x[i]"
ORDER = f"{COLUMNS}    order k, i\n"
TURNED = "tensor A[i=5, j=5] : csr\ntensor T[i, j] : csr\nT[i, j] = A[i, j] + A[j, i]\n"
DISAGREE = """
tensor A[i=5, j=7] : dense
tensor T[i, j] : dense
fuse {
  U[i, j] = 2 * A[i, j]    order j, i
  T[i, j] = U[i, j] + A[i, j]    order i, j
}
"""
ROWS = ("i", "f", "k", "e")
DOUBLING = "tensor T0[i=2, j=2] : dense\nfuse {{\n{}\n}}\n".format(
    "\n".join(f"  T{n + 1}[i, j] = T{n}[i, k] - T{n}[k, j]" for n in range(9))
)
RESIDUAL = """
tensor X[i=4, e=8] : dense
fuse {
  R[i, e] = relu(X[i, e])
  s[i] = R[i, e]
  Y[i, e] = R[i, e] + s[i]
}
"""
AGAIN = """
tensor S[t=4, u=4, h=2] : csf
tensor V[u, h, d=3]
tensor M[t, u] : csr
fuse {
  T[t, u, h] = 2 * S[t, u, h]
  m[t, h] max= T[t, u, h] where M[t, u]
  E[t, u, h] = T[t, u, h] - m[t, h] where M[t, u]
  O[t, h, d] = E[t, u, h] * V[u, h, d]
}
"""
BLOCK = """
tensor O[i=3, h=2] : dense
tensor V[h=2, e=6] : dense
tensor A1[e=6, f=3] : csc
tensor B1[f=3, e=6] : csr
tensor A2[e=6, f=5] : csr
tensor B2[f=5, e=6] : csc
fuse {
  R0[i, e] = O[i, h] * V[h, e]
  U1[i, f] = R0[i, e] * A1[e, f]
  G1[i, f] = relu(U1[i, f])
  F1[i, e] = G1[i, f] * B1[f, e]
  R1[i, e] = F1[i, e] + R0[i, e]
  C1[i, e] = max(min(R1[i, e], 9), -9)
  U2[i, f] = C1[i, e] * A2[e, f]
  G2[i, f] = relu(U2[i, f])
  F2[i, e] = G2[i, f] * B2[f, e]
  C2[i, e] = max(min(F2[i, e], 9), -9)
  Y[i, e] = C2[i, e] + R0[i, e]
}
"""
JOINED = """
tensor a[i=3] : dense
tensor b[j=2] : csf
fuse {
  t[i] = a[i] * 2
  u[n] = concat(n, t[n], b[n])
  v[m] = concat(m, u[m], u[m], a[m])
}
"""
PARTS = """
tensor a[i=3, j=4] : csr
tensor b[k=2, j] : csr
fuse {
  t[i, j] = a[i, j] * 2
  u[n, j] = concat(n, t[n, j], b[n, j])
  v[n] = u[n, j]
}
"""
TERMS = """
tensor A[i=4] : csf
tensor b[i] : csf
tensor c[i] : csf
tensor D[i] : dense
tensor T[i] : csf
tensor Y[i] : csf
fuse {
  T[i] = A[i] * 2
  Y[i] = (T[i] * b[i] + D[i]) * (T[i] * c[i] + D[i])
}
"""
DEEP = """
tensor C[r=2, a=2, b=2, c=2, d=2, e=2, f=2, g=2, h=2] : dense
tensor B[i=2, j=2, k=2, l=2, m=2, n=2, p=2, q=2, r] : dense
tensor Y[i, j, k, l, m, n, p, q, r] : dense
fuse {
  R[r] = C[r, a, b, c, d, e, f, g, h] * 2    order r, a, b, c, d, e, f, g, h
  Y[i, j, k, l, m, n, p, q, r] = B[i, j, k, l, m, n, p, q, r] * R[r]    order i, j, k, l, m, n, p, q, r
}
"""
SPMM = "tensor A[i=5, k=6] : csr\ntensor X[k, j=4] : dense\nT[i, j] = A[i, k] * X[k, j]\n"
HIGHEST = "tensor A[i=5, k=6] : csr\nm[i] max= A[i, k] where A[i, k]\n"
BLOCKS = """
tensor A[i=8, k=8] : bcsr(4)
tensor X[k, j=8] : bdense(4)
tensor T[i, j] : dense
T[i, j] = A[i, k] * X[k, j]    order i, k, j
"""
SHAPE = "tensor T[m=12]\ntensor R[h=3, d]\ntensor s[h]\nR[h, d] = reshape(T[m])\ns[h] = R[h, d]\n"
CASES = {
    "an order against storage": (
        Way(ORDER),
        "No order of indices suits the storage",
        [Way(ORDER.replace("csr", "csr @ (1, 0)")), Way(ORDER, {"permute": True}), Way(COLUMNS)],
    ),
    "an order of the schedule against storage": (
        Way(COLUMNS, {"order": ("k", "i")}),
        "visits k outside i, but A",
        [
            Way(COLUMNS.replace("csr", "csr @ (1, 0)"), {"order": ("k", "i")}),
            Way(COLUMNS, {"order": ("i", "k")}),
            Way(COLUMNS, {"order": ("k", "i"), "permute": True}),
        ],
    ),
    "an order that lacks an index": (
        Way(COLUMNS, {"order": ("i",)}),
        "does not name each index of .* its indices are k, i",
        [Way(COLUMNS, {"order": ("i", "k")})],
    ),
    "storage in both orders": (
        Way(TURNED),
        "suits the storage of all tensors .* or permit permuted copies",
        [Way(TURNED, {"permute": True})],
    ),
    "orders that disagree": (
        Way(DISAGREE, {"share": "none"}),
        "or change or leave out an order",
        [Way(DISAGREE.replace("    order j, i", "")), Way(DISAGREE.replace("order j, i", "order i, j"))],
    ),
    "a buffer that cannot be": (
        Way(NESTED, {"share": {"N": "buffer"}}),
        "choose another order, or 'N = \"store\"'",
        [Way(NESTED, {"share": {"N": "store"}})],
    ),
    "stored, in a region with an order": (
        Way(NESTED, {"share": {"N": "store"}, "order": ROWS}),
        "leave one of the two out",
        [Way(NESTED, {"share": {"N": "store"}}), Way(NESTED, {"order": ROWS})],
    ),
    "nothing twice, in a region with an order": (
        Way(NESTED, {"share": "all", "order": ROWS}),
        "choose another order, end the fused region after it, or take 'auto'",
        [
            Way(NESTED, {"share": "all", "fuse": [["R", "N"], ["U"]]}),
            Way(NESTED, {"share": "auto", "order": ROWS}),
        ],
    ),
    "too many instances": (
        Way(DOUBLING, {"share": "none"}),
        "more than 256 times over; split the region",
        [
            Way(DOUBLING, {"share": "none", "fuse": [["T1", "T2", "T3"], ["T4", "T5"], ["T6"]]}),
        ],
    ),
    "a number that is computed": (
        Way("tensor A[i=3]\nY[i] = A[i] * exp(2)\n"),
        re.escape("'exp(2)' is a number; write it as one"),
        [Way("tensor A[i=3]\nY[i] = A[i] * 7.389\n")],
    ),
    "a fiber read again": (
        Way(AGAIN, {"share": {"T": "buffer"}}),
        "uses it once more inside of u; choose another order, or end the fused region between the two",
        [Way(AGAIN, {"share": {"T": "store"}}), Way(AGAIN, {"fuse": [["m", "E"]]})],
    ),
    "storage against a sum": (
        Way(BLOCK, {"order": ("i", "f_2", "h_2", "h", "e", "e_2", "f")}),
        r"A1\[f_2, e\] is stored with f_2 outside e, .* the reduction over f_2 lies inside of e; choose "
        "another order, or compute what reads A1 in a region of its own",
        [
            Way(BLOCK, {"order": ("i", "f_2", "h", "e_3", "h_2", "e_2", "h_3", "e", "f")}),
            Way(BLOCK, {"fuse": [["R0"], ["U1"], ["G1", "F1", "R1", "C1", "U2", "G2", "F2", "C2", "Y"]]}),
        ],
    ),
    "a concatenation of a concatenation": (
        Way(JOINED, {"share": "none"}),
        "end the fused region between them",
        [Way(JOINED, {"share": "none", "fuse": [["t", "u"]]}), Way(JOINED)],
    ),
    "a part with rows inside": (
        Way(PARTS, {"share": "none"}),
        "takes a part that its region computes, with j inside; end the fused region before it",
        [Way(PARTS, {"share": "none", "fuse": [["u", "v"]]}), Way(PARTS)],
    ),
    "two terms of one operand": (
        Way(TERMS, {"share": "none"}),
        "A takes part in two terms .* compute one of them in a region of its own",
        [
            Way(TERMS, {"share": "none", "fuse": "none"}),
            Way(
                TERMS.replace("tensor Y", "tensor U[i] : csf\ntensor Y")
                .replace(
                    "  Y[i] =", "}\nU[i] = A[i] * c[i] * 2\nfuse {\n  V[i] = T[i] * b[i] + D[i]\n  Y[i] ="
                )
                .replace("(T[i] * b[i] + D[i]) * (T[i] * c[i] + D[i])", "V[i] * (U[i] + D[i])"),
                {"share": "none"},
            ),
        ],
    ),
    "a sum inside of too many levels": (
        Way(DEEP, {"share": "none"}),
        "More than 15 loops would be nested; compute its statements in regions of their own",
        [Way(DEEP, {"share": "none", "fuse": "none"}), Way(DEEP)],
    ),
    "a channel too deep": (
        Way(RESIDUAL, {"order": ("i", "e")}, deepest=4),
        "would have to hold 9 tokens, .* or permit more than 4 by",
        [Way(RESIDUAL, {"order": ("i", "e")}, deepest=9), Way(RESIDUAL, deepest=4)],
    ),
    "blocks": (
        Way(BLOCKS),
        "store all in blocks of one size",
        [Way(BLOCKS.replace(": dense", ": bdense(4)"))],
    ),
    "an order of a reshape": (
        Way(SHAPE, {"order": {"R": ("m", "h", "d")}}),
        "copies element by element, .* leave the order out",
        [Way(SHAPE)],
    ),
    "a copy that is too large": (
        Way(TURNED, {"permute": True, "largest_copy": 63}),
        r"store A with the mode order '@ \(1, 0\)', or give the schedule 'largest_copy = 64'",
        [Way(TURNED, {"permute": True, "largest_copy": 64})],
    ),
    "lanes in a prime number": (
        Way(SPMM, {"lanes": {"i": 17}}),
        "whose factors are at most 16",
        [Way(SPMM, {"lanes": {"i": 18}})],
    ),
    "lanes of a maximum": (
        Way(HIGHEST, {"lanes": {"k": 2}}),
        "Give lanes to an index outside|to an index further out",
        [Way(HIGHEST, {"lanes": {"i": 2}})],
    ),
    "lanes of no index": (
        Way(SPMM, {"lanes": {"q": 2}}),
        "no index 'q' to have lanes; take one of i, k, j",
        [Way(SPMM, {"lanes": {index: 2}}) for index in "ik"],
    ),
    "lanes with nothing inside": (
        Way(SPMM, {"lanes": {"j": 2}}),
        "give lanes to an index further out, or choose an order that has another index inside",
        [
            Way(SPMM, {"lanes": {"i": 2}}),
            Way(SPMM, {"lanes": {"j": 2}, "order": ("i", "j", "k"), "permute": True}),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_ways_out_are_right(name: str) -> None:
    refused, message, ways = CASES[name]
    with pytest.raises(InputError, match=message):
        compiled(refused)
    for way in ways:
        work, design = compiled(way)
        assert check(work, design, run(design, work.tensors).outputs).good, way.text
