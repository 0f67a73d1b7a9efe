"""Types and attributes, as text: numbers, lists, maps, the data of tensors."""

import re
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.importers.mlir.operation import Elements, Symbol
from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem
from samhw.importers.mlir.types import Encoding, MlirType, OtherType, TensorType, affine_map, encoding
from samhw.importers.mlir.whole_numbers import is_float, signed_word, width_of, words_of_data

__all__ = ["LARGEST", "Attributes", "raw_elements"]

_SIZES = re.compile(r"(?:(?:\d+|\?)\s*x\s*)*")
_DATA = re.compile(r"[^>]*")
_VECTOR = re.compile(r"vector<((?:\d{1,9}x)*)([a-z]+\d*)>")
_COMMENT = re.compile(r"//[^\n]*")
_NUMBER = re.compile(r"[^\[\],\s]+")
_FLOATS: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(word) for name, word in {"f16": "<f2", "f32": "<f4", "f64": "<f8", "bf16": "<u2"}.items()
}
_INTEGERS: Mapping[int, np.dtype[Any]] = {width: np.dtype(f"<i{width // 8}") for width in (8, 16, 32, 64)}

LARGEST = 1 << 28
"""Elements of a constant that is read."""


class Attributes:
    """Reads types and attributes where a scanner stands.

    Attributes:
        aliases: what has a name of its own in the text, by that name.
        typed: the type of the attribute that was read last, of those that have one.
    """

    def __init__(self, scan: MlirScanner) -> None:
        self.scan = scan
        self.aliases: dict[str, Any] = {}
        self.typed: MlirType = OtherType("none")

    # Types

    def type(self) -> MlirType:
        """A type."""
        scan = self.scan
        if scan.kind == "alias":
            return self._named_type()
        if scan.token == "(":
            start = scan.at
            scan.skip_bracket()
            if scan.taken("->"):
                self.result_types()
            return OtherType(" ".join(scan.text[start : scan.at].split()))
        word = scan.expect_kind("word", "a type")
        if word == "tensor" and scan.token == "<":
            return self._tensor()
        if scan.token == "<":
            return OtherType(word + " ".join(scan.skip_bracket().split()))
        return OtherType(word)

    def _named_type(self) -> MlirType:
        name = self.scan.next()
        if name.startswith("!") and name in self.aliases:
            found = self.aliases[name]
            if isinstance(found, TensorType | OtherType):
                return found
        return OtherType(name + (self.scan.skip_bracket() if self.scan.token == "<" else ""))

    def _tensor(self) -> MlirType:
        scan = self.scan
        start = scan.at
        scan.expect("<")
        if scan.token == "*":
            scan.go_to(start)
            return OtherType("tensor" + scan.skip_bracket())
        sizes = scan.matched(_SIZES) or ""
        shape = tuple(None if size == "?" else _size(scan, size) for size in re.findall(r"\d+|\?", sizes))
        element = str(self.type())
        found: Encoding | None = None
        if scan.taken(","):
            held = self.value()
            found = held if isinstance(held, Encoding) else None
        scan.expect(">")
        if found is not None and found.problem is None:
            dimensions = {loop for level in found.levels for loop, _ in level.dimension.factors}
            if dimensions != set(range(len(shape))):
                found = Encoding(
                    problem=f"has an encoding that is not one of {len(shape)} dimensions; mend it"
                )
        return TensorType(shape, element, found)

    def types(self) -> list[MlirType]:
        """Types with commas between them."""
        found = [self.type()]
        while self.scan.taken(","):
            found.append(self.type())
        return found

    def result_types(self) -> list[MlirType]:
        """A type, or some in parentheses, each perhaps with attributes."""
        return self.scan.separated(")", self._result_type) if self.scan.taken("(") else [self.type()]

    def _result_type(self) -> MlirType:
        found = self.type()
        if self.scan.token == "{":
            self.scan.skip_bracket()
        return found

    # Attributes

    def dictionary(self) -> dict[str, Any]:
        """Attributes by their names, in braces."""
        self.scan.expect("{")
        return dict(self.scan.separated("}", self._field))

    def _field(self) -> tuple[str, Any]:
        if self.scan.kind not in ("word", "string"):
            raise self.scan.problem("the name of an attribute is expected")
        name = self.scan.next().strip('"')
        return name, self.value() if self.scan.taken("=") else True

    def value(self) -> Any:
        """An attribute."""
        scan = self.scan
        if scan.kind == "string":
            return _unquoted(scan.next())
        if scan.kind in ("int", "float", "hex") or scan.token == "-":
            return self.number()
        if scan.kind == "symbol":
            return self._symbol()
        if scan.kind == "alias":
            return self._alias()
        if scan.kind == "value":
            return scan.next()
        if scan.token == "[":
            return self.row()
        if scan.token == "{":
            return self.dictionary()
        if scan.token == "(":
            return self.type()
        return self._of_word()

    def row(self) -> list[Any]:
        """Attributes in brackets; values of operations may stand there too."""
        self.scan.expect("[")
        return self.scan.separated("]", self.value)

    def number(self) -> int | float:
        """A number, perhaps with its type."""
        at = self.scan.at
        negative = self.scan.taken("-")
        kind = self.scan.kind
        if kind not in ("int", "float", "hex"):
            raise self.scan.problem("a number is expected")
        token = self.scan.next()
        element = ""
        self.typed = OtherType("i64" if kind == "int" else "f64")
        if self.scan.taken(":"):
            self.typed = self.type()
            element = str(self.typed)
        try:
            return _number(("-" if negative else "") + token, element)
        except (ValueError, OverflowError, struct.error):
            raise SyntaxProblem(at, f"'{token[:40]}' is no number of the type {element}") from None

    def _symbol(self) -> Symbol:
        name = self.scan.next()[1:].strip('"')
        while self.scan.taken("::"):
            name = self.scan.expect_kind("symbol", "a symbol")[1:].strip('"')
        return Symbol(name)

    def _alias(self) -> Any:
        scan = self.scan
        at, name = scan.at, scan.next()
        if name in self.aliases:
            found = self.aliases[name]
            if isinstance(found, SyntaxProblem):
                raise found
            return found
        if scan.token != "<":
            if "." in name or name.startswith("!"):
                return name
            raise SyntaxProblem(at, f"'{name}' is not defined")
        if name == "#sparse_tensor.encoding":
            scan.expect("<")
            found = encoding(scan)
            scan.expect(">")
            return found
        inside = " ".join(scan.skip_bracket()[1:-1].split())
        return inside if name.startswith("#linalg") else f"{name}<{inside}>"

    def _of_word(self) -> Any:
        scan = self.scan
        match scan.token:
            case "true" | "false":
                found = scan.next() == "true"
                self.typed = self.type() if scan.taken(":") else OtherType("i1")
                return found
            case "unit":
                scan.next()
                return True
            case "affine_map":
                scan.next()
                scan.expect("<")
                found_map = affine_map(scan)
                scan.expect(">")
                return found_map
            case "dense" | "sparse" | "dense_resource":
                return self._elements(scan.next())
            case "array":
                return self._array()
        if scan.kind != "word":
            raise scan.problem("an attribute is expected")
        return self.type()

    def _array(self) -> list[Any]:
        scan = self.scan
        scan.next()
        scan.expect("<")
        self.type()
        if scan.taken(":"):
            return scan.separated(">", self.value)
        scan.expect(">")
        return []

    def _elements(self, kind: str) -> Elements:
        scan = self.scan
        at = scan.at
        scan.expect("<")
        text = _COMMENT.sub("", scan.matched(_DATA) or "")
        scan.expect(">")
        scan.expect(":")
        self.typed = found = self.type()
        if isinstance(found, OtherType) and (vector := _VECTOR.fullmatch(found.text)):
            sizes = tuple(int(size) for size in vector[1].split("x") if size)
            found = TensorType(sizes, vector[2])
        if not isinstance(found, TensorType):
            raise SyntaxProblem(at, f"the data are of the type {found}, and those of tensors are read")
        if kind == "dense_resource":
            return Elements(found, None, text.strip().strip('"'))
        if None in found.shape or prod(size or 0 for size in found.shape) > LARGEST:
            raise SyntaxProblem(at, f"the data are of the type {found}, which has no fixed size")
        shape = tuple(size or 0 for size in found.shape)
        try:
            values = (
                _dense(text, found.element, shape) if kind == "dense" else _sparse(text, found.element, shape)
            )
        except (ValueError, OverflowError, IndexError, struct.error):
            raise SyntaxProblem(at, f"the data do not fit the type {found}") from None
        return Elements(found, values)


