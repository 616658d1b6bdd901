"""Kernels of strings: shared substrings, shared subsequences, and edit distances."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel, as_objects, positive
from verulam.kernel._object_kernels.bags import Bag, PartKernel
from verulam.kernel._object_kernels.strings_loops import edit_distances as edit_loop
from verulam.kernel._object_kernels.strings_loops import subsequence_products


@dataclass(frozen=True)
class _Encoded:
    """Strings as codes end to end: string i is ``codes[starts[i]:starts[i + 1]]``."""

    codes: np.ndarray
    starts: np.ndarray


def _encode(strings: np.ndarray, alphabet: dict[Any, int]) -> _Encoded:
    codes = [alphabet.setdefault(symbol, len(alphabet)) for string in strings for symbol in string]
    starts = np.concatenate([[0], np.cumsum([len(string) for string in strings])])
    return _Encoded(np.array(codes, dtype=np.int32), starts.astype(np.int64))


def _encode_both(left: np.ndarray, right: np.ndarray) -> tuple[_Encoded, _Encoded]:
    # One alphabet for both sides: a symbol has the same code on either.
    alphabet: dict[Any, int] = {}
    return _encode(left, alphabet), _encode(right, alphabet)


def _check_strings(inputs: np.ndarray) -> np.ndarray:
    for place, string in enumerate(inputs):
        if not isinstance(string, str | Sequence):
            raise DataError(
                f"input {place} must be a string or a sequence of symbols; got "
                f"{type(string).__name__}."
            )
    return inputs


def _whole(name: str, value: int) -> None:
    if value < 1 or value != int(value):
        raise DataError(f"{name} must be a whole number above 0; got {value}.")


@dataclass(frozen=True)
class SpectrumKernel(PartKernel):
    """Number of substrings that two strings share.

    Attributes
    ----------
    length
        Length of the substrings.
    shorter
        Whether shorter ones count as well.

    Notes
    -----
    Strings may be sequences of any symbols. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import SpectrumKernel
    >>> SpectrumKernel(length=2)(["banana"], ["ananas", "band"])
    array([[8., 3.]])
    """

    length: int = 3
    shorter: bool = False

    def __post_init__(self) -> None:
        _whole("length", self.length)

    def inputs(self, X: Any) -> np.ndarray:
        return _check_strings(as_objects(X))

    def parts(self, structure: Any) -> Bag:
        symbols = structure if isinstance(structure, str) else tuple(structure)
        lengths = range(1 if self.shorter else self.length, self.length + 1)
        return Counter(
            symbols[start : start + length]
            for length in lengths
            for start in range(len(symbols) - length + 1)
        )


@dataclass(frozen=True)
class SubsequenceKernel(Kernel):
    r"""Subsequences that two strings share, gaps allowed at a price.

    Attributes
    ----------
    length
        Length of the subsequences.
    decay
        Factor :math:`\lambda` for each letter that a subsequence spans, gaps included.

    Notes
    -----
    .. math:: K(s, t) = \sum_u \sum_{i: s_i = u} \sum_{j: t_j = u} \lambda^{l(i) + l(j)}

    over all subsequences :math:`u`, where :math:`l` is the length from first letter to last. See
    Alpaydin 13.7.

    Examples
    --------
    "ct" spans three letters of "cat" and two of "act":

    >>> from verulam.kernel import SubsequenceKernel
    >>> SubsequenceKernel(length=2, decay=0.5)(["cat"], ["act", "cart"]).tolist()
    [[0.0625, 0.1015625]]
    """

    length: int = 3
    decay: float = 0.5

    takes: ClassVar[str] = "objects"

    def __post_init__(self) -> None:
        _whole("length", self.length)
        if not 0 < self.decay <= 1:
            raise DataError(f"decay must be above 0 and at most 1; got {self.decay}.")

    def inputs(self, X: Any) -> np.ndarray:
        return _check_strings(as_objects(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        first, second = _encode_both(left, right)
        return subsequence_products(
            first.codes,
            first.starts,
            second.codes,
            second.starts,
            int(self.length),
            float(self.decay),
        )


@dataclass(frozen=True)
class EditKernel(Kernel):
    r"""Strings that take few operations to turn into each other are alike.

    Attributes
    ----------
    width
        Distance at which the similarity has fallen to :math:`1/e`.
    insertion, deletion, substitution
        Costs of the operations; a kernel needs insertion and deletion to cost the same.

    Notes
    -----
    .. math:: K(s, t) = \exp\left(-\frac{D(s, t)}{w}\right)

    This need not be an inner product; `mercer_check` tells, and `EmpiricalKernelMap` makes one of
    any score. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import EditKernel, edit_distances
    >>> edit_distances(["kitten"], ["sitting", "mitten"])
    array([[3., 1.]])
    >>> EditKernel(width=2.0)(["kitten"], ["sitting", "mitten"]).round(3)
    array([[0.223, 0.607]])
    """

    width: float = 1.0
    insertion: float = 1.0
    deletion: float = 1.0
    substitution: float = 1.0

    takes: ClassVar[str] = "objects"
    certain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("width", "insertion", "deletion", "substitution"):
            positive(name, getattr(self, name))
        if self.insertion != self.deletion:
            raise DataError(
                "insertion and deletion must cost the same, or the kernel is not symmetric; got "
                f"{self.insertion:g} and {self.deletion:g}."
            )

    def inputs(self, X: Any) -> np.ndarray:
        return _check_strings(as_objects(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        gaps = edit_distances(
            left,
            right,
            insertion=self.insertion,
            deletion=self.deletion,
            substitution=self.substitution,
        )
        return np.exp(-gaps / self.width)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(len(self.inputs(X)))


def edit_distances(
    X: Any,
    Y: Any = None,
    *,
    insertion: float = 1.0,
    deletion: float = 1.0,
    substitution: float = 1.0,
) -> np.ndarray:
    """Return the least cost of turning each string of `X` into each of `Y`, or of `X`.

    Parameters
    ----------
    X, Y
        Strings, or sequences of symbols.
    insertion, deletion, substitution
        Cost of one operation of each kind.

    Examples
    --------
    >>> from verulam.kernel import edit_distances
    >>> edit_distances(["sunday", "saturday"])
    array([[0., 3.],
           [3., 0.]])
    """
    left = _check_strings(as_objects(X))
    right = left if Y is None else _check_strings(as_objects(Y))
    first, second = _encode_both(left, right)
    costs = float(insertion), float(deletion), float(substitution)
    return edit_loop(first.codes, first.starts, second.codes, second.starts, *costs)
