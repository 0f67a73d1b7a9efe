"""Patterns: named shapes of neighbouring statements, and the schedule that each match gives.

>>> from samhw.lang import parse
>>> from samhw.compiler.search.patterns import StatementPattern, any, call, find_patterns, reduced
>>> program = parse("tensor X[i=4, j=5]\\nm[i] max= X[i, j]\\nD[i, j] = X[i, j] - m[i]\\n")
>>> below = StatementPattern("below the maximum", call("-", any("x"), reduced("max", any("x"))))
>>> [match.results for match in find_patterns(program, [below]).matches]
[('m', 'D')]
"""

from samhw.compiler.search.patterns.expression_shapes import Shape, access, call, either, reduced, where
from samhw.compiler.search.patterns.expression_shapes import anything as any
from samhw.compiler.search.patterns.shipped import (
    BUILT_IN,
    Match,
    PatternMatches,
    Refused,
    StatementPattern,
    find_patterns,
    with_own_patterns,
)

__all__ = [
    "BUILT_IN",
    "Match",
    "PatternMatches",
    "Refused",
    "Shape",
    "StatementPattern",
    "access",
    "any",
    "call",
    "either",
    "find_patterns",
    "reduced",
    "where",
    "with_own_patterns",
]