def _size(scan: MlirScanner, size: str) -> int:
    if len(size) > 18:
        raise scan.problem(f"an extent of {len(size)} digits is larger than any tensor")
    return int(size)


def _unquoted(text: str) -> str:
    return text[1:-1].replace('\\"', '"')


def _number(text: str, element: str) -> int | float:
    """A number as it is written, and for a type of whole numbers what stands for its word; one in hexadecimal
    gives the bits of a floating-point number. Raises ValueError for a number that the type does not have."""
    found, width = _literal(text, element), width_of(element)
    if width is None:
        return found
    if not isinstance(found, int) or not -(1 << width) <= 2 * found < 2 << width:
        raise ValueError
    return signed_word(found, element)


def _literal(text: str, element: str) -> int | float:
    if text in ("true", "false"):
        return int(text == "true")
    if "x" not in text:
        if len(text) > 400:
            raise ValueError
        return float(text) if is_float(element) or {".", "e", "E"} & set(text) else int(text)
    bits = int(text, 16)
    if element not in _FLOATS:
        return bits
    kind = _FLOATS[element]
    return float(_floats(bits.to_bytes(kind.itemsize, "little"), element)[0])


def _floats(data: bytes, element: str) -> npt.NDArray[Any]:
    """Words of floating point."""
    found = np.frombuffer(data, _FLOATS[element])
    return (found.astype(np.uint32) << 16).view(np.float32) if element == "bf16" else found


