"""One operation, as text.

Operations have custom forms, hundreds of them. Those of the dialects that are imported are made of the same
few parts: values, words, groups in parentheses behind a word, lists in brackets, attributes, regions and
types. An operation is read as a row of such parts, whatever its name. What cannot be read so is skipped, and
is an error only if its result is needed.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from samhw.importers.mlir.attributes import Attributes
from samhw.importers.mlir.operation import Block, MlirOperation
from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem
from samhw.importers.mlir.types import MlirType, OtherType, TensorType

__all__ = ["OperationReader"]

_START = re.compile(r"%[\w$.\-]+\s*(?::\s*\d+)?\s*(?:,\s*%[\w$.\-]+\s*(?::\s*\d+)?\s*)*=(?!=)")
_BARE = ("return", "call", "func")
_DEEPEST = 32
"""Regions in regions."""
_GIVES = {"tensor.dim": "index", "tensor.rank": "index", "sparse_tensor.lvl": "index"}
"""What operations give whose text names only the type that they take."""
_OPENING = ("{", "(", "[")


class OperationReader:
    """Reads the operations of a region where a scanner stands."""

    def __init__(self, scan: MlirScanner, attributes: Attributes) -> None:
        self.scan = scan
        self.attributes = attributes
        self.depth = 0

    # Regions

    def region(self) -> list[Block]:
        """Blocks in braces."""
        self.scan.expect("{")
        if self.depth == _DEEPEST:
            raise self.scan.problem(f"regions are nested more than {_DEEPEST} deep")
        self.depth += 1
        blocks = [Block()]
        while not self.scan.taken("}"):
            if self.scan.kind == "block":
                block = self._labelled()
                if blocks[-1].operations or blocks[-1].arguments:
                    blocks.append(block)
                else:
                    blocks[-1] = block
                continue
            blocks[-1].operations.append(self.operation())
        self.depth -= 1
        return blocks

    def _labelled(self) -> Block:
        self.scan.next()
        block = Block(self.arguments() if self.scan.token == "(" else [])
        self.scan.expect(":")
        return block

    def arguments(self) -> list[tuple[str, MlirType]]:
        """``(%a: f32, %b: index)``, each perhaps with attributes and a place."""
        scan = self.scan
        scan.expect("(")
        found: list[tuple[str, MlirType]] = []
        while not scan.taken(")"):
            name = scan.expect_kind("value", "an argument")
            scan.expect(":")
            found.append((name, self.attributes.type()))
            if scan.token == "{":
                scan.skip_bracket()
            self.location()
            if scan.token != ")":
                scan.expect(",")
        return found

    def location(self) -> None:
        """Passes over ``loc(..)``."""
        if self.scan.token == "loc":
            self.scan.next()
            if self.scan.token == "(":
                self.scan.skip_bracket()

    # Operations

    def operation(self) -> MlirOperation:
        """An operation; one that cannot be read has the problem with it."""
        scan = self.scan
        results = self._results()
        found = MlirOperation(scan.token.strip('"'), scan.at, results)
        if scan.kind not in ("word", "string"):
            raise scan.problem("an operation is expected")
        start, depth = scan.at, self.depth
        try:
            generic = scan.kind == "string"
            scan.next()
            if generic:
                self._generic(found)
            elif found.name == "arith.constant" or found.name == "constant":
                self._constant(found)
            else:
                self._parts(found)
            self.location()
        except SyntaxProblem as problem:
            scan.go_to(start)
            self.depth = depth
            self.skip()
            found.problem = (problem.offset, problem.message)
        return found

    def _results(self) -> list[str]:
        scan = self.scan
        names: list[str] = []
        while scan.kind == "value":
            name = scan.next()
            if scan.taken(":"):
                count = int(scan.expect_kind("int", "a number of results")[:4])
                names += [f"{name}#{n}" for n in range(count)]
                if count == 1:
                    names = [*names[:-1], name]
            else:
                names.append(name)
            if not scan.taken(","):
                scan.expect("=")
        return names

    def skip(self) -> None:
        """Goes to the next operation, or name, that begins a line, or to the end of the region."""
        scan = self.scan
        if scan.token not in _OPENING:
            scan.next()
        while scan.token not in ("}", ""):
            before = scan.text[scan.text.rfind("\n", 0, scan.at) + 1 : scan.at]
            if not before.strip() and (self._begins() or scan.kind == "alias"):
                return
            if scan.token in _OPENING:
                scan.skip_bracket()
            else:
                scan.next()

    def _begins(self) -> bool:
        """Whether the next token is the beginning of an operation, rather than a part of one."""
        scan = self.scan
        if scan.kind == "value":
            return _START.match(scan.text, scan.at) is not None
        if scan.kind == "string":
            return scan.text.startswith("(", scan.end)
        if scan.kind == "word":
            return "." in scan.token or scan.token in _BARE
        return scan.kind in ("block", "end") or scan.token == "}"

    def _constant(self, found: MlirOperation) -> None:
        if self.scan.token == "{":
            found.attributes.update(self.attributes.dictionary())
        self.attributes.typed = OtherType("i1")
        found.attributes["value"] = self.attributes.value()
        if self.scan.taken(":"):  # Behind a value that has no type of its own.
            self.attributes.type()
        found.gives = [self.attributes.typed]

    # The generic form

    def _generic(self, found: MlirOperation) -> None:
        scan = self.scan
        scan.expect("(")
        while not scan.taken(")"):
            found.operands.append(scan.expect_kind("value", "an operand"))
            scan.taken(",")
        if scan.token == "[":
            scan.skip_bracket()
        if scan.taken("<"):
            found.attributes.update(self.attributes.dictionary())
            scan.expect(">")
        if scan.taken("("):
            while not scan.taken(")"):
                found.regions[str(len(found.regions))] = self.region()
                scan.taken(",")
        if scan.token == "{":
            found.attributes.update(self.attributes.dictionary())
        scan.expect(":")
        scan.expect("(")
        while not scan.taken(")"):
            found.types.append(self.attributes.type())
            scan.taken(",")
        scan.expect("->")
        found.gives = self.attributes.result_types()
        self._grouped(found)

    def _grouped(self, found: MlirOperation) -> None:
        """Gives the groups of a generic form the names that they have in the custom one."""
        sizes = found.attributes.get("operandSegmentSizes")
        if found.name.startswith("linalg.") and isinstance(sizes, list) and len(sizes) == 2:
            first = sizes[0]
            found.groups = {"ins": found.operands[:first], "outs": found.operands[first:]}
            found.group_types = {"ins": found.types[:first], "outs": found.types[first:]}
            found.operands = []

    # The parts of custom forms

    def _parts(self, found: MlirOperation) -> None:
        part: Callable[[MlirOperation], None] | None
        while (part := self._next_part(found)) is not None:
            part(found)
        if found.name == "scf.for" and found.body is not None:
            kinds = [OtherType("index"), *found.gives]
            found.body.arguments = list(zip(found.attributes.pop("arguments", []), kinds, strict=False))

    def _next_part(self, found: MlirOperation) -> Callable[[MlirOperation], None] | None:
        """How the next token is read; None behind the end of the operation."""
        scan = self.scan
        if scan.kind == "end" or scan.token == "}":
            return None
        on_new_line = "\n" in scan.text[found.at : scan.at]
        if (on_new_line or found.gives) and self._begins():
            return None
        parts: dict[str, Callable[[MlirOperation], None]] = {
            "{": self._braces,
            "(": self._parentheses,
            "[": self._brackets,
            "<": self._angle,
            ":": self._types,
            "->": self._result_types,
            ",": self._comma,
        }
        by_kind: dict[str, Callable[[MlirOperation], None]] = {
            "value": self._value,
            "symbol": self._attribute,
            "alias": self._attribute,
            "int": self._attribute,
            "float": self._attribute,
            "string": self._attribute,
            "word": self._word,
        }
        if scan.token in parts:
            return parts[scan.token]
        if scan.kind == "mark" and scan.token == "-":
            return self._attribute
        if scan.kind in by_kind:
            return by_kind[scan.kind]
        raise scan.problem("the operation cannot be read from here on")

    def _comma(self, found: MlirOperation) -> None:
        self.scan.next()

    def _value(self, found: MlirOperation) -> None:
        name = self.scan.next()
        if found.name == "scf.for" and self.scan.taken("="):
            found.attributes.setdefault("arguments", []).append(name)
        else:
            found.operands.append(name)

    def _attribute(self, found: MlirOperation) -> None:
        value = self.attributes.value()
        if isinstance(value, dict):
            found.attributes.update(value)
        elif isinstance(value, str | int):
            found.words.append(value)
        else:
            found.attributes[f"symbol{len(found.attributes)}"] = value

    def _brackets(self, found: MlirOperation) -> None:
        found.lists.append(self.attributes.row())

    def _angle(self, found: MlirOperation) -> None:
        self.scan.skip_bracket()

    def _word(self, found: MlirOperation) -> None:
        """A word: by itself, or before `= value`, `= {region}`, `(group)`, `[list]`."""
        scan = self.scan
        word = scan.next()
        if word in ("to", "into") and scan.kind != "value":
            found.gives = self.attributes.result_types()
        elif word == "loc" and scan.token == "(":
            scan.skip_bracket()
        elif scan.taken("="):
            if scan.token == "{" and word == "attrs":
                found.attributes.update(self.attributes.dictionary())
            elif scan.token == "{":
                found.regions[word] = self.region()
            elif scan.token in ("identity",):
                found.words.append(f"{word}={scan.next()}")
            else:
                found.attributes[word] = self.attributes.value()
        elif scan.token == "(":
            self._group(found, word)
        elif scan.token == "[":
            found.attributes[word] = self.attributes.row()
        elif scan.token == "<" and word in ("fastmath", "overflow"):
            scan.skip_bracket()
        elif word == "attributes" and scan.token == "{":
            found.attributes.update(self.attributes.dictionary())
        else:
            found.words.append(word)

    def _group(self, found: MlirOperation, word: str) -> None:
        """``ins(%a, %b : f32, f32)``, or ``dim(0)``."""
        scan = self.scan
        scan.expect("(")
        values: list[str] = []
        numbers: list[object] = []
        while scan.token not in (")", ":"):
            if scan.kind == "value":
                values.append(scan.next())
                if scan.taken("="):  # An argument of a loop.
                    found.attributes.setdefault("arguments", []).append(values.pop())
                    values.append(scan.expect_kind("value", "a value"))
            else:
                numbers.append(self.attributes.value())
            scan.taken(",")
        types = self.attributes.types() if scan.taken(":") else []
        scan.expect(")")
        if numbers:
            found.attributes[word] = numbers[0]
        else:
            found.groups[word], found.group_types[word] = values, types

    def _parentheses(self, found: MlirOperation) -> None:
        """Operands, or the arguments of the region behind them."""
        scan = self.scan
        at = scan.at
        scan.next()
        if scan.kind == "value":
            scan.next()
            is_region = scan.token == ":"
            scan.go_to(at)
            if is_region:
                arguments = self.arguments()
                blocks = self.region()
                blocks[0].arguments = arguments
                found.regions[str(len(found.regions))] = blocks
                return
            scan.expect("(")
        while not scan.taken(")"):
            found.operands.append(scan.expect_kind("value", "an operand"))
            scan.taken(",")

    def _braces(self, found: MlirOperation) -> None:
        """Attributes, a region, or the operation that a reduction or a map makes."""
        scan = self.scan
        at = scan.at
        scan.next()
        if scan.kind == "word" and "." in scan.token:
            word = scan.next()
            if scan.token in ("}", "{", "fastmath", "overflow"):
                scan.go_to(at)
                found.attributes["payload"] = word
                scan.skip_bracket()
                return
            is_attribute = scan.token in ("=", ",")
        else:
            first, kind = scan.token, scan.kind
            if first not in ("}", "") and kind in ("word", "string"):
                scan.next()
            is_attribute = kind in ("word", "string") and scan.token in ("=", ",", "}") and first not in _BARE
        scan.go_to(at)
        if is_attribute:
            found.attributes.update(self.attributes.dictionary())
        else:
            found.regions[str(len(found.regions))] = self.region()

    def _types(self, found: MlirOperation) -> None:
        """``: f32``, ``: (f32) -> f32``, ``: f32, f32``."""
        scan = self.scan
        scan.expect(":")
        if scan.token == "(":
            at = scan.at
            scan.skip_bracket()
            function = scan.token == "->"
            scan.go_to(at)
            if function:
                found.types += self.attributes.result_types()
                scan.expect("->")
                found.gives = self.attributes.result_types()
                return
        found.types += self.attributes.types()
        if found.name in _GIVES:
            found.gives = [OtherType(_GIVES[found.name])]
        elif found.name == "tensor.extract" and isinstance(found.types[0], TensorType):
            found.gives = [OtherType(found.types[0].element)]
        elif found.name in ("arith.cmpf", "arith.cmpi"):
            found.gives = [_conditions(found.types[0])]
        else:
            found.gives = found.types[-1:] if len(found.results) < 2 else list(found.types)

    def _result_types(self, found: MlirOperation) -> None:
        self.scan.expect("->")
        found.gives = self.attributes.result_types()


def _conditions(kind: MlirType) -> MlirType:
    """What comparing elements of a type gives."""
    return replace(kind, element="i1") if isinstance(kind, TensorType) else OtherType("i1")
