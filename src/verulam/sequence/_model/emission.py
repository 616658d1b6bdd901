"""What a state shows: the contract of emissions, by which models are composed."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, SumRecord, validate_data
from verulam.sequence._data.sequences import Sequences, named_table, read_sequences
from verulam.sequence._model.inference import EmissionLikelihoods, emissions_from_logarithms
from verulam.sequence._recursions.scratch import Scratch


@dataclass(frozen=True)
class Nothing(SumRecord):
    """A record of an emission that has nothing to look up before it starts."""


@dataclass(frozen=True)
class Ahead:
    """What is known of the steps to come after a sequence.

    Attributes
    ----------
    last : ndarray of shape (n_states,)
        Probability of each state at the last step that was seen.
    states : ndarray of shape (n_ahead, n_states)
        Probability of each state at each step to come.
    matrices : ndarray of shape (n_ahead, n_states, n_states)
        Transition matrix into each of them.
    past
        The sequence, encoded.
    inputs : ndarray of shape (n_ahead, n_inputs) or None
        What is known at each step to come.
    """

    last: np.ndarray
    states: np.ndarray
    matrices: np.ndarray
    past: Any
    inputs: np.ndarray | None

    @property
    def needed_inputs(self) -> np.ndarray:
        """The inputs, where there is no expectation without them."""
        if self.inputs is None:
            raise DataError("forecast needs inputs_ahead: pass what is known at each step to come.")
        return self.inputs


class Emission(ABC):
    """The part of a hidden Markov model that says what states show.

    Subclass it for an emission of your own: numbers in, one row per step. Parameters are a
    frozen dataclass of arrays whose first axis is the state; sums are a record that adds.

    Examples
    --------
    An emission that knows how likely each state makes a True:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from verulam.base import SumRecord
    >>> from verulam.sequence import Emission, HiddenMarkovModel
    >>> @dataclass(frozen=True)
    ... class Chances:
    ...     chances: np.ndarray
    >>> @dataclass(frozen=True)
    ... class Counts(SumRecord):
    ...     hits: np.ndarray
    ...     visits: np.ndarray
    >>> class CoinEmission(Emission):
    ...     def blank(self, survey, head, n_states):
    ...         return Chances(np.full(n_states, 0.5))
    ...     def log_likelihoods(self, parameters, values):
    ...         return np.log(np.where(values == 1, parameters.chances, 1 - parameters.chances))
    ...     def statistics(self, parameters, values, weights):
    ...         return Counts(weights.T @ values[:, 0], weights.sum(axis=0))
    ...     def update(self, parameters, sums):
    ...         return Chances((sums.hits + 0.5) / (sums.visits + 1))
    ...     def sample(self, parameters, states, random):
    ...         return (random.random(len(states)) < parameters.chances[states])[:, None] * 1.0
    >>> flips = np.repeat([0.0, 1.0, 0.0, 1.0], 25)[:, None]
    >>> model = HiddenMarkovModel(2, CoinEmission(), random_state=0).fit(flips)
    >>> np.sort(model.emission_.chances).round(2)
    array([0.01, 0.99])
    """

    #: Whether rows are numbers; otherwise `encode` gets them as they were given.
    numeric: ClassVar[bool] = True

    def encode(self, sequences: Sequences, parameters: Any = None) -> Any:
        """Return the values as `log_likelihoods` wants them, checked; slices of it are rows."""
        return sequences.values

    def survey(self, values: Any) -> Any:
        """Return a record of what must be known of all data before the start."""
        return Nothing()

    @abstractmethod
    def blank(self, survey: Any, head: Any, n_states: int) -> Any:
        """Return parameters before any learning, from the survey and some first steps."""

    def first(
        self, survey: Any, head: Any, n_states: int, init: str, random: np.random.Generator
    ) -> Any:
        """Return what a start begins from: blank parameters, or some that chance sets apart."""
        return self.blank(survey, head, n_states)

    @abstractmethod
    def log_likelihoods(self, parameters: Any, values: Any) -> np.ndarray:
        """Return the logarithm of each state's emission at each step; 0 where it is missing."""

    @abstractmethod
    def statistics(self, parameters: Any, values: Any, weights: np.ndarray) -> Any:
        """Return the sums of the steps, each weighted by its share in each state."""

    @abstractmethod
    def update(self, parameters: Any, sums: Any) -> Any:
        """Return the parameters that the sums give; a state without data keeps its own."""

    @abstractmethod
    def sample(self, parameters: Any, states: np.ndarray, random: np.random.Generator) -> Any:
        """Return one row per state drawn."""

    def emissions(
        self, parameters: Any, values: Any, scratch: Scratch | None = None
    ) -> EmissionLikelihoods:
        """Return the emissions for the recursions, in memory to use again where there is some."""
        return emissions_from_logarithms(self.log_likelihoods(parameters, values))

    def lookup(self, parameters: Any) -> np.ndarray | None:
        """Return the emissions of each symbol, one row each, where values are codes of symbols.

        A code of -1 stands for a missing symbol; the weights of `statistics` may then be those
        of all steps with the same symbol together.
        """
        return None

    @property
    def uses_inputs(self) -> bool:
        """Whether it reads what is known at each step beside the observations."""
        return False

    @property
    def memory(self) -> int:
        """How many steps before a step it looks at."""
        return 0

    @property
    def complete(self) -> bool:
        """Whether the user has set all values to start from."""
        return False

    def for_data(self, rows: np.ndarray) -> "Emission":
        """Return the emission with what it takes from the raw rows, such as an alphabet."""
        return self

    def closed(self, rows: np.ndarray) -> "Emission":
        """Return the emission with an alphabet that models of several classes have in common."""
        return self.for_data(rows)

    def jitter(self, parameters: Any, random: np.random.Generator) -> Any:
        """Return a start that chance has set apart, where grouping alone cannot."""
        return parameters

    def features(self, values: Any) -> np.ndarray | None:
        """Return rows of numbers by which steps can be grouped for a start, if that helps."""
        return np.nan_to_num(np.asarray(values, dtype=np.float64))

    def with_start_values(self, parameters: Any) -> Any:
        """Return the parameters with the start values that the user has set."""
        return parameters

    def ready(self, n_states: int, n_columns: int) -> Any:
        """Return blank parameters of the right shapes, for a model with known values."""
        head = np.vstack([np.zeros(n_columns), np.ones(n_columns)])
        return self.blank(self.survey(head), head, n_states)

    def expected(self, parameters: Any) -> np.ndarray:
        """Return the expected row of each state."""
        raise DataError(f"{type(self).__name__} has no expected row.")

    def expected_ahead(self, parameters: Any, ahead: Ahead) -> np.ndarray:
        """Return the expected row of each step to come."""
        return ahead.states @ self.expected(parameters)

    def n_columns(self, parameters: Any) -> int | None:
        """Return how many columns the parameters belong to, where they say."""
        return None

    def n_parameters(self, parameters: Any) -> int:
        """Return the number of free numbers."""
        return sum(
            np.size(getattr(parameters, field.name))
            for field in fields(parameters)
            if isinstance(getattr(parameters, field.name), np.ndarray)
        )

    def log_prior(self, parameters: Any) -> float:
        """Return the logarithm of the prior of the parameters, up to a constant."""
        return 0.0

    def concerns(self, parameters: Any) -> list[str]:
        """Return what to warn of in parameters that were learned, such as no variance left."""
        return []

    def take(self, parameters: Any, states: np.ndarray) -> Any:
        """Return the parameters of some states, in the order given."""
        n_states = self.n_states(parameters)
        by_state = {
            field.name: value[states]
            for field in fields(parameters)
            if isinstance(value := getattr(parameters, field.name), np.ndarray)
            and value.ndim
            and len(value) == n_states
        }
        return replace(parameters, **by_state)

    def n_states(self, parameters: Any) -> int:
        """Return the number of states."""
        return len(getattr(parameters, fields(parameters)[0].name))


