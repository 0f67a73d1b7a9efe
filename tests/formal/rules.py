"""What the rows of a rule mean in Amaranth: their cells are Python (docs/rules.py), and each name in them
stands for a head, for what a pattern has found there, or for what a reading gives."""

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from amaranth.hdl import Array, Const, Mux, Signal, Value, ValueLike
from amaranth.lib import data

from docs.rules import Rows
from samhw.rtl.logic import all_of, any_of
from samhw.rtl.token import TokenKind, is_payload, make_token, stop_hi, stop_lo, stop_token
from tests.formal.firings import Bench, Does, Looks

__all__ = ["Head", "Meaning", "token"]

_PATTERNS: Mapping[str, Callable[[data.View], ValueLike]] = {
    "VAL": lambda head: head.kind == TokenKind.VAL,
    "EMPTY": lambda head: head.kind == TokenKind.EMPTY,
    "STOP": lambda head: head.kind == TokenKind.STOP,
    "DONE": lambda head: head.kind == TokenKind.DONE,
    "payload": is_payload,
    "end": lambda head: (head.kind == TokenKind.STOP) | (head.kind == TokenKind.DONE),
    "any": lambda head: 1,
}

_TOKENS: Mapping[str, Callable[..., Value]] = {
    "VAL": lambda word: make_token(TokenKind.VAL, word),
    "STOP": stop_token,
}
_EMPTY, _DONE = make_token(TokenKind.EMPTY), make_token(TokenKind.DONE)

_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class Head:
    """What the cells of a column are about.

    Attributes:
        token: the head.
        at: the inputs that a row with such a cell needs, each with when.
    """

    token: data.View
    at: Mapping[str, ValueLike]


@dataclass(frozen=True)
class Meaning:
    """What a reading gives to the rows of a rule.

    Attributes:
        at: what it may look at.
        names: the ideal state, by its names in the rule; functions, of conditions, words and tokens (what
            they give may be a `Looks`); statements, which give a `Does`.
        columns: those that are not about the port of their name.
        takes: what `take()` takes, if that is not all inputs.
        ports: the ports of the actor, by their names in the rule where those differ.
        loops: what the last token of a channel has been that leads back to the actor, and is no port here.
        copies: an output that gets what another one gets, and when.
        sets: what an assignment does to what is no register: to a memory, of a place and a word.
        every: how many ports `i` counts.
        streams: the outputs that `s` counts, with their numbers.
        same: the registers of the RTL are those of the ideal actor; what an induction has to know.
        promises: what else holds in every cycle, given which parts of firings happen, by their text.
    """

    at: Bench
    names: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Head] = field(default_factory=dict)
    takes: Mapping[str, ValueLike] | None = None
    ports: Mapping[str, str] = field(default_factory=dict)
    loops: Mapping[str, Signal] = field(default_factory=dict)
    copies: Mapping[str, tuple[str, ValueLike]] = field(default_factory=dict)
    sets: Mapping[str, Callable[..., Does]] = field(default_factory=dict)
    every: int = 0
    streams: Mapping[str, int] = field(default_factory=dict)
    same: ValueLike = 1
    promises: Callable[[Mapping[str, Value]], Sequence[ValueLike]] = lambda happens: ()

    def values(self, rule: Rows) -> dict[str, Any]:
        """Of the one row of a rule that says what is what, the words by their columns."""
        row = _Row(self)
        ((*cells,),) = rule.rows
        found = {}
        for column, cell in zip(rule.columns, cells, strict=True):
            if column in self.at.heads:
                row.looks(column, cell)
            else:
                found[column] = Value.cast(row.word(ast.parse(cell, mode="eval").body))
        return found

    def meant(self, cells: Sequence[str]) -> tuple[list[Looks], dict[str, Does]]:
        """The conditions of a row, and the parts of its firing."""
        row = _Row(self)
        looks = [row.looks(*pair) for pair in zip(self.at.columns[:-1], cells[:-1], strict=True)]
        return looks, {part: row.does(part) for part in cells[-1].split("; ") if part}


