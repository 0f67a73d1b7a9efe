"""What is read twice at the same references is read once, and results and cycles stay what they are."""

import importlib
import random

import numpy as np
import pytest

import samhw
from samhw.graph import Graph
from samhw.lang import load_cascade, parse

RNG = np.random.default_rng(5)

MLA = {
    "Q": RNG.normal(size=(4, 32)),
    "R": RNG.normal(size=(4, 8)),
    "C": RNG.normal(size=(24, 32)),
    "K": RNG.normal(size=(24, 8)),
    "scale": np.array(0.2),
}
TWICE = """
tensor A[i, j] : {format}
tensor B[i, j] : csr
tensor w[{index}]
fuse {{
  s[i] = A[i, j] * B[i, j]
  t[i] max= A[i, j]
  y[i] = w[i] * s[i] * t[i]
}}
"""


def readers(design: samhw.RunnableDesign, tensor: str) -> int:
    """The nodes that read values of a tensor."""
    graphs = [region.graph for region in design.compiled.regions]
    return sum(f"{tensor}.vals" in node.memories.values() for graph in graphs for node in graph.nodes)


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read for itself from here on."""
    module = importlib.import_module("samhw.compiler.graph_passes.reads")
    monkeypatch.setattr(module, "reads", lambda assembly: assembly)


@pytest.mark.parametrize(("lanes", "times"), [({}, 1), ({"h": 2}, 2), ({"t": 4}, 4), ({"h": 2, "t": 2}, 4)])
def test_latents_are_read_once(lanes: dict[str, int], times: int) -> None:
    """In each lane."""
    schedule = {"cascade": "rescaled", "lanes": lanes}
    design = samhw.compile(load_cascade("mla"), value="f32", schedule=schedule)
    result = design.run(MLA)
    assert result.check().verdict == "right"
    tensor = "C_segments" if "t" in lanes else "C"
    assert max(readers(design, tensor), readers(design, "C")) == times


@pytest.mark.parametrize(("cascade", "once"), [("off", 2), ("rescaled", 1)])
def test_it_costs_no_cycles(cascade: str, once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits has the room that it had when it was read for itself. As it is written, an attention waits
    for two reductions, one after the other, and reads twice."""
    found = {}
    for name in ("once", "twice"):
        design = samhw.compile(load_cascade("mla"), value="f32", schedule={"cascade": cascade})
        result = design.run(MLA)
        found[name] = result.cycles, result["O"], readers(design, "C")
        without(monkeypatch)
    assert (found["once"][2], found["twice"][2]) == (once, 2)
    np.testing.assert_array_equal(found["once"][1], found["twice"][1])
    assert found["once"][0] == found["twice"][0]


def test_an_estimate_counts_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of the graph that is built."""
    read = []
    for _ in range(2):
        design = samhw.compile(load_cascade("mla"), value="f32", schedule={"cascade": "rescaled"})
        read.append(design.estimate(MLA).bytes_read)
        without(monkeypatch)
    once, twice = read
    bytes_of_latents = 4 * MLA["C"].size
    assert twice - once == len(MLA["Q"]) * bytes_of_latents


LAYER_NORM = """
value f32
tensor X[i, e]
fuse {
  s[i] = X[i, e]
  c[i, e] = X[i, e] - s[i] / 64
  q[i] = c[i, e] * c[i, e]
  Y[i, e] = c[i, e] * rsqrt(q[i])
}
"""


def test_a_layer_norm_reads_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows wait for a mean and for a variance after it; one that is ahead would wait with them."""
    cycles = []
    for _ in range(2):
        design = samhw.compile(LAYER_NORM)
        cycles.append(design.run(X=RNG.normal(size=(12, 64))).cycles)
        assert readers(design, "X") == 2
        without(monkeypatch)
    assert cycles[0] == cycles[1]


@pytest.mark.parametrize("name", ["variance", "inertia", "sum_sum", "logsumexp"])
def test_nothing_is_read_twice(name: str) -> None:
    program = load_cascade(name)
    design = samhw.compile(program, value="f32")
    assert design.run({d.name: RNG.uniform(1, 2, (3, 20)) for d in program.inputs}).check().verdict == "right"
    assert all(readers(design, decl.name) == 1 for decl in program.inputs)


@pytest.mark.parametrize(
    ("format", "times"),
    # What is intersected with B leaves coordinates out.
    [("dense", 2), ("csr", 2)],
)
def test_what_differs_is_read_apart(format: str, times: int) -> None:
    program = parse(TWICE.format(format=format, index="i"))
    design = samhw.compile(program, value="i32")
    given = {
        "A": RNG.integers(0, 4, (5, 7)),
        "B": RNG.integers(0, 2, (5, 7)),
        "w": RNG.integers(1, 3, 5),
    }
    assert design.run(given).check().verdict == "right"
    assert readers(design, "A") == times


def draw(rng: random.Random) -> str:
    """A region that reads A under several names and in several forms."""
    reads = ["A[i, j]", "A[i, k]", "x[j]", "x[k]", "A[i, j] * A[i, j]", "B[i, j]", "B[i, k] * x[k]"]
    lines = [
        f"s{n}[i] {rng.choice(('=', '=', 'max='))} {rng.choice(reads)} * {rng.choice(reads[:2])}"
        for n in range(rng.choice((2, 3, 4)))
    ]
    lines = [line for line in lines if not ("j" in line and "k" in line and "max" in line)]
    lines.append("y[i] = " + " + ".join(line.split()[0] for line in lines) if lines else "y[i] = A[i, j]")
    formats = rng.choice(("dense", "dense", "csr"))
    declared = f"tensor A[i, j] : {formats}\ntensor B[i, j] : {rng.choice(('dense', 'csr'))}\ntensor x[j]\n"
    used = [line for line in declared.splitlines() if line.split()[1][:2] in "".join(lines)]
    return "\n".join(used) + "\nfuse {\n" + "\n".join(lines) + "\n}\n"


def test_random_regions() -> None:
    merged = 0
    for number in range(60):
        program = parse(draw(random.Random(number)))
        design = samhw.compile(program, value="i32")
        shapes = {"A": (4, 6), "B": (4, 6), "x": (6,)}
        given = {d.name: RNG.integers(0, 3, shapes[d.name]) for d in program.inputs}
        assert design.run(given).check().verdict == "right", program
        graphs: list[Graph] = [region.graph for region in design.compiled.regions]
        merged += any(
            len(graph.fanout[end]) > 1
            for graph in graphs
            for end in graph.fanout
            if f"{'A'}.vals" in graph.node[end.node].memories.values()
        )
    assert merged > 10
