"""Expressions of the subset: integers, words of memory, tables, tuples that are known, a few numbers."""

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from samhw.sim.machine_code.code import Code, Module
from samhw.sim.machine_code.expression_values import (
    Computed,
    Flag,
    Named,
    Real,
    Untranslatable,
    Value,
    Word,
    Words,
    in_a_word,
    is_named_tuple,
    operand,
)
from samhw.sim.machine_code.intrinsics import Record

__all__ = ["Expressions"]

_OPERATORS: Mapping[type[ast.operator], tuple[Callable[[int, int], int], str]] = {
    ast.Add: (operator.add, "add"),
    ast.Sub: (operator.sub, "sub"),
    ast.Mult: (operator.mul, "mul"),
    ast.LShift: (operator.lshift, "shl"),
    ast.RShift: (operator.rshift, "ashr"),
    ast.BitAnd: (operator.and_, "and"),
    ast.BitOr: (operator.or_, "or"),
    ast.BitXor: (operator.xor, "xor"),
    ast.FloorDiv: (operator.floordiv, "sdiv"),
    ast.Mod: (operator.mod, "srem"),
}
_COMPARISONS: Mapping[type[ast.cmpop], tuple[Callable[[Any, Any], bool], str, str]] = {
    ast.Eq: (operator.eq, "eq", "oeq"),
    ast.NotEq: (operator.ne, "ne", "une"),
    ast.Lt: (operator.lt, "slt", "olt"),
    ast.LtE: (operator.le, "sle", "ole"),
    ast.Gt: (operator.gt, "sgt", "ogt"),
    ast.GtE: (operator.ge, "sge", "oge"),
}


