"""Programs in blocks: results are those of the program without, and backends agree."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from samhw.app.checking import check
from samhw.app.workload import compile_workload, make_workload
from samhw.choices.schedule import Schedule
from samhw.compiler import Compiled, estimate_compiled
from samhw.compiler.pipeline import compile_job
from samhw.compiler.search import Job
from samhw.errors import InputError, ScheduleError
from samhw.graph import Arch, OffChip, Ports, RandomMemory, dumps, loads
from samhw.graph.numerics import value_type
from samhw.hls import Options
from samhw.lang import parse
from samhw.sim import (
    operations,
    simulate,
    simulate_regions,
    total_cycles,
    traffic,
    write_chrome_trace,
    write_perfetto_trace,
)
from samhw.targets.backends import run
from samhw.targets.running.csim import HlsDesign, compare
from samhw.targets.running.driver import VerilatedDesign
from samhw.targets.running.images import inputs_of, unload
from samhw.tensors import Tensor
from samhw.tensors.generate import bigbird_mask

SPMM = """
tensor A[i={n}, k={m}] : {a}
tensor X[k, j={w}] : {x}
tensor T[i, j] : {t}
T[i, j] = A[i, k] * X[k, j]    order {order}
"""


def spmm(a: str, x: str, t: str, order: str = "i, k, j", n: int = 10, m: int = 11, w: int = 6) -> str:
    return SPMM.format(a=a, x=x, t=t, order=order, n=n, m=m, w=w)


def compiled_on(
    text: str, value: str = "i32", seed: int = 0, lanes: Mapping[str, int] | None = None
) -> tuple[Compiled, dict[str, Tensor]]:
    """A program of the text on random data, and these."""
    kind = value_type(value)
    workload = make_workload(parse(text, "spmm"), ["random:density=0.2"], value=kind, seed=seed)
    return compile_workload(workload, Schedule(lanes=lanes or {}), value=kind), workload.tensors


def results(compiled: Compiled, tensors: dict[str, Tensor], engine: str = "plain") -> tuple[np.ndarray, int]:
    """T and the cycles of a run."""
    (graph,) = compiled.design.regions
    memories, extents = inputs_of(compiled, tensors)
    run = simulate(graph, Arch(), memories, extents, engine=engine, check=True)
    return unload(graph, run.memories, extents)["T"].to_dense(), run.cycles


@pytest.mark.parametrize(
    ("a", "x", "t"),
    [
        ("bcsr(2)", "bdense(2)", "bdense(2)"),
        ("bcsr(4,2)", "bdense(2,3)", "bdense(4,3)"),
        ("bcsr(1,4)", "bdense(4,1)", "dense"),
        ("bcsr(3,1)", "dense", "bdense(3,1)"),
        ("bcsr(2,4) @ (1, 0)", "bdense(4,2)", "bcsf(2)"),
        ("dbsr(2,4)", "bdense(4,2)", "bcsf(2)"),
        ("dbsr(16)", "bdense(16)", "bdense(16)"),
    ],
)
def test_a_product_in_blocks_is_the_product(a: str, x: str, t: str) -> None:
    order = "k, i, j" if "@" in a else "i, k, j"
    for seed in range(2):
        compiled, tensors = compiled_on(spmm(a, x, t, order), seed=seed)
        got, _ = results(compiled, tensors)
        assert np.array_equal(got, tensors["A"].to_dense() @ tensors["X"].to_dense())


@pytest.mark.slow
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_both_engines_give_the_same(value: str) -> None:
    compiled, tensors = compiled_on(spmm("bcsr(2,4)", "bdense(4,2)", "bcsf(2)"), value)
    plain, compiled_too = (results(compiled, tensors, engine) for engine in ("plain", "compiled"))
    assert np.array_equal(plain[0], compiled_too[0])
    assert plain[1] == compiled_too[1]


def test_blocks_take_fewer_cycles_and_those_of_one_as_many() -> None:
    scalar = results(*compiled_on(spmm("csr", "dense", "dense", n=32, m=32, w=16)))[1]
    ones = results(*compiled_on(spmm("bcsr(1)", "bdense(1)", "bdense(1)", n=32, m=32, w=16)))[1]
    fours = results(*compiled_on(spmm("bcsr(4)", "bdense(4)", "bdense(4)", n=32, m=32, w=16)))[1]
    assert ones == scalar
    assert 4 * fours < scalar


def test_sums_of_blocks_have_the_order_that_is_written() -> None:
    """Of f32: pairwise inside of a block, from block to block in the order of the stream."""
    compiled, tensors = compiled_on(spmm("bcsr(4)", "bdense(4)", "bdense(4)", n=8, m=12), value="f32")
    rng = np.random.default_rng(1)
    made = {
        name: Tensor.from_dense(rng.standard_normal(t.shape).astype(np.float32), t.format)
        for name, t in tensors.items()
    }
    got, _ = results(compiled, made)
    a, x = (made[name].to_dense() for name in ("A", "X"))
    p = a[:, :, None] * x[None]
    blocks = [(p[:, k] + p[:, k + 1]) + (p[:, k + 2] + p[:, k + 3]) for k in range(0, 12, 4)]
    assert np.array_equal(got.astype(np.float32), (blocks[0] + blocks[1]) + blocks[2])


def test_the_text_of_a_design_in_blocks_says_all_of_it() -> None:
    design = compiled_on(spmm("bcsr(2)", "bdense(2)", "bdense(2)"))[0].design
    assert loads(dumps(design)) == design
    # The least number of f32 is no number of JSON.
    text = "tensor x[i=8] : dense\ntensor M[i] : csf\ny max= x[i] where M[i]"
    design = compile_job(Job(parse(text, "p"), Schedule(blocks={"i": 2}), value=value_type("f32"))).design
    assert loads(dumps(design)) == design
    assert "Infinity" not in dumps(design)


REFUSED = {
    (spmm("bcsr(2)", "dense", "bdense(2)")): "'A' is stored in blocks of 2 along k, but 'X' in blocks of 1",
    """
    tensor x[i=8, j=4] : bdense(2)
    tensor y[i, j] : bdense(2)
    y[i, j] = cumsum(j, x[i, j])
    """: "Blocks come to running",
    """
    tensor x[i=8, j=4] : bdense(2)
    tensor y[i] : bdense(2)
    y[i] argmax= x[i, j]
    """: "Blocks come to arg",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_takes_no_blocks_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=REFUSED[text]):
        compile_job(Job(parse(text, "p"), value=value_type("f32")))


@pytest.mark.parametrize(
    ("text", "lanes"),
    [
        (spmm("bcsr(2)", "bdense(2)", "bdense(2)", n=24, m=24), [{"i": 3}, {"i": 2, "k": 2}]),
        (spmm("bcsr(2,3)", "bdense(3,1)", "bcsf(2,1)", n=24, m=24), [{"i": 2}, {"k": 3}]),
    ],
)
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_lanes_distribute_blocks(text: str, lanes: Sequence[Mapping[str, int]], value: str) -> None:
    """Of numbers whose sums are exact, so that lanes of k may add them in another order."""
    single = results(*compiled_on(text, value))
    for counts in lanes:
        compiled, tensors = compiled_on(text, value, lanes=counts)
        rounded = {n: Tensor.from_dense(np.rint(4 * t.to_dense()) / 4, t.format) for n, t in tensors.items()}
        plain, fast = (results(compiled, rounded, engine) for engine in ("plain", "compiled"))
        assert np.array_equal(plain[0], rounded["A"].to_dense() @ rounded["X"].to_dense())
        assert np.array_equal(plain[0], fast[0])
        assert plain[1] == fast[1] < single[1]


@pytest.mark.parametrize("value", ["i32", "f32"])
def test_traces_show_the_numbers_of_a_block(value: str, tmp_path: Path) -> None:
    compiled, tensors = compiled_on(spmm("bcsr(2)", "bdense(2)", "bdense(2)"), value)
    memories, extents = inputs_of(compiled, tensors)
    (graph,) = compiled.design.regions
    runs = [(graph, simulate(graph, Arch(), memories, extents, trace=True))]
    write_chrome_trace(tmp_path / "t.json", runs)
    write_perfetto_trace(tmp_path / "t.pftrace", runs)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    first = tensors["A"].arrays()["vals"][:4]
    assert " ".join(f"{number:g}" for number in first) in {event["name"] for event in events}


@pytest.mark.parametrize(("line", "beat"), [(64, 16), (8, 4), (4, 4)])
def test_memories_off_chip(line: int, beat: int) -> None:
    """Of blocks of 16 bytes, which are a beat, or several, or several lines."""
    text = spmm("bcsr(2)", "bdense(2)", "bdense(2)")
    compiled, tensors = compiled_on(text)
    memories, extents = inputs_of(compiled, tensors)
    graph, memory = compiled.design.regions[0], OffChip(RandomMemory(3, Ports(line=line, beat=beat, lines=4)))
    on_chip = simulate(graph, compiled.arch, memories, extents)
    plain, code = (
        simulate(graph, compiled.arch, memories, extents, memory=memory, engine=engine)
        for engine in ("plain", "compiled")
    )
    assert (plain.cycles, plain.nodes, plain.memory) == (code.cycles, code.nodes, code.memory)
    for name, words in on_chip.memories.items():
        assert plain.memories[name].tolist() == words.tolist()
    assert plain.memory is not None
    blocks = plain.memory.ports["array_A.vals"]
    assert blocks.accesses == max(1, 16 // beat) * len(memories["A.vals"]) // 4 * tensors["X"].shape[1] // 2


def test_a_schedule_stores_all_tensors_of_an_index_in_blocks() -> None:
    program = parse(spmm("csr", "dense", "dense"), "p")
    stored = Schedule(blocks={"i": 4, "k": 2}).apply(program).tensors
    found = {name: str(decl.format) for name, decl in stored.items()}
    assert found == {"A": "bcsr(4,2)", "X": "bdense(2,1)", "T": "bdense(4,1)"}
    with pytest.raises(InputError, match="There is no index 'x' to have blocks"):
        Schedule(blocks={"x": 2}).apply(program)


LAYER = """
tensor W[i={i}, k={k}] : csr
tensor X[k, j={j}] : dense
tensor b[i] : dense
tensor Y[i, j] : dense
fuse {{
  T[i, j] = W[i, k] * X[k, j]
  Z[i, j] = T[i, j] + b[i]
  Y[i, j] = relu(Z[i, j])
}}
"""
SAMPLED = """
tensor B[i={i}, j={j}] : csr
tensor C[i, k={k}] : dense
tensor D[j, k] : dense
tensor Y[i, j] : csr
Y[i, j] = B[i, j] * C[i, k] * D[j, k]    order i, j, k
"""
ATTENTION = """
tensor M[i={i}, j={i}] : csr
tensor Q[i, d={k}] : dense
tensor K[j, d] : dense
tensor V[j, d] : dense
tensor S[i, j] : csr
tensor E[i, j] : csr
tensor P[i, j] : csr
tensor Y[i, d] : dense
fuse {{
  S[i, j] = Q[i, d] * K[j, d] where M[i, j]         order i, j, d
  m[i] max= S[i, j] where M[i, j]                   order i, j
  E[i, j] = exp(S[i, j] - m[i]) where M[i, j]       order i, j
  l[i] = E[i, j]                                    order i, j
  P[i, j] = E[i, j] / l[i]                          order i, j
  Y[i, d] = P[i, j] * V[j, d]                       order i, j, d
}}
"""


def in_blocks(
    text: str, blocks: dict[str, int], value: str, seed: int = 0
) -> tuple[Compiled, dict[str, Tensor]]:
    """A program in blocks on random data; the mask of an attention has blocks as large as those of i."""
    kind, program = value_type(value), parse(text, "p")
    given = make_workload(program, ["random:density=0.2"], value=kind, seed=seed)
    tensors = dict(given.tensors)
    if "M" in tensors:
        tensors["M"] = bigbird_mask(tensors["M"].shape[0], blocks.get("i", 2), seed=seed)
    given = replace(given, tensors=tensors, program=program)
    return compile_workload(given, Schedule(blocks=blocks), value=kind), tensors


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (LAYER.format(i=8, k=11, j=8), {"i": 4, "k": 4, "j": 2}),
        (LAYER.format(i=8, k=11, j=8), {"k": 4}),
        (SAMPLED.format(i=10, k=7, j=9), {"i": 4, "k": 2, "j": 4}),
        (SAMPLED.format(i=10, k=7, j=9), {"j": 4}),
        (ATTENTION.format(i=12, k=4), {"i": 2, "j": 2, "d": 4}),
        (ATTENTION.format(i=16, k=3), {"i": 4, "j": 4}),
    ],
)
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_programs_in_blocks_give_what_they_give_without(
    text: str, blocks: dict[str, int], value: str
) -> None:
    if value == "i32" and "exp" in text:
        value = "fixed<16,8>"
    compiled, tensors = in_blocks(text, blocks, value)
    found = unloaded(compiled, tensors)
    without = unloaded(in_blocks(text, {}, value)[0], tensors)
    if value == "i32":
        assert np.array_equal(found["Y"], without["Y"])
    else:
        assert np.allclose(found["Y"], without["Y"], rtol=1e-5, atol=1e-5 if value == "f32" else 2**-4)
    assert found["Y"].any()


def unloaded(compiled: Compiled, tensors: dict[str, Tensor]) -> dict[str, np.ndarray]:
    """The results of a run in the simulator."""
    memories, extents = inputs_of(compiled, tensors)
    runs = simulate_regions(compiled.design, compiled.arch, memories, extents, check=True)
    pairs = zip(compiled.design.regions, runs, strict=True)
    found = [unload(graph, run.memories, extents) for graph, run in pairs]
    return {name: tensor.to_dense() for results in found for name, tensor in results.items()}


UNEVEN = [
    (LAYER.format(i=7, k=11, j=9), {"i": 4, "k": 2, "j": 2}),  # the bias
    ("tensor x[i=7]\ntensor Y[i]\nY[i] = exp(x[i])", {"i": 4}),
    ("tensor x[i=7]\ntensor z[i]\nY = (x[i] + 1) * exp(z[i])", {"i": 4}),
    ("tensor x[i=7, j=5]\ntensor Y[j]\nY[j] = exp(x[i, j]) - 2 * exp(x[i, j] * 2)", {"i": 4, "j": 2}),
    ("tensor W[i=7, k=5] : csr\ntensor b[i]\ntensor Y[i]\nY[i] = W[i, k] + b[i] + 1", {"i": 4, "k": 2}),
    ("tensor x[i=7]\nY max= x[i] - 40", {"i": 4}),
    ("tensor x[i=7, j=5]\nY max= x[i, j] - 40", {"i": 4, "j": 2}),
    (
        "tensor x[i=7, j=5]\ntensor M[i] : csf\ntensor Y[i]\nY[i] max= x[i, j] - 40 where M[i]",
        {"i": 4, "j": 2},
    ),
    (
        "tensor x[i=7, j=5, k=3]\ntensor M[k] : csf\ntensor Y[i]\nY[i] prod= x[i, j, k] - 4 where M[k]",
        {"i": 4, "j": 2, "k": 2},
    ),
    (
        "tensor x[i=7, j=5]\ntensor Y[i, j]\nfuse {\nm[i] = x[i, j] * 0.2\nd[i, j] = x[i, j] - m[i]\n"
        "v[i] = d[i, j] * d[i, j] * 0.2\nY[i, j] = d[i, j] * rsqrt(v[i] + 0.1)\n}",
        {"i": 4, "j": 2},
    ),
    (  # Uses that share a row under two names.
        "tensor x[i=7]\ntensor Y[i]\nfuse {\nT[i] = x[i]\nS = T[i]\nY[i] = T[i] - S\nZ = T[i]\n}",
        {"i": 3},
    ),
]
"""Programs whose blocks reach beyond extents, where something would not be zero, or would be taken in."""
MASKED = [
    (ATTENTION.format(i=13, k=4), {"i": 4, "j": 4, "d": 2}),
    (ATTENTION.format(i=9, k=4), {"j": 2, "d": 2}),
    ("tensor x[i=7, j=5]\ntensor M[i, j] : csr\ntensor Y[i]\nY[i] min= x[i, j] + 40 where M[i, j]", {"i": 4}),
    ("tensor x[i=7, j=5]\ntensor M[i, j] : csr\nY max= x[i, j] - 40 where M[i, j]", {"i": 4, "j": 2}),
    ("tensor x[i=7, j=5]\ntensor M[i, j]\ntensor Y[i]\nY[i] prod= x[i, j] where M[i, j]", {"i": 4, "j": 2}),
    (
        "tensor x[i=7, j=5]\ntensor M[i, j]\ntensor Y[i, j]\nY[i, j] = x[i, j] + 3 where M[i, j]",
        {"i": 4, "j": 2},
    ),
    (
        "tensor x[i=7]\ntensor M[i, j=6] : csr\ntensor Y[i, j] : csr\nY[i, j] = x[i] where M[i, j]",
        {"i": 4, "j": 2},
    ),
    ("tensor x[j=7, d=5]\ntensor M[i=6, j] : csr\ntensor Y[i, d]\nY[i, d] = x[j, d] where M[i, j]", {"j": 2}),
    (
        "tensor x[i=7, j=5]\ntensor N[i, j] : csr\ntensor Y[i]\n"
        "fuse {\nM[i, j] = N[i, j] * x[i, j]\nY[i] max= x[i, j] - 40 where M[i, j]\n}",
        {"i": 4, "j": 2},
    ),
    (  # A union of streams that have different names for their row.
        "tensor x[i=7] : csf\ntensor M[i] : csf\ntensor G[i] : csf\ntensor Y[i]\nfuse {\n"
        "T[i] = x[i] * 2\nS = T[i]\nY[i] = T[i] - S where M[i]\nZ = T[i] * G[i]\n}",
        {"i": 3},
    ),
]
"""Programs under masks with zeros inside of their blocks."""


@pytest.mark.parametrize("value", ["i32", "fixed<16,8>", "f32"])
@pytest.mark.parametrize(("text", "blocks"), UNEVEN + MASKED)
def test_blocks_at_the_edge_and_in_masks_change_nothing(
    text: str, blocks: dict[str, int], value: str
) -> None:
    if value == "i32" and any(word in text for word in ("exp", "rsqrt")):
        value = "bf16"
    given = make_workload(parse(text, "p"), ["random:density=0.3"], value=value_type(value), seed=1)
    found, without = (
        unloaded(compile_workload(given, Schedule(blocks=b), value=value_type(value)), given.tensors)["Y"]
        for b in (blocks, {})
    )
    close = {"i32": 0, "f32": 1e-5, "bf16": 2**-6, "fixed<16,8>": 2**-4}[value]
    assert np.allclose(found, without, rtol=close, atol=close)
    assert found.any()


TRANSPOSED = "tensor A[i=5, j=7] : bcsr(2,3)\ntensor Y[j, i] : bcsf(3,2)\nY[j, i] = A[i, j]"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (TRANSPOSED, {}),
        (
            "tensor A[i=5, j=7] : csr\ntensor B[i, j] : csc\ntensor Y[i, j]\nY[i, j] = A[i, j] - B[i, j]",
            {"i": 2, "j": 3},
        ),
        (
            "tensor A[i=6, k=8] : dcsc\ntensor X[k, j=5] : csc\ntensor Y[i, j]\nY[i, j] = A[i, k] * X[k, j]",
            {"i": 2, "k": 4, "j": 3},
        ),
        (
            "tensor A[i=4, j=3, k=5] : csf\ntensor x[i]\ntensor Y[k, j] : csf\nY[k, j] = A[i, j, k] * x[i]",
            {"i": 2, "k": 3},
        ),
    ],
)
@pytest.mark.parametrize("value", ["i32", "f32"])
def test_blocks_are_turned_in_a_copy_in_another_mode_order(
    text: str, blocks: dict[str, int], value: str
) -> None:
    kind = value_type(value)
    given = make_workload(parse(text, "p"), ["random:density=0.4"], value=kind, seed=1)
    found = compile_workload(given, Schedule(blocks=blocks, permute=True), value=kind)
    assert any(region.copy for region in found.regions)
    assert check(given, found, run(found, given.tensors).outputs).good


def test_a_copy_in_blocks_needs_room_for_their_words() -> None:
    schedule = Schedule(permute=True, largest_copy=63)
    with pytest.raises(ScheduleError, match=r"an accumulator of 192 words.*largest_copy = 96"):
        compile_job(Job(parse(TRANSPOSED, "p"), schedule))


def test_rows_and_elements_that_a_mask_leaves_out_are_zero() -> None:
    """To the bit, whatever lies there: the maximum of what is left is far below zero."""
    text = ATTENTION.format(i=8, k=2)
    given = make_workload(parse(text, "p"), ["random:density=0.3"], value=value_type("f32"), seed=0)
    mask = np.zeros((8, 8))
    mask[2, 1] = mask[2, 3] = mask[5, 0] = 1
    tensors = {**given.tensors, "M": Tensor.from_dense(mask, "csr")}
    tensors["Q"] = Tensor.from_dense(np.full((8, 2), -30.0), "dense")
    tensors["K"] = Tensor.from_dense(np.full((8, 2), 10.0), "dense")
    given = replace(given, tensors=tensors)
    found = [
        unloaded(compile_workload(given, Schedule(blocks=b), value=value_type("f32")), tensors)["Y"]
        for b in ({"i": 4, "j": 4}, {})
    ]
    assert np.array_equal(*found)
    assert not found[0][[0, 1, 3, 4, 6, 7]].any()
    assert found[0][2].any()


def test_where_blocks_divide_there_is_nothing_to_mask() -> None:
    text = LAYER.format(i=8, k=8, j=8)
    names = [*compile_job(Job(parse(text, "p"), Schedule(blocks={"j": 4}))).program.tensors]
    assert not [name for name in names if "inside" in name]


def test_a_build_without_masks_takes_extents_alone_that_its_blocks_divide() -> None:
    text = "tensor x[i]\ntensor Y[i]\nY[i] = exp(x[i])"
    given = make_workload(parse(text, "p"), ["random:size=8"], value=value_type("f32"))
    compiled = compile_workload(given, Schedule(blocks={"i": 4}), value=value_type("f32"))
    with pytest.raises(InputError, match=r"Blocks of 4 along i reach beyond 7, where"):
        inputs_of(compiled, {"x": Tensor.from_dense(np.ones(7), "dense")})


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("text", "blocks", "value"),
    [
        (LAYER.format(i=4, k=4, j=2), {"i": 2, "k": 2, "j": 2}, "i32"),
        (ATTENTION.format(i=8, k=2), {"i": 2, "j": 2}, "fixed<16,8>"),
        (TRANSPOSED, {}, "i8"),
    ],
)
def test_backends_agree_on_programs_in_blocks(text: str, blocks: dict[str, int], value: str) -> None:
    agree(*in_blocks(text, blocks, value))


def agree(compiled: Compiled, tensors: dict[str, Tensor]) -> None:
    """That simulator, RTL and C++ give the same tokens, and the first two take the same cycles."""
    memories, extents = inputs_of(compiled, tensors)
    models = simulate_regions(compiled.design, compiled.arch, memories, extents, trace=True)
    rtl = VerilatedDesign.build(compiled.design, compiled.arch).run(memories, extents)
    assert rtl.cycles == total_cycles(models)
    expected = {name: words for model in models for name, words in model.memories.items()}
    for name, words in rtl.memories.items():
        assert np.array_equal(words[: len(expected[name])], expected[name])
    hls = HlsDesign.build(compiled.design, compiled.arch, Options())
    compare(models, hls.run(memories, extents, expected, trace=True))


@pytest.mark.nightly(but=1)
@pytest.mark.slow
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("value", "a", "x", "t", "lanes"),
    [
        ("i32", "bcsr(2)", "bdense(2)", "bdense(2)", {"i": 2, "k": 2}),
        ("bf16", "bcsr(2,3)", "bdense(3,1)", "bdense(2,1)", {}),
    ],
)
def test_backends_agree_on_blocks(value: str, a: str, x: str, t: str, lanes: dict[str, int]) -> None:
    compiled, tensors = compiled_on(spmm(a, x, t), value=value, lanes=lanes)
    agree(compiled, tensors)


@pytest.mark.parametrize(
    ("text", "blocks", "value"),
    [
        (spmm("csr", "dense", "dense", n=60, m=50, w=24), {"i": 4, "k": 2, "j": 4}, "i32"),
        (SAMPLED.format(i=40, k=12, j=30), {"i": 4, "k": 2, "j": 4}, "i32"),
        (ATTENTION.format(i=38, k=12), {"i": 4, "j": 4, "d": 4}, "f32"),
        (LAYER.format(i=30, k=21, j=19), {"i": 4, "k": 2, "j": 2}, "f32"),
    ],
)
def test_estimates_know_blocks(text: str, blocks: dict[str, int], value: str) -> None:
    """Operations and bytes are those of a run; cycles are about those."""
    kind = value_type(value)
    given = make_workload(parse(text, "p"), ["random:density=0.1"], value=kind, seed=0)
    schedule = Schedule(blocks=blocks)
    compiled = compile_workload(given, schedule, value=kind)
    expected = estimate_compiled(compiled, given.statistics(schedule=schedule))
    memories, extents = inputs_of(compiled, given.tensors)
    (run,), (graph,) = (
        simulate_regions(compiled.design, compiled.arch, memories, extents),
        compiled.design.regions,
    )
    assert expected.operations == sum(operations(graph, run).values())
    moved = traffic(graph, compiled.arch, run)
    assert expected.bytes == pytest.approx(sum(each.bytes for each in moved.values()), rel=0.05)
    assert expected.cycles == pytest.approx(run.cycles, rel=0.25)
    for other in ("uniform", "degrees", "sampled"):
        assert estimate_compiled(compiled, given.statistics(other, schedule)).cycles > run.cycles / 3
