"""The text form of programs: a recursive descent parser for ``.ein``, and its inverse `dumps`."""

import re
from pathlib import Path

from samhw.errors import InputError
from samhw.files import check_readable
from samhw.graph.numerics import ValueType, value_type
from samhw.lang.assemble import Declaration, assemble, scanned
from samhw.lang.check import REDUCTIONS
from samhw.lang.expr import Expr
from samhw.lang.parse_expr import ExpressionParser
from samhw.lang.program import Program
from samhw.lang.source import LexemeKind, Source, Span
from samhw.lang.statement import COORDINATES, RANKINGS, Region, Scan, Statement

__all__ = ["dumps", "load", "parse", "parse_expression"]


_REDUCTIONS = (*REDUCTIONS, *COORDINATES, *RANKINGS)
"""What may stand before the "=" of a statement."""


def parse(text: str, name: str = "<text>", *, implied: bool = False) -> Program:
    """The program that `text` describes.

    `name` is how errors call the text; the program itself is named like it, without folder and suffix. With
    `implied`, inputs need no declaration: they are dense, or stored as their data are. Raises InputError,
    ``name:line:column: what is wrong and how to fix it``, when the text is not a valid program.
    """
    return _Parser(Source(name, text)).program(implied)


def parse_expression(text: str, name: str) -> Expr:
    """The right side of a statement by itself, with a `Parens` for each pair of parentheses.

    `name` is how errors call the text. Raises InputError when it is no expression.
    """
    parser = _Parser(Source(name, text), keeps_parentheses=True)
    expr = parser.sum()
    parser.end_of_line()
    if parser.token.kind is not LexemeKind.END:
        parser.fail(parser.token, f"expected the end of the text, found {parser.token}")
    return expr


