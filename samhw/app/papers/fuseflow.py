"""FuseFlow (Lacouture et al.): fusion of sparse models on dataflow hardware."""

from collections.abc import Iterator, Mapping
from itertools import permutations

from samhw.app.papers.figure import (
    Paper,
    PaperColumn,
    PaperFigure,
    PaperRow,
    Setting,
    fewer,
    plain,
    share,
    stated,
)
from samhw.app.papers.points import PaperPoint, point
from samhw.lang import kernel_names

GRAPHS: Mapping[str, tuple[str, Mapping[str, tuple[float, float]]]] = {
    "cora": ("nodes=270,edges=1050,features=143", {"gcn": (1.63, 0.29), "graphsage": (2.10, 0)}),
    "cora_ml": ("nodes=300,edges=1630,features=288", {"gcn": (1.88, 0.14), "graphsage": (1.85, 0)}),
    "dblp": ("nodes=590,edges=3520,features=164", {"gcn": (1.49, 0.26), "graphsage": (2.02, 0)}),
    "collab": ("nodes=470,edges=4716,features=64", {"gcn": (2.58, 0.02), "graphsage": (3.11, 0)}),
    "mag": ("nodes=740,edges=5416,features=64", {"gcn": (2.13, 0.09), "graphsage": (3.92, 0)}),
}
"""By data set: the sizes of a small stand-in, and the paper's speed-ups by partial and full fusion (its
figures' own data; 0 where it has none)."""

LARGE = ("collab", "mag")
"""What one region takes of these, nobody waits for: tens of milliards of cycles."""

GPT = {16: (1.75, 2.70), 32: (1.65, 2.45), 64: (1.69, 2.52)}
"""The same for GPT-3, by the size of a block of its mask."""

LEVELS = {"unfused": "none", "partial": "partial", "full": "full"}

ONE_REGION = {"gpt3_block": "N1=recompute,K=recompute,V=recompute,Q=recompute"}
"""What keeps a model in one region, where sharing nothing at all would make too many uses."""


def levels(model: str, data: str, *, one_region: bool, memory: str = "chip") -> dict[str, PaperPoint]:
    """A model at all levels of fusion, in one region as the paper's full fusion, and as samhw chooses."""
    found = {name: point(model, data, fuse=level, memory=memory) for name, level in LEVELS.items()}
    if one_region:
        found["one region"] = point(model, data, fuse="full", share=ONE_REGION.get(model, "none"))
    return {**found, "chosen": point(model, data, fuse="auto", memory=memory)}


def graph(setting: Setting, name: str) -> str:
    """A data set for graph networks with 16 numbers in a hidden layer."""
    return f"{setting.data(name, GRAPHS[name][0])}+random:h={8 if setting.quick else 16}"


def fusion(setting: Setting) -> Iterator[PaperRow]:
    for model in ("gcn", "graphsage"):
        for name, (_, paper) in GRAPHS.items():
            partial, full = paper[model]
            whole = setting.quick or name not in LARGE
            stated = {"partial": partial, **({"one region": full} if full and whole else {})}
            yield PaperRow(f"{model}, {name}", levels(model, graph(setting, name), one_region=whole), stated)
    image = setting.of(["luna16,side=24"], ["imagenet", "nih", "luna16"])
    for name in image:
        data = f"synthetic:{name}+random:h={8 if setting.quick else 64},g={8 if setting.quick else 64}"
        yield PaperRow(
            f"sae, {name}", levels("sae", data, one_region=setting.quick), {"partial": 1.01, "chosen": 1.94}
        )
    for block in setting.of([16], [16, 32, 64]):
        length, width = (64, "e=16,h=2,d=8,f=32") if setting.quick else (1024, "e=64,h=4,d=16,f=256")
        partial, full = GPT[block]
        data = f"synthetic:imdb,length={length},block={block // 4 if setting.quick else block}+random:{width}"
        yield PaperRow(
            f"gpt3_block, blocks of {block}",
            levels("gpt3_block", data, one_region=False),
            {"partial": partial, "full": full},
        )


def off_chip(setting: Setting) -> Iterator[PaperRow]:
    for model in ("gcn", "graphsage"):
        for name in setting.of(["cora"], ["cora", "cora_ml", "dblp"]):
            data = graph(setting, name)
            for memory in ("chip", "ddr4"):
                ways = {
                    way: point(model, data, fuse=LEVELS[way], memory=memory) for way in ("unfused", "partial")
                }
                yield PaperRow(f"{model} with {memory}, {name}", ways, {"partial": GRAPHS[name][1][model][0]})


