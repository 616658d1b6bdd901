"""The reader of kernel inputs: rows, objects or a Gram matrix, checked, as a kernel takes them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags, check_array

from verulam.base import (
    DataError,
    DataWarning,
    check_classification_targets,
    column_or_1d,
    validate_data,
    warn_caller,
)
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, Precomputed, as_kernel, check_finite
from verulam.kernel._kernels.gram import (
    LEFT_OUT,
    STATIONARY,
    check_gram,
    check_inner_product,
)
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._kernels.radial import Gaussian

#: More training rows than these are better served by explicit features: where rows of the Gram
#: matrix are computed when they are needed, and time is the limit ...
MANY_ROWS = 100_000
#: ... and where all of it is in memory: 0.75 GiB for this many.
MANY_HELD_ROWS = 10_000

#: What learners accept as a kernel; a test of the value itself is left to `as_kernel`.
KERNEL_OPTIONS: list[object] = [str, Kernel, callable]


def read_training(
    learner: Any,
    kernel: str | Kernel | Function,
    X: Any,
    y: Any = None,
    *,
    supervised: bool = True,
    **checks: Any,
) -> tuple[Kernel, np.ndarray, Any]:
    """Return the kernel as the data make it, the training inputs in its form, and the targets.

    Parameters
    ----------
    learner
        Learner in whose name inputs are checked.
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    X, y
        Training data.
    supervised
        Whether there are targets.
    **checks
        What `validate_data` should check beside.
    """
    return _read_adapted(
        learner, kernel, X, y, supervised=supervised, n_gram_matrices=0, checks=checks
    )


def open_space(learner: Any, kernel: str | Kernel | Function, X: Any) -> "KernelSpace":
    """Return the feature space of a kernel on training data, with the whole Gram matrix."""
    adapted, inputs, _ = _read_adapted(
        learner,
        kernel,
        X,
        None,
        supervised=False,
        n_gram_matrices=1,
        checks={"ensure_min_samples": 2},
    )
    if adapted.takes == "gram":
        return KernelSpace(adapted, inputs, inputs)
    gram = adapted(inputs)
    check_finite(gram)
    # A copy: later changes to the caller's array must not change the model.
    return KernelSpace(adapted, inputs.copy(), gram)


def read_inputs(
    learner: Any, kernel: Kernel, X: Any, *, reset: bool = True, ensure_min_samples: int = 1
) -> np.ndarray:
    """Return inputs as the kernel takes them; training inputs where `reset`, else new ones."""
    checks = {"reset": reset, "ensure_min_samples": ensure_min_samples}
    return _read(learner, kernel, X, None, supervised=False, checks=checks)[0]


def read_classes(y: ArrayLike, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted labels and the code of each row's class; refuse fewer than two."""
    labels = column_or_1d(
        check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0), warn=True
    )
    check_classification_targets(labels)
    if len(labels) != n_rows:
        raise DataError(
            f"y must have one label for each of the {n_rows} inputs; got {len(labels)}."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"y must have two classes or more; got 1 class, {classes.tolist()[0]!r}.")
    return classes, codes


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """The feature space of a kernel, spanned by the training data.

    Attributes
    ----------
    kernel
        The kernel, with what it takes from the data filled in.
    inputs : ndarray
        Training inputs as the kernel takes them.
    gram : ndarray of shape (n_samples, n_samples)
        Kernel of each training input with each.
    """

    kernel: Kernel
    inputs: np.ndarray
    gram: np.ndarray

    def against(self, learner: Any, X: Any) -> np.ndarray:
        """Return the kernel of each new input with each training input."""
        queries = read_inputs(learner, self.kernel, X, reset=False)
        return queries if self.kernel.takes == "gram" else self.kernel(queries, self.inputs)


def kernel_tags(tags: Tags, kernel: Any) -> Tags:
    """Return a learner's tags with the kind of input that its kernel takes."""
    tags.input_tags.pairwise = kernel == "precomputed" or isinstance(kernel, Precomputed)
    if isinstance(kernel, Kernel) and kernel.takes == "objects":
        tags.input_tags.two_d_array = False
        tags.no_validation = True
    return tags


