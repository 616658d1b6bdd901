"""What every conjugate family must satisfy, whichever it is."""

from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from verulam.base import DataError
from verulam.bayes import (
    BetaBernoulli,
    DirichletMultinomial,
    GaussianMean,
    GaussianMeanVector,
    GaussianPrecision,
    NormalGamma,
    NormalWishart,
    average_density,
)

RNG = np.random.default_rng(7)
MATRIX = np.array([[2.0, 0.6], [0.6, 1.0]])
NUMBERS = RNG.normal(2.0, 1.5, size=9)
ROWS = RNG.normal(size=(9, 2)) @ MATRIX + [1.0, -1.0]
CLASSES = np.eye(3)[RNG.integers(3, size=9)]
CASES = {
    "beta": (BetaBernoulli(2.0, 0.7), RNG.integers(2, size=9)),
    "dirichlet": (DirichletMultinomial([0.5, 2.0, 1.3]), CLASSES),
    "mean": (GaussianMean(1.0, 2.0, 3.0), NUMBERS),
    "precision": (GaussianPrecision(1.5, 0.7, known_mean=1.0), NUMBERS),
    "normal-gamma": (NormalGamma(0.5, 0.8, 1.5, 2.0), NUMBERS),
    "mean vector": (GaussianMeanVector([0.0, 1.0], MATRIX, np.eye(2) + MATRIX), ROWS),
    "normal-wishart": (NormalWishart([0.0, 1.0], 0.7, 3.5, MATRIX), ROWS),
}
FAMILIES = pytest.mark.parametrize(("family", "data"), CASES.values(), ids=CASES)


def numbers_in(family):
    return np.concatenate([np.ravel(value) for value in vars(family).values()])


@FAMILIES
def test_sequential_updates_equal_one_update_in_any_order(family, data):
    whole = family.posterior(data)
    for order in (np.arange(len(data)), np.arange(len(data))[::-1], RNG.permutation(len(data))):
        step = family
        for t in order:
            step = step.posterior(data[t : t + 1])
        np.testing.assert_allclose(numbers_in(step), numbers_in(whole), rtol=1e-12)
    halves = family.posterior(data[:4]).posterior(data[4:])
    np.testing.assert_allclose(numbers_in(halves), numbers_in(whole), rtol=1e-12)


@FAMILIES
def test_chain_of_predictives_is_the_evidence(family, data):
    total, step = 0.0, family
    for t in range(len(data)):
        observation = data[t : t + 1]
        coded = observation.argmax(axis=1) if observation.shape[1:] == (3,) else observation
        total += step.predictive.log_density(coded).sum()
        step = step.posterior(observation)
    assert family.log_evidence(data) == pytest.approx(total, rel=1e-12)


@FAMILIES
def test_statistics_add_over_streams_and_chunks(family, data):
    whole = family.posterior(data)
    added = family.statistics(data[:5]) + family.statistics(data[5:])
    stream = iter([data[:3], data[3:3], data[3:]])
    for route in (
        family.posterior(added),
        family.posterior(stream),
        family.posterior(lambda: [data]),
    ):
        np.testing.assert_allclose(numbers_in(route), numbers_in(whole), rtol=1e-12)


@FAMILIES
def test_dask_arrays_give_the_same_posterior(family, data):
    array = pytest.importorskip("dask.array")
    blocks = array.from_array(np.asarray(data, dtype=float), chunks=(4, *np.shape(data)[1:]))
    np.testing.assert_allclose(
        numbers_in(family.posterior(blocks)), numbers_in(family.posterior(data)), rtol=1e-12
    )


@FAMILIES
def test_a_weight_counts_as_so_many_observations(family, data):
    weights = np.arange(len(data)) % 3
    repeated = np.repeat(data, weights, axis=0)
    np.testing.assert_allclose(
        numbers_in(family.posterior(data, weights)),
        numbers_in(family.posterior(repeated)),
        rtol=1e-12,
    )


@FAMILIES
def test_without_rows_the_prior_answers(family, data):
    none = data[:0]
    np.testing.assert_array_equal(numbers_in(family.posterior(none)), numbers_in(family))
    assert family.log_evidence(none) == 0.0
    assert type(family.predict(none)) is type(family.predictive)
    with pytest.raises(DataError, match="data has no rows"):
        family.predict(none, estimate="ml")


@FAMILIES
def test_the_object_does_not_change(family, data):
    before = numbers_in(family).copy()
    family.posterior(data)
    np.testing.assert_array_equal(numbers_in(family), before)
    with pytest.raises(AttributeError):
        family.kappa = 3.0


@FAMILIES
def test_bayes_rule_holds_at_any_parameter(family, data):
    """Prior times likelihood is posterior times evidence, wherever it is looked at."""
    posterior = family.posterior(data)
    for parameter in posterior.sample(3, random_state=1):
        left = family.log_density(parameter) + family.log_likelihood(parameter, data_of(data))
        right = posterior.log_density(parameter) + family.log_evidence(data)
        assert float(left) == pytest.approx(float(right), rel=1e-10)


def data_of(data):
    return data


@FAMILIES
def test_average_over_draws_is_the_predictive(family, data):
    posterior = family.posterior(data)
    points = np.asarray(data)[:2]
    if points.shape[1:] == (3,):
        points = points.argmax(axis=1)
    expected = posterior.predictive.density(points)
    averaged = average_density(posterior, points, n=600, random_state=0)
    np.testing.assert_allclose(averaged, expected, rtol=0.1)


