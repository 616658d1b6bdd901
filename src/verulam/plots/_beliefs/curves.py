"""Bayesian estimation: beliefs before and after data, bands of predictions, evidence of models."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from verulam.base import DataError, check_is_fitted
from verulam.bayes import BetaBernoulli, MultivariateNormal
from verulam.plots._style import axes_or_new, by_name, colour, line, place_legend, tint

POINTS = 400
#: Share of the probability that a curve shows.
_SHOWN = 0.999


def distribution_curves(
    distributions: Mapping[str, Any] | Any,
    *,
    points: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the densities of distributions of one number.

    Parameters
    ----------
    distributions
        One distribution of `verulam.bayes`, or several by name.
    points
        Where to draw them; the range that holds nearly all of their probability if None.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.bayes import Beta
    >>> from verulam.plots import distribution_curves
    >>> axes = distribution_curves({"6 of 10": Beta(6, 4), "60 of 100": Beta(60, 40)})
    >>> axes.get_legend_handles_labels()[1]
    ['6 of 10', '60 of 100']
    """
    named = by_name(distributions)
    if not named or not all(hasattr(one, "interval") for one in named.values()):
        raise DataError("distributions must be distributions of one number, such as Beta(2, 3).")
    grid = _range_of(list(named.values())) if points is None else np.asarray(points, dtype=float)
    ax = axes_or_new(ax)
    for code, (name, one) in enumerate(named.items()):
        ax.plot(grid, one.density(grid), line(code), color=colour(code), label=name or None)
    ax.set(ylabel="density", ylim=(0.0, None))
    place_legend(ax)
    return ax


