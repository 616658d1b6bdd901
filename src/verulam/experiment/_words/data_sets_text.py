"""Sentences on orders, levels and several data sets, for what no single choice answers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verulam.experiment._evidence.evidence import DEFAULT_RULE, Evidence, RankEvidence
from verulam.experiment._text import (
    achieves,
    counted,
    few,
    listed,
    measure_words,
    named,
    paragraph,
    sentence,
    times_text,
)
from verulam.experiment._words.answer_text import with_interval

if TYPE_CHECKING:
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.responses import Responses
    from verulam.measures import Measure


def order_sentence(order: Sequence[str], measure: str) -> str:
    """Return the order of all contestants, as their means have it.

    Parameters
    ----------
    order
        Best first.
    measure
        What they are ordered by, in words.
    """
    return f"By {measure}, best first: {', '.join(named(name) for name in order)}."


def ranks_sentences(ranks: RankEvidence, verdict: "Verdict") -> str:
    """Return the answer over several data sets.

    Parameters
    ----------
    ranks
        What the mean ranks tell.
    verdict
        What the tests say.
    """
    choice, best = ranks.selection.name, ranks.best
    count = counted(ranks.n_data_sets, "data set")
    rank = f"{ranks.mean_rank(choice):.2f}"
    if choice == best:
        parts = [f"use {named(choice)}: over {count} it ranks best (mean rank {rank})"]
    else:
        error = "half the standard error" if ranks.rule == DEFAULT_RULE else "the standard error"
        top = ranks.mean_rank(best)
        tied = bool(np.isclose(ranks.mean_rank(choice), top))
        lead = f"ranks best ({top:.2f}), but by no more than {error} of the difference"
        parts = [
            f"use {named(choice)}: over {count} its mean rank is {rank}",
            f"{named(best)} {'ranks just as well' if tied else lead}; {named(choice)} is simpler",
        ]
    above = [name for name in ranks.order if verdict.beats(choice, name)]
    level = [name for name in ranks.order if name != choice and name not in above]
    if above:
        parts.append(
            f"it ranks above {_with_ranks(ranks, above)}, adjusted p < {verdict_level(verdict)}"
        )
    if level and verdict.tested:
        parts.append(f"the tests cannot tell it from {_with_ranks(ranks, level)}")
    agreement = times_text(ranks.selection.agreement)
    parts.append(f"another {count} like these would lead to the same choice {agreement}")
    return paragraph(parts, ranks.order)


def verdict_level(verdict: "Verdict") -> str:
    """Return the level of significance of a verdict."""
    return f"{verdict.overall.alpha:g}" if verdict.overall is not None else "0.05"


def _with_ranks(ranks: RankEvidence, names: Sequence[str]) -> str:
    shown = [f"{named(name)} ({ranks.mean_rank(name):.2f})" for name in names]
    return few(shown)


def each_data_set_sentences(evidence: Mapping[str, Evidence], ranks: RankEvidence | None) -> str:
    """Return the answer where there are too few data sets for one over all of them.

    Parameters
    ----------
    evidence
        What is known on each data set.
    ranks
        What the mean ranks tell; None where there are none.
    """
    choices = {data: known.selection.name for data, known in evidence.items()}
    everywhere = _level_everywhere(evidence, choices)
    if everywhere is not None:
        choices = dict.fromkeys(choices, everywhere)
    names = list(dict.fromkeys(choices.values()))
    silent = [data for data, known in evidence.items() if choices[data] == known.baseline]
    acting = any(known.measure.task == "control" for known in evidence.values())
    signal = "learning helps" if acting else "the inputs predict the target"
    no_sign = f"we saw no sign that {signal} on {listed(silent)}" if silent else ""
    if len(names) == 1:
        values = listed(
            [f"{with_interval(known, names[0])} on {data}" for data, known in evidence.items()]
        )
        measure = next(iter(evidence.values())).measure
        every = "both data sets" if len(evidence) == 2 else f"all {len(evidence)} data sets"
        where = f", the choice on {every}" if len(evidence) > 1 else ""
        parts = [no_sign, f"use {named(names[0])}{where}: it {achieves(measure, values)}"]
        return paragraph(parts)
    where = listed([f"{named(name)} on {data}" for data, name in choices.items()])
    parts = [f"it depends on the data set: use {where}", no_sign]
    if ranks is not None:
        top = ranks.mean_rank(ranks.best)
        level = [named(name) for name in ranks.order if np.isclose(ranks.mean_rank(name), top)]
        parts.append(
            f"over all of them {listed(level)} {'rank' if len(level) > 1 else 'ranks'} best (mean "
            f"rank {top:.2f}), but {ranks.n_data_sets} data sets are too few to say more than that"
        )
    return paragraph(parts)


def _level_everywhere(evidence: Mapping[str, Evidence], choices: Mapping[str, str]) -> str | None:
    """Return a choice of one data set whose mean is that of the choice on all; None for none."""

    def cost(data: str, name: str) -> float:
        known = evidence[data]
        return float(known.posterior.costs[known.names.index(name)])

    for name in choices.values():
        if all(
            name in known.eligible
            and choices[data] != known.baseline
            and np.isclose(cost(data, name), cost(data, choices[data]), rtol=1e-9, atol=0.0)
            for data, known in evidence.items()
        ):
            return name
    return None


def plain_sentence(responses: "Responses", *verdicts: "Verdict") -> str:
    """Return the answer where nothing is known but means: no interval, no test.

    Parameters
    ----------
    responses
        The scores.
    verdicts
        Who has the best mean, on each data set.
    """
    words = measure_words(responses.measure)
    leaders, most_splits = [], 0
    for verdict in verdicts:
        table = responses.by_split(verdict.scope) if verdict.scope in responses.data else None
        mean = float(table[verdict.best].mean()) if table is not None else float("nan")
        most_splits = max(most_splits, 0 if table is None else len(table))
        value = "" if np.isnan(mean) else f" ({mean:.4g})"
        where = f" on {verdict.scope}" if len(verdicts) > 1 else ""
        leaders.append(f"{named(verdict.best)} has the best {words}{where}{value}")
    # Where there were several splits, cross-validation was used and is no advice.
    remedy = "" if most_splits > 1 else "; use cross-validation to know"
    return (
        f"{sentence(listed(leaders), responses.names)} The design tells nothing of how far that "
        f"may be chance{remedy}."
    )


def too_few_sentence(data_sets: int, fewest: int) -> str:
    """Return how many data sets the tests over data sets ask for, where there are fewer.

    Parameters
    ----------
    data_sets
        How many there are.
    fewest
        How many a test needs.
    """
    return (
        f"A conclusion beyond these {data_sets} data sets needs at least {fewest}, and better 20, "
        "for the tests over data sets."
    )


def more_data_sets_sentence(name: str, rival: str, more: int | None, power: float) -> str:
    """Return how many more data sets would tell two contestants apart.

    Parameters
    ----------
    name, rival
        The contestants.
    more
        How many; None where no reasonable number would do.
    power
        Probability that the test then rejects.
    """
    pair = f"{named(name)} from {named(rival)}"
    if more is None:
        return f"No reasonable number of data sets would tell {pair}."
    return (
        f"To tell {pair} with power {power:g}, if they keep differing so: about {more} more data "
        "sets."
    )


def assessment_sentence(good: Sequence[str], measure: "Measure", acceptable: float) -> str:
    """Return which contestants are shown to be good enough.

    Parameters
    ----------
    good
        Their names.
    measure
        What was measured.
    acceptable
        The level.
    """
    relation = "above" if measure.greater_is_better else "below"
    level = f"{measure.name} {relation} {acceptable:g}"
    if not good:
        return f"No contestant is shown to be good enough ({level})."
    return f"Shown to be good enough ({level}): {few([named(name) for name in good])}."
