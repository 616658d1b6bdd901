"""What a fitted model says of itself: weights, tree or rules, and how it answers to a column."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import BaseDecisionTree

from verulam.experiment._final.insight import plain_figure
from verulam.experiment._preparation.preparation import TABLE_STEP
from verulam.experiment._preparation.table_encoder import TableEncoder

if TYPE_CHECKING:
    from verulam.experiment._final.choice import Rebuilt

#: Weights that are shown, and the lines of a tree or a list of rules.
MOST_WEIGHTS, MOST_LINES = 20, 40
#: Columns, values of each and classes for which answers are shown, and rows that they are means of.
MOST_COLUMNS, MOST_VALUES, MOST_CLASSES, MOST_ROWS = 4, 8, 4, 300
#: Quantiles of a number that the model is asked at.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Of the intervals of weights.
CONFIDENCE = 0.95
#: What the time passed is called, behind the name of a date.
TIME = " (time)"
SECONDS = "_total_seconds"
_SECONDS_IN_LINE = re.compile(rf"(\w+){SECONDS} (<=|>) ([\d.e+-]+\d)")
#: Inputs that mean nothing by themselves: components of texts, places on the circle of a year.
_PARTS = re.compile(r"texts__|.*_circular_[01]$")


@dataclass(frozen=True)
class Coefficient:
    """The weight of an input in a linear model.

    Attributes
    ----------
    column
        The input, as the preparation made it; for several classes also whose weight it is.
    value
        Its weight in the final model.
    low, high
        95 % interval over fits to the training rows of several splits; None for too few.
    """

    column: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Dependence:
    """What a model answers on average where one column has a value and all others are as they are.

    Attributes
    ----------
    column
        The column.
    values
        What was put into it.
    answers
        The mean prediction for each: a number, the probability of a class, or the share of the
        rows that are predicted to be of it.
    label
        The class; None for numbers.
    shares
        Whether the answers are shares of rows, of a learner without probabilities.
    """

    column: str
    values: tuple[Any, ...]
    answers: tuple[float, ...]
    label: Any = None
    shares: bool = False


def innermost(estimator: Any) -> Any:
    """Return the learner itself, without what prepares its inputs or decides by its answers.

    Parameters
    ----------
    estimator
        A fitted learner, perhaps within a pipeline or another one.
    """
    if isinstance(estimator, Pipeline):
        return innermost(estimator.steps[-1][1])
    if isinstance(estimator, TransformedTargetRegressor):
        return innermost(getattr(estimator, "regressor_", estimator.regressor))
    around = hasattr(estimator, "estimator_") and not hasattr(estimator, "estimators_")
    return innermost(estimator.estimator_) if around else estimator


def _pipeline_of(estimator: Any) -> Pipeline | None:
    if isinstance(estimator, Pipeline):
        return estimator
    inner = getattr(estimator, "estimator_", None)
    return None if inner is None else _pipeline_of(inner)


def input_names(estimator: Any, columns: Sequence[str]) -> list[str] | None:
    """Return what the inputs of the learner itself are called; None where that cannot be told.

    They have the step that made them in front, as a `ColumnTransformer` calls them.

    Parameters
    ----------
    estimator
        A fitted learner.
    columns
        Inputs of the table.
    """
    pipeline = _pipeline_of(estimator)
    if pipeline is None or len(pipeline) < 2:
        return list(columns)
    transformer = pipeline[:-1]
    try:
        by_name = isinstance(transformer[0], ColumnTransformer | TableEncoder)
        of_array = None if by_name else list(columns)
        names = transformer.get_feature_names_out(of_array)
    # Steps of others need not name what they make.
    except (AttributeError, ValueError):
        return None
    return list(map(str, names))


def _readable(name: str) -> str:
    """Return the name of an input without the step that made it, and what a date became."""
    # The name of the step comes first; a column may have such a line in its own name.
    name = name.removeprefix(f"{TABLE_STEP}__")
    plain = name.partition("__")[2] or name
    if plain != name and plain.endswith(SECONDS):
        return plain.removesuffix(SECONDS) + TIME
    return plain


def coefficients(
    estimator: Any, refits: Sequence[Any], columns: Sequence[str], test_ratio: float
) -> tuple[Coefficient, ...]:
    """Return the weights of a linear model with intervals over splits, the largest first.

    Parameters
    ----------
    estimator
        The final model.
    refits
        The same learner, fitted to the training rows of several splits.
    columns
        Inputs of the table.
    test_ratio
        Tested rows of a split over those learnt from, which the intervals allow for as the
        corrected resampled t test does.
    """
    final = _weights(estimator, columns)
    if final is None:
        return ()
    table = pd.DataFrame([weights for fit in refits if (weights := _weights(fit, columns))])
    rows = []
    for name, value in final.items():
        draws = table[name].dropna().to_numpy() if name in table else np.empty(0)
        limits: tuple[float | None, float | None] = (None, None)
        if len(draws) > 1:
            spread = np.sqrt((1 / len(draws) + test_ratio) * draws.var(ddof=1))
            half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(draws) - 1) * spread)
            limits = (value - half, value + half)
        rows.append(Coefficient(name, value, *limits))
    return tuple(sorted(rows, key=lambda row: -abs(row.value))[:MOST_WEIGHTS])


def _weights(estimator: Any, columns: Sequence[str]) -> dict[str, float] | None:
    """Return the weight of each input of a linear model; None for others."""
    learner, names = innermost(estimator), input_names(estimator, columns)
    weights = getattr(learner, "coef_", None)
    if weights is None or names is None or not isinstance(weights, np.ndarray):
        return None
    weights = np.atleast_2d(weights)
    if weights.shape[1] != len(names) or weights.ndim != 2:
        return None
    used = [place for place, name in enumerate(names) if not _PARTS.match(name)]
    names, weights = [_readable(names[place]) for place in used], weights[:, used]
    if len(weights) == 1:
        return dict(zip(names, map(float, weights[0]), strict=True))
    labels = getattr(learner, "classes_", range(len(weights)))
    if len(labels) != len(weights):
        return None
    return {
        f"{name} for {label}": float(weight)
        for label, row in zip(labels, weights, strict=True)
        for name, weight in zip(names, row, strict=True)
    }


def model_text(estimator: Any, columns: Sequence[str]) -> str:
    """Return a tree or a list of rules as lines; empty for models that nobody can read.

    Parameters
    ----------
    estimator
        The fitted model.
    columns
        Inputs of the table.
    """
    learner = innermost(estimator)
    rules: Any = getattr(learner, "rules_", None)
    if isinstance(learner, BaseDecisionTree):
        names = input_names(estimator, columns)
        readable = [] if names is None else list(map(_readable, names))
        lines = list(_tree_lines(learner, readable, _scales(estimator))) if readable else []
    elif hasattr(rules, "export_text"):
        lines = rules.export_text().splitlines()
    elif hasattr(learner, "export_text"):
        names = input_names(estimator, columns)
        if names is not None and list(names) != list(columns) and _scales(estimator):
            return ""  # thresholds on a scale that the table has not
        lines = [_with_dates(line) for line in learner.export_text().splitlines()]
    else:
        return ""
    more = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"... and {more} more lines"] if more > 0 else []))


def _scales(estimator: Any) -> dict[str, tuple[float, float]]:
    """Return mean and deviation of the numbers that were scaled, by which thresholds are read."""
    pipeline = _pipeline_of(estimator)
    if pipeline is None:
        return {}
    first = pipeline[0]
    if isinstance(first, TableEncoder):
        names = [*first.numbers, *first.ordered]
        return _pairs(names, getattr(first, "scaler_", None))
    scales: dict[str, tuple[float, float]] = {}
    if isinstance(first, ColumnTransformer):
        made = first.get_feature_names_out()
        for name, transformer, _ in first.transformers_:
            if isinstance(transformer, TableEncoder | Pipeline):
                outputs = [_readable(output) for output in made[first.output_indices_[name]]]
                table = isinstance(transformer, TableEncoder)
                scaler = getattr(transformer, "scaler_", None) if table else transformer[-1]
                scales |= _pairs(outputs, scaler)
    return scales


def _pairs(names: Sequence[str], scaler: Any) -> dict[str, tuple[float, float]]:
    """Return mean and deviation of the columns that a scaler knows, which come first."""
    if not isinstance(scaler, StandardScaler):
        return {}
    pairs = zip(map(float, scaler.mean_), map(float, scaler.scale_), strict=True)
    return dict(zip(names, pairs, strict=False))


def _tree_lines(
    learner: BaseDecisionTree, names: Sequence[str], scales: Mapping[str, tuple[float, float]]
) -> Iterator[str]:
    """Yield the lines of a tree, thresholds in the units of the table."""
    tree = learner.tree_

    def lines(node: int, indent: str) -> Iterator[str]:
        if tree.children_left[node] < 0:
            values = tree.value[node][0]
            if hasattr(learner, "classes_"):
                best = int(np.argmax(values))
                share = values[best] / values.sum()
                answer = f"{learner.classes_[best]} ({share:.0%} of {tree.n_node_samples[node]})"
            else:
                answer = f"{values[0]:.4g} ({tree.n_node_samples[node]} rows)"
            yield f"{indent}{answer}"
            return
        name = names[tree.feature[node]]
        mean, scale = scales.get(name, (0.0, 1.0))
        threshold = _threshold_text(name, float(tree.threshold[node]) * scale + mean)
        yield f"{indent}{name} up to {threshold}:"
        yield from lines(tree.children_left[node], indent + "  ")
        yield f"{indent}{name} above {threshold}:"
        yield from lines(tree.children_right[node], indent + "  ")

    yield from lines(0, "")


def _with_dates(line: str) -> str:
    """Return a line of a tree with days in place of seconds."""
    return _SECONDS_IN_LINE.sub(
        lambda match: f"{match[1]} {match[2]} {pd.Timestamp(float(match[3]), unit='s').date()}",
        line,
    )


def _threshold_text(name: str, threshold: float) -> str:
    if name.endswith(TIME):
        return str(pd.Timestamp(threshold, unit="s").date())
    return plain_figure(threshold)


def dependences(
    rebuilt: "Rebuilt", estimator: Any, columns: Sequence[str]
) -> tuple[Dependence, ...]:
    """Return how the answers of a model change with its most important columns.

    Parameters
    ----------
    rebuilt
        The data of the study.
    estimator
        The final model.
    columns
        Columns, the most important first.

    Notes
    -----
    Friedman's partial dependence: one column is set to a value in all rows, and the answers are
    averaged. It misleads where that makes rows that cannot be.
    """
    classes = rebuilt.classes
    shares = bool(classes) and not hasattr(estimator, "predict_proba")
    rows = rebuilt.development_rows
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    table = rebuilt.planned.inputs
    answered: list[Dependence] = []
    for name in [name for name in columns if _askable(table[name])][:MOST_COLUMNS]:
        values = _values_of(table[name].iloc[rebuilt.development_rows])
        answers = [_mean_answer(rebuilt, estimator, rows, name, value) for value in values]
        shown = tuple(_day(v) if isinstance(v, np.datetime64) else v for v in values)
        records = _records(name, shown, np.array(answers), classes)
        answered += [replace(record, shares=shares) for record in records]
    return tuple(answered)


def _askable(column: pd.Series) -> bool:
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    return is_category or pd.api.types.is_numeric_dtype(column) or column.dtype.kind == "M"


def _day(value: np.datetime64) -> str:
    return str(pd.Timestamp(value).date())


def _values_of(column: pd.Series) -> tuple[Any, ...]:
    """Return the values that a model is asked at: quantiles, or the commonest categories."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        common = column.value_counts().index[:MOST_VALUES].tolist()
        return tuple(value for value in column.cat.categories.tolist() if value in common)
    present = column.dropna()
    if present.dtype.kind == "M":
        times = np.sort(present.to_numpy())
        places = np.quantile(np.arange(len(times)), QUANTILES, method="closest_observation")
        return tuple(np.unique(times[places]))
    if present.nunique() <= MOST_VALUES:
        return tuple(float(value) for value in np.unique(present))
    # Observed values: a whole number stays one.
    return tuple(
        float(value)
        for value in np.unique(np.quantile(present, QUANTILES, method="closest_observation"))
    )


