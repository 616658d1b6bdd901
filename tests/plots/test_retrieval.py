"""Retrieval as discs to scale."""

import numpy as np
import pytest
from matplotlib.patches import Circle
from numpy.testing import assert_allclose

from verulam.measures import retrieval
from verulam.plots import retrieval_venn
from verulam.plots._retrieval import disc_distance, shared_area


def discs(ax):
    return [patch for patch in ax.patches if isinstance(patch, Circle)]


@pytest.mark.parametrize(
    ("relevant", "retrieved"), [(range(60), range(35, 80)), (range(30), range(20, 90))]
)
def test_discs_are_to_scale(relevant, retrieved):
    found = retrieval(relevant, retrieved)
    first, second = discs(retrieval_venn(found))
    assert_allclose(np.pi * first.radius**2, len(found.relevant))
    assert_allclose(np.pi * second.radius**2, len(found.retrieved))
    apart = abs(second.center[0] - first.center[0])
    assert_allclose(shared_area(first.radius, second.radius, apart), len(found.hits), rtol=1e-6)


def test_one_set_inside_the_other_and_apart():
    ax = retrieval_venn(retrieval(range(60), range(20)))
    first, second = discs(ax)
    assert second.center[0] + second.radius <= first.radius
    assert [text.get_text() for text in ax.texts[:2]] == ["40", "20"]
    first, second = discs(retrieval_venn(retrieval(range(5), range(5, 9))))
    assert second.center[0] > first.radius + second.radius


def test_shared_area_of_equal_discs():
    assert disc_distance(1.0, 1.0, 0.0) > 2.0
    apart = disc_distance(1.0, 1.0, np.pi / 2)
    exact = 2 * np.arccos(apart / 2) - apart / 2 * np.sqrt(4 - apart**2)
    assert_allclose(exact, np.pi / 2, rtol=1e-9)
