"""What one statement of hardware takes."""

from samhw.graph.spec import base
from samhw.importers.core import draft as bounds


def test_the_bounds_are_those_of_the_hardware():
    assert bounds.DEEPEST == base.DEEPEST
    assert bounds.MOST_JOINED + 1 == base.MOST_JOINED


def test_groups_are_neighbours_of_about_one_size():
    for count in range(1, 200):
        groups = bounds.grouped(range(count))
        assert [n for group in groups for n in group] == list(range(count))
        sizes = {len(group) for group in groups}
        assert max(sizes) <= bounds.MOST_JOINED
        assert max(sizes) - min(sizes) <= 1
