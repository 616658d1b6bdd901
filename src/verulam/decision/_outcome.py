"""Confusion probabilities of a decision rule: how often each decision meets each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.decision._loss import LossTable


@dataclass(frozen=True, eq=False)
class Outcome:
    r"""The probability of each decision together with each class.

    Attributes
    ----------
    table
        Decisions in rows, classes in columns: :math:`P_k \int_{\Omega_i} p(x \mid k)\,dx`.

    Notes
    -----
    :math:`P(\text{error}) = \sum_k P_k (1 - \int_{\Omega_k} p(x \mid k)\,dx)`, less what is
    rejected (Bartkowiak 2.3 (2.1)-(2.2)).
    """

    table: pd.DataFrame

    @property
    def correct(self) -> float:
        """Probability that the decision is the true class."""
        classes = self.table.columns
        return float(np.trace(self.table.loc[classes].to_numpy()))

    @property
    def reject(self) -> float:
        """Probability that the decision is no class."""
        others = [row for row in self.table.index if row not in set(self.table.columns)]
        return float(self.table.loc[others].to_numpy().sum())

    @property
    def error(self) -> float:
        """Probability that the decision is a wrong class."""
        # Summed from the wrong cells: one minus the rest would lose the digits of small errors.
        decided = self.table.loc[self.table.columns].to_numpy()
        return float(decided.sum() - np.trace(decided))

    def risk(self, loss: LossTable) -> float:
        """Return the expected loss of the rule."""
        losses = loss.to_frame().loc[self.table.index, self.table.columns]
        return float((losses.to_numpy() * self.table.to_numpy()).sum())


@dataclass(frozen=True)
class Estimate:
    """A simulated value.

    Attributes
    ----------
    value
        Mean over the draws.
    standard_error
        Standard deviation of that mean.
    size
        Number of draws.
    """

    value: float
    standard_error: float
    size: int


class LabelCodes:
    """Numbers for decisions as they are met, the classes first."""

    def __init__(self, classes: Sequence[Any] | NDArray[Any]) -> None:
        self.labels: list[Any] = list(classes)

    def __call__(self, labels: Any) -> NDArray[np.intp]:
        """Return the code of each label; unknown labels get the next ones."""
        decisions = np.asarray(labels, dtype=object)
        codes, uniques = pd.factorize(decisions.ravel())
        # Missing labels have the code -1, which is the last of these.
        names = [*uniques, None] if (codes < 0).any() else list(uniques)
        self.labels += [label for label in names if label not in self.labels]
        positions = np.array([self.labels.index(label) for label in names], dtype=np.intp)
        return positions[codes].reshape(decisions.shape)

    def outcome(self, masses: NDArray[np.float64], classes: NDArray[Any]) -> Outcome:
        """Return the outcome from probabilities by code.

        None stands for values that cannot occur; as a decision it counts only if they do.
        """
        full = np.zeros((len(self.labels), masses.shape[1]))
        full[: len(masses)] = masses
        table = pd.DataFrame(full, index=pd.Index(self.labels, dtype=object), columns=list(classes))
        possible = [
            label is not None or row.any() for label, row in zip(self.labels, full, strict=True)
        ]
        return Outcome(table.loc[possible])
