"""Several streams of observations at each step, each with an emission of its own."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, refuse_huge_numbers
from verulam.sequence._data.sequences import Sequences, joined
from verulam.sequence._model.emission import Ahead, Emission, refuse_labels


@dataclass(frozen=True)
class StreamValues:
    """Encoded values of several streams, sliced together."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, steps: slice) -> "StreamValues":
        return StreamValues(tuple(part[steps] for part in self.parts))

    @staticmethod
    def joined(pieces: "list[StreamValues]") -> "StreamValues":
        """Return the values of several sequences, one after the other."""
        columns = zip(*(piece.parts for piece in pieces), strict=True)
        return StreamValues(tuple(joined(list(column)) for column in columns))


@dataclass(frozen=True)
class StreamRecord:
    """Records or parameters of the streams, one each."""

    parts: tuple[Any, ...]

    def __add__(self, other: "StreamRecord") -> "StreamRecord":
        return StreamRecord(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True)
class StreamEmission(Emission):
    r"""Each state shows several things at once, independent of one another given the state.

    Parameters
    ----------
    emissions_by_stream
        The emission of each stream.
    columns
        How many columns of the data each stream takes, from left to right; None for one each.

    Notes
    -----
    :math:`b_j(O_t) = \prod_s b_j^{(s)}(O_t^{(s)})`: one chain of states is learned from all
    streams together (Alpaydin, exercise 15.9).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import (
    ...     CategoricalEmission, GaussianEmission, HiddenMarkovModel, StreamEmission
    ... )
    >>> emission = StreamEmission((CategoricalEmission(prior=0.1), GaussianEmission()))
    >>> X = np.array([[0, 1.0], [0, 1.2], [1, 8.0], [1, 8.3], [0, 0.9], [1, 8.1]])
    >>> model = HiddenMarkovModel(2, emission, random_state=0).fit(X)
    >>> np.sort(model.emission_.parts[1].means.ravel()).round(2)
    array([1.03, 8.13])
    """

    emissions_by_stream: tuple[Emission, ...]
    columns: tuple[int, ...] | None = None

    numeric: ClassVar[bool] = False

    def _slices(self, width: int) -> list[slice]:
        widths = self.columns or (1,) * len(self.emissions_by_stream)
        if len(widths) != len(self.emissions_by_stream) or sum(widths) != width:
            raise DataError(
                f"The {len(self.emissions_by_stream)} streams take {sum(widths)} columns in "
                f"{len(widths)} groups; X has {width} columns."
            )
        ends = np.cumsum(widths)
        return [slice(end - size, end) for end, size in zip(ends, widths, strict=True)]

    @property
    def uses_inputs(self) -> bool:
        """Whether a stream reads inputs."""
        return any(part.uses_inputs for part in self.emissions_by_stream)

    @property
    def memory(self) -> int:
        """How many steps before a step a stream looks at."""
        return max(part.memory for part in self.emissions_by_stream)

    @property
    def complete(self) -> bool:
        """Whether all streams have their values."""
        return all(part.complete for part in self.emissions_by_stream)

    def for_data(self, rows: np.ndarray) -> "StreamEmission":
        """Return the streams with what they take from the raw rows."""
        return self._prepared(rows, "for_data")

    def closed(self, rows: np.ndarray) -> "StreamEmission":
        """Return the streams with alphabets that models of several classes have in common."""
        return self._prepared(rows, "closed")

    def _prepared(self, rows: np.ndarray, method: str) -> "StreamEmission":
        pairs = zip(self.emissions_by_stream, self._slices(rows.shape[1]), strict=True)
        return StreamEmission(
            tuple(
                part if part.numeric else getattr(part, method)(_column_kind(rows[:, columns]))
                for part, columns in pairs
            ),
            self.columns,
        )

    def encode(self, sequences: Sequences, parameters: Any = None) -> StreamValues:
        """Return the encoded values of each stream."""
        slices = self._slices(sequences.values.shape[1])
        known = [None] * len(slices) if parameters is None else parameters.parts
        encoded = []
        for part, columns, record in zip(self.emissions_by_stream, slices, known, strict=True):
            values = sequences.values[:, columns]
            values = _numbers(values, part) if part.numeric else _column_kind(values)
            encoded.append(part.encode(sequences.with_values(values), record))
        return StreamValues(tuple(encoded))

    def survey(self, values: StreamValues) -> StreamRecord:
        """Return the surveys of the streams."""
        pairs = zip(self.emissions_by_stream, values.parts, strict=True)
        return StreamRecord(tuple(part.survey(stream) for part, stream in pairs))

    def blank(self, survey: StreamRecord, head: StreamValues, n_states: int) -> StreamRecord:
        """Return the blank parameters of the streams."""
        triples = zip(self.emissions_by_stream, survey.parts, head.parts, strict=True)
        return StreamRecord(
            tuple(part.blank(record, stream, n_states) for part, record, stream in triples)
        )

    def ready(self, n_states: int, n_columns: int) -> StreamRecord:
        """Return blank parameters for a model with known values."""
        widths = [columns.stop - columns.start for columns in self._slices(n_columns)]
        pairs = zip(self.emissions_by_stream, widths, strict=True)
        return StreamRecord(tuple(part.ready(n_states, int(width)) for part, width in pairs))

    def with_start_values(self, parameters: StreamRecord) -> StreamRecord:
        """Return the parameters with the start values that the user has set."""
        return self._by_stream("with_start_values", parameters)

    def jitter(self, parameters: StreamRecord, random: np.random.Generator) -> StreamRecord:
        """Return starts that chance has set apart."""
        return self._by_stream("jitter", parameters, random)

    def take(self, parameters: StreamRecord, states: np.ndarray) -> StreamRecord:
        """Return the parameters of some states."""
        return self._by_stream("take", parameters, states)

    def _by_stream(self, method: str, parameters: StreamRecord, *arguments: Any) -> StreamRecord:
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return StreamRecord(
            tuple(getattr(part, method)(record, *arguments) for part, record in pairs)
        )

    def features(self, values: StreamValues) -> np.ndarray | None:
        """Return the features of the streams side by side, each scaled alike."""
        features = [
            part.features(stream)
            for part, stream in zip(self.emissions_by_stream, values.parts, strict=True)
        ]
        known = [rows for rows in features if rows is not None]
        if not known:
            return None
        return np.hstack([rows / np.maximum(rows.std(axis=0), 1e-12) for rows in known])

    def log_likelihoods(self, parameters: StreamRecord, values: StreamValues) -> np.ndarray:
        """Return the sum of the streams' logarithms."""
        triples = zip(self.emissions_by_stream, parameters.parts, values.parts, strict=True)
        return sum(  # type: ignore[return-value] # of at least one stream
            part.log_likelihoods(record, stream) for part, record, stream in triples
        )

    def statistics(
        self, parameters: StreamRecord, values: StreamValues, weights: np.ndarray
    ) -> StreamRecord:
        """Return the sums of the streams."""
        triples = zip(self.emissions_by_stream, parameters.parts, values.parts, strict=True)
        return StreamRecord(
            tuple(part.statistics(record, stream, weights) for part, record, stream in triples)
        )

    def update(self, parameters: StreamRecord, sums: StreamRecord) -> StreamRecord:
        """Return the parameters of the streams."""
        triples = zip(self.emissions_by_stream, parameters.parts, sums.parts, strict=True)
        return StreamRecord(tuple(part.update(record, stream) for part, record, stream in triples))

    def sample(
        self,
        parameters: StreamRecord,
        states: np.ndarray,
        random: np.random.Generator,
        inputs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return one row per state, at the given inputs where streams use them."""
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return side_by_side(
            [
                part.sample(
                    record, states, random, **({"inputs": inputs} if part.uses_inputs else {})
                )
                for part, record in pairs
            ]
        )

    def expected_ahead(self, parameters: StreamRecord, ahead: Ahead) -> np.ndarray:
        """Return the expected rows of the streams side by side."""
        triples = zip(self.emissions_by_stream, parameters.parts, ahead.past.parts, strict=True)
        return np.hstack(
            [
                part.expected_ahead(record, replace(ahead, past=past))
                for part, record, past in triples
            ]
        )

    def expected(self, parameters: StreamRecord) -> np.ndarray:
        """Return the expected rows side by side."""
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return np.hstack([part.expected(record) for part, record in pairs])

    def n_parameters(self, parameters: StreamRecord) -> int:
        """Return the free numbers of all streams."""
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return sum(part.n_parameters(record) for part, record in pairs)

    def n_states(self, parameters: StreamRecord) -> int:
        """Return the number of states."""
        return self.emissions_by_stream[0].n_states(parameters.parts[0])

    def concerns(self, parameters: StreamRecord) -> list[str]:
        """Return what to warn of in the streams, which are named by their place."""
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return [
            f"Stream {place}: {note}"
            for place, (part, record) in enumerate(pairs)
            for note in part.concerns(record)
        ]

    def log_prior(self, parameters: StreamRecord) -> float:
        """Return the sum of the streams' priors."""
        pairs = zip(self.emissions_by_stream, parameters.parts, strict=True)
        return sum(part.log_prior(record) for part, record in pairs)


def side_by_side(parts: list[np.ndarray]) -> np.ndarray:
    """Return columns beside one another; words and numbers stay what they are."""
    if any(part.dtype.kind in "OUS" for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.hstack(parts)


def _numbers(values: np.ndarray, part: Emission) -> np.ndarray:
    """Return the columns of a stream of numbers, which are finite or missing."""
    refuse_labels(values, part)
    numbers = values.astype(np.float64)
    if np.isinf(numbers).any():
        raise DataError(f"X holds infinity, which {type(part).__name__} cannot read.")
    refuse_huge_numbers(numbers)
    return numbers


def _column_kind(values: np.ndarray) -> np.ndarray:
    """Return columns of a mixed table as numbers where they are numbers."""
    if values.dtype != object:
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return values
