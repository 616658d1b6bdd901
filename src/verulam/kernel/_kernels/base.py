"""Mercer kernels: what each of them is, and their algebra (sums, products, cosines, centring)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np

from verulam.base import DataError, thread_map
from verulam.kernel._tuning import GRAM_BLOCK_ENTRIES, GRAM_THREADED_ENTRIES


class Kernel:
    """A similarity of two inputs that is an inner product in some space.

    A kernel of your own derives from this class and defines `_values`; `diagonal` and `adapted`
    where there is a quicker diagonal or something to learn from the data. Kernels are added,
    multiplied and scaled with ``+`` and ``*``. Their parameters are those of the learner they are
    given to, as ``kernel__width`` or, in a sum, ``kernel__first__width``.

    Examples
    --------
    >>> from verulam.kernel import Gaussian, Linear
    >>> kernel = Linear() + 2.0 * Gaussian(width=1.0)
    >>> kernel([[0.0], [1.0]]).round(3)
    array([[2.   , 1.213],
           [1.213, 3.   ]])
    """

    #: What the kernel compares: "rows" of numbers, "objects" of any kind, or it is given the
    #: "gram" matrix itself.
    takes: ClassVar[str] = "rows"
    #: Whether it is an inner product on any data; where not, learners look at some of theirs.
    certain: ClassVar[bool] = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel of each input of `X` (rows) with each of `Y` (columns), or of `X`."""
        left = self.inputs(X)
        right = left if Y is None else self.inputs(Y)
        result = np.empty((len(left), len(right)))
        self.fill(left, right, result)
        return result

    def inputs(self, X: Any) -> np.ndarray:
        """Return inputs in the form that `fill` takes: an array of rows, or of objects."""
        return as_objects(X) if self.takes == "objects" else as_rows(X)

    def fill(
        self,
        left: np.ndarray,
        right: np.ndarray,
        result: np.ndarray,
        places: np.ndarray | None = None,
    ) -> None:
        """Write the Gram matrix of prepared inputs into `result`, in blocks of rows.

        `places` are the rows of `result` to write, where these are not all in their order.
        """
        step = max(1, GRAM_BLOCK_ENTRIES // max(1, len(right)))
        starts = range(0, len(left), step)

        def block(start: int) -> None:
            rows = slice(start, start + step)
            if places is None:
                self._write(left[rows], right, result[rows])
            else:
                part = np.empty((len(left[rows]), len(right)), dtype=result.dtype)
                self._write(left[rows], right, part)
                result[places[rows]] = part

        if len(starts) == 1:
            block(0)
            return
        # A thread for few entries would cost more than it saves.
        many = len(left) * len(right) > GRAM_THREADED_ENTRIES
        thread_map(block, starts, 0 if many else 1)

    def _write(self, left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
        result[...] = self._values(left, right)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the Gram matrix of prepared inputs."""
        raise NotImplementedError

    def diagonal(self, X: Any) -> np.ndarray:
        """Return the kernel of each input with itself."""
        inputs = self.inputs(X)
        values = [self._values(inputs[t : t + 1], inputs[t : t + 1]) for t in range(len(inputs))]
        return np.array([float(value[0, 0]) for value in values])

    def adapted(self, X: Any) -> "Kernel":
        """Return the kernel with everything that comes from the training data filled in."""
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, those of kernels inside as well.

        Examples
        --------
        >>> from verulam.kernel import Gaussian
        >>> sorted((2.0 * Gaussian(width=1.0)).get_params())
        ['factor', 'kernel', 'kernel__width']
        """
        parameters = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name, value in list(parameters.items()):
                if isinstance(value, Kernel):
                    inside = value.get_params()
                    parameters |= {f"{name}__{inner}": inside[inner] for inner in inside}
        return parameters

    def set_params(self, **params: Any) -> "Kernel":
        """Change parameters of this kernel, in place, as scikit-learn's protocol has it.

        Kernels inside are replaced rather than changed, since others may share them.

        Examples
        --------
        >>> from verulam.kernel import Gaussian, Linear
        >>> (Linear() + Gaussian(width=1.0)).set_params(second__width=3.0)
        Sum(first=Linear(), second=Gaussian(width=3.0))
        """
        changes: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            outer, separator, inner = name.partition("__")
            if outer not in self._parameter_names():
                listing = ", ".join(self._parameter_names()) or "none"
                raise DataError(
                    f"{type(self).__name__} has no parameter {outer!r}; it has {listing}."
                )
            if separator:
                nested.setdefault(outer, {})[inner] = value
            else:
                changes[outer] = value
        for outer, inside in nested.items():
            part = changes.get(outer, getattr(self, outer))
            if not isinstance(part, Kernel):
                raise DataError(f"{outer!r} of {type(self).__name__} is no kernel with parameters.")
            changes[outer] = copy(part).set_params(**inside)
        if is_dataclass(type(self)):
            # Made anew, so that values are checked and what follows from them is forgotten.
            changes = vars(replace(cast(Any, self), **changes))
            vars(self).clear()
        vars(self).update(changes)
        return self

    def _parameter_names(self) -> list[str]:
        if is_dataclass(type(self)):
            # What `adapted` fills in from data is not shown.
            return [part.name for part in fields(cast(Any, self)) if part.init and part.repr]
        return list(vars(self))

    def __sklearn_clone__(self) -> "Kernel":
        return copy(self)

    def on_columns(self, columns: Sequence[int]) -> "Kernel":
        """Return the same kernel of some columns only: one view of the data."""
        return Columns(self, tuple(columns))

    def normalised(self) -> "Kernel":
        """Return the kernel divided by the lengths of both inputs: a cosine."""
        return Normalised(self)

    def centred(self) -> "Kernel":
        """Return the kernel about the mean of the training data in its space."""
        return Centred(self)

    def __add__(self, other: Any) -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum(self, other)

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, int | float):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__


class _Pair(Kernel):
    """Two kernels of the same inputs."""

    first: Kernel
    second: Kernel

    @property
    def takes(self) -> str:  # type: ignore[override] # follows from the parts
        """What both parts compare."""
        return self.first.takes

    def _check_parts(self) -> None:
        if self.first.takes != self.second.takes:
            raise DataError(
                f"cannot combine a kernel of {self.first.takes} with one of {self.second.takes}; "
                "both must compare the same kind of input."
            )

    def inputs(self, X: Any) -> np.ndarray:
        return self.first.inputs(X)


@dataclass(frozen=True)
class Sum(_Pair):
    r"""Sum of two kernels: the features of both, side by side.

    Attributes
    ----------
    first, second
        The kernels.
    """

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

    def adapted(self, X: Any) -> Kernel:
        return Sum(self.first.adapted(X), self.second.adapted(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.first._values(left, right) + self.second._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.first.diagonal(X) + self.second.diagonal(X)


@dataclass(frozen=True)
class Product(_Pair):
    """Product of two kernels: the products of their features.

    Attributes
    ----------
    first, second
        The kernels.
    """

    first: Kernel
    second: Kernel

    def __post_init__(self) -> None:
        self._check_parts()

    def adapted(self, X: Any) -> Kernel:
        return Product(self.first.adapted(X), self.second.adapted(X))

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.first._values(left, right) * self.second._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.first.diagonal(X) * self.second.diagonal(X)


class _Around(Kernel):
    """A kernel that changes another one."""

    kernel: Kernel

    @property
    def takes(self) -> str:  # type: ignore[override] # follows from the part
        """What the inner kernel compares."""
        return self.kernel.takes

    def inputs(self, X: Any) -> np.ndarray:
        return self.kernel.inputs(X)

    def adapted(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.adapted(X))  # type: ignore[type-var] # a dataclass


@dataclass(frozen=True)
class Scaled(_Around):
    """A kernel times a positive number.

    Attributes
    ----------
    kernel
        The kernel.
    factor
        The number; a negative one would make no inner product.
    """

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        positive("factor", self.factor)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.factor * self.kernel._values(left, right)

    def diagonal(self, X: Any) -> np.ndarray:
        return self.factor * self.kernel.diagonal(X)


@dataclass(frozen=True)
class Columns(_Around):
    """A kernel of some of the columns.

    Attributes
    ----------
    kernel
        The kernel.
    columns
        Positions of the columns it sees.
    """

    kernel: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.kernel.takes != "rows":
            raise DataError("columns: only a kernel of rows of numbers has columns to choose from.")
        if not self.columns:
            raise DataError("columns must name one column or more.")

    def inputs(self, X: Any) -> np.ndarray:
        rows = as_rows(X)
        # The inner kernel may have wishes of its own, of the columns that it sees.
        self.kernel.inputs(self._view(rows))
        return rows

    def _view(self, X: np.ndarray) -> np.ndarray:
        if max(self.columns) >= X.shape[1] or min(self.columns) < -X.shape[1]:
            raise DataError(
                f"columns must be positions below {X.shape[1]}, the number of columns of X; got "
                f"{list(self.columns)}."
            )
        return np.ascontiguousarray(X[:, list(self.columns)])

    def adapted(self, X: Any) -> Kernel:
        return Columns(self.kernel.adapted(self._view(self.inputs(X))), self.columns)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self.kernel._values(self._view(left), self._view(right))

    def diagonal(self, X: Any) -> np.ndarray:
        return self.kernel.diagonal(self._view(self.inputs(X)))


@dataclass(frozen=True)
class Normalised(_Around):
    r"""The cosine of two inputs in the kernel's space.

    Attributes
    ----------
    kernel
        The kernel.

    Notes
    -----
    .. math:: K'(x, y) = \frac{K(x, y)}{\sqrt{K(x, x)\, K(y, y)}}
    """

    kernel: Kernel

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        norms = [np.sqrt(self.kernel.diagonal(inputs)) for inputs in (left, right)]
        # An input without length is like nothing, itself included.
        rows, columns = (np.where(lengths > 0, lengths, np.inf) for lengths in norms)
        return self.kernel._values(left, right) / rows[:, None] / columns

    def diagonal(self, X: Any) -> np.ndarray:
        return (self.kernel.diagonal(X) > 0).astype(np.float64)


@dataclass(frozen=True)
class Centred(_Around):
    r"""A kernel about the mean of the training data in its space.

    Attributes
    ----------
    kernel
        The kernel.
    reference : ndarray or None
        Training inputs, filled in by `adapted`.
    means : ndarray or None
        Mean kernel of each training input with all of them.

    Notes
    -----
    .. math:: K'(x, y) = K(x, y) - \overline{K}(x) - \overline{K}(y) + \overline{K}

    with means over the training data.
    """

    kernel: Kernel
    reference: np.ndarray | None = field(default=None, compare=False, repr=False)
    means: np.ndarray | None = field(default=None, compare=False, repr=False)

    def adapted(self, X: Any) -> Kernel:
        inner = self.kernel.adapted(X)
        reference = inner.inputs(X)
        return Centred(inner, reference, inner(reference).mean(axis=0))

    def _known(self) -> tuple[np.ndarray, np.ndarray]:
        if self.reference is None or self.means is None:
            raise DataError(
                "a centred kernel needs the mean of the training data: call adapted(X) first, or "
                "give it to a learner, which does."
            )
        return self.reference, self.means

    def _shift(self, inputs: np.ndarray) -> np.ndarray:
        reference, _ = self._known()
        return self.kernel._values(inputs, reference).mean(axis=1)

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        _, means = self._known()
        # Against the training inputs the means of the columns are known.
        columns = means if right is self.reference else self._shift(right)
        return (
            self.kernel._values(left, right)
            - self._shift(left)[:, None]
            - columns
            + float(means.mean())
        )

    def diagonal(self, X: Any) -> np.ndarray:
        inputs = self.inputs(X)
        _, means = self._known()
        return self.kernel.diagonal(inputs) - 2.0 * self._shift(inputs) + float(means.mean())


def as_rows(X: Any) -> np.ndarray:
    """Return a table of numbers, or say that it is none."""
    try:
        rows = np.ascontiguousarray(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"X must be a table of numbers for this kernel ({error}). Encode categories, or use a "
            "kernel of objects such as strings."
        ) from None
    if rows.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns; got {rows.ndim}.")
    return rows


def as_objects(X: Any) -> np.ndarray:
    """Return a sequence of objects as an array that can be indexed."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        return X
    objects = list(X)
    array = np.empty(len(objects), dtype=object)
    # One by one: NumPy would turn sequences of one length into a table.
    for position, thing in enumerate(objects):
        array[position] = thing
    return array


def positive(name: str, value: float) -> None:
    """Refuse a parameter of a kernel that is not above zero."""
    if not (np.isfinite(value) and value > 0):
        raise DataError(f"{name} must be a finite number above 0; got {value}.")
