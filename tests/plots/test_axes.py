"""Axes are made only when none are given."""

import matplotlib.pyplot as plt

from verulam.plots._axes import axes_of_size


def test_given_axes_are_used():
    given = plt.subplots()[1]
    assert axes_of_size(given, 1, 1) is given


def test_new_axes_have_the_size():
    assert axes_of_size(None, 3, 2).figure.get_size_inches().tolist() == [3, 2]
