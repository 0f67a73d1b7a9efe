"""Random functions of nested lists, as a tree that runs in two ways: by `samhw.lang.nested` and in plain
Python.

In the plain form a list is a Python list, an element an array; it knows nothing of samhw. Nodes are tuples: a
word, then its operands. A body is a node in whose environment the items of its operator stand last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from samhw.lang import nested

__all__ = ["RandomFunction", "random_function"]

Node = tuple[Any, ...]
Type = tuple[tuple[int, ...], tuple[int, ...]]
"""The extents of lists, the outermost first, and the shape of an element."""

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "twice": lambda a, b: 2 * a - b,
    "greater": lambda a, b: np.maximum(a, b),
    "lesser": lambda a, b: np.minimum(a, b),
    "where": lambda a, b: np.where(a > b, a - 1, b),
    "gated": lambda a, b: (b >= 1) * a + abs(b),
    "square": lambda a, b: np.minimum(b**2, 9) + a,
}
"""What is computed of two elements; NumPy's words, which both forms have."""


@dataclass(frozen=True)
class RandomFunction:
    """A function with its arguments."""

    node: Node
    arguments: list[Any]
    depths: list[int]

    @property
    def function(self) -> Callable[..., Any]:
        """It on lists of `samhw.lang.nested`, as a user would write it."""
        if len(self.arguments) == 2:
            return lambda xs, ys: _nested(self.node, [xs, ys])
        return lambda xs, ys, zs: _nested(self.node, [xs, ys, zs])

    def plain(self) -> Any:
        """What it gives in plain Python, as an array."""
        given = [_listed(x, depth) for x, depth in zip(self.arguments, self.depths, strict=True)]
        return np.array(_plain(self.node, given))

    @property
    def lists(self) -> list[Any]:
        return [nested.nested_tensor(x, d) for x, d in zip(self.arguments, self.depths, strict=True)]


def random_function(seed: int) -> RandomFunction:
    """Two or three parameters of depth 1 to 3, with numbers or pairs as elements."""
    rng = Random(seed)
    types: list[Type] = []
    for depth in rng.choice([(2, 1), (1, 2), (3, 1), (2, 2, 1)]):
        types.append((tuple(rng.randint(1, 4) for _ in range(depth)), rng.choice([(), (2,)])))
    node, _ = _Maker(rng).list_of(types, 3)
    data = np.random.default_rng(seed)
    return RandomFunction(
        node,
        [data.integers(-3, 4, (*extents, *shape)) for extents, shape in types],
        [len(extents) for extents, _ in types],
    )


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def element(self, env: list[Type], shape: tuple[int, ...], depth: int) -> Node:
        """An element of a shape: of variables, of numbers, or a fold of a list around."""
        own = [("var", n) for n, kind in enumerate(env) if kind == ((), shape)]
        if depth == 0 or self.rng.random() < 0.2:
            return self.rng.choice(own) if own else ("full", shape, self.rng.randint(-2, 2))
        lists = [n for n, (extents, of) in enumerate(env) if extents and of in ((), shape)]
        if lists and self.rng.random() < 0.4:
            n = self.rng.choice(lists)
            extents, of = env[n]
            inner = [*env, ((), shape), (extents[1:], of)]
            start = ("full", shape, self.rng.randint(-1, 2))
            return (
                self.rng.choice(["foldl", "foldr"]),
                ("var", n),
                start,
                self.bounded(inner, shape, depth - 1),
            )
        scalar = self.rng.random() < 0.3
        one = self.element(env, shape, depth - 1)
        return (self.rng.choice([*BINARY]), one, self.element(env, () if scalar else shape, depth - 1))

    def bounded(self, env: list[Type], shape: tuple[int, ...], depth: int) -> Node:
        """An element of the state and the item, which stand last, within bounds."""
        state, item = ("var", len(env) - 2), ("var", len(env) - 1)
        mixed = self.element(env, shape, depth)
        if env[-1][0] == ():
            mixed = (self.rng.choice([*BINARY]), mixed, item)
        return ("clip", (self.rng.choice(["add", "greater", "twice"]), mixed, state))

    def list_of(self, env: list[Type], depth: int) -> tuple[Node, Type]:
        """A list: one of the environment, seen or computed with."""
        n = self.rng.choice([n for n, (extents, _) in enumerate(env) if extents])
        node, kind = self.seen(("var", n), env[n]) if self.rng.random() < 0.5 else (("var", n), env[n])
        for _ in range(self.rng.randint(1, 2)):
            node, kind = self.computed(node, kind, env, depth)
            if self.rng.random() < 0.3:
                node, kind = self.seen(node, kind)
        return node, kind

    def seen(self, node: Node, kind: Type) -> tuple[Node, Type]:
        """A list through an access operator."""
        (length, *rest), shape = kind
        match self.rng.choice(["reverse", "part", "slide", "join", "pick", "item", "around"]):
            case "reverse":
                return ("reverse", node), kind
            case "part" if length > 1:
                start, step = self.rng.randrange(length - 1), self.rng.randint(1, 2)
                return ("part", node, start, step), ((len(range(start, length, step)), *rest), shape)
            case "slide" if length > 1 and len(rest) < 2:
                return ("slide", node, 2), ((length - 1, 2, *rest), shape)
            case "join" if length < 4:
                return ("join", node, ("reverse", node)), ((2 * length, *rest), shape)
            case "pick":
                places = [self.rng.randrange(length) for _ in range(self.rng.randint(1, 4))]
                return ("pick", node, places), ((len(places), *rest), shape)
            case "item" if rest:
                return ("item", node, self.rng.randrange(length)), (tuple(rest), shape)
        return node, kind

    def computed(self, node: Node, kind: Type, env: list[Type], depth: int) -> tuple[Node, Type]:
        """A map, a scan or a fold of a list."""
        (length, *rest), shape = kind
        item: Type = (tuple(rest), shape)
        if self.rng.random() < 0.4 or depth == 0:
            inner = [*env, item]
            if rest and depth and self.rng.random() < 0.6:
                body, found = self.list_of(inner, depth - 1)
            else:
                found = ((), self.rng.choice([(), (2,), shape]))
                body = self.element(inner, found[1], 2)
            return ("map", node, body), ((length, *found[0]), found[1])
        word = self.rng.choice(["scanl", "scanr", "dilated"] if not rest else ["scanl", "scanr"])
        if not rest:
            body = self.bounded([*env, item, item], shape, 2)
            return (word, node, ("full", shape, self.rng.randint(-1, 2)), body), kind
        # The state is a list like the items: element by element, or a scan in the scan.
        state = ("var", len(env))
        pair = self.bounded([*env, item, item, ((), shape), ((), shape)], shape, 1)
        if len(rest) == 1:
            inner_word = self.rng.choice(["zipmap", "zipscan"])
            return (word, node, ("item", node, 0), (inner_word, state, ("var", len(env) + 1), pair)), kind
        fold = self.bounded([*env, ((), shape), item], shape, 2)
        return (word, node, ("full", shape, 1), fold), ((length,), shape)


