"""One operation, as text.

Operations have custom forms, hundreds of them. Those of the dialects that are imported are made of the same
few parts: values, words, groups in parentheses after a word, lists in brackets, attributes, regions and
types. An operation is read as a row of such parts, whatever its name. What cannot be read so is skipped, and
is an error only if its result is needed.
"""

import re

from samhw.importers.mlir.attributes import Attributes
from samhw.importers.mlir.operation import (
    FULL_NAMES,
    Block,
    MlirOperation,
    WrittenParts,
    bring_to_one_form,
    types_given,
)
from samhw.importers.mlir.scanner import MlirScanner, SyntaxProblem
from samhw.importers.mlir.types import MlirType, OtherType

__all__ = ["OperationReader"]

_START = re.compile(r"%[\w$.\-]+\s*(?::\s*\d+)?\s*(?:,\s*%[\w$.\-]+\s*(?::\s*\d+)?\s*)*=(?!=)")
_ARGUMENT = re.compile(r"\(\s*%[\w$.\-]+\s*:(?!:)")
_BARE = ("return", "call", "func")
_DEEPEST = 32
"""Regions in regions."""
_OPENING = ("{", "(", "[")
_FLAGS = ("fastmath", "overflow")


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
        self.scan.expect("(")
        return self.scan.separated(")", self._argument)

    def _argument(self) -> tuple[str, MlirType]:
        name = self.scan.expect_kind("value", "an argument")
        self.scan.expect(":")
        found = (name, self.attributes.type())
        if self.scan.token == "{":
            self.scan.skip_bracket()
        self.location()
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
        name = scan.token.strip('"')
        found = MlirOperation(FULL_NAMES.get(name, name), scan.at, results)
        if scan.kind not in ("word", "string"):
            raise scan.problem("an operation is expected")
        start, depth = scan.at, self.depth
        try:
            generic = scan.kind == "string"
            scan.next()
            if generic:
                self._generic(found)
                bring_to_one_form(found, WrittenParts())
            elif found.name == "arith.constant":
                self._constant(found)
                bring_to_one_form(found, WrittenParts())
            else:
                self._custom(found)
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
        if self.scan.taken(":"):  # After a value that has no type of its own.
            self.attributes.type()
        found.gives = [self.attributes.typed]

    # The generic form

    def _generic(self, found: MlirOperation) -> None:
        scan, attributes = self.scan, self.attributes
        scan.expect("(")
        found.operands = scan.separated(")", self._operand)
        if scan.token == "[":
            scan.skip_bracket()
        if scan.taken("<"):
            found.attributes.update(attributes.dictionary())
            scan.expect(">")
        if scan.taken("("):
            regions = scan.separated(")", self.region)
            found.regions = {str(n): region for n, region in enumerate(regions)}
        if scan.token == "{":
            found.attributes.update(attributes.dictionary())
        scan.expect(":")
        scan.expect("(")
        found.types = scan.separated(")", attributes.type)
        scan.expect("->")
        found.gives = attributes.result_types()

    def _operand(self) -> str:
        return self.scan.expect_kind("value", "an operand")

    # Custom forms

    def _custom(self, found: MlirOperation) -> None:
        parts = WrittenParts()
        while self._goes_on(found):
            self._part(found, parts)
        if not found.gives:
            found.gives = types_given(found)
        bring_to_one_form(found, parts)

    def _goes_on(self, found: MlirOperation) -> bool:
        """Whether the next token is of the operation, and not after its end."""
        scan = self.scan
        if scan.kind == "end" or scan.token == "}":
            return False
        on_new_line = "\n" in scan.text[found.at : scan.at]
        return not ((on_new_line or found.types or found.gives) and self._begins())

    def _part(self, found: MlirOperation, parts: WrittenParts) -> None:
        """One part of a custom form."""
        scan, attributes = self.scan, self.attributes
        match scan.token, scan.kind:
            case "{", _:
                self._braces(found)
            case "(", _:
                self._parentheses(found)
            case "[", _:
                parts.lists.append(attributes.row())
            case "<", _:
                scan.skip_bracket()
            case ":", _:
                self._types(found)
            case "->", _:
                scan.next()
                found.gives = attributes.result_types()
            case ",", _:
                scan.next()
            case _, "value":
                name = scan.next()
                is_argument = found.name == "scf.for" and scan.taken("=")
                (parts.arguments if is_argument else found.operands).append(name)
            case _, "word":
                self._word(found, parts)
            case ("-", _) | (_, "symbol" | "alias" | "int" | "float" | "string"):
                self._attribute(found, parts)
            case _:
                raise scan.problem("the operation cannot be read from here on")

    def _attribute(self, found: MlirOperation, parts: WrittenParts) -> None:
        value = self.attributes.value()
        if isinstance(value, dict):
            found.attributes.update(value)
        elif isinstance(value, str | int):
            parts.words.append(value)
        else:
            found.attributes[f"symbol{len(found.attributes)}"] = value

    def _word(self, found: MlirOperation, parts: WrittenParts) -> None:
        """A word: by itself, or before `= value`, `= {region}`, `(group)`, `[list]`."""
        scan, attributes = self.scan, self.attributes
        word = scan.next()
        if word in ("to", "into") and scan.kind != "value":
            found.gives = attributes.result_types()
        elif word == "loc" and scan.token == "(":
            scan.skip_bracket()
        elif scan.taken("="):
            if scan.token == "{" and word == "attrs":
                found.attributes.update(attributes.dictionary())
            elif scan.token == "{":
                found.regions[word] = self.region()
            elif scan.taken("identity"):
                found.attributes[f"{word}_identity"] = True
            else:
                found.attributes[word] = attributes.value()
        elif scan.token == "(":
            self._group(found, parts, word)
        elif scan.token == "[":
            found.attributes[word] = attributes.row()
        elif scan.token == "<" and word in _FLAGS:
            scan.skip_bracket()
        elif word == "attributes" and scan.token == "{":
            found.attributes.update(attributes.dictionary())
        else:
            parts.words.append(word)

    def _group(self, found: MlirOperation, parts: WrittenParts, word: str) -> None:
        """``ins(%a, %b : f32, f32)``, or ``dim(0)``."""
        scan = self.scan
        scan.expect("(")
        values: list[str] = []
        numbers: list[object] = []
        while scan.token not in (")", ":"):
            if scan.kind == "value":
                values.append(scan.next())
                if scan.taken("="):
                    parts.arguments.append(values.pop())
                    values.append(scan.expect_kind("value", "a value"))
            else:
                numbers.append(self.attributes.value())
            scan.taken(",")
        types = self.attributes.types() if scan.taken(":") else []
        scan.expect(")")
        if numbers:
            found.attributes[word] = numbers[0]
        else:
            parts.groups[word] = values, types

    def _parentheses(self, found: MlirOperation) -> None:
        """Operands, or the arguments of the region after them."""
        if _ARGUMENT.match(self.scan.text, self.scan.at):
            arguments, blocks = self.arguments(), self.region()
            blocks[0].arguments = arguments
            found.regions[str(len(found.regions))] = blocks
        else:
            self.scan.next()
            found.operands += self.scan.separated(")", self._operand)

    def _braces(self, found: MlirOperation) -> None:
        """Attributes, a region, or the operation that a reduction or a map makes."""
        scan = self.scan
        at = scan.at
        scan.next()
        first, kind = scan.token, scan.kind
        if kind in ("word", "string"):
            scan.next()
        follows = scan.token
        scan.go_to(at)
        if kind == "word" and "." in first and follows in ("}", "{", *_FLAGS):
            found.attributes["payload"] = first
            scan.skip_bracket()
        elif kind in ("word", "string") and first not in _BARE and follows in ("=", ",", "}"):
            found.attributes.update(self.attributes.dictionary())
        else:
            found.regions[str(len(found.regions))] = self.region()

    def _types(self, found: MlirOperation) -> None:
        """``: f32``, ``: (f32) -> f32``, ``: f32, f32``."""
        scan, attributes = self.scan, self.attributes
        scan.expect(":")
        if scan.token == "(":
            at = scan.at
            scan.skip_bracket()
            is_function = scan.token == "->"
            scan.go_to(at)
            if is_function:
                found.types += attributes.result_types()
                scan.expect("->")
                found.gives = attributes.result_types()
                return
        found.types += attributes.types()
