"""SparseTIR: composable formats for sparse operators of deep learning."""

from collections.abc import Iterator, Mapping
from math import ceil, log2

from samhw.app.papers.figure import Paper, PaperFigure, PaperRow, Setting, fewer, plain, stated
from samhw.app.papers.fuseflow import ATTENTION, HARDWARE, MASKED, ONLY_HERE
from samhw.app.papers.points import point

GRAPHS: Mapping[str, tuple[str, float, float | None]] = {
    "cora": ("nodes=270,edges=1050", 3.9, None),
    "pubmed": ("nodes=390,edges=1770", 4.5, 23.1),
    "ppi": ("nodes=220,edges=6350", 28.3, 22.9),
    "ogbn-arxiv": ("nodes=840,edges=5830", 6.9, 17.5),
}
"""By data set: the sizes of a small stand-in, the mean length of a row, and the paper's padding in
percent."""

RELATIONS = {"aifb": ("nodes=100,edges=700,types=10", 17.9), "mutag": ("nodes=130,edges=740,types=10", 8.0)}


def graph(setting: Setting, name: str, tensor: str, index: str) -> str:
    """A graph for one tensor, and a dense matrix along it as narrow as the paper's narrowest."""
    source, width = setting.data(name, GRAPHS[name][0]), 8 if setting.quick else 32
    if source.startswith("synthetic"):
        return f"{source},features={width}"
    return f"{tensor}={source}+random:{index}={width}"


def buckets(name: str, more: int = 0) -> str:
    """The paper's rule, whose k is the logarithm of the mean length of a row; longer rows are cut."""
    return f"A=hyb(1,{ceil(log2(GRAPHS[name][1])) + more})"


WHOLE = 5
"""More buckets, in which rows of up to 32 times the mean length are whole, so that each part has lanes."""


def spmm(setting: Setting) -> Iterator[PaperRow]:
    n, half = 16, 8
    text = "tensor A[i, k] : csr\ntensor X[k, j] : dense\nT[i, j] = A[i, k] * X[k, j]    order i, k, j"
    for name in setting.of(["cora"], ["cora", "pubmed", "ogbn-arxiv"]):
        data = graph(setting, name, "A", "j")
        split = buckets(name, WHOLE)
        ways = {
            "rows in turn": point(text, data, lanes=f"i={n}"),
            "and entries": point(text, data, lanes=f"i={half}+k=2"),
            "hyb": point(text, data, split=split, lanes=f"i={n}"),
            f"even({n})": point(text, data, split=f"A=even({n})", lanes=f"i={n}"),
            "rows by length": point(text, data, permute_rows="A=by length", lanes=f"i={n}"),
            "rows dealt evenly": point(text, data, permute_rows=f"A=even({n})", lanes=f"i={n}"),
        }
        yield PaperRow(name, ways, {"hyb": 1.20 if name == "pubmed" else 2.34})


def sddmm(setting: Setting) -> Iterator[PaperRow]:
    text = """
        tensor B[i, j] : csr
        tensor C[i, k] : dense
        tensor D[j, k] : dense
        tensor X[i, j] : csr
        X[i, j] = B[i, j] * C[i, k] * D[j, k]    order i, j, k
    """
    for name in setting.of(["cora", "ogbn-arxiv"], ["cora", "pubmed", "ogbn-arxiv"]):
        data = graph(setting, name, "B", "k")
        ways = {
            "one lane": point(text, data),
            "rows in 4 lanes": point(text, data, lanes="i=4"),
            "rows and entries": point(text, data, lanes="i=4+j=4"),
            "rows dealt evenly": point(text, data, permute_rows="B=even(4)", lanes="i=4+j=4"),
        }
        yield PaperRow(name, ways)


def graphsage(setting: Setting) -> Iterator[PaperRow]:
    for name in setting.of(["cora"], ["cora", "pubmed", "ogbn-arxiv"]):
        data = setting.data(name, f"{GRAPHS[name][0]},features=8")
        ways = {
            "unfused": point("graphsage", data, fuse="none"),
            "partial": point("graphsage", data, fuse="partial"),
            "chosen": point("graphsage", data, fuse="auto"),
        }
        yield PaperRow(name, ways, {"chosen": 1.52 if name == "ogbn-arxiv" else 1.18})


def sparse_attention(setting: Setting) -> Iterator[PaperRow]:
    length, block, width = (128, 8, 8) if setting.quick else (1024, 16, 64)
    for mask in ("longformer", "pixelfly"):
        data = f"synthetic:{mask},length={length},block={block}+random:d={width}"
        for name, text in {"SpMM": MASKED, "attention": ATTENTION}.items():
            sides = f"i={block}+j={block}+d={min(width, 4096 // block**2)}"
            ways = {"CSR": point(text, data), "BSR": point(text, data, blocks=sides)}
            yield PaperRow(f"{name}, {mask}", ways)


def pruned(setting: Setting, name: str, side: int, blocks: Mapping[str, str]) -> PaperRow:
    """A linear layer with pruned weights, in several forms."""
    small, tokens = ("outputs=64,inputs=64", 8) if setting.quick else ("outputs=768,inputs=768", 32)
    if side > 1:
        small += f",block={side}"
    data = f"synthetic:{name},{small}+random:t={tokens}"
    ways = {"CSR": point("pruned_linear", data)}
    ways |= {form: point("pruned_linear", data, blocks=sides) for form, sides in blocks.items()}
    return PaperRow(name, ways)


def block_pruned(setting: Setting) -> Iterator[PaperRow]:
    side = 8 if setting.quick else 32
    forms = {f"BSR({b})": f"o={b}+i={b}+t=4" for b in (4, 8) if b <= side}
    yield pruned(setting, "bert-blocks", side, forms)


