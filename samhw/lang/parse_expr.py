"""The right side of a statement in text: a recursive descent parser for expressions, accesses and indices."""

from collections.abc import Callable, Mapping
from typing import NoReturn, TypeVar

from samhw.errors import InputError
from samhw.graph.numerics import ValueType, value_type
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
from samhw.lang.source import Lexeme, LexemeKind, Source, tokenize

__all__ = ["ExpressionParser"]

T = TypeVar("T")

_RUNNING = {f"cum{reduction}": reduction for reduction in REDUCTIONS}
"""The running reductions, by their names in the text."""


class ExpressionParser:
    """One method for each rule of the grammar, from the rule's first token to the one after its last."""

    def __init__(self, source: Source, *, keeps_parentheses: bool = False) -> None:
        self.source = source
        self.keeps_parentheses = keeps_parentheses
        self.tokens = tokenize(source)
        self.position = 0
        self.nesting = 0
        self.scans = 0

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
    #        | "recur" "(" name "," sum "," sum ")" | "to" "(" type "," sum ")"
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
            case "to":
                self.expect("(")
                kind = self.type()
                self.expect(",")
                converted = self.sum()
                self.expect(")")
                return Call("to", (converted,), kind, span=name.span)
            case "round":
                return Call("rint", self.bracketed("(", self.sum, ")"), span=name.span)
        if name.text in _RUNNING:
            return self.running(name)
        return Call(name.text, self.bracketed("(", self.sum, ")"), span=name.span)

    # type = name [ "<" integer "," integer ">" ]

    def type(self) -> ValueType:
        first = self.advance()
        text = first.text
        if self.accept("<"):
            sizes = [self.advance()]
            self.expect(",")
            sizes.append(self.advance())
            self.expect(">")
            text = f"{text}<{','.join(size.text for size in sizes)}>"
        try:
            return value_type(text)
        except InputError as error:
            self.fail(first, str(error))

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
