"""Explicit features from kernels: scores with templates, and maps for large data."""

from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    spawn_seeds,
)
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, KernelParameters, as_kernel
from verulam.kernel._kernels.inputs import KERNEL_OPTIONS, kernel_tags, read_inputs
from verulam.kernel._kernels.polynomial import Polynomial
from verulam.kernel._kernels.radial import ChiSquare, Gaussian, Laplace


class EmpiricalKernelMap(ClassNamePrefixFeaturesOutMixin, KernelParameters, Transformer):
    r"""Represent an input by its scores with some templates.

    Parameters
    ----------
    kernel
        Score, as a kernel, its name, or a function of two tables; it need be no inner product.
    templates
        "all" training inputs, a "random" choice, one that is "covering" (each the furthest from
        those before), or the centres of "k-means", for rows of numbers only.
    n_templates
        Number of templates unless all are; no more than training inputs are used.
    random_state
        Seed of the choice.

    Attributes
    ----------
    kernel_ : Kernel
        The score, adapted to the training data.
    templates_ : ndarray
        The templates :math:`m_i`.

    Notes
    -----
    .. math:: \phi(x) = [s(x, m_1), \ldots, s(x, m_M)]^T

    The inner product of these is a kernel whatever the score. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import EditKernel, EmpiricalKernelMap
    >>> map_ = EmpiricalKernelMap(EditKernel(), templates="covering", n_templates=2)
    >>> map_.fit(["cat", "cart", "dog"]).templates_.tolist()
    ['cat', 'dog']
    >>> map_.transform(["cot"]).round(3)
    array([[0.368, 0.135]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": KERNEL_OPTIONS,
        "templates": [StrOptions({"all", "random", "covering", "k-means"})],
        "n_templates": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: str | Kernel | Function = "rbf",
        *,
        templates: str = "all",
        n_templates: int = 50,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.templates = templates
        self.n_templates = n_templates
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["EmpiricalKernelMap"]:
        return [cls(), *(cls(templates=kind, n_templates=5) for kind in ("covering", "k-means"))]

    def __sklearn_tags__(self) -> Tags:
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the templates."""
        kernel = as_kernel(self.kernel)
        if kernel.takes == "gram":
            raise DataError("kernel must compare inputs; a precomputed matrix has no templates.")
        inputs = read_inputs(self, kernel, X, ensure_min_samples=2)
        self.kernel_ = kernel.adapted(inputs)
        self.templates_ = self._choose(inputs)
        return self

    def _choose(self, inputs: np.ndarray) -> np.ndarray:
        count = min(self.n_templates, len(inputs))
        if self.templates == "all":
            return inputs.copy()
        if self.templates == "random":
            places = generator(self.random_state).choice(len(inputs), count, replace=False)
            return inputs[np.sort(places)]
        if self.templates == "covering":
            return inputs[covering_subset(self.kernel_, inputs, count)]
        if self.kernel_.takes != "rows":
            raise DataError('templates="k-means" needs rows of numbers; "covering" takes objects.')
        seed = spawn_seeds(self.random_state, 1)[0]
        return KMeans(count, n_init=1, random_state=seed).fit(inputs).cluster_centers_

    @property
    def _n_features_out(self) -> int:
        return len(self.templates_)

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of each input with the templates."""
        check_is_fitted(self)
        return self.kernel_(read_inputs(self, self.kernel_, X, reset=False), self.templates_)


def covering_subset(score: Kernel, inputs: np.ndarray, count: int) -> np.ndarray:
    """Return numbers of inputs by farthest-point sampling, from the first one on.

    Distances are those of the score, :math:`s(x, x) - 2 s(x, m) + s(m, m)`.
    """
    lengths = score.diagonal(inputs)
    templates = [0]
    nearest = np.full(len(inputs), np.inf)
    while True:
        last = templates[-1]
        gaps = lengths - 2.0 * score(inputs, inputs[last : last + 1])[:, 0] + lengths[last]
        nearest = np.minimum(nearest, gaps)
        # Never the same template twice, even where duplicates leave no distance.
        nearest[templates] = -np.inf
        if len(templates) == count:
            return np.array(templates)
        templates.append(int(nearest.argmax()))


def feature_map(
    kernel: str | Kernel | Function,
    X: Any,
    n_components: int = 500,
    *,
    random_state: int | None = None,
) -> RBFSampler | Nystroem:
    """Return a transformer of scikit-learn's whose inner products are about those of a kernel.

    For many rows: a linear machine on these features needs no Gram matrix. Gaussian kernels of one
    width get random Fourier features, all others the Nystroem method.

    Parameters
    ----------
    kernel
        Kernel of rows, its name, or a function of two tables.
    X
        Training rows, which the kernel may take its width from.
    n_components
        Number of features; the error falls with its square root.
    random_state
        Seed of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Gaussian, feature_map
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> transformer = feature_map(Gaussian(2.0), X, 2000, random_state=0)
    >>> Z = transformer.fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Gaussian(2.0)(X)).max() < 0.1)
    True
    """
    unadapted = as_kernel(kernel)
    if unadapted.takes != "rows":
        raise DataError(
            f"kernel must compare rows of numbers; this one compares {unadapted.takes}."
        )
    adapted = unadapted.adapted(X)
    if isinstance(adapted, Gaussian) and not isinstance(adapted.width, tuple):
        # scikit-learn has one gamma for all columns, so widths by column take the other method.
        gamma = 0.5 / float(adapted.width) ** 2
        return RBFSampler(gamma=gamma, n_components=n_components, random_state=random_state)
    known = _known_to_scikit_learn(adapted)
    if known is None:
        # Others are called with pairs of rows, which takes longer.
        known = {"kernel": partial(_of_two_rows, adapted)}
    return Nystroem(**known, n_components=n_components, random_state=random_state)


def _known_to_scikit_learn(kernel: Kernel) -> dict[str, Any] | None:
    """Return the name and the parameters that scikit-learn has for a kernel."""
    if isinstance(kernel, Polynomial):
        return {
            "kernel": "polynomial",
            "gamma": kernel.scale,
            "coef0": kernel.offset,
            "degree": kernel.degree,
        }
    if isinstance(kernel, Laplace):
        return {"kernel": "laplacian", "gamma": 1.0 / float(kernel.width)}
    if isinstance(kernel, ChiSquare):
        return {"kernel": "chi2", "gamma": kernel.scale}
    return None


def _of_two_rows(kernel: Kernel, first: np.ndarray, second: np.ndarray) -> float:
    return float(kernel(first[None], second[None])[0, 0])
