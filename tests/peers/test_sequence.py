"""Hidden Markov models beside hmmlearn's: the same start gives the same way to the end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from verulam.sequence import (
    CategoricalEmission,
    GaussianEmission,
    HiddenMarkovModel,
    InitialProbabilities,
    MixtureEmission,
    TransitionMatrix,
)

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
hmm = pytest.importorskip("hmmlearn.hmm")

N_STATES, N_PASSES = 3, 12
LENGTHS = [120, 1, 80, 199]
RANDOM = np.random.default_rng(0)
INITIAL = RANDOM.dirichlet(np.ones(N_STATES))
MATRIX = RANDOM.dirichlet(np.ones(N_STATES), N_STATES)
STATES = np.repeat(RANDOM.integers(3, size=40), 10)
# Runs of states, so that no two paths are equally good.
SYMBOLS = (STATES[:, None] + (RANDOM.random((400, 1)) < 0.2)) % 4
NUMBERS = STATES[:, None] * 2.0 + RANDOM.normal(size=(400, 2))


def ours(emission):
    return HiddenMarkovModel(
        N_STATES,
        emission,
        initial=InitialProbabilities(INITIAL),
        transitions=TransitionMatrix(values=MATRIX),
        max_iter=N_PASSES,
        tol=0.0,
    )


def theirs(kind, **options):
    peer = kind(
        N_STATES,
        n_iter=N_PASSES,
        tol=-np.inf,
        init_params="",
        implementation="scaling",
        **options,
    )
    peer.startprob_, peer.transmat_ = INITIAL, MATRIX
    return peer


def assert_same(mine, peer, X):
    assert_allclose(mine.objective_curve_, list(peer.monitor_.history), rtol=1e-8)
    assert_allclose(mine.transitions_, peer.transmat_, rtol=1e-7, atol=1e-12)
    assert_allclose(mine.initial_, peer.startprob_, rtol=1e-7, atol=1e-12)
    assert_allclose(mine.score(X, lengths=LENGTHS), peer.score(X, LENGTHS), rtol=1e-8)
    assert_array_equal(mine.predict(X, lengths=LENGTHS), peer.predict(X, LENGTHS))
    assert_allclose(
        mine.predict_proba(X, lengths=LENGTHS), peer.predict_proba(X, LENGTHS), atol=1e-8
    )


def test_categorical():
    probabilities = RANDOM.dirichlet(np.ones(4), N_STATES)
    peer = theirs(hmm.CategoricalHMM)
    peer.emissionprob_ = probabilities
    peer.fit(SYMBOLS, LENGTHS)
    mine = ours(CategoricalEmission(probabilities=probabilities)).fit(SYMBOLS, lengths=LENGTHS)
    assert_same(mine, peer, SYMBOLS)
    assert_allclose(mine.emission_.probabilities, peer.emissionprob_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("family", "theirs_family"),
    [("diagonal", "diag"), ("full", "full"), ("tied", "tied"), ("spherical", "spherical")],
)
def test_gaussian(family, theirs_family):
    means = NUMBERS[[0, 150, 300]]
    start = {
        "diagonal": np.ones((3, 2)),
        "full": np.stack([np.eye(2)] * 3),
        "tied": np.eye(2),
        "spherical": np.ones(3),
    }[family]
    peer = theirs(
        hmm.GaussianHMM, covariance_type=theirs_family, covars_prior=0.0, covars_weight=0.0
    )
    peer.means_, peer.covars_ = means, start
    peer.fit(NUMBERS, LENGTHS)
    mine = ours(GaussianEmission(family, means=means, covariances=start))
    mine.fit(NUMBERS, lengths=LENGTHS)
    assert_same(mine, peer, NUMBERS)
    assert_allclose(mine.emission_.means, peer.means_, rtol=1e-6)


def test_mixture():
    mine = ours(MixtureEmission(2)).fit(NUMBERS, lengths=LENGTHS)
    # hmmlearn takes variances around the means before the pass, so only the answers of the same
    # parameters can be compared, not the way to them.
    peer = theirs(hmm.GMMHMM, n_mix=2, covariance_type="diag")
    peer.startprob_, peer.transmat_ = mine.initial_, mine.transitions_
    peer.weights_ = mine.emission_.weights
    peer.means_ = mine.emission_.components.means.reshape(3, 2, 2)
    peer.covars_ = mine.emission_.components.covariances.reshape(3, 2, 2)
    assert_allclose(mine.score(NUMBERS, lengths=LENGTHS), peer.score(NUMBERS, LENGTHS), rtol=1e-8)
    assert_array_equal(mine.predict(NUMBERS, lengths=LENGTHS), peer.predict(NUMBERS, LENGTHS))
    assert_allclose(
        mine.predict_proba(NUMBERS, lengths=LENGTHS),
        peer.predict_proba(NUMBERS, LENGTHS),
        atol=1e-8,
    )


def test_a_long_model_scores_alike():
    mine = ours(GaussianEmission())
    with pytest.warns(ConvergenceWarning):
        mine.fit(NUMBERS)
    peer = theirs(hmm.GaussianHMM)
    peer.startprob_, peer.transmat_ = mine.initial_, mine.transitions_
    peer.means_, peer.covars_ = mine.emission_.means, mine.emission_.covariances
    long = np.tile(NUMBERS, (250, 1))
    assert_allclose(mine.score(long), peer.score(long), rtol=1e-10)
    assert_array_equal(mine.predict(long), peer.predict(long))
