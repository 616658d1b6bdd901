"""Windows at the stored points of each class: what two classifiers have in common."""

from typing import Any

import numpy as np

from verulam.nonparametric._windows.functions import Window
from verulam.nonparametric._windows.window_sums import StoredPoints, log_window_sums, store_points


class ClassWindows:
    """Stored points by class, in units of the bandwidth, put into blocks when first asked.

    Parameters
    ----------
    points
        One row per point.
    codes
        Class of each, as a position.
    weights
        How often each counts.
    n_classes
        Number of classes.
    """

    def __init__(
        self, points: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
    ) -> None:
        self.points = points
        self.codes = codes
        self.weights = weights
        self.n_classes = n_classes
        self._blocks: list[StoredPoints | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_blocks": None}

    @property
    def counts(self) -> np.ndarray:
        """Total weight of each class."""
        return np.bincount(self.codes, self.weights, self.n_classes)

    def log_sums(self, queries: np.ndarray, window: Window, rtol: float = 0.0) -> np.ndarray:
        """Return the logarithm of the sum of windows of each class, at each query."""
        if self._blocks is None:
            self._blocks = [self._block(code) for code in range(self.n_classes)]
        sums = np.full((len(queries), self.n_classes), -np.inf)
        for code, stored in enumerate(self._blocks):
            if stored is not None:
                sums[:, code] = log_window_sums(queries, stored, window, rtol=rtol)
        return sums

    def _block(self, code: int) -> StoredPoints | None:
        own = (self.codes == code) & (self.weights > 0)
        if not own.any():
            return None
        return store_points(self.points[own], self.weights[own])