def unstructured(setting: Setting) -> Iterator[PaperRow]:
    yield pruned(setting, "bert-pruned", 1, {"BSR(8)": "o=8+i=8", "tiles of 8 rows": "o=8"})


STAGES = """
tensor A[r, i, j] : csf @ (1, 0, 2)
tensor X[j, k] : dense
tensor W[r, k, l] : dense
tensor T[r, j, l] : dense
tensor Y[i, l] : csr
T[r, j, l] = X[j, k] * W[r, k, l]    order r, j, k, l
Y[i, l] = A[r, i, j] * T[r, j, l]    order i, r, j, l
"""


def relational(setting: Setting) -> Iterator[PaperRow]:
    width = 4 if setting.quick else 32
    for name, (small, _) in RELATIONS.items():
        data = f"synthetic:{name}{f',{small}' if setting.quick else ''}+random:k={width},l={width}"
        ways = {
            "two stages": point(STAGES, data),
            "one": point("rgcn", data),
            "chosen": point("rgcn", data, fuse="auto"),
        }
        yield PaperRow(name, ways, {"one": 4.2 if name == "mutag" else 40.2})


def convolution(setting: Setting) -> Iterator[PaperRow]:
    stages = STAGES.replace("r, ", "d, ").replace("[r", "[d")
    for channels in setting.of([2, 4], [4, 8, 16, 32]):
        data = f"synthetic:shell,radius={4 if setting.quick else 20}+random:k={channels},l={channels}"
        ways = {
            "two stages": point(stages, data),
            "one": point("sparse_convolution", data),
            "chosen": point("sparse_convolution", data, fuse="auto"),
        }
        yield PaperRow(
            f"{channels} channels",
            ways,
            {"one": 7.45 if channels < 8 else 0.56} if channels in (4, 32) else {},
        )


def padding(setting: Setting) -> Iterator[PaperRow]:
    for name, (_, _, paper) in GRAPHS.items():
        one = point("spmm", graph(setting, name, "A", "j"), how="padding", split=buckets(name))
        yield PaperRow(name, {"hyb": one}, {"hyb": paper} if paper else {})


def in_hardware(setting: Setting) -> Iterator[PaperRow]:
    data = "karate"
    ways = {"CSR": {}, "hyb(1,3)": {"split": "A=hyb(1,3)"}, "2 lanes": {"lanes": "i=2"}}
    for way, words in list(ways.items())[: 1 if setting.quick else None]:
        yield PaperRow("spmm, karate", {way: point("spmm", data, how="hardware", value="i32", **words)})


SPEED = (plain("cycles"), fewer("speed-up"), plain("LUTs", "luts"))
TRAFFIC = (plain("cycles"), fewer("speed-up"), fewer("bytes, times less", "bytes"))

SPARSETIR = Paper(
    "sparsetir",
    "SparseTIR",
    "The paper's speed-ups are over libraries of a GPU, ours over the same hardware without the format or "
    "the fusion that a figure is about. The ends of the paper's ranges stand at the sets where it finds "
    "them, or at one of them.",
    (
        PaperFigure(
            "13",
            "SpMM: formats that balance lanes",
            spmm,
            SPEED,
            "Splits and orders of rows even out lanes, as hyb evens out thread blocks. Each part of hyb "
            "has lanes of its own, so even parts or dealt rows use the same lanes better.",
        ),
        PaperFigure(
            "14",
            "SDDMM: lanes for rows and entries",
            sddmm,
            SPEED,
            "Two-stage reductions and vector loads are a GPU's; here rows and entries have lanes. The "
            "paper names no ratio.",
        ),
        PaperFigure(
            "15",
            "GraphSAGE, the forward pass",
            graphsage,
            TRAFFIC,
            "The paper trains, with a faster SpMM in one framework; here whole layers fuse, so the gain is "
            "greater.",
        ),
        PaperFigure(
            "16",
            "Sparse attention in blocks",
            sparse_attention,
            (plain("cycles"), fewer("speed-up"), plain("operations a cycle, at most", "units")),
            "Blocks give each cycle a block's products, as the tensor cores do in the paper, which "
            "compares with Triton's blocks.",
        ),
        PaperFigure(
            "17",
            "Weights pruned in blocks",
            block_pruned,
            (plain("cycles"), fewer("speed-up"), plain("operations a cycle, at most", "units")),
            "Over CSR, where the paper's are over a dense product. Rows without a block take a cycle each.",
        ),
        PaperFigure(
            "19",
            "Weights pruned anywhere",
            unstructured,
            (plain("cycles"), fewer("speed-up"), plain("operations a cycle, at most", "units")),
            "As in the paper, square blocks are mostly zeros here, and tiles of one column waste less.",
        ),
        PaperFigure(
            "20",
            "Relational graph networks (RGCN)",
            relational,
            TRAFFIC,
            "The two-stage form stores a product for every node and relation. Fused, only those with an "
            "edge are computed; relations with few edges gain most.",
        ),
        PaperFigure(
            "23",
            "Sparse convolution",
            convolution,
            TRAFFIC,
            "On the shell of a ball. Each voxel has few neighbours, so less is computed in one stage.",
        ),
        PaperFigure(
            "table 1",
            "Zeros that hyb adds, in percent",
            padding,
            (plain("rows"), plain("entries"), stated("padding")),
            "On stand-ins with the paper's sizes; which columns a row has is random.",
        ),
        PaperFigure("13, in hardware", "SpMM in RTL", in_hardware, HARDWARE, ONLY_HERE),
    ),
)