def column_sums(weights: np.ndarray) -> np.ndarray:
    """Return the sum of each column; a product is several times quicker than a reduction."""
    return np.ones(len(weights)) @ weights


def refuse_labels(values: np.ndarray, reader: Any, remedy: str = "") -> None:
    """Raise where values that should be numbers are words."""
    if values.dtype.kind not in "OUS":
        return
    for value in values.ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                raise DataError(
                    f"X holds labels such as {str(value)!r}, and {type(reader).__name__} reads "
                    f"numbers{remedy}."
                ) from None


def refuse_empty_columns(head: np.ndarray) -> None:
    """Raise where a column has nothing to start from."""
    present = (~np.isnan(head)).any(axis=0)
    if not present.all():
        raise DataError(f"Column {int(np.argmin(present))} of X has no value that is present.")


def checked_start_values(emission: Any, names: tuple[str, ...], parameters: Any) -> Any:
    """Return the parameters with what the emission was constructed with, shapes checked."""
    start_values = {}
    for name in names:
        value = getattr(emission, name)
        if value is None:
            continue
        array = np.array(value, dtype=np.float64)
        expected = np.shape(getattr(parameters, name))
        if array.shape != expected:
            raise DataError(
                f"{name} of {type(emission).__name__} has shape {array.shape}; expected {expected}."
            )
        if not np.isfinite(array).all():
            raise DataError(f"{name} of {type(emission).__name__} is missing or infinite in parts.")
        start_values[name] = array
    return replace(parameters, **start_values)


