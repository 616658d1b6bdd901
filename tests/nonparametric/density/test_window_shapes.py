"""Windows with covariances of their own: the definition, integrals, limits, singular ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal

from verulam.nonparametric import KernelDensity
from verulam.nonparametric._density.window_shapes import LEAST_SHARE, local_covariances

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(120, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) * [1.0, 30.0]


def ring(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0.0, 2.0 * np.pi, n_rows)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return circle * (3.0 + 0.1 * rng.normal(size=(n_rows, 1)))


def local(X, **options):
    return KernelDensity(shape="local", **options).fit(X)


def test_each_window_has_the_covariance_of_its_neighbours():
    learner = local(PLANE, n_neighbors=15, bandwidth=0.7)
    units = PLANE.std(axis=0, ddof=1)
    nearest = np.argsort(cdist(PLANE / units, PLANE / units), axis=1)[:, :15]
    queries = PLANE[:20] + np.array([0.1, 3.0])
    total = np.zeros(20)
    for row, near in enumerate(nearest):
        covariance = np.cov(PLANE[near].T)
        assert_allclose(learner.local_covariances_[row], covariance)
        total += multivariate_normal(PLANE[row], 0.49 * covariance).pdf(queries)
    assert_allclose(np.exp(learner.score_samples(queries)), total / len(PLANE))


def test_all_rows_as_neighbours_are_the_full_shape():
    for window in ("gaussian", "epanechnikov", "exponential"):
        for bandwidth in (0.6, "scott", "silverman"):
            options = {"kernel": window, "bandwidth": bandwidth}
            whole = KernelDensity(shape="full", **options).fit(PLANE)
            near = local(PLANE, n_neighbors=len(PLANE), **options)
            assert near.bandwidth_ == pytest.approx(whole.bandwidth_)
            assert_allclose(near.score_samples(PLANE), whole.score_samples(PLANE))


@pytest.mark.parametrize("window", ["gaussian", "epanechnikov"])
def test_integral_over_the_plane_is_one(window):
    learner = local(ring(150), kernel=window, bandwidth=0.8)
    axis = np.linspace(-6.0, 6.0, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    total = np.exp(learner.score_samples(grid)).sum() * (axis[1] - axis[0]) ** 2
    assert total == pytest.approx(1.0, abs=5e-3)


def test_windows_along_a_ring_beat_round_ones():
    held_out = ring(500, seed=1)
    round_ones = KernelDensity(bandwidth="likelihood").fit(ring(300))
    along = local(ring(300), n_neighbors=30)
    assert along.score_samples(held_out).mean() > round_ones.score_samples(held_out).mean() + 0.05


def test_weights_are_copies():
    weights = np.tile([1, 2, 1, 3], 30)
    for count in (11, 210, None):
        weighted = KernelDensity(shape="local", n_neighbors=count)
        weighted.fit(PLANE, sample_weight=weights)
        copies = local(np.repeat(PLANE, weights, axis=0), n_neighbors=count)
        assert_allclose(weighted.score_samples(PLANE), copies.score_samples(PLANE))


def test_one_column_has_widths_of_its_own():
    line = RNG.gamma(1.0, size=(80, 1))
    learner = local(line, n_neighbors=12, bandwidth=0.9)
    nearest = np.argsort(np.abs(line - line.T), axis=1)[:, :12]
    widths = 0.9 * line[nearest, 0].std(axis=1, ddof=1)
    expected = np.exp(-0.5 * ((1.3 - line[:, 0]) / widths) ** 2) / widths / np.sqrt(2 * np.pi)
    assert np.exp(learner.score_samples([[1.3]]))[0] == pytest.approx(expected.mean())
    grid = learner.on_grid(300)
    assert_allclose(grid.density, np.exp(learner.score_samples(grid.points[:, None])))
    assert learner.cumulative(learner.quantile([0.3]))[0] == pytest.approx(0.3)


def test_singular_neighbourhoods_get_thin_windows():
    """Neighbours on a line, fewer neighbours than columns, and copies."""
    rows = np.column_stack([np.arange(20.0), np.zeros(20)])
    rows[-1] = [0.0, 5.0]
    variances = np.linalg.eigvalsh(local_covariances(rows, np.ones(20), 3))
    assert_allclose(variances[10, 0], LEAST_SHARE * 0.5)
    assert np.isfinite(local(rows, n_neighbors=3).score_samples(rows)).all()
    wide = RNG.normal(size=(30, 6))
    assert np.isfinite(local(wide, n_neighbors=2).score_samples(wide)).all()
    copies = np.vstack([np.zeros((6, 2)), PLANE[:10]])
    assert np.isfinite(local(copies, n_neighbors=4).score_samples(copies)).all()


def test_samples_follow_the_windows():
    learner = local(ring(200), n_neighbors=12)
    drawn = learner.sample(4000, random_state=0)
    expected = np.cov(ring(200).T, ddof=0)
    expected += learner.bandwidth_**2 * learner.local_covariances_.mean(axis=0)
    assert_allclose(np.cov(drawn.T), expected, atol=0.25)
    radii = np.linalg.norm(drawn, axis=1)
    assert radii.std() < 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 121}, "n_neighbors = 121 is more than the rows"),
        ({"n_neighbors": 1}, "'n_neighbors' parameter"),
        ({"adaptive": 0.5}, "adapt already"),
        ({"evaluation": "tree"}, "needs windows of one shape"),
        ({"bandwidth": "likelihood"}, "give a number, 'scott' or 'silverman'"),
        ({"support": [(-99, 99), (-999, 999)]}, "shape='local' cannot be mirrored"),
    ],
)
def test_what_does_not_go_together(options, message):
    with pytest.raises(ValueError, match=message):
        local(PLANE, **options)


def test_constant_column():
    with pytest.raises(ValueError, match=r"column\(s\) 1 are constant"):
        local(np.column_stack([PLANE[:, 0], np.ones(120)]))
