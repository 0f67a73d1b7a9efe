"""RedFuser: cascaded reductions in one pass. The configurations are those of the paper's appendix A.5."""

from collections.abc import Iterator, Mapping

from samhw.app.papers.figure import Paper, PaperFigure, PaperRow, Setting, fewer, plain
from samhw.app.papers.fuseflow import HARDWARE, ONLY_HERE
from samhw.app.papers.points import PaperPoint, point

MHA = {
    **dict.fromkeys(("H1", "H2", "H3"), (512, 512, 64)),
    **dict.fromkeys(("H4", "H5"), (256, 256, 64)),
    "H6": (256, 256, 80),
    "H7": (1, 1024, 128),
    "H8": (1, 2048, 128),
    "H9": (1, 4096, 128),
}
"""Queries, positions and the width of a head. Heads and batches repeat the same work."""

MLA = {f"L{n}": positions for n, positions in enumerate((1024, 2048, 4096) * 3, 1)}
"""Positions; all have a latent of 512 numbers and 64 for the rotary part."""

MOE = {
    "R1": (768, 128),
    "R2": (1024, 128),
    "R3": (4096, 128),
    "R4": (2560, 64),
    "R5": (8192, 64),
    "R6": (2048, 64),
    "R7": (2048, 128),
    "R8": (4096, 128),
}
"""The numbers of a token, and experts."""

_LENGTHS = (1536, 2560), (3584, 8192), (7168, 2048), (2048, 768), (4096, 1536)
QUANT = {f"Q{n}": pair for n, pair in enumerate((p for a, b in _LENGTHS for p in ((a, b), (b, a))), 1)}
"""Columns of the result, and the length of its sums."""

ROWS = {
    str(n): pair
    for n, pair in enumerate(((rows, points) for rows in (1, 128, 512, 1024) for points in (8192, 32768)), 1)
}
"""Of variance (V) and inertia (I): rows, and points of each."""

TWICE = {
    "quant_gemm": """
        tensor A[i, k] : dense
        tensor W[k, n] : dense
        m[i] max= abs(A[i, k])
        Q[i, k] = rint(127 * (A[i, k] / m[i]))
        C[i, n] = Q[i, k] * W[k, n]
        out[i, n] = C[i, n] * (m[i] / 127)
    """,
    "variance": """
        tensor X[i, j] : dense
        count[i] = 0 * X[i, j] + 1
        sum[i] = X[i, j]
        mean[i] = sum[i] / count[i]
        D[i, j] = X[i, j] - mean[i]
        squares[i] = D[i, j] * D[i, j]
        variance[i] = squares[i] / count[i]
    """,
    "inertia": """
        tensor W[i, j] : dense
        tensor X[i, j] : dense
        mass[i] = W[i, j]
        moment[i] = W[i, j] * X[i, j]
        centre[i] = moment[i] / mass[i]
        D[i, j] = X[i, j] - centre[i]
        inertia[i] = W[i, j] * D[i, j] * D[i, j]
    """,
}
"""What reads its data again once a mean or a greatest element is known; built in are forms of one pass."""


def forms(program: str, data: str) -> dict[str, PaperPoint]:
    """A region for each statement, one region as written, and one pass."""
    if program in TWICE:
        return {"unfused": point(TWICE[program], data, fuse="none"), "one pass": point(program, data)}
    return {
        "unfused": point(program, data, fuse="none"),
        "fused": point(program, data),
        "one pass": point(program, data, cascade="rescaled"),
    }