def hold_fixed(emission: Any, names: tuple[str, ...], old: Any, new: Any) -> Any:
    """Return the new parameters, but for those that the emission holds fixed."""
    unknown = set(emission.fixed) - set(names)
    if unknown:
        raise DataError(
            f"fixed of {type(emission).__name__} names {sorted(unknown)}; known: {sorted(names)}."
        )
    return replace(new, **{name: getattr(old, name) for name in emission.fixed})


def check_least(owner: Any, name: str, least: float, *, whole: bool = False) -> None:
    """Raise where a setting is no number, or below the least one that makes sense.

    Parameters
    ----------
    owner
        What has the setting as an attribute.
    name
        Name of the setting.
    least
        The least value.
    whole
        Whether it must be a whole number.
    """
    value = getattr(owner, name)
    kind = Integral if whole else Real
    if not isinstance(value, kind) or not least <= float(value) < np.inf:
        what = "a whole number" if whole else "a number"
        raise DataError(
            f"{name} of {type(owner).__name__} must be {what} of at least {least:g}; got {value!r}."
        )


def check_positive(owner: Any, name: str, *, zero: bool = False) -> None:
    """Raise where values that the user has set are not all above zero, or at least zero."""
    value = getattr(owner, name)
    if value is None:
        return
    array = np.asarray(value, dtype=np.float64)
    if (array < 0).any() or (not zero and (array == 0).any()):
        raise DataError(
            f"{name} of {type(owner).__name__} must be {'at least' if zero else 'above'} zero."
        )


def checked_sequences(
    learner: Any, X: Any, lengths: Any, reset: bool, inputs: Any = None
) -> Sequences:
    """Return sequences of numbers, checked as a learner's data."""
    sequences = read_sequences(X, lengths, inputs)
    if not reset and _is_one_column(X, learner):
        raise DataError(
            f"X has one value per step, but the model has {learner.n_features_in_} columns. "
            "Reshape your data to one row per step."
        )
    refuse_labels(sequences.values, learner)
    values = validate_data(
        learner,
        named_table(X, sequences.values),
        reset=reset,
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan",
    )
    return sequences.with_values(values)


def _is_one_column(X: Any, learner: Any) -> bool:
    plain = isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 1
    return plain and learner.n_features_in_ > 1