class _Row:
    """The cells of a row, from left to right."""

    def __init__(self, meaning: Meaning):
        self.meaning = meaning
        self.at = meaning.at
        self.names: dict[str, Any] = {"S0": stop_token(0, 0), "EMPTY": _EMPTY, "DONE": _DONE}
        self.names |= {"max": lambda a, b: Mux(a > b, a, b)}
        self.names |= {name: self.at.heads[p] for name, p in meaning.ports.items() if p in self.at.heads}
        self.names |= {**self.at.heads, **meaning.loops, **meaning.names}
        self.first: data.View | None = None
        self.looked: dict[str, ValueLike] = {}

    def looks(self, column: str, cell: str) -> Looks:
        """A condition."""
        self.looked = {}
        if not cell:
            return Looks(1, {})
        node = ast.parse(cell, mode="eval").body
        if column == "condition":
            return Looks(_bit(self.word(node)), self.looked)
        head = self.meaning.columns.get(column)
        if head is None:
            port = self.meaning.ports.get(column, column)
            head = Head(self.at.heads[port], {port: Const(1)})
        if self.first is None:
            self.first = self.names["it"] = head.token
        return Looks(self.meets(node, head.token), {**head.at, **self.looked})

    def meets(self, node: ast.expr, head: data.View) -> ValueLike:
        """A head is what a pattern says."""
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                return any_of([Value.cast(self.meets(each, head)) for each in values])
            case ast.BoolOp(values=values):
                return _all(*(self.meets(each, head) for each in values))
            case ast.Name(id="same"):
                assert self.first is not None
                return head.as_value() == self.first.as_value()
            case ast.Name(id="S0"):
                return head.as_value() == stop_token(0, 0)
            case ast.Name(id=name) if name in _PATTERNS:
                return _PATTERNS[name](head)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _PATTERNS:
                parts = [stop_lo(head), stop_hi(head)] if name == "STOP" else [head.payload]
                found = [self.binds(*pair) for pair in zip(args, parts, strict=True)]
                return _all(_PATTERNS[name](head), *found)
        return self.word(node)

    def binds(self, node: ast.expr, part: Value) -> ValueLike:
        """A name that stands for nothing yet stands for this part of a head; anything else equals it."""
        if isinstance(node, ast.Name) and node.id not in self.names:
            self.names[node.id] = part
            return 1
        return part == self.word(node)

    def does(self, part: str) -> Does:
        """A statement; of one about ports `x[i]`, for each i, and of one about `stream[s]`, for each s."""
        (statement,) = ast.parse(part).body
        found = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        numbers = {"i": range(self.meaning.every), "s": [*self.meaning.streams.values()]}
        for counter, ports in numbers.items():
            if counter in found:
                each = []
                for self.names[counter] in ports:
                    each.append(self.statement(statement))
                return reduce(_both, each)
        return self.statement(statement)

    def statement(self, statement: ast.stmt) -> Does:
        match statement:
            case ast.If(test=test, body=[inner]):
                return self.guarded(_bit(self.word(test)), inner)
            case ast.Assign(targets=[target], value=value):
                return self.assigns(target, value)
            case ast.Expr(value=ast.Call(func=ast.Name(id="take"), args=args)):
                default = self.meaning.takes
                all_ = dict.fromkeys(self.at.heads, Const(1)) if default is None else default
                return Does(takes=self.ports(args) if args else all_)
            case ast.Expr(value=ast.Call(func=ast.Name(id="push"), args=args, keywords=keywords)):
                return self.pushes(args, keywords)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=args)):
                result = self.names[name](*map(self.expression, args))
                assert isinstance(result, Does)
                return result
        raise ValueError(f"{ast.unparse(statement)!r} is no statement of a firing")

    def assigns(self, target: ast.expr, value: ast.expr) -> Does:
        match target:
            case ast.Name(id=name) if name in self.meaning.sets:
                return self.meaning.sets[name](self.word(value))
            case ast.Name(id=name):
                return Does(changes=[_assigned(self.names[name], self.expression(value))])
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.meaning.sets:
                return self.meaning.sets[name](self.word(index), self.word(value))
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return Does(changes=[self.names[name].bit_select(self.word(index), 1).eq(self.word(value))])
        raise ValueError(f"{ast.unparse(target)!r} is no state")

    def guarded(self, test: Value, inner: ast.stmt) -> Does:
        if isinstance(inner, ast.Assign):
            (target,) = inner.targets
            assert isinstance(target, ast.Name)
            state = self.names[target.id]
            return Does(changes=[state.eq(Mux(test, self.word(inner.value), state))])
        does = self.statement(inner)
        assert not does.changes
        takes = {name: test & when for name, when in does.takes.items()}
        return Does(takes, {name: (test & when, token) for name, (when, token) in does.pushes.items()})

    def pushes(self, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> Does:
        named = {word.arg: word.value for word in keywords if word.arg is not None}
        to = named.pop("to", None)
        loops = self.meaning.loops
        changes = [loops[name].eq(self.payload(value)) for name, value in named.items() if name in loops]
        called = self.meaning.ports
        found: dict[str, tuple[ValueLike, ValueLike]] = {
            called.get(name, name): (Const(1), token(self.expression(value)))
            for name, value in named.items()
            if name not in loops
        }
        if args:
            ports = dict.fromkeys(self.at.outputs, Const(1)) if to is None else self.ports([to])
            whole = token(self.expression(args[0]))
            found |= {n: (when, whole) for n, when in ports.items() if to is not None or not self.copied(n)}
        for name, (copy, when) in self.meaning.copies.items():
            if name in found:
                found[copy] = (when, found[name][1])
        return Does(pushes=found, changes=changes)

    def copied(self, name: str) -> bool:
        """An output gets what another one gets."""
        return any(name == copy for copy, _ in self.meaning.copies.values())

    def payload(self, node: ast.expr) -> Any:
        """Of a token VAL."""
        match node:
            case ast.Call(func=ast.Name(id="VAL"), args=[word]):
                return self.word(word)
        return self.word(node)

    def ports(self, nodes: Iterable[ast.expr]) -> dict[str, Any]:
        """Ports by name, `x` or `x[i]`, each with when it is meant."""
        found: dict[str, Any] = {}
        for node in nodes:
            match node:
                case ast.Name(id=name) if name in self.meaning.loops:
                    pass
                case ast.Name(id=name):
                    found[self.meaning.ports.get(name, name)] = Const(1)
                case ast.Subscript(value=ast.Name(id="stream"), slice=ast.Name(id="s")):
                    streams = self.meaning.streams
                    found |= {name: Const(1) for name, s in streams.items() if s == self.names["s"]}
                case ast.Subscript(value=ast.Name(id=name), slice=index):
                    number = self.word(index)
                    if isinstance(number, int):
                        found[f"{name}{number}"] = Const(1)
                    else:
                        found |= {f"{name}{n}": number == n for n in range(self.meaning.every)}
                case _:
                    raise ValueError(f"{ast.unparse(node)!r} is no port")
        return found

    def word(self, node: ast.expr) -> Any:
        """An expression; of a token its payload."""
        found = self.expression(node)
        return found.payload if isinstance(found, data.View) else found

    def expression(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool(value)):
                return Const(value)
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.names[name]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ~_bit(self.word(operand))
            case ast.BoolOp(op=op, values=values):
                join = all_of if isinstance(op, ast.And) else any_of
                return join([_bit(self.word(each)) for each in values])
            case ast.BinOp(left=left, op=op, right=right):
                return _OPERATORS[type(op)](self.word(left), self.word(right))
            case ast.Compare(left=left, ops=ops, comparators=others):
                words = [self.word(each) for each in (left, *others)]
                pairs = zip(ops, words, words[1:], strict=False)
                return all_of([Value.cast(_OPERATORS[type(op)](a, b)) for op, a, b in pairs])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, no = self.expression(body), self.expression(orelse)
                return Mux(_bit(self.word(test)), token(yes), token(no))
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self.indexed(name, self.word(index))
            case ast.Call(func=ast.Name(id="N"), args=[ast.Name(id=index)]):
                return self.names["N"](index)
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, [self.expression(each) for each in args])
        raise ValueError(f"{ast.unparse(node)!r} is no expression of a rule")

    def indexed(self, name: str, index: Any) -> Any:
        """What a memory has at a place; bit i of a word; the head of one of several ports."""
        if name in self.names:
            whole = self.names[name]
            return whole(index) if callable(whole) else whole.bit_select(index, 1)
        heads = [self.at.heads[f"{name}{number}"] for number in range(self.meaning.every)]
        return heads[index] if isinstance(index, int) else Array([each.as_value() for each in heads])[index]

    def call(self, name: str, args: Sequence[Any]) -> Any:
        if name in self.names:
            result = self.names[name](*args)
            if isinstance(result, Looks):
                self.looked |= result.at
                return result.holds
            return result
        return _TOKENS[name](*(each.payload if isinstance(each, data.View) else each for each in args))


def token(value: Any) -> Any:
    """The bits of a token, or of a word."""
    return value.as_value() if isinstance(value, data.View) else value


def _bit(condition: ValueLike) -> Value:
    """Whether it holds."""
    found = Value.cast(condition)
    return found if len(found) == 1 else found.bool()


def _all(*conditions: ValueLike) -> ValueLike:
    """Of those that do not hold in any case."""
    left = [condition for condition in conditions if not (isinstance(condition, int) and condition)]
    return reduce(operator.and_, left) if left else 1


def _assigned(state: Any, value: Any) -> Any:
    if isinstance(value, data.View) and not isinstance(state, data.View):
        value = value.payload
    return state.eq(value)


def _both(one: Does, other: Does) -> Does:
    return Does({**one.takes, **other.takes}, {**one.pushes, **other.pushes}, [*one.changes, *other.changes])
