"""Factors: tables of numbers over discrete variables, and their algebra."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, nearest_names

#: Probabilities that sum to one within this are taken as they are.
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Factor:
    r"""A table of non-negative numbers with one axis for each of its variables.

    Attributes
    ----------
    variables
        Names of the variables, in the order of the axes.
    values
        The numbers.
    states
        Labels of each variable's states; 0, 1, ... unless they are named.
    log_scale
        Logarithm of a number that all values are multiplied by, so that products of very many
        factors neither vanish nor overflow.

    Notes
    -----
    A joint distribution is a product of factors; its marginals are sums, its most probable
    assignment a maximum, and what evidence leaves is a part of the table: Alpaydin 14.1-14.3
    (14.1-14.3), course notes SIT1305 II.

    Examples
    --------
    >>> from verulam.graphical import Factor
    >>> rain = Factor(("rain",), [0.6, 0.4], (("no", "yes"),))
    >>> wet = Factor(("rain", "wet"), [[0.8, 0.2], [0.1, 0.9]], (("no", "yes"),) * 2)
    >>> joint = rain * wet
    >>> joint.marginal(["wet"]).values.round(2)
    array([0.52, 0.48])
    >>> joint.reduce({"wet": "yes"}).normalise().values.round(2)
    array([0.25, 0.75])
    """

    variables: tuple[str, ...]
    values: Any
    states: tuple[tuple[Any, ...], ...] = ()
    log_scale: float = 0.0

    def __post_init__(self) -> None:
        names: Any = self.variables
        if isinstance(names, str):
            raise DataError(f"variables: expected a sequence of names, such as ({names!r},).")
        variables = tuple(names)
        values = _as_values(self.values)
        if len(set(variables)) < len(variables):
            raise DataError(f"variables: {', '.join(map(str, variables))} names one twice.")
        if values.ndim != len(variables):
            raise DataError(
                f"values has {values.ndim} axes for the {len(variables)} variables "
                f"{', '.join(map(str, variables))}; expected one axis for each."
            )
        states = tuple(map(tuple, self.states)) or tuple(tuple(range(n)) for n in values.shape)
        if tuple(map(len, states)) != values.shape:
            raise DataError(
                f"values has the shape {values.shape}, and the states of its variables ask for "
                f"{tuple(map(len, states))}."
            )
        for name, value in (("variables", variables), ("values", values), ("states", states)):
            object.__setattr__(self, name, value)

    def __mul__(self, other: "Factor") -> "Factor":
        if not isinstance(other, Factor):
            raise DataError(f"A factor is multiplied by a factor, not by {type(other).__name__}.")
        return multiply((self, other))

    def sum_out(self, variables: Iterable[str]) -> "Factor":
        """Return the factor with some variables summed out."""
        return self._without(variables, np.add)

    def max_out(self, variables: Iterable[str]) -> "Factor":
        """Return the factor with the largest value over the states of some variables."""
        return self._without(variables, np.maximum)

    def marginal(self, variables: Iterable[str]) -> "Factor":
        """Return the sum over all but these variables, with the axes in their order."""
        variables = _names(variables)
        self._axes(variables)
        rest = [name for name in self.variables if name not in variables]
        return self.sum_out(rest).arranged(variables)

    def arranged(self, variables: Sequence[str]) -> "Factor":
        """Return the same factor with its axes in another order."""
        axes = self._axes(variables)
        if sorted(axes) != list(range(len(self.variables))):
            raise DataError(
                f"variables: expected each of {', '.join(self.variables)} once, not "
                f"{', '.join(variables)}."
            )
        return replace(
            self,
            variables=tuple(variables),
            values=self.values.transpose(axes),
            states=tuple(self.states[axis] for axis in axes),
        )

    def reduce(self, evidence: Mapping[str, Any]) -> "Factor":
        """Return the part of the table that agrees with observed states.

        Parameters
        ----------
        evidence
            State of each observed variable; those that the factor does not have are ignored.
        """
        index: list[Any] = [slice(None)] * len(self.variables)
        for axis, name in enumerate(self.variables):
            if name in evidence:
                index[axis] = state_position(name, self.states[axis], evidence[name])
        left = [axis for axis, part in enumerate(index) if isinstance(part, slice)]
        return replace(
            self,
            variables=tuple(self.variables[axis] for axis in left),
            values=self.values[tuple(index)],
            states=tuple(self.states[axis] for axis in left),
        )

    def normalise(self) -> "Factor":
        """Return the factor divided by its total, as a distribution."""
        total = self.values.sum()
        if not total > 0:
            raise DataError(
                f"The factor over {', '.join(map(str, self.variables))} is zero everywhere and "
                "cannot be normalised."
            )
        return replace(self, values=self.values / total, log_scale=0.0)

    def rescale(self) -> "Factor":
        """Return the same factor with one as its largest stored value, the rest in `log_scale`."""
        largest = self.values.max(initial=0.0)
        if not largest > 0:
            return self
        return replace(
            self, values=self.values / largest, log_scale=self.log_scale + float(np.log(largest))
        )

    @property
    def log_total(self) -> float:
        """The logarithm of the sum of all values; minus infinity where all are zero."""
        total = float(self.values.sum())
        return self.log_scale + float(np.log(total)) if total > 0 else -np.inf

    def independent(
        self,
        first: Iterable[str],
        second: Iterable[str],
        condition: Iterable[str] = (),
        *,
        tol: float = 1e-9,
    ) -> bool:
        """Tell whether two sets of variables are independent in the joint that this table is.

        Parameters
        ----------
        first, second
            The two sets.
        condition
            Variables that are observed.
        tol
            Largest difference of P(A, B, C) P(C) and P(A, C) P(B, C) that counts as none.

        Notes
        -----
        Alpaydin 14.1: A and B are independent given C where P(A, B|C) = P(A|C) P(B|C).
        """
        a, b, c = _names(first), _names(second), _names(condition)
        # P(a, b, c) P(c) = P(a, c) P(b, c): without a division, since P(c) may be zero.
        joint = self.normalise().marginal([*a, *b, *c])
        left = joint * joint.marginal(c)
        right = joint.marginal([*a, *c]) * joint.marginal([*b, *c])
        difference = left.values - right.arranged(left.variables).values
        return bool(np.abs(difference).max(initial=0.0) <= tol)

    @cached_property
    def series(self) -> pd.Series:
        """The values as a pandas Series, indexed by states."""
        index = pd.MultiIndex.from_product(self.states, names=self.variables)
        return pd.Series(self.values.ravel() * np.exp(self.log_scale), index=index, name="value")

    def _axes(self, variables: Sequence[str]) -> list[int]:
        for name in variables:
            if name not in self.variables:
                raise DataError(
                    f"The factor has no variable {name!r}; it has {', '.join(self.variables)}."
                )
        return [self.variables.index(name) for name in variables]

    def _without(self, variables: Iterable[str], operation: np.ufunc) -> "Factor":
        axes = tuple(self._axes(_names(variables)))
        left = [axis for axis in range(self.values.ndim) if axis not in axes]
        return replace(
            self,
            variables=tuple(self.variables[axis] for axis in left),
            values=np.asarray(operation.reduce(self.values, axis=axes)) if axes else self.values,
            states=tuple(self.states[axis] for axis in left),
        )


def multiply(factors: Iterable[Factor]) -> Factor:
    """Return the product of factors, over the union of their variables.

    Parameters
    ----------
    factors
        Any number; none give the factor 1 without variables.

    Examples
    --------
    >>> from verulam.graphical import Factor, multiply
    >>> tiny = Factor(("x",), [1e-200, 2e-200]).rescale()
    >>> round(multiply([tiny] * 10).log_total, 3)
    -4598.238
    """
    factors = list(factors)
    states: dict[str, tuple[Any, ...]] = {}
    for factor in factors:
        if not isinstance(factor, Factor):
            raise DataError(f"factors: expected Factors, and one is {type(factor).__name__}.")
        for name, labels in zip(factor.variables, factor.states, strict=True):
            if states.setdefault(name, labels) != labels:
                raise DataError(f"Two factors name the states of {name!r} differently.")
    variables = tuple(states)
    shape = tuple(len(labels) for labels in states.values())
    aligned = [_aligned(factor, variables) for factor in factors]
    values = reduce(np.multiply, aligned, np.ones(1))
    product = Factor(
        variables,
        np.broadcast_to(values, shape) if variables else np.asarray(values).reshape(()),
        tuple(states.values()),
        sum(factor.log_scale for factor in factors),
    )
    # Whoever has begun to scale has tables that would underflow, and their products would again.
    return product.rescale() if product.log_scale else product


def _aligned(factor: Factor, variables: Sequence[str]) -> np.ndarray:
    """Return the values with axes in the order of `variables`, of length one where it has none."""
    order = sorted(range(factor.values.ndim), key=lambda k: variables.index(factor.variables[k]))
    lengths = dict(zip(factor.variables, factor.values.shape, strict=True))
    shape = [lengths.get(name, 1) for name in variables]
    return factor.values.transpose(order).reshape(shape)


def _as_values(values: Any) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"values: expected a table of numbers ({error}).") from error
    if not np.isfinite(array).all() or (array < 0).any():
        raise DataError("values: a factor holds finite numbers of at least 0.")
    return array


def _names(variables: Iterable[str]) -> list[str]:
    return [variables] if isinstance(variables, str) else list(variables)


def state_position(name: str, states: Sequence[Any], label: Any) -> int:
    """Return the place of a label among the states of a variable."""
    for place, state in enumerate(states):
        if state is label or state == label:
            return place
    nearest = nearest_names(str(label), [str(state) for state in states])
    raise DataError(
        f"{name!r} has no state {label!r}. Nearest: {', '.join(nearest)}; all of them: "
        f"{', '.join(map(str, states[:12]))}{', ...' if len(states) > 12 else ''}."
    )


@dataclass(frozen=True, eq=False)
class FactorModel:
    """Variables with their states, and factors whose product is the joint but for a constant.

    Attributes
    ----------
    states
        Labels of the states of each variable, by name.
    factors
        Tables over these variables.
    """

    states: Mapping[str, tuple[Any, ...]]
    factors: tuple[Factor, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(self.states)

    @cached_property
    def positions(self) -> dict[str, int]:
        """The number of each variable, by name."""
        return {name: place for place, name in enumerate(self.states)}

    @cached_property
    def unobserved(self) -> np.ndarray:
        """A row of state numbers in which nothing is observed."""
        return np.full((1, len(self.states)), -1, dtype=np.int32)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many states each variable has."""
        return tuple(len(labels) for labels in self.states.values())

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where the states of each variable begin in a row of all marginals, and the end."""
        return tuple(accumulate(self.sizes, initial=0))

    @cached_property
    def lookup(self) -> dict[str, dict[Any, int]]:
        """The place of each label, by variable."""
        return {
            name: {label: place for place, label in enumerate(labels)}
            for name, labels in self.states.items()
        }

    def check_name(self, name: Any, what: str = "node") -> str:
        """Return the name of a variable, or raise with the nearest ones."""
        if not isinstance(name, str) or name not in self.states:
            nearest = nearest_names(str(name), [str(known) for known in self.states])
            raise DataError(f"There is no {what} {name!r}. Nearest: {', '.join(nearest)}.")
        return name


def as_model(source: Any) -> FactorModel:
    """Return variables and factors, of a network or field as well."""
    model = getattr(source, "model", source)
    if not isinstance(model, FactorModel):
        raise DataError(
            f"model: expected a network, a field or its FactorModel, not {type(source).__name__}."
        )
    return model


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known: a state of some variables, likelihoods of the states of others.

    Attributes
    ----------
    hard
        Number of the observed state, by name.
    soft
        Likelihood of each state, by name.
    """

    hard: dict[str, int]
    soft: dict[str, np.ndarray]

    def codes(self, model: FactorModel) -> np.ndarray:
        """Return hard evidence as a row of state numbers, -1 where nothing was observed."""
        codes, positions = model.unobserved.copy(), model.positions
        row = codes[0]
        for name, state in self.hard.items():
            row[positions[name]] = state
        return codes

    def factors(self, model: FactorModel) -> list[Factor]:
        """Return the likelihoods as factors of one variable, hard evidence as zeros and a one."""
        likelihoods = {name: np.eye(len(model.states[name]))[k] for name, k in self.hard.items()}
        return [
            Factor((name,), values, (model.states[name],))
            for name, values in (likelihoods | self.soft).items()
        ]


