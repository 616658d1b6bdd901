"""The cost of a leaf chosen by cross-validation."""

import numpy as np

from verulam.tree import DecisionTreeRegressor
from verulam.tree._ccp_alpha import _thinned


def test_noise_is_pruned_to_the_root_and_signal_is_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 1))
    noise = rng.normal(size=120)
    learner = DecisionTreeRegressor(pruning="cost_complexity", random_state=0)
    assert learner.fit(X, noise).get_n_leaves() == 1
    step = np.where(X[:, 0] > 0.5, 5.0, 0.0) + 0.1 * noise
    assert learner.fit(X, step).get_n_leaves() == 2
    assert learner.ccp_alpha_ < 5.0


def test_candidates_are_thinned_evenly():
    assert _thinned(5).tolist() == [0, 1, 2, 3, 4]
    assert len(_thinned(1000)) == 100
    assert _thinned(1000)[[0, -1]].tolist() == [0, 999]
