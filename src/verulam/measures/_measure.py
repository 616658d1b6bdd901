"""The record that makes a function a measure: direction, range and what it needs."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError

Task = Literal["classification", "regression", "density", "clustering", "control"]
Needs = Literal[
    "labels", "probabilities", "scores", "values", "intervals", "predictive densities",
    "log densities", "silhouettes", "two clusterings", "returns", "learning curves",
]  # fmt: skip
RESPONSES: dict[str, tuple[str, ...]] = {
    "labels": ("predict",),
    "values": ("predict",),
    "probabilities": ("predict_proba",),
    "scores": ("decision_function", "predict_proba"),
    "log densities": ("score_samples",),
}


@dataclass(frozen=True)
class Measure:
    """A response of an experiment: how predictions are scored, and which way is better.

    Parameters
    ----------
    name
        Name by which `measure` finds it.
    title
        Name for people.
    task
        ``"classification"``, ``"regression"``, ``"density"``, ``"clustering"`` or ``"control"``.
    greater_is_better
        Direction.
    range
        Smallest and largest possible value.
    needs
        What it scores: ``"labels"``, ``"probabilities"``, ``"scores"``, ``"values"``,
        ``"intervals"``, ``"predictive densities"``, ``"log densities"``, ``"silhouettes"``,
        ``"two clusterings"``, ``"returns"`` or ``"learning curves"``.
    function
        Called as ``function(y_true, prediction, **options)``.
    perfect
        Value of a faultless prediction.
    formula, citation
        How it is computed and where the text defines it.
    options
        Keyword arguments fixed for this measure, such as a loss matrix.
    rows
        Called as `function` is, it returns what each row contributes, where the measure is the
        mean over the rows; None where it is not.
    root
        Whether the measure is the square root of that mean.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> recall = measure("recall")
    >>> recall.name, recall.greater_is_better, recall.range
    ('tp_rate', True, (0.0, 1.0))
    >>> recall(["no", "yes", "yes"], ["no", "no", "yes"], positive="yes")
    0.5
    """

    name: str
    title: str
    task: Task
    greater_is_better: bool
    range: tuple[float, float]
    needs: Needs
    function: Callable[..., float]
    perfect: float
    formula: str = ""
    citation: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    rows: Callable[..., NDArray[np.float64]] | None = None
    root: bool = False

    def __call__(
        self,
        y_true: ArrayLike,
        prediction: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        positive: Any = None,
        average: str | None = None,
    ) -> float:
        """Score a prediction; labels, positive and average matter only where they make sense."""
        accepted = self._accepted
        options: dict[str, Any] = {"labels": labels, "positive": positive, "average": average}
        context = {
            name: value for name, value in options.items() if value is not None and name in accepted
        }
        if sample_weight is not None:
            if "sample_weight" not in accepted:
                raise DataError(f"The measure {self.name!r} takes no sample_weight.")
            context["sample_weight"] = sample_weight
        return self.function(y_true, prediction, **{**context, **self.options})

    @property
    def takes_weights(self) -> bool:
        """Whether rows may count more or less than one another."""
        return "sample_weight" in self._accepted

    def weighted(
        self,
        y_true: ArrayLike,
        prediction: ArrayLike,
        weights: NDArray[np.float64] | None,
        *,
        labels: Sequence[Any] | None = None,
    ) -> float:
        """Score rows by their weights, where there are some and the measure takes them.

        Parameters
        ----------
        y_true, prediction
            As the measure takes them; numbers may have several columns, over which is averaged.
        weights
            What each row counts; None for all the same. Where all are 0 the score is NaN.
        labels
            Classes, in the order of the columns of probabilities.

        Examples
        --------
        >>> from verulam.measures import measure
        >>> measure("error").weighted(["a", "b"], ["a", "a"], np.array([3.0, 1.0]))
        0.25
        """
        if np.ndim(y_true) == 2:
            return self._over_outputs(np.asarray(y_true), np.asarray(prediction), weights)
        if weights is None or not self.takes_weights:
            return float(self(y_true, prediction, labels=labels))
        if not weights.any():
            return float("nan")
        return float(self(y_true, prediction, labels=labels, sample_weight=weights))

    def _over_outputs(
        self,
        y_true: NDArray[np.float64],
        prediction: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> float:
        """Score several outputs: losses are averaged over them, other measures taken of each."""
        if self.rows is None:
            columns = zip(y_true.T, prediction.T, strict=True)
            return float(np.mean([self.weighted(*column, weights) for column in columns]))
        losses = self.row_losses(y_true, prediction)
        if weights is None or not self.takes_weights:
            return self.from_mean(float(losses.mean()))
        total = float(weights.sum())
        return self.from_mean(float(losses @ weights) / total) if total else float("nan")

    def row_losses(
        self, y_true: ArrayLike, prediction: ArrayLike, *, labels: Sequence[Any] | None = None
    ) -> NDArray[np.float64]:
        """Return what each row contributes to the measure, which is their mean.

        Two learners are compared on the same instances by a paired test on these numbers, with
        the losses of a cost matrix as well as with errors (Alpaydin 19.15).

        Parameters
        ----------
        y_true, prediction
            As the measure takes them.
        labels
            Classes, in the order of the columns of probabilities.

        Examples
        --------
        >>> from verulam.measures import measure
        >>> risk = measure("risk", loss=[[0, 10], [1, 0]])
        >>> risk.row_losses(["ill", "well", "ill"], ["ill", "ill", "well"]).tolist()
        [0.0, 10.0, 1.0]
        """
        if self.rows is None:
            raise DataError(f"The measure {self.name!r} is not a mean over the rows.")
        if self.task == "regression" and np.ndim(y_true) == 2:
            columns = zip(np.transpose(y_true), np.transpose(prediction), strict=True)
            return np.mean([self.row_losses(*column) for column in columns], axis=0)
        context = {"labels": labels} if labels is not None and "labels" in self._accepted else {}
        return self.rows(y_true, prediction, **{**context, **self.options})

    def from_mean(self, mean: float) -> float:
        """Return the value of the measure where `row_losses` have this mean."""
        return float(np.sqrt(mean)) if self.root else float(mean)

    @property
    def _accepted(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function).parameters

    @classmethod
    def from_function(
        cls,
        function: Callable[..., float],
        *,
        greater_is_better: bool,
        task: Task = "classification",
        needs: Needs | None = None,
        name: str | None = None,
        range: tuple[float, float] = (-np.inf, np.inf),  # noqa: A002 - the field's name
        perfect: float | None = None,
        rows: Callable[..., NDArray[np.float64]] | None = None,
    ) -> "Measure":
        """Make a measure of your own function ``f(y_true, prediction)``.

        Parameters
        ----------
        function
            Returns one number.
        greater_is_better
            Direction; it cannot be guessed.
        task, needs, name, range, perfect, rows
            Fields of the record; labels or values by task, the function's name, and the better
            end of the range when not given.
        """
        low, high = range
        called = name or str(getattr(function, "__name__", "function"))
        return cls(
            name=called,
            title=called.replace("_", " "),
            task=task,
            greater_is_better=greater_is_better,
            range=(float(low), float(high)),
            needs=needs or ("labels" if task == "classification" else "values"),
            function=function,
            perfect=float((high if greater_is_better else low) if perfect is None else perfect),
            rows=rows,
        )

    def with_options(self, **options: Any) -> "Measure":
        """Return the measure with keyword arguments fixed, which its name then shows."""
        accepted = self._accepted
        for option in options:
            if option not in accepted:
                raise TypeError(
                    f"The measure {self.name!r} has no option {option!r}; it takes "
                    f"{', '.join(list(accepted)[2:])}."
                )
        shown = ", ".join(f"{key}={shown_value(value)}" for key, value in options.items())
        name = f"{self.name}({shown})" if options else self.name
        return replace(self, name=name, options={**self.options, **options})

    def is_better(self, first: float, second: float) -> bool:
        """Say whether the value `first` is strictly better than `second`."""
        return first > second if self.greater_is_better else first < second


def shown_value(value: Any) -> str:
    """Return a short text for an option."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)


@dataclass(frozen=True)
class MeasureScorer:
    """A scikit-learn scorer: larger is better, so the value of a loss is negated.

    Parameters
    ----------
    measure
        What is computed.

    Notes
    -----
    The columns of probabilities are those of the fitted estimator's ``classes_``, so that a
    test part which lacks a class is scored rightly.
    """

    measure: Measure

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the signed value of the measure for a fitted estimator."""
        measure = self.measure
        if measure.needs not in RESPONSES:
            raise TypeError(f"The measure {measure.name!r} needs {measure.needs}: run a study.")
        methods = RESPONSES[measure.needs]
        method = next((name for name in methods if hasattr(estimator, name)), None)
        if method is None:
            raise TypeError(
                f"The measure {measure.name!r} needs {' or '.join(methods)}, which "
                f"{type(estimator).__name__} does not have."
            )
        prediction = getattr(estimator, method)(X)
        columns = measure.needs in ("probabilities", "scores")
        labels = list(estimator.classes_) if columns else None
        value = measure(y_true, prediction, labels=labels, sample_weight=sample_weight)
        return value if measure.greater_is_better else -value
