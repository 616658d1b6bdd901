"""How many more data sets it would take to know more, in words."""

from verulam.experiment._analysis.power import data_sets_for_ranks, data_sets_needed
from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._store.responses import Responses
from verulam.experiment._words.phrases import named


def advice_over_data(responses: Responses, verdict: Verdict, alpha: float, *, name: str) -> str:
    """Return how many more data sets would tell the recommended contestant from its nearest rival.

    Parameters
    ----------
    responses
        The scores.
    verdict
        What the tests say over all data sets.
    alpha
        Level of significance.
    name
        The recommended contestant.
    """
    table = responses.by_data()[list(verdict.names)].dropna()
    greater = responses.measure.greater_is_better
    ranks = table.rank(axis=1, ascending=not greater)
    means = ranks.mean().sort_values(kind="stable")
    rivals = [str(other) for other in means.index if other != name]
    rivals = [other for other in rivals if not verdict.beats(name, other)]
    if not rivals:
        return ""
    rival = verdict.best if verdict.best != name else rivals[0]
    pair = f"{named(name)} from {named(rival)}"
    if len(verdict.names) == 2:
        needed = data_sets_needed((table[name] - table[rival]).to_numpy(), alpha=alpha)
    else:
        gap = float(means[rival] - means[name])
        needed = data_sets_for_ranks(abs(gap), len(means), alpha=alpha / len(verdict.pairs))
    if needed is None:
        return f"No reasonable number of data sets would tell {pair}."
    more = max(1, needed - len(table))
    return f"To tell {pair} with power 0.8, if they keep differing so: about {more} more data sets."
