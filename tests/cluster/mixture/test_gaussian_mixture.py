"""Gaussian mixtures: EM by the formula, what never happens, scikit-learn, weights and gaps."""

import numpy as np
import pandas as pd
import pytest
import sklearn.mixture
from scipy.stats import multivariate_normal

from verulam.base import Chunk, DataError, DataWarning, clone
from verulam.cluster import COVARIANCE_TYPES, Components, GaussianMixture, KMeans
from verulam.cluster._mixture import expectation
from verulam.cluster._mixture.expectation import expected_sums, prepare
from verulam.data import dataset

THEIRS = ("full", "tied", "diag", "spherical")


def drawn(n_rows=400, n_columns=2, n_components=3, seed=0, distance=3.0):
    """Return rows of elongated clusters."""
    random = np.random.default_rng(seed)
    groups = random.integers(n_components, size=n_rows)
    centres = distance * random.normal(size=(n_components, n_columns))
    shapes = random.normal(size=(n_components, n_columns, n_columns))
    noise = random.normal(size=(n_rows, n_columns))
    return centres[groups] + np.einsum("tij,tj->ti", shapes[groups], noise)


def with_gaps(X, share=0.2, seed=1):
    X = X.copy()
    gaps = np.random.default_rng(seed).random(X.shape) < share
    gaps[np.arange(len(X)), np.random.default_rng(2).integers(X.shape[1], size=len(X))] = False
    X[gaps] = np.nan
    return X


def logarithms(mixture, X):
    """Return ln P_k p_k(x) by SciPy."""
    components = mixture.components_
    return np.column_stack(
        [
            np.log(weight) + multivariate_normal(mean, matrix).logpdf(X)
            for weight, mean, matrix in zip(
                components.weights, components.means, components.matrices(), strict=True
            )
        ]
    )


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_density_and_responsibilities_by_the_formula(kind):
    X = drawn()
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    joint = logarithms(mixture, X)
    density = np.exp(joint).sum(axis=1)
    np.testing.assert_allclose(mixture.score_samples(X), np.log(density))
    np.testing.assert_allclose(
        mixture.predict_proba(X), np.exp(joint) / density[:, None], atol=1e-12
    )
    np.testing.assert_array_equal(mixture.predict(X), joint.argmax(axis=1))
    assert mixture.score(X) == pytest.approx(np.log(density).sum())


def test_a_mixture_integrates_to_one():
    mixture = GaussianMixture(2, random_state=0).fit(drawn(seed=4))
    grid = np.linspace(-40, 40, 801)
    points = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    area = np.exp(mixture.score_samples(points)).sum() * (grid[1] - grid[0]) ** 2
    assert area == pytest.approx(1.0, abs=1e-3)


def test_samples_follow_the_mixture():
    mixture = GaussianMixture(2, random_state=0).fit(drawn(seed=4, distance=9.0))
    rows, labels = mixture.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 20_000, mixture.weights_, atol=0.02)
    for k in range(2):
        np.testing.assert_allclose(rows[labels == k].mean(0), mixture.means_[k], atol=0.15)
        np.testing.assert_allclose(
            np.cov(rows[labels == k].T),
            mixture.covariances_[k],
            atol=0.05 * np.abs(mixture.covariances_[k]).max(),
        )


def plain_em(X, components, n_passes):
    """Return a full mixture after some passes of the textbook's formulas."""
    weights, means, covariances = components
    for _ in range(n_passes):
        joint = np.column_stack(
            [
                w * multivariate_normal(m, c).pdf(X)
                for w, m, c in zip(weights, means, covariances, strict=True)
            ]
        )
        shares = joint / joint.sum(axis=1, keepdims=True)
        totals = shares.sum(axis=0)
        weights, means = totals / len(X), shares.T @ X / totals[:, None]
        covariances = [
            (shares[:, k, None] * (X - means[k])).T @ (X - means[k]) / totals[k]
            for k in range(len(weights))
        ]
    return weights, means, np.array(covariances)


def test_passes_are_those_of_the_textbook():
    X = drawn(200)
    start = np.array([0.5, 0.3, 0.2]), X[:3], np.array([np.eye(2)] * 3)
    weights, means, covariances = plain_em(X, start, 7)
    with pytest.warns(UserWarning, match="had not converged"):
        mixture = GaussianMixture(
            3, weights_init=start[0], means_init=start[1], precisions_init=start[2],
            max_iter=7, tol=0.0,
        ).fit(X)  # fmt: skip
    order = np.argsort(-weights)
    np.testing.assert_allclose(mixture.weights_, weights[order])
    np.testing.assert_allclose(mixture.means_, means[order])
    np.testing.assert_allclose(mixture.covariances_, covariances[order])


