"""Hints: what may be done to an image without changing what it shows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage

from verulam.base import (
    LABELS,
    TEXT,
    DataError,
    array_of_numbers,
    checked_arguments,
    unknown_name,
)

#: Share of the ink that counts as none.
_BLANK = 1e-12
#: Transformations with tangent vectors.
TRANSFORMS = ("right", "down", "turn", "scale")


_AMOUNTS = array_of_numbers(1, words="a list of finite numbers", empty=True)


@checked_arguments(labels=LABELS, shifts=_AMOUNTS, angles=_AMOUNTS, scales=_AMOUNTS)
def virtual_examples(
    images: ArrayLike,
    labels: ArrayLike,
    *,
    shifts: Sequence[int] = (),
    angles: Sequence[float] = (),
    scales: Sequence[float] = (),
) -> tuple[NDArray[np.float64], NDArray[np.generic]]:
    """Return images with shifted, turned and resized copies of them, and the labels of all.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        The images.
    labels
        Their labels, which the copies keep.
    shifts
        Pixels by which copies are moved, along each of the four directions.
    angles
        Degrees by which copies are turned; negative ones turn the other way.
    scales
        Factors by which copies are made larger or smaller about their middle.

    Notes
    -----
    See Alpaydin 11.8.4, fig. 11.16. How far is for the user to say: turned by half, a b is a q.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import virtual_examples
    >>> image = np.zeros((1, 3, 3))
    >>> image[0, 1, 1] = 1.0
    >>> copies, labels = virtual_examples(image, ["dot"], shifts=[1])
    >>> copies.shape, labels.tolist()
    ((5, 3, 3), ['dot', 'dot', 'dot', 'dot', 'dot'])
    """
    stack, names = _stack(images), np.asarray(labels)
    if len(names) != len(stack):
        raise DataError(f"labels: {len(names)} for {len(stack)} images.")
    if any(not scale > 0 for scale in scales):
        raise DataError(f"scales must be positive; got {list(scales)}.")
    parts = [stack]
    parts += [
        ndimage.shift(stack, (0, *move), order=1, mode="constant")
        for shift in shifts
        for move in ((0, shift), (0, -shift), (shift, 0), (-shift, 0))
    ]
    parts += [
        ndimage.rotate(stack, angle, axes=(2, 1), reshape=False, order=1, mode="constant")
        for angle in angles
    ]
    middle = (np.array(stack.shape[1:]) - 1) / 2
    for scale in scales:
        matrix = np.eye(2) / scale
        offset = middle - matrix @ middle
        parts.append(_mapped(stack, matrix, offset))
    return np.concatenate(parts), np.tile(names, len(parts))


def centre_images(images: ArrayLike) -> NDArray[np.float64]:
    """Return images moved so that their centre of mass is in the middle.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        The images; a blank one stays.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import centre_images
    >>> image = np.zeros((1, 3, 3))
    >>> image[0, 0, 0] = 1.0
    >>> centre_images(image)[0]
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    stack = _stack(images)
    middle = (np.array(stack.shape[1:]) - 1) / 2
    return np.stack(
        [
            ndimage.shift(image, middle - centre, order=1, mode="constant")
            for image, (_, centre, _) in zip(stack, map(_moments, stack), strict=True)
        ]
    )


def deskew_images(images: ArrayLike) -> NDArray[np.float64]:
    r"""Return images sheared so that their strokes stand upright, about their centres of mass.

    The rows are moved by the slant :math:`\mu_{xy} / \mu_{yy}`, after which the covariance of rows
    and columns of ink is near zero.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        The images; a blank one stays.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import deskew_images
    >>> image = np.eye(5)[None]
    >>> deskew_images(image)[0].argmax(axis=1)
    array([2, 2, 2, 2, 2])
    """
    stack = _stack(images)
    upright = np.empty_like(stack)
    for place, image in enumerate(stack):
        _, centre, covariance = _moments(image)
        slant = covariance[0, 1] / covariance[0, 0] if covariance[0, 0] > 0 else 0.0
        matrix = np.array([[1.0, 0.0], [slant, 1.0]])
        upright[place] = _mapped(image[None], matrix, centre - matrix @ centre)[0]
    return upright