def divided(setting: Setting, *sizes: int) -> list[int]:
    """Sizes, as far as a run takes seconds: an eighth of the paper's, or at the quick size a 64th."""
    by = 64 if setting.quick else 8
    return [max(4, size // by) for size in sizes]


def attention(setting: Setting) -> Iterator[PaperRow]:
    for name, (queries, positions, width) in MHA.items():
        i, (j, k) = min(queries, 2 if setting.quick else 8), divided(setting, 4 * positions, 4 * width)
        data = f"random:i={i},j={j},k={k},v={k}"
        yield PaperRow(name, forms("attention", data), {"one pass": 1.09})


def latent(setting: Setting) -> Iterator[PaperRow]:
    for name, positions in MLA.items():
        t, c, r = divided(setting, positions, 512, 64)
        data = f"random:h={2 if setting.quick else 4},t={t},c={c},r={r}"
        yield PaperRow(name, forms("mla", data), {"one pass": 1.02})


def routing(setting: Setting) -> Iterator[PaperRow]:
    for name, (hidden, experts) in MOE.items():
        (k,) = divided(setting, hidden // 2)
        data = f"random:n={2 if setting.quick else 16},k={k},e={experts // 8 if setting.quick else experts}"
        yield PaperRow(name, forms("moe_routing", data), {"one pass": 1.7})


def quantised(setting: Setting) -> Iterator[PaperRow]:
    for name, sizes in QUANT.items():
        n, k = (size // 4 for size in divided(setting, *sizes))
        data = f"random:i={2 if setting.quick else 8},n={n},k={k}"
        yield PaperRow(name, forms("quant_gemm", data), {"one pass": 3.4})


def others(setting: Setting) -> Iterator[PaperRow]:
    for program, letter in {"variance": "V", "inertia": "I"}.items():
        for name, (batch, points) in ROWS.items():
            i, (j,) = 1 + (batch > 1), divided(setting, points)
            yield PaperRow(f"{letter}{name}", forms(program, f"random:i={i},j={j}"))


def levels(setting: Setting) -> Iterator[PaperRow]:
    for length in setting.of([64, 128], [1024, 2048, 4096, 8192]):
        data = f"random:i=4,j={length}"
        yield PaperRow(
            f"{length}",
            {
                **forms("logsumexp", data),
                "tiles of 16": point("logsumexp", data, cascade="tile=16"),
                "8 segments": point("logsumexp", data, cascade="rescaled", lanes="j=8"),
            },
        )


def incremental(setting: Setting) -> Iterator[PaperRow]:
    width = 8 if setting.quick else 64
    for positions in setting.of([64, 128], [256, 512, 1024, 2048]):
        data = f"random:i=4,j={positions},k={width},v={width}"
        ways = {
            "whole": point("attention", data),
            "incremental": point("attention", data, cascade="rescaled"),
        }
        for parts in (2, 4, 8):
            ways[f"{parts} segments"] = point("attention", data, cascade="rescaled", lanes=f"j={parts}")
        yield PaperRow(f"{positions} positions", ways)


def in_hardware(setting: Setting) -> Iterator[PaperRow]:
    programs = {
        "variance": "random:i=2,j=64",
        "quant_gemm": "random:i=2,k=16,n=8",
        "logsumexp": "random:i=2,j=32",
        "attention": "random:i=2,j=16,k=4,v=4",
    }
    for program, data in list(programs.items())[: 1 if setting.quick else None]:
        words: Mapping[str, str] = {} if program in TWICE else {"cascade": "rescaled"}
        yield PaperRow(program, {"one pass": point(program, data, how="hardware", **words)})


FORMS = (plain("cycles"), fewer("cycles, times fewer"), fewer("bytes read, times less", "read"))
DIVIDED = "Sizes are divided; heads, batches and most queries, which repeat the same work, are left out."

REDFUSER = Paper(
    "redfuser",
    "RedFuser",
    "The paper's speed-ups are the mean over a hand-written kernel (figures 5a and 5b) or over code of "
    "Inductor (5c and 5d) on a GPU, and ours are over the same hardware without the cascade, one region a "
    "statement.",
    (
        PaperFigure(
            "5a",
            "Attention (MHA)",
            attention,
            FORMS,
            f"{DIVIDED} The paper compares with FlashAttention-2, which is one pass itself.",
        ),
        PaperFigure(
            "5b",
            "Latent attention (MLA)",
            latent,
            FORMS,
            f"{DIVIDED} The paper compares with FlashMLA, which is one pass itself.",
        ),
        PaperFigure(
            "5c",
            "Routing to experts (MoE)",
            routing,
            FORMS,
            f"{DIVIDED} The longer the sums of the scores' product, which no cascade changes, the smaller is "
            "the gain. All take the best six.",
        ),
        PaperFigure(
            "5d",
            "Quantised products",
            quantised,
            FORMS,
            f"{DIVIDED} The more columns the product has, the smaller is the gain: in one lane "
            "it takes nearly all cycles.",
        ),
        PaperFigure(
            "5, others",
            "Variance and moment of inertia",
            others,
            FORMS,
            f"{DIVIDED} One pass reads the data once instead of twice or more. Masses are random, of both "
            "signs, so the check proves nothing of some inertias.",
        ),
        PaperFigure(
            "6a",
            "Levels of fusion of a softmax",
            levels,
            (plain("cycles"), fewer("cycles, times fewer"), plain("deepest channel", "deepest")),
            "A GPU's threads, warps and blocks have no counterpart here: an element, a tile and a segment "
            "have. A tile waits for its last score, so it is no faster; segments are lanes.",
        ),
        PaperFigure(
            "6b",
            "All at once, or incrementally",
            incremental,
            (plain("cycles"), fewer("cycles, times fewer"), plain("deepest channel", "deepest")),
            "As in the paper, what waits for its maximum needs room for all positions, and what is "
            "incremental has a constant state. Rescaling costs no cycles in a pipeline.",
        ),
        PaperFigure("5, in hardware", "One pass in RTL", in_hardware, HARDWARE, ONLY_HERE),
    ),
)
