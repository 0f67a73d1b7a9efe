"""What lists of places pick, against products with matrices of ones: convolutions, pooling, embeddings,
gathers and messages along edges, from PyTorch.

For each module the cycles and the bytes between memories and graph, of the design as it is imported, and of
the same one with its lists of places stored as matrices of ones, by their nonzeros.

Usage, from the repository's root: python -m benchmarks.picks [--only NAME] [--json FILE|-]
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

import samhw.torch
from benchmarks.common import VALUE, follow, parser, report
from samhw.app.checking.measure import measure
from samhw.app.workload import Workload
from samhw.choices.formats import with_formats
from samhw.choices.schedule import Schedule
from samhw.tensors import Format, Tensor

__all__ = ["CASES", "by_ones", "rows"]

SCHEDULE = Schedule(permute=True)

Arguments = tuple[Any, ...]
Case = Callable[[], tuple[nn.Module, Arguments]]


class Called(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: torch.Tensor) -> torch.Tensor:
        return self.function(*arguments)


class Messages(nn.Module):
    """Each edge adds a weighted row of its source to its target."""

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor, weight: torch.Tensor
    ) -> torch.Tensor:
        return torch.zeros_like(x).index_add(0, target, weight[:, None] * x[source])


def embedding(words: int, width: int, *shape: int) -> Case:
    return lambda: (nn.Embedding(words, width), (torch.randint(0, words, shape),))


def select(dim: int, count: int, *shape: int) -> Case:
    function = Called(lambda x, ids: x.index_select(dim, ids))
    return lambda: (function, (torch.randn(shape), torch.randint(0, shape[dim], (count,))))


def gather(dim: int, count: int, *shape: int) -> Case:
    function = Called(lambda x, ids: x.gather(dim, ids))
    sizes = [count if n == dim else size for n, size in enumerate(shape)]
    return lambda: (function, (torch.randn(shape), torch.randint(0, shape[dim], sizes)))


def pairs(count: int, *shape: int) -> Case:
    function = Called(lambda x, i, j: x[i, j])
    return lambda: (function, (torch.randn(shape), *(torch.randint(0, n, (count,)) for n in shape[:2])))


def messages(nodes: int, edges: int, width: int) -> Case:
    return lambda: (
        Messages(),
        (torch.randn(nodes, width), *torch.randint(0, nodes, (2, edges)), torch.randn(edges)),
    )


def over(layer: Callable[[], nn.Module], *shape: int) -> Case:
    return lambda: (layer(), (torch.randn(shape),))


CASES: dict[str, Case] = {
    "embedding, 64 of 40 x 8": embedding(40, 8, 64),
    "embedding, 64 of 40 x 1": embedding(40, 1, 64),
    "embedding, 16 of 40 x 64": embedding(40, 64, 16),
    "embedding, 4 x 8 of 100 x 16": embedding(100, 16, 4, 8),
    "embedding, 1 of 100 x 16": embedding(100, 16, 1),
    "index_select, 48 rows of 20 x 8": select(0, 48, 20, 8),
    "index_select, 12 columns of 20 x 8": select(1, 12, 20, 8),
    "index_select, 6 of 4 x 10 x 6": select(1, 6, 4, 10, 6),
    "gather, 8 along rows of 20 x 8": gather(0, 8, 20, 8),
    "gather, 8 along columns of 20 x 16": gather(1, 8, 20, 16),
    "index, 32 pairs of 6 x 5 x 4": pairs(32, 6, 5, 4),
    "index, 32 pairs of 6 x 5": pairs(32, 6, 5),
    "messages, 64 edges, 16 nodes x 8": messages(16, 64, 8),
    "messages, 64 edges, 16 nodes x 1": messages(16, 64, 1),
    "messages, 16 edges, 40 nodes x 16": messages(40, 16, 16),
    "conv1d, 2 to 3 of 32, 3": over(lambda: nn.Conv1d(2, 3, 3), 1, 2, 32),
    "conv1d, padded by 2, 5": over(lambda: nn.Conv1d(2, 3, 5, padding=2), 1, 2, 32),
    "conv1d, stride 2, dilation 2": over(lambda: nn.Conv1d(2, 3, 3, stride=2, dilation=2), 1, 2, 32),
    "conv1d, batch 4, kernel 1, stride 2": over(lambda: nn.Conv1d(2, 3, 1, stride=2), 4, 2, 16),
    "conv1d, 4 groups": over(lambda: nn.Conv1d(4, 4, 3, groups=4, padding=1), 1, 4, 16),
    "conv1d, transposed, stride 2": over(lambda: nn.ConvTranspose1d(2, 3, 3, stride=2), 1, 2, 16),
    "conv2d, 2 to 3 of 8 x 8, 3 x 3": over(lambda: nn.Conv2d(2, 3, 3), 1, 2, 8, 8),
    "conv2d, padded by 1": over(lambda: nn.Conv2d(2, 3, 3, padding=1), 1, 2, 8, 8),
    "conv2d, stride 2, padded by 3, 7 x 7": over(
        lambda: nn.Conv2d(1, 2, 7, stride=2, padding=3), 1, 1, 12, 12
    ),
    "conv2d, 1 channel, batch 4": over(lambda: nn.Conv2d(1, 1, 3, padding=1), 4, 1, 6, 6),
    "conv2d, 8 to 8 of 4 x 4": over(lambda: nn.Conv2d(8, 8, 3, padding=1), 1, 8, 4, 4),
    "conv2d, dilation 3, padded by 3": over(lambda: nn.Conv2d(2, 2, 3, dilation=3, padding=3), 1, 2, 8, 8),
    "conv2d, dilation 5, padded by 5": over(lambda: nn.Conv2d(2, 2, 3, dilation=5, padding=5), 1, 2, 6, 6),
    "conv2d, 7 x 7, padded by 3, of 2 x 2": over(lambda: nn.Conv2d(1, 2, 7, padding=3), 1, 1, 2, 2),
    "conv1d, padded by 8, 3": over(lambda: nn.Conv1d(2, 3, 3, padding=8), 1, 2, 4),
    "conv2d, 1 x 3 of 1 x 32": over(lambda: nn.Conv2d(1, 2, (1, 3)), 1, 1, 1, 32),
    "conv3d, 1 to 2 of 4 x 4 x 4, 2": over(lambda: nn.Conv3d(1, 2, 2), 1, 1, 4, 4, 4),
    "max pool, 3, stride 2, of 2 x 32": over(lambda: nn.MaxPool1d(3, 2), 1, 2, 32),
    "max pool, 3 x 3, padded by 1": over(lambda: nn.MaxPool2d(3, 1, 1), 1, 1, 6, 6),
    "max pool, 2 x 2, dilation 2": over(lambda: nn.MaxPool2d(2, 2, dilation=2), 1, 2, 8, 8),
    "max pool, 3 x 3, side by side": over(lambda: nn.MaxPool2d(3), 1, 2, 9, 9),
    "average pool, 3, stride 1": over(lambda: nn.AvgPool1d(3, 1), 1, 2, 16),
    "average pool, 3 x 3, padded by 1": over(lambda: nn.AvgPool2d(3, 2, 1), 1, 2, 8, 8),
    "unfold, 4, stride 2": over(lambda: Called(lambda x: x.unfold(0, 4, 2)), 32, 4),
    "upsampling, nearest, 2": over(lambda: nn.Upsample(scale_factor=2), 1, 2, 6, 6),
    "upsampling, nearest, to 5 x 7": over(lambda: nn.Upsample(size=(5, 7)), 1, 2, 3, 4),
    "roll by 3": over(lambda: Called(lambda x: x.roll(3, 0)), 32, 8),
    "flip": over(lambda: Called(lambda x: x.flip(1)), 32, 8),
    "pad, by 2 and 3": over(lambda: Called(lambda x: nn.functional.pad(x, (2, 3))), 16, 8),
    "pad, by 4 around": over(lambda: Called(lambda x: nn.functional.pad(x, (4, 4, 4, 4))), 4, 4),
}
"""By its name, a module and its arguments."""


def by_ones(picked: Workload) -> Workload:
    """The same with a matrix of ones for each list of places: rows whose further levels are compressed, and
    of which those outside of a tensor store nothing."""
    formats, tensors = {}, dict(picked.tensors)
    for decl in picked.program.operands:
        if any(level.is_branchless for level in decl.format.levels):
            is_sparse = [False, *[True] * (decl.rank - 1)]
            made = formats[decl.name] = Format.sparse_in(is_sparse, decl.format.mode_order)
            coords, values = tensors[decl.name].to_coo(drop_zeros=True)
            tensors[decl.name] = Tensor.from_coo(coords, values, decl.shape, made)
    program = with_formats(picked.program, formats)
    return replace(picked, program=program, tensors=tensors)


def rows(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each case."""
    for name in names:
        torch.manual_seed(0)
        module, arguments = CASES[name]()
        made = samhw.torch.compile(module.eval(), arguments, value="f32")
        picked = made.design.bind(made.imported.tensors(arguments))
        ours, before = (measure(one, SCHEDULE, value=VALUE) for one in (picked, by_ones(picked)))
        assert ours.status == before.status == "right", name
        moved, moved_before = (round(one.bytes_read + one.bytes_written) for one in (ours, before))
        yield {
            "module": name,
            "cycles": ours.cycles,
            "by ones": before.cycles,
            "share of cycles": ours.cycles / before.cycles,
            "bytes": moved,
            "bytes by ones": moved_before,
            "share of bytes": moved / moved_before,
        }


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__)
    options.add_argument("--only", default="", help="the modules whose name begins so")
    given = options.parse_args(arguments)
    chosen = [name for name in CASES if name.startswith(given.only)]
    if not chosen:
        options.error(f"there is no module {given.only!r}")
    report("lists of places", list(follow(rows(chosen), len(chosen))), given.json)


if __name__ == "__main__":
    main()
