"""Spatial filters: gratings peak in their own filter, energies are those of filtered images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.reduction import spatial_filter_energies, spatial_filters

ROWS, COLUMNS = np.mgrid[:128, :128]


@pytest.mark.parametrize("orientation", range(4))
@pytest.mark.parametrize("band", range(5))
def test_a_pure_grating_peaks_in_its_own_filter(orientation, band):
    angle, frequency = np.pi * orientation / 4, 0.25 * 2.0 ** (band - 4)
    phase = 2 * np.pi * frequency * (COLUMNS * np.cos(angle) + ROWS * np.sin(angle))
    energies = spatial_filter_energies(3.0 + np.cos(phase))[0]
    assert energies.shape == (20,)
    assert energies.argmax() == 5 * orientation + band


def test_energies_are_mean_squares_of_filtered_images():
    images = np.random.default_rng(0).normal(size=(3, 24, 32))
    filters = spatial_filters((24, 32), n_orientations=3, n_bands=2)
    energies = spatial_filter_energies(images, n_orientations=3, n_bands=2)
    assert energies.shape == (3, 6)
    centred = images - images.mean(axis=(1, 2), keepdims=True)
    for image, row in zip(centred, energies, strict=True):
        filtered = np.fft.ifft2(np.fft.fft2(image) * filters)
        assert_allclose(row, (np.abs(filtered) ** 2).mean(axis=(1, 2)))


def test_brightness_does_not_count_and_contrast_counts_squared():
    image = np.random.default_rng(0).normal(size=(16, 16))
    energies = spatial_filter_energies(image)
    assert_allclose(spatial_filter_energies(2.0 * image + 7.0), 4.0 * energies, atol=1e-20)
    turned = spatial_filter_energies(np.rot90(image)).reshape(4, 5)
    # A quarter turn exchanges orientations that are a quarter turn apart.
    assert_allclose(turned[[2, 0]], energies.reshape(4, 5)[[0, 2]], rtol=1e-9, atol=1e-20)


def test_bad_input():
    with pytest.raises(DataError, match="images: expected shape"):
        spatial_filter_energies(np.ones(5))
    with pytest.raises(DataError, match="images must be finite numbers"):
        spatial_filter_energies(np.full((4, 4), np.nan))
    with pytest.raises(DataError, match="n_bands=0"):
        spatial_filters((8, 8), n_bands=0)
