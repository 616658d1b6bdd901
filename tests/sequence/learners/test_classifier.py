"""HMMClassifier: Bayes' rule by hand, priors, discriminative training."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import CategoricalEmission, HiddenMarkovModel, HMMClassifier, StreamEmission

RANDOM = np.random.default_rng(0)
LABELS = np.array(["rise", "fall"] * 10)
NUMBERS = [
    np.repeat([0.0, 2.0] if label == "rise" else [2.0, 0.0], 5) + RANDOM.normal(size=10)
    for label in LABELS
]


def test_posteriors_follow_bayes_rule():
    classifier = HMMClassifier(priors=[0.2, 0.8], random_state=0).fit(NUMBERS, LABELS)
    assert_array_equal(classifier.classes_, ["fall", "rise"])
    likelihoods = np.array([[model.score([x]) for model in classifier.models_] for x in NUMBERS])
    joint = np.exp(likelihoods) * [0.2, 0.8]
    assert_allclose(classifier.predict_proba(NUMBERS), joint / joint.sum(axis=1, keepdims=True))
    assert classifier.score(NUMBERS, LABELS) > 0.9


def test_priors():
    shares = HMMClassifier(random_state=0).fit(NUMBERS[:15], LABELS[:15])
    assert_allclose(shares.priors_, [7 / 15, 8 / 15])
    equal = HMMClassifier(priors="equal", random_state=0).fit(NUMBERS[:15], LABELS[:15])
    assert_allclose(equal.priors_, 0.5)


@pytest.mark.parametrize("kind", ["numbers", "symbols"])
def test_discriminative_training_raises_the_posteriors(kind):
    X = NUMBERS if kind == "numbers" else [(x > 1).astype(int) for x in NUMBERS]
    emission = None if kind == "numbers" else CategoricalEmission(prior=0.1)
    model = HiddenMarkovModel(2, emission, max_iter=500)
    plain = HMMClassifier(model, random_state=0).fit(X, LABELS)
    sharp = HMMClassifier(model, discriminative_iter=8, random_state=0).fit(X, LABELS)
    curve = sharp.conditional_curve_
    assert len(curve) > 1
    assert (np.diff(curve) > 0).all()
    places = np.searchsorted(plain.classes_, LABELS)
    rows = np.arange(len(LABELS))
    assert_allclose(curve[0], np.log(plain.predict_proba(X)[rows, places]).mean())
    assert_allclose(curve[-1], np.log(sharp.predict_proba(X)[rows, places]).mean())


def test_tables_are_sequences_by_row():
    table = np.stack(NUMBERS)
    by_row = HMMClassifier(random_state=0).fit(table, LABELS)
    listed = HMMClassifier(random_state=0).fit(NUMBERS, LABELS)
    assert_allclose(by_row.predict_proba(table), listed.predict_proba(NUMBERS))
    assert by_row.n_features_in_ == 10
    assert len(listed.predict(table[:, :4])) == 20


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (LABELS[:3], {}, "20 sequences and y has 3 labels"),
        (["rise"] * 20, {}, "one class: 'rise'"),
        (LABELS, {"priors": [1.0]}, "priors needs 2 numbers"),
        (LABELS, {"priors": "flat"}, "expected 'equal'"),
    ],
)
def test_bad_input(y, options, message):
    with pytest.raises(DataError, match=message):
        HMMClassifier(**options).fit(NUMBERS, y)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], ["a", "b", "c", "d"]])
def test_symbols_that_one_class_lacks(labels):
    a, b, c, d = labels
    model = HiddenMarkovModel(1, CategoricalEmission(prior=0.5))
    X = [[a, a, b], [a, b, a], [c, d, c], [d, c, c]]
    classifier = HMMClassifier(model).fit(X, ["low", "low", "high", "high"])
    assert classifier.predict([[a, b, c], [c, d, a]]).tolist() == ["low", "high"]
    shares = classifier.models_[1].emission_.probabilities[0]
    assert_allclose(shares, np.array([4.5, 2.5, 0.5, 0.5]) / 8)


def test_streams_share_their_alphabets():
    model = HiddenMarkovModel(1, StreamEmission((CategoricalEmission(prior=0.5),) * 2))
    X = [[[0, 1], [0, 0]], [[2, 1], [2, 3]]]
    classifier = HMMClassifier(model).fit(X, [0, 1])
    assert classifier.predict([[[2, 0]], [[0, 3]]]).shape == (2,)
    assert classifier.models_[0].emission_.parts[1].probabilities.shape == (1, 4)
