"""Shattering and the VC dimension: which labelings of points a class of hypotheses can realise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    FUNCTION,
    SEED,
    TABLE,
    TEXT,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    generator,
    unknown_name,
)
from verulam.linear import separability

#: Labelings of more points than this are too many to try one by one.
MOST_POINTS = 16

Realise = Callable[[NDArray[np.float64], NDArray[np.bool_]], bool]
"""Says whether some hypothesis of a class gives these points these labels."""


@dataclass(frozen=True, eq=False)
class Shattering:
    """Which labelings of some points a class of hypotheses realises.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_inputs)
        The points.
    labelings : ndarray of bool of shape (n_labelings, n_points)
        All labelings.
    realised : ndarray of bool of shape (n_labelings,)
        Which of them a hypothesis of the class gives.
    missing : ndarray of bool or None
        The first labeling that none gives.
    certificate : ndarray or None
        Proof that none does. For hyperplanes: shares of the points, summing to one within each
        label, that mix both labels to the same point. For boxes: 1 at a negative point that lies
        in the smallest box around the positive ones.

    Examples
    --------
    >>> from verulam.theory import shatters
    >>> corners = shatters([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> print(corners)
    Not shattered: 14 of 16 labelings are realised; none gives 0 1 1 0.
    >>> corners.certificate
    array([0.5, 0.5, 0.5, 0.5])
    """

    points: NDArray[np.float64]
    labelings: NDArray[np.bool_]
    realised: NDArray[np.bool_]
    missing: NDArray[np.bool_] | None
    certificate: NDArray[np.float64] | None

    def __bool__(self) -> bool:
        return bool(self.realised.all())

    def __str__(self) -> str:
        count = len(self.labelings)
        if self.missing is None:
            return f"Shattered: all {count} labelings are realised."
        labels = " ".join(str(int(label)) for label in self.missing)
        return (
            f"Not shattered: {int(self.realised.sum())} of {count} labelings are realised; "
            f"none gives {labels}."
        )


@dataclass(frozen=True, eq=False)
class VCDimension:
    """The size of the largest set of points that a class shatters.

    Attributes
    ----------
    lower
        Size of the largest set that is known to be shattered.
    upper
        Size that no set above can have, or None where that is not known.
    witness
        A shattered set of `lower` points.
    reason
        Why there is no larger one, or how many sets were tried.
    """

    lower: int
    upper: int | None
    witness: NDArray[np.float64]
    reason: str

    def __str__(self) -> str:
        if self.upper == self.lower:
            return f"VC dimension {self.lower}: {self.reason}"
        return f"VC dimension at least {self.lower}: {self.reason}"


@checked_arguments(points=TABLE, hypotheses=TEXT | FUNCTION)
def shatters(points: ArrayLike, hypotheses: str | Realise = "hyperplane") -> Shattering:
    """Try every labeling of some points, and say which a class of hypotheses realises.

    Parameters
    ----------
    points
        A point in each row, at most 16.
    hypotheses
        "hyperplane" (a line in the plane, either side positive), "box" (sides along the axes,
        positive inside), or a function of points and Boolean labels that says whether some
        hypothesis of the class gives them.

    Notes
    -----
    A labeling is tried by a linear program for hyperplanes, and by the smallest box around the
    positive points for boxes. See SIT1305 IV, where a line in the plane has dimension three.
    """
    table = _checked_points(points)
    realise = _class_named(hypotheses)
    codes = np.arange(2 ** len(table))
    labelings = (codes[:, None] >> np.arange(len(table))[::-1] & 1).astype(bool)
    realised = np.zeros(len(codes), dtype=bool)
    certificate = None
    missing = None
    for code in codes:
        proof = realise(table, labelings[code])
        realised[code] = proof is True
        if missing is None and proof is not True:
            missing = labelings[code]
            certificate = proof if isinstance(proof, np.ndarray) else None
    return Shattering(table, labelings, realised, missing, certificate)


@checked_arguments(n_points=WHOLE, n_inputs=WHOLE)
def n_dichotomies(n_points: int, n_inputs: int) -> int:
    r"""Return how many labelings of points in general position hyperplanes realise.

    Parameters
    ----------
    n_points
        Number of points.
    n_inputs
        Number of inputs, d; no d + 1 of the points lie in one hyperplane.

    Notes
    -----
    Cover's count, :math:`2 \sum_{k=0}^{d} \binom{n-1}{k}`.

    Examples
    --------
    >>> from verulam.theory import n_dichotomies
    >>> [n_dichotomies(count, 2) for count in (3, 4, 5)]
    [8, 14, 22]
    """
    if n_points < 1 or n_inputs < 1:
        raise DataError(
            f"n_points and n_inputs must be at least 1, but are {n_points}, {n_inputs}."
        )
    return 2 * sum(math.comb(n_points - 1, k) for k in range(n_inputs + 1))


@checked_arguments(
    hypotheses=TEXT | FUNCTION, n_inputs=WHOLE, n_trials=WHOLE, max_points=WHOLE, random_state=SEED
)
def vc_dimension(
    hypotheses: str | Realise = "hyperplane",
    n_inputs: int = 2,
    *,
    n_trials: int = 200,
    max_points: int = 8,
    random_state: Seed = 0,
) -> VCDimension:
    """Return the VC dimension of a class, with a set that is shattered.

    Parameters
    ----------
    hypotheses
        As for `shatters`.
    n_inputs
        Number of inputs.
    n_trials
        Sets of each size that are drawn at random, for a class given by a function.
    max_points
        Size at which the search ends.
    random_state
        Seed of the sets.

    Notes
    -----
    Hyperplanes shatter the origin and the unit vectors, d + 1 points; of any d + 2 points, Radon's
    theorem has two parts that no hyperplane separates. Boxes shatter the unit vectors and their
    negatives, 2d points; of any 2d + 1, one lies in the box around those that are extreme in some
    direction. For other classes random sets give a lower bound only.

    Examples
    --------
    >>> from verulam.theory import vc_dimension
    >>> print(vc_dimension("box", 2))
    VC dimension 4: of any 5 points, one lies in the box around the extreme ones.
    """
    if n_inputs < 1:
        raise DataError(f"n_inputs must be at least 1, but is {n_inputs}.")
    axes = np.eye(n_inputs)
    if hypotheses == "hyperplane":
        witness = np.vstack([np.zeros(n_inputs), axes])
        reason = f"any {n_inputs + 2} points have two parts whose hulls meet (Radon)."
        return VCDimension(n_inputs + 1, n_inputs + 1, witness, reason)
    if hypotheses == "box":
        reason = f"of any {2 * n_inputs + 1} points, one lies in the box around the extreme ones."
        return VCDimension(2 * n_inputs, 2 * n_inputs, np.vstack([axes, -axes]), reason)
    realise = _class_named(hypotheses)
    return _searched_dimension(realise, n_inputs, n_trials, max_points, random_state)


def _searched_dimension(
    realise: Any, n_inputs: int, n_trials: int, max_points: int, random_state: Seed
) -> VCDimension:
    random = generator(random_state)
    witness = np.zeros((0, n_inputs))
    for size in range(1, min(max_points, MOST_POINTS) + 1):
        sets = random.uniform(-1.0, 1.0, size=(n_trials, size, n_inputs))
        shattered = next((points for points in sets if _all_realised(realise, points)), None)
        if shattered is None:
            reason = f"none of {n_trials} random sets of {size} points was shattered."
            return VCDimension(len(witness), None, witness, reason)
        witness = shattered
    reason = f"a set of {len(witness)} points was shattered; larger ones were not tried."
    return VCDimension(len(witness), None, witness, reason)


def _all_realised(realise: Any, points: NDArray[np.float64]) -> bool:
    bits = np.arange(len(points))
    return all(
        realise(points, (code >> bits & 1).astype(bool)) is True for code in range(2 ** len(points))
    )


def _checked_points(points: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(points, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise DataError("points: expected a table of finite numbers, a point in each row.")
    if len(table) > MOST_POINTS:
        raise DataError(
            f"{len(table)} points have {2.0 ** len(table):,.0f} labelings; at most {MOST_POINTS} "
            "points are tried."
        )
    return table


def _class_named(hypotheses: Any) -> Any:
    if callable(hypotheses):
        return lambda points, labels: bool(hypotheses(points, labels))
    if hypotheses not in _CLASSES:
        raise unknown_name("class of hypotheses", hypotheses, _CLASSES)
    return _CLASSES[hypotheses]


def _by_hyperplane(points: NDArray[np.float64], labels: NDArray[np.bool_]) -> Any:
    """Return True, or the certificate that no hyperplane separates the labels."""
    if labels.all() or not labels.any():
        return True
    answer = separability(points, labels)
    return True if answer.separable else answer.certificate


def _by_box(points: NDArray[np.float64], labels: NDArray[np.bool_]) -> Any:
    """Return True, or 1 at a negative point within the smallest box around the positive ones."""
    if not labels.any():
        return True
    positives = points[labels]
    inside = ((points >= positives.min(axis=0)) & (points <= positives.max(axis=0))).all(axis=1)
    wrong = np.flatnonzero(inside & ~labels)
    if not len(wrong):
        return True
    certificate = np.zeros(len(points))
    certificate[wrong[0]] = 1.0
    return certificate


_CLASSES: dict[str, Any] = {"hyperplane": _by_hyperplane, "box": _by_box}
