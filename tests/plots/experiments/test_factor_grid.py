"""Pictures of factorial grids show the grid's own scores."""

import numpy as np
import pytest
from matplotlib import colors

from verulam.base import DataError
from verulam.kernel import FactorGrid, Gaussian, SupportVectorClassifier, factor_grid
from verulam.plots import factor_map

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] * X[:, 1] + 0.2 * RNG.normal(size=60) > 0).astype(int)
MACHINE = SupportVectorClassifier(kernel=Gaussian(1.0))


def test_cells_hold_the_scores_and_the_best_is_framed():
    grid = factor_grid(MACHINE, X, Y, {"C": [0.1, 1.0, 10.0], "width": [0.3, 1.0]}, n_folds=3)
    ax = factor_map(grid)
    cells = {text.get_position(): text.get_text() for text in ax.texts}
    for setting, scores in zip(grid.settings, grid.scores, strict=True):
        place = [0.3, 1.0].index(setting["width"]), [0.1, 1.0, 10.0].index(setting["C"])
        assert cells[place] == f"{scores.mean():.3f}"
    column, row = (round(edge + 0.5) for edge in ax.patches[0].get_xy())
    framed = {"C": [0.1, 1.0, 10.0][row], "width": [0.3, 1.0][column]}
    assert framed == grid.best
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0.1", "1", "10"]


def test_one_factor_is_a_curve_over_the_best_of_the_others():
    grid = factor_grid(MACHINE, X, Y, {"C": [0.1, 1.0, 10.0], "width": [0.3, 1.0]}, n_folds=3)
    ax = factor_map(grid, factors=["C"])
    heights = ax.lines[0].get_ydata()
    table = grid.table()
    assert heights == pytest.approx(table.groupby("C")["score"].max().to_numpy())
    assert ax.get_xscale() == "log"
    swapped = factor_map(grid, factors=["width", "C"])
    assert (swapped.get_xlabel(), swapped.get_ylabel()) == ("C", "width")


def test_words_and_refusals():
    settings = [{"strategy": name} for name in ("pairwise", "one_vs_all")]
    grid = FactorGrid(
        MACHINE,
        {"strategy": ["pairwise", "one_vs_all"]},
        settings,
        np.array([[0.8], [0.9]]),
        np.array([0.5, 0.4]),
        {},
    )
    labels = [label.get_text() for label in factor_map(grid).get_xticklabels()]
    assert labels == ["pairwise", "one_vs_all"]
    nu = SupportVectorClassifier(form="nu")
    labels = np.where(np.arange(60) < 45, 0, 1)
    refused = factor_grid(nu, X, labels, {"nu": [0.2, 0.9], "width": [1.0]}, n_folds=3)
    texts = [text for text in factor_map(refused).texts if text.get_text() == "refused"]
    assert len(texts) == 1
    assert colors.same_color(texts[0].get_color(), "black")


def test_refused_factors():
    grid = factor_grid(MACHINE, X, Y, {"C": [1.0]}, n_folds=3)
    with pytest.raises(DataError, match="one or two of C; got width"):
        factor_map(grid, factors=["width"])
