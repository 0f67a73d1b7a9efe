"""Modules with loops that `torch.export` unrolls, by name: those that are scans, and those that are not."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.scan import scan

__all__ = ["ROLLED", "UNROLLED", "AssociativeScan", "CellLoop", "OwnScan", "Packed", "RandomLoop"]

Arguments = tuple[Any, ...]


class CellLoop(nn.Module):
    """An `nn.LSTMCell` along the second dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x: Tensor) -> Any:
        state = cell = x.new_zeros(x.shape[0], 4)
        found = []
        for step in range(x.shape[1]):
            state, cell = self.cell(x[:, step], (state, cell))
            found.append(state)
        return torch.stack(found, 1)


class Cells(nn.Module):
    """Two cells, one on the other, along the first dimension; the last states are given too."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.GRUCell(3, 4), nn.RNNCell(4, 2, nonlinearity="relu")

    def forward(self, x: Tensor, one: Tensor, other: Tensor) -> Any:
        found = []
        for now in x:
            one = self.first(now, one)
            other = self.second(one, other)
            found.append(other.unsqueeze(0))
        return torch.cat(found), one, other


class Concatenated(nn.Module):
    """A cell of its own that multiplies input and state side by side, from the last word to the first."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.layer, self.out = nn.Embedding(7, 3), nn.Linear(5, 2), nn.Linear(2, 7)

    def forward(self, words: Tensor) -> Any:
        state = torch.zeros(words.shape[0], 2)
        found: list[Tensor] = []
        for step in reversed(range(words.shape[1])):
            state = torch.tanh(self.layer(torch.cat([self.words(words[:, step]), state], 1)))
            found.insert(0, self.out(state))
        return torch.stack(found, 1)


class Selective(nn.Module):
    """The recurrence of a selective state space: h = exp(delta A) h + delta B x, y = C h."""

    def __init__(self) -> None:
        super().__init__()
        self.rates = nn.Parameter(-torch.rand(3, 2))
        self.take, self.give, self.pace = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Any:
        pace = torch.nn.functional.softplus(self.pace(x))
        decay = torch.exp(pace.unsqueeze(-1) * self.rates)
        add = (pace * x).unsqueeze(-1) * self.take(x).unsqueeze(2)
        weights = self.give(x)
        state = x.new_zeros(x.shape[0], 3, 2)
        found = torch.zeros_like(x)
        for step in range(x.shape[1]):
            state = decay[:, step] * state + add[:, step]
            found[:, step] = (state * weights[:, step].unsqueeze(1)).sum(-1)
        return found


class Neighbours(nn.Module):
    """Starts from the first element, and reads two neighbours; one of the steps is given by itself."""

    def forward(self, x: Tensor) -> Any:
        state = x[:, 0]
        found = [state]
        for step in range(1, x.shape[1]):
            state = 0.5 * state + x[:, step] * x[:, step - 1]
            found.append(state)
        return torch.stack(found, 1), found[2], state


class Carried(nn.Module):
    """Keeps an element until the next step."""

    def forward(self, x: Tensor) -> Any:
        state, before, found = torch.ones(x.shape[1]), x[0], []
        for step in range(1, x.shape[0]):
            state = torch.sigmoid(state * before - x[step])
            before = x[step]
            found.append(state)
        return torch.stack(found), before


class Chunks(nn.Module):
    """Two elements at a time, under a mask, of which the end alone is given."""

    def forward(self, x: Tensor, kept: Tensor) -> Any:
        state = torch.zeros(x.shape[0], 2)
        for part, mask in zip(x.split(2, 1), kept.unbind(1), strict=True):
            state = torch.where(mask.unsqueeze(1), torch.sigmoid(part + state), state)
        return state


class OfTheMiddle(nn.Module):
    """Writes every other place of what has something elsewhere."""

    def forward(self, x: Tensor) -> Any:
        found, state = x.clone(), x.new_zeros(x.shape[1])
        for step in range(1, 8, 2):
            state = torch.relu(state - x[step])
            found[step] = state
        return found


class Changes(nn.Module):
    """One of the steps does something else."""

    def forward(self, x: Tensor) -> Any:
        state, found = x.new_zeros(x.shape[1]), []
        for step, now in enumerate(x):
            state = torch.tanh(state + now) if step != 2 else torch.sigmoid(state + now)
            found.append(state)
        return torch.stack(found)


class OutOfStep(nn.Module):
    """Elements in an order that counts neither up nor down."""

    def forward(self, x: Tensor) -> Any:
        state, found = x.new_zeros(x.shape[1]), []
        for step in (0, 1, 3, 2):
            state = torch.tanh(state + x[step])
            found.append(state)
        return torch.stack(found)


class TwoBack(nn.Module):
    """Needs what is two steps back."""

    def forward(self, x: Tensor) -> Any:
        found = [x[0], x[1]]
        for step in range(2, x.shape[0]):
            found.append(torch.tanh(found[-1] + found[-2] * x[step]))
        return torch.stack(found)


class Map(nn.Module):
    """No step needs another one."""

    def forward(self, x: Tensor) -> Any:
        return torch.stack([torch.tanh(now) for now in x])


class Reshapes(nn.Module):
    """Moves the elements of its state."""

    def forward(self, x: Tensor) -> Any:
        state, found = x.new_zeros(4, 3), []
        for now in x:
            state = torch.relu(state.t().reshape(4, 3) - now)
            found.append(state)
        return torch.stack(found)


