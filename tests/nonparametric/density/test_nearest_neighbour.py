"""NearestNeighbourDensity: the worked number, the volume of balls, the kernel variant."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.nonparametric import KernelDensity, NearestNeighbourDensity, ball_volume
from verulam.nonparametric._windows.functions import log_ball_volume

RNG = np.random.default_rng(0)
FOUR = np.array([[0.0], [1.0], [3.0], [6.0]])


def density(learner, X):
    return np.exp(learner.score_samples(X))


def test_worked_number():
    assert_allclose(density(NearestNeighbourDensity(n_neighbors=2).fit(FOUR), [[2.0]]), 0.25)


@pytest.mark.parametrize("n_columns", [1, 2, 3, 9])
def test_formula(n_columns):
    X, queries = RNG.normal(size=(2, 100, n_columns))
    reach = np.sort(np.linalg.norm(queries[:, None] - X, axis=2), axis=1)[:, 4]
    learner = NearestNeighbourDensity(n_neighbors=5).fit(X)
    expected = 5 / (100 * ball_volume(n_columns) * reach**n_columns)
    assert_allclose(density(learner, queries), expected)


def test_window_has_the_reach_as_its_bandwidth():
    X, queries = RNG.normal(size=(2, 60, 2))
    learner = NearestNeighbourDensity(n_neighbors=6, kernel="gaussian").fit(X)
    for query, reach in zip(queries[:5], learner.reaches(queries[:5]), strict=True):
        plain = KernelDensity(bandwidth=reach).fit(X)
        assert_allclose(learner.score_samples([query]), plain.score_samples([query]))


def test_integral_grows_without_bound():
    learner = NearestNeighbourDensity(n_neighbors=2).fit(FOUR)

    def mass(end):
        grid = np.concatenate([-np.geomspace(end, 1e-3, 50_000), np.geomspace(1e-3, end, 50_000)])
        return np.trapezoid(density(learner, grid[:, None]), grid)

    # Each factor of ten in the range adds (k / N) ln 10 in the two tails together.
    assert mass(1e6) - mass(1e5) == pytest.approx(0.5 * np.log(10.0), rel=1e-3)


def test_kinks_not_jumps():
    """Continuous everywhere; the slope changes at midpoints of points k and k - 1 apart."""
    learner = NearestNeighbourDensity(n_neighbors=2).fit(FOUR)
    for kink in (0.5, 1.5, 2.0, 3.5, 4.5):
        left, middle, right = density(learner, [[kink - 1e-7], [kink], [kink + 1e-7]])
        assert left == pytest.approx(middle, rel=1e-5)
        assert right == pytest.approx(middle, rel=1e-5)
        assert abs((middle - left) - (right - middle)) > 1e-9


@pytest.mark.parametrize("window", [None, "gaussian"])
def test_copies_make_it_infinite_never_nan(window):
    X = np.vstack([np.zeros((5, 1)), FOUR])
    learner = NearestNeighbourDensity(n_neighbors=5, kernel=window).fit(X)
    assert learner.score_samples([[0.0]])[0] == np.inf
    assert np.isfinite(learner.score_samples([[0.5], [100.0]])).all()
    one = NearestNeighbourDensity(n_neighbors=1, kernel=window).fit(FOUR)
    assert np.all(one.score_samples(FOUR) == np.inf)


def test_more_neighbours_than_rows():
    with pytest.raises(ValueError, match="there are n_samples = 4 rows, and 5 are needed"):
        NearestNeighbourDensity(n_neighbors=5).fit(FOUR)


@pytest.mark.parametrize(
    ("metric", "power", "volume"),
    [("manhattan", 2.0, 2.0), ("chebyshev", 2.0, 4.0), ("minkowski", 2.0, np.pi)],
)
def test_balls_of_other_metrics(metric, power, volume):
    """In the plane: a square on its corner, a square, a disc."""
    X, queries = np.random.default_rng(0).normal(size=(2, 60, 2))
    model = NearestNeighbourDensity(n_neighbors=4, metric=metric, p=power).fit(X)
    name = {"manhattan": "cityblock"}.get(metric, metric)
    options = {"p": power} if metric == "minkowski" else {}
    reaches = np.sort(cdist(queries, X, name, **options), axis=1)[:, 3]
    assert_allclose(np.exp(model.score_samples(queries)), 4 / (60 * volume * reaches**2))


@pytest.mark.parametrize("power", [1.0, 2.0, 3.5, np.inf])
def test_volumes_of_balls_by_counting(power):
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200_000, 3))
    inside = (np.linalg.norm(points, ord=power, axis=1) <= 1.0).mean()
    assert_allclose(np.exp(log_ball_volume(3, power)), 8.0 * inside, rtol=0.02)


def test_windows_are_round():
    with pytest.raises(ValueError, match="needs metric='euclidean'"):
        NearestNeighbourDensity(kernel="gaussian", metric="manhattan").fit(np.eye(9))


@pytest.mark.parametrize("window", [None, "gaussian"])
def test_whole_weights_are_copies(window):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(80, 2)), rng.normal(size=(30, 2))
    weights = rng.integers(0, 4, size=80)
    options = {"n_neighbors": 7, "kernel": window}
    weighted = NearestNeighbourDensity(**options).fit(X, sample_weight=weights)
    copied = NearestNeighbourDensity(**options).fit(np.repeat(X, weights, axis=0))
    assert_allclose(weighted.score_samples(queries), copied.score_samples(queries))


def test_broken_weights_by_their_definition():
    """The smallest radius whose weights reach k; very unequal weights need many neighbours."""
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(60, 2)), rng.normal(size=(30, 2))
    weights = rng.exponential(size=60) ** 3
    model = NearestNeighbourDensity(n_neighbors=3).fit(X, sample_weight=weights)
    distances = cdist(queries, X)
    for query, reach in enumerate(model.reaches(queries)):
        inside = distances[query] <= reach * (1 + 1e-9)
        assert weights[inside].sum() >= 3
        assert weights[distances[query] < reach * (1 - 1e-9)].sum() < 3
    expected = 3 / (weights.sum() * np.pi * model.reaches(queries) ** 2)
    assert_allclose(density(model, queries), expected)


def test_tenths_add_up_to_one():
    model = NearestNeighbourDensity(n_neighbors=1).fit(
        np.arange(12.0)[:, None], sample_weight=np.full(12, 0.1)
    )
    assert_allclose(model.reaches([[0.0]]), 9.0)


def test_too_little_weight():
    with pytest.raises(ValueError, match="n_neighbors = 5 is more than all weights together, 2"):
        NearestNeighbourDensity().fit(FOUR, sample_weight=np.full(4, 0.5))