def posterior_curves(
    family: Any, data: ArrayLike, *, predictive: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw prior, likelihood and posterior of a parameter of one number.

    Parameters
    ----------
    family
        A conjugate family of `verulam.bayes` before the data.
    data
        The data.
    predictive
        Whether to draw the distribution of the next observation as well.
    ax
        Axes to draw on.

    Notes
    -----
    The likelihood is scaled to an area of one. See Alpaydin figures 16.2 and 16.3.

    Examples
    --------
    >>> from verulam.bayes import GaussianMean
    >>> from verulam.plots import posterior_curves
    >>> axes = posterior_curves(GaussianMean(4.0, 0.64, 2.25), [6.1, 5.2, 7.0])
    >>> axes.get_legend_handles_labels()[1]
    ['prior', 'likelihood', 'posterior']
    """
    posterior = family.posterior(data)
    curves = {"prior": family.distribution, "posterior": posterior.distribution}
    if not hasattr(curves["prior"], "interval"):
        raise DataError("family must have a parameter of one number, such as GaussianMean.")
    if predictive:
        curves["next observation"] = posterior.predictive
    grid = _range_of(list(curves.values()))
    if isinstance(family, BetaBernoulli):
        grid = np.linspace(0.0, 1.0, POINTS + 2)[1:-1]
    ax = distribution_curves(curves, points=grid, ax=ax)
    heights = np.array([family.log_likelihood(point, data) for point in grid])
    likelihood = np.exp(heights - heights.max())
    likelihood /= np.trapezoid(likelihood, grid)
    ax.plot(grid, likelihood, ":", color="0.35", label="likelihood")
    # In the order of the story: what was believed, what came, what is believed now.
    order = sorted(ax.lines, key=lambda curve: _ORDER.index(str(curve.get_label())))
    for curve in order:
        curve.remove()
        ax.add_line(curve)
    highest = max(float(np.max(curve.get_ydata())) for curve in order)
    ax.set_ylim(0.0, 1.06 * highest)
    place_legend(ax)
    return ax


_ORDER = ("prior", "likelihood", "posterior", "next observation")


def predictive_band(
    learner: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    level: float | None = None,
    n_functions: int = 0,
    points: ArrayLike | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean of a regressor of one input, its error bars, and functions that are drawn.

    Parameters
    ----------
    learner
        A fitted regressor of `verulam.bayes` with `predict_distribution`.
    X
        Inputs, in one column; they set the range.
    y
        Targets; the points are drawn if given.
    level
        Level of the band; one standard deviation to either side if None.
    n_functions
        Number of functions drawn from the posterior, as thin lines.
    points
        Where to draw; a grid over the range of `X` and a little beyond if None.
    random_state
        Seed of the functions.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figures 16.4-16.6, 16.10 and 16.11.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianLinearRegression
    >>> from verulam.plots import predictive_band
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> line = BayesianLinearRegression().fit(X, X[:, 0] + [0.1, -0.1, 0.1] * 3)
    >>> predictive_band(line, X, n_functions=3).get_legend_handles_labels()[1]
    ['mean', 'one standard deviation', 'drawn functions']
    """
    check_is_fitted(learner)
    inputs = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
    if inputs.shape[1] != 1:
        raise DataError(f"X must have one column to be drawn along; it has {inputs.shape[1]}.")
    if points is None:
        margin = 0.08 * float(np.ptp(inputs)) or 1.0
        grid = np.linspace(inputs.min() - margin, inputs.max() + margin, POINTS)
    else:
        grid = np.asarray(points, dtype=np.float64)
    table = _like(X, grid)
    predictions = learner.predict_distribution(table)
    if level is None:
        lower, upper = predictions.mean - predictions.std, predictions.mean + predictions.std
        label = "one standard deviation"
    else:
        ends = predictions.interval(level)
        lower, upper, label = ends.lower, ends.upper, f"{level:.0%} interval"
    ax = axes_or_new(ax)
    if y is not None:
        ax.plot(inputs[:, 0], np.asarray(y), "o", color="0.45", markersize=3.5, zorder=3)
    ax.plot(grid, predictions.mean, color=colour(0), linewidth=2.0, label="mean", zorder=4)
    ax.fill_between(grid, lower, upper, color=tint(0, 0.25), linewidth=0, label=label, zorder=1)
    if n_functions:
        values = learner.sample_functions(table, n_functions, random_state)
        for count, row in enumerate(values):
            name = None if count else "drawn functions"
            ax.plot(grid, row, color="0.5", linewidth=0.7, label=name, zorder=2)
    ax.set(xlabel=str(getattr(X, "columns", ["x"])[0]), ylabel=str(getattr(y, "name", None) or "y"))
    place_legend(ax)
    return ax


def weight_density(
    learner: Any, *, weights: tuple[int, int] = (0, 1), prior: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw the density of two weights of a Bayesian linear regression as contours.

    Parameters
    ----------
    learner
        A fitted `BayesianLinearRegression`.
    weights
        Positions of the two weights.
    prior
        Whether to draw the prior instead of the posterior.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figure 16.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianLinearRegression
    >>> from verulam.plots import weight_density
    >>> X = np.column_stack([np.ones(9), np.linspace(0.0, 1.0, 9)])
    >>> line = BayesianLinearRegression(fit_intercept=False).fit(X, X[:, 1])
    >>> weight_density(line).get_xlabel()
    '$w_0$'
    """
    check_is_fitted(learner, ["covariance_", "prior_precision_"])
    if len(learner.coef_) < 2 or len(weights) != 2 or max(weights) >= len(learner.coef_):
        raise DataError(
            f"weights must be two positions among the {len(learner.coef_)} weights of the learner."
        )
    places = list(weights)
    mean, covariance = learner.coef_[places], learner.covariance_[np.ix_(places, places)]
    if prior:
        mean, covariance = np.zeros(2), np.eye(2) / learner.prior_precision_
    reach = 3.2 * np.sqrt(np.diagonal(covariance))
    axes = [
        np.linspace(centre - width, centre + width, 80)
        for centre, width in zip(mean, reach, strict=True)
    ]
    first, second = np.meshgrid(*axes)
    heights = MultivariateNormal(mean, covariance).density(np.dstack([first, second]))
    ax = axes_or_new(ax)
    # Where there is next to nothing there is no colour, so that the grid's edge is not seen.
    ax.contourf(
        first, second, heights, levels=np.linspace(0.03, 1.0, 8) * heights.max(), cmap="Blues"
    )
    ax.plot(*mean, "+", color=colour(1), markersize=9)
    ax.set(xlabel=f"$w_{places[0]}$", ylabel=f"$w_{places[1]}$")
    return ax


def evidence_curve(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw likelihood, criteria and evidence of models of growing size.

    Parameters
    ----------
    table
        What `verulam.bayes.compare_models` returns.
    ax
        Axes to draw on.

    Notes
    -----
    The likelihood never falls as a model grows, evidence has a peak. See Alpaydin figure 16.8 and
    Bartkowiak figure 7.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianLinearRegression, compare_models
    >>> from verulam.plots import evidence_curve
    >>> X = np.linspace(-1.0, 1.0, 20)[:, None]
    >>> y = X[:, 0] ** 2 + np.random.default_rng(1).normal(scale=0.1, size=20)
    >>> models = {degree: BayesianLinearRegression(degree=degree) for degree in (1, 2, 3)}
    >>> evidence_curve(compare_models(models, X, y)).get_legend_handles_labels()[1]
    ['log-likelihood', 'BIC', 'log-evidence', 'most evident: 2']
    """
    curves = {"log_likelihood": "log-likelihood", "bic": "BIC", "log_evidence": "log-evidence"}
    missing = [name for name in curves if name not in getattr(table, "columns", ())]
    if missing:
        raise DataError(f"table must be one of compare_models; it has no column {missing[0]!r}.")
    ax = axes_or_new(ax)
    places = np.arange(len(table))
    for code, (name, label) in enumerate(curves.items()):
        ax.plot(places, table[name], line(code), marker="o", color=colour(code), label=label)
    best = int(np.argmax(table["log_evidence"]))
    ax.axvline(
        best, color="0.4", linewidth=1.0, linestyle=":", label=f"most evident: {table.index[best]}"
    )
    ax.set_xticks(places, [str(name) for name in table.index])
    ax.set(xlabel="model", ylabel="logarithm")
    place_legend(ax)
    return ax


def evidence_over_data(families: Mapping[str, Any], n: int = 20, *, ax: Axes | None = None) -> Axes:
    """Draw how models spread their probability over all data sets that could have come.

    Parameters
    ----------
    families
        Conjugate families of zeros and ones (`BetaBernoulli`) by name.
    n
        Number of observations; data sets differ in how many of them are ones.
    ax
        Axes to draw on.

    Notes
    -----
    Each curve sums to one: a flexible model gives every data set a little, a simple one gives much
    to few, and is the more probable where those come. See Alpaydin figure 16.7.

    Examples
    --------
    >>> from verulam.bayes import BetaBernoulli
    >>> from verulam.plots import evidence_over_data
    >>> models = {"any coin": BetaBernoulli(1, 1), "a nearly fair coin": BetaBernoulli(50, 50)}
    >>> evidence_over_data(models, 10).get_xlabel()
    'number of ones among 10'
    """
    ax = axes_or_new(ax)
    ones = np.arange(n + 1)
    for code, (name, family) in enumerate(by_name(families).items()):
        if not isinstance(family, BetaBernoulli):
            raise DataError("families must be of the kind BetaBernoulli.")
        heights = [family.log_evidence([1] * count + [0] * (n - count)) for count in ones]
        # So many sequences have the same number of ones.
        orders = np.array([_log_binomial(n, int(count)) for count in ones])
        ax.plot(
            ones, np.exp(heights + orders), line(code), marker=".", color=colour(code), label=name
        )
    ax.set(xlabel=f"number of ones among {n}", ylabel="evidence")
    # Room for the legend above the highest curve.
    ax.set_ylim(0.0, 1.4 * max(float(np.max(curve.get_ydata())) for curve in ax.lines))
    place_legend(ax)
    return ax


def _log_binomial(n: int, count: int) -> float:
    return float(
        np.log(np.arange(count + 1, n + 1)).sum() - np.log(np.arange(1, n - count + 1)).sum()
    )


def _range_of(distributions: list[Any]) -> np.ndarray:
    """Return points over the range that holds nearly all probability of distributions."""
    ends = np.array([one.interval(_SHOWN) for one in distributions])
    return np.linspace(ends[:, 0].min(), ends[:, 1].max(), POINTS)


def _like(X: Any, grid: np.ndarray) -> Any:
    """Return points as a table with the names of `X`, where it has any."""
    if hasattr(X, "columns"):
        return pd.DataFrame({X.columns[0]: grid})
    return grid[:, None]
