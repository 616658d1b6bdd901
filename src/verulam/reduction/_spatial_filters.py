"""Energies of an image in bands of orientation and frequency."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    NUMBERS,
    WHOLE,
    DataError,
    Kind,
    checked_arguments,
)

#: Frequencies of neighbouring bands differ by this factor: an octave.
OCTAVE = 2.0
#: Highest centre of a band, in cycles per pixel; half a cycle is the finest that pixels can show.
FINEST = 0.25
#: Width of a band along the frequency, as a share of its centre.
RELATIVE_WIDTH = 0.25
SHAPE = Kind(
    "two whole numbers, of rows and of columns",
    lambda value: (
        isinstance(value, list | tuple) and len(value) == 2 and all(map(WHOLE.accepts, value))
    ),
)


@checked_arguments(shape=SHAPE, n_orientations=WHOLE, n_bands=WHOLE)
def spatial_filters(
    shape: tuple[int, int], *, n_orientations: int = 4, n_bands: int = 5
) -> np.ndarray:
    r"""Return Gabor filters as weights of the frequencies of an image.

    Parameters
    ----------
    shape
        Rows and columns of the images.
    n_orientations
        Number of orientations, evenly over half a turn; the first looks along the rows.
    n_bands
        Number of frequency bands, an octave apart, the lowest first.

    Returns
    -------
    ndarray of shape (n_orientations * n_bands, n_rows, n_columns)
        Weights of the terms of the discrete Fourier transform; the bands of the first orientation
        come first.

    Notes
    -----
    A Gabor filter is a wave under a Gaussian window; its transform is a Gaussian about the wave's
    frequency :math:`f_0 (\cos\theta, \sin\theta)`, here with a width in proportion to
    :math:`f_0` and as wide across as neighbouring orientations are apart. See Bartkowiak 8.3.2.

    Examples
    --------
    >>> from verulam.reduction import spatial_filters
    >>> spatial_filters((32, 32)).shape
    (20, 32, 32)
    """
    height, width = shape
    if min(height, width) < 2 or n_orientations < 1 or n_bands < 1:
        raise DataError(
            f"shape={shape}, n_orientations={n_orientations}, n_bands={n_bands}: expected images "
            "of at least two rows and columns, and at least one orientation and band."
        )
    vertical, horizontal = np.meshgrid(np.fft.fftfreq(height), np.fft.fftfreq(width), indexing="ij")
    filters = []
    for orientation in range(n_orientations):
        angle = np.pi * orientation / n_orientations
        along = horizontal * np.cos(angle) + vertical * np.sin(angle)
        across = vertical * np.cos(angle) - horizontal * np.sin(angle)
        for band in range(n_bands):
            centre = FINEST * OCTAVE ** (band - n_bands + 1)
            # Neighbouring orientations meet where each is at its standard deviation.
            spread = centre * np.tan(0.5 * np.pi / max(n_orientations, 2))
            distances = ((np.abs(along) - centre) / (RELATIVE_WIDTH * centre)) ** 2
            filters.append(np.exp(-0.5 * (distances + (across / spread) ** 2)))
    return np.array(filters)


@checked_arguments(images=NUMBERS, n_orientations=WHOLE, n_bands=WHOLE)
def spatial_filter_energies(
    images: ArrayLike, *, n_orientations: int = 4, n_bands: int = 5
) -> np.ndarray:
    r"""Return the energy of each image behind each of a bank of Gabor filters.

    Parameters
    ----------
    images
        Grey images of shape (n_images, n_rows, n_columns), or one of shape (n_rows, n_columns).
    n_orientations, n_bands
        As for `spatial_filters`.

    Returns
    -------
    ndarray of shape (n_images, n_orientations * n_bands)
        Mean squares of the filtered images.

    Notes
    -----
    By Parseval's theorem the energy of an output is a weighted sum of the image's power spectrum,
    so no image has to be filtered. The mean of an image has no direction and is left out. Four
    orientations and five bands give the twenty features by which scenes were mapped with
    curvilinear components. See Bartkowiak 8.3.2.

    Examples
    --------
    Stripes across the rows, eight pixels wide, fall in the fourth band of the first orientation:

    >>> import numpy as np
    >>> from verulam.reduction import spatial_filter_energies
    >>> stripes = np.tile(np.cos(2 * np.pi * np.arange(64) / 8), (64, 1))
    >>> int(spatial_filter_energies(stripes).argmax())
    3
    """
    grey = np.asarray(images, dtype=np.float64)
    grey = grey[None] if grey.ndim == 2 else grey
    if grey.ndim != 3 or not len(grey):
        raise DataError(
            "images: expected shape (n_images, n_rows, n_columns), or one image of two axes; got "
            f"{np.shape(images)}."
        )
    if not np.isfinite(grey).all():
        raise DataError("images: there are NaN or infinite grey values.")
    size = grey.shape[1] * grey.shape[2]
    filters = spatial_filters(
        (grey.shape[1], grey.shape[2]), n_orientations=n_orientations, n_bands=n_bands
    )
    centred = grey - grey.mean(axis=(1, 2), keepdims=True)
    power = np.abs(np.fft.fft2(centred)) ** 2 / size**2
    return power.reshape(len(grey), -1) @ (filters.reshape(len(filters), -1) ** 2).T
