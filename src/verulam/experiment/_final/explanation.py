"""What speaks for one prediction: how it would change with a typical value in each column."""

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, visible_text
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.columns import check_names, model_inputs

#: Columns that an explanation names.
MOST_NAMED = 5


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicts what it predicts for one row.

    Attributes
    ----------
    prediction
        The predicted label or number.
    value
        What is explained: the probability of the predicted class, or the predicted number.
    table
        One row per column: its value, the typical value, what the prediction would be with that,
        and the effect, which is the difference; the largest effects first.
    target
        Name of the predicted column.
    by_probability
        Whether the value is a probability.

    Notes
    -----
    One column at a time is set to its typical value, the median or the commonest category of the
    rows that the model was made from. Effects need not add up where columns act together.
    """

    prediction: Any
    value: float
    table: pd.DataFrame
    target: str
    by_probability: bool

    def __str__(self) -> str:
        what = f"{self.target} = {_shown(self.prediction)}"
        if self.by_probability:
            what += f", with probability {self.value:.3f}"
        lines = [f"{what}."]
        of = "the probability" if self.by_probability else "it"
        for name, row in self.table.head(MOST_NAMED).iterrows():
            effect, other = float(row["effect"]), float(row["typical_prediction"])
            if effect == 0:
                break
            amount = f"{other:.3f}" if self.by_probability else f"{other:.4g}"
            lines.append(
                f"- {name} = {_shown(row['value'])} {'raises' if effect > 0 else 'lowers'} {of}: "
                f"with {_shown(row['typical'])} it would be {amount}."
            )
        return visible_text("\n".join(fill(line, 80, subsequent_indent="  ") for line in lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table.to_html(float_format="{:.4g}".format)


def explain_row(card: ModelCard, estimator: Any, row: Any) -> Explanation:
    """Return what speaks for the prediction of one row.

    Parameters
    ----------
    card
        The card of the model.
    estimator
        The fitted learner.
    row
        A mapping of columns to values, a row of a table, or a table of one row.
    """
    table = _one_row(row)
    check_names(table.columns, card)
    usual = {
        column.name: [pd.Timestamp(column.typical)] if column.kind == "date" else [column.typical]
        for column in card.inputs
    }
    typical = model_inputs(pd.DataFrame(usual), card, unseen="missing")
    inputs = model_inputs(table, card, unseen="missing")
    changed = [inputs]
    changed += [inputs.assign(**{name: typical[name].to_numpy()}) for name in inputs.columns]
    stacked = pd.concat(
        [frame.astype(inputs.dtypes.to_dict()) for frame in changed], ignore_index=True
    )
    X = stacked.to_numpy(dtype=np.float64) if card.as_array else stacked
    predictions = np.asarray(estimator.predict(X))
    prediction = predictions[0]
    values = _chances(estimator, X, prediction) if card.classes else predictions
    effects = pd.DataFrame(
        {
            "value": [inputs[column.name].iloc[0] for column in card.inputs],
            "typical": [typical[column.name].iloc[0] for column in card.inputs],
            "typical_prediction": values[1:],
            "effect": values[0] - values[1:],
        },
        index=pd.Index([column.name for column in card.inputs], name="column"),
    )
    order = effects["effect"].abs().sort_values(ascending=False, kind="stable").index
    by_probability = bool(card.classes)
    return Explanation(
        prediction, float(values[0]), effects.loc[order], card.target, by_probability
    )


def _chances(estimator: Any, X: Any, label: Any) -> np.ndarray:
    """Return the probability of a class in each row."""
    if not hasattr(estimator, "predict_proba"):
        raise DataError(
            "This learner gives no probabilities, by which one prediction could be explained."
        )
    # Not the most probable one: of a support vector machine that may be another.
    place = list(estimator.classes_).index(label)
    return np.asarray(estimator.predict_proba(X))[:, place]


def _one_row(row: Any) -> pd.DataFrame:
    if isinstance(row, pd.Series):
        row = row.to_dict()
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise DataError(f"row: got a table of {len(row)} rows; expected one.")
        return row
    if not isinstance(row, dict):
        raise DataError(
            f"row: got {type(row).__name__}; expected a mapping of columns to values, or a row of "
            "a table."
        )
    return pd.DataFrame({str(name): [value] for name, value in row.items()})


def _shown(value: Any) -> str:
    if isinstance(value, pd.Timestamp):
        return str(value.date())
    if isinstance(value, float | np.floating):
        return "missing" if np.isnan(value) else f"{value:.4g}"
    if value is None or value is pd.NaT or value is pd.NA:
        return "missing"
    text = str(value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...") if " " in text else text
