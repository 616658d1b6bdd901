"""Version spaces: all conjunctions of attributes that agree with the examples, by their borders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
import pandas as pd

from verulam.base import DataError

#: More hypotheses than this are not listed one by one.
MOST_LISTED = 1_000_000
#: A larger general border would take longer than anybody waits.
MOST_GENERAL = 10_000


@dataclass(frozen=True)
class Conjunction:
    """A hypothesis: each attribute has a required value, or any (None) will do.

    Attributes
    ----------
    values
        Required value of each attribute, or None for any; None in place of all of them for the
        hypothesis that nothing is positive.

    Examples
    --------
    >>> from verulam.theory import Conjunction
    >>> warm = Conjunction((None, "warm"))
    >>> warm.covers(("rainy", "warm")), warm.covers(("sunny", "cold"))
    (True, False)
    >>> print(warm)
    <?, warm>
    """

    values: tuple[Any, ...] | None

    def covers(self, example: Sequence[Any]) -> bool:
        """Return whether an example meets every requirement."""
        if self.values is None:
            return False
        return all(
            required is None or required == value
            for required, value in zip(self.values, example, strict=True)
        )

    def is_at_least_as_general_as(self, other: "Conjunction") -> bool:
        """Return whether all that the other covers is covered."""
        if other.values is None:
            return True
        return self.values is not None and all(
            required is None or required == narrower
            for required, narrower in zip(self.values, other.values, strict=True)
        )

    def __str__(self) -> str:
        if self.values is None:
            return "<nothing>"
        return f"<{', '.join('?' if value is None else str(value) for value in self.values)}>"


class VersionSpace:
    r"""All conjunctions that agree with the examples, kept by candidate elimination.

    Parameters
    ----------
    attributes
        Name of each attribute and the values that it can take.

    Attributes
    ----------
    specific_ : Conjunction
        S, the most specific conjunction that covers every positive example.
    general_ : tuple of Conjunction
        G, the most general ones that cover no negative example.
    n_examples_ : int
        Examples so far.

    Notes
    -----
    A positive example removes from G what does not cover it, and widens S to cover it; a negative
    one removes S if S covers it, and splits those of G that cover it by each attribute in which S
    (or some value, while S covers nothing) differs from it. All hypotheses between S and G are
    consistent. See SIT1305 I, "S, G, and the version space", and Mitchell (1997), chapter 2.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.theory import VersionSpace
    >>> table = dataset("enjoy_sport")
    >>> space = VersionSpace.of(table.inputs, table.target_values, positive="yes")
    >>> print(space)
    S: <sunny, warm, ?, strong, ?, ?>
    G: <sunny, ?, ?, ?, ?, ?>, <?, warm, ?, ?, ?, ?>
    >>> len(list(space.hypotheses()))
    6
    >>> space.classify(("sunny", "cold", "normal", "strong", "warm", "change")) is None
    True
    """

    def __init__(self, attributes: Mapping[str, Iterable[Any]]) -> None:
        if not isinstance(attributes, Mapping):
            raise DataError(
                "attributes: expected a mapping of names to the values that each can take, such as "
                f"{{'sky': ['sunny', 'rainy']}}; got {type(attributes).__name__}."
            )
        self.attributes = {str(name): tuple(values) for name, values in attributes.items()}
        if not self.attributes or not all(self.attributes.values()):
            raise DataError("attributes: expected at least one, each with at least one value.")
        for name, values in self.attributes.items():
            if len(set(values)) < len(values) or any(pd.isna(value) for value in values):
                raise DataError(f"attributes: the values of {name!r} must differ and be known.")
        self.specific_ = Conjunction(None)
        self.general_: tuple[Conjunction, ...] = (Conjunction((None,) * len(self.attributes)),)
        self.n_examples_ = 0

    @classmethod
    def of(cls, X: Any, y: Any, *, positive: Any) -> Self:
        """Return the version space after all rows of a table.

        Parameters
        ----------
        X
            A table of categories; the values that occur are those that an attribute can take.
        y
            Labels.
        positive
            The label of positive examples.
        """
        table = pd.DataFrame(X).astype(object)
        labels = np.asarray(y, dtype=object)
        if len(labels) != len(table):
            raise DataError(f"X has {len(table)} rows and y {len(labels)}.")
        if positive not in set(labels):
            raise DataError(f"positive is {positive!r}, which no row of y has.")
        missing = table.columns[table.isna().any()]
        if len(missing):
            raise DataError(f"X: column {missing[0]!r} has missing values.")
        space = cls({str(name): table[name].unique() for name in table.columns})
        for row, label in zip(table.itertuples(index=False, name=None), labels, strict=True):
            space.update(row, bool(label == positive))
        return space

    @property
    def is_empty(self) -> bool:
        """Whether no conjunction agrees with all examples."""
        return not self.general_

    @property
    def is_settled(self) -> bool:
        """Whether one conjunction alone is left."""
        return self.general_ == (self.specific_,)

    def update(self, example: Sequence[Any], positive: bool) -> Self:
        """Take an example into account, and return the space.

        Parameters
        ----------
        example
            Value of each attribute.
        positive
            Whether it belongs to the class.
        """
        row = self._checked(example)
        if positive:
            self._widen(row)
        else:
            self._narrow(row)
        self.n_examples_ += 1
        return self

    def _widen(self, row: tuple[Any, ...]) -> None:
        # Two conjunctions have one least conjunction above both, so that S stays a single one; to
        # narrow one there may be many ways, so that G is a set.
        current = self.specific_.values
        if current is None:
            self.specific_ = Conjunction(row)
        else:
            self.specific_ = Conjunction(
                tuple(
                    required if required == value else None
                    for required, value in zip(current, row, strict=True)
                )
            )
        self.general_ = tuple(
            hypothesis
            for hypothesis in self.general_
            if hypothesis.is_at_least_as_general_as(self.specific_)
        )

    def _narrow(self, row: tuple[Any, ...]) -> None:
        if self.specific_.covers(row):
            # What covers all positive examples covers this one too: the concept is no conjunction.
            self.general_ = ()
            return
        consistent = [hypothesis for hypothesis in self.general_ if not hypothesis.covers(row)]
        narrower = [
            special
            for hypothesis in self.general_
            if hypothesis.covers(row)
            for special in self._specialisations(hypothesis, row)
        ]
        candidates = list(dict.fromkeys(consistent + narrower))
        # A border holds maximal ones alone; what another covers would be counted twice.
        self.general_ = tuple(
            candidate
            for candidate in candidates
            if not any(
                other != candidate and other.is_at_least_as_general_as(candidate)
                for other in candidates
            )
        )
        if len(self.general_) > MOST_GENERAL:
            raise DataError(
                f"The general border has more than {MOST_GENERAL:,} hypotheses; give positive "
                "examples first, which keep it short."
            )

    def _specialisations(
        self, hypothesis: Conjunction, row: tuple[Any, ...]
    ) -> Iterator[Conjunction]:
        """Yield the most general conjunctions below one that leave an example out."""
        assert hypothesis.values is not None
        specific = self.specific_.values
        for place, required in enumerate(hypothesis.values):
            if required is not None:
                continue
            domain = list(self.attributes.values())[place]
            # Only the value that S requires keeps the narrower one above S.
            for value in domain if specific is None else (specific[place],):
                if value is not None and value != row[place]:
                    values = (*hypothesis.values[:place], value, *hypothesis.values[place + 1 :])
                    yield Conjunction(values)

    def contains(self, hypothesis: Conjunction) -> bool:
        """Return whether a hypothesis agrees with all examples: it lies between S and G."""
        return hypothesis.is_at_least_as_general_as(self.specific_) and any(
            general.is_at_least_as_general_as(hypothesis) for general in self.general_
        )

    def classify(self, example: Sequence[Any]) -> bool | None:
        """Return what all hypotheses of the space say of an example; None where they differ."""
        row = self._checked(example)
        if self.is_empty:
            raise DataError("No conjunction agrees with all examples, so that none can answer.")
        if self.specific_.covers(row):
            return True
        return None if any(general.covers(row) for general in self.general_) else False

    def vote(self, example: Sequence[Any]) -> float:
        """Return the share of the hypotheses of the space that call an example positive."""
        row = self._checked(example)
        votes = [hypothesis.covers(row) for hypothesis in self.hypotheses()]
        if not votes:
            raise DataError("No conjunction agrees with all examples, so that none can vote.")
        return sum(votes) / len(votes)

    def hypotheses(self) -> Iterator[Conjunction]:
        """Yield every hypothesis between S and G, the most specific first."""
        if self.is_empty:
            return
        specific = self.specific_.values
        if specific is None:
            yield self.specific_
            domains = [(*values, None) for values in self.attributes.values()]
        else:
            domains = [(value,) if value is None else (value, None) for value in specific]
        if float(np.prod([len(domain) for domain in domains], dtype=float)) > MOST_LISTED:
            raise DataError(f"More than {MOST_LISTED:,} conjunctions would have to be tried.")
        listed = [Conjunction(values) for values in product(*domains)]
        listed.sort(key=lambda hypothesis: sum(value is None for value in hypothesis.values or ()))
        yield from (hypothesis for hypothesis in listed if self.contains(hypothesis))

    def _checked(self, example: Sequence[Any]) -> tuple[Any, ...]:
        row = tuple(example)
        if len(row) != len(self.attributes):
            raise DataError(f"An example has {len(self.attributes)} attributes; got {len(row)}.")
        for (name, values), value in zip(self.attributes.items(), row, strict=True):
            if value not in values:
                known = ", ".join(map(repr, values))
                raise DataError(f"{name} is {value!r}; expected one of {known}.")
        return row

    def __str__(self) -> str:
        general = ", ".join(map(str, self.general_)) or "none"
        return f"S: {self.specific_}\nG: {general}"
