"""A classifier made of one description per class."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import Classifier, DataWarning, StrOptions, checked_fit, encode_classes
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._svm.base import SHARE, SHARED_CONSTRAINTS, SupportVectorMachine
from verulam.kernel._svm.one_class import OneClassMachine


class ClassDescriptions(SupportVectorMachine, Classifier):
    r"""Describe every class by a one-class machine, and choose the one that fits best.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    nu
        Share of each class that may be outside its description.
    priors
        None for the shares of the classes in the data, or "equal".
    tol
        Largest violation of the KKT conditions.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    kernel_ : Kernel
        The kernel with what it took from the data.
    machines_ : list of OneClassMachine
        Description of each class.
    priors_ : ndarray of shape (n_classes,)
        Weight of each class.
    n_iter_ : int
        Working sets solved for the class that took most.

    Notes
    -----
    With a Gaussian kernel :math:`\sum_t \alpha^t K(x^t, x)` stands for :math:`p(x \mid C_i)`, a
    kernel density on support vectors alone. See Alpaydin 13 exercise 8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import ClassDescriptions
    >>> X, y = load_iris(return_X_y=True)
    >>> round(ClassDescriptions(nu=0.5).fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.91
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {
        "nu": SHARE,
        "priors": [StrOptions({"equal"}), None],
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        nu: float = 0.5,
        priors: str | None = None,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.priors = priors
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    @classmethod
    def _example_learners(cls) -> list["ClassDescriptions"]:
        return [cls(kernel=Gaussian(1.0), tol=1e-9)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train one machine on the rows of each class."""
        kernel, inputs, labels = read_training(self, self.kernel, X, y)
        codes, self.classes_ = encode_classes(self, labels)
        self.kernel_ = kernel
        counts = np.bincount(codes, minlength=len(self.classes_)).astype(np.float64)
        self.priors_ = counts / counts.sum()
        if self.priors == "equal":
            self.priors_ = np.full(len(counts), 1.0 / len(counts))
        # Of a row of a Gram matrix, each class's machine sees the columns of its members.
        self._members = [np.flatnonzero(codes == label) for label in range(len(counts))]
        with warnings.catch_warnings():
            # What is to be said of the kernel was said of all rows.
            warnings.simplefilter("ignore", DataWarning)
            self.machines_ = [
                OneClassMachine(
                    kernel=kernel,
                    nu=self.nu,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    cache_size=self.cache_size,
                ).fit(self._part(inputs, members)[members])
                for members in self._members
            ]
        self.n_iter_ = max(machine.n_iter_ for machine in self.machines_)
        return self

    def _part(self, inputs: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return inputs as the machine of some training rows knows them."""
        return inputs[:, members] if self.kernel_.takes == "gram" else inputs

    def _parts(self, X: ArrayLike) -> Iterator[tuple[OneClassMachine, np.ndarray]]:
        queries = self._read_queries(X)
        for machine, members in zip(self.machines_, self._members, strict=True):
            yield machine, self._part(queries, members)

    def class_scores(self, X: ArrayLike) -> np.ndarray:
        """Return the sum over support vectors of each class, one column each."""
        return np.column_stack([machine.score_samples(part) for machine, part in self._parts(X)])

    def outside(self, X: ArrayLike) -> np.ndarray:
        """Return whether each row is an outlier of every class, so that one may reject it."""
        inside = [machine.predict(part) > 0 for machine, part in self._parts(X)]
        return ~np.any(inside, axis=0)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the largest score times prior."""
        scores = self.class_scores(X)
        return self.classes_[(scores * self.priors_).argmax(axis=1)]
