"""Pictures of components and factors: what is drawn is what was fitted."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.data import dataset
from verulam.plots import biplot, loading_map, scree
from verulam.reduction import FactorAnalysis, PrincipalComponents

WINE = dataset("wine")


@pytest.fixture(scope="module")
def components():
    return PrincipalComponents(3, standardise=True).fit(WINE.inputs)


def test_scree_shows_eigenvalues_and_shares(components):
    axes = scree(components, share=0.8)
    assert_allclose(axes.lines[0].get_ydata(), components.eigenvalues_)
    right = axes.figure.axes[1]
    assert_allclose(right.lines[0].get_ydata()[-1], 1.0)
    assert axes.get_title() == "5 components explain 0.8 of the variance"
    assert scree(components, share=None).get_title() == ""


def test_biplot_has_points_by_class_and_an_arrow_for_each_column(components):
    axes = biplot(components, WINE.inputs, WINE.target_values, axes=(0, 2))
    z = components.transform(WINE.inputs)
    drawn = np.vstack([points.get_offsets() for points in axes.collections])
    assert_allclose(np.sort(drawn[:, 1]), np.sort(z[:, 2]))
    names = [text.get_text() for text in axes.texts if text.get_text()]
    assert names == list(WINE.inputs.columns)
    tips = np.array([text.xy for text in axes.texts if text.get_text()])
    loadings = components.loadings_[:, [0, 2]]
    assert_allclose(tips / np.abs(tips).max(), loadings / np.abs(loadings).max())
    with pytest.raises(DataError, match="there are 3"):
        biplot(components, WINE.inputs, axes=(0, 3))
    with pytest.raises(DataError, match="names: expected 13"):
        biplot(components, WINE.inputs, names=["a"])


def test_loadings_as_colours_and_numbers():
    factors = FactorAnalysis(2, rotation="varimax").fit(WINE.inputs.to_numpy())
    axes = loading_map(factors)
    assert_allclose(axes.images[0].get_array(), factors.loadings_)
    assert axes.texts[0].get_text() == f"{factors.loadings_[0, 0]:.2f}"
    assert axes.get_yticklabels()[1].get_text() == "x1"
    assert axes.get_xticklabels()[1].get_text() == "factor 2"
