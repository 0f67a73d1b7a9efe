"""Names and types in C++."""

from collections.abc import Sequence
from hashlib import sha256
from math import prod

from samhw.graph import Arch, Payload
from samhw.graph.numerics import Fixed, Float, Integer, ValueType
from samhw.names import comment_text, plain

__all__ = [
    "INDEX",
    "by",
    "comment",
    "element_index",
    "memory_word",
    "payload_class",
    "plain_word",
    "project_name",
    "top_name",
    "value_class",
]

INDEX = "index_t"

_LONGEST = 100
"""Characters of a project's name, after which its files have endings."""

_ASCII = str.maketrans({"⟨": "<", "⟩": ">", "×": "*", "−": "-"})


def value_class(value: ValueType) -> str:
    """The C++ class of a value type."""
    match value:
        case Integer(width=width, is_signed=is_signed):
            return f"ap_{'' if is_signed else 'u'}int<{width}>"
        case Fixed(width=width, fraction=fraction):
            return f"fixed<{width}, {fraction}>"
        case Float(format=f) if f.subnormals:
            return f"small<{f.exponent_bits}, {f.mantissa}>"
        case Float(width=width):
            return "bf16" if width == 16 else "float"
    raise AssertionError(f"no C++ class for {value}")


def payload_class(payload: Payload) -> str:
    """The C++ type of what a stream carries."""
    if payload.element is None:
        return INDEX
    value = value_class(payload.element)
    return f"samhw::block<{value}, {payload.words}>" if payload.words > 1 else value


def memory_word(stored: Payload) -> str:
    """The C++ type of a memory's words: the next of 8, 16 and 32 bits for values."""
    if stored.element is None:
        return "index_word"
    return f"ap_uint<{_word_width(stored.element.width)}>"


def plain_word(stored: Payload, arch: Arch) -> str:
    """The same for a host, which need not know the types of HLS."""
    return f"std::uint{word_width(stored, arch)}_t"


def word_width(stored: Payload, arch: Arch) -> int:
    """The bits of a memory's words."""
    return _word_width(arch.index_bits if stored.element is None else stored.element.width)


def _word_width(width: int) -> int:
    return next(word for word in (8, 16, 32) if width <= word)


def project_name(program: str) -> str:
    """An identifier for a program or a region, as its files are called."""
    name = plain(program)
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}_{sha256(program.encode()).hexdigest()[:8]}"
    return name


def top_name(program: str) -> str:
    """A function's name for a program. No word, function or macro of C++ or of a library ends like it."""
    return f"{project_name(program)}_kernel"


def comment(note: str) -> str:
    """A note in ASCII, since not every tool reads more, as a comment may hold it."""
    return comment_text(note.translate(_ASCII)).encode("ascii", "replace").decode()


def by(sizes: Sequence[int]) -> str:
    """Sizes as a comment has them: `2 by 3`."""
    return " by ".join(map(str, sizes))


def element_index(sizes: Sequence[int], axes: Sequence[int]) -> str:
    """Where product p has its factor in an operand with these of the axes."""
    terms, stride = [], 1
    for axis in reversed(axes):
        terms.append(f"p / {prod(sizes[axis + 1 :])} % {sizes[axis]} * {stride}")
        stride *= sizes[axis]
    return " + ".join(reversed(terms)) or "0"
