"""Densities chosen by held-out likelihood: the same as by hand and as scikit-learn chooses."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV, KFold

from verulam.nonparametric import (
    HammingDensity,
    HistogramDensity,
    KernelDensity,
    LikelihoodCurve,
    NearestNeighbourDensity,
    select_bandwidth,
    select_density,
)


def ring(n_rows, seed):
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n_rows)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return circle * (3 + 0.1 * rng.normal(size=(n_rows, 1)))


def test_number_of_neighbours_that_fresh_rows_confirm():
    """Too few neighbours follow single rows, too many cover the inside of the ring."""
    X, fresh = ring(200, 0), ring(2000, 1)
    counts = [4, 25, 150]
    curve = select_density(KernelDensity(shape="local"), "n_neighbors", counts, X)
    truth = [
        KernelDensity(shape="local", n_neighbors=k).fit(X).score_samples(fresh).mean()
        for k in counts
    ]
    assert curve.best == counts[int(np.argmax(truth))] == 25
    assert curve.density.n_neighbors == curve.best
    assert_allclose(curve.log_likelihoods, truth, atol=0.5)


def test_chooses_as_a_grid_search_does():
    X = ring(120, 2)
    widths = [0.05, 0.2, 0.6, 2.0]
    folds = KFold(5, shuffle=True, random_state=3)
    curve = select_density(KernelDensity(), "bandwidth", widths, X, cv=folds)
    search = GridSearchCV(KernelDensity(), {"bandwidth": widths}, cv=folds).fit(X)
    assert curve.best == search.best_params_["bandwidth"]
    # Folds of 24 rows each; a search adds up what we take the mean of.
    assert_allclose(curve.log_likelihoods, search.cv_results_["mean_test_score"] / 24)


def test_leaving_out_one_is_the_likelihood_of_select_bandwidth():
    X = np.random.default_rng(0).normal(size=(40, 1))
    curve = select_density(KernelDensity(), "bandwidth", [0.2, 0.5], X, cv=40)
    assert_allclose(40 * curve.log_likelihoods, select_bandwidth(X, [0.2, 0.5]).log_likelihoods)


def test_tables_and_other_densities():
    table = pd.DataFrame({"a": np.tile([0, 1, 1], 20), "b": np.tile([0, 1, 0], 20)})
    curve = select_density(HammingDensity(), "smoothing", [0.05, 0.2, 0.45], table, cv=5)
    assert curve.best == 0.05
    frame = curve.to_frame()
    assert frame.index.name == "smoothing"
    assert frame["best"].tolist() == [True, False, False]
    assert (frame["standard_error"] > 0).all()


def test_impossible_rows_lose():
    X = np.arange(12.0)[:, None]
    curve = select_density(HistogramDensity(), "bin_width", [0.5, 20.0], X, cv=4)
    assert np.isneginf(curve.log_likelihoods[0])
    assert np.isnan(curve.standard_errors[0])
    assert curve.best == 20.0


def test_what_cannot_be_chosen():
    X = np.arange(12.0)[:, None]
    with pytest.raises(ValueError, match="does not integrate to one"):
        select_density(NearestNeighbourDensity(), "n_neighbors", [1, 2], X)
    with pytest.raises(ValueError, match="values is empty"):
        select_density(KernelDensity(), "bandwidth", [], X)
    with pytest.raises(ValueError, match="cv"):
        select_density(KernelDensity(), "bandwidth", [1.0], X, cv=1)
    with pytest.raises(
        ValueError, match="Whatever the bin_width, some rows left out are impossible"
    ):
        select_density(HistogramDensity(), "bin_width", [0.5], X, cv=4)


def test_the_table_of_a_curve_marks_the_best_value():
    curve = LikelihoodCurve(
        parameter="bandwidth",
        values=(0.1, 1.0),
        log_likelihoods=np.array([-3.0, -2.0]),
        standard_errors=np.array([0.1, 0.2]),
        best=1.0,
        density=None,
    )
    table = curve.to_frame()
    assert table.index.name == "bandwidth"
    assert table["best"].tolist() == [False, True]
    assert table["log_likelihood"].tolist() == [-3.0, -2.0]
