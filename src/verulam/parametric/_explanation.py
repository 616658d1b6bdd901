"""Why a prediction came out as it did: log-odds, column by column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import EncodedTable


@dataclass(frozen=True)
class Explanation:
    """The evidence behind one prediction.

    Attributes
    ----------
    label
        The predicted class.
    rival
        The class that came second.
    probability
        Posterior probability of the predicted class.
    log_odds
        Contribution of the prior and of each column to the log-odds of `label` against
        `rival`; they add up to the total.
    values
        What the row had in each column.
    """

    label: Any
    rival: Any
    probability: float
    log_odds: pd.Series
    values: pd.Series

    def __str__(self) -> str:
        heading = f"Predicted {_plain(self.label)!r} with probability {self.probability:.3f}"
        lines = [f"{heading}; log-odds against {_plain(self.rival)!r}:"]
        values = self.values.to_dict()
        rows = [
            (f"{name} = {values[name]}" if name in values else str(name), value)
            for name, value in self.log_odds.items()
        ]
        rows.append(("total", self.log_odds.sum()))
        width = max(len(shown) for shown, _ in rows)
        lines += [f"  {shown:<{width}}  {value:+.3f}" for shown, value in rows]
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """Return the contributions as a table, the strongest first."""
        frame = pd.DataFrame({"value": self.values, "log_odds": self.log_odds})
        order = frame["log_odds"].abs().sort_values(ascending=False).index
        return frame.loc[order]


def explain_rows(
    table: EncodedTable,
    terms: Mapping[str | int, np.ndarray],
    log_prior: np.ndarray,
    classes: np.ndarray,
) -> list[Explanation]:
    """Return the explanation of each row.

    Parameters
    ----------
    table
        The rows.
    terms
        For each column its log-likelihood under each class, of shape (n_rows, n_classes).
    log_prior
        Logarithm of each class's prior.
    classes
        Labels of the classes.
    """
    # Naive Bayes adds up: differences of these rows are the log-odds, column by column.
    stacked = np.stack([np.tile(log_prior, (len(table), 1)), *terms.values()])
    joint = stacked.sum(axis=0)
    order = np.argsort(-joint, axis=1, kind="stable")
    names = ["prior", *terms]
    explanations = []
    for row, (best, second) in enumerate(order[:, :2]):
        posterior = np.exp(joint[row, best] - np.logaddexp.reduce(joint[row]))
        explanations.append(
            Explanation(
                label=classes[best],
                rival=classes[second],
                probability=float(posterior),
                log_odds=pd.Series(stacked[:, row, best] - stacked[:, row, second], index=names),
                values=pd.Series(_row_values(table, row), dtype=object),
            )
        )
    return explanations


def _row_values(table: EncodedTable, row: int) -> dict[Any, str]:
    """Return what a row holds, as it should be read."""
    values: dict[Any, str] = {}
    numbers = dict(zip(table.schema.numeric, table.numbers[row], strict=True))
    codes = dict(zip(table.schema.categorical, table.codes[row], strict=True))
    for name in table.schema.names:
        if name in numbers:
            values[name] = "missing" if np.isnan(numbers[name]) else f"{numbers[name]:.6g}"
        else:
            code = codes[name]
            values[name] = "missing" if code < 0 else str(table.schema.categories_of(name)[code])
    return values


def _plain(label: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for."""
    return label.item() if isinstance(label, np.generic) else label
