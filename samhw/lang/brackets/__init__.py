"""Brackets: which of a statement's products are taken first, and what is summed before what.

`A (X W)` and `(A X) W` are one program to whoever reads the result. A bracket is the right side of a
statement once more, in the language of programs but without indices, and with parentheses that count. It may
name what an intermediate is made of in the intermediate's place. `apply_brackets` makes the program that
computes what brackets say, and refuses one that is not equal to the statement in real numbers.
"""

from samhw.lang.brackets.apply import apply_brackets
from samhw.lang.brackets.bracket_text import Node, parse_bracket
from samhw.lang.brackets.products import Product, definitions, products_of

__all__ = ["Node", "Product", "apply_brackets", "definitions", "parse_bracket", "products_of"]