def costs(setting: Setting) -> Iterator[PaperRow]:
    for name in GRAPHS:
        whole = setting.quick or name not in LARGE
        yield PaperRow(f"gcn, {name}", levels("gcn", graph(setting, name), one_region=whole))


ESTIMATED = {"gpt3_block": (1.8, 5.7), "gcn": (2.8, 9.6), "graphsage": (2.6, 11.5)}


def heuristic(setting: Setting) -> Iterator[PaperRow]:
    for model, (flops, _) in ESTIMATED.items():
        data = "random" if model == "gpt3_block" else graph(setting, "collab" if setting.quick else "cora")
        points = {name: point(model, data, fuse=level, how="estimate") for name, level in LEVELS.items()}
        yield PaperRow(f"{model}, estimated", points, {"partial": flops})


LAYER = """
tensor A[i, k] : csr
tensor X[k, f] : csr
tensor W[f, h] : dense
tensor b[h] : dense
"""
FUSED = """
tensor T[i, f] : csr
fuse {
  T[i, f] = A[i, k] * X[k, f]      order i, k, f
  U[i, h] = T[i, f] * W[f, h]      order i, f, h
  Z[i, h] = U[i, h] + b[h]         order i, h
  H[i, h] = relu(Z[i, h])          order i, h
}
"""
ONE_EXPRESSION = """
Z[i, h] = A[i, k] * X[k, f] * W[f, h] + b[h]    order i, k, f, h
H[i, h] = relu(Z[i, h])                         order i, h
"""
TWO_EXPRESSIONS = """
tensor T[i, f] : csr
T[i, f] = A[i, k] * X[k, f]            order i, k, f
Z[i, h] = T[i, f] * W[f, h] + b[h]     order i, f, h
H[i, h] = relu(Z[i, h])                order i, h
"""
SPACES = {
    "unfused": (FUSED, {"fuse": "none"}),
    "one expression, global": (ONE_EXPRESSION, {"fuse": "none", "iteration": "global"}),
    "two expressions, global": (TWO_EXPRESSIONS, {"fuse": "none", "iteration": "global"}),
    "fused, global": (FUSED, {"fuse": "partial", "iteration": "global"}),
    "fused, factored": (FUSED, {"fuse": "partial", "iteration": "factored"}),
    "chosen": (FUSED, {"fuse": "auto"}),
}


def spaces(setting: Setting) -> Iterator[PaperRow]:
    """A graph layer relu(A X W + b). A compiler that fuses single expressions cannot fuse the function."""
    paper = {"two expressions, global": 1.97, "fused, factored": 2.63}
    small = "karate+random:f=16,h=8"
    for name, data in {"karate": small, "collab": graph(setting, "collab")}.items():
        ways = {way: point(LAYER + text, data, **words) for way, (text, words) in SPACES.items()}
        yield PaperRow(name, ways, paper if name == "collab" else {})


def spaces_in_hardware(setting: Setting) -> Iterator[PaperRow]:
    for way in setting.of(["fused, factored"], ["unfused", "fused, global", "fused, factored"]):
        text, words = SPACES[way]
        yield PaperRow(
            way, {"karate": point(LAYER + text, "karate+random:f=16,h=8", how="hardware", **words)}
        )


def sparsity(setting: Setting) -> Iterator[PaperRow]:
    nodes, features = (100, 16) if setting.quick else (500, 128)
    for pattern in ("uniform", "power-law", "block-diagonal"):
        for sparse in setting.of([0.5, 0.95], [0.5, 0.6, 0.7, 0.8, 0.9, 0.95]):
            data = f"synthetic:{pattern},nodes={nodes},density={round(1 - sparse, 2)}+random:f={features}"
            whole = setting.quick or sparse > 0.9
            yield PaperRow(f"{pattern}, {sparse:.2f}", levels("gcn", data, one_region=whole))


def lanes(setting: Setting) -> Iterator[PaperRow]:
    data = "synthetic:imdb,length=128,block=8" if setting.quick else "synthetic:imdb"
    counts = setting.of([2, 4, 8], [2, 4, 8, 16, 32, 64])
    words = ["", *(f"i={n}" for n in counts), *(f"j={n}" for n in counts[:3]), "i=4+j=4", "i=8+j=8"]
    ways = {
        text or "one lane": point("bigbird_attention", data, fuse="full", **({"lanes": text} if text else {}))
        for text in words
    }
    paper = {f"i={n}": float(n) for n in (2, 4)} | {"i=4+j=4": 15.9}
    yield PaperRow("bigbird_attention", ways, paper)


