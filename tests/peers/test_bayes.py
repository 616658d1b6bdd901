"""Chains beside ArviZ's: the same draws, effective sizes and R-hat."""

import warnings

import numpy as np
import pytest

from verulam.bayes import Chains

pytestmark = pytest.mark.peers
with warnings.catch_warnings():
    # Versions before 1 announce that one on import.
    warnings.simplefilter("ignore", FutureWarning)
    arviz = pytest.importorskip("arviz")


@pytest.fixture(scope="module")
def chains():
    """Return a slow quantity of four chains, and a vector of quick ones."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 500))
    slow = np.zeros((4, 500))
    for t in range(1, 500):
        slow[:, t] = 0.9 * slow[:, t - 1] + noise[:, t]
    return Chains({"slow": slow, "quick": rng.normal(size=(4, 500, 3))})


def test_draws_arrive_under_their_names(chains):
    posterior = chains.to_arviz().posterior
    assert posterior["slow"].dims == ("chain", "draw")
    for name, draws in chains.draws.items():
        np.testing.assert_array_equal(posterior[name].values, draws)


def test_effective_sizes_and_r_hat_are_those_of_arviz(chains):
    converted = chains.to_arviz()
    sizes, ratios = arviz.ess(converted, method="bulk"), arviz.rhat(converted)
    for name in chains.names:
        np.testing.assert_allclose(chains.r_hat(name), ratios[name].values, rtol=1e-10)
        # The sums of correlations end at the same lag but for the last odd one.
        np.testing.assert_allclose(chains.effective_size(name), sizes[name].values, rtol=0.01)
    assert chains.effective_size("slow") < 300 < np.min(chains.effective_size("quick"))