class Expressions(ABC):
    """Translates expressions into instructions of a `Code`."""

    def __init__(self, module: Module, code: Code):
        self.module = module
        self.code = code

    @abstractmethod
    def look_up(self, name: str) -> Value:
        """What a name stands for here."""

    @abstractmethod
    def call(self, function: Value, arguments: Sequence[Value]) -> Value:
        """The result of a call."""

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                return node.value
            case ast.Name():
                return self.look_up(node.id)
            case ast.Tuple():
                return tuple(value for item in node.elts for value in self._items(item))
            case ast.BinOp():
                return self.binary(node.op, self.value(node.left), self.value(node.right))
            case ast.UnaryOp(op=ast.Not()):
                return self._negation(self.condition(node.operand))
            case ast.UnaryOp():
                return self._unary(node.op, self.value(node.operand))
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._boolean(node, self._truth_value)
            case ast.IfExp():
                return self._select(node)
            case ast.Subscript():
                return self._load(self.value(node.value), self.value(node.slice))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(func=func, args=args, keywords=[]):
                return self.call(self.value(func), [v for argument in args for v in self._items(argument)])
        raise Untranslatable(f"{ast.unparse(node)!r} is not in the subset")

    def _items(self, node: ast.expr) -> tuple[Value, ...]:
        """The values that an item of a tuple or an argument stands for: one, or those of another tuple."""
        if not isinstance(node, ast.Starred):
            return (self.value(node),)
        values = self.value(node.value)
        if not isinstance(values, tuple):
            raise Untranslatable(f"{ast.unparse(node)!r} is no tuple")
        return values

    def word(self, node: ast.expr) -> Word:
        """What an expression stands for, which is an integer."""
        return self.as_word(self.value(node))

    def as_word(self, value: Value) -> Word:
        """A value that is an integer, a truth value as 0 or 1."""
        if isinstance(value, Flag):
            return self.code.word(f"zext i1 {value.name} to i64")
        if isinstance(value, int):
            return int(value)
        if isinstance(value, Computed):
            return value
        raise Untranslatable(f"{value!r} is no integer")

    def condition(self, node: ast.expr) -> bool | Flag:
        """Whether an expression is true: a bool if that is known."""
        if isinstance(node, ast.BoolOp):
            return self._boolean(node, self.condition)
        return self._truth(self.value(node))

    def _truth_value(self, node: ast.expr) -> bool | Flag:
        """An expression that stands for a truth value. An integer does not: it may be neither 0 nor 1."""
        value = self.value(node)
        if not isinstance(value, bool | Flag):
            raise Untranslatable(f"{ast.unparse(node)!r} is no truth value")
        return value

    def _truth(self, value: Value) -> bool | Flag:
        if isinstance(value, Flag):
            return value
        word = self.as_word(value)
        return word != 0 if isinstance(word, int) else self.code.flag(f"icmp ne i64 {word.name}, 0")

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        """An operation on two values."""
        if isinstance(left, Real) or isinstance(right, Real):
            names = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul"}
            if type(op) not in names:
                raise Untranslatable(f"{type(op).__name__} of numbers is not in the subset")
            return self.code.real(
                f"{names[type(op)]} double {self.real_operand(left)}, {self.real_operand(right)}"
            )
        if type(op) not in _OPERATORS:
            raise Untranslatable(f"{type(op).__name__} is not in the subset")
        if isinstance(left, Flag) and isinstance(right, Flag) and isinstance(op, ast.BitAnd | ast.BitOr):
            return self.code.flag(f"{_OPERATORS[type(op)][1]} i1 {left.name}, {right.name}")
        known, name = _OPERATORS[type(op)]
        a, b = self.as_word(left), self.as_word(right)
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._divide(op, a, b)
        return self.code.word(f"{name} i64 {operand(a)}, {operand(b)}")

    def _divide(self, op: ast.operator, a: Word, b: Word) -> Word:
        """The quotient or the rest, rounded towards minus infinity; of a division by zero, any."""
        code = self.code
        if isinstance(b, int) and b > 0 and b & (b - 1) == 0:
            if isinstance(op, ast.Mod):
                return code.word(f"and i64 {operand(a)}, {b - 1}")
            return code.word(f"ashr i64 {operand(a)}, {b.bit_length() - 1}")
        if not isinstance(b, int):
            zero = code.flag(f"icmp eq i64 {b.name}, 0")
            b = code.word(f"select i1 {zero.name}, i64 1, i64 {b.name}")
        quotient = code.word(f"sdiv i64 {operand(a)}, {operand(b)}")
        rest = code.word(f"srem i64 {operand(a)}, {operand(b)}")
        signs = code.word(f"xor i64 {rest.name}, {operand(b)}")
        differ = code.flag(f"icmp slt i64 {signs.name}, 0")
        some = code.flag(f"icmp ne i64 {rest.name}, 0")
        below = code.flag(f"and i1 {differ.name}, {some.name}")
        if isinstance(op, ast.Mod):
            more = code.word(f"select i1 {below.name}, i64 {operand(b)}, i64 0")
            return code.word(f"add i64 {rest.name}, {more.name}")
        return code.word(f"sub i64 {quotient.name}, {operand(self.as_word(below))}")

    def _negation(self, truth: bool | Flag) -> bool | Flag:
        return not truth if isinstance(truth, bool) else self.code.flag(f"xor i1 {truth.name}, true")

    def _unary(self, op: ast.unaryop, value: Value) -> Value:
        if isinstance(value, Real) and isinstance(op, ast.USub):
            return self.code.real(f"fneg double {value.name}")
        word = self.as_word(value)
        if isinstance(op, ast.USub):
            return -word if isinstance(word, int) else self.code.word(f"sub i64 0, {word.name}")
        if isinstance(op, ast.Invert):
            return ~word if isinstance(word, int) else self.code.word(f"xor i64 {word.name}, -1")
        return word

    def _compare(self, node: ast.Compare) -> Value:
        """A chain of comparisons, which Python ends where one is false; here none has an effect."""
        left = self.value(node.left)
        result: bool | Flag = True
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            result = self._both(result, self._relate(op, left, right))
            left = right
        return result

    def _relate(self, op: ast.cmpop, left: Value, right: Value) -> bool | Flag:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, tuple):
                raise Untranslatable("`in` looks only into tuples")
            found: bool | Flag = False
            for item in right:
                found = self._either(found, self._relate(ast.Eq(), left, item))
            return found if isinstance(op, ast.In) else self._negation(found)
        if type(op) not in _COMPARISONS:
            raise Untranslatable(f"{type(op).__name__} is not in the subset")
        known, name, real_name = _COMPARISONS[type(op)]
        if isinstance(left, Real) or isinstance(right, Real):
            return self.code.flag(
                f"fcmp {real_name} double {self.real_operand(left)}, {self.real_operand(right)}"
            )
        a, b = self.as_word(left), self.as_word(right)
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b)
        return self.code.flag(f"icmp {name} i64 {operand(a)}, {operand(b)}")

    def _both(self, a: bool | Flag, b: bool | Flag) -> bool | Flag:
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return self.code.flag(f"and i1 {a.name}, {b.name}")

    def _either(self, a: bool | Flag, b: bool | Flag) -> bool | Flag:
        if isinstance(a, bool):
            return True if a else b
        if isinstance(b, bool):
            return True if b else a
        return self.code.flag(f"or i1 {a.name}, {b.name}")

    def _boolean(self, node: ast.BoolOp, truth_of: Callable[[ast.expr], bool | Flag]) -> bool | Flag:
        """`and` and `or`: what stands after is not computed where Python would not.

        Args:
            truth_of: translates a part.
        """
        stops = isinstance(node.op, ast.Or)
        parts = [part for part in node.values if self._known(part) is None or truth_of(part) is stops]
        if not parts:
            return not stops
        first, *others = parts
        truth = truth_of(first)
        if not others or truth is stops:
            return truth
        place, end = self.code.place("i1"), self.code.label()
        self.code.do(f"store i1 {_bit(truth)}, ptr {place}")
        for part in others:
            if isinstance(truth, Flag):
                rest = self.code.label()
                self.code.branch(truth, *((end, rest) if stops else (rest, end)))
                self.code.begin(rest)
            truth = truth_of(part)
            self.code.do(f"store i1 {_bit(truth)}, ptr {place}")
            if truth is stops:
                break
        self.code.begin(end)
        return self.code.flag(f"load i1, ptr {place}")

    def _known(self, node: ast.expr) -> bool | None:
        """Whether a name, a number or a field is true, if that is known without an instruction."""
        match node:
            case ast.Name() | ast.Constant():
                value = self.value(node)
            case ast.Attribute(value=ast.Name(id=name)) if isinstance(self.look_up(name), tuple):
                value = self.value(node)
            case _:
                return None
        return value != 0 if isinstance(value, int) else None

    def _select(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if isinstance(condition, bool):
            return self.value(node.body if condition else node.orelse)
        place, end = self.code.place("i64"), self.code.label()
        then, otherwise = self.code.label(), self.code.label()
        self.code.branch(condition, then, otherwise)
        for label, branch in ((then, node.body), (otherwise, node.orelse)):
            self.code.begin(label)
            self.code.do(f"store i64 {operand(self.word(branch))}, ptr {place}")
            self.code.go(end)
        self.code.begin(end)
        return self.code.word(f"load i64, ptr {place}")

    def element(self, words: Value, index: Value) -> str:
        """The pointer to one of some words."""
        if isinstance(words, np.ndarray) and words.ndim == 1 and words.dtype == np.int64:
            words = self.module.table(tuple(words.tolist()))
        if not isinstance(words, Words):
            raise Untranslatable(f"{words!r} has no words")
        return self.code.element(words, self.as_word(index))

    def _load(self, container: Value, index: Value) -> Value:
        if not isinstance(container, tuple):
            return self.code.word(f"load i64, ptr {self.element(container, index)}, align 8")
        if isinstance(index, int):
            return container[index]
        # A tuple of integers is a table; one of memories is chosen from.
        if all(isinstance(item, int) for item in container):
            return self._load(np.array([in_a_word(item) for item in container], np.int64), index)
        if not all(isinstance(item, Words) for item in container):
            raise Untranslatable("the index of a tuple must be known")
        chosen = container[0]
        for number, item in enumerate(container[1:], 1):
            this = self._relate(ast.Eq(), index, number)
            assert isinstance(this, Flag)
            pick = f"select i1 {this.name}"
            pointer = self.code.let(f"{pick}, ptr {item.pointer}, ptr {chosen.pointer}")
            count = self.code.word(f"{pick}, i64 {operand(item.count)}, i64 {operand(chosen.count)}")
            chosen = Words(pointer, count)
        return chosen

    def field(self, record: Value, name: str) -> str:
        """The pointer to a word of a record."""
        if not isinstance(record, Named) or name not in record.kind.FIELDS:
            raise Untranslatable(f"{record!r} has no word {name!r}")
        words = Words(record.pointer, record.kind.WORDS)
        return self.code.element(words, record.kind.FIELDS.index(name))

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if isinstance(owner, Named):
            return self.code.word(f"load i64, ptr {self.field(owner, node.attr)}, align 8")
        if is_named_tuple(type(owner)) and node.attr in owner._fields:
            return getattr(owner, node.attr)
        if isinstance(owner, type) and issubclass(owner, IntEnum):
            return int(owner[node.attr])
        if isinstance(owner, type) and issubclass(owner, Record):
            return getattr(owner, node.attr)
        raise Untranslatable(f"{ast.unparse(node)!r} is not in the subset")

    def real_operand(self, value: Value) -> str:
        """A number as LLVM writes it."""
        if isinstance(value, Real):
            return value.name
        if isinstance(value, float):
            return f"0x{np.float64(value).view(np.uint64):016X}"
        raise Untranslatable(f"{value!r} is no number")


def _bit(truth: bool | Flag) -> str:
    return truth.name if isinstance(truth, Flag) else str(truth).lower()