def load(path: str | Path) -> Program:
    """The program in an ``.ein`` file. Raises InputError when it cannot be read or is not a valid program."""
    try:
        text = check_readable(Path(path)).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read program '{path}': {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise InputError(f"program '{path}' is not a text file; save it in UTF-8") from None
    except ValueError as error:
        raise InputError(f"cannot read program '{path}': {error}; check the path") from None
    return parse(text, str(path))


def dumps(program: Program) -> str:
    """The text of a program: ``parse(dumps(program)) == program``."""
    return program.text


_TYPE = re.compile(r"(?:(.*),)?\s*((?:[a-z]\w*)(?:\s*<[^<>]*>)?)\s*")
"""A format and a type after it, or a type alone."""


def _storage(text: str) -> tuple[str | None, ValueType | None]:
    """The format and the type that follow a declaration's colon."""
    found = _TYPE.fullmatch(text)
    if found is not None:
        try:
            return found[1], value_type(found[2])
        except InputError:
            # The format's parser says what is wrong with it.
            pass
    return text, None


class _Parser(ExpressionParser):
    """One method for each rule of the grammar, from the rule's first token to the one after its last."""

    # program = { value | extents | declaration | scan | fuse | statement }

    def program(self, implied: bool) -> Program:
        declarations: list[Declaration] = []
        regions: list[Region] = []
        self.types: dict[str, tuple[ValueType, Span]] = {}
        value: ValueType | None = None
        extents: dict[str, int] = {}
        while self.token.kind is not LexemeKind.END:
            if self.at_line("value"):
                if value is not None:
                    self.fail(self.token, "the value type is given twice; remove one of the lines")
                value = self.value()
            elif self.at_line("index"):
                self.extents(extents)
            elif self.at("tensor"):
                declarations.append(self.declaration())
            elif self.at_scan():
                regions += self.scan()
            elif self.at("fuse"):
                regions.append(self.fuse())
            else:
                regions.append(Region((self.statement(),)))
                self.end_of_line()
        name = Path(self.source.name).stem
        return assemble(
            *(name, declarations, regions, self.source, value),
            implied=implied,
            extents=extents,
            types=self.types,
        )

    # value = "value" name [ "<" integer "," integer ">" ] end

    def at_line(self, word: str) -> bool:
        """A line `value TYPE` or `index NAME=..`. No keywords: a tensor may have the name, and what assigns
        to it goes on with a bracket, or with "=" before or after a reduction."""
        if self.token.kind is not LexemeKind.NAME or self.token.text != word:
            return False
        first, second = (self.tokens[min(self.position + n, len(self.tokens) - 1)] for n in (1, 2))
        if first.kind is not LexemeKind.NAME:
            return False
        is_assigned = second.kind is LexemeKind.SYMBOL and second.text == "="
        return not is_assigned if word == "value" else first.text not in _REDUCTIONS

    # extents = "index" name "=" integer { "," name "=" integer } end

    def extents(self, found: dict[str, int]) -> None:
        """Adds what a line says to the extents of indices."""
        self.advance()
        while True:
            name = self.token
            index, extent = self.mode()
            if extent is None:
                self.fail(self.token, f"expected '=' and the extent of index '{index}', found {self.token}")
            if found.setdefault(index, extent) != extent:
                self.fail(name, f"index '{index}' gets two extents; give one, or use two indices")
            if not self.accept(","):
                break
        self.end_of_line("','")

    def value(self) -> ValueType:
        self.advance()
        value = self.type()
        self.end_of_line("a comment")
        return value

    # declaration = "tensor" name [ "[" mode { "," mode } "]" ] [ ":" storage ] end
    # storage     = format [ "," type ] | type
    # mode        = name [ "=" integer ]

    def declaration(self) -> Declaration:
        self.expect("tensor")
        name = self.name("a tensor's name")
        modes = self.bracketed("[", self.mode, "]") if self.at("[") else ()
        storage, kind, format_span = None, None, None
        if self.accept(":"):
            format_span = self.token.span
            storage, kind = _storage(self.format_text())
        self.end_of_line("': format'")
        return Declaration(
            name.text,
            tuple(index for index, _ in modes),
            tuple(extent for _, extent in modes),
            storage,
            name.span,
            format_span,
            kind,
        )

    def mode(self) -> tuple[str, int | None]:
        index = self.name("an index")
        if not self.accept("="):
            return index.text, None
        extent = self.advance()
        if not extent.text.isdigit():
            self.fail(extent, f"expected a whole number as the extent of '{index.text}', found {extent}")
        return index.text, int(extent.text)

    def format_text(self) -> str:
        """Everything up to the end of the line: the grammar of formats is their own."""
        first = last = self.token
        if first.kind in (LexemeKind.NEWLINE, LexemeKind.END):
            self.fail(first, f"expected a format after ':', found {first}; name one such as dense or csr")
        while self.token.kind not in (LexemeKind.NEWLINE, LexemeKind.END):
            last = self.advance()
        return re.sub(r"(#[^\n]*)?\s+", " ", self.source.text[first.start : last.stop])

    # scan = "scan" name [ "down" ] "{" { fuse | statement end } "}" end

    def at_scan(self) -> bool:
        """The head of a block. No keyword: a tensor may have the name, and no name follows that."""
        behind = self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        return (
            self.token.kind is LexemeKind.NAME
            and self.token.text == "scan"
            and behind.kind is LexemeKind.NAME
            and behind.text not in _REDUCTIONS
        )

    def scan(self) -> list[Region]:
        start = self.advance()
        index = self.name("an index").text
        down = self.token.kind is LexemeKind.NAME and self.token.text == "down"
        if down:
            self.advance()
        self.expect("{")
        regions: list[Region] = []
        while not self.at("}"):
            if self.token.kind is LexemeKind.END:
                self.fail(start, "this scan block is not closed; end it with '}'")
            if self.at("tensor") or self.at_scan():
                self.fail(self.token, f"{self.token} cannot stand in a scan block; move it out of the block")
            if self.at("fuse"):
                regions.append(self.fuse())
                continue
            regions.append(Region((self.statement(),)))
            if not self.at("}"):
                self.end_of_line()
        if not regions:
            self.fail(start, "this scan block is empty; put statements in it or remove it")
        self.expect("}")
        self.end_of_line("a comment")
        self.scans += 1
        return scanned(regions, Scan(index, down, self.scans - 1))

    # fuse = "fuse" "{" { statement end } "}" end

    def fuse(self) -> Region:
        start = self.expect("fuse")
        self.expect("{")
        statements = []
        while not self.at("}"):
            if self.token.kind is LexemeKind.END:
                self.fail(start, "this fuse block is not closed; end it with '}'")
            if self.at("fuse") or self.at("tensor"):
                self.fail(self.token, f"{self.token} cannot stand in a fuse block; move it out of the block")
            statements.append(self.statement())
            if not self.at("}"):
                self.end_of_line()
        if not statements:
            self.fail(start, "this fuse block is empty; put statements in it or remove it")
        self.expect("}")
        self.end_of_line("a comment")
        return Region(tuple(statements))

    # statement = access [ ":" type ] [ reduction ] "=" sum [ "where" access ] [ "order" name { "," name } ]
    # reduction = "max" | "min" | "prod" | "argmax" | "argmin"
    #           | "top" | "bottom" | "argtop" | "argbottom"

    def statement(self) -> Statement:
        if self.token.text in ("+", "-", "*", "/", "@", "where", "order"):
            self.fail(self.token, f"a line cannot begin with {self.token}; join it to the line before")
        lhs = self.access(self.name("a statement such as T[i] = A[i] * 2"))
        if self.accept(":"):
            self.types[lhs.tensor] = (self.type(), self.tokens[self.position - 1].span)
        reduction = "sum"
        if self.token.kind is LexemeKind.NAME and self.token.text in _REDUCTIONS:
            reduction = self.advance().text
        self.expect("=")
        rhs = self.sum()
        mask = self.access(self.name("a tensor")) if self.accept("where") else None
        span, order = None, None
        if self.at("order"):
            span = self.expect("order").span
            order = [self.name("an index").text]
            while self.accept(","):
                order.append(self.name("an index").text)
        return Statement(
            lhs, rhs, None if order is None else tuple(order), span, reduction=reduction, mask=mask
        )
