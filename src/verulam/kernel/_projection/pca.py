"""Principal components in the space of a kernel."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    DataError,
    DataWarning,
    Interval,
    Transformer,
    check_is_fitted,
    checked_fit,
    warn_caller,
)
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, KernelParameters
from verulam.kernel._kernels.gram import centre_gram
from verulam.kernel._kernels.inputs import KERNEL_OPTIONS, kernel_tags, open_space
from verulam.kernel._tuning import ITERATED_EIGENVECTORS
from verulam.numerics import column_signs

#: Eigenvalues below this share of the largest are rounding.
NEGLIGIBLE = 1e-12
#: Components are worth having if they explain this many times the variance of as many directions
#: taken at random.
TELLING = 2.0
#: Inputs for each component from which that is judged: with fewer, any directions explain much.
JUDGED_INPUTS = 10
#: Lanczos' iteration is for a few eigenvectors: for less than one out of so many.
FEW_EIGENVECTORS = 10


@dataclass(frozen=True, eq=False)
class CentredSpectrum:
    r"""Eigenvectors of a centred Gram matrix.

    Attributes
    ----------
    values : ndarray of shape (n_components,)
        Eigenvalues :math:`\lambda_j`, the largest first.
    vectors : ndarray of shape (n_samples, n_components)
        Unit eigenvectors :math:`c_j`.
    means : ndarray of shape (n_samples,)
        Mean of each column of the Gram matrix before centring.
    total
        Sum of all eigenvalues.
    """

    values: np.ndarray
    vectors: np.ndarray
    means: np.ndarray
    total: float

    @property
    def coordinates(self) -> np.ndarray:
        r"""Coordinates :math:`\sqrt{\lambda_j} c_j^t` of the training data."""
        return self.vectors * np.sqrt(self.values)

    def project(self, gram: np.ndarray) -> np.ndarray:
        """Return coordinates of new inputs from their kernels with the training data."""
        centred = gram - gram.mean(axis=1, keepdims=True) - self.means + self.means.mean()
        # Unit directions of the feature space are sums of inputs by c / sqrt(lambda).
        return centred @ (self.vectors / np.sqrt(self.values))


def centred_spectrum(gram: np.ndarray, count: int | None = None) -> CentredSpectrum:
    """Return the leading eigenvectors of a Gram matrix after centring, all that count if None."""
    centred = centre_gram(gram)
    size = len(centred)
    count = size if count is None else min(count, size)
    total = float(np.trace(centred))
    if size >= ITERATED_EIGENVECTORS and count * FEW_EIGENVECTORS < size:
        # A fixed start: the same data give the same components.
        start = np.random.default_rng(0).normal(size=size)
        values, vectors = scipy.sparse.linalg.eigsh(centred, count, which="LA", v0=start)
    else:
        values, vectors = scipy.linalg.eigh(centred, subset_by_index=(size - count, size - 1))
    order = np.argsort(values)[::-1]
    values, vectors = values[order], vectors[:, order]
    # One eigenvalue is always rounding, as centring takes the direction of ones away.
    positive = values > NEGLIGIBLE * size * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    vectors = vectors[:, positive]
    return CentredSpectrum(
        values[positive], vectors * column_signs(vectors), gram.mean(axis=0), total
    )


class KernelPrincipalComponents(ClassNamePrefixFeaturesOutMixin, KernelParameters, Transformer):
    r"""Principal components of what a kernel makes of the inputs.

    Parameters
    ----------
    n_components
        Number of components; a fraction asks for as many as explain that share of the variance,
        None for all.
    kernel
        Kernel, its name, or a function of two tables. A sum of kernels gives joint components.
    alpha
        Penalty of the ridge regression that finds inputs for components in `inverse_transform`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues :math:`\lambda_j` of the centred Gram matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components_)
        Its eigenvectors :math:`c_j`.
    explained_share_ : ndarray of shape (n_components_,)
        Share of the variance in the kernel's space that each component explains.
    n_components_ : int
        Number of components; directions without variance are left out.
    space_ : KernelSpace
        Kernel and training data.
    spectrum_ : CentredSpectrum
        What `transform` projects with.

    Notes
    -----
    .. math:: z_j^t = \sqrt{\lambda_j}\, c_j^t

    The Gram matrix is centred first, as components are about the mean in any space. With the linear
    kernel this is principal components analysis, or multidimensional scaling. See Alpaydin 13.14.

    Examples
    --------
    A disc inside a ring becomes separable by a threshold on the first component:

    >>> import numpy as np
    >>> from verulam.kernel import Gaussian, KernelPrincipalComponents
    >>> angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> components = KernelPrincipalComponents(n_components=1, kernel=Gaussian(1.0))
    >>> components.fit_transform(np.vstack([0.3 * ring, 2 * ring])).ravel()[[0, 3, 12, 15]].round(3)
    array([ 0.458,  0.458, -0.458, -0.458])
    >>> components.explained_share_.round(3)
    array([0.324])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "kernel": KERNEL_OPTIONS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | float | None = 2,
        *,
        kernel: str | Kernel | Function = "rbf",
        alpha: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha

    @classmethod
    def _example_learners(cls) -> list["KernelPrincipalComponents"]:
        return [cls(), cls(n_components=0.9, kernel="polynomial")]

    def __sklearn_tags__(self) -> Tags:
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of the training data."""
        self.space_ = open_space(self, self.kernel, X)
        count_or_share = self.n_components
        is_count = count_or_share is None or isinstance(count_or_share, Integral)
        spectrum = centred_spectrum(self.space_.gram, count_or_share if is_count else None)  # type: ignore[arg-type] # a count or None
        if not len(spectrum.values):
            raise DataError(
                "all inputs are the same to this kernel: there is no variance to explain."
            )
        shares = spectrum.values / spectrum.total
        if not is_count:
            enough = int(np.searchsorted(shares.cumsum(), float(count_or_share)) + 1)  # type: ignore[arg-type] # a share
            spectrum = replace(
                spectrum, values=spectrum.values[:enough], vectors=spectrum.vectors[:, :enough]
            )
        self.spectrum_ = spectrum
        self.eigenvalues_, self.eigenvectors_ = spectrum.values, spectrum.vectors
        self.explained_share_ = shares[: len(spectrum.values)]
        self.n_components_ = len(spectrum.values)
        # Of given matrices, as that of locally linear embedding, only the order may be meant.
        if self.space_.kernel.takes != "gram":
            _warn_of_poor_compression(self.explained_share_, len(spectrum.vectors))
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the components, and return those of the training data."""
        return self.fit(X).spectrum_.coordinates

    def transform(self, X: Any) -> np.ndarray:
        """Return the components of each input."""
        check_is_fitted(self)
        return self.spectrum_.project(self.space_.against(self, X))

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return inputs with about these components, by ridge regression on them."""
        check_is_fitted(self)
        if self.space_.kernel.takes != "rows":
            raise DataError(
                "inverse_transform finds rows of numbers; the kernel compares "
                f"{self.space_.kernel.takes}."
            )
        training = self.spectrum_.coordinates
        components = np.asarray(X, dtype=np.float64)
        if components.ndim != 2 or components.shape[1] != self.n_components_:
            raise DataError(
                f"X must have {self.n_components_} columns, one for each component; got shape "
                f"{components.shape}."
            )
        kernel = self.space_.kernel
        # Inputs are regressed on components by the same kernel (Bakir, Weston and Schoelkopf 2004).
        gram = kernel(training)
        gram[np.diag_indices_from(gram)] += self.alpha
        # About the mean, so that the ridge draws towards it and not towards zero.
        mean = self.space_.inputs.mean(axis=0)
        weights = scipy.linalg.solve(gram, self.space_.inputs - mean, assume_a="pos")
        return kernel(components, training) @ weights + mean


def _warn_of_poor_compression(shares: np.ndarray, n_inputs: int) -> None:
    """Say where eigenvalues hardly decay, as those of a narrow Gaussian kernel."""
    even = len(shares) / max(1, n_inputs - 1)
    explained = float(shares.sum())
    if n_inputs < JUDGED_INPUTS * len(shares) or explained >= TELLING * even:
        return
    warn_caller(
        f"{len(shares)} kernel components explain {explained:.2%} of the variance, hardly more "
        f"than the {even:.2%} of any directions: to this kernel the inputs are about equally far "
        "from one another. Take a wider kernel, or fewer columns.",
        DataWarning,
    )
