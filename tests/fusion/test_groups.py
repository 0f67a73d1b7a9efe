"""Groups by kinds are TVM's, in the cases of its own tests (test_transform_fuse_ops.py of Relax)."""

import random
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest

import samhw
from samhw.choices.schedule import Schedule
from samhw.lang import parse
from samhw.lang.fusion import Flow, StatementKind, group_flow, kind_groups, post_dominators

KINDS = dict(zip("EBIROX", StatementKind, strict=True))


def groups(text: str) -> list[str]:
    """Of a graph of one word a node: its name, its kind, and the nodes that it reads, `name:kind:read+read`.
    A read node without a word is a parameter."""
    words = [word.split(":") for word in text.split()]
    place = {word[0]: n for n, word in enumerate(words)}
    assert len(place) == len(words)
    readers: list[list[int]] = [[] for _ in words]
    for n, word in enumerate(words):
        for name in word[2].split("+") if len(word) > 2 else ():
            if name in place:
                readers[place[name]].append(n)
    flow = Flow([KINDS[word[1]] for word in words], readers)
    return [" ".join(words[n][0] for n in group) for group in group_flow(flow)]


CASES = {
    "fuse_simple": ("add:E:x exp:E:add squeeze:E:exp", ["add exp squeeze"]),
    "conv2d_fuse": (
        "a:E:x c1:O:a+w b:E:c1 s:E:c1+b c2:O:s+w c3:O:s+w o:E:c2+c3",
        ["a", "c1 b s", "c2 o", "c3"],
    ),
    "concatenate": ("p:O:x u:I:p c:I:u+x o:E:c", ["p", "u c o"]),
    "tuple_root": ("p:O:x u:I:p t:X:u+x", ["p", "u", "t"]),
    "fuse_tuple_get_elemwise": (
        "d:O:x+w split:I:d g0:I:split sig:E:g0 g1:I:split tanh:E:g1 g2:I:split exp:E:g2 mul:E:tanh+exp "
        "o:E:sig+mul",
        ["d", "split g0 sig g1 tanh g2 exp mul o"],
    ),
    "tuple_get_root": ("split:I:x get:I:split d:O:get+w", ["split get", "d"]),
    "tuple_intermediate": (
        "sq:B:x a1:E:sq r1:E:sq a2:E:sq a3:E:a2 a4:E:a1+r1 cat:I:a4+a3+sq q2:E:cat o:E:q2",
        ["sq a1 r1 a2 a3 a4 cat q2 o"],
    ),
    "tuple_consecutive": (
        "a1:E:x a2:E:x a3:E:x c1:I:a1+a2+a3 o1:E:c1 b1:E:o1 b2:E:o1 b3:E:o1 c2:I:b1+b2+b3 o2:E:c2 "
        "d1:E:o2 d2:E:o2 d3:E:o2 c3:I:d1+d2+d3 o3:E:c3 c4:I:o3+x pool:O:c4 e1:E:pool e2:E:e1 t:X:e1+e2",
        [
            "a1 a2 a3 c1 o1 b1 b2 b3 c2 o2 d1 d2 d3 c3 o3 c4",
            "pool e1",
            "e2",
            "t",
        ],
    ),
    "inception_like": (
        "c0:O:x+w r0:E:c0 c1:O:x+w r1:E:c1 cat:I:r0+r1 c2:O:cat+w r2:E:c2 c3:O:cat+w r3:E:c3 out:I:r2+r3",
        ["c0 r0", "c1 r1", "cat", "c2 r2", "c3 r3", "out"],
    ),
    "fuse_parallel_injective": (
        "a:E:x s:E:a t1:I:a t2:I:t1 shift:E:s+t2",
        ["a s t1 t2 shift"],
    ),
    "softmax": ("softmax:O:x cast:E:softmax", ["softmax cast"]),
    "layer_norm_silu": ("ln:O:x relu:E:ln", ["ln relu"]),
    "multiple_paths": (
        "conv:O:x+w reshape:I:b1 add:E:conv+reshape t:I:w2 mm:O:y+t add1:E:mm+b reshape1:I:add1 "
        "add2:E:add+reshape1 call:X:add2",
        ["conv add add2", "reshape", "t", "mm add1", "reshape1", "call"],
    ),
    "dead_group": (
        "t0:I:w1 mm0:O:x+t0 add0:E:mm0 relu:E:add0 t1:I:w2 mm1:O:x+t1 add1:E:mm1 call:X:add1",
        ["t0", "mm0 add0 relu", "t1", "mm1 add1", "call"],
    ),
    "call_dps_packed": ("a:E:x b:E:a call:X:a", ["a", "b", "call"]),
    "full_trilu_broadcast": ("full:E trilu:E:full broadcast:B:trilu", ["full trilu broadcast"]),
    "packed_params": (
        "p0:X:params p1:X:params cast:E:p0 mm0:O:x+cast mm1:O:mm0+p1 call:X:mm1",
        ["p0", "p1", "cast", "mm0", "mm1", "call"],
    ),
    "a sum in the middle": ("exp:E:x sum:R:exp log:E:sum", ["exp sum", "log"]),
    "softmax in five": (
        "max:R:x sub:E:x+max exp:E:sub sum:R:exp div:E:exp+sum",
        ["max", "sub exp", "sum", "div"],
    ),
    "a reshape ahead of a contraction": (
        "reshape:I:b conv:O:x+w add:E:conv+reshape",
        ["reshape", "conv add"],
    ),
    "two layers": ("mm:O:x+w add:E:mm relu:E:add mm2:O:relu+w2 add2:E:mm2", ["mm add relu", "mm2 add2"]),
}


