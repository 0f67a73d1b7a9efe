"""Two products of matrices, one after the other: (A @ B) @ C, where a block of A @ B is used as it comes.

`python examples/nested/b2b_gemm.py` prints how the two nests become one.
"""

import numpy as np

from samhw.lang import nested
from samhw.lang.nested import ListType


def b2b_gemm(rows, columns, others):
    """Blocks of rows of (A @ B) @ C.

    Args:
        rows: blocks of rows of A, [m] of [block, k].
        columns: blocks of columns of B, [n] of [k, block].
        others: blocks of rows of C, [n] of [block, p].
    """
    products = rows.map(lambda a: columns.map(lambda b: a @ b))
    return products.map(lambda row: nested.zip(row, others).map(lambda ab, c: ab @ c).reduce(np.add))


def example():
    """The function and types of its arguments, for `samhw run examples/nested/b2b_gemm.py:example`."""
    return b2b_gemm, (ListType((4,), (8, 8)), ListType((2,), (8, 8)), ListType((2,), (8, 8)))


if __name__ == "__main__":
    print(
        nested.dependences(b2b_gemm, ListType((4,), (8, 8)), ListType((2,), (8, 8)), ListType((2,), (8, 8)))
    )
