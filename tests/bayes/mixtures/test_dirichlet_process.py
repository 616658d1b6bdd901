"""Dirichlet-process mixtures: exact posteriors by enumeration, Geweke's test, messages."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.geweke import geweke_scores
from tests.bayes.mixtures.test_bayesian_mixture import log_evidence
from tests.bayes.mixtures.test_restaurant import partitions

from verulam.base import DataError
from verulam.bayes import (
    DirichletProcessMixture,
    LeaderClustering,
    chinese_restaurant,
    expected_tables,
    partition_log_probability,
)
from verulam.bayes._mixtures import dirichlet_process
from verulam.bayes._mixtures.component_priors import ComponentBeliefs
from verulam.bayes._mixtures.dirichlet_process import SeatedRows
from verulam.bayes._mixtures.restaurant import draw_concentration

PRIOR = ComponentBeliefs(
    np.zeros((1, 2)), np.array([0.5]), np.array([5.0]), np.array([[[2.0, 0.5], [0.5, 1.5]]])
)


ROOT = np.linalg.cholesky(np.linalg.inv(PRIOR.scatter[0]))


def clusters(seed=0):
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (40, 2))]


def canonical(labels):
    seen = {}
    return tuple(seen.setdefault(int(label), len(seen)) for label in labels)


def test_draws_have_the_exact_posterior_of_all_partitions():
    X = np.array([[0.0, 0.2], [0.4, -0.1], [4.0, 3.5], [3.6, 4.4], [2.0, 2.0]])
    every = list(partitions(5))
    logs = []
    for labels in every:
        labels = np.array(labels)
        rows = sum(
            log_evidence(X[labels == k], np.zeros(2), 0.5, 5.0, PRIOR.scatter[0])
            for k in set(labels)
        )
        logs.append(partition_log_probability(labels, 0.7) + rows)
    exact = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    rng = np.random.default_rng(0)
    seated = SeatedRows(X, PRIOR, np.full(5, -1))
    counts = dict.fromkeys(every, 0)
    for _ in range(20_000):
        seated.sweep(0.7, rng)
        counts[canonical(seated.labels)] += 1
    shares = np.array([counts[labels] for labels in every]) / 20_000
    assert np.abs(shares - exact).max() < 0.02


def test_the_evidence_and_the_factors_follow_the_rows():
    X = np.random.default_rng(0).normal(size=(40, 2)) * 3
    seated = SeatedRows(X, PRIOR, np.full(40, -1))
    rng = np.random.default_rng(1)
    for _ in range(30):
        seated.sweep(3.0, rng)
    plain = sum(
        log_evidence(X[seated.labels == k], np.zeros(2), 0.5, 5.0, PRIOR.scatter[0])
        for k in np.unique(seated.labels)
    )
    assert seated.log_evidence() == pytest.approx(plain, rel=1e-10)
    factors, counts = seated.factors[seated.counts > 0], seated.counts[seated.counts > 0]
    seated.refresh()
    np.testing.assert_allclose(seated.factors[: len(counts)], factors, atol=1e-9)


def test_a_row_that_finds_no_slot_leaves_its_table_once():
    X = np.random.default_rng(0).normal(size=(40, 2))
    seated = SeatedRows(X, PRIOR, np.zeros(40, dtype=int))
    n_slots = len(seated.counts)
    seated.sweep(1e9, np.random.default_rng(1))
    assert len(seated.counts) > n_slots
    np.testing.assert_array_equal(
        seated.counts, np.bincount(seated.labels, minlength=len(seated.counts))
    )


def geweke(sweep, seed=0):
    """Return scores of the number of tables, the concentration and the largest table."""

    def prior(rng):
        alpha = rng.gamma(2.0)
        return alpha, chinese_restaurant(6, alpha, random_state=rng).labels

    def data(parameters, rng):
        labels = parameters[1]
        X = np.empty((6, 2))
        for k in np.unique(labels):
            # Five rows with the inverse scatter as covariance: a Wishart draw.
            rows = rng.normal(size=(5, 2)) @ ROOT.T
            root = np.linalg.cholesky(np.linalg.inv(rows.T @ rows))
            mean = root @ rng.normal(size=2) / np.sqrt(0.5)
            X[labels == k] = mean + rng.normal(size=((labels == k).sum(), 2)) @ root.T
        return X

    def statistics(parameters):
        sizes = np.unique(parameters[1], return_counts=True)[1]
        return [len(sizes), parameters[0], sizes.max()]

    return geweke_scores(prior, data, sweep, statistics, n=2000, thin=1, seed=seed)


def one_sweep(parameters, X, rng, prior=PRIOR, tables=0):
    alpha, labels = parameters
    seated = SeatedRows(X, prior, labels)
    seated.sweep(alpha, rng)
    seated.refresh()
    alpha = draw_concentration(alpha, seated.n_components + tables, 6, (2.0, 1.0), rng)
    return alpha, seated.labels.copy()


def test_geweke():
    assert np.abs(geweke(one_sweep)).max() < 4


def test_geweke_sees_a_wrong_conditional():
    wide = ComponentBeliefs(
        PRIOR.means, PRIOR.mean_precision, PRIOR.degrees_of_freedom, 4.0 * PRIOR.scatter
    )
    wrong = geweke(lambda p, X, rng: one_sweep(p, X, rng, prior=wide))
    assert np.abs(wrong).max() > 4
    assert np.abs(geweke(lambda p, X, rng: one_sweep(p, X, rng, tables=1))).max() > 4


@pytest.fixture(scope="module")
def fitted():
    return DirichletProcessMixture(0.5, n_iter=6000, random_state=1).fit(clusters())


def test_finds_planted_clusters(fitted):
    assert fitted.n_components_ == 2
    assert (fitted.labels_ == np.repeat([0, 1], [60, 40])).all()
    np.testing.assert_allclose(fitted.means_, [[0, 0], [8, 8]], atol=0.5)
    assert fitted.predict([[0.0, 0.0], [8.0, 8.0], [500.0, -500.0]]).tolist() == [0, 1, -1]
    assert fitted.chains_.converged
    assert fitted.sweeps_.shape == (6000, 100)


def test_the_density_integrates_to_one(fitted):
    grid = np.linspace(-25, 33, 200)
    cells = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    total = np.exp(fitted.score_samples(cells)).sum() * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(fitted.predict_proba(cells[:5]).sum(axis=1), 1.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_number_of_clusters_grows_with_the_concentration():
    X = np.random.default_rng(0).normal(size=(60, 2))
    numbers = [
        DirichletProcessMixture(concentration, n_iter=60, burn_in=20, random_state=0)
        .fit(X)
        .chains_.mean("n_components")
        for concentration in (0.01, 1.0, 100.0)
    ]
    assert numbers[0] < numbers[1] < numbers[2]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_concentration_is_averaged_or_learned():
    options = {"n_iter": 400, "burn_in": 100, "random_state": 0}
    averaged = DirichletProcessMixture(**options).fit(clusters())
    assert 0.1 < averaged.concentration_ < 1.5
    assert averaged.chains_.std("concentration") > 0.05
    learned = DirichletProcessMixture("empirical", **options).fit(clusters())
    tables = learned.chains_.mean("n_components")
    assert expected_tables(100, learned.concentration_) == pytest.approx(tables, abs=0.4)


def test_one_pass_seats_each_row_once():
    learner = DirichletProcessMixture(0.5, method="sequential", random_state=0).fit(clusters())
    assert learner.chains_ is None
    assert learner.sweeps_.shape == (1, 100)
    assert set(learner.labels_[:60]) & set(learner.labels_[60:]) == set()


def test_leaders_are_the_limit_of_small_variances():
    """With alpha = (1 + rho / s)^(d/2) exp(-lambda / 2s), s near zero: Kulis and Jordan 2012."""
    rng = np.random.default_rng(4)
    X = np.r_[rng.normal(0, 0.05, (300, 2)), rng.normal(5, 0.05, (300, 2))]
    variance, rho, freedom = 0.0075, 1e4, 1e9
    concentration = (1 + rho / variance) * np.exp(-(3.0**2) / (2 * variance))
    process = DirichletProcessMixture(
        concentration, method="sequential", mean_precision_prior=variance / rho,
        mean_prior=[0.0, 0.0], degrees_of_freedom_prior=freedom,
        covariance_prior=variance * freedom, random_state=0,
    ).fit(X)  # fmt: skip
    leader = LeaderClustering(vigilance=3.0).fit(X)
    assert canonical(process.labels_) == canonical(leader.labels_)
    rows = rng.uniform(-5, 10, size=(2000, 2))
    distances = leader.transform(rows).min(axis=1)
    clear = np.abs(distances - 3.0) > 0.03
    labels = leader.predict(rows)[clear]
    assert set(labels) == {-1, 0, 1}
    # Clusters of equal size may be called 0 and 1 in either order.
    names = np.array([process.labels_[0], process.labels_[-1], -1])
    assert (process.predict(rows)[clear] == names[labels]).all()


def test_more_components_than_slots_make_room(monkeypatch):
    X = 1000.0 * np.arange(60.0)[:, None]
    learner = DirichletProcessMixture(
        1e6, method="sequential", covariance_prior=1.0, mean_precision_prior=1e-9, random_state=0
    ).fit(X)
    assert learner.n_components_ == 60


def test_labels_of_sweeps_are_bounded(monkeypatch):
    monkeypatch.setattr(dirichlet_process.DirichletProcessMixture, "_most_labels", 1000)
    with pytest.warns(ConvergenceWarning):
        learner = DirichletProcessMixture(1.0, n_iter=40, burn_in=10, random_state=0).fit(
            clusters()
        )
    assert learner.sweeps_.shape == (10, 100)


def test_chains_that_disagree_are_told():
    with pytest.warns(ConvergenceWarning, match="R-hat of .* above 1.01. Raise n_iter and burn_in"):
        DirichletProcessMixture(n_iter=10, burn_in=2, random_state=0).fit(clusters())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"burn_in": 2000}, "burn_in is 2000; it must be less than n_iter=2000"),
        ({"concentration_prior": (1.0,)}, "concentration_prior must be two numbers above 0"),
        ({"degrees_of_freedom_prior": 1.0}, "degrees_of_freedom_prior must be above 1"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(DataError, match=message):
        DirichletProcessMixture(**options).fit(clusters())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_traces_are_told_apart():
    rows = np.random.default_rng(0).normal(size=(30, 2)) + 6.0 * (np.arange(30) % 2)[:, None]
    options = {"n_iter": 30, "burn_in": 5, "concentration": "average", "random_state": 0}
    model = DirichletProcessMixture(**options).fit(rows)
    counts, spread = (
        np.asarray(model.chains_.draws[name]) for name in ("n_components", "concentration")
    )
    np.testing.assert_array_equal(counts, counts.round())
    assert counts.min() >= 1
    assert (spread != spread.round()).any()