def warn_of_many_rows(kernel: Kernel | None, n_rows: int, n_gram_matrices: int) -> None:
    """Warn where training takes long or much memory, and name the feature map to use instead.

    Parameters
    ----------
    kernel
        The kernel; None where there are several.
    n_rows
        Number of training rows.
    n_gram_matrices
        Gram matrices that are held whole; none where rows are computed when they are needed.
    """
    if n_gram_matrices:
        gibibytes = n_gram_matrices * n_rows**2 / 2**27
        needs = f"the Gram matrices of {n_rows} inputs take {gibibytes:.1f} GiB"
    else:
        needs = f"training on {n_rows} inputs takes time that grows with their square"
    # Without a Gram matrix, a linear kernel is solved in the space of the inputs itself.
    quick = not n_gram_matrices and isinstance(kernel, Linear)
    if quick or n_rows <= (MANY_HELD_ROWS if n_gram_matrices else MANY_ROWS):
        return
    fourier = isinstance(kernel, Gaussian) and not isinstance(kernel.width, tuple)
    method = "random Fourier features" if fourier else "the Nystroem method"
    warn_caller(
        f"{needs}. For a linear machine, verulam.kernel.feature_map makes explicit features: "
        f"{'it chooses' if kernel is None else 'for this kernel it chooses'} "
        f"{'random Fourier features or the Nystroem method' if kernel is None else method}.",
        DataWarning,
    )


def _read_adapted(
    learner: Any,
    kernel: str | Kernel | Function,
    X: Any,
    y: Any,
    *,
    supervised: bool,
    n_gram_matrices: int,
    checks: dict[str, Any],
) -> tuple[Kernel, np.ndarray, Any]:
    """Return the kernel adapted to its inputs, these in its form, and the targets."""
    unadapted = as_kernel(kernel)
    inputs, targets = _read(learner, unadapted, X, y, supervised=supervised, checks=checks)
    if unadapted.takes == "gram":
        treatment = LEFT_OUT if n_gram_matrices else STATIONARY
        return unadapted, check_gram(inputs, treatment), targets
    if unadapted.takes == "rows":
        warn_of_many_rows(unadapted, len(inputs), n_gram_matrices)
    adapted = unadapted.adapted(inputs)
    check_inner_product(adapted, inputs)
    return adapted, inputs, targets


def _read(
    learner: Any, kernel: Kernel, X: Any, y: Any, *, supervised: bool, checks: dict[str, Any]
) -> tuple[np.ndarray, Any]:
    """Return inputs in the kernel's form, and checked targets, None where there are none."""
    if kernel.takes == "objects":
        training = checks.get("reset", True)
        return _read_objects(kernel, X, y, supervised=supervised, training=training)
    with _numbers_needed():
        if supervised:
            rows, targets = validate_data(learner, X, y, dtype=np.float64, order="C", **checks)
        else:
            rows, targets = validate_data(learner, X, dtype=np.float64, order="C", **checks), None
    rows = np.asarray(rows)
    return rows if kernel.takes == "gram" else kernel.inputs(rows), targets


def _read_objects(
    kernel: Kernel, X: Any, y: Any, *, supervised: bool, training: bool
) -> tuple[np.ndarray, Any]:
    inputs = kernel.inputs(X)
    if not supervised:
        targets = None
    else:
        targets = column_or_1d(y)
        if len(targets) != len(inputs):
            raise DataError(f"y has {len(targets)} labels, but X has {len(inputs)} inputs.")
    if training and not len(inputs):
        raise DataError("X has no inputs; at least one is needed.")
    return inputs, targets


@contextmanager
def _numbers_needed() -> Iterator[None]:
    """Say which kernels take words, where words are given to one of numbers."""
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise DataError(
            f"X must be a table of numbers for this kernel ({error}). Encode categories, or use a "
            "kernel of objects such as SpectrumKernel for strings."
        ) from None
