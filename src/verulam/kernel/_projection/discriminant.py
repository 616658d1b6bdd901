"""Fisher's linear discriminant in the space of a kernel."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    Transformer,
    check_is_fitted,
    checked_fit,
)
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, KernelParameters
from verulam.kernel._kernels.inputs import (
    KERNEL_OPTIONS,
    kernel_tags,
    open_space,
    read_classes,
)
from verulam.kernel._projection.pca import centred_spectrum
from verulam.numerics import column_signs, distances


def fisher_directions(
    coordinates: np.ndarray, codes: np.ndarray, n_classes: int, alpha: float, count: int
) -> np.ndarray:
    r"""Return directions with classes far apart for their spread, columns of unit spread.

    Parameters
    ----------
    coordinates : ndarray of shape (n_samples, n_columns)
        Centred data.
    codes : ndarray of shape (n_samples,)
        Class of each row, as 0 to `n_classes` - 1.
    n_classes
        Number of classes.
    alpha
        Added to the spread within classes in every direction.
    count
        Number of directions.
    """
    sizes = np.bincount(codes, minlength=n_classes)
    means = np.zeros((n_classes, coordinates.shape[1]))
    np.add.at(means, codes, coordinates)
    means /= sizes[:, None]
    inside = coordinates - means[codes]
    within = inside.T @ inside
    within[np.diag_indices_from(within)] += alpha
    # Data are centred, so class means are about the common mean already.
    between = (means * sizes[:, None]).T @ means
    size = len(within)
    # The ratio of both scatters is largest at generalised eigenvectors, the last ones first.
    _, directions = scipy.linalg.eigh(
        between, within, subset_by_index=(max(size - count, 0), size - 1)
    )
    return directions[:, ::-1]


class KernelDiscriminants(
    ClassNamePrefixFeaturesOutMixin, KernelParameters, Classifier, Transformer
):
    r"""Project to where the classes are far apart in the space of a kernel, and classify there.

    Parameters
    ----------
    n_components
        Number of directions; None for as many as there can be, one less than classes.
    kernel
        Kernel, its name, or a function of two tables.
    alpha
        Spread added within classes in every direction of the space, as a share of the mean
        variance of the data there. Without it a rich space separates any training data perfectly.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    centres_ : ndarray of shape (n_classes, n_components_)
        Class means in the projection.
    directions_ : ndarray of shape (n_dimensions, n_components_)
        The directions, in coordinates of the kernel's principal components.
    n_components_ : int
        Number of directions.
    space_ : KernelSpace
        Kernel and training data.
    spectrum_ : CentredSpectrum
        Principal components of the training data.

    Notes
    -----
    .. math:: \max_w \frac{w^T S_B w}{w^T (S_W + \kappa I) w}

    in the space of :math:`\phi(x)`. All of it happens in the span of the training data, so it is
    solved in their principal components there. With the linear kernel and little `alpha` this is
    Fisher's discriminant. `predict` takes the nearest class mean of the projection. See Alpaydin
    13.14.

    Examples
    --------
    A disc inside a ring, which no line separates:

    >>> import numpy as np
    >>> from verulam.kernel import KernelDiscriminants
    >>> angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([0.5 * ring, 2 * ring]), np.repeat(["disc", "ring"], 12)
    >>> learner = KernelDiscriminants(kernel="rbf").fit(X, y)
    >>> learner.predict([[0.0, 0.3], [1.8, 0.5]]).tolist()
    ['disc', 'ring']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": KERNEL_OPTIONS,
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Kernel | Function = "rbf",
        alpha: float = 1e-2,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha

    def __sklearn_tags__(self) -> Tags:
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

    @checked_fit
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Find the directions and the class means."""
        self.space_ = open_space(self, self.kernel, X)
        self.classes_, codes = read_classes(y, len(self.space_.gram))
        spectrum = centred_spectrum(self.space_.gram)
        if not len(spectrum.values):
            raise DataError(
                "all inputs are the same to this kernel: nothing tells the classes apart."
            )
        n_classes = len(self.classes_)
        count = min(n_classes - 1, self.n_components or n_classes, len(spectrum.values))
        # The span of the data has finitely many dimensions, whatever the kernel's space has.
        coordinates = spectrum.coordinates
        self.spectrum_ = spectrum
        directions = fisher_directions(
            coordinates, codes, n_classes, self.alpha * spectrum.total, count
        )
        self.directions_ = directions * column_signs(coordinates @ directions)
        projected = coordinates @ self.directions_
        self.centres_ = np.array([projected[codes == k].mean(axis=0) for k in range(n_classes)])
        self.n_components_ = count
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> np.ndarray:
        """Return the projection of each input."""
        check_is_fitted(self)
        return self.spectrum_.project(self.space_.against(self, X)) @ self.directions_

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the nearest mean in the projection."""
        projected = self.transform(X)
        return self.classes_[distances(projected, self.centres_).argmin(axis=1)]
