"""Classes that the recommended contestant never predicts: a mean error hides the rare ones."""

from verulam.experiment._contestants import Responses
from verulam.experiment._predictions import StoredPredictions

#: On more data sets than this, notes on each would bury the rest.
MOST_DATA_SETS = 10
#: Of more classes than this, a few are bound to go without a prediction.
MOST_CLASSES = 20


def overlooked_classes(
    predictions: StoredPredictions, responses: Responses, recommended: str | None
) -> list[str]:
    """Return a line for each data set on which the recommended contestant overlooks a class.

    Parameters
    ----------
    predictions
        What was predicted.
    responses
        Contestants and data sets.
    recommended
        Name of the contestant; a baseline, which knows one class by its nature, gets no line.
    """
    chosen = next((each for each in responses.contestants if each.name == recommended), None)
    if chosen is None or chosen.baseline or len(responses.data) > MOST_DATA_SETS:
        return []
    lines = []
    for data in responses.data:
        pooled = predictions.pooled(data, chosen.learner, chosen.setting)
        if pooled is None or not 2 <= len(pooled.classes) <= MOST_CLASSES:
            continue
        predicted, true = set(pooled.predicted.tolist()), pooled.targets.tolist()
        for label in sorted(set(true) - predicted):
            share = true.count(label) / len(true)
            lines.append(
                f"{chosen.name} never predicts {label!r} on {data}, which is {share:.1%} of the "
                "rows. If that class matters, let balanced_accuracy, f_score or your own losses "
                "decide, or give its rows more weight."
            )
    return lines
