"""What cannot be, with the line of the user's function."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from samhw.errors import InputError
from samhw.lang import nested
from samhw.lang.nested import ListType

XS = nested.nested_tensor(np.arange(5))


def keep_item(xs: Any) -> Any:
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return x

    xs.map(keep)
    return xs.map(lambda x: x + kept[0])


BOTH: list[tuple[Callable[[Any], Any], str]] = [
    (lambda xs: xs[5], "there is no item 5 in a list of 5"),
    (lambda xs: xs[3:3], r"the part \[3:3\] of a list of 5 items is empty"),
    (lambda xs: xs.slide(7), "a window spans 7 places, and the list has 5 with 0 on either side; pad it"),
    (lambda xs: xs.slide(2, 0), "stride is 0; it is at least 1"),
    (lambda xs: xs.slide(2, border="edge"), "border is 'edge'; it is 'pad' or 'wrap'"),
    (lambda xs: xs.shifted_slide(2), "a window of 2 items, 1 apart, has no centre"),
    (lambda xs: nested.zip(xs, xs[1:]), "zip takes lists of one length, not of 5 and 4 items"),
    (lambda xs: nested.zip(xs, 3), "zip takes nested lists, not a int"),
    (
        lambda xs: nested.join(xs, xs.slide(1)),
        r"join takes lists of items of one type, not \[5\] of \[\] and",
    ),
    (lambda xs: xs.dilated_map(lambda ys: ys, 0), "the dilation is 0"),
    (lambda xs: xs[nested.nested_tensor(np.array([1, 7]))], "there is no item 7 in a list of 5"),
    (lambda xs: xs[nested.nested_tensor(np.eye(2))], "a list is indexed by a number, a slice, or a list"),
]

TRACED: list[tuple[Callable[[Any], Any], str]] = [
    (keep_item, "an item is used outside of the function that got it"),
    (lambda xs: xs.map(lambda x: np.arctan(x)), "NumPy's arctan of an element is no operation"),
    (lambda xs: xs.map(lambda x: x if x > 0 else -x), "is not known while it is traced; use np.maximum"),
    (lambda xs: xs.map(lambda x: x + xs), "an operand is of type TracedList"),
    (lambda xs: xs.map(lambda x: x @ x), r"matmul of elements of shapes \[\] and \[\]: a product"),
    (lambda xs: xs.foldl(lambda s, x: (s, x), 0), "gives 2 values, and its state has 1"),
    (lambda xs: xs.scanl(lambda s, x: xs, 0), r"gives \[5\] of \[\], where its state is \[\]"),
    (lambda xs: xs.dilated_map(lambda ys: ys[1:], 2), "only maps, zips and scans them"),
    (lambda xs: xs.dilated_map(lambda ys: ys.slide(len(ys)), 2), "only maps, zips and scans them"),
    (lambda xs: xs.dilated_map(lambda ys: ys.foldl(np.add, 0), 2), "a fold gives no list"),
    (
        lambda xs: xs.dilated_map(lambda ys: nested.zip(ys, xs).map(np.add), 2),
        "are zipped with others of it only",
    ),
    (lambda xs: xs.map(lambda x: np.asarray(x)), "an element is no array while its function is traced"),
]


@pytest.mark.parametrize("number", range(len(BOTH)))
def test_of_both_kinds(number: int) -> None:
    function, message = BOTH[number]
    place = f"{__file__}:{function.__code__.co_firstlineno}: "
    for call in (lambda: function(XS), lambda: nested.trace(function, XS)):
        with pytest.raises(InputError, match=message) as error:
            call()
        assert str(error.value).startswith(place)


@pytest.mark.parametrize("number", range(len(TRACED)))
def test_while_tracing(number: int) -> None:
    function, message = TRACED[number]
    with pytest.raises(InputError, match=message) as error:
        nested.trace(function, XS)
    assert re.match(re.escape(__file__) + r":\d+: ", str(error.value))


def test_of_arrays() -> None:
    with pytest.raises(InputError, match="an array of 1 axes is no list of depth 2"):
        nested.nested_tensor(np.arange(3), 2)
    empty = nested.nested_tensor(np.zeros((0, 2)))
    with pytest.raises(InputError, match="map of an empty list has no elements of any shape"):
        empty.map(lambda x: x)
    with pytest.raises(InputError, match="foldl of an empty list needs something to begin with"):
        empty.foldl(np.add)
    assert np.array_equal(empty.foldl(np.add, np.ones(2)), np.ones(2))
    with pytest.raises(InputError, match=r"gives .* for one item and .* for another"):
        XS.enumerate().map(lambda i, x: np.zeros(int(i)))


def test_of_arguments() -> None:
    with pytest.raises(InputError, match="parameter 'xs' gets no type; give it a ListType"):
        nested.trace(lambda xs: xs, 3)
    with pytest.raises(InputError, match="the arguments of <lambda>: missing a required argument: 'w'"):
        nested.trace(lambda xs, w: xs, XS)
    found = nested.trace(lambda xs: xs.map(lambda x: x + 1), ListType((4,)))
    with pytest.raises(InputError, match=r"parameter 'xs' is \[4\] of \[\]; give an array of shape \[4\]"):
        nested.evaluate(found, XS)
    picked = nested.trace(lambda xs, i: xs[i], ListType((4,)), ListType((2,)))
    with pytest.raises(InputError, match=r"there is no item \[9\] in xs"):
        nested.evaluate(picked, XS[:4], nested.nested_tensor(np.array([1, 9])))
