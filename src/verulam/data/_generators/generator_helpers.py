"""What the generators share: seeds, labels and noise."""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from verulam.data._dataset import Dataset

Seed = int | np.random.Generator | None


def generator(random_state: Seed) -> np.random.Generator:
    """Return the random generator behind a seed; a generator is used as it is."""
    return np.random.default_rng(random_state)


def separate_generator(random_state: Seed, purpose: str) -> np.random.Generator:
    """Return a generator of its own for a purpose, even where the data was drawn with that seed.

    Otherwise the noise would repeat the numbers that made the data, and depend on them.
    """
    if isinstance(random_state, int | np.integer):
        return np.random.default_rng([int(random_state), crc32(purpose.encode())])
    return generator(random_state)


def class_labels(classes: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return class numbers, counted from 0, as the labels ``C1``, ``C2``, ..."""
    return np.array([f"C{number + 1}" for number in classes], dtype=object)


def plane_classes(
    points: NDArray[np.float64],
    classes: NDArray[np.int64],
    noise: float,
    random: np.random.Generator,
    name: str,
) -> Dataset:
    """Return labelled points, moved by normal noise of that standard deviation."""
    if noise < 0:
        raise ValueError(f"noise={noise}; a standard deviation is not negative.")
    moved = points + noise * random.standard_normal(points.shape)
    return Dataset.from_arrays(
        moved, class_labels(classes), target_name="class", task="classification", name=name
    )


def checked_count(n: int, argument: str = "n") -> int:
    """Return `n` if it is at least 1."""
    if n < 1:
        raise ValueError(f"{argument}={n}; at least 1 is needed.")
    return int(n)