MASKED = """
tensor M[i, j] : csr
tensor X[j, d] : dense
T[i, d] = M[i, j] * X[j, d]    order i, j, d
"""
ATTENTION = """
tensor M[i, j] : csr
tensor Q[i, d] : dense
tensor K[j, d] : dense
tensor V[j, d] : dense
fuse {
  S[i, j] = Q[i, d] * K[j, d] where M[i, j]      order i, j, d
  m[i] max= S[i, j] where M[i, j]                order i, j
  E[i, j] = exp(S[i, j] - m[i]) where M[i, j]    order i, j
  l[i] = E[i, j]                                 order i, j
  P[i, j] = E[i, j] / l[i]                       order i, j
  O[i, d] = P[i, j] * V[j, d]                    order i, j, d
}
"""
PRODUCTS = 4096
"""That a unit makes in a cycle at the most; blocks of more than 16 rows are narrower along d."""


def blocks(setting: Setting) -> Iterator[PaperRow]:
    length, width = (128, 16) if setting.quick else (1024, 64)
    for name, text in {"product": MASKED, "attention": ATTENTION}.items():
        for block in setting.of([4, 8], [4, 8, 16, 32, 64]):
            data = f"synthetic:imdb,length={length},block={block}+random:d={width}"
            sides = f"i={block}+j={block}+d={min(block, width, PRODUCTS // block**2)}"
            ways = {
                "without blocks": point(text, data),
                "blocks": point(text, data, blocks=sides),
                "lanes": point(text, data, lanes=f"i={block}"),
            }
            yield PaperRow(f"{name}, {block}", ways, {"blocks": float(block)})


def nested_product(order: tuple[str, ...]) -> str:
    """D = A X W in an order of its indices, with all tensors stored as that visits them."""
    lines = []
    for access, name in {"A[i,k]": "csr", "X[k,j]": "csr", "W[j,l]": "dense", "D[i,l]": "dcsr"}.items():
        turned = " @ (1, 0)" if order.index(access[2]) > order.index(access[4]) else ""
        lines.append(f"tensor {access} : {name}{turned}")
    return "\n".join([*lines, f"D[i,l] = A[i,k] * X[k,j] * W[j,l]    order {', '.join(order)}"])


def orders(setting: Setting) -> Iterator[PaperRow]:
    data = f"karate+random:j={8 if setting.quick else 16},l={4 if setting.quick else 8},density=0.3"
    every = [" ".join(order) for order in permutations("ikjl")]
    first = "j l i k"
    ways = {name: point(nested_product(tuple(name.split())), data) for name in [first, *every]}
    yield PaperRow("A X W, karate", ways, {"l k i j": 29.0})


COUNTED = {"gcn": (2.0e8, 6.3e7), "graphsage": (3.9e7, 1.1e3)}


def design_space(setting: Setting) -> Iterator[PaperRow]:
    for model in ("gcn", "graphsage", "gpt3_block"):
        paper = {"full": COUNTED[model][1]} if model in COUNTED else {}
        yield PaperRow(f"{model}, in one region", {"full": point(model, how="orders", fuse="full")}, paper)


def correlation(setting: Setting) -> Iterator[PaperRow]:
    for kernel in setting.of(["spmv", "spmm"], kernel_names()):
        yield PaperRow(kernel, {"": point(kernel, how="hardware", value="i32")})
    for model in setting.of(["gcn"], ["gcn", "graphsage"]):
        for level in setting.of(["none"], ["none", "partial", "full"]):
            yield PaperRow(f"{model}, {level}", {"": point(model, "karate", how="hardware", fuse=level)})
    if not setting.quick:
        mask = "synthetic:imdb,length=64,block=8+random:e=16,h=2,d=8,f=32"
        for level in ("none", "partial"):
            yield PaperRow(
                f"gpt3_block, {level}", {"": point("gpt3_block", mask, how="hardware", fuse=level)}
            )


SPEED = (
    plain("regions"),
    plain("cycles"),
    fewer("speed-up"),
    PaperColumn(
        "products allow",
        lambda own, first: first["cycles"] / own["products"] if own.get("products") else None,
    ),
)
HARDWARE = (
    plain("simulator", "cycles"),
    plain("RTL", "rtl"),
    PaperColumn("difference", lambda own, first: own["rtl"] - own["cycles"] if "rtl" in own else None),
    plain("LUTs", "luts"),
    plain("block RAMs", "block_rams"),
    plain("MHz", "mhz"),
    plain("on an ECP5-85", "fits"),
)

