"""A file in MLIR, read to the functions that it defines."""

from typing import Any

from samhw.importers.mlir.attributes import Attributes
from samhw.importers.mlir.operation import Block, MlirFunction, MlirModule, MlirOperation
from samhw.importers.mlir.operation_text import OperationReader
from samhw.importers.mlir.scanner import MlirScanner, MlirText, SyntaxProblem
from samhw.importers.mlir.types import MlirType

__all__ = ["read_module"]


def read_module(text: str, name: str) -> MlirModule:
    """The functions of a text in MLIR.

    Args:
        name: what errors call the text by, such as its path.

    Raises:
        InputError: for a text whose brackets do not match, or that is not MLIR, with the place.
    """
    file = MlirText(name, text)
    reader = _Reader(file)
    try:
        reader.module_level("")
    except SyntaxProblem as problem:
        raise file.error(problem.offset, f"{problem.message}; mend the file.") from None
    except RecursionError:
        raise file.error(0, "this is nested too deeply to be read; write it flatter.") from None
    return reader.module


class _Reader:
    def __init__(self, file: MlirText) -> None:
        self.scan = MlirScanner(file.text)
        self.module = MlirModule(file)
        self.attributes = Attributes(self.scan)
        self.operations = OperationReader(self.scan, self.attributes)

    def module_level(self, end: str) -> None:
        """Reads what stands in a module, up to the token that ends it."""
        scan = self.scan
        while scan.token != end:
            if scan.kind == "alias":
                self.alias()
            elif scan.token == "{-#":
                self.resources()
            elif scan.token in ("module", "builtin.module"):
                self.nested()
            elif scan.token in ("func.func", "func"):
                self.function()
            elif scan.token == "-" and scan.text.startswith("-----", scan.end):
                scan.go_to(scan.end + 5)  # Between the parts of a file of tests.
            else:
                self.other()
        scan.taken(end)

    def alias(self) -> None:
        """``#map = ..``, ``!t = ..``."""
        name = self.scan.next()
        self.scan.expect("=")
        start = self.scan.at
        try:
            self.alias_value(name)
        except SyntaxProblem as problem:
            # It matters only to what uses it.
            self.attributes.aliases[name] = problem
            self.scan.go_to(start)
            self.operations.skip()

    def alias_value(self, name: str) -> None:
        if name.startswith("!") or self.scan.token == "type":
            self.scan.taken("type")
            self.attributes.aliases[name] = self.attributes.type()
        elif self.scan.token == "loc":
            self.operations.location()
        else:
            self.attributes.aliases[name] = self.attributes.value()

    def nested(self) -> None:
        scan = self.scan
        scan.next()
        while scan.token not in ("{", ""):
            word = scan.next()
            if word == "attributes" and scan.token == "{":
                scan.skip_bracket()
        scan.expect("{")
        self.module_level("}")
        self.operations.location()

    def other(self) -> None:
        """Anything else that may stand in a module, such as a global."""
        found = self.operations.operation()
        if found.name == "builtin.module" and found.regions:
            for block in found.regions["0"]:
                for operation in block.operations:
                    self.generic_function(operation)
        else:
            self.generic_function(found)

    def generic_function(self, found: MlirOperation) -> None:
        """``"func.func"() <{sym_name = "f", ...}> ({..})``."""
        name = found.attributes.get("sym_name")
        blocks = found.regions.get("0")
        if found.name != "func.func" or not isinstance(name, str) or not blocks:
            return
        last = blocks[-1].last
        private = found.attributes.get("sym_visibility") == "private"
        results = last.types if last else []
        self.add(MlirFunction(name, found.at, blocks[0].arguments, results, blocks[0], private))

    def function(self) -> None:
        """``func.func @f(%a: f32) -> f32 {..}``; without a body it is only declared."""
        scan = self.scan
        at = scan.at
        scan.next()
        private = False
        while scan.token in ("private", "public", "nested"):
            private = scan.next() == "private" or private
        name = scan.expect_kind("symbol", "the name of a function")[1:].strip('"')
        is_declared = self.has_types_only()
        if is_declared:
            scan.skip_bracket()
            arguments: list[tuple[str, MlirType]] = []
        else:
            arguments = self.operations.arguments()
        results = self.attributes.result_types() if scan.taken("->") else []
        attributes: dict[str, Any] = {}
        if scan.taken("attributes"):
            attributes = self.attributes.dictionary()
        if scan.token != "{":
            self.operations.location()
            return
        blocks = self.operations.region()
        self.operations.location()
        body = blocks[0] if len(blocks) == 1 else Block(operations=blocks[0].operations[:-1])
        self.add(MlirFunction(name, at, arguments, results, body, private, attributes))

    def has_types_only(self) -> bool:
        scan = self.scan
        at = scan.at
        scan.expect("(")
        found = scan.kind != "value" and scan.token != ")"
        scan.go_to(at)
        return found

    def add(self, function: MlirFunction) -> None:
        """The first one of a name stays."""
        self.module.functions.setdefault(function.name, function)

    def resources(self) -> None:
        """``{-# dialect_resources: { builtin: { name: "0x.." } } #-}``: the data, by name."""
        scan = self.scan
        scan.next()
        while scan.token not in ("#-}", ""):
            name = scan.next().strip('"')
            if scan.taken(":") and scan.kind == "string":
                self.module.resources[name] = scan.next().strip('"')
        scan.expect("#-}")
