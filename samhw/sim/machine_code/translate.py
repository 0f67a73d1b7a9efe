"""Functions in a small subset of Python, as LLVM's text.

A function takes and gives 64-bit words. It may hold what `expressions.py` knows, assignments, `if`, `while`,
`for` over a `range`, and calls of functions of the same kind, which are written out in the place of the call.
What is known when it is translated (what it closes over, arguments, the variable of a short loop) is worked
out then, and what cannot be reached is left out. So a function that closes over numbers and other functions
becomes code made for these.
"""

import ast
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from samhw.sim.machine_code.calls import Calls
from samhw.sim.machine_code.code import Code, Module
from samhw.sim.machine_code.expression_values import (
    Computed,
    Flag,
    Named,
    Real,
    StandIns,
    Untranslatable,
    Value,
    Word,
    Words,
    operand,
)
from samhw.sim.machine_code.fingerprint import definition_of, fingerprint, outer_values

__all__ = ["translate"]

IGNORED = "_"
"""What is assigned to this name nobody reads."""

UNROLLED = 40
"""Loops of this many rounds or fewer, if that is known, are written out; those over the places of a tuple
are, however many it has."""


def translate(function: FunctionType, name: str, stand_ins: StandIns) -> str:
    """The text of a module that holds a function of words.

    Args:
        name: what it is called there.
        stand_ins: functions that are called in the place of others.

    Raises:
        Untranslatable: if the function is not in the subset, or calls one that is not.
    """
    module = Module()
    code = Code(len(definition_of(function).arguments))
    translator = _Translator(module, code, stand_ins)
    result = translator.inline(function, code.parameters)
    code.leave(0 if result is None else translator.as_word(result))
    return module.text(name, code)


class _Variable:
    """A name whose value is known when the code runs: a place for each part of the value."""

    def __init__(self, code: Code, value: Value):
        self.code = code
        form = _form(value)
        assert form is not None
        self.form = form
        self.kind = value.kind if isinstance(value, Named) else None
        self.places = [code.place(type) for type in _PLACES[self.form]]

    def holds(self, value: Value) -> bool:
        """Whether a value is of the kind of the variable's."""
        return _form(value) is self.form and (not isinstance(value, Named) or value.kind is self.kind)

    def load(self) -> Value:
        if self.form is Words:
            pointer = self.code.let(f"load ptr, ptr {self.places[0]}")
            return Words(pointer, self.code.word(f"load i64, ptr {self.places[1]}"))
        if self.form is Named:
            assert self.kind is not None
            return Named(self.kind, self.code.let(f"load ptr, ptr {self.places[0]}"))
        if self.form is Real:
            return self.code.real(f"load double, ptr {self.places[0]}")
        return self.code.word(f"load i64, ptr {self.places[0]}")

    def store(self, value: Value) -> None:
        if self.form is Words:
            self.code.do(f"store ptr {value.pointer}, ptr {self.places[0]}")
            self.code.do(f"store i64 {operand(value.count)}, ptr {self.places[1]}")
        elif self.form is Named:
            self.code.do(f"store ptr {value.pointer}, ptr {self.places[0]}")
        elif self.form is Real:
            self.code.do(f"store double {value.name}, ptr {self.places[0]}")
        else:
            self.code.do(f"store i64 {operand(value)}, ptr {self.places[0]}")


_PLACES: Mapping[type, tuple[str, ...]] = {
    Computed: ("i64",),
    Real: ("double",),
    Words: ("ptr", "i64"),
    Named: ("ptr",),
}


def _form(value: Value) -> type | None:
    """What kind of variable holds a value; None if only a name can stand for it."""
    if isinstance(value, int | Flag):
        return Computed
    return type(value) if type(value) in _PLACES else None


class _Call:
    """A call that is being written out."""

    def __init__(self, function: FunctionType, end: str):
        self.function = function
        self.definition = definition_of(function)
        self.names: dict[str, Any] = outer_values(function)
        self.end = end
        self.results: list[_Variable] = []
        """Where what is returned is put, if there is more than one `return`."""
        self.is_tuple = False
        self.loops: list[tuple[str, str]] = []
        """Where `break` and `continue` go."""


