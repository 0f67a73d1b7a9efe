"""The text form of programs: a recursive descent parser for ``.ein``, and its inverse `dumps`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

from samhw.errors import InputError
from samhw.files import check_readable
from samhw.graph.numerics import ValueType, value_type
from samhw.lang.assemble import Declaration, assemble
from samhw.lang.check import MAX_DEPTH, REDUCTIONS
from samhw.lang.expr import (
    Access,
    Add,
    Binary,
    Call,
    Concat,
    Div,
    Expr,
    Literal,
    Mul,
    Neg,
    Parens,
    Recurrence,
    Reshape,
    RunningReduction,
    Sub,
)
from samhw.lang.index import OUTSIDE, ComputedIndex, IndexExpr, Indirect, Name
from samhw.lang.lexemes import Lexeme, LexemeKind, tokenize
from samhw.lang.program import Program
from samhw.lang.scans import scanned
from samhw.lang.source import Source
from samhw.lang.statement import COORDINATES, RANKINGS, Region, Scan, Statement

__all__ = ["dumps", "load", "parse", "parse_expression"]

T = TypeVar("T")

_REDUCTIONS = (*REDUCTIONS, *COORDINATES, *RANKINGS)
"""What may stand before the "=" of a statement."""

_RUNNING = {f"cum{reduction}": reduction for reduction in REDUCTIONS}
"""The running reductions, by their names in the text."""


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


class _Parser:
    """One method for each rule of the grammar, from the rule's first token to the one after its last."""

    def __init__(self, source: Source, *, keeps_parentheses: bool = False) -> None:
        self.source = source
        self.keeps_parentheses = keeps_parentheses
        self.tokens = tokenize(source)
        self.position = 0
        self.nesting = 0
        self.scans = 0

    # program = { value | extents | declaration | scan | fuse | statement }

    def program(self, implied: bool) -> Program:
        declarations: list[Declaration] = []
        regions: list[Region] = []
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
        return assemble(name, declarations, regions, self.source, value, implied=implied, extents=extents)

    # value = "value" name [ "<" integer "," integer ">" ] end

    def at_line(self, word: str) -> bool:
        """A line `value TYPE` or `index NAME=..`. No keywords: a tensor may have the name, and what assigns
        to it goes on with a bracket, or with "=" before or behind a reduction."""
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
        first = self.advance()
        text = first.text
        if self.accept("<"):
            sizes = [self.advance()]
            self.expect(",")
            sizes.append(self.advance())
            self.expect(">")
            text = f"{text}<{','.join(size.text for size in sizes)}>"
        try:
            value = value_type(text)
        except InputError as error:
            self.fail(first, str(error))
        self.end_of_line("a comment")
        return value

    # declaration = "tensor" name [ "[" mode { "," mode } "]" ] [ ":" format ] end
    # mode        = name [ "=" integer ]

    def declaration(self) -> Declaration:
        self.expect("tensor")
        name = self.name("a tensor's name")
        modes = self.bracketed("[", self.mode, "]") if self.at("[") else ()
        storage, format_span = None, None
        if self.accept(":"):
            format_span = self.token.span
            storage = self.format_text()
        self.end_of_line("': format'")
        return Declaration(
            name.text,
            tuple(index for index, _ in modes),
            tuple(extent for _, extent in modes),
            storage,
            name.span,
            format_span,
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

    # statement = access [ reduction ] "=" sum [ "where" access ] [ "order" name { "," name } ]
    # reduction = "max" | "min" | "prod" | "argmax" | "argmin"
    #           | "top" | "bottom" | "argtop" | "argbottom"

    def statement(self) -> Statement:
        if self.token.text in ("+", "-", "*", "/", "@", "where", "order"):
            self.fail(self.token, f"a line cannot begin with {self.token}; join it to the line before")
        lhs = self.access(self.name("a statement such as T[i] = A[i] * 2"))
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

    # sum     = product { ("+" | "-") product }
    # product = unary { ( "*" | "/" ) unary }
    # unary   = "-" unary | atom

    def sum(self) -> Expr:
        return self.chain({"+": Add, "-": Sub}, self.product)

    def product(self) -> Expr:
        return self.chain({"*": Mul, "/": Div}, self.unary)

    def chain(self, nodes: Mapping[str, type[Binary]], operand: Callable[[], Expr]) -> Expr:
        """Operands with operators between them, which associate to the left."""
        left = operand()
        while any(map(self.at, nodes)):
            operator = self.advance()
            left = nodes[operator.text](left, operand(), span=operator.span)
        return left

    def unary(self) -> Expr:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            self.fail(self.token, f"expressions nest at most {MAX_DEPTH} deep; use several statements")
        if self.at("-"):
            minus = self.advance()
            if self.token.kind is LexemeKind.NUMBER:
                expr: Expr = Literal(-_number(self.advance()), span=minus.span)
            else:
                expr = Neg(self.unary(), span=minus.span)
        else:
            expr = self.atom()
        self.nesting -= 1
        return expr

    # atom   = number | "(" sum ")" | call | access
    # call   = "reshape" "(" access ")" | "concat" "(" name { "," access } ")" | running
    #        | "recur" "(" name "," sum "," sum ")"
    #        | name "(" sum { "," sum } ")"
    # running = ( "cumsum" | "cumprod" | "cummax" | "cummin" ) "(" name "," sum [ "," "exclusive" ] ")"
    # access = name [ "[" index { "," index } "]" ]
    # index  = name [ "[" name { "," name } "]" ] | computed | ( "clamp" | "wrap" ) "(" computed ")"
    # computed = [ "-" ] scaled { ( "+" | "-" ) scaled }
    # scaled = integer [ "*" name ] | name [ "*" integer ]

    def atom(self) -> Expr:
        if self.token.kind is LexemeKind.NUMBER:
            number = self.advance()
            return Literal(_number(number), span=number.span)
        if self.accept("("):
            expr = self.sum()
            self.expect(")")
            return Parens(expr) if self.keeps_parentheses else expr
        name = self.name("a tensor, a number or '('")
        return self.call(name) if self.at("(") else self.access(name)

    def call(self, name: Lexeme) -> Expr:
        match name.text:
            case "reshape":
                self.expect("(")
                operand = self.access(self.name("a tensor"))
                self.expect(")")
                return Reshape(operand, span=name.span)
            case "concat":
                self.expect("(")
                index = self.name("an index")
                operands = []
                while self.accept(","):
                    operands.append(self.access(self.name("a tensor")))
                self.expect(")")
                return Concat(index.text, tuple(operands), span=name.span)
            case "recur":
                return self.recurrence(name)
        if name.text in _RUNNING:
            return self.running(name)
        return Call(name.text, self.bracketed("(", self.sum, ")"), span=name.span)

    def running(self, name: Lexeme) -> RunningReduction:
        self.expect("(")
        index = self.name("an index").text
        self.expect(",")
        operand = self.sum()
        exclusive = self.accept(",")
        if exclusive and self.name("the word 'exclusive'").text != "exclusive":
            self.fail(self.tokens[self.position - 1], "expected the word 'exclusive', or ')'")
        self.expect(")")
        return RunningReduction(_RUNNING[name.text], index, operand, exclusive, span=name.span)

    def recurrence(self, name: Lexeme) -> Recurrence:
        self.expect("(")
        index = self.name("an index").text
        self.expect(",")
        factor = self.sum()
        self.expect(",")
        operand = self.sum()
        self.expect(")")
        return Recurrence(index, factor, operand, span=name.span)

    def access(self, name: Lexeme) -> Access:
        indices = self.bracketed("[", self.index, "]") if self.at("[") else ()
        return Access(name.text, indices, span=name.span)

    def index(self) -> IndexExpr:
        first = self.token
        if first.kind is not LexemeKind.NAME:
            return self.computed()
        behind = self.tokens[self.position + 1]
        match behind.text if behind.kind is LexemeKind.SYMBOL else "":
            case "[":
                self.advance()
                names = self.bracketed("[", self.place_variable, "]")
                self.check_place("+", "-", "*")
                return Indirect(first.text, names)
            case "(" if first.text in OUTSIDE:
                self.advance()
                self.expect("(")
                found = self.computed()
                self.expect(")")
                return found.reaching(first.text)
            case "+" | "-" | "*":
                return self.computed()
        return Name(self.advance().text)

    def place_variable(self) -> str:
        """A variable under which an index tensor stands."""
        name = self.name("a variable").text
        self.check_place("[", "+", "-", "*")
        return name

    def check_place(self, *symbols: str) -> None:
        """Fails at symbols with which places would be computed of those that an index tensor names."""
        if any(self.at(symbol) for symbol in symbols):
            self.fail(
                self.token,
                "an index tensor stands alone in its mode, under variables, as in E[src[e], f]; work out any "
                "other places before the run, and give them as an index tensor",
            )

    def computed(self) -> ComputedIndex:
        terms: list[tuple[str, int]] = []
        offset, sign = 0, -1 if self.accept("-") else 1
        while True:
            name, factor = self.scaled()
            if name is None:
                offset += sign * factor
            else:
                terms.append((name, sign * factor))
            if not (self.at("+") or self.at("-")):
                return ComputedIndex.of(terms, offset)
            sign = -1 if self.advance().text == "-" else 1

    def scaled(self) -> tuple[str | None, int]:
        """A variable, or None, and a number of times."""
        if self.token.kind is not LexemeKind.NUMBER:
            name = self.name("an index").text
            self.check_place("[")
            return name, self.whole_number() if self.accept("*") else 1
        number = self.whole_number()
        scaled = self.name("an index").text if self.accept("*") else None
        self.check_place("[")
        return scaled, number

    def whole_number(self) -> int:
        number = self.advance()
        if not number.text.isdigit():
            self.fail(number, f"expected a whole number in an index, found {number}")
        return int(number.text)

    # Tools for the rules above.

    @property
    def token(self) -> Lexeme:
        """The token to be read next."""
        return self.tokens[self.position]

    def advance(self) -> Lexeme:
        token = self.token
        if token.kind is not LexemeKind.END:
            self.position += 1
        return token

    def at(self, text: str) -> bool:
        return self.token.kind in (LexemeKind.SYMBOL, LexemeKind.KEYWORD) and self.token.text == text

    def accept(self, text: str) -> bool:
        found = self.at(text)
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> Lexeme:
        if not self.at(text):
            self.fail(self.token, f"expected '{text}', found {self.token}")
        return self.advance()

    def name(self, what: str) -> Lexeme:
        if self.token.kind is LexemeKind.KEYWORD:
            self.fail(self.token, f"expected {what}, found {self.token}; a keyword cannot be a name")
        if self.token.kind is not LexemeKind.NAME:
            self.fail(self.token, f"expected {what}, found {self.token}")
        return self.advance()

    def bracketed(self, opening: str, item: Callable[[], T], closing: str) -> tuple[T, ...]:
        self.expect(opening)
        items = [item()]
        while self.accept(","):
            items.append(item())
        if not self.at(closing):
            self.fail(self.token, f"expected ',' or '{closing}', found {self.token}")
        self.advance()
        return tuple(items)

    def end_of_line(self, alternative: str = "an operator") -> None:
        if self.token.kind not in (LexemeKind.NEWLINE, LexemeKind.END):
            self.fail(self.token, f"expected {alternative} or the end of the line, found {self.token}")
        self.advance()

    def fail(self, token: Lexeme, message: str) -> NoReturn:
        raise self.source.error(token.span, message)


def _number(token: Lexeme) -> int | float:
    return int(token.text) if token.text.isdigit() else float(token.text)
