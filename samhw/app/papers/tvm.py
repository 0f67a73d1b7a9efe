"""TVM: operators grouped by kinds (FuseOps), and dispatched by patterns (FuseOpsByPattern)."""

from collections.abc import Iterator

from samhw.app.papers.figure import Paper, PaperFigure, PaperRow, Setting, fewer, plain
from samhw.app.papers.fuseflow import HARDWARE, ONLY_HERE
from samhw.app.papers.points import point
from samhw.lang import model_names


def groups(setting: Setting) -> Iterator[PaperRow]:
    for model in setting.of(["gcn", "mlp", "bigbird_attention"], list(model_names())):
        ways = {
            "unfused": point(model, fuse="none"),
            "kinds": point(model, fuse="kinds"),
            "partial": point(model, fuse="partial"),
            "chosen": point(model, fuse="auto"),
        }
        yield PaperRow(model, ways)


def dispatch(setting: Setting) -> Iterator[PaperRow]:
    for model in setting.of(
        ["bigbird_attention"], ["bigbird_attention", "gpt3_block", "gat", "gcn_softmax", "mlp"]
    ):
        ways = {
            "kinds": point(model, fuse="kinds"),
            "patterns": point(model, how="patterns", fuse="kinds"),
        }
        yield PaperRow(model, ways)


def in_hardware(setting: Setting) -> Iterator[PaperRow]:
    for level in setting.of(["kinds"], ["none", "kinds", "full"]):
        yield PaperRow("mlp", {level: point("mlp", how="hardware", fuse=level)})


SPEED = (plain("regions"), plain("cycles"), fewer("speed-up"), fewer("bytes, times less", "bytes"))

TVM = Paper(
    "tvm",
    "TVM",
    "The source defines rules and no ratios. Groups of kinds end at the first reduction that others read; "
    "streams go on.",
    (
        PaperFigure("groups", "Groups of kinds", groups, SPEED, "Streams fuse more than kinds allow."),
        PaperFigure(
            "dispatch",
            "Dispatch by patterns",
            dispatch,
            SPEED,
            "A pattern, such as attention, is one region with a schedule of its own, where kinds end it.",
        ),
        PaperFigure("groups, in hardware", "Groups in RTL", in_hardware, HARDWARE, ONLY_HERE),
    ),
)
