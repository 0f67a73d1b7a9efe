"""Calls of what the translator knows by name."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from samhw.sim.machine_code import intrinsics
from samhw.sim.machine_code.expression_values import (
    Named,
    Real,
    Untranslatable,
    Value,
    Word,
    Words,
    is_named_tuple,
    operand,
)
from samhw.sim.machine_code.expressions import Expressions
from samhw.sim.machine_code.intrinsics import Record

__all__ = ["Calls"]


class Calls(Expressions):
    """Translates calls: of built-in functions, of intrinsics, and of functions that are written out."""

    @abstractmethod
    def inline(self, function: FunctionType, arguments: Sequence[Value]) -> Value:
        """The result of a call, whose instructions are written out."""

    @abstractmethod
    def call_apart(self, function: FunctionType, arguments: Sequence[Value]) -> Value:
        """The result of a call of a function that is not written out."""

    def call(self, function: Value, arguments: Sequence[Value]) -> Value:
        """The result of a call."""
        if isinstance(function, MethodType):
            return self._of_record(function, function.__self__, *arguments)
        if isinstance(function, type) and is_named_tuple(function):
            return self._named_tuple(function, arguments)
        if (known := _KNOWN.get(function)) is not None:
            return known(self, *arguments)
        if isinstance(function, FunctionType) and "apart" in function.__dict__:
            return self.call_apart(function, arguments)
        if isinstance(function, FunctionType):
            return self.inline(function, arguments)
        raise Untranslatable(f"{function!r} cannot be called")

    def _of_record(self, method: MethodType, kind: Any, argument: Value) -> Value:
        if not issubclass(kind, Record):
            raise Untranslatable(f"{method!r} cannot be called")
        if method == kind.local and isinstance(argument, int):
            return tuple(Named(kind, self.code.place(f"[{kind.WORDS} x i64]")) for _ in range(argument))
        return Named(kind, self._pointer(argument)) if method == kind.at else method(argument)

    def _named_tuple(self, kind: Any, items: Sequence[Value]) -> Value:
        if len(items) != len(kind._fields):
            raise Untranslatable(f"{kind.__qualname__} has other items")
        return kind._make(items)

    def _pointer(self, address: Value) -> str:
        return self.code.let(f"inttoptr i64 {operand(self.as_word(address))} to ptr")

    def _extreme(self, name: str, choose: Callable[..., int], *arguments: Value) -> Value:
        words = [self.as_word(argument) for argument in arguments]
        known = [word for word in words if isinstance(word, int)]
        others: list[Word] = [word for word in words if not isinstance(word, int)]
        result, *rest = [*others, choose(known)] if known else others
        for word in rest:
            result = self.code.word(f"call i64 @llvm.{name}.i64(i64 {operand(result)}, i64 {operand(word)})")
        return result

    def _max(self, *arguments: Value) -> Value:
        return self._extreme("smax", max, *arguments)

    def _min(self, *arguments: Value) -> Value:
        return self._extreme("smin", min, *arguments)

    def _abs(self, number: Value) -> Value:
        return self.code.real(f"call double @llvm.fabs.f64(double {self.real_operand(number)})")

    def _int(self, value: Value) -> Value:
        if isinstance(value, Real):
            return self.code.word(f"fptosi double {value.name} to i64")
        return self.as_word(value)

    def _len(self, words: Value) -> Value:
        if isinstance(words, tuple):
            return len(words)
        if not isinstance(words, Words):
            raise Untranslatable(f"{words!r} has no length")
        return words.count

    def _sqrt(self, word: Value) -> Value:
        number = self.code.let(f"sitofp i64 {operand(self.as_word(word))} to double")
        return self.code.real(f"call double @llvm.sqrt.f64(double {number})")

    def _words_at(self, address: Value, count: Value) -> Value:
        return Words(self._pointer(address), self.as_word(count))

    def _local_words(self, count: Value) -> Value:
        if not isinstance(count, int):
            raise Untranslatable("the number of local words must be known")
        return Words(self.code.place(f"[{max(1, count)} x i64]"), count)

    def _code_at(self, code: Value, first: Value, second: Value) -> Value:
        words = [f"i64 {operand(self.as_word(word))}" for word in (first, second)]
        return self.code.word(f"call i64 {self._pointer(code)}({', '.join(words)})")

    def _real_of(self, word: Value) -> Value:
        bits = self.code.let(f"trunc i64 {operand(self.as_word(word))} to i32")
        return self.code.real(f"fpext float {self.code.let(f'bitcast i32 {bits} to float')} to double")

    def _word_of(self, number: Value) -> Value:
        single = self.code.let(f"fptrunc double {self.real_operand(number)} to float")
        return self.code.word(f"zext i32 {self.code.let(f'bitcast float {single} to i32')} to i64")


_KNOWN: Mapping[object, Callable[..., Value]] = {
    max: Calls._max,
    min: Calls._min,
    abs: Calls._abs,
    int: Calls._int,
    len: Calls._len,
    math.sqrt: Calls._sqrt,
    intrinsics.words_at: Calls._words_at,
    intrinsics.local_words: Calls._local_words,
    intrinsics.call: Calls._code_at,
    intrinsics.real_of: Calls._real_of,
    intrinsics.word_of: Calls._word_of,
}
