"""The hybrid of a classifier and a chain."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    HybridModel,
    Transitions,
    VectorQuantiser,
    align_states,
    fit_hybrid,
    input_windows,
)


def made(seed):
    """Return sequences whose states show in the change from step to step, not in the level."""
    random = np.random.default_rng(seed)
    labels = [np.repeat(random.integers(2, size=8), 12) for _ in range(6)]
    X = []
    for path in labels:
        signs = np.where(np.arange(len(path)) % 2, 1.0, -1.0)
        X.append(np.where(path == 1, signs, 0.0) + random.normal(0.0, 0.7, size=len(path)))
    return X, labels


def test_chain_and_network_beat_the_network_alone():
    X, labels = made(0)
    network = MLPClassifier((8,), solver="lbfgs", max_iter=2000, random_state=0, alpha=1.0)
    hybrid = fit_hybrid(network, X, labels, width=2)
    new, truth = made(1)
    together = np.concatenate(hybrid.predict(new))
    alone = hybrid.classifier.predict(np.vstack(input_windows(new, 2, 2)))
    assert not hasattr(network, "coefs_")
    expected = np.concatenate(truth)
    assert (together == expected).mean() > (alone == expected).mean()
    assert (together == expected).mean() > 0.8


def test_scores_are_posteriors_over_priors():
    X, labels = made(0)
    # The first label is the more frequent one, so that priors are not equal.
    labels[0][:], labels[1][:] = 0, 0
    hybrid = fit_hybrid(LogisticRegression(), X, labels, width=1)
    shares = np.array([np.mean(np.concatenate(labels) == label) for label in (0, 1)])
    assert abs(shares[0] - 0.5) > 0.1
    assert_allclose(hybrid.priors, shares)
    scores, _ = hybrid.log_scores(X)
    posteriors = hybrid.classifier.predict_proba(np.vstack(input_windows(X, 1, 1)))
    assert_allclose(scores, np.log(posteriors / shares))
    assert_allclose(hybrid.transitions.matrix.sum(axis=1), 1.0)


def test_labels_must_match():
    with pytest.raises(DataError, match="one label per step"):
        fit_hybrid(LogisticRegression(), [[1.0, 2.0]], [["a"]])


def test_windows_say_more_than_a_codebook():
    X, labels = made(0)
    new, truth = made(1)
    expected = np.concatenate(truth)
    network = MLPClassifier((8,), solver="lbfgs", max_iter=2000, random_state=0, alpha=1.0)
    hybrid = np.concatenate(fit_hybrid(network, X, labels, width=2).predict(new))
    model = HiddenMarkovModel(
        2, CategoricalEmission(prior=0.1), n_init=5, max_iter=500, tol=1e-4, random_state=0
    )
    quantised = make_pipeline(VectorQuantiser(8, random_state=0), model).fit(X)
    agreement = align_states(expected, np.concatenate(quantised.predict(new))).agreement
    assert (hybrid == expected).mean() > agreement + 0.02


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (list("aab"), {"width": -1}, "width must be a whole number of at least 0"),
        (list("aab"), {"alpha": -1.0}, "alpha is -1.0"),
        ([0.0, np.nan, 1.0], {}, "labels has missing ones"),
        (list("aaa"), {}, "labels has one label only: 'a'"),
    ],
)
def test_bad_input(labels, options, message):
    with pytest.raises(DataError, match=message):
        fit_hybrid(LogisticRegression(), [1.0, 2.0, 3.0], labels, **options)
    with pytest.raises(DataError, match="LinearSVC has no predict_proba"):
        fit_hybrid(LinearSVC(), [1.0, 2.0, 3.0], list("aab"))


def test_a_label_at_the_end_alone_is_no_hindrance():
    X, labels = [np.array([0.0, 0.1, 5.0])], [list("aab")]
    hybrid = fit_hybrid(LogisticRegression(), X, labels, width=0, alpha=0.0)
    assert_allclose(hybrid.transitions.matrix.sum(axis=1), 1.0)


def test_a_chain_without_memory_leaves_posterior_over_prior():
    X, labels = made(0)
    rows, codes = np.concatenate(X)[:, None], np.concatenate(labels)
    classifier = LogisticRegression().fit(rows, codes)
    priors = np.array([0.2, 0.8])
    even = Transitions.from_matrix(np.full((2, 2), 0.5))
    hybrid = HybridModel(classifier, np.array(["a", "b"]), priors, np.full(2, 0.5), even, 0)
    best = (classifier.predict_proba(rows) / priors).argmax(axis=1)
    assert hybrid.predict(rows).tolist() == np.array(["a", "b"])[best].tolist()