def test_starts_at_clusters_of_k_means_leave_them_little_to_gain():
    X, ones = drawn(distance=1.0), np.ones(400)
    losses = {}
    for name in ("kmeans", "k-means++", "random_from_data"):
        start = GaussianMixture(3, init_params=name)
        shares = start._first_shares(X, ones, np.random.default_rng(0))
        centres = shares.T @ X / shares.sum(axis=0)[:, None]
        error = ((X[:, None] - centres) ** 2).sum(axis=2)[shares > 0].sum()
        losses[name] = error / KMeans(3, init=centres, tol=0.0).fit(X).inertia_
    assert 1.0 <= losses["kmeans"] < 1.01
    assert min(losses["k-means++"], losses["random_from_data"]) > 1.02


@pytest.mark.parametrize("kind", THEIRS)
@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_agrees_with_scikit_learn(kind, n_columns):
    X = drawn(600, n_columns, 3, seed=n_columns)
    start = GaussianMixture(3, covariance_type=kind, random_state=1).fit(X)
    precisions = 1.0 / start.covariances_
    if kind in ("full", "tied"):
        precisions = np.linalg.inv(start.covariances_)
    options = {
        "covariance_type": kind,
        "weights_init": np.full(3, 1 / 3),
        "means_init": start.means_ + 0.3,
        "precisions_init": precisions,
        "tol": 1e-10,
        "max_iter": 2000,
    }
    ours = GaussianMixture(3, variance_floor=1e-9, **options).fit(X)
    theirs = sklearn.mixture.GaussianMixture(3, reg_covar=0.0, **options).fit(X)
    assert ours.score(X) / len(X) == pytest.approx(theirs.score(X), rel=1e-7)
    assert ours.n_parameters_ == theirs._n_parameters()
    assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-7)
    assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-7)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize(
    ("init", "gaps"),
    [("kmeans", False), ("kmeans", True), ("k-means++", False), ("random", False),
     ("random_from_data", False)],
)  # fmt: skip
def test_likelihood_never_falls(kind, init, gaps):
    X = with_gaps(drawn(150, 3)) if gaps else drawn(150, 3)
    mixture = GaussianMixture(
        3, covariance_type=kind, init_params=init, tol=1e-4, random_state=2
    ).fit(X)
    curve = np.array(mixture.objective_curve_)
    assert np.all(np.diff(curve) >= -1e-10)
    assert mixture.score(X) / len(X) >= curve[-1] - 1e-10


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_both_ways_to_the_sums_agree(kind, monkeypatch):
    """Products of columns, and whitened deviations."""
    X = drawn(300, 4)
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    weights = np.random.default_rng(0).random(300)
    chunk = Chunk(X, weights=weights)
    quick = prepare(mixture.components_, X.mean(0), X.std(0))
    monkeypatch.setattr(expectation, "LEAST_PRODUCT_VARIANCE", 1e6)
    careful = prepare(mixture.components_, X.mean(0), X.std(0))
    assert quick.coefficients is not None
    assert careful.coefficients is None
    first, second = expected_sums(chunk, quick), expected_sums(chunk, careful)
    assert first.log_likelihood == pytest.approx(second.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(first.weight, second.weight)
    means = [s.references + s.deviations / s.weight[:, None] for s in (first, second)]
    np.testing.assert_allclose(*means, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        mixture._update(first).prepared.components.covariances,
        mixture._update(second).prepared.components.covariances,
        rtol=1e-9, atol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize("weight", [1.0, 1e-60])
def test_sums_of_components_far_apart_are_those_of_the_definition(kind, weight, monkeypatch):
    """Rows of which a component has next to nothing are left out of its sums, and only those."""
    monkeypatch.setattr(expectation, "LEAST_PRODUCT_VARIANCE", 1e6)
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(30, 3)), 0.1 * random.normal(size=(90, 3)) + [60, 0, 0]])
    X[0] = [4.0, 0.0, 0.0]
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    weights = weight * np.random.default_rng(1).random(120)
    sums = expected_sums(Chunk(X, weights=weights), prepare(mixture.components_, X[0], X.std(0)))
    shares = weights[:, None] * mixture.predict_proba(X)
    assert (shares < 1e-40 * shares.max(axis=0)).any()
    deviations = X[:, None] - sums.references
    np.testing.assert_allclose(sums.weight, shares.sum(axis=0))
    expected = np.einsum("tk,tkj->kj", shares, deviations)
    np.testing.assert_allclose(sums.deviations, expected, rtol=1e-9, atol=1e-12 * weight)