ONLY_HERE = "No paper of the five has this. Area and clock are estimates from measured components."

FUSEFLOW = Paper(
    "fuseflow",
    "FuseFlow",
    "Every tensor is on chip unless a row says otherwise, and in one lane a region takes about as long as "
    "its busiest node has tokens.",
    (
        PaperFigure(
            "12",
            "Levels of fusion",
            fusion,
            SPEED,
            "One region is the paper's full fusion, which computes the first layer of a graph network for "
            "every edge of the second; full ends a region before that. Partial fusion gains less than in "
            "the paper where nearly all cycles are the products of one statement, which the column "
            "'products allow' bounds; chosen schedules, which also bracket, gain more.",
        ),
        PaperFigure(
            "12, off chip",
            "Fusion with tensors in memory",
            off_chip,
            (plain("cycles"), fewer("speed-up")),
            "The paper's simulator has HBM. With DDR4 the ratios hardly change: reading ahead hides most "
            "of the memory's latency, with fusion and without.",
        ),
        PaperFigure(
            "13",
            "Simulator against hardware, by kernel",
            correlation,
            HARDWARE[:3],
            "The paper correlates its simulator with HLS after synthesis, R² = 0.991 over 41 kernels. Here "
            "the RTL takes the simulator's cycles, each of them.",
            expands=True,
        ),
        PaperFigure(
            "14",
            "Operations and bytes of the GCN",
            costs,
            (
                share("operations, to unfused", "operations"),
                share("bytes, to unfused", "bytes"),
                PaperColumn(
                    "operations per byte",
                    lambda own, first: own["operations"] / own["bytes"] if own.get("bytes") else None,
                ),
            ),
            "As in the paper, fusion moves fewer bytes, and one region computes and moves far more.",
        ),
        PaperFigure(
            "15",
            "Sparsity and pattern",
            sparsity,
            SPEED[:3],
            "As in the paper, partial fusion gains more with more sparsity, and one region loses. Patterns "
            "hardly matter here, since no cache rewards locality.",
        ),
        PaperFigure(
            "16",
            "Lanes",
            lanes,
            (plain("cycles"), fewer("speed-up"), plain("LUTs", "luts")),
            "The same as in the paper: speed-ups follow the lanes as long as rows are even.",
        ),
        PaperFigure(
            "17",
            "Blocks",
            blocks,
            (
                plain("cycles"),
                fewer("speed-up"),
                plain("operations a cycle, at most", "units"),
                PaperColumn(
                    "per unit",
                    lambda own, first: (
                        first["cycles"] * first["units"] / own["cycles"] / own["units"]
                        if own.get("units")
                        else None
                    ),
                ),
            ),
            "The paper gains about the side of a block, and here all products of a block pair are made at "
            "once, so the gain is about its square or cube, with as many units. None of the largest was "
            "built.",
        ),
        PaperFigure(
            "18",
            "Orders",
            orders,
            (plain("cycles"), fewer("of the worst, times fewer")),
            "About the paper's ratio between the worst order and the best.",
        ),
        PaperFigure(
            "4b",
            "Iteration spaces",
            spaces,
            SPEED,
            "The rewriting fuses no more than the addition: the two products take nearly all cycles, one "
            "after the other, until FuseFlow's fusion lets them run at once.",
        ),
        PaperFigure(
            "4b, in hardware",
            "Iteration spaces in RTL",
            spaces_in_hardware,
            HARDWARE,
            ONLY_HERE,
        ),
        PaperFigure(
            "table 3",
            "Errors of the estimate, in percent",
            heuristic,
            (
                stated("error of operations in %", "operations"),
                plain("error of bytes in %", "bytes"),
                plain("error of cycles in %", "cycles"),
            ),
            "Estimates here have exact statistics of the inputs; the paper's have densities.",
        ),
        PaperFigure(
            "table 4",
            "Orders of the indices of whole models",
            design_space,
            (plain("indices"), plain("any order"), plain("storage kept"), stated("and statements' orders")),
            "For GraphSAGE the same numbers as the paper's. Its GCN has 17 or 18 indices, about 10^15 "
            "orders; ours shares indices between uses.",
        ),
    ),
)
