"""What speaks for one prediction: how it would change with a typical value in each column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError, visible_text
from verulam.data import as_pandas
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.columns import check_names, gap_counts, gap_remarks, model_inputs
from verulam.experiment._final.insight import plain_figure

#: Columns that an explanation names, in lines of its own or in a cell of a table.
MOST_NAMED, MOST_IN_A_CELL = 5, 3
#: Classes of which a typical row is explained, worst errors that are, and rows looked at.
MOST_CLASSES, MOST_WORST, MOST_ROWS = 3, 2, 2000
#: Where among the predicted numbers the rows lie that are explained.
QUANTILES = {"low": 0.1, "middle": 0.5, "high": 0.9}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a model predicts what it predicts for one row.

    Attributes
    ----------
    prediction
        The predicted label or number.
    value
        What is explained: the probability of the predicted class, its score where the learner
        gives no probabilities, or the predicted number.
    table
        One row per column: its value, the typical value, what the prediction would be with that,
        and the effect, which is the difference; the largest effects first. A value is missing
        where it was so in the row, whatever the model was given instead.
    target
        Name of the predicted column.
    by_probability
        Whether the value is a probability.
    remarks
        What was done with gaps, of a model that knows none.
    by_score
        Whether the value is a score, above 0 where the class is predicted.

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
    remarks: tuple[str, ...] = ()
    by_score: bool = False

    def __str__(self) -> str:
        what = f"{self.target} = {_shown(self.prediction)}"
        if self.by_probability:
            what += f", with probability {self.value:.3f}"
        elif self.by_score:
            what += f", with a score of {self.value:.3f} (below 0 it would be another class)"
        lines = [f"{what}."]
        of = "the probability" if self.by_probability else "the score" if self.by_score else "it"
        for name, row in self.table.head(MOST_NAMED).iterrows():
            effect, other = float(row["effect"]), float(row["typical_prediction"])
            if effect == 0:
                break
            amount = self._amount(other)
            lines.append(
                f"- {name} = {_shown(row['value'])} {'raises' if effect > 0 else 'lowers'} {of}: "
                f"with {_shown(row['typical'])} it would be {amount}."
            )
        lines += self.remarks
        return visible_text("\n".join(fill(line, 80, subsequent_indent="  ") for line in lines))

    __repr__ = __str__

    @property
    def predicted(self) -> str:
        """The prediction, with its probability where there is one."""
        label = _shown(self.prediction)
        if self.by_score:
            return f"{label} (score {self.value:.3f})"
        return f"{label} ({self.value:.3f})" if self.by_probability else label

    @property
    def reasons(self) -> str:
        """The columns that matter most, and what the prediction would be without them."""
        parts = []
        for name, row in self.table.head(MOST_IN_A_CELL).iterrows():
            if float(row["effect"]) == 0:
                break
            other = self._amount(float(row["typical_prediction"]))
            value, typical = _shown(row["value"]), _shown(row["typical"])
            parts.append(f"{name} = {value} (with {typical}: {other})")
        return visible_text("; ".join(parts) or "no single column")

    def _amount(self, value: float) -> str:
        plain = not (self.by_probability or self.by_score)
        return plain_figure(value) if plain else f"{value:.3f}"

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{escape(visible_text(remark))}</p>" for remark in self.remarks)
        return self.table.to_html(float_format="{:.4g}".format) + remarks


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
    inputs = model_inputs(table, card, unseen="missing", missing="typical")
    gaps = gap_counts(table, card)
    changed = [inputs]
    changed += [inputs.assign(**{name: typical[name].to_numpy()}) for name in inputs.columns]
    stacked = pd.concat(
        [frame.astype(inputs.dtypes.to_dict()) for frame in changed], ignore_index=True
    )
    X = stacked.to_numpy(dtype=np.float64) if card.as_array else stacked
    predictions = np.asarray(estimator.predict(X))
    prediction = predictions[0]
    values, by_probability = predictions, False
    if card.classes:
        support = class_support(estimator, X)
        # Not the most probable one: of a support vector machine that may be another.
        values = support.values[:, list(estimator.classes_).index(prediction)]
        by_probability = support.are_probabilities
    effects = pd.DataFrame(
        {
            "value": [
                None if gaps.get(column.name) else inputs[column.name].iloc[0]
                for column in card.inputs
            ],
            "typical": [typical[column.name].iloc[0] for column in card.inputs],
            "typical_prediction": values[1:],
            "effect": values[0] - values[1:],
        },
        index=pd.Index([column.name for column in card.inputs], name="column"),
    )
    order = effects["effect"].abs().sort_values(ascending=False, kind="stable").index
    return Explanation(
        prediction,
        float(values[0]),
        effects.loc[order],
        card.target,
        by_probability,
        tuple(gap_remarks(gaps)),
        by_score=bool(card.classes) and not by_probability,
    )


def explained_rows(
    card: ModelCard,
    estimator: Any,
    inputs: pd.DataFrame,
    targets: NDArray[Any],
    rows: NDArray[np.intp],
    worst: Sequence[Mapping[str, Any]] = (),
) -> tuple[dict[str, Any], ...]:
    """Return what speaks for the predictions of typical rows, and of the worst errors.

    Parameters
    ----------
    card, estimator
        The model.
    inputs, targets
        The table that it was made from, with what is predicted.
    rows
        Those of its rows that typical ones are taken from.
    worst
        Rows that were predicted worst, counted from 1.

    Notes
    -----
    Of classes, for each of the three that are predicted most the row with the median probability
    or score; of numbers, the rows at a tenth, a half and nine tenths of the predictions.
    """
    if card.classes and not has_support(estimator):
        return ()
    seen = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.intp)]
    typical = _typical_rows(estimator, _as_given(card, inputs.iloc[seen]), bool(card.classes))
    places = [(kind, int(seen[place])) for kind, place in typical]
    places += [("predicted badly", int(row["row"]) - 1) for row in worst[:MOST_WORST]]
    explained = []
    for kind, place in places:
        explanation = explain_row(card, estimator, inputs.iloc[[place]])
        explained.append(
            {
                "row": place + 1,
                "kind": kind,
                "target": _shown(targets[place]),
                "predicted": explanation.predicted,
                "reasons": explanation.reasons,
            }
        )
    return tuple(explained)


def _as_given(card: ModelCard, inputs: pd.DataFrame) -> Any:
    """Return inputs in the form that the learner was fitted to."""
    return inputs.to_numpy(dtype=np.float64) if card.as_array else inputs


def _typical_rows(estimator: Any, X: Any, of_classes: bool) -> Iterator[tuple[str, int]]:
    """Yield what kind of row is typical, and the place of one."""
    if not of_classes:
        order = np.argsort(np.asarray(estimator.predict(X)), kind="stable")
        for kind, share in QUANTILES.items():
            yield f"a {kind} prediction", int(order[round(share * (len(order) - 1))])
        return
    support = class_support(estimator, X).values
    codes = support.argmax(axis=1)
    commonest = np.argsort(-np.bincount(codes, minlength=support.shape[1]), kind="stable")
    for code in commonest[:MOST_CLASSES]:
        members = np.flatnonzero(codes == code)
        if len(members):
            order = members[np.argsort(support[members, code], kind="stable")]
            yield f"typical for {estimator.classes_[code]}", int(order[len(order) // 2])


class Support(NamedTuple):
    """How much speaks for each class in each row, and whether that is a probability."""

    values: NDArray[np.float64]
    are_probabilities: bool


def has_support(estimator: Any) -> bool:
    """Tell whether a classifier says how much speaks for each class.

    Parameters
    ----------
    estimator
        A fitted classifier.
    """
    return hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")


def class_support(estimator: Any, X: Any) -> Support:
    """Return how much speaks for each class: probabilities, or else the lead of its score.

    Parameters
    ----------
    estimator
        A fitted classifier.
    X
        Inputs.
    """
    if hasattr(estimator, "predict_proba"):
        return Support(np.asarray(estimator.predict_proba(X)), are_probabilities=True)
    if not has_support(estimator):
        raise DataError(
            "This learner gives neither probabilities nor scores, by which one prediction could "
            "be explained."
        )
    scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if scores.ndim == 1:
        # A threshold that was tuned is where the second class begins.
        scores = scores - getattr(estimator, "threshold_", 0.0)
        return Support(np.column_stack([-scores, scores]), are_probabilities=False)
    leads = np.empty_like(scores)
    for place in range(scores.shape[1]):
        leads[:, place] = scores[:, place] - np.delete(scores, place, axis=1).max(axis=1)
    return Support(leads, are_probabilities=False)


def _one_row(row: Any) -> pd.DataFrame:
    if isinstance(row, pd.Series):
        row = row.to_dict()
    table = as_pandas(row)
    if table is not None:
        if len(table) != 1:
            raise DataError(f"row: got a table of {len(table)} rows; expected one.")
        return table
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
        return "missing" if np.isnan(value) else plain_figure(float(value))
    if value is None or value is pd.NaT or value is pd.NA:
        return "missing"
    text = str(value)
    return repr(text if len(text) <= 40 else f"{text[:37]}...") if " " in text else text
