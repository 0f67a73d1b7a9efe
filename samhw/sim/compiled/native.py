"""What compiled code needs and Numba has no words for: memory by address, and functions by address."""

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils, typing
from numba.core.typing.templates import AbstractTemplate, infer_global

__all__ = ["UNKNOWN", "call", "f32_of", "local_words", "word_of", "words_at"]

intrinsic: Any = extending.intrinsic
lower: Any = extending.lower_builtin
WORD = ir.IntType(64)

UNKNOWN = 1 << 60
"""Words of memory whose size nobody checks."""


class _Words(types.Type):
    """64-bit words in a row. Unlike Numba's arrays they have no owner, no strides and no index below zero, so
    that an access is one instruction."""

    def __init__(self) -> None:
        super().__init__("samhw.Words")


WORDS = _Words()


@extending.register_model(_Words)
class _Model(extending.models.StructModel):
    def __init__(self, manager: Any, kind: Any):
        super().__init__(manager, kind, [("data", types.CPointer(types.int64)), ("count", types.int64)])


class _OnWords(AbstractTemplate):
    """The signature of an operator on words and indices or values."""

    result: Any = types.int64

    def generic(self, arguments: Any, named: Any) -> Any:
        words, *others = arguments
        if words is WORDS:
            return typing.signature(self.result, words, *(types.int64 for _ in others))
        return None


@infer_global(len)
@infer_global(operator.getitem)
class _Reads(_OnWords):
    pass


@infer_global(operator.setitem)
class _Writes(_OnWords):
    result = types.void


def _pointer(context: Any, builder: Any, words: Any, index: Any) -> Any:
    data = cgutils.create_struct_proxy(WORDS)(context, builder, words).data
    return builder.gep(data, [index], inbounds=True)


@lower(operator.getitem, _Words, types.int64)
def _get(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words, index = arguments
    return builder.load(_pointer(context, builder, words, index))


@lower(operator.setitem, _Words, types.int64, types.int64)
def _set(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    words, index, value = arguments
    builder.store(value, _pointer(context, builder, words, index))
    return context.get_dummy_value()


@lower(len, _Words)
def _len(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return cgutils.create_struct_proxy(WORDS)(context, builder, arguments[0]).count


def _words(context: Any, builder: Any, pointer: Any, count: Any) -> Any:
    words = cgutils.create_struct_proxy(WORDS)(context, builder)
    words.data = pointer
    words.count = count
    return words._getvalue()


@intrinsic
def words_at(typing: Any, address: Any, count: Any) -> Any:
    """The words of memory from an address on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, count = arguments
        return _words(context, builder, builder.inttoptr(address, WORD.as_pointer()), count)

    return WORDS(types.int64, types.int64), generate


@intrinsic
def local_words(typing: Any, count: Any) -> Any:
    """A constant number of words that live as long as the call.

    Where every index is a constant, LLVM keeps them in registers.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = cgutils.alloca_once(builder, ir.ArrayType(WORD, max(1, size)))
        pointer = builder.bitcast(memory, WORD.as_pointer())
        return _words(context, builder, pointer, context.get_constant(types.int64, size))

    return WORDS(count), generate


@intrinsic
def call(typing: Any, code: Any, first: Any, second: Any) -> Any:
    """Calls the function at an address; it takes two words and gives one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(WORD, [WORD, WORD]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def f32_of(typing: Any, word: Any) -> Any:
    """The number whose bits are the lowest 32 of a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.int64), generate


@intrinsic
def word_of(typing: Any, number: Any) -> Any:
    """The bits of a number of single precision."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.zext(builder.bitcast(arguments[0], ir.IntType(32)), WORD)

    return types.int64(types.float32), generate
