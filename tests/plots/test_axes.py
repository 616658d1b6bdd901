"""One way to make axes, under both names."""

from verulam.plots._axes import axes_of_size
from verulam.plots._style import axes_or_new


def test_same_function():
    assert axes_of_size is axes_or_new
