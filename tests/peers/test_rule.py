"""Ripper beside Weka's JRip and wittgenstein, on the same rows and folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from verulam.rule import Ripper

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]

JRIP = "weka.classifiers.rules.JRip"
SEEDS = range(3)


def generated():
    """Return 5,000 rows to learn from and 2,500 to test on, of two classes."""
    X, y = make_classification(n_samples=7500, n_features=10, n_informative=6, random_state=1)
    frame = pd.DataFrame(X).add_prefix("x")
    return frame[:5000], y[:5000], frame[5000:], y[5000:]


def our_accuracy(X, y, X_test, y_test):
    return np.mean([Ripper(random_state=seed).fit(X, y).score(X_test, y_test) for seed in SEEDS])


def test_generated_data_within_half_a_point_of_jrip(weka_accuracy):
    data = generated()
    assert our_accuracy(*data) > weka_accuracy(JRIP, *data) - 0.005


@pytest.mark.slow
def test_bundled_sets_within_half_a_point_of_jrip(twelve_problems, weka_accuracy):
    """Mean over twelve sets, ten folds each, the same rows for both."""
    ours, theirs = [], []
    for X, y in twelve_problems.values():
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        for train, test in folds:
            part = (X.iloc[train], y[train], X.iloc[test], y[test])
            ours.append(our_accuracy(*part))
            theirs.append(weka_accuracy(JRIP, *part))
    assert np.mean(ours) > np.mean(theirs) - 0.005


def test_well_above_wittgenstein_on_numbers():
    """It bins numbers and tests bins by equality; thresholds say more with fewer conditions."""
    wittgenstein = pytest.importorskip("wittgenstein")
    X, y, X_test, y_test = generated()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = wittgenstein.RIPPER(random_state=0)
        peer.fit(X, y=y, pos_class=1)
        theirs = np.mean(np.array(peer.predict(X_test)) == y_test)
    assert our_accuracy(X, y, X_test, y_test) > theirs + 0.02
