"""Lines over beliefs: what is drawn is what the vectors say."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.plots import alpha_lines
from verulam.reinforcement import AlphaVectors, solve_exactly, tiger


def test_lines_their_largest_and_its_breaks():
    process = tiger()
    vectors = solve_exactly(process, 2)[1]
    axes = alpha_lines(vectors, actions=process.actions)
    ends = sorted(tuple(curve.get_ydata()[::-1]) for curve in axes.lines[: len(vectors)])
    np.testing.assert_allclose(ends, sorted(map(tuple, vectors.vectors)))
    best = axes.lines[len(vectors)]
    p = best.get_xdata()
    np.testing.assert_allclose(best.get_ydata(), vectors.values(np.column_stack([p, 1 - p])))
    marks = [curve.get_xdata()[0] for curve in axes.lines[len(vectors) + 1 :]]
    np.testing.assert_allclose(marks, [0.2703, 0.3180, 0.6562, 0.7070], atol=5e-5)


def test_wrong_arguments_are_named():
    with pytest.raises(DataError, match="vectors is of type list"):
        alpha_lines([[1.0, 2.0]])
    with pytest.raises(DataError, match="two states; these have 3"):
        alpha_lines(AlphaVectors.of([[1.0, 2.0, 3.0]]))
