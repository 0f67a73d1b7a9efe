"""Random chains of views: reshapes, permutations, expansions, slices that overlap or are empty, one after
the other, with elementwise operators between them, so that axes split while earlier parts of them are in
use."""

from collections.abc import Callable, Sequence
from random import Random

import torch
from torch import Tensor, nn

__all__ = ["ViewChain", "view_chain"]

Step = Callable[..., Tensor]

SHAPES = [(4, 2), (8, 2), (6, 4), (8, 3), (12,), (2, 3, 4), (4, 1, 6), (2, 4, 2), (4, 6), (16,)]

MOST_ELEMENTS = 400


class ViewChain(nn.Module):
    """Steps on a growing list of tensors, of which a few may be empty; gives those that no step reads.

    Args:
        seed: of the random choices.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        random = Random(seed)
        generator = torch.Generator().manual_seed(seed)
        shapes = [random.choice(SHAPES) for _ in range(random.choice((1, 1, 2)))]
        self.arguments = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
        self.steps: list[tuple[str, Step, Sequence[int]]] = []
        held = list(self.arguments)
        for n in range(random.randint(6, 16)):
            # The first tensor, from which chains part, the latest, and any.
            place = random.choice((0, random.randrange(len(held)), len(held) - 1))
            name = random.choice(list(STEPS) if n > 5 else EARLY)
            others = [n for n, each in enumerate(held) if n != place and each.numel()]
            found = STEPS[name](random, held[place], [held[n] for n in others])
            if found is None:
                continue
            step, read = found
            places = (place, *(others[n] for n in read))
            made = step(*(held[n] for n in places))
            if made.numel() <= MOST_ELEMENTS and made.dim() <= 5:
                held.append(made)
                self.steps.append((name, step, places))
        used = {place for _, _, places in self.steps for place in places}
        self.given = [n for n in range(len(held)) if n not in used and held[n].numel()]
        self.given = self.given or [len(self.arguments) - 1]

    @property
    def names(self) -> list[str]:
        """What the steps are."""
        return [f"{name}{list(places)}" for name, _, places in self.steps]

    def forward(self, *arguments: Tensor) -> list[Tensor]:
        held = list(arguments)
        for _, step, places in self.steps:
            held.append(step(*(held[n] for n in places)))
        return [torch.tanh(held[n]) for n in self.given]


Made = tuple[Step, Sequence[int]] | None
"""A step of a tensor and of others, by their places among those that there are; none where it cannot be."""
Maker = Callable[[Random, Tensor, Sequence[Tensor]], Made]


def view(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """Any shape of as many elements."""
    left = x.numel()
    shape: list[int] = []
    if not left:
        return None
    while left > 1 and len(shape) < 4:
        size = random.choice([n for n in range(1, left + 1) if left % n == 0])
        shape.append(size)
        left //= size
    shape.append(left)
    random.shuffle(shape)
    return lambda t: t.reshape(shape), ()


def parted(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """One dimension in two: the view that splits an axis."""
    choices = [(d, n) for d, size in enumerate(x.shape) for n in (2, 3, 4) if size > n and size % n == 0]
    if not choices:
        return None
    dim, n = random.choice(choices)
    return lambda t: t.unflatten(dim, (n, -1) if t.shape[dim] else (n, 0)), ()


def flattened(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """Two dimensions as one."""
    if x.dim() < 2 or not x.numel():
        return None
    dim = random.randrange(x.dim() - 1)
    return lambda t: t.flatten(dim, dim + 1), ()


def permuted(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    dims = random.sample(range(x.dim()), x.dim())
    return lambda t: t.permute(dims), ()


def sliced(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """Some of a dimension: with a step at times, and of none of it now and then."""
    if not x.dim():
        return None
    dim = random.randrange(x.dim())
    size = x.shape[dim]
    if random.random() < 0.08:
        start = random.randint(0, size)
        return lambda t: t.narrow(dim, start, 0), ()
    start = random.randint(0, max(0, size - 1))
    end, step = random.randint(min(start + 1, size), size), random.choice((1, 1, 1, 2, 3))
    if random.random() < 0.6:
        # One that others take too, of the same tensor in another shape.
        dim = random.choice((0, x.dim() - 1))
        start, end, step = random.choice(((0, 1, 1), (0, 2, 1), (1, 2, 1)))
    place = (slice(None),) * dim + (slice(start, end, step),)
    return lambda t: t[place], ()


def selected(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    dims = [d for d, size in enumerate(x.shape) if size]
    if not dims:
        return None
    dim = random.choice(dims)
    place = random.randrange(x.shape[dim])
    return lambda t: t.select(dim, place), ()


def expanded(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    dim, size = random.randint(0, x.dim()), random.choice((2, 3))
    return lambda t: t.unsqueeze(dim).expand(*t.shape[:dim], size, *t.shape[dim:]), ()


def joined(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """Parts of one tensor in another order, or with what else fits; empty ones among them."""
    if not x.dim():
        return None
    dim = random.randrange(x.dim())
    size = x.shape[dim]
    ends = [(a, random.randint(a, size)) for a in (random.randint(0, size) for _ in range(3))]
    fit = [
        n
        for n, t in enumerate(others)
        if t.dim() == x.dim() and all(t.shape[d] == x.shape[d] for d in range(x.dim()) if d != dim)
    ]
    more = random.sample(fit, min(len(fit), 1))

    def join(t: Tensor, *rest: Tensor) -> Tensor:
        return torch.cat([*(t.narrow(dim, a, b - a) for a, b in ends), *rest], dim)

    return join, more


def stacked(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    same = [n for n, t in enumerate(others) if t.shape == x.shape]
    dim = random.randint(0, x.dim())
    return lambda *t: torch.stack(t, dim), random.sample(same, min(len(same), 2))


def function(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    return random.choice((torch.relu, torch.tanh, lambda t: t * 0.5, lambda t: -t)), ()


def combined(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """With another tensor that broadcasts."""
    fit = [n for n, t in enumerate(others) if _broadcast(t, x)]
    return (random.choice((torch.add, torch.mul, torch.sub)), [random.choice(fit)]) if fit else None


def gram(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    """A product with itself, in which one axis has two indices."""
    return (lambda t: t @ t.transpose(-1, -2) * 0.25, ()) if x.dim() > 1 else None


def summed(random: Random, x: Tensor, others: Sequence[Tensor]) -> Made:
    if not x.dim():
        return None
    dim = random.randrange(x.dim())
    return lambda t: t.sum(dim), ()


def _broadcast(one: Tensor, other: Tensor) -> bool:
    pairs = zip(one.shape[::-1], other.shape[::-1], strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


STEPS: dict[str, Maker] = {
    maker.__name__: maker
    for maker in (
        *(view, parted, flattened, permuted, sliced, selected, expanded),
        *(joined, stacked, function, combined, gram, summed),
    )
}

EARLY = ["sliced", "sliced", "parted", "view"]
"""What comes first: slices of one tensor, before and after its axes split."""


def view_chain(seed: int) -> tuple[ViewChain, tuple[Tensor, ...]]:
    """A module, and its arguments."""
    module = ViewChain(seed).eval()
    return module, tuple(module.arguments)