ROLLED: dict[str, tuple[Callable[[], nn.Module], Callable[[], Arguments]]] = {
    "cell": (CellLoop, lambda: (torch.randn(2, 5, 3),)),
    "cells": (Cells, lambda: (torch.randn(4, 2, 3), torch.randn(2, 4), torch.randn(2, 2))),
    "concatenated": (Concatenated, lambda: (torch.randint(0, 7, (2, 4)),)),
    "selective": (Selective, lambda: (torch.randn(2, 6, 3),)),
    "neighbours": (Neighbours, lambda: (torch.randn(2, 6),)),
    "carried": (Carried, lambda: (torch.randn(5, 3),)),
    "chunks": (Chunks, lambda: (torch.randn(3, 8), torch.rand(3, 4) < 0.5)),
    "middle": (OfTheMiddle, lambda: (torch.randn(9, 2),)),
}
"""What makes each module, and its arguments."""

UNROLLED: dict[str, tuple[Callable[[], nn.Module], Callable[[], Arguments]]] = {
    "changes": (Changes, lambda: (torch.randn(5, 2),)),
    "out of step": (OutOfStep, lambda: (torch.randn(4, 2),)),
    "two back": (TwoBack, lambda: (torch.randn(6, 2),)),
    "map": (Map, lambda: (torch.randn(4, 2),)),
    "reshapes": (Reshapes, lambda: (torch.randn(4, 4, 3),)),
}


class RandomLoop(nn.Module):
    """A loop of random statements over random inputs and states, whose results are collected in random ways.

    Args:
        draw: a `random.Random`.
    """

    def __init__(self, draw: Any) -> None:
        super().__init__()
        self.size, self.steps, self.batch = draw.randint(1, 3), draw.choice((3, 4, 6)), draw.randint(1, 2)
        self.layers = nn.ModuleList(nn.Linear(self.size, self.size) for _ in range(2))
        self.states = draw.randint(1, 2)
        self.dim, self.down = draw.randint(0, 1), draw.random() < 0.4
        self.operators = [
            (draw.randrange(7), draw.randrange(10), draw.randrange(10)) for _ in range(draw.randint(2, 5))
        ]
        self.after = [draw.randrange(10) for _ in range(self.states)]
        self.collects = draw.choice(("stack", "cat", "write", "insert", "last", "one"))
        self.given = draw.random() < 0.5

    def arguments(self) -> Arguments:
        shape = [self.batch, self.size]
        x = [torch.randn(*shape[: self.dim], self.steps, *shape[self.dim :]) for _ in range(2)]
        start = [torch.randn(*shape) if self.given else torch.zeros(*shape) for _ in range(self.states)]
        return (*x, *start)

    def forward(self, first: Tensor, second: Tensor, *start: Tensor) -> Any:
        states, found = list(start), list[Tensor]()
        places = list(range(self.steps))[:: -1 if self.down else 1]
        written = torch.zeros_like(first)
        for place in places:
            held = [first.select(self.dim, place), second.select(self.dim, place), *states]
            for operator, one, other in self.operators:
                a, b = held[one % len(held)], held[other % len(held)]
                held.append(self.apply_one(operator, a, b))
            states = [
                torch.tanh(held[-1 - after % len(held)] + old)
                for after, old in zip(self.after, states, strict=True)
            ]
            if self.collects == "insert":
                found.insert(0, states[0])
            else:
                found.append(states[0] if self.collects != "cat" else states[-1].unsqueeze(1))
            if self.collects == "write":
                if self.dim:
                    written[:, place] = states[0]
                else:
                    written[place] = states[0]
        if self.collects == "write":
            return written, states
        if self.collects == "last":
            return states
        if self.collects == "one":
            return found[1], torch.stack(found, 1)
        return torch.cat(found, 1) if self.collects == "cat" else torch.stack(found, self.dim)

    def apply_one(self, operator: int, a: Tensor, b: Tensor) -> Tensor:
        match operator:
            case 0:
                return a * b
            case 1:
                return a - b
            case 2:
                return self.layers[0](a)
            case 3:
                return self.layers[1](a) + b
            case 4:
                return torch.sigmoid(a)
            case 5:
                return torch.where(a > 0, a, b)
        return a - b.mean(-1, keepdim=True)


class OwnScan(nn.Module):
    """PyTorch's own words for a loop."""

    def __init__(self, *, reverse: bool = False) -> None:
        super().__init__()
        self.layer, self.reverse = nn.Linear(3, 3), reverse

    def forward(self, x: Tensor, start: Tensor) -> Any:
        def step(state: Tensor, now: Tensor) -> tuple[Tensor, Tensor]:
            state = torch.tanh(self.layer(state) + now)
            return state, state * 2

        return scan(step, start, x, dim=0, reverse=self.reverse)


class AssociativeScan(nn.Module):
    """A linear recurrence, as a scan in any order."""

    def forward(self, rates: Tensor, x: Tensor) -> Any:
        def join(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            return one[0] * other[0], one[1] * other[0] + other[1]

        return associative_scan(join, (rates, x), 0, combine_mode="generic")


class Packed(nn.Module):
    """Sequences of several lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 2)

    def forward(self, x: Tensor) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 2]))
        return self.lstm(packed)[1][0]
