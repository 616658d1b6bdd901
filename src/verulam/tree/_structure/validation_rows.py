"""Hold-out rows and cross-validation folds for pruning, stratified by class.

They serve choices that a fit makes by itself: where to prune, and which kind of node to take.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError


def split_rows(
    codes: NDArray[np.generic], fraction: float, random: np.random.Generator, *, stratified: bool
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows to grow on, and a random share of rows set aside for pruning.

    Parameters
    ----------
    codes
        Class codes or other targets.
    fraction
        Share to set aside.
    random
        Where chance comes from.
    stratified
        Keep the shares of the classes as they are.
    """
    n_aside = round(fraction * len(codes))
    if n_aside == 0 or n_aside == len(codes):
        left = "none to prune on" if n_aside == 0 else "none to grow on"
        raise DataError(
            f"pruning_fraction={fraction:.3g} of {len(codes)} rows leaves {left}; "
            "choose another share or give more rows."
        )
    order = mixed_order(codes, random, stratified=stratified)
    aside = np.zeros(len(codes), dtype=bool)
    # Evenly spread places of an order sorted by class take the same share of each.
    aside[order[np.floor(np.arange(n_aside) * len(codes) / n_aside).astype(int)]] = True
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def folds(
    codes: NDArray[np.generic], n_folds: int, random: np.random.Generator, *, stratified: bool
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the training and validation rows of each fold.

    Parameters
    ----------
    codes
        Class codes or other targets.
    n_folds
        Number of folds.
    random
        Where chance comes from.
    stratified
        Keep the shares of the classes in every fold.
    """
    if len(codes) < n_folds:
        raise DataError(f"pruning_folds={n_folds} cannot be made of n_samples={len(codes)} rows.")
    fold = np.empty(len(codes), dtype=np.intp)
    # Dealt out in turn: of an order sorted by class, every fold gets its share of each.
    fold[mixed_order(codes, random, stratified=stratified)] = np.arange(len(codes)) % n_folds
    for current in range(n_folds):
        yield np.flatnonzero(fold != current), np.flatnonzero(fold == current)


def mixed_order(
    codes: NDArray[np.generic], random: np.random.Generator, *, stratified: bool
) -> NDArray[np.intp]:
    """Return the rows in random order, within each class if stratified."""
    order = random.permutation(len(codes))
    return order[np.argsort(codes[order], kind="stable")] if stratified else order