@FAMILIES
def test_simulation_draws_parameter_then_data(family, data):
    """Averaged over parameters, simulated observations have the predictive mean."""
    rng = np.random.default_rng(3)
    draws = np.array([family.simulate(1, rng)[1][0] for _ in range(500)])
    if isinstance(family, DirichletMultinomial):
        draws = np.eye(3)[draws]
    spread = draws.std(axis=0) / np.sqrt(len(draws))
    expected = family.predictive.mean
    assert (np.abs(draws.mean(axis=0) - expected) < 4 * spread).all()


@pytest.mark.parametrize("family", [BetaBernoulli(0.5, 2.0), DirichletMultinomial([0.7, 1.0, 3.0])])
def test_evidence_sums_to_one_over_all_data_sets(family):
    """All sequences of four observations of a finite space."""
    n_classes = 2 if isinstance(family, BetaBernoulli) else 3
    total = 0.0
    for code in range(n_classes**4):
        labels = [code // n_classes**place % n_classes for place in range(4)]
        data = labels if n_classes == 2 else np.eye(3)[labels]
        total += np.exp(family.log_evidence(data))
    assert total == pytest.approx(1.0, rel=1e-12)


def test_evidence_does_not_depend_on_the_order():
    family = NormalGamma(0.5, 0.8, 1.5, 2.0)
    values = {round(family.log_evidence(list(order)), 10) for order in permutations(NUMBERS[:4])}
    assert len(values) == 1


def test_evidence_by_quadrature():
    family, data = CASES["mean"]
    height = family.log_evidence(data)

    def joint(mean):
        return np.exp(family.log_density(mean) + family.log_likelihood(mean, data) - height)

    assert quad(joint, -10, 10)[0] == pytest.approx(1.0, rel=1e-8)
    beta, flips = CASES["beta"]

    def along_logit(t):
        q = expit(t)
        return np.exp(beta.log_density(q) + beta.log_likelihood(q, flips)) * q * (1 - q)

    assert np.log(quad(along_logit, -30, 30)[0]) == pytest.approx(beta.log_evidence(flips))


@pytest.mark.parametrize(
    ("family", "data"), [CASES["beta"], CASES["mean"], CASES["normal-gamma"]], ids=str
)
def test_one_switch_for_three_estimates(family, data):
    ml, map_, full = (family.predict(data, estimate=way) for way in ("ml", "map", "full"))
    posterior = family.posterior(data)
    assert full == posterior.predictive
    assert map_ == family.at(posterior.mode)
    assert ml == family.at(family.maximum_likelihood(data))
    assert len({ml.mean, map_.mean, full.mean}) >= 2
    with pytest.raises(DataError, match='estimate must be "ml", "map" or "full"'):
        family.predict(data, estimate="mode")


def test_full_predictives_are_wider_than_plug_ins():
    for name in ("mean", "normal-gamma"):
        family, data = CASES[name]
        assert family.predict(data).variance > family.predict(data, "map").variance


@pytest.mark.parametrize(
    ("flat", "data"),
    [
        (BetaBernoulli.uniform(), CASES["beta"][1]),
        (DirichletMultinomial.uniform(3), CLASSES),
        (GaussianMean.uniform(3.0), NUMBERS),
    ],
    ids=["beta", "dirichlet", "mean"],
)
def test_a_flat_prior_makes_map_the_maximum_likelihood(flat, data):
    np.testing.assert_allclose(flat.posterior(data).mode, flat.maximum_likelihood(data), rtol=1e-12)


@pytest.mark.parametrize(
    ("family", "data", "message"),
    [
        (BetaBernoulli(), [0, 2], "zeros and ones; got 2"),
        (BetaBernoulli(), ["a"], "data must be numbers"),
        (DirichletMultinomial([1.0, 1.0]), [[1, 0, 0]], "each of the 2 classes"),
        (DirichletMultinomial([1.0, 1.0]), [[-1, 0]], "not negative; got -1"),
        (GaussianMean(), [1.0, np.nan], r"finite; entry \[1\] is nan"),
        (GaussianMean(), [[1.0, 2.0]], r"vector of numbers; got shape \(1, 2\)"),
        (GaussianPrecision(), [1e200], "data holds numbers as large as 1e.200, whose squares"),
        (CASES["normal-wishart"][0], [[1.0, 2.0, 3.0]], "the 2 columns of prior_mean"),
    ],
)
def test_data_of_the_wrong_kind_are_refused(family, data, message):
    with pytest.raises(DataError, match=message):
        family.posterior(data)


def test_none_is_no_data():
    with pytest.raises(DataError, match="data must be numbers; got None"):
        BetaBernoulli().posterior(None)


def test_a_posterior_without_a_mode_has_no_map():
    with pytest.raises(DataError, match='estimate="map" needs a posterior with one mode'):
        BetaBernoulli(0.5, 0.5).predict([], estimate="map")
    assert BetaBernoulli(0.5, 0.5).predict([1], estimate="map").probability == 1.0
    with pytest.raises(DataError, match='estimate="map" needs a posterior with one mode'):
        DirichletMultinomial([1.0, 1.0, 1.0]).predict([], estimate="map")
    with pytest.raises(DataError, match=r'a precision of 0 has no variance.*take estimate="full"'):
        GaussianPrecision().predict([], estimate="map")


@pytest.mark.parametrize("rows", [np.ones((5, 2)), np.ones((1, 2))], ids=["equal rows", "one row"])
def test_singular_scatter_is_held_by_the_prior_and_refused_without_one(rows):
    family = CASES["normal-wishart"][0]
    assert np.linalg.eigvalsh(family.posterior(rows).scatter).min() > 0.0
    with pytest.raises(DataError, match="covariance of the data must be positive definite"):
        family.predict(rows, estimate="ml")
