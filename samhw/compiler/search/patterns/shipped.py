"""The patterns that samhw knows, in the order of their priority, and a user's own."""

from collections.abc import Iterator
from contextlib import contextmanager

from samhw.compiler.search.patterns.expression_shapes import Shape, access, anything, call, either, reduced
from samhw.compiler.search.patterns.matching import Match, StatementPattern
from samhw.errors import InputError
from samhw.lang import accesses
from samhw.script import Script

__all__ = ["BUILT_IN", "with_own_patterns"]

ACTIVATIONS = ("relu", "gelu", "silu", "sigmoid", "tanh")


def _softmax(scores: Shape) -> Shape:
    """exp(scores - max) / sum, or without the maximum."""
    shifted = call("-", scores, reduced("max", anything("scores")))
    exponential = call("exp", either(shifted, scores), name="exponential")
    return call("/", exponential, reduced("sum", anything("exponential")))


def _attention() -> Shape:
    """softmax(query key, scaled or not) value."""
    scaled = call("*", access("query"), anything("scale"))
    product = either(call("*", access("query"), access("key")), call("*", scaled, access("key")))
    scores = either(
        call("*", anything("scale"), reduced("sum", product), name="scores"),
        call("/", reduced("sum", product), anything("scale"), name="scores"),
        reduced("sum", product, name="scores"),
    )
    return reduced("sum", call("*", _softmax(scores), access("value")))


def _layer_norm() -> Shape:
    """(x - mean) / sqrt(variance + epsilon), with or without gain and bias."""
    mean = reduced("sum", _scaled(anything("x")))
    centred = call("-", anything("x"), mean, name="centred")
    square = call("*", anything("centred"), anything("centred"))
    variance = call("+", reduced("sum", _scaled(square)), anything("epsilon"))
    norm = either(
        call("*", centred, call("rsqrt", variance)),
        call("/", centred, call("sqrt", variance)),
    )
    scaled = call("*", norm, anything("gain"))
    return either(call("+", scaled, anything("bias")), scaled, norm)


def _scaled(shape: Shape) -> Shape:
    """Over the number of elements, or times its reciprocal."""
    count = anything("count")
    return either(call("/", shape, count), call("*", shape, count))


def _biased(name: str | None = None) -> Shape:
    """A sum of products, with a bias."""
    product = reduced("sum", call("*", access("input"), access("weight")))
    return call("+", product, access("bias"), name=name)


def _activated() -> Shape:
    """An activation of a sum of products with a bias."""
    return either(*(call(function, _biased()) for function in ACTIVATIONS))


def _residual() -> Shape:
    """A tensor, and a sum of products that follows from it, with a bias or without."""
    product = call("*", access("input"), access("weight"))
    branch = either(_biased("branch"), reduced("sum", product, name="branch"))
    return call("+", access("around"), branch)


def _follows(match: Match) -> str:
    """Why the branch of a residual does not follow from what goes around it."""
    writers = {statement.lhs.tensor: statement for statement in match.program.statements}
    (around,) = (read.tensor for read in accesses(match.parts["around"]))
    seen: set[str] = set()
    stack = [read.tensor for read in accesses(match.parts["branch"])]
    while stack:
        tensor = stack.pop()
        if tensor not in seen:
            seen.add(tensor)
            stack += [read.tensor for read in writers[tensor].reads] if tensor in writers else []
    return "" if around in seen else f"what is added to {around} does not follow from it"


def _is_inside(match: Match) -> str:
    """Why an intermediate would have to leave the region."""
    used = match.uses_elsewhere
    return f"other statements read {', '.join(used)}" if used else ""


BUILT_IN = (
    StatementPattern("attention", _attention(), _is_inside),
    StatementPattern("softmax", _softmax(anything("scores")), _is_inside),
    StatementPattern("layer norm", _layer_norm(), _is_inside),
    StatementPattern("residual", _residual(), _follows),
    StatementPattern("bias and activation", _activated(), _is_inside),
)


@contextmanager
def with_own_patterns(spec: str | None) -> Iterator[tuple[StatementPattern, ...]]:
    """The patterns of `file.py:NAME` ahead of the built-in ones, or these alone. Inside, the file's checks
    run as the file does.

    Raises:
        InputError: for a file or a name that is not there, what is not a pattern, and what fails in the file.
    """
    if not spec:
        yield BUILT_IN
        return
    path, _, name = spec.rpartition(":")
    if not (path and name):
        raise InputError(f"--patterns {spec}: name patterns in a Python file, as file.py:NAME.")
    script = Script(path)
    found = script.objects().get(name)
    own = found if isinstance(found, list | tuple) else [found]
    patterns = [pattern for pattern in own if isinstance(pattern, StatementPattern)]
    if not patterns or len(patterns) < len(own):
        raise InputError(
            f"--patterns {spec}: '{path}' has no '{name}' that is a StatementPattern, or a list of them."
        )
    with script.failing(), script.around():
        yield (*patterns, *BUILT_IN)
