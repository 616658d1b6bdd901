"""KernelDensity: integrals of one, limits, agreement with scikit-learn and SciPy, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import gaussian_kde, kstest
from sklearn.neighbors import KernelDensity as TreeDensity

from verulam.nonparametric import WINDOWS, KernelDensity
from verulam.nonparametric._windows.window_sums import tree_pays

RNG = np.random.default_rng(0)
LINE = RNG.normal(size=(60, 1))
PLANE = RNG.normal(size=(200, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
FOUR = np.array([[0.0], [1.0], [3.0], [6.0]])


def bowl(distances):
    return np.maximum(2.0 - distances, 0.0)


def density(learner, X):
    return np.exp(learner.score_samples(X))


@pytest.mark.parametrize("window", [*WINDOWS, bowl])
@pytest.mark.parametrize("adaptive", [0.0, 0.5])
def test_integral_is_one(window, adaptive):
    learner = KernelDensity(kernel=window, bandwidth=0.3, adaptive=adaptive).fit(LINE)
    grid = np.linspace(-12.0, 12.0, 40_001)
    assert np.trapezoid(density(learner, grid[:, None]), grid) == pytest.approx(1.0, abs=2e-3)


def test_integral_over_the_plane_is_one():
    for shape in ("spherical", "diagonal", "full"):
        learner = KernelDensity(shape=shape, bandwidth=0.4).fit(PLANE)
        axis = np.linspace(-8.0, 8.0, 201)
        grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        assert density(learner, grid).sum() * (axis[1] - axis[0]) ** 2 == pytest.approx(1.0)


def test_formula_in_plain_numpy():
    learner = KernelDensity(bandwidth=0.7).fit(FOUR)
    queries = np.array([[-1.0], [2.0], [4.2]])
    expected = np.exp(-0.5 * ((queries - FOUR.T) / 0.7) ** 2).sum(axis=1)
    assert_allclose(density(learner, queries), expected / (4 * 0.7 * np.sqrt(2 * np.pi)))


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov", "tophat", "linear"])
@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_agrees_with_scikit_learn(kernel, n_columns):
    X, queries = RNG.normal(size=(500, n_columns)), RNG.normal(size=(40, n_columns))
    learner = KernelDensity(kernel=kernel, bandwidth=1.3).fit(X)
    peer = TreeDensity(kernel=kernel, bandwidth=1.3, rtol=1e-10).fit(X)
    assert_allclose(
        density(learner, queries), np.exp(peer.score_samples(queries)), rtol=1e-6, atol=1e-15
    )


def test_full_shape_agrees_with_scipy():
    learner = KernelDensity(shape="full", bandwidth=0.5).fit(PLANE)
    assert_allclose(density(learner, PLANE), gaussian_kde(PLANE.T, bw_method=0.5)(PLANE.T))
    by_rule = KernelDensity(shape="full", bandwidth="scott").fit(PLANE)
    assert_allclose(density(by_rule, PLANE), gaussian_kde(PLANE.T)(PLANE.T), rtol=1e-6)


def test_full_shape_moves_with_the_data():
    """An affine map of data and queries divides densities by its volume."""
    mixing, shift = np.array([[2.0, -1.0], [0.5, 3.0]]), np.array([10.0, -4.0])
    plain = KernelDensity(shape="full", bandwidth=0.5).fit(PLANE).score_samples(PLANE)
    moved = PLANE @ mixing + shift
    mapped = KernelDensity(shape="full", bandwidth=0.5).fit(moved).score_samples(moved)
    assert_allclose(mapped, plain - np.log(6.5))


def test_one_column_of_any_shape_is_the_same_up_to_its_spread():
    spread = LINE.std(ddof=1)
    for shape in ("diagonal", "full"):
        learner = KernelDensity(shape=shape, bandwidth=0.5).fit(LINE)
        plain = KernelDensity(bandwidth=0.5 * spread).fit(LINE)
        assert_allclose(learner.score_samples(LINE), plain.score_samples(LINE))


def test_narrow_windows_are_spikes_and_wide_ones_are_flat():
    narrow = KernelDensity(bandwidth=1e-4).fit(FOUR)
    assert density(narrow, FOUR)[0] == pytest.approx(1 / (4e-4 * np.sqrt(2 * np.pi)))
    # Far outside every window the logarithm is still that of the nearest point.
    assert narrow.score_samples([[2.0]])[0] == pytest.approx(-0.5 * 1e8, rel=1e-3)
    wide = KernelDensity(bandwidth=1e4).fit(FOUR)
    assert_allclose(density(wide, [[-5.0], [5.0]]), 1 / (1e4 * np.sqrt(2 * np.pi)), rtol=1e-6)


def test_adaptive_widths_follow_the_square_root_law():
    learner = KernelDensity(bandwidth=0.3, adaptive=0.5).fit(LINE)
    pilot = KernelDensity(bandwidth=0.3).fit(LINE).score_samples(LINE)
    assert_allclose(learner.local_factors_, np.exp(-0.5 * (pilot - pilot.mean())))
    widths = 0.3 * learner.local_factors_
    expected = np.exp(-0.5 * ((0.4 - LINE[:, 0]) / widths) ** 2) / widths
    assert density(learner, [[0.4]])[0] == pytest.approx(expected.mean() / np.sqrt(2 * np.pi))


@pytest.mark.parametrize("bounds", [(0.0, None), (None, 0.0), (0.0, 2.0)])
def test_bounded_support_keeps_all_of_the_density(bounds):
    X = np.abs(LINE[np.abs(LINE[:, 0]) < 2.0]) * (-1.0 if bounds[0] is None else 1.0)
    learner = KernelDensity(bandwidth=0.8, support=[bounds]).fit(X)
    grid = np.linspace(-9.0, 9.0, 20_001)
    heights = density(learner, grid[:, None])
    assert np.trapezoid(heights, grid) == pytest.approx(1.0, abs=2e-3)
    low, high = (
        (-np.inf if bounds[0] is None else 0.0),
        (np.inf if bounds[1] is None else bounds[1]),
    )
    assert np.all(heights[(grid < low) | (grid > high)] == 0.0)
    # The bounds belong to the support.
    ends = np.array([bound for bound in bounds if bound is not None])
    assert density(learner, ends[:, None]).min() > 0.1
    drawn = learner.sample(2000, random_state=0)[:, 0]
    assert drawn.min() >= low
    assert drawn.max() <= high
    assert kstest(drawn, learner.cumulative).pvalue > 0.01


def test_mirrors_in_the_plane():
    X = np.abs(PLANE)
    learner = KernelDensity(bandwidth=0.5, support=[(0.0, None), (0.0, None)]).fit(X)
    mirrored = np.vstack([X * [a, b] for a in (1, -1) for b in (1, -1)])
    plain = KernelDensity(bandwidth=0.5).fit(mirrored)
    assert_allclose(density(learner, X), 4.0 * density(plain, X))


@pytest.mark.parametrize("window", ["gaussian", "biweight", "exponential"])
def test_cumulative_quantile_and_sample_agree(window):
    learner = KernelDensity(kernel=window, bandwidth=0.4, adaptive=0.3).fit(LINE)
    grid = np.linspace(-15.0, 1.0, 30_001)
    area = np.trapezoid(density(learner, grid[:, None]), grid)
    assert learner.cumulative([1.0])[0] == pytest.approx(area, abs=1e-4)
    shares = np.array([0.01, 0.5, 0.9])
    assert_allclose(learner.cumulative(learner.quantile(shares)), shares, atol=1e-9)
    drawn = learner.sample(3000, random_state=1)[:, 0]
    assert kstest(drawn, learner.cumulative).pvalue > 0.01


def test_samples_have_the_covariance_of_windows_and_data():
    learner = KernelDensity(shape="full", bandwidth=0.5).fit(PLANE)
    drawn = learner.sample(40_000, random_state=0)
    covariance = np.cov(PLANE.T)
    assert_allclose(np.cov(drawn.T), covariance * (199 / 200) + 0.25 * covariance, atol=0.05)


def test_weights_repeat_points():
    weights = np.array([2.0, 0.0, 1.0, 3.0])
    repeated = np.repeat(FOUR, weights.astype(int), axis=0)
    for bandwidth in ("scott", "likelihood", "plug_in"):
        weighted = KernelDensity(bandwidth=bandwidth).fit(FOUR, sample_weight=weights)
        plain = KernelDensity(bandwidth=bandwidth).fit(repeated)
        assert weighted.bandwidth_ == pytest.approx(plain.bandwidth_)
        assert_allclose(weighted.score_samples(FOUR), plain.score_samples(FOUR))


def test_allowed_error_is_kept():
    X, queries = RNG.normal(size=(4000, 3)), RNG.normal(size=(300, 3))
    exact = density(KernelDensity(bandwidth=0.2).fit(X), queries)
    rough = density(KernelDensity(bandwidth=0.2, rtol=1e-2).fit(X), queries)
    assert np.abs(rough / exact - 1.0).max() < 1e-2
    assert not np.array_equal(rough, exact)


def test_grid_agrees_with_the_sum():
    learner = KernelDensity(bandwidth=0.25).fit(LINE)
    grid = learner.on_grid(300)
    assert_allclose(grid.density, density(learner, grid.points[:, None]), rtol=1e-3, atol=1e-6)


def test_queries_outside_the_windows_have_no_density():
    learner = KernelDensity(kernel="epanechnikov", bandwidth=1.0).fit(FOUR)
    assert learner.score_samples([[100.0]])[0] == -np.inf


def test_constant_columns_are_named():
    X = np.column_stack([LINE, np.ones(60)])
    for shape in ("full", "diagonal"):
        with pytest.raises(ValueError, match=r"column\(s\) 1 are constant .* shape='spherical'"):
            KernelDensity(shape=shape).fit(X)
    with pytest.raises(ValueError, match="columns depend on one another"):
        KernelDensity(shape="full").fit(np.column_stack([LINE, 2 * LINE]))
    assert np.isfinite(KernelDensity().fit(X).score_samples(X)).all()


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"bandwidth": 0.0}, LINE, "'bandwidth' parameter"),
        ({"bandwidth": -1.0}, LINE, "'bandwidth' parameter"),
        ({"bandwidth": "scott"}, np.ones((5, 1)), "all rows are the same"),
        ({"bandwidth": "likelihood"}, np.ones((5, 1)), "needs points that differ"),
        ({"bandwidth": "plug_in"}, PLANE, "needs one column; X has 2"),
        ({"support": [(0.0, 1.0)]}, LINE, "outside the support"),
        ({"support": [(1.0, 0.0)]}, LINE, "1.0 is not below 0.0"),
        ({"support": [(0.0, 1.0)] * 2}, LINE, "one pair"),
        ({"support": [(-9, 9)] * 2, "shape": "full"}, PLANE, "cannot be mirrored"),
        ({}, np.array([[np.nan]]), "NaN"),
    ],
)
def test_bad_input_is_refused(options, data, message):
    with pytest.raises(ValueError, match=message):
        KernelDensity(**options).fit(data)


def test_methods_for_one_column_say_so():
    learner = KernelDensity().fit(PLANE)
    with pytest.raises(ValueError, match="quantile needs one column; X had 2"):
        learner.quantile([0.5])
    with pytest.raises(ValueError, match="shares must lie between 0 and 1"):
        KernelDensity().fit(LINE).quantile([1.5])
    with pytest.raises(ValueError, match="all weights are zero"):
        KernelDensity().fit(LINE, sample_weight=np.zeros(60))


def test_a_gaussian_cut_off_at_three_bandwidths_is_a_window():
    def cut(distances):
        return np.where(distances < 3.0, np.exp(-0.5 * distances**2), 0.0)

    learner = KernelDensity(kernel=cut, bandwidth=0.5).fit(FOUR)
    grid = np.linspace(-3.0, 9.0, 24_001)
    assert np.trapezoid(density(learner, grid[:, None]), grid) == pytest.approx(1.0, abs=1e-3)
    assert learner.score_samples([[7.6]])[0] == -np.inf
    whole = KernelDensity(bandwidth=0.5).fit(FOUR)
    assert_allclose(density(learner, [[0.5]]), density(whole, [[0.5]]) / 0.9973, rtol=1e-3)


@pytest.mark.parametrize("window", ["gaussian", "exponential", "epanechnikov"])
def test_ways_of_evaluation_agree(window):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(3000, 2)), rng.normal(size=(50, 2))
    settings = {"kernel": window, "bandwidth": 0.4}
    whole = KernelDensity(evaluation="sum", rtol=0.5, **settings).fit(X).score_samples(queries)
    tree = KernelDensity(evaluation="tree", **settings).fit(X).score_samples(queries)
    assert_allclose(tree, whole, rtol=1e-10)
    assert_allclose(KernelDensity(**settings).fit(X).score_samples(queries), tree, rtol=1e-10)
    rough = KernelDensity(evaluation="tree", rtol=1e-2, **settings).fit(X).score_samples(queries)
    reached = np.isfinite(whole)
    assert_array_equal(reached, np.isfinite(rough))
    errors = np.abs(np.expm1(rough[reached] - whole[reached]))
    assert errors.max() <= 1e-2
    assert window == "epanechnikov" or errors.max() > 0.0


def test_automatic_evaluation_goes_by_points_and_columns():
    assert tree_pays(20_000, 5)
    assert not tree_pays(200, 5)
    assert not tree_pays(20_000, 50)