def _plain(node: Node, env: list[Any]) -> Any:
    word, *rest = node
    match word:
        case "var":
            return env[rest[0]]
        case "full":
            return np.full(rest[0], rest[1])
        case "clip":
            return np.minimum(np.maximum(_plain(rest[0], env), -9), 9)
        case "map":
            return [_plain(rest[1], [*env, x]) for x in _plain(rest[0], env)]
        case "zipmap" | "zipscan":
            found, state = [], 0
            for x, y in zip(_plain(rest[0], env), _plain(rest[1], env), strict=True):
                state = _plain(rest[2], [*env, x if word == "zipmap" else state + x, y])
                found.append(state)
            return found
        case "reverse":
            return _plain(rest[0], env)[::-1]
        case "part":
            return _plain(rest[0], env)[rest[1] :: rest[2]]
        case "slide":
            xs = _plain(rest[0], env)
            return [[xs[n + k] for k in range(rest[1])] for n in range(len(xs) - rest[1] + 1)]
        case "join":
            return [*_plain(rest[0], env), *_plain(rest[1], env)]
        case "pick":
            xs = _plain(rest[0], env)
            return [xs[n] for n in rest[1]]
        case "item":
            return _plain(rest[0], env)[rest[1]]
        case "dilated":
            xs, found, start = _plain(rest[0], env), [], _plain(rest[1], env)
            for n, x in enumerate(xs):
                found.append(_plain(rest[2], [*env, found[n - 2] if n >= 2 else start, x]))
            return found
        case "foldl" | "foldr" | "scanl" | "scanr":
            xs, state, found = _plain(rest[0], env), _plain(rest[1], env), []
            for x in xs if word.endswith("l") else xs[::-1]:
                state = _plain(rest[2], [*env, state, x])
                found.append(state)
            if word.startswith("fold"):
                return state
            return found if word == "scanl" else found[::-1]
    return BINARY[word](*(_plain(part, env) for part in rest))


def _nested(node: Node, env: list[Any]) -> Any:
    word, *rest = node
    match word:
        case "var":
            return env[rest[0]]
        case "full":
            return np.full(rest[0], rest[1])
        case "clip":
            return np.clip(_nested(rest[0], env), -9, 9)
        case "map":
            return _nested(rest[0], env).map(lambda x: _nested(rest[1], [*env, x]))
        case "zipmap":
            lists = nested.zip(_nested(rest[0], env), _nested(rest[1], env))
            return lists.map(lambda x, y: _nested(rest[2], [*env, x, y]))
        case "zipscan":
            lists = nested.zip(_nested(rest[0], env), _nested(rest[1], env))
            return lists.scanl(lambda s, x, y: _nested(rest[2], [*env, s + x, y]), 0)
        case "reverse":
            return _nested(rest[0], env).reversed()
        case "part":
            return _nested(rest[0], env)[rest[1] :: rest[2]]
        case "slide":
            return _nested(rest[0], env).slide(rest[1])
        case "join":
            return nested.join(_nested(rest[0], env), _nested(rest[1], env))
        case "pick":
            return _nested(rest[0], env)[rest[1]]
        case "item":
            return _nested(rest[0], env)[rest[1]]
        case "dilated":
            start = _nested(rest[1], env)
            return _nested(rest[0], env).dilated_map(
                lambda ys: ys.scanl(lambda s, x: _nested(rest[2], [*env, s, x]), start), 2
            )
        case "foldl" | "foldr" | "scanl" | "scanr":
            operator = getattr(_nested(rest[0], env), word)
            return operator(lambda s, x: _nested(rest[2], [*env, s, x]), _nested(rest[1], env))
    return BINARY[word](*(_nested(part, env) for part in rest))


def _listed(array: Any, depth: int) -> Any:
    return [_listed(x, depth - 1) for x in array] if depth else array
