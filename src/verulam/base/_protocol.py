"""The estimator protocol: kinds of learner, checks of parameters and weights, seeds.

This is the one place that touches scikit-learn's private helpers. Everything else imports these
names from `verulam.base`, so that a change on their side is mended here. Chance has one idiom:
`random_state` is stored untouched and turned into a generator in `fit`.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    DensityMixin,
    MetaEstimatorMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
    _fit_context,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    column_or_1d,
    has_fit_parameter,
)
from sklearn.utils.validation import check_is_fitted as _check_is_fitted

from verulam.base._inputs import validate_data

__all__ = [
    "RANDOM_STATE",
    "Classifier",
    "Density",
    "HasMethods",
    "InSteps",
    "Interval",
    "MetaEstimatorMixin",
    "Options",
    "OutlierDetector",
    "Regressor",
    "Seed",
    "StrOptions",
    "Transformer",
    "available_if",
    "check_classification_targets",
    "check_is_fitted",
    "check_parameters",
    "check_weights",
    "checked_fit",
    "checked_fit_with_parts",
    "clone",
    "column_or_1d",
    "generator",
    "has_fit_parameter",
    "is_classifier",
    "is_regressor",
    "safe_indexing",
    "spawn_seeds",
    "validate_data",
]

Item = TypeVar("Item")

#: Decorator of `fit`: checks the constructor's arguments against `_parameter_constraints`.
checked_fit = _fit_context(prefer_skip_nested_validation=True)

#: The same for learners that are given other learners, which then check their own arguments.
checked_fit_with_parts = _fit_context(prefer_skip_nested_validation=False)


def check_parameters(estimator: Any) -> None:
    """Check the constructor's arguments before `fit` does, where the learner says what they may be.

    Raises
    ------
    ValueError
        Names the parameter and what is accepted.
    """
    if getattr(estimator, "_parameter_constraints", None):
        estimator._validate_params()


def check_is_fitted(estimator: Any, attributes: Any = None) -> None:
    """Raise scikit-learn's error where a learner has not been fitted.

    Parameters
    ----------
    estimator
        The learner.
    attributes
        Names that it must have; None for any that training leaves.
    """
    # The general check looks up all that the learner can do first, which takes long.
    if (
        attributes is not None
        or hasattr(estimator, "__sklearn_is_fitted__")
        or not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))
    ):
        _check_is_fitted(estimator, attributes)


@cache
def _parameter_names(learner_class: Any) -> tuple[str, ...]:
    return tuple(learner_class._get_param_names())


#: Arguments that have passed their constraints, by class; each is checked in full once.
_passed: set[tuple[Any, ...]] = set()
#: More than this many are not remembered.
_MOST_PASSED = 10_000
#: Types of arguments that compare by value.
_VALUES = frozenset({bool, int, float, str, type(None)})


class ConstrainedParameters(BaseEstimator):
    """A learner whose arguments are checked against `_parameter_constraints`, the same ones once.

    Comparing a dozen arguments with their constraints takes longer than to fit a hundred rows.
    """

    def _validate_params(self) -> None:
        learner_class: Any = type(self)
        values = [getattr(self, name) for name in _parameter_names(learner_class)]
        types = [type(value) for value in values]
        if not _VALUES.issuperset(types):
            return super()._validate_params()
        # With types, as True equals 1 and 1.0.
        arguments = (type(self), *types, *values)
        if arguments not in _passed:
            super()._validate_params()
            if len(_passed) < _MOST_PASSED:
                _passed.add(arguments)
        return None


class Classifier(ClassifierMixin, ConstrainedParameters):
    """A learner that predicts one of several classes."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: Names of scikit-learn checks that cannot apply, each with its reason.
    _skipped_checks: ClassVar[dict[str, str]] = {}


class Regressor(RegressorMixin, ConstrainedParameters):
    """A learner that predicts a number."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _skipped_checks: ClassVar[dict[str, str]] = {}


class Density(DensityMixin, ConstrainedParameters):
    """A learner that estimates the distribution its inputs were drawn from."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log-likelihood of the rows of `X`."""
        return float(self.score_samples(X).sum())


class OutlierDetector(OutlierMixin, ConstrainedParameters):
    """A learner that tells outliers (-1) from typical instances (1)."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _skipped_checks: ClassVar[dict[str, str]] = {}


class Transformer(TransformerMixin, ConstrainedParameters):
    """A learner that maps its inputs to a new representation."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _skipped_checks: ClassVar[dict[str, str]] = {}


class InSteps:
    """Mixin: training is a loop, of whose steps scikit-learn's callbacks are told.

    A progress bar is one of them: ``learner.set_callbacks(sklearn.callback.ProgressBar())``.
    """

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Have scikit-learn's callbacks, such as a progress bar, follow the training.

        They are told and not asked: none can end it.

        Parameters
        ----------
        *callbacks
            What is called when training begins, after each of its steps, and when it ends.
        """
        _callback_support().set_callbacks(self, *callbacks)
        return self

    def _steps(self, items: Iterable[Item], name: str, total: int | None) -> Iterator[Item]:
        """Yield the items of a loop, and tell the callbacks when the work on each is done.

        Of loops in one another the outer one is told, unless it has one step alone.

        Parameters
        ----------
        items
            What the loop is over.
        name
            What a step is called.
        total
            How many items there are at most; None if nobody knows.
        """
        callbacks = getattr(self, "_skl_callbacks", None) or hasattr(self, "_parent_callback_ctx")
        if not callbacks or total == 1 or hasattr(self, "_callback_fit_ctx"):
            yield from items
            return
        whole = _callback_support()._init_callback_context(self, max_subtasks=total)
        whole.call_on_fit_task_begin(estimator=self)
        step: Any = None
        try:
            for item in items:
                step = whole.subcontext(task_name=name)
                step.call_on_fit_task_begin(estimator=self)
                yield item
                step.call_on_fit_task_end(estimator=self)
                step = None
        finally:
            # Where `fit` failed, the callbacks have been told goodbye.
            if getattr(self, "_callback_fit_ctx", None) is whole:
                for task in filter(None, (step, whole)):
                    task.call_on_fit_task_end(estimator=self)


def _callback_support() -> Any:
    # With it comes a library for terminals, which `fit` loads at the earliest.
    from sklearn.callback import CallbackSupportMixin

    return CallbackSupportMixin


def check_weights(sample_weight: Any, inputs: Any) -> np.ndarray | None:
    """Return the weights of the rows as float64, or None where all rows count alike."""
    if sample_weight is None:
        return None
    return _check_sample_weight(
        sample_weight,
        inputs,
        dtype=np.float64,
        ensure_non_negative=True,
        copy=False,
        # A chunk of a stream may have none; the whole may not, which learners check.
        allow_all_zero_weights=True,
    )


Seed = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None

#: What `_parameter_constraints` says of a `random_state`.
RANDOM_STATE: list[object] = ["random_state", np.random.Generator]


def generator(random_state: Seed) -> np.random.Generator:
    """Return the generator that `random_state` stands for.

    An integer gives the same stream each time; a generator is used (and advanced) as it is;
    a legacy `RandomState` seeds a new generator from its stream; None draws fresh entropy.

    Examples
    --------
    >>> generator(0).integers(100, size=3)
    array([85, 63, 51])
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        # The legacy state is advanced, so that two calls give two streams, as in scikit-learn.
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def spawn_seeds(random_state: Seed, count: int) -> Sequence[int]:
    """Return `count` integer seeds for independent parts of one piece of work."""
    return [int(seed) for seed in generator(random_state).integers(0, 2**31 - 1, size=count)]
