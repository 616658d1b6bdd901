"""Copies that keep their labels, and images brought to one position."""

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.neural import (
    MLPClassifier,
    centre_images,
    deskew_images,
    scale_images,
    tangent_vectors,
    virtual_examples,
)

RANDOM = np.random.default_rng(0)


def bars(n_images, offset):
    """Return images of upright and lying bars, `offset` pixels from the middle."""
    images, labels = np.zeros((n_images, 8, 8)), RANDOM.choice(["lying", "upright"], size=n_images)
    for image, label in zip(images, labels, strict=True):
        place = 3 + offset
        image[(slice(1, 7), place) if label == "upright" else (place, slice(1, 7))] = 1.0
    return images + RANDOM.normal(scale=0.05, size=images.shape), labels


def centre_of(image):
    places = np.indices(image.shape).reshape(2, -1)
    return places @ image.ravel() / image.sum()


class TestVirtualExamples:
    def test_copies_and_labels(self):
        images, labels = bars(7, 0)
        copies, names = virtual_examples(images, labels, shifts=[1], angles=[5, -5], scales=[1.2])
        assert len(copies) == len(names) == 7 * (1 + 4 + 2 + 1)
        np.testing.assert_array_equal(copies[:7], images)
        assert (names.reshape(-1, 7) == labels).all()

    def test_shifts_turns_and_sizes(self):
        image = np.zeros((1, 9, 9))
        image[0, 4, 6] = 1.0
        shifted = virtual_examples(image, [0], shifts=[2])[0]
        places = [tuple(np.argwhere(one > 0.5)[0]) for one in shifted]
        assert places == [(4, 6), (4, 8), (4, 4), (6, 6), (2, 6)]
        turned = virtual_examples(image, [0], angles=[90])[0][1]
        assert {tuple(place) for place in np.argwhere(turned > 0.5)} <= {(2, 4), (6, 4)}
        larger = virtual_examples(image, [0], scales=[2.0])[0][1]
        assert tuple(np.argwhere(larger > 0.9)[0]) == (4, 8)

    def test_a_network_gains_on_shifted_images(self):
        images, labels = bars(60, 0)
        unseen, truth = bars(200, 2)
        settings = MLPClassifier(10, solver="lbfgs", alpha=0.01, random_state=0)
        plain = settings.fit(images.reshape(60, -1), labels).score(unseen.reshape(200, -1), truth)
        copies, names = virtual_examples(images, labels, shifts=[1, 2])
        hinted = settings.fit(copies.reshape(len(copies), -1), names)
        assert hinted.score(unseen.reshape(200, -1), truth) > max(plain, 0.97)

    def test_refused(self):
        with pytest.raises(DataError, match=r"reshape\(-1, height, width\)"):
            virtual_examples(np.zeros((3, 64)), [0, 1, 2])
        with pytest.raises(DataError, match="labels: 2 for 3 images"):
            virtual_examples(np.zeros((3, 8, 8)), [0, 1])
        with pytest.raises(DataError, match="scales must be positive"):
            virtual_examples(np.zeros((1, 8, 8)), [0], scales=[0.0])
        with pytest.raises(DataError, match="missing or infinite"):
            virtual_examples(np.full((1, 8, 8), np.nan), [0])


