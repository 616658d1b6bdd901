"""Learners whose training pass is a sum over the data: one definition, three scales."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base._chunks import Chunk, MemorySource, Source, open_source
from verulam.base._protocol import (
    InSteps,
    check_weights,
    checked_fit,
    clone,
    is_classifier,
    is_regressor,
    validate_data,
)
from verulam.base._records import ByClass
from verulam.base._targets import encode_classes, numeric_targets


class Additive(ABC):
    """Mixin: `fit` sums records over chunks, then turns the sum into parameters.

    A learner defines `_statistics` and `_update`, and `_store` where its parameters are more
    than fitted attributes by name. `fit` then takes

    - arrays and tables in memory,
    - an iterator of chunks ``X``, ``(X, y)`` or ``(X, y, sample_weight)``, or a callable that
      returns one: constant memory,
    - Dask arrays and DataFrames: a tree reduction on the active client.

    """

    @abstractmethod
    def _statistics(self, chunk: Chunk, parameters: Any) -> Any:
        """Return the record of one chunk under the present parameters (None in a first pass)."""

    @abstractmethod
    def _update(self, statistics: Any) -> Any:
        """Return the parameters that the summed records give."""

    def _store(self, parameters: Any) -> None:
        """Set the fitted attributes: by default the fields of `parameters`, with an underscore."""
        for name, value in vars(parameters).items():
            setattr(self, f"{name}_", value)

    @checked_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from an array, a table, a stream of chunks or a Dask collection."""
        self._learn(self._open(X, y, sample_weight))
        return self

    @abstractmethod
    def _learn(self, source: Source) -> None:
        """Pass over the source as often as it takes."""

    def _total(self, source: Source, parameters: Any) -> Any:
        return source.total(partial(self._unfitted()._statistics, parameters=parameters))

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Source:
        if hasattr(X, "__dask_graph__"):
            # Blocks are checked on the workers; names and width are known here already.
            width = X._meta if hasattr(X, "columns") else np.empty((1, X.shape[1]))
            validate_data(self, width, skip_check_array=True)
            return open_source(X, y, sample_weight, self._unfitted()._prepare)
        source = open_source(X, y, sample_weight, self._prepare)
        if isinstance(source, MemorySource):
            _refuse_weightless(source.data)
        return source

    def _unfitted(self) -> Self:
        # Statistics depend on constructor arguments only; a clone is small enough to send.
        return clone(self)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> Chunk:
        """Check and encode one piece of data."""
        inputs = self._check_inputs(X, reset)
        targets = classes = None
        if is_classifier(self):
            targets, classes = encode_classes(self, y)
        elif is_regressor(self):
            targets = numeric_targets(self, y)
        if targets is not None and len(targets) != len(inputs):
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"X has {len(inputs)} rows and y has {len(targets)}."
            )
        return Chunk(inputs, targets, check_weights(sample_weight, inputs), classes)

    def _check_inputs(self, X: Any, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=np.float64, order="C")


@dataclass
class EMRun:
    """A run of passes from one start.

    Attributes
    ----------
    parameters
        Those that the last update gave.
    curve
        The objective of the parameters before each update.
    converged
        Whether the last pass raised the objective too little to go on.
    statistics
        The sum that the last pass gave.
    notes
        What to warn of if this run is the one that is taken.
    """

    parameters: Any
    curve: list[float] = field(default_factory=list)
    converged: bool = False
    statistics: Any = None
    notes: list[str] = field(default_factory=list)


class ManyPasses(InSteps, Additive):
    """Mixin: passes are repeated until the objective settles, as in EM.

    The learner has the parameters `max_iter` and `tol`, and defines `_objective`, and `_start`
    for a single run. One with several starts, or whose updates need mending, such as a state
    that no data is left for, calls `_run` and `_conclude` from a `_learn` of its own.
    """

    max_iter: int
    tol: float

    def _start(self, source: Source) -> Any:
        """Return the parameters that the first pass of a single run is made under."""
        raise NotImplementedError

    @abstractmethod
    def _objective(self, statistics: Any) -> float:
        """Return what the passes raise, for the parameters that gave these statistics."""

    def _least_gain(self, statistics: Any) -> float:
        """Return the rise of the objective from which on another pass is made."""
        return self.tol

    def _learn(self, source: Source) -> None:
        self._conclude([self._run(source, self._start(source))])

    def _run(
        self, source: Source, parameters: Any, revise: Callable[[EMRun], None] | None = None
    ) -> EMRun:
        """Return the passes from one start.

        Parameters
        ----------
        source
            The data.
        parameters
            Those of the first pass.
        revise
            Called after each update; it may change the run's parameters, note what it did, and
            clear the curve, which what comes after must not be compared with.
        """
        run = EMRun(parameters)
        for _ in self._steps(range(self.max_iter), "pass", self.max_iter):
            run.statistics = self._total(source, run.parameters)
            run.parameters = self._update(run.statistics)
            run.curve.append(self._objective(run.statistics))
            if revise is not None:
                revise(run)
            if len(run.curve) > 1:
                gain = run.curve[-1] - run.curve[-2]
                if gain <= self._least_gain(run.statistics):
                    run.converged = True
                    break
        return run

    def _conclude(self, runs: Iterable[EMRun]) -> EMRun:
        """Take on the run that ended highest, the first of equals, and return it."""
        # A curve is empty where the last pass of all was followed by a revision that cleared it.
        best = max(runs, key=lambda run: run.curve[-1] if run.curve else -np.inf)
        self.objective_curve_ = best.curve
        self.converged_ = best.converged
        self.n_iter_ = len(best.curve)
        if not best.converged:
            warnings.warn(
                f"{type(self).__name__} had not converged after max_iter={self.max_iter} passes; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self._store(best.parameters)
        return best


class OnePass(Additive):
    """Mixin: one pass is enough, so the sum can be kept and added to later."""

    @checked_fit
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from further rows; the order in which rows arrive does not matter."""
        self._learn_more(self._more(X, y, sample_weight))
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any) -> Any:
        first = not hasattr(self, "statistics_")
        chunk = self._prepare(X, y, sample_weight, first)
        _refuse_weightless(chunk)
        return self._total(MemorySource(chunk), None)

    def _learn_more(self, statistics: Any) -> None:
        if hasattr(self, "statistics_"):
            statistics = self.statistics_ + statistics
        self._adopt(statistics)

    def _learn(self, source: Source) -> None:
        self._adopt(self._total(source, None))

    def _adopt(self, statistics: Any) -> None:
        self.statistics_ = statistics
        self._store(self._update(statistics))


class OnePassClassifier(OnePass):
    """Mixin: a one-pass learner of classes, whose record is a `ByClass`."""

    @checked_fit
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from further rows, which may bring new classes."""
        statistics = self._more(X, y, sample_weight)
        if classes is not None:
            statistics = statistics.among(np.union1d(classes, statistics.classes))
        self._learn_more(statistics)
        return self

    def _adopt(self, statistics: ByClass[Any]) -> None:
        if len(statistics.classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y needs at least two classes, and there is only one "
                f"class: {statistics.classes[0]}."
            )
        self.classes_ = statistics.classes
        super()._adopt(statistics)


def _refuse_weightless(chunk: Chunk) -> None:
    if chunk.weights is not None and not chunk.weights.any():
        raise ValueError("sample_weight: at least one row needs a weight above zero.")
