"""Canonical correlation of two views, each in the space of a kernel."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import DataError, Interval, Transformer, check_is_fitted, checked_fit
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, KernelParameters, as_kernel
from verulam.kernel._kernels.inputs import KERNEL_OPTIONS, kernel_tags, open_space
from verulam.kernel._projection.pca import CentredSpectrum, centred_spectrum
from verulam.numerics import column_signs


class KernelCorrelations(ClassNamePrefixFeaturesOutMixin, KernelParameters, Transformer):
    r"""Directions in the spaces of two kernels along which two views of the data go together.

    Parameters
    ----------
    n_components
        Number of pairs of directions.
    kernel
        Kernel of the first view, its name, or a function of two tables.
    target_kernel
        Kernel of the second view, given as `y`.
    alpha
        Variance added in every direction, as a share of a view's total variance. Without it rich
        spaces correlate perfectly, whatever the data.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components_,)
        Correlations of the pairs of projections on the training data.
    directions_, target_directions_ : ndarray of shape (n_dimensions, n_components_)
        The directions, in coordinates of each kernel's principal components.
    n_components_ : int
        Number of pairs.
    space_ : KernelSpace
        Kernel and training data of the first view.
    spectrum_, target_spectrum_ : CentredSpectrum
        Principal components of the views.
    target_inputs_ : ndarray
        Training data of the second view.
    target_kernel_ : Kernel
        Kernel of the second view, adapted to its data.

    Notes
    -----
    .. math:: \max_{u, v} \frac{u^T C_{xy} v}{\sqrt{u^T (C_{xx} + \kappa I) u \;
              v^T (C_{yy} + \kappa I) v}}

    in the spaces of both kernels; with linear kernels and little `alpha` this is canonical
    correlation analysis. See Alpaydin 13.14.

    Examples
    --------
    The second view is the square of the first, which a linear correlation cannot see:

    >>> import numpy as np
    >>> from verulam.kernel import KernelCorrelations
    >>> x = np.linspace(-1, 1, 21)[:, None]
    >>> for kernel in ("linear", "polynomial"):
    ...     learner = KernelCorrelations(1, kernel=kernel, target_kernel="linear", alpha=1e-6)
    ...     print(kernel, learner.fit(x, x**2).correlations_.round(3))
    linear [0.]
    polynomial [1.]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": KERNEL_OPTIONS,
        "target_kernel": KERNEL_OPTIONS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Kernel | Function = "rbf",
        target_kernel: str | Kernel | Function = "rbf",
        alpha: float = 1e-2,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.alpha = alpha

    def __sklearn_tags__(self) -> Tags:
        tags = kernel_tags(super().__sklearn_tags__(), self.kernel)
        tags.target_tags.required = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions; `y` is the second view, row by row with `X`."""
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: y is the second view."
            )
        self.space_ = open_space(self, self.kernel, X)
        self.target_kernel_, self.target_inputs_ = _second_view(self.target_kernel, y)
        second = self.target_kernel_(
            *([self.target_inputs_] * (1 if self.target_kernel_.takes == "gram" else 2))
        )
        if len(second) != len(self.space_.gram):
            raise DataError(
                "both views must have as many rows: "
                f"X has {len(self.space_.gram)}, y {len(second)}."
            )
        self.spectrum_, self.target_spectrum_ = (
            _nonempty(centred_spectrum(gram), name)
            for gram, name in ((self.space_.gram, "X"), (second, "y"))
        )
        # Variances along principal components are their eigenvalues, by whose roots one whitens.
        first_scales, second_scales = (
            1.0 / np.sqrt(spectrum.values + self.alpha * spectrum.total)
            for spectrum in (self.spectrum_, self.target_spectrum_)
        )
        coordinates, targets = self.spectrum_.coordinates, self.target_spectrum_.coordinates
        # In whitened coordinates canonical correlations are singular values of the cross products.
        left, _, right = np.linalg.svd(
            (coordinates * first_scales).T @ (targets * second_scales), full_matrices=False
        )
        count = min(self.n_components, left.shape[1])
        directions = first_scales[:, None] * left[:, :count]
        # The sign of a pair is free; both views get the same one.
        signs = column_signs(coordinates @ directions)
        self.directions_ = directions * signs
        self.target_directions_ = second_scales[:, None] * right[:count].T * signs
        self.n_components_ = count
        self.correlations_ = _correlations(
            coordinates @ self.directions_, targets @ self.target_directions_
        )
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> np.ndarray:
        """Return the projection of the first view."""
        check_is_fitted(self)
        return self.spectrum_.project(self.space_.against(self, X)) @ self.directions_

    def transform_target(self, y: Any) -> np.ndarray:
        """Return the projection of the second view."""
        check_is_fitted(self)
        kernel = self.target_kernel_
        view = y if kernel.takes == "objects" else _columns(y)
        gram = kernel(view) if kernel.takes == "gram" else kernel(view, self.target_inputs_)
        return self.target_spectrum_.project(gram) @ self.target_directions_


def _second_view(kernel: str | Kernel | Function, y: Any) -> tuple[Kernel, np.ndarray]:
    unadapted = as_kernel(kernel)
    inputs = unadapted.inputs(y if unadapted.takes == "objects" else _columns(y))
    if unadapted.takes != "objects" and not np.isfinite(inputs).all():
        raise DataError("y must have finite numbers only; it contains NaN or infinity.")
    return unadapted.adapted(inputs), inputs.copy()


def _columns(y: Any) -> Any:
    values = np.asarray(y)
    return values[:, None] if values.ndim == 1 else y


def _nonempty(spectrum: CentredSpectrum, name: str) -> CentredSpectrum:
    if not len(spectrum.values):
        raise DataError(f"{name} must vary: all its rows are the same to its kernel.")
    return spectrum


def _correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    products = (first * second).sum(axis=0)
    return products / np.maximum(
        np.sqrt((first**2).sum(axis=0) * (second**2).sum(axis=0)), np.finfo(float).tiny
    )