def read_evidence(model: FactorModel, evidence: Mapping[str, Any] | None) -> Evidence:
    """Return evidence by numbers of states: a label, a set of labels, or likelihoods.

    Likelihoods are in the order of the states, or by label.
    """
    hard: dict[str, int] = {}
    soft: dict[str, np.ndarray] = {}
    if evidence is None:
        return Evidence(hard, soft)
    if not isinstance(evidence, Mapping):
        raise DataError(
            f"evidence: expected a dictionary from names to states, not {type(evidence).__name__}."
        )
    lookup = model.lookup
    for name, value in evidence.items():
        # Most evidence is a label, which one look tells; all else is sorted out below.
        try:
            hard[name] = lookup[name][value]
            continue
        except (KeyError, TypeError):  # no node, not a label, or nothing that can be one
            places = lookup[model.check_name(name)]
        if isinstance(value, Mapping):
            for label in value:
                state_position(name, model.states[name], label)
            missing = [label for label in model.states[name] if label not in value]
            if missing:
                raise DataError(f"evidence[{name!r}]: the state {missing[0]!r} has no likelihood.")
            named = [value[label] for label in model.states[name]]
            soft[name] = _likelihood(name, named, len(places))
        elif isinstance(value, set | frozenset):
            if not value:
                raise DataError(
                    f"evidence[{name!r}]: the set is empty; expected one state of {name!r} or more."
                )
            soft[name] = np.zeros(len(places))
            for label in value:
                soft[name][state_position(name, model.states[name], label)] = 1.0
        elif isinstance(value, np.ndarray | list | tuple):
            soft[name] = _likelihood(name, value, len(places))
        else:
            hard[name] = state_position(name, model.states[name], value)
    return Evidence(hard, soft)


def _likelihood(name: str, value: ArrayLike | list[Any], n_states: int) -> np.ndarray:
    try:
        likelihood = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        likelihood = np.empty(0)
    valid = likelihood.shape == (n_states,) and np.isfinite(likelihood).all()
    if not valid or (likelihood < 0).any() or not likelihood.any():
        raise DataError(
            f"evidence[{name!r}]: expected a state, a set of states, or {n_states} likelihoods of "
            f"at least 0, not all of them 0; it is {value!r}."
        )
    return likelihood