def test_a_narrow_cluster_far_away_is_right():
    random = np.random.default_rng(0)
    narrow = 1e6 + 1e-2 * random.normal(size=(300, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    X = np.r_[random.normal(size=(300, 2)), narrow]
    with pytest.warns(DataWarning, match="smaller variance_floor if a cluster is that narrow"):
        GaussianMixture(2, random_state=0).fit(X)
    mixture = GaussianMixture(2, random_state=0, variance_floor=1e-20).fit(X)
    far = int(mixture.means_[:, 0].argmax())
    np.testing.assert_allclose(mixture.weights_, [0.5, 0.5])
    np.testing.assert_allclose(mixture.means_[far], narrow.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(mixture.covariances_[far], np.cov(narrow.T, bias=True), rtol=1e-6)
    assert np.all(np.diff(mixture.objective_curve_) >= -1e-9)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@pytest.mark.parametrize("gaps", [False, True])
def test_weights_are_repeated_rows(kind, gaps):
    X = with_gaps(drawn(120)) if gaps else drawn(120)
    weights = np.random.default_rng(3).integers(0, 4, size=len(X))
    options = {"covariance_type": kind, "tol": 1e-3, "random_state": 0}
    weighted = GaussianMixture(2, **options).fit(X, sample_weight=weights)
    repeated = GaussianMixture(2, **options).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-7)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_streams_give_the_same_mixture_with_gaps_too(kind):
    X = with_gaps(drawn(200, 3))
    learner = GaussianMixture(2, covariance_type=kind, tol=1e-3, random_state=0)
    whole = clone(learner).fit(X)
    parts = np.split(X, [50, 60, 140])
    streamed = learner.fit(lambda: iter(parts))
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(
            getattr(streamed, name), getattr(whole, name), rtol=1e-8, atol=1e-10
        )


def test_what_is_missing_is_filled_by_each_component():
    """One Gaussian, the second column missing half the time: regression on the first."""
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    X = np.column_stack([x, 2 * x + random.normal(size=400)])
    X[x > 0, 1] = np.nan
    mixture = GaussianMixture(1, tol=1e-12, max_iter=5000).fit(X)
    complete = X[x <= 0]
    slope, intercept = np.polyfit(complete[:, 0], complete[:, 1], 1)
    # The maximum of the likelihood for such gaps extends the regression line of complete rows.
    np.testing.assert_allclose(
        mixture.means_[0], [x.mean(), intercept + slope * x.mean()], rtol=1e-4
    )
    covariance = mixture.covariances_[0]
    assert covariance[0, 1] / covariance[0, 0] == pytest.approx(slope, rel=1e-4)
    # Means of what is there would be far off.
    assert mixture.means_[0, 1] > np.nanmean(X[:, 1]) + 0.5


def test_a_row_without_any_value_has_density_one_and_the_priors():
    mixture = GaussianMixture(2, random_state=0).fit(drawn())
    empty = np.full((1, 2), np.nan)
    assert mixture.score_samples(empty) == pytest.approx(0.0)
    np.testing.assert_allclose(mixture.predict_proba(empty)[0], mixture.weights_)


def test_equal_spheres_with_hard_labels_are_k_means():
    """As the shared variance shrinks beside the distances, both divide the rows alike."""
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(60, 2)), random.normal([40.0, 0.0], size=(30, 2))]
    mixture = GaussianMixture(2, covariance_type="tied_spherical", random_state=0).fit(X)
    clusters = KMeans(2, random_state=0).fit(X)
    order = np.argsort(clusters.cluster_centers_[:, 0])
    np.testing.assert_allclose(mixture.means_, clusters.cluster_centers_[order], rtol=1e-8)
    assert mixture.covariances_ == pytest.approx(clusters.inertia_ / len(X) / 2, rel=1e-8)


