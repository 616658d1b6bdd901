"""Choosing the number and family of components, as mclust does."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.cluster import COVARIANCE_TYPES, GaussianMixture, MixtureSelection, select_mixture
from verulam.data import dataset


def groups(seed=0):
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    return np.repeat(centres, 50, axis=0) + random.normal(size=(150, 2))


def test_the_true_number_and_the_simplest_true_family_win():
    selection = select_mixture(groups(), range(1, 5), tol=1e-4)
    assert isinstance(selection, MixtureSelection)
    assert isinstance(selection.best, GaussianMixture)
    assert selection.best.n_components == 3
    assert selection.best.covariance_type == "tied_spherical"
    table = selection.to_frame()
    assert list(table.columns) == list(COVARIANCE_TYPES)
    assert list(table.index) == [1, 2, 3, 4]
    assert table.stack().idxmin() == (3, "tied_spherical")


def test_iris_has_the_numbers_of_mclust():
    """R: EII 3 has -878.7650, VVI 2 -857.5515, EEE 3 -632.9647, VVV 2 -574.0178."""
    selection = select_mixture(
        dataset("iris").inputs, (2, 3), ("tied_spherical", "diag", "tied", "full"),
        tol=1e-6,
    )  # fmt: skip
    table = selection.to_frame()
    assert table.loc[3, "tied_spherical"] == pytest.approx(878.765, abs=0.01)
    assert table.loc[2, "diag"] == pytest.approx(857.5515, abs=0.01)
    assert table.loc[3, "tied"] == pytest.approx(632.9647, abs=0.02)
    assert table.loc[2, "full"] == pytest.approx(574.0178, abs=0.01)
    assert selection.best.n_components == 2


def test_criteria():
    X = groups()
    for criterion in ("bic", "aic", "icl"):
        selection = select_mixture(X, (2, 3), ("diag",), criterion=criterion)
        best = selection.best
        assert selection.scores[criterion].min() == pytest.approx(getattr(best, criterion)(X))
        assert selection.criterion == criterion


def test_singular_mixtures_have_no_value():
    line = np.column_stack([np.arange(30.0), 2 * np.arange(30.0)])
    selection = select_mixture(line, (1, 2), ("diag", "full"))
    assert selection.to_frame()["full"].isna().all()
    assert selection.best.covariance_type == "diag"
    with pytest.raises(DataError, match="All mixtures are singular"):
        select_mixture(line, (1,), ("full",))


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="criterion='dic' is unknown"):
        select_mixture(groups(), criterion="dic")
    with pytest.raises(DataError, match="must each name one at least"):
        select_mixture(groups(), [])