class _Translator(Calls):
    def __init__(self, module: Module, code: Code, stand_ins: StandIns):
        super().__init__(module, code)
        self.stand_ins = stand_ins
        self.calls: list[_Call] = []

    def call_apart(self, function: FunctionType, arguments: Sequence[Value]) -> Value:
        name = fingerprint(function, self.stand_ins)
        self.module.declare(name, len(arguments))
        words = ", ".join(f"i64 {operand(self.as_word(argument))}" for argument in arguments)
        return self.code.word(f"call i64 @{name}({words})")

    def look_up(self, name: str) -> Value:
        call = self.calls[-1]
        if name not in call.names:
            raise Untranslatable(f"{call.function.__qualname__}: {name!r} has no value")
        value = call.names[name]
        return value.load() if isinstance(value, _Variable) else value

    def inline(self, function: FunctionType, arguments: Sequence[Value]) -> Value:
        called = self.stand_ins.get(function, function)
        assert isinstance(called, FunctionType)
        call = _Call(called, self.code.label())
        if len(arguments) != len(call.definition.arguments):
            raise Untranslatable(f"{function.__qualname__} takes other arguments")
        self.calls.append(call)
        for name, value in zip(call.definition.arguments, arguments, strict=True):
            if name in call.definition.stored:
                self.assign(name, value)
            else:
                call.names[name] = self.as_word(value) if isinstance(value, Flag) else value
        result: Value = None
        if call.definition.ends_with_its_result:
            self.block(call.definition.body[:-1])
            result = self._returned(call.definition.body[-1])
        else:
            self.block(call.definition.body)
            self.code.begin(call.end)
            results = tuple(variable.load() for variable in call.results)
            result = results if call.is_tuple else results[0] if results else None
        self.calls.pop()
        return result

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements, up to the one after which nothing can be reached."""
        for statement in statements:
            if self.code.open:
                self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """A statement."""
        match node:
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.put(target, value)
            case ast.AugAssign():
                self._augment(node)
            case ast.AnnAssign(value=ast.expr() as right):
                self.put(node.target, self.value(right))
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert():
                pass
            case ast.Expr():
                self.value(node.value)
            case ast.If():
                self._if(node)
            case ast.While(orelse=[]):
                self._while(node)
            case ast.For(orelse=[]):
                self._for(node)
            case ast.Break():
                self.code.go(self.calls[-1].loops[-1][0])
            case ast.Continue():
                self.code.go(self.calls[-1].loops[-1][1])
            case ast.Return():
                self._return(node)
            case _:
                raise Untranslatable(f"{ast.unparse(node).splitlines()[0]!r} is not in the subset")

    def put(self, target: ast.expr, value: Value) -> None:
        """Gives a name, a word or several of them a value."""
        match target:
            case ast.Name():
                self.assign(target.id, value)
            case ast.Tuple() if isinstance(value, tuple) and len(value) == len(target.elts):
                for one, part in zip(target.elts, value, strict=True):
                    self.put(one, part)
            case ast.Subscript() | ast.Attribute():
                place = self._word_at(target)
                self.code.do(f"store i64 {operand(self.as_word(value))}, ptr {place}, align 8")
            case _:
                raise Untranslatable(f"nothing can be assigned to {ast.unparse(target)!r}")

    def assign(self, name: str, value: Value) -> None:
        """Gives a name a value.

        A name that is assigned once stands for its value. One that is assigned several times is a variable,
        which holds values of one kind.
        """
        call = self.calls[-1]
        if name == IGNORED:
            return
        if name in call.definition.looped:
            raise Untranslatable(f"{name!r} is the variable of a loop, and assigned otherwise too")
        if isinstance(value, Flag):
            value = self.as_word(value)
        once = call.definition.stored[name] == 1 and name not in call.definition.arguments
        if once and (isinstance(value, int) or _form(value) is None):
            call.names[name] = value
            return
        if _form(value) is None:
            raise Untranslatable(f"{name!r} is given several values of which one is no word")
        variable = call.names.get(name) or _Variable(self.code, value)
        if not variable.holds(value):
            raise Untranslatable(f"{name!r} is given values of several kinds")
        call.names[name] = variable
        variable.store(value)

    def _word_at(self, node: ast.Subscript | ast.Attribute) -> str:
        """The pointer to a word that is written as `words[index]` or `record.name`."""
        if isinstance(node, ast.Attribute):
            return self.field(self.value(node.value), node.attr)
        return self.element(self.value(node.value), self.value(node.slice))

    def _augment(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript | ast.Attribute):
            place = self._word_at(node.target)
            before = self.code.word(f"load i64, ptr {place}, align 8")
            after = self.as_word(self.binary(node.op, before, self.value(node.value)))
            self.code.do(f"store i64 {operand(after)}, ptr {place}, align 8")
        elif isinstance(node.target, ast.Name):
            before = self.look_up(node.target.id)
            self.assign(node.target.id, self.binary(node.op, before, self.value(node.value)))

    def _if(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if isinstance(condition, bool):
            self.block(node.body if condition else node.orelse)
            return
        then, otherwise, end = self.code.label(), self.code.label(), self.code.label()
        self.code.branch(condition, then, otherwise)
        for label, body in ((then, node.body), (otherwise, node.orelse)):
            self.code.begin(label)
            self.block(body)
            if self.code.open:
                self.code.go(end)
        self.code.begin(end)

    def _while(self, node: ast.While) -> None:
        top, body, end = self.code.label(), self.code.label(), self.code.label()
        self.code.begin(top)
        condition = self.condition(node.test)
        if isinstance(condition, bool):
            self.code.go(body if condition else end)
        else:
            self.code.branch(condition, body, end)
        self.code.begin(body)
        self._loop_body(node.body, end, top)
        if self.code.open:
            self.code.go(top)
        self.code.begin(end)

    def _loop_body(self, body: Sequence[ast.stmt], stop: str, next_round: str) -> None:
        loops = self.calls[-1].loops
        loops.append((stop, next_round))
        self.block(body)
        loops.pop()

    def _for(self, node: ast.For) -> None:
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds)):
                pass
            case _:
                raise Untranslatable("`for` goes only over a range")
        words = [self.word(bound) for bound in bounds]
        start, stop, step = (0, *words, 1) if len(words) == 1 else (*words, 1) if len(words) == 2 else words
        if not isinstance(step, int) or step == 0:
            raise Untranslatable("the step of a range must be known")
        rounds = range(start, stop, step) if isinstance(start, int) and isinstance(stop, int) else None
        if rounds is not None and (len(rounds) <= UNROLLED or self._are_places(bounds)):
            self._rounds(name, rounds, node.body)
        else:
            self._loop(name, start, stop, step, node.body)
        # After the loop the counter is one step further than Python's.
        self.calls[-1].names.pop(name, None)

    def _are_places(self, bounds: Sequence[ast.expr]) -> bool:
        """The bounds of a range are the length of a tuple, whose items may be of any kind."""
        match bounds:
            case [ast.Call(func=ast.Name(id="len"), args=[items])]:
                return isinstance(self.value(items), tuple)
        return False

    def _rounds(self, name: str, numbers: range, body: Sequence[ast.stmt]) -> None:
        """A loop whose rounds are written one after another."""
        end = self.code.label()
        for number in numbers:
            next_round = self.code.label()
            self.calls[-1].names[name] = number
            self._loop_body(body, end, next_round)
            self.code.begin(next_round)
        self.code.begin(end)

    def _loop(self, name: str, start: Word, stop: Word, step: int, body: Sequence[ast.stmt]) -> None:
        code, names = self.code, self.calls[-1].names
        counter = _Variable(code, start)
        counter.store(start)
        names[name] = counter
        top, inside, next_round, end = code.label(), code.label(), code.label(), code.label()
        code.begin(top)
        now = counter.load()
        goes_on = code.flag(f"icmp {'slt' if step > 0 else 'sgt'} i64 {now.name}, {operand(stop)}")
        code.branch(goes_on, inside, end)
        code.begin(inside)
        self._loop_body(body, end, next_round)
        code.begin(next_round)
        counter.store(code.word(f"add i64 {counter.load().name}, {step}"))
        code.go(top)
        code.begin(end)

    def _returned(self, node: ast.stmt) -> Value:
        assert isinstance(node, ast.Return)
        return None if node.value is None else self.value(node.value)

    def _return(self, node: ast.Return) -> None:
        call = self.calls[-1]
        value = self._returned(node)
        if value is not None:
            parts = [self.as_word(part) for part in (value if isinstance(value, tuple) else (value,))]
            if not call.results:
                call.is_tuple = isinstance(value, tuple)
                call.results = [_Variable(self.code, part) for part in parts]
            if (isinstance(value, tuple), len(parts)) != (call.is_tuple, len(call.results)):
                raise Untranslatable(f"{call.function.__qualname__} returns things that differ in form")
            for variable, part in zip(call.results, parts, strict=True):
                variable.store(part)
        self.code.go(call.end)
