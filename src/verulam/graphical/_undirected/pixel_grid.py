"""A grid of pixels as a Markov field: noise removed, hidden parts filled in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, DataWarning, warn_caller
from verulam.graphical._undirected.pixel_loops import pixel_sweep

#: Down, right, up and left, and the number of the direction that comes back.
STEPS = np.array([[1, 0, 2], [0, 1, 3], [-1, 0, 0], [0, -1, 1]], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Restored:
    """An image without its noise.

    Attributes
    ----------
    image
        Label of each pixel.
    probabilities
        Probability of each label at each pixel.
    n_iter
        Sweeps of messages.
    converged
        Whether the messages had settled.
    """

    image: np.ndarray
    probabilities: np.ndarray
    n_iter: int
    converged: bool


def restore_image(
    image: ArrayLike,
    *,
    noise: float = 0.1,
    coupling: float = 1.0,
    hidden: ArrayLike | None = None,
    maximise: bool = False,
    max_iter: int = 200,
    tol: float = 1e-4,
) -> Restored:
    r"""Remove noise from an image of few labels, and fill pixels that are hidden.

    Parameters
    ----------
    image
        Array of rows and columns with two or more labels.
    noise
        Probability that a pixel shows another label than its own.
    coupling
        How much more probable it is, in logarithms, that two neighbours have the same label.
    hidden
        Array of True where a pixel was not seen.
    maximise
        Messages of max-product, for the most probable image, instead of sum-product, for the most
        probable label of each pixel.
    max_iter
        Most sweeps.
    tol
        Change of the messages from which on they have settled.

    Notes
    -----
    Each pixel is a variable with its four neighbours (a Markov random field with Potts potentials
    :math:`\exp(\beta 1[x_i = x_j])`, Ising's for two labels), and a factor joins it to what was
    seen (Alpaydin 14.6). Messages on the grid with its loops are approximate.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.graphical import restore_image
    >>> clean = np.zeros((40, 40), dtype=int)
    >>> clean[10:30, 10:30] = 1
    >>> flips = np.random.default_rng(0).random(clean.shape) < 0.1
    >>> restored = restore_image(clean ^ flips, noise=0.1, coupling=2.0)
    >>> print((clean != (clean ^ flips)).sum(), (clean != restored.image).sum() < 10)
    164 True
    """
    labels, codes = _labels(image)
    n_labels = len(labels)
    if not 0 < noise < 1:
        raise DataError(f"noise: expected a number between 0 and 1, not {noise!r}.")
    if not np.isfinite(coupling) or coupling < 0:
        raise DataError(f"coupling: expected a number of at least 0, not {coupling!r}.")
    evidence = np.full((*codes.shape, n_labels), noise / max(n_labels - 1, 1))
    np.put_along_axis(evidence, codes[..., np.newaxis], 1.0 - noise, axis=2)
    if hidden is not None:
        mask = np.asarray(hidden)
        if mask.shape != codes.shape or mask.dtype != bool:
            raise DataError(
                f"hidden: expected an array of True and False of the shape {codes.shape}."
            )
        evidence[mask] = 1.0 / n_labels
    messages = np.full((4, *evidence.shape), 1.0 / n_labels)
    scratch = np.empty(n_labels)
    ratio = float(np.exp(-coupling))
    converged, sweeps = False, 0
    while sweeps < max_iter and not converged:
        sweeps += 1
        converged = pixel_sweep(evidence, messages, ratio, STEPS, scratch, bool(maximise)) < tol
    if not converged:
        warn_caller(
            f"The messages had not settled after max_iter={max_iter} sweeps; raise max_iter.",
            DataWarning,
        )
    beliefs = evidence * messages.prod(axis=0)
    beliefs /= beliefs.sum(axis=2, keepdims=True)
    return Restored(labels[beliefs.argmax(axis=2)], beliefs, sweeps, converged)


def _labels(image: Any) -> tuple[np.ndarray, np.ndarray]:
    pixels = np.asarray(image)
    if pixels.ndim != 2 or pixels.size == 0:
        raise DataError(
            f"image: expected rows and columns of labels, not the shape {pixels.shape}."
        )
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise DataError("image: labels must be finite; mark pixels that were not seen in hidden.")
    labels, codes = np.unique(pixels, return_inverse=True)
    # Many broken numbers are grey levels, in however small an image.
    most = 8 if pixels.dtype.kind == "f" and (labels % 1 != 0).any() else 64
    if len(labels) > most:
        raise DataError(
            f"image: {len(labels)} different values are too many for labels; cut grey levels into "
            "few first, as by np.digitize."
        )
    return labels, codes.reshape(pixels.shape)
