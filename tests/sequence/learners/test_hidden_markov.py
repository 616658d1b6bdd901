"""Hidden Markov models: learning, tasks and scales."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.data import URN_CHAIN
from verulam.sequence import (
    AutoregressiveEmission,
    CategoricalEmission,
    ClassifierEmission,
    GaussianEmission,
    HiddenMarkovModel,
    InitialProbabilities,
    LogisticTransitions,
    MarkovChain,
    MixtureEmission,
    MultinomialEmission,
    PoissonEmission,
    RegressionEmission,
    StreamEmission,
    TransitionMatrix,
    align_states,
    left_to_right,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
STATES = [np.repeat(RANDOM.integers(3, size=6), 8) for _ in range(10)]
NUMBERS = [2.0 * path[:, None] + RANDOM.normal(size=(len(path), 2)) for path in STATES]
COUNTS = [RANDOM.poisson(1.0 + 4.0 * path[:, None], size=(len(path), 2)) for path in STATES]
SYMBOLS = [(path + (RANDOM.random(len(path)) < 0.2)) % 4 for path in STATES]
INPUTS = [RANDOM.normal(size=(len(path), 1)) for path in STATES]
MIXED = [np.column_stack([s, x]) for s, x in zip(SYMBOLS, NUMBERS, strict=True)]

CASES = {
    "categorical": (CategoricalEmission(), SYMBOLS),
    "categorical-prior": (CategoricalEmission(prior=0.5), SYMBOLS),
    "diagonal": (GaussianEmission(), NUMBERS),
    "full": (GaussianEmission("full"), NUMBERS),
    "tied": (GaussianEmission("tied"), NUMBERS),
    "spherical": (GaussianEmission("spherical"), NUMBERS),
    "gaussian-prior": (GaussianEmission("full", mean_prior=3.0, covariance_prior=5.0), NUMBERS),
    "mixture": (MixtureEmission(2), NUMBERS),
    "codebook": (MixtureEmission(4, codebook=True, prior=0.1), NUMBERS),
    "poisson": (PoissonEmission(prior=0.2), COUNTS),
    "multinomial": (MultinomialEmission(prior=0.2), COUNTS),
    "streams": (
        StreamEmission((CategoricalEmission(prior=0.1), GaussianEmission()), (1, 2)),
        MIXED,
    ),
    "regression": (RegressionEmission(), NUMBERS),
    "autoregressive": (AutoregressiveEmission(2), NUMBERS),
    "classifier": (ClassifierEmission(), SYMBOLS),
}
USES_INPUTS = ("regression", "classifier")


def fitted(name, **options):
    emission, X = CASES[name]
    model = HiddenMarkovModel(
        3, emission, random_state=0, **{"max_iter": 15, "tol": 0.0, **options}
    )
    inputs = INPUTS if name in USES_INPUTS else None
    return model.fit(X, inputs=inputs), X, inputs


@pytest.mark.parametrize("name", CASES)
def test_objective_never_falls(name):
    model, _, _ = fitted(name)
    assert (np.diff(model.objective_curve_) > -1e-8 * abs(model.objective_curve_[-1])).all()
    assert model.objective_curve_[-1] > model.objective_curve_[0]


def test_passes_end_by_tol():
    passes = []
    for tol in (1e-2, 1e-8):
        model, _, _ = fitted("diagonal", max_iter=500, tol=tol, init="random")
        enough = tol * model.n_steps_
        gains = np.diff(model.objective_curve_)
        assert model.converged_
        assert gains[-1] <= enough
        assert (gains[:-1] > enough).all()
        passes.append(model.n_iter_)
    assert passes[1] > passes[0] + 2


@pytest.mark.parametrize("name", CASES)
def test_score_equals_the_sum_over_all_paths(name):
    model, X, inputs = fitted(name, max_iter=3)
    short = X[0][:4]
    known = None if inputs is None else inputs[0][:4]
    sequences = model._read([short], None, None if known is None else [known])
    log_emissions = model.model_.log_emissions(sequences)
    options = {} if known is None else {"inputs": [known]}
    total, best, best_value = -np.inf, None, -np.inf
    posteriors = np.zeros((4, 3))
    for path in np.ndindex(3, 3, 3, 3):
        with np.errstate(divide="ignore"):
            value = np.log(model.initial_[path[0]]) + log_emissions[range(4), path].sum()
            value += np.log(model.transitions_[path[:-1], path[1:]]).sum()
        total = np.logaddexp(total, value)
        posteriors[range(4), path] += np.exp(value)
        probabilities = model.path_probabilities([short], [path], **options)
        assert_allclose(probabilities.joint[0], value)
        assert_allclose(probabilities.observations[0], log_emissions[range(4), path].sum())
        if value > best_value:
            best, best_value = path, value
    assert_allclose(model.score([short], **options), total)
    assert_array_equal(model.predict([short], **options)[0], best)
    probabilities = model.predict_proba([short], **options)[0]
    assert_allclose(probabilities, posteriors / np.exp(total), atol=1e-10)


def test_a_pass_takes_soft_counts_of_all_paths():
    random = np.random.default_rng(3)
    first, matrix = random.dirichlet(np.ones(2)), random.dirichlet(np.ones(2), 2)
    table = random.dirichlet(np.ones(3), 2)
    X = [[0, 2, 1], [1, 1, 0, 2, 2], [2]]
    model = HiddenMarkovModel(
        2,
        CategoricalEmission(probabilities=table),
        initial=InitialProbabilities(first),
        transitions=TransitionMatrix(values=matrix),
        max_iter=1,
    ).fit(X)
    firsts, moves, shown, likelihoods = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3)), []
    for part in X:
        by_part = np.zeros(2), np.zeros((2, 2)), np.zeros((2, 3))
        total = 0.0
        for path in np.ndindex(*(2,) * len(part)):
            chance = first[path[0]] * np.prod(table[path, part])
            chance *= np.prod([matrix[a, b] for a, b in pairwise(path)])
            total += chance
            by_part[0][path[0]] += chance
            np.add.at(by_part[1], (path[:-1], path[1:]), chance)
            np.add.at(by_part[2], (path, part), chance)
        likelihoods.append(np.log(total))
        for counts, some in zip((firsts, moves, shown), by_part, strict=True):
            counts += some / total
    assert_allclose(model.objective_curve_[0], sum(likelihoods))
    assert_allclose(model.initial_, firsts / 3)
    assert_allclose(model.transitions_, moves / moves.sum(axis=1, keepdims=True))
    assert_allclose(model.emission_.probabilities, shown / shown.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", CASES)
def test_samples_are_recognised(name):
    model, _, inputs = fitted(name)
    known = None if inputs is None else np.tile(inputs[0], (10, 1))
    drawn = model.sample(480, random_state=1, inputs=known)
    assert len(drawn.observations[0]) == 480
    extra = {} if known is None else {"inputs": known}
    shuffled = np.random.default_rng(0).permutation(drawn.observations[0])
    assert np.isfinite(model.score(drawn.observations, **extra))
    if name not in (*USES_INPUTS, "autoregressive", "multinomial"):
        states = model.predict(drawn.observations[0], **extra)
        assert (states == drawn.states[0]).mean() > 0.6
        assert model.score(drawn.observations[0]) > model.score(shuffled)


def test_states_are_found_again():
    model = HiddenMarkovModel(3, n_init=3, random_state=0).fit(NUMBERS)
    alignment = align_states(np.concatenate(STATES), np.concatenate(model.predict(NUMBERS)))
    assert alignment.agreement > 0.97
    assert_allclose(model.emission_.means[alignment.order], [[0, 0], [2, 2], [4, 4]], atol=0.5)


def test_an_observable_chain_is_a_hidden_one_that_shows_its_state():
    chain = MarkovChain.from_parameters(URN_CHAIN.initial, URN_CHAIN.transition)
    hidden = HiddenMarkovModel.from_parameters(
        URN_CHAIN.initial, URN_CHAIN.transition, CategoricalEmission(probabilities=np.eye(3))
    )
    balls = [0, 0, 2, 2]
    assert_allclose(np.exp(hidden.score(balls)), 0.048)
    assert_allclose(hidden.score(balls), chain.score(balls))
    assert_array_equal(hidden.predict(balls), balls)


def test_the_most_probable_states_may_form_an_impossible_path():
    # Each single state is most probable, yet no transition leads from the first to the second.
    model = HiddenMarkovModel.from_parameters(
        [0.0, 0.4, 0.3, 0.3],
        [[1, 0, 0, 0], [0, 0, 0.5, 0.5], [1, 0, 0, 0], [1, 0, 0, 0]],
        CategoricalEmission(probabilities=np.ones((4, 1))),
    )
    posteriors = model.predict_proba([0, 0])
    assert_array_equal(posteriors.argmax(axis=1), [1, 0])
    assert model.transitions_[1, 0] == 0
    assert model.transitions_[tuple(model.predict([0, 0]))] > 0


def test_one_state_learns_the_sample_moments():
    rows = np.concatenate(NUMBERS)
    model = HiddenMarkovModel(1, GaussianEmission("full")).fit(rows)
    assert_allclose(model.emission_.means[0], rows.mean(axis=0))
    assert_allclose(model.emission_.covariances[0], np.cov(rows.T, bias=True))


def test_lists_and_lengths_are_the_same_data():
    listed = HiddenMarkovModel(3, random_state=0).fit(NUMBERS)
    lengths = [len(part) for part in NUMBERS]
    stacked = HiddenMarkovModel(3, random_state=0).fit(np.concatenate(NUMBERS), lengths=lengths)
    assert_array_equal(listed.objective_curve_, stacked.objective_curve_)
    assert_array_equal(
        np.concatenate(listed.predict(NUMBERS)),
        stacked.predict(np.concatenate(NUMBERS), lengths=lengths),
    )


@pytest.mark.parametrize(
    "name", ["categorical", "diagonal", "full", "mixture", "poisson", "streams"]
)
def test_missing_steps_count_for_nothing(name):
    model, X, _ = fitted(name)
    longer = np.concatenate(
        [np.atleast_2d(X[0].T).T, np.full((3, np.atleast_2d(X[0].T).shape[0]), np.nan)]
    )
    assert_allclose(model.score([longer.astype(float)]), model.score([X[0]]))
    gap = np.full((4, longer.shape[1]), np.nan)
    assert_allclose(model.score([gap]), 0.0, atol=1e-10)


def test_missing_columns_are_integrated_out():
    rows = np.concatenate(NUMBERS).copy()
    rows[::5, 1] = np.nan
    for family in ("diagonal", "full"):
        model = HiddenMarkovModel(3, GaussianEmission(family), random_state=0).fit(rows)
        assert (np.diff(model.objective_curve_) > -1e-7).all()
        marginal = HiddenMarkovModel.from_parameters(
            model.initial_,
            model.transitions_,
            GaussianEmission(
                means=model.emission_.means[:, :1],
                covariances=(
                    model.emission_.covariances[:, :1]
                    if family == "diagonal"
                    else model.emission_.covariances[:, :1, 0]
                ),
            ),
        )
        hidden = rows[:20].copy()
        hidden[:, 1] = np.nan
        assert_allclose(model.score(hidden), marginal.score(rows[:20, 0]))


def test_zeros_stay_zero():
    mask = left_to_right(4, jump=2)
    model = HiddenMarkovModel(
        4, transitions=TransitionMatrix("left-to-right", jump=2), random_state=0
    ).fit(NUMBERS)
    assert not model.transitions_[~mask].any()
    assert_allclose(model.initial_, [1, 0, 0, 0])
    assert (np.diff(np.concatenate(model.predict(NUMBERS[:1]))) >= 0).all()


def test_fixed_parts_stay():
    matrix = np.array([[0.9, 0.1], [0.3, 0.7]])
    means = [[0.0, 0.0], [3.0, 3.0]]
    model = HiddenMarkovModel(
        2,
        GaussianEmission(means=means, fixed=("means",)),
        initial=InitialProbabilities([0.2, 0.8], fixed=True),
        transitions=TransitionMatrix(values=matrix, fixed=True),
        random_state=0,
    ).fit(NUMBERS)
    assert_array_equal(model.emission_.means, means)
    assert_allclose(model.transitions_, matrix)
    assert_allclose(model.initial_, [0.2, 0.8])
    assert (np.diff(model.objective_curve_) > -1e-8).all()


def test_shared_emissions_are_learned_together():
    model = HiddenMarkovModel(3, shared_emissions=[0, 1, 0], random_state=0).fit(NUMBERS)
    assert model.emission_.means.shape == (2, 2)
    assert_allclose(model.predict_proba(NUMBERS[0]).sum(axis=1), 1.0)
    assert (np.diff(model.objective_curve_) > -1e-8).all()


def test_priors_pull():
    loose, tight = (
        HiddenMarkovModel(
            2,
            CategoricalEmission(prior=prior),
            transitions=TransitionMatrix(prior=prior),
            random_state=0,
        ).fit(SYMBOLS)
        for prior in (0.0, 1e6)
    )
    assert_allclose(tight.emission_.probabilities, 0.25, atol=1e-3)
    assert_allclose(tight.transitions_, 0.5, atol=1e-3)
    assert np.abs(loose.emission_.probabilities - 0.25).max() > 0.1


def test_restarts_keep_the_best(monkeypatch):
    ends = []
    run = HiddenMarkovModel._run

    def noted(*arguments):
        finished = run(*arguments)
        ends.append(finished.curve[-1])
        return finished

    monkeypatch.setattr(HiddenMarkovModel, "_run", noted)
    model = HiddenMarkovModel(3, CategoricalEmission(), n_init=6, random_state=0).fit(SYMBOLS)
    assert len(set(ends)) == 6
    assert model.objective_curve_[-1] == max(ends)
    assert max(ends) > ends[0]


def test_a_given_path_needs_known_states():
    model = HiddenMarkovModel.from_parameters(
        URN_CHAIN.initial, URN_CHAIN.transition, CategoricalEmission(probabilities=np.eye(3))
    )
    # With states that show themselves, the probability of a path is the chain's: red, red,
    # green, green has 0.048.
    path = [0, 0, 2, 2]
    probabilities = model.path_probabilities(path, path)
    assert_allclose(np.exp([probabilities.path[0], probabilities.observations[0]]), [0.048, 1.0])
    assert model.path_probabilities(path, [0, 0, 2, 1]).joint[0] == -np.inf
    for wrong, message in [([0, 0], "2 steps"), ([0, 0, 0, 3], "from 0 to 2")]:
        with pytest.raises(DataError, match=message):
            model.path_probabilities(path, wrong)


@pytest.mark.parametrize("name", ["categorical", "diagonal", "streams"])
def test_stream_and_cluster_equal_memory(name):
    import dask
    import dask.bag

    emission, X = CASES[name]
    model = HiddenMarkovModel(3, emission, random_state=0)
    whole = clone(model).fit(X)
    streamed = clone(model).fit(lambda: iter([X[:3], X[3:7], X[7:]]))
    with dask.config.set(scheduler="threads"):
        bag = clone(model).fit(dask.bag.from_sequence(X, npartitions=3))
    for other in (streamed, bag):
        assert_allclose(other.objective_curve_, whole.objective_curve_, rtol=1e-8)
        assert_allclose(other.transitions_, whole.transitions_, rtol=1e-8, atol=1e-12)
        assert_allclose(other.score(X), whole.score(X), rtol=1e-8)
        assert other.n_features_in_ == whole.n_features_in_


@pytest.mark.parametrize("form", ["dense", "diagonals", "edges"])
def test_checkpoints_change_nothing(form):
    topology = TransitionMatrix("cyclic", form=form)
    options = {"transitions": topology, "random_state": 0, "max_iter": 5, "tol": 0.0}
    whole = HiddenMarkovModel(5, **options).fit(NUMBERS)
    blocks = HiddenMarkovModel(5, checkpoint=7, **options).fit(NUMBERS)
    assert_allclose(blocks.objective_curve_, whole.objective_curve_)
    assert_allclose(blocks.transitions_, whole.transitions_, atol=1e-12)
    assert_allclose(blocks.emission_.means, whole.emission_.means)


def test_threads_change_nothing(monkeypatch):
    X = NUMBERS * 150
    curves = []
    for threads in ("1", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        model = HiddenMarkovModel(3, max_iter=2, tol=0.0, random_state=0).fit(X)
        curves.append(model.objective_curve_)
    assert_array_equal(*curves)


def test_online_filter_equals_filter():
    model = HiddenMarkovModel(3, random_state=0).fit(NUMBERS)
    online = model.online()
    rows = np.array([online.update(row) for row in NUMBERS[0]])
    assert_allclose(rows, model.filter(NUMBERS[0]))
    assert_allclose(online.log_likelihood, model.score(NUMBERS[0]))
    smoothed = model.smooth(NUMBERS[0])
    assert_allclose(smoothed.probabilities[-1], rows[-1])
    assert_allclose(smoothed.probabilities, model.predict_proba(NUMBERS[0]))


def test_forecast_goes_to_the_long_run():
    model = HiddenMarkovModel.from_parameters(
        [1.0, 0.0],
        [[0.9, 0.1], [0.3, 0.7]],
        GaussianEmission(means=[[0.0], [4.0]], covariances=[[1.0], [1.0]]),
    )
    ahead = model.forecast([0.0], 300)
    assert_allclose(ahead.states[0], [0.9, 0.1])
    assert_allclose(ahead.states[-1], [0.75, 0.25])
    assert_allclose(ahead.expected[-1], [1.0])


def test_drawn_states_follow_the_posterior():
    model = HiddenMarkovModel(3, random_state=0).fit(NUMBERS)
    draws = np.array([model.sample_states(NUMBERS[0], random_state=seed) for seed in range(400)])
    shares = np.stack([(draws == k).mean(axis=0) for k in range(3)], axis=1)
    assert_allclose(shares, model.predict_proba(NUMBERS[0]), atol=0.1)


def test_inputs_move_the_chain():
    random = np.random.default_rng(0)
    x = np.repeat(random.choice([-1.0, 1.0], size=80), 5)
    # A state is where the input of the step before it has sent the chain.
    states = np.append(0, x[:-1] > 0)
    y = 4.0 * states + random.normal(size=len(x))
    model = HiddenMarkovModel(2, transitions=LogisticTransitions(), random_state=0)
    model.fit(y, inputs=x)
    assert (np.diff(model.objective_curve_) > -1e-4).all()
    assert align_states(states, model.predict(y, inputs=x)).agreement > 0.99
    # An observation that is missing is told by its input.
    y[200] = np.nan
    assert model.predict_proba(y, inputs=x)[200].max() > 0.9


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_too_few_passes_are_reported():
    with pytest.warns(ConvergenceWarning, match="had not converged after max_iter=2"):
        HiddenMarkovModel(3, max_iter=2, random_state=0).fit(NUMBERS)


def test_criteria():
    model = HiddenMarkovModel(2, random_state=0).fit(NUMBERS)
    assert model.n_parameters_ == 1 + 2 + 4 + 4
    loglik, n_steps = model.score(NUMBERS), sum(map(len, NUMBERS))
    assert_allclose(model.bic(NUMBERS), 11 * np.log(n_steps) - 2 * loglik)
    assert_allclose(model.aic(NUMBERS), 22 - 2 * loglik)


@pytest.mark.parametrize("name", CASES)
def test_known_parameters_need_no_learning(name):
    model, X, inputs = fitted(name, max_iter=3)
    emission, learned = model.model_.parts.emission, model.emission_
    if isinstance(emission, StreamEmission):
        parts = zip(emission.emissions_by_stream, learned.parts, strict=True)
        emission = replace(emission, emissions_by_stream=tuple(_given(*pair) for pair in parts))
    else:
        emission = _given(emission, learned)
    columns = np.atleast_2d(X[0].T).shape[0]
    ready = HiddenMarkovModel.from_parameters(model.initial_, model.transitions_, emission, columns)
    assert_allclose(ready.score(X, inputs=inputs), model.score(X, inputs=inputs))


def _given(emission, learned):
    if isinstance(emission, MixtureEmission):
        gaussian = _given(emission.gaussian, learned.components)
        return replace(emission, weights=learned.weights, gaussian=gaussian)
    names = {field.name for field in fields(emission)} - {"symbols"}
    values = {field.name: getattr(learned, field.name) for field in fields(learned)}
    return replace(emission, **{name: values[name] for name in names & set(values)})


@pytest.mark.parametrize(
    "name", ["diagonal", "mixture", "poisson", "multinomial", "autoregressive"]
)
def test_learning_goes_on_with_the_same_columns(name):
    model, X, _ = fitted(name, max_iter=3)
    again = clone(model).set_params(max_iter=5).fit_from(model.model_, X)
    assert again.objective_curve_[0] >= model.objective_curve_[-1]
    with pytest.raises(DataError, match="start has 2 columns, but X has 1"):
        clone(model).fit_from(model.model_, [part[:, :1] for part in X])