class TestPosition:
    def test_the_centre_of_mass_comes_to_the_middle(self):
        image = np.zeros((1, 9, 9))
        image[0, 1:4, 2:4] = [[1, 2], [3, 1], [2, 2]]
        centred = centre_images(image)
        np.testing.assert_allclose(centre_of(centred[0]), [4, 4], atol=1e-12)
        assert centred.sum() == pytest.approx(image.sum())
        np.testing.assert_allclose(centre_images(centred), centred, atol=1e-12)

    def test_slanted_strokes_stand_upright(self):
        image = np.zeros((11, 11))
        for row in range(2, 9):
            image[row, 5 + (row - 5) // 2 : 7 + (row - 5) // 2] = 1.0

        def slant(one):
            spread = np.indices(one.shape).reshape(2, -1) - centre_of(one)[:, None]
            covariance = (spread * one.ravel()) @ spread.T
            return covariance[0, 1] / covariance[0, 0]

        upright = deskew_images(image[None])[0]
        assert slant(image) > 0.4
        assert abs(slant(upright)) < 0.03
        np.testing.assert_allclose(centre_of(upright), centre_of(image), atol=0.05)

    def test_blank_images_stay(self):
        blank = np.zeros((2, 5, 5))
        np.testing.assert_array_equal(centre_images(blank), blank)
        np.testing.assert_array_equal(deskew_images(blank), blank)


def blob(width, height=31):
    """Return an image of a round spot."""
    row, column = np.indices((height, height)) - (height - 1) / 2
    return np.exp(-(row**2 + column**2) / (2 * width**2))


def spread_of(image):
    places = np.indices(image.shape).reshape(2, -1)
    distances = ((places - centre_of(image)[:, None]) ** 2).sum(axis=0)
    return np.sqrt(distances @ image.ravel() / image.sum())


class TestScale:
    def test_all_spread_as_far_as_asked(self):
        images = np.stack([blob(2.0), blob(3.0), blob(4.0)])
        resized = scale_images(images, spread=4.0)
        np.testing.assert_allclose([spread_of(image) for image in resized], 4.0, atol=0.1)
        median = scale_images(images)
        np.testing.assert_allclose(
            [spread_of(image) for image in median], spread_of(images[1]), atol=0.1
        )

    def test_once_is_enough(self):
        images = np.stack([blob(2.0), blob(3.5)])
        once = scale_images(images, spread=4.0)
        np.testing.assert_allclose(scale_images(once, spread=4.0), once, atol=0.05)
        centred = centre_images(once)
        np.testing.assert_allclose(centre_images(centred), centred, atol=1e-3)

    def test_centres_stay(self):
        image = np.roll(blob(2.0), (3, -2), axis=(0, 1))
        np.testing.assert_allclose(
            centre_of(scale_images(image[None], 4.0)[0]), centre_of(image), atol=0.05
        )

    def test_blank_images_and_dots_stay(self):
        images = np.zeros((2, 5, 5))
        images[1, 2, 3] = 1.0
        np.testing.assert_array_equal(scale_images(images), images)
        with pytest.raises(DataError, match="spread must be a positive number of pixels"):
            scale_images(images, 0)
        with pytest.raises(DataError, match="spread must be"):
            scale_images(images, "wide")


class TestTangentVectors:
    @pytest.mark.parametrize(
        ("transform", "flow"),
        [
            ("right", lambda row, column: (0 * row, 1 + 0 * column)),
            ("down", lambda row, column: (1 + 0 * row, 0 * column)),
            ("turn", lambda row, column: (-column, row)),
            ("scale", lambda row, column: (row, column)),
        ],
    )
    def test_it_is_the_derivative_of_a_moved_spot(self, transform, flow):
        """The spot is a known function, so that it can be moved by any small amount."""
        row, column = np.indices((31, 31)) - 15.0
        down, right = flow(row, column)

        def moved(step):
            # What is seen at a place came from where the flow was before.
            at = (row - step * down - 2) ** 2 + (column - step * right - 3) ** 2
            return np.exp(-at / 18)

        slopes = (moved(1e-5) - moved(-1e-5)) / 2e-5
        tangents = tangent_vectors(moved(0.0)[None], transform).reshape(31, 31)
        assert np.abs(tangents - slopes).max() < 0.05 * np.abs(slopes).max()

    def test_refusals(self):
        with pytest.raises(UnknownNameError, match="transform"):
            tangent_vectors(blob(3.0)[None], "left")
        with pytest.raises(DataError, match="2 by 2 pixels"):
            tangent_vectors(np.ones((1, 1, 5)), "right")


@pytest.mark.parametrize("images", ["abc", [[1, 2], [3]]])
def test_what_is_no_array_of_numbers_is_refused(images):
    with pytest.raises(DataError, match="images: expected an array of numbers"):
        centre_images(images)