def scale_images(images: ArrayLike, spread: float | None = None) -> NDArray[np.float64]:
    r"""Return images resized about their centres of mass, so that their ink spreads equally far.

    The spread is :math:`\sqrt{\mu_{xx} + \mu_{yy}}`, the root of the mean squared distance of ink
    from its centre.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        The images; one without ink, or with all of it in one place, stays.
    spread
        Pixels; None takes the median of the images.

    Notes
    -----
    Alpaydin 11.8.4: where it can be done, an invariance is best seen to before learning; readers of
    characters centre them and normalise size (here) and slant (`deskew_images`).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import scale_images
    >>> image = np.zeros((1, 9, 9))
    >>> image[0, 4, 3:6] = 1.0
    >>> scale_images(image, spread=1.5)[0, 4].round(1).tolist()
    [0.0, 0.4, 0.9, 1.0, 1.0, 1.0, 0.9, 0.4, 0.0]
    """
    stack = _stack(images)
    moments = [_moments(image) for image in stack]
    spreads = np.array([np.sqrt(max(np.trace(covariance), 0.0)) for *_, covariance in moments])
    if spread is None:
        known = spreads[spreads > 0]
        spread = float(np.median(known)) if len(known) else 1.0
    if not isinstance(spread, int | float | np.number) or not 0.0 < spread < np.inf:
        raise DataError(f"spread must be a positive number of pixels; got {spread!r}.")
    resized = stack.copy()
    for place, (_, centre, _) in enumerate(moments):
        if spreads[place] > 0:
            matrix = np.eye(2) * (spreads[place] / float(spread))
            resized[place] = _mapped(stack[place][None], matrix, centre - matrix @ centre)[0]
    return resized


@checked_arguments(transform=TEXT)
def tangent_vectors(images: ArrayLike, transform: str) -> NDArray[np.float64]:
    r"""Return how fast the pixels of images change under a small transformation.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        The images.
    transform
        "right" or "down", a shift by a pixel; "turn", a rotation about the middle, anticlockwise
        as seen, by a radian; "scale", an enlargement about the middle.

    Returns
    -------
    ndarray of shape (n_images, height * width)
        Derivatives of the pixels, flat, as `verulam.neural.TangentHint` takes them.

    Notes
    -----
    For a flow :math:`v` of the plane it is :math:`-v \cdot \nabla I`, with differences of
    neighbouring pixels for the gradient (Simard et al., 1992; Alpaydin 11.8.4).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import tangent_vectors
    >>> ramp = np.tile(np.arange(3.0), (3, 1))[None]
    >>> tangent_vectors(ramp, "right").reshape(3, 3)[0]
    array([-1., -1., -1.])
    """
    if transform not in TRANSFORMS:
        raise unknown_name("transform", transform, TRANSFORMS)
    stack = _stack(images)
    if min(stack.shape[1:]) < 2:
        raise DataError(f"images: at least 2 by 2 pixels are needed; got {stack.shape[1:]}.")
    by_row, by_column = np.gradient(stack, axis=(1, 2))
    row, column = np.indices(stack.shape[1:]) - (np.array(stack.shape[1:])[:, None, None] - 1) / 2
    # Velocity of each pixel, by its place from the middle.
    down, right = {
        "right": (0.0, 1.0), "down": (1.0, 0.0), "turn": (-column, row), "scale": (row, column)
    }[transform]  # fmt: skip
    return -(down * by_row + right * by_column).reshape(len(stack), -1)


def _stack(images: ArrayLike) -> NDArray[np.float64]:
    try:
        stack = np.asarray(images, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "images: expected an array of numbers, images by rows and columns of equal lengths; "
            f"got {type(images).__name__} that makes none."
        ) from None
    if stack.ndim != 3:
        raise DataError(
            "images: expected an array of images, rows and columns; got the shape "
            f"{stack.shape}. Rows of pixels become images by reshape(-1, height, width)."
        )
    if not np.isfinite(stack).all():
        raise DataError("images: some pixels are missing or infinite.")
    return stack


def _mapped(
    stack: NDArray[np.float64], matrix: NDArray[np.float64], offset: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return images in which each pixel comes from an affine map of its place."""
    return np.stack(
        [
            ndimage.affine_transform(image, matrix, offset, order=1, mode="constant")
            for image in stack
        ]
    )


def _moments(
    image: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return the ink of an image, its centre (row, column) and its covariance."""
    ink = float(image.sum())
    middle = (np.array(image.shape) - 1) / 2
    if abs(ink) <= _BLANK:
        return ink, middle, np.zeros((2, 2))
    places = np.indices(image.shape).reshape(2, -1)
    weights = image.ravel() / ink
    centre = places @ weights
    spread = places - centre[:, None]
    return ink, centre, (spread * weights) @ spread.T
