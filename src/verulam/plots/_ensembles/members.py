"""Members in pictures: majorities, codes, diversity, coverage of a cascade, loadings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.ensemble import Coverage, Diversity, EigenLearners, majority_probability
from verulam.plots._style import annotate_apart, axes_or_new, colour, line, marker, place_legend


def majority_curves(
    p: Sequence[float] = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4),
    *,
    max_members: int = 25,
    ax: Axes | None = None,
) -> Axes:
    """Draw how probable it is that a majority is right, by the number of independent learners.

    Parameters
    ----------
    p
        Probabilities that one learner is right.
    max_members
        Largest number of learners; only odd numbers are drawn.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.13 (fig. 17.6).

    Examples
    --------
    >>> from verulam.plots import majority_curves
    >>> axes = majority_curves([0.6], max_members=5)
    >>> axes.lines[0].get_ydata().round(3)
    array([0.6  , 0.648, 0.683])
    """
    ax = axes_or_new(ax, 6.4, 4.0)
    counts = np.arange(1, max_members + 1, 2)
    for place, chance in enumerate(p):
        ax.plot(
            counts, majority_probability(chance, counts), line(place), color=colour(place),
            marker=marker(place), markersize=3.5, label=f"p = {chance:g}",
        )  # fmt: skip
    ax.set(xlabel="learners", ylabel="majority is right", ylim=(0, 1.03))
    place_legend(ax, beside=True)
    return ax


def code_map(codes: ArrayLike, classes: Sequence[Any] = (), *, ax: Axes | None = None) -> Axes:
    """Draw a code matrix: the classes of 1, of -1, and those that take no part.

    Parameters
    ----------
    codes
        Code matrix, a row for each class.
    classes
        Names of the classes.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.5.

    Examples
    --------
    >>> from verulam.ensemble import output_code
    >>> from verulam.plots import code_map
    >>> axes = code_map(output_code(4, "one_vs_one"), list("abcd"))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['a', 'b', 'c', 'd']
    """
    matrix = np.asarray(codes, dtype=np.float64)
    if matrix.ndim != 2:
        raise DataError("codes must be a matrix with a row for each class.")
    n_classes, n_columns = matrix.shape
    ax = axes_or_new(ax, 0.32 * n_columns + 1.8, 0.32 * n_classes + 1.2)
    limit = max(1.0, float(np.abs(matrix).max()))
    # The ends of the scale are nearly black.
    ax.imshow(matrix, cmap="RdBu", vmin=-1.4 * limit, vmax=1.4 * limit, aspect="equal")
    for (row, column), value in np.ndenumerate(matrix):
        sign = "+" if value > 0 else "−" if value < 0 else "0"
        shade = "white" if abs(value) > 0.6 * limit else "0.35"
        ax.text(column, row, sign, ha="center", va="center", color=shade, fontsize=8)
    names = [str(name) for name in classes] or [str(row + 1) for row in range(n_classes)]
    ax.set_yticks(range(n_classes), names)
    ax.set_xticks(range(n_columns), [str(column + 1) for column in range(n_columns)], fontsize=7)
    ax.set(xlabel="two-class problem", ylabel="class")
    ax.tick_params(length=0)
    return ax


def kappa_error(report: Diversity, *, ax: Axes | None = None) -> Axes:
    """Draw every pair of members by how alike their answers are and how much they err.

    Parameters
    ----------
    report
        What `verulam.ensemble.diversity` returned.
    ax
        Axes to draw on.

    Notes
    -----
    Good pairs lie to the left, diverse, and low, accurate; there are never any in the corner
    (Margineantu and Dietterich 1997). See Alpaydin 17.12.

    Examples
    --------
    >>> from verulam.ensemble import diversity
    >>> from verulam.plots import kappa_error
    >>> report = diversity([[0, 1, 1], [0, 0, 1], [1, 1, 1]], [0, 1, 1])
    >>> len(kappa_error(report).collections[0].get_offsets())
    3
    """
    pairs = report.to_frame()
    if not len(pairs):
        raise DataError("A pair of members is needed; the report has one member.")
    ax = axes_or_new(ax, 5.6, 4.2)
    ax.scatter(pairs["kappa"], pairs["mean_error"], s=22, color=colour(0), alpha=0.7, linewidths=0)
    ax.set(xlabel="kappa: agreement of a pair", ylabel="mean error of the pair")
    if len(pairs) <= 10:
        ax.margins(0.4, 0.15)
        names = [", ".join(map(str, pair)) for pair in pairs.index]
        annotate_apart(ax, pairs[["kappa", "mean_error"]].to_numpy(), names, 7.0)
    return ax


def cascade_coverage(coverage: Coverage, *, ax: Axes | None = None) -> Axes:
    """Draw how many rows each stage of a cascade answers, with its error and cost.

    Parameters
    ----------
    coverage
        What `CascadeClassifier.coverage` returned.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.11.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.ensemble import Coverage
    >>> from verulam.plots import cascade_coverage
    >>> coverage = Coverage(("first", "second"), np.array([0.8, 0.2]), np.array([0.1, np.nan]),
    ...                     np.array([1.0, 3.0]))
    >>> cascade_coverage(coverage).get_title()
    'mean cost 1.40'
    """
    ax = axes_or_new(ax, 6.2, 0.55 * len(coverage.names) + 1.3)
    places = np.arange(len(coverage.names))
    ax.barh(places, coverage.shares, color=colour(0), height=0.6)
    for place, (share, error, cost) in enumerate(
        zip(coverage.shares, coverage.errors, coverage.costs, strict=True)
    ):
        wrong = "" if np.isnan(error) else f"error {error:.3f}, "
        ax.text(share + 0.01, place, f"{share:.0%}: {wrong}cost {cost:g}", va="center", fontsize=8)
    ax.set_yticks(places, coverage.names)
    ax.invert_yaxis()
    ax.set(xlabel="share of rows", xlim=(0, 1.4), title=f"mean cost {coverage.cost:.2f}")
    ax.set_xticks(np.linspace(0, 1, 6))
    return ax


def eigenlearner_map(model: EigenLearners, *, ax: Axes | None = None) -> Axes:
    """Draw what each output of each member adds to each eigenlearner.

    Parameters
    ----------
    model
        Fitted `EigenLearners` with principal components.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.10.2.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import EigenLearners
    >>> from verulam.plots import eigenlearner_map
    >>> iris = dataset("iris")
    >>> eigen = EigenLearners(n_components=2, random_state=0)
    >>> axes = eigenlearner_map(eigen.fit(iris.inputs, iris.target_values))
    >>> len(axes.get_yticklabels())
    9
    """
    if model.loadings_ is None:
        raise DataError("There are no loadings to draw: the model has an extractor of its own.")
    n_outputs, n_components = model.loadings_.shape
    ax = axes_or_new(ax, 0.8 * n_components + 3.2, 0.28 * n_outputs + 1.2)
    limit = float(np.abs(model.loadings_).max())
    image = ax.imshow(model.loadings_, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="loading")
    shares = model.variances_ / model.variances_.sum()
    names = [f"{number + 1}\n({share:.0%})" for number, share in enumerate(shares)]
    ax.set_xticks(range(n_components), names)
    ax.set_yticks(range(n_outputs), model.output_names_, fontsize=8)
    ax.set_xlabel("eigenlearner (share of the variance)")
    ax.tick_params(length=0)
    return ax