def _dense(text: str, element: str, shape: Sequence[int]) -> npt.NDArray[np.float64]:
    text = text.strip()
    if text.startswith('"'):
        return raw_elements(bytes.fromhex(text.strip('"')[2:]), element, shape)
    found = [_number(word, element) for word in _NUMBER.findall(text)]
    return np.full(shape, found[0], np.float64) if len(found) == 1 else np.array(found, float).reshape(shape)


def _sparse(text: str, element: str, shape: Sequence[int]) -> npt.NDArray[np.float64]:
    """``[[0, 1], [2, 3]], [1.0, 2.0]``: places, and what is there."""
    depth = list(accumulate((letter == "[") - (letter == "]") for letter in text))
    split = next((n for n, letter in enumerate(text) if letter == "," and not depth[n]), len(text))
    found = [_number(word, element) for word in _NUMBER.findall(text[split:])]
    places = np.array([int(word) for word in _NUMBER.findall(text[:split])], np.int64).reshape(-1, len(shape))
    if len(places) and (places.min() < 0 or len(places) != len(found) != 1):
        raise ValueError
    values = np.zeros(shape)
    values[tuple(places.T)] = found[0] if len(found) == 1 else found
    return values


def raw_elements(data: bytes, element: str, shape: Sequence[int]) -> npt.NDArray[np.float64]:
    """The bytes of a tensor's data as numbers; raises ValueError for bytes that are none."""
    if element in _FLOATS:
        found = _floats(data, element)
    elif element == "i1" and len(data) in (1, prod(shape)):
        found = np.frombuffer(data, np.uint8) & (1 if len(data) == 1 else 255)
    elif element == "i1":
        found = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: prod(shape)]
    else:
        found = np.frombuffer(data, _INTEGERS.get(width_of(element) or 0, np.dtype("V0")))
    values = words_of_data(found.astype(np.float64), element)
    return np.full(shape, values[0]) if len(values) == 1 else values.reshape(shape)