@pytest.mark.parametrize("case", CASES)
def test_they_are_those_of_tvm(case: str) -> None:
    text, expected = CASES[case]
    assert groups(text) == expected


def test_a_group_is_no_larger_than_asked() -> None:
    flow = Flow([StatementKind.ELEMENTWISE] * 10, [[n + 1] for n in range(9)] + [[]])
    assert group_flow(flow) == [list(range(10))]
    assert max(map(len, group_flow(flow, most=4))) == 4


PROGRAMS = {
    "softmax": (
        "tensor X[i=4, j=5]\nm[i] max= X[i, j]\nD[i, j] = X[i, j] - m[i]\nE[i, j] = exp(D[i, j])\n"
        "l[i] = E[i, j]\nY[i, j] = E[i, j] / l[i]\n",
        [["m"], ["D", "E"], ["l"], ["Y"]],
    ),
    "a transposition beside": (
        "tensor X[i=4, j=4]\nA[i, j] = X[i, j] + 1\nS[i, j] = relu(A[i, j])\nT[j, i] = A[i, j]\n"
        "U[i, j] = T[i, j]\nY[i, j] = S[i, j] + U[i, j]\n",
        [["A", "S", "T", "U", "Y"]],
    ),
    "dead group": (
        "tensor X[i=4, k=4]\ntensor W[k=4, j=4]\ntensor V[j=4, k=4]\ntensor b[j=4]\n"
        "P[i, j] = X[i, k] * W[k, j]\nt[k, j] = V[j, k]\nQ[i, j] = X[i, k] * t[k, j]\n"
        "A[i, j] = P[i, j] + b[j]\nB[i, j] = Q[i, j] + b[j]\nR[i, j] = relu(A[i, j])\n",
        [["P", "A", "R"], ["t"], ["Q", "B"]],
    ),
    "two paths": (
        "tensor X[i=4, k=4]\ntensor W[k=4, j=4]\ntensor b[i=4, j=4]\n"
        "P[i, j] = X[i, k] * W[k, j]\nr[j, i] = b[i, j]\nA[i, j] = P[i, j] + r[i, j]\n"
        "Q[i, j] = X[i, k] * W[k, j]\nB[i, j] = 2 * Q[i, j]\nT[j, i] = B[i, j]\n"
        "Y[i, j] = A[i, j] + T[i, j]\n",
        [["P", "A", "Y"], ["r"], ["Q", "B"], ["T"]],
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_programs(case: str) -> None:
    text, expected = PROGRAMS[case]
    program = parse(text)
    found = [[statement.lhs.tensor for statement in group] for group in kind_groups(program)]
    assert found == expected
    regions = [list(region.written) for region in Schedule(fuse="kinds").apply(program).regions]
    assert sorted(regions) == sorted(expected)


def drawn_flow(rng: random.Random) -> Flow:
    size = rng.randint(1, 14)
    readers = [
        rng.choices(range(n + 1, size), k=rng.choice((1, 1, 2, 3))) if n + 1 < size else []
        for n in range(size)
    ]
    ends = {n for n in range(size) if rng.random() < 0.05}
    readers = [[] if n in ends else some for n, some in enumerate(readers)]
    return Flow(rng.choices(list(StatementKind), (6, 2, 3, 2, 2, 1), k=size), readers)


def paths(flow: Flow) -> "nx.DiGraph[int]":
    """The graph, with an end after all that leaves."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    size = len(flow.kinds)
    graph.add_nodes_from(range(size + 1))
    for n, readers in enumerate(flow.readers):
        targets: Sequence[int] = readers or [size]
        graph.add_edges_from((n, target) for target in targets)
    return graph


def test_post_dominators_are_those_of_the_textbook() -> None:
    for number in range(300):
        flow = drawn_flow(random.Random(number))
        graph = paths(flow)
        end = len(flow.kinds)
        wanted = nx.immediate_dominators(graph.reverse(), end)
        for n, found in enumerate(post_dominators(flow)):
            assert (end if found.node is None else found.node) == wanted[n], number


def test_groups_are_convex() -> None:
    for number in range(300):
        flow = drawn_flow(random.Random(number))
        found = group_flow(flow)
        assert sorted(n for group in found for n in group) == list(range(len(flow.kinds)))
        home = {n: k for k, group in enumerate(found) for n in group}
        edges = {(home[n], home[reader]) for n, readers in enumerate(flow.readers) for reader in readers}
        quotient = nx.DiGraph((a, b) for a, b in edges if a != b)
        assert nx.is_directed_acyclic_graph(quotient), number
        for group in found:
            kinds = [flow.kinds[n] for n in group]
            assert kinds.count(StatementKind.CONTRACTION) <= 1
            assert len(group) == 1 or StatementKind.OPAQUE not in kinds


def test_groups_of_a_scan_are_in_the_order_of_the_data() -> None:
    """What its first group needs of a later one comes first; a state of the step before is there."""
    text = "\n".join(
        [
            "index i=3, j=2, k=2\ntensor x[i, j]\ntensor w[j, k]\ntensor H[i, j]\nscan i {",
            "A[j] = relu(x[i, j])\nB[j] = relu(H[i - 1, j])\nM[k] = B[j] * w[j, k]",
            "T[j] = A[j] + M[j]\nH[i, j] = T[j]\n}",
        ]
    )
    found = Schedule(fuse="kinds").apply(parse(text)).regions
    assert [[*region.written] for region in found] == [["B"], ["M"], ["A", "T"], ["H"]]
    x, w = np.array([[1, -2], [3, 4], [-5, 6]]), np.array([[1, 2], [-1, 1]])
    wanted, h = [], np.zeros(2, int)
    for step in x:
        h = np.maximum(step, 0) + np.maximum(h, 0) @ w
        wanted.append(h)
    run = samhw.compile(text, schedule={"fuse": "kinds"}).run(x=x, w=w)
    np.testing.assert_array_equal(run["H"], wanted)
