"""Chains: effective sizes, R-hat, summaries, and what is said of chains that disagree."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, UnknownNameError
from verulam.bayes import Chains


def autoregression(rng, correlation, shape):
    draws = np.empty(shape)
    draws[:, 0] = rng.normal(size=shape[0])
    noise = rng.normal(scale=np.sqrt(1 - correlation**2), size=shape)
    for t in range(1, shape[1]):
        draws[:, t] = correlation * draws[:, t - 1] + noise[:, t]
    return draws


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression(correlation):
    """A chain with correlation r is worth (1 - r) / (1 + r) of its draws."""
    draws = autoregression(np.random.default_rng(0), correlation, (4, 4000))
    size = Chains({"x": draws}).effective_size("x")
    assert size == pytest.approx(16_000 * (1 - correlation) / (1 + correlation), rel=0.2)


def test_alternating_chains_are_worth_more_than_their_draws():
    draws = autoregression(np.random.default_rng(0), -0.5, (4, 2000))
    assert Chains({"x": draws}).effective_size("x") > 12_000


def test_r_hat_sees_chains_in_other_places_and_of_other_spread():
    rng = np.random.default_rng(0)
    same = rng.normal(size=(4, 1000))
    shifted, wider = same.copy(), same.copy()
    shifted[0] += 1.0
    wider[0] *= 3.0
    drifting = same + np.linspace(0.0, 3.0, 1000)
    assert Chains({"x": same}).r_hat("x") < 1.01
    assert Chains({"x": same}).converged
    for draws in (shifted, wider, drifting):
        chains = Chains({"x": draws})
        assert chains.r_hat("x") > 1.01
        assert not chains.converged
        with pytest.warns(ConvergenceWarning, match="R-hat of 'x' is .*, above 1.01"):
            chains.warn_unless_converged()


def test_infinite_moments_do_not_hide_disagreement():
    """Ranks need no variance: Cauchy draws of one place agree, of two places do not."""
    draws = np.random.default_rng(1).standard_cauchy(size=(4, 1000))
    assert Chains({"x": draws}).r_hat("x") < 1.01
    draws[1] += 3.0
    assert Chains({"x": draws}).r_hat("x") > 1.05


def test_constant_chains():
    assert Chains({"x": np.ones((2, 50))}).converged
    assert not Chains({"x": np.repeat([[0.0], [1.0]], 50, axis=1)}).converged


def test_summary_has_a_row_for_every_number():
    rng = np.random.default_rng(0)
    chains = Chains({"w": rng.normal(size=(3, 400, 2)), "level": rng.normal(5.0, 2.0, (3, 400))})
    table = chains.summary(level=0.9)
    assert list(table.index) == ["w[0]", "w[1]", "level"]
    assert table.loc["level", "mean"] == pytest.approx(5.0, abs=0.2)
    assert table.loc["level", "lower"] == pytest.approx(chains.interval("level", 0.9)[0])
    assert table.loc["level", "upper"] == pytest.approx(5.0 + 1.645 * 2.0, abs=0.3)
    assert chains.names == ("w", "level")
    assert (chains.n_chains, chains.n_draws) == (3, 400)
    assert chains["w"].shape == (1200, 2)
    assert chains.std("w").shape == (2,)
    assert table.loc["w[0]", "error_of_mean"] == pytest.approx(1 / np.sqrt(1200), rel=0.3)


def test_conversion_to_arviz(monkeypatch):
    chains = Chains({"x": np.zeros((2, 10))})
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="to_arviz needs the library ArviZ"):
        chains.to_arviz()
    newer = SimpleNamespace(
        __version__="1.2.0", from_dict=lambda groups: ("new", groups["posterior"]["x"].shape)
    )
    monkeypatch.setitem(sys.modules, "arviz", newer)
    assert chains.to_arviz() == ("new", (2, 10))
    older = SimpleNamespace(
        __version__="0.23.4", from_dict=lambda posterior=None: ("old", posterior["x"].shape)
    )
    monkeypatch.setitem(sys.modules, "arviz", older)
    assert chains.to_arviz() == ("old", (2, 10))


def test_wrong_draws_are_refused():
    with pytest.raises(DataError, match="one name or more"):
        Chains({})
    with pytest.raises(DataError, match=r"shape \(n_chains, n_draws, ...\)"):
        Chains({"x": np.zeros(5)})
    with pytest.raises(DataError, match="same two numbers"):
        Chains({"x": np.zeros((2, 5)), "y": np.zeros((2, 6))})
    with pytest.raises(UnknownNameError, match="Unknown quantity 'z'"):
        Chains({"x": np.zeros((2, 5))}).mean("z")
    with pytest.raises(DataError, match="level must be"):
        Chains({"x": np.zeros((2, 5))}).interval("x", 2.0)
