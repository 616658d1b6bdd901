"""Trainers that can go on with every new row."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, checked_fit, generator, validate_data
from verulam.linear._training.single_sample import Corrections, Walker
from verulam.linear._training.trainer import LinearTrainer, check_two_classes
from verulam.linear._training.two_class_problem import Problem, first_weights


class StreamingTrainer(LinearTrainer):
    """A linear trainer whose corrections need one row at a time.

    A subclass defines `_corrections`, and trains with the walker that `_start` gives.
    """

    start: Any
    random_state: Any

    @abstractmethod
    def _corrections(self, problem: Problem) -> Corrections:
        """Return how weights are corrected, given the rows or the first of them."""

    def _start(self, problem: Problem) -> Walker:
        """Return a walker at its start, kept so that `partial_fit` can go on from where it ends."""
        random = generator(self.random_state) if isinstance(self.start, str) else None
        first = first_weights(self.start, problem.size[1], random)
        self._walker = Walker.at(first, self._corrections(problem))
        return self._walker

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go once through the rows in their order, from the weights reached so far.

        Parameters
        ----------
        X, y
            Rows and their classes.
        classes
            Both labels, needed in the first call unless `y` has both.
        """
        self._check_stream()
        first = not hasattr(self, "_walker")
        inputs, targets = validate_data(
            self, X, y, accept_sparse=self._sparse_format, dtype=np.float64, order="C", reset=first
        )
        if first:
            self.classes_ = np.unique(targets if classes is None else np.asarray(classes))
            check_two_classes(self.classes_, type(self).__name__)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise DataError(
                f"classes={np.unique(classes).tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}."
            )
        problem = Problem(inputs, self._signs(targets))
        if first:
            self._start(problem)
        order = np.arange(len(targets))
        made = self._walker.take_pass(problem, order, np.empty((0, inputs.shape[1] + 1)))
        self.converged_ = made == 0
        self._follow(self._walker)
        return self

    def _check_stream(self) -> None:
        """Raise `DataError` where the parameters need all rows at once."""

    def _signs(self, targets: Any) -> np.ndarray:
        unknown = ~np.isin(targets, self.classes_)
        if unknown.any():
            raise DataError(
                f"y has the label {str(targets[unknown][0])!r}, which is not among the classes "
                f"{self.classes_.tolist()}."
            )
        return np.where(targets == self.classes_[1], 1.0, -1.0)

    def _follow(self, walker: Walker) -> None:
        """Set the fitted attributes to where the walker is."""
        weights = walker.result
        self.coef_ = weights[None, 1:].copy()
        self.intercept_ = weights[:1].copy()
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.trajectory_ = None
