"""Semi-Markov models: segments enumerated, the geometric limit, durations learned."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm, poisson

from verulam.base import DataError
from verulam.sequence import (
    DurationTransitions,
    GaussianEmission,
    HiddenMarkovModel,
    TransitionMatrix,
    duration_probabilities,
    semi_markov_model,
)
from verulam.sequence._extensions.durations import poisson_hazards

HAZARDS = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.9], [0.3, 0.3, 0.7]])
REGIMES = np.array([[0.0, 0.4, 0.6], [0.7, 0.0, 0.3], [0.5, 0.5, 0.0]])
EMISSION = GaussianEmission(means=[[0.0], [2.0], [4.0]], covariances=np.ones((3, 1)))
X = np.array([0.1, 0.2, 2.5, 3.7, 4.1, 0.3])


def segments(n_steps):
    """Yield every way to cut the steps into stretches."""
    for cuts in product([False, True], repeat=n_steps - 1):
        ends = [t + 1 for t, cut in enumerate(cuts) if cut] + [n_steps]
        yield np.diff([0, *ends])


@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_likelihood_sums_over_all_segments():
    model = semi_markov_model(3, 3, EMISSION, regimes=REGIMES, hazards=HAZARDS, max_iter=1)
    model.fit(X)
    lengths = duration_probabilities(HAZARDS, 10)
    lasting = 1.0 - np.cumsum(lengths, axis=1)
    densities = norm(np.array([0.0, 2.0, 4.0])).pdf(X[:, None])
    total = 0.0
    for stretches in segments(len(X)):
        for regimes in product(range(3), repeat=len(stretches)):
            joint, t = 1 / 3, 0
            for place, (regime, length) in enumerate(zip(regimes, stretches, strict=True)):
                last = place == len(stretches) - 1
                # The last stretch may go on beyond the end.
                joint *= lengths[regime, length - 1] + last * lasting[regime, length - 1]
                joint *= densities[t : t + length, regime].prod()
                joint *= 1.0 if last else REGIMES[regime, regimes[place + 1]]
                t += length
            total += joint
    assert_allclose(model.objective_curve_[0], np.log(total))


def test_one_age_or_equal_chances_are_a_plain_model():
    random = np.random.default_rng(0)
    series = np.repeat([0.0, 2.0, 4.0, 0.0], 12) + 0.5 * random.normal(size=48)
    matrix = np.array([[0.9, 0.05, 0.05], [0.15, 0.7, 0.15], [0.1, 0.1, 0.8]])
    regimes = np.where(np.eye(3), 0.0, 0.5)
    plain = HiddenMarkovModel(3, EMISSION, transitions=TransitionMatrix(values=matrix)).fit(series)
    ends = 1.0 - np.diag(matrix)
    for longest in (1, 3):
        hazards = np.repeat(ends[:, None], longest, axis=1)
        model = semi_markov_model(
            3, longest, EMISSION, family="geometric", regimes=regimes, hazards=hazards
        ).fit(series)
        assert_allclose(model.objective_curve_, plain.objective_curve_, rtol=1e-9)
        assert_allclose(model.emission_.means, plain.emission_.means, rtol=1e-6)


@pytest.mark.parametrize("family", ["free", "geometric", "poisson"])
@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_log_likelihood_never_falls(family):
    random = np.random.default_rng(1)
    series = np.repeat(np.tile([0.0, 3.0], 15), random.integers(2, 7, size=30))
    series = series + random.normal(size=len(series))
    model = semi_markov_model(2, 8, family=family, random_state=0, max_iter=30).fit(series)
    assert np.diff(model.objective_curve_).min() > -1e-7


def test_durations_are_found_again():
    """Both regimes last five to seven steps, which no geometric law can say."""
    random = np.random.default_rng(2)
    series = np.repeat(np.tile([0.0, 2.0], 60), random.integers(5, 8, size=120))
    series = series + random.normal(size=len(series))
    model = semi_markov_model(2, 10, random_state=0).fit(series)
    lengths = duration_probabilities(model.model_.transitions.tables[1], 12)
    assert lengths[:, 4:7].sum(axis=1).min() > 0.85
    plain = HiddenMarkovModel(2, random_state=0).fit(series)
    assert model.score(series) > plain.score(series) + 20


def test_poisson_chances_give_poisson_durations():
    lengths = duration_probabilities(poisson_hazards(2.5, 20), 15)[0]
    assert_allclose(lengths, poisson(2.5).pmf(np.arange(15)), atol=1e-10)
    part = DurationTransitions(2, 12, "poisson")
    ages = np.arange(12)
    counts = poisson(3.2).pmf(ages) * 1e4
    lasting = poisson(3.2).sf(ages) * 1e4
    moves = part.start(24, np.random.default_rng(0))
    sums = np.zeros(len(moves.weights))
    regime, age = np.divmod(moves.sources, 12)
    left = moves.targets // 12 != regime
    sums[left], sums[~left] = counts[age[left]], lasting[age[~left]]
    new = part.updated_tables(moves, sums)[1]
    assert_allclose(new, np.tile(poisson_hazards(3.2, 12), (2, 1)), rtol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_regimes": 1}, "at least two regimes"),
        ({"family": "gamma"}, "'gamma'; expected one of free, geometric, poisson"),
        ({"regimes": np.full((2, 2), 0.5)}, "zeros on its diagonal"),
        ({"hazards": [[0.1]]}, r"probabilities of shape \(2, 4\)"),
    ],
)
def test_bad_input(options, message):
    settings = {"n_regimes": 2, "longest": 4, **options}
    with pytest.raises(DataError, match=message):
        DurationTransitions(**settings).first_tables()


def test_regimes_and_ages_are_counted():
    with pytest.raises(DataError, match="longest must be a whole number of at least 1; got 0"):
        semi_markov_model(2, 0)
    with pytest.raises(DataError, match="n_regimes must be a whole number of at least 2"):
        semi_markov_model(1, 5)