def _mean_answer(
    rebuilt: "Rebuilt", estimator: Any, rows: NDArray[np.intp], name: str, value: Any
) -> NDArray[np.float64]:
    table = rebuilt.planned.inputs.iloc[rows]
    column = table[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        constant: Any = pd.Categorical([value] * len(rows), dtype=column.dtype)
    else:
        constant = np.full(len(rows), value)
    changed = table.assign(**{name: constant})
    inputs = changed.to_numpy(dtype=np.float64) if rebuilt.as_array else changed
    if not rebuilt.classes:
        return np.array([np.mean(estimator.predict(inputs))])
    if not hasattr(estimator, "predict_proba"):
        predicted = np.asarray(estimator.predict(inputs))
        return np.array([np.mean(predicted == label) for label in rebuilt.classes])
    return np.asarray(estimator.predict_proba(inputs)).mean(axis=0)


def _records(
    name: str, values: tuple[Any, ...], answers: NDArray[np.float64], classes: Sequence[Any]
) -> list[Dependence]:
    """Return one record for a number or the second of two classes, else one for each class."""
    if not classes:
        return [Dependence(name, values, tuple(map(float, answers[:, 0])))]
    if answers.shape[1] != len(classes) or not 2 <= len(classes) <= MOST_CLASSES:
        return []
    places = [1] if len(classes) == 2 else range(len(classes))
    return [
        Dependence(name, values, tuple(map(float, answers[:, place])), classes[place])
        for place in places
    ]
