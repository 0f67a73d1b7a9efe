"""What compiled code needs and Numba has no words for: memory by address, and functions by address."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

__all__ = ["call", "local_words", "words_at"]

intrinsic: Any = extending.intrinsic
WORD = ir.IntType(64)
WORDS = types.Array(types.int64, 1, "C")


def _array(context: Any, builder: Any, pointer: Any, count: Any) -> Any:
    """An array over memory that nobody counts references to."""
    array = make_array(WORDS)(context, builder)
    size = context.get_constant(types.intp, 8)
    populate_array(array, data=pointer, shape=[count], strides=[size], itemsize=size, meminfo=None)
    return array._getvalue()


@intrinsic
def words_at(typing: Any, address: Any, count: Any) -> Any:
    """The words of memory from an address on, as an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, count = arguments
        return _array(context, builder, builder.inttoptr(address, WORD.as_pointer()), count)

    return WORDS(types.int64, types.intp), generate


@intrinsic
def local_words(typing: Any, count: Any) -> Any:
    """An array of a constant number of words that lives as long as the call.

    Where every index is a constant, LLVM keeps the words in registers.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    size = count.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = cgutils.alloca_once(builder, ir.ArrayType(WORD, max(1, size)))
        pointer = builder.bitcast(memory, WORD.as_pointer())
        return _array(context, builder, pointer, context.get_constant(types.intp, size))

    return WORDS(count), generate


@intrinsic
def call(typing: Any, code: Any, first: Any, second: Any) -> Any:
    """Calls the function at an address; it takes two words and gives one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(WORD, [WORD, WORD]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), generate
