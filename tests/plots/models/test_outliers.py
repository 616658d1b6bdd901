"""Pictures of outliers: flagged points, the threshold, circles of neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.nonparametric import (
    DensityDetector,
    GaussianDetector,
    KernelDensity,
    LocalOutlierFactor,
)
from verulam.plots import neighbour_circles, outlier_map


@pytest.fixture
def points():
    return np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[6.0, 6.0]]])


def test_map_marks_what_the_detector_flags(points):
    detector = GaussianDetector(contamination=0.1).fit(points)
    axes = outlier_map(detector, points, resolution=30)
    typical, outliers = axes.lines
    flagged = detector.predict(points) == -1
    assert_allclose(typical.get_xydata(), points[~flagged])
    assert_allclose(outliers.get_xydata(), points[flagged])
    assert axes.get_legend_handles_labels()[1] == ["typical", "outliers: 4"]


def test_map_of_a_density_that_vanishes(points):
    density = KernelDensity(kernel="tophat", bandwidth=1.0)
    detector = DensityDetector(estimator=density, contamination=0.1).fit(points)
    axes = outlier_map(detector, points, resolution=20)
    assert axes.collections


def test_circles_reach_to_the_kth_neighbour(points):
    detector = LocalOutlierFactor(n_neighbors=3).fit(points)
    axes = neighbour_circles(detector, [3.0, 3.0])
    radii = [patch.radius for patch in axes.patches]
    distances = np.sort(np.linalg.norm(points - 3.0, axis=1))
    assert radii[-1] == pytest.approx(distances[2])
    nearest = np.argsort(np.linalg.norm(points - 3.0, axis=1))[:3]
    assert_allclose(sorted(radii[:-1]), np.sort(detector.distances_[nearest]))
    factor = radii[-1] / np.mean(radii[:-1])
    assert axes.get_title() == f"LOF = {factor:.2f}"


@pytest.mark.parametrize("options", [{"metric": "manhattan"}, {"radius": 1.0}])
def test_circles_are_refused_where_neighbourhoods_are_none(points, options):
    detector = LocalOutlierFactor(n_neighbors=3, **options).fit(points)
    with pytest.raises(DataError, match="metric='euclidean' and radius=None"):
        neighbour_circles(detector, [3.0, 3.0])


def test_two_inputs_only():
    with pytest.raises(DataError, match="X must have two columns"):
        outlier_map(GaussianDetector(), np.zeros((4, 3)))
