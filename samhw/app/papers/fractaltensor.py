"""FractalTensor: nested lists, whose recurrences run along diagonals."""

from collections.abc import Iterator

from samhw.app.papers.figure import Paper, PaperColumn, PaperFigure, PaperRow, Setting, fewer, plain
from samhw.app.papers.fuseflow import HARDWARE, ONLY_HERE
from samhw.app.papers.points import PaperPoint, point
from samhw.app.papers.wavefronts import example

PAPER = {"stacked_lstm": 3.75, "dilated_rnn": 2.35, "grid_rnn": 5.44}


def nest(name: str, layers: int, length: int) -> PaperPoint:
    """A nest of recurrences: its layers, and the steps of a sequence or the side of a grid."""
    return point(example(name), f"random:layers={layers},length={length}", how="wavefront")


def recurrences(setting: Setting) -> Iterator[PaperRow]:
    small = {"stacked_lstm": (2, 4), "dilated_rnn": (2, 4), "grid_rnn": (2, 2)}
    large = {"stacked_lstm": (32, 64), "dilated_rnn": (6, 50), "grid_rnn": (32, 10)}
    for name, (layers, length) in (small if setting.quick else large).items():
        yield PaperRow(
            name,
            {f"{layers} layers, {length}": nest(name, layers, length)},
            {f"{layers} layers, {length}": PAPER[name]},
        )


def blocks(setting: Setting) -> Iterator[PaperRow]:
    every = {"b2b_gemm": 1.21, "flash_attention": 1.07, "bigbird_blocked": 1.36}
    for name, paper in list(every.items())[: 2 if setting.quick else None]:
        ways = {
            way: point(example(name), fuse=level) for way, level in (("unfused", "none"), ("fused", "full"))
        }
        yield PaperRow(name, {**ways, "chosen": point(example(name), fuse="auto")}, {"chosen": paper})


def scaling(setting: Setting) -> Iterator[PaperRow]:
    for layers, length in setting.of(
        [(1, 4), (2, 4)], [(1, 32), (4, 32), (8, 32), (16, 32), (32, 32), (32, 64), (32, 128)]
    ):
        yield PaperRow(
            f"stacked_lstm, {length} steps", {f"{layers} layers": nest("stacked_lstm", layers, length)}
        )
    for layers in setting.of([1, 2], [1, 2, 4, 6]):
        length = 4 if setting.quick else 50
        yield PaperRow(
            f"dilated_rnn, {length} steps", {f"{layers} layers": nest("dilated_rnn", layers, length)}
        )
    for layers in setting.of([2], [4, 8, 16, 32]):
        side = 2 if setting.quick else 7
        yield PaperRow(f"grid_rnn, {side} by {side}", {f"{layers} layers": nest("grid_rnn", layers, side)})


def traffic(setting: Setting) -> Iterator[PaperRow]:
    i, width = (8, 8) if setting.quick else (64, 32)
    flash = f"random:i={i},j={8 * i},k={width},v={width}"
    ways = {
        "unfused": point("attention", flash, fuse="none"),
        "fused": point("attention", flash),
        "one pass": point("attention", flash, cascade="rescaled"),
    }
    yield PaperRow("attention", ways, {"one pass": 4.13 / 3.99})
    length = 128 if setting.quick else 1024
    mask = f"synthetic:imdb,length={length},block={length // 16}+random:d={width}"
    levels = {"unfused": "none", "partial": "partial", "fused": "full"}
    ways = {way: point("bigbird_attention", mask, fuse=level) for way, level in levels.items()}
    yield PaperRow("bigbird_attention", ways, {"fused": 28.21 / 12.36})


def in_hardware(setting: Setting) -> Iterator[PaperRow]:
    yield PaperRow("b2b_gemm", {"": point(example("b2b_gemm"), how="hardware", fuse="full")})


SIDE_BY_SIDE = (
    plain("cells"),
    plain("rounds"),
    plain("cycles"),
    PaperColumn(
        "times fewer cycles",
        lambda own, first: own["one by one"] / own["cycles"] if own.get("cycles") else None,
        is_ratio=True,
    ),
    PaperColumn(
        "of cells / rounds",
        lambda own, first: (
            own["one by one"] / own["cycles"] * own["rounds"] / own["cells"] if own.get("cycles") else None
        ),
    ),
)

FRACTALTENSOR = Paper(
    "fractaltensor",
    "FractalTensor",
    "The paper's speed-ups are over the best of cuDNN, Triton and others on a GPU with a fixed number of "
    "units; here each cell of a diagonal has hardware of its own, and is held against one cell after "
    "another.",
    (
        PaperFigure(
            "7",
            "Nests of recurrences",
            recurrences,
            SIDE_BY_SIDE,
            "Cells over rounds is all that diagonals can bring; a grid's chain waits for itself, so its "
            "copies bring a little more.",
        ),
        PaperFigure(
            "7, blocks",
            "Products and attention by blocks",
            blocks,
            (plain("cycles"), fewer("speed-up")),
            "At the sizes of the examples, fused against a region for each statement.",
        ),
        PaperFigure(
            "8",
            "Depth and length",
            scaling,
            SIDE_BY_SIDE,
            "As in the paper's FractalTensor, cycles follow depth plus length instead of their product.",
        ),
        PaperFigure(
            "table 7",
            "Bytes between memories and hardware",
            traffic,
            (plain("bytes"), fewer("bytes, times less", "bytes"), plain("cycles")),
            "The paper's ratios are DRAM's, of the best other kernel to FractalTensor's. Here all "
            "intermediates but those of one pass count as memory.",
        ),
        PaperFigure("7, in hardware", "In RTL", in_hardware, HARDWARE, ONLY_HERE),
    ),
)
