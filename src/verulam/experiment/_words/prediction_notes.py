"""What predictions lack: classes that are never predicted, probabilities that a measure needs."""

from verulam.experiment._store.predictions import StoredPredictions
from verulam.experiment._store.responses import Responses
from verulam.experiment._words.phrases import measure_words, named, sentence

#: On more data sets than this, notes on each would bury the rest.
MOST_DATA_SETS = 10
#: What some learners do not give.
MAY_LACK = ("probabilities", "scores")
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
                sentence(
                    f"{named(chosen.name)} never predicts {label!r} on {data}, which is "
                    f"{share:.1%} of the rows. If that class matters, let balanced_accuracy, "
                    "f_score or your own losses decide, or give its rows more weight."
                )
            )
    return lines


def unscored_contestants(responses: Responses) -> list[str]:
    """Return a line for each contestant that has run but has no value of the measure.

    Parameters
    ----------
    responses
        Contestants, runs and scores.
    """
    done = set(responses.runs.loc[responses.runs["status"] == "done", "contestant"])
    scored = set(responses.scores.dropna(subset="score")["contestant"])
    measure = responses.measure
    reason = f"it gives no {measure.needs}" if measure.needs in MAY_LACK else "it is undefined"
    return [
        sentence(f"{named(name)} has no {measure_words(measure)}: {reason} here")
        for name in responses.names
        if name in done and name not in scored
    ]
