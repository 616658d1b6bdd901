"""What all generators share."""

import numpy as np
import pytest

from verulam.data import blobs, checkerboard, friedman, linear, noisy_sine, polynomial, xor
from verulam.data._generators.generator_helpers import (
    checked_count,
    class_labels,
    generator,
    separate_generator,
)


def test_seeds():
    random = np.random.default_rng(0)
    assert generator(random) is random
    assert generator(5).integers(1000) == generator(5).integers(1000)


def test_noise_does_not_repeat_the_numbers_that_made_the_data():
    random = np.random.default_rng(0)
    assert separate_generator(random, "flip") is random
    draws = [separate_generator(5, purpose).uniform() for purpose in ("flip", "flip", "drop")]
    assert draws[0] == draws[1]
    assert len({*draws, generator(5).uniform()}) == 3


def test_labels():
    assert class_labels(np.array([0, 2, 1])).tolist() == ["C1", "C3", "C2"]


def test_counts():
    with pytest.raises(ValueError, match="cells=0; at least 1 is needed"):
        checked_count(0, "cells")


@pytest.mark.parametrize(
    "make", [blobs, checkerboard, friedman, linear, noisy_sine, polynomial, xor]
)
def test_same_seed_same_data(make):
    assert make(random_state=1).content_hash == make(random_state=1).content_hash
    assert make(random_state=1).content_hash != make(random_state=2).content_hash


@pytest.mark.parametrize("make", [noisy_sine, linear, friedman, xor, checkerboard])
def test_noise_is_not_negative(make):
    with pytest.raises(ValueError, match="noise=-1"):
        make(noise=-1)
