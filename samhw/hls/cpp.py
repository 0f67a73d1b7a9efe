"""Names and types in C++."""

import re

from samhw.graph import Memory
from samhw.numerics import Fixed, Float, Integer, value_type

__all__ = ["INDEX", "comment", "memory_word", "top_name", "value_class"]

INDEX = "index_t"

_TAKEN = re.compile(
    "alignas|alignof|and|and_eq|asm|auto|bitand|bitor|bool|break|case|catch|char|class|"
    "compl|const|constexpr|const_cast|continue|decltype|default|delete|do|double|"
    "dynamic_cast|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|"
    "int|long|main|mutable|namespace|new|noexcept|not|not_eq|nullptr|operator|or|or_eq|"
    "private|protected|public|register|reinterpret_cast|return|samhw|short|signed|sizeof|"
    "static|static_assert|static_cast|std|stream|struct|switch|template|this|thread_local|"
    "throw|true|try|typedef|typeid|typename|union|unsigned|using|virtual|void|volatile|"
    "wchar_t|while|xor|xor_eq|hls|bf16|fixed|index_t|index_word"
)
"""Names that the top function cannot have."""

_ASCII = str.maketrans({"⟨": "<", "⟩": ">", "×": "*", "−": "-"})


def value_class(value: str) -> str:
    """The C++ class of a value type."""
    match value_type(value):
        case Integer(width=width):
            return f"ap_int<{width}>"
        case Fixed(width=width, fraction=fraction):
            return f"fixed<{width}, {fraction}>"
        case Float(width=width):
            return "bf16" if width == 16 else "float"
    raise AssertionError(f"no C++ class for {value}")


def memory_word(memory: Memory, value: str) -> str:
    """The C++ type of a memory's words: the next of 8, 16 and 32 bits for values."""
    if not memory.is_value:
        return "index_word"
    width = value_type(value).width
    return f"ap_uint<{next(w for w in (8, 16, 32) if width <= w)}>"


def top_name(program: str) -> str:
    """A function name for a program."""
    plain = re.sub(r"\W", "_", program, flags=re.ASCII)
    if _TAKEN.fullmatch(plain) or not plain.isidentifier():
        plain = f"{plain}_top" if plain.isidentifier() else f"top_{plain}"
    return plain


def comment(note: str) -> str:
    """A note in ASCII, since not every tool reads more."""
    return note.translate(_ASCII).encode("ascii", "replace").decode()