def test_iris_agrees_with_mclust():
    """The BIC that mclust publishes for VVV: -574.0178 with 2 components, -580.84 with 3."""
    X = dataset("iris").inputs.to_numpy()
    scores = {
        (kind, k): GaussianMixture(
            k, covariance_type=kind, n_init=5, tol=1e-8, max_iter=2000, random_state=0
        ).fit(X).bic(X)
        for kind, k in [("full", 2), ("full", 3)]
    }  # fmt: skip
    assert scores["full", 2] == pytest.approx(574.0178, abs=0.01)
    assert scores["full", 3] == pytest.approx(580.84, abs=0.05)


def test_icl_adds_twice_the_entropy():
    X = drawn()
    mixture = GaussianMixture(3, random_state=0).fit(X)
    shares = mixture.predict_proba(X)
    entropy = -(shares * np.log(np.maximum(shares, 1e-300))).sum()
    assert mixture.icl(X) == pytest.approx(mixture.bic(X) + 2 * entropy)


def test_singular_covariances_are_held_at_the_floor_with_a_warning():
    X = np.column_stack([np.arange(20.0), 2 * np.arange(20.0)])
    with pytest.warns(DataWarning, match="1 of 1 covariances are singular"):
        mixture = GaussianMixture(1, variance_floor=1e-4).fit(X)
    scaled = mixture.covariances_[0] / np.outer(X.std(0), X.std(0))
    np.testing.assert_allclose(np.linalg.eigvalsh(scaled), [1e-4, 2.0], rtol=1e-6)
    with pytest.warns(DataWarning, match="the shared covariance is singular"):
        GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    constant = np.column_stack([drawn(60, 1)[:, 0], np.full(60, 7.0)])
    with pytest.warns(DataWarning, match="singular"):
        GaussianMixture(2, covariance_type="diag", random_state=0).fit(constant)


def test_equal_rows_alone():
    with pytest.warns(DataWarning):
        mixture = GaussianMixture(2, random_state=0).fit(np.ones((6, 2)))
    np.testing.assert_array_equal(mixture.means_[0], [1.0, 1.0])
    assert np.isfinite(mixture.score(np.ones((6, 2))))


def test_a_component_without_rows_is_told_and_left_out():
    X = drawn(100, distance=1.0)
    with pytest.warns(DataWarning, match="1 of 2 components of the mixture lost all rows"):
        mixture = GaussianMixture(2, means_init=[[0.0, 0.0], [1e4, 1e4]]).fit(X)
    np.testing.assert_array_equal(mixture.weights_, [1.0, 0.0])
    np.testing.assert_allclose(mixture.means_[0], X.mean(axis=0))
    assert set(mixture.predict(X)) == {0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 500}, "n_components=500 is more than the data has"),
        ({"weights_init": [0.5, 0.6]}, "weights_init must sum to 1"),
        ({"weights_init": [1.0]}, "weights_init has shape"),
        ({"means_init": [[1.0, 2.0]]}, "means_init has shape"),
        ({"means_init": np.ones((2, 3))}, "means_init has 3 columns and X has 2"),
        ({"precisions_init": np.ones(2)}, "precisions_init has shape"),
        ({"precisions_init": -np.array([np.eye(2)] * 2)}, "must be positive"),
        ({"covariance_type": "round"}, "'covariance_type' parameter of GaussianMixture"),
        ({"variance_floor": 0.0}, "'variance_floor' parameter"),
    ],
)
def test_bad_arguments_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(**{"n_components": 2, **options}).fit(drawn(50))


def test_a_column_without_values_is_refused():
    X = np.column_stack([np.arange(5.0), np.full(5, np.nan)])
    with pytest.raises(DataError, match=r"all values are missing in column 1 \(counted from 0\)"):
        GaussianMixture(1).fit(X)
    with pytest.raises(DataError, match="all values are missing in column 'void'; leave"):
        GaussianMixture(1).fit(pd.DataFrame(X, columns=["full", "void"]))
    both = pd.DataFrame(np.column_stack([X, X[:, 1]]), columns=["full", "void", "gap"])
    with pytest.raises(DataError, match="in columns 'void', 'gap'; leave them out"):
        GaussianMixture(1).fit(both)


def test_components_are_one_record_largest_first():
    mixture = GaussianMixture(3, random_state=0).fit(drawn())
    assert isinstance(mixture.components_, Components)
    assert np.all(np.diff(mixture.weights_) <= 0)
