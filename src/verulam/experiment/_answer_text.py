"""The answer of a study in plain English, made from what its evidence says and nothing else."""

from collections.abc import Mapping, Sequence

import numpy as np

from verulam.experiment._contestants import Responses
from verulam.experiment._evidence import Evidence
from verulam.experiment._phrases import (
    Numbers,
    achieves,
    chance_text,
    few,
    listed,
    measure_words,
    named,
    sentence,
    times_text,
)
from verulam.experiment._rank_evidence import RankEvidence
from verulam.experiment._text import counted
from verulam.experiment._verdict import Verdict

#: Below this agreement with other splits a choice is a toss-up.
TOSS_UP = 0.8
#: Contestants that other splits would lead to so often belong to the toss-up.
CONTENDER = 0.05
#: An interval of the choice that is wider than so many margins on either side says little.
WIDE = 10.0


def numbers_for(evidence: Evidence) -> Numbers:
    """Return the writer of numbers for the evidence on one data set.

    Parameters
    ----------
    evidence
        What is known.
    """
    low, high = evidence.interval(evidence.best)
    return Numbers.of(evidence.measure, (high - low) / 2)


def choice_sentences(evidence: Evidence, responses: Responses) -> str:
    """Return the answer on one data set: what to use, how good it is, and what speaks against it.

    Parameters
    ----------
    evidence
        What is known.
    responses
        Who took part.
    """
    if len(evidence.names) == 1:
        return _alone(evidence)
    parts = [_about_failures(evidence, responses)]
    if evidence.selection.name == evidence.baseline:
        parts += _no_signal(evidence)
    else:
        parts += _recommendation(evidence)
    parts.append(agreement_sentence(evidence))
    return " ".join(sentence(part) for part in parts if part)


def agreement_sentence(evidence: Evidence) -> str:
    """Return how often the rows were split, and how often other splits would agree.

    Parameters
    ----------
    evidence
        What is known.
    """
    if evidence.losses is None or evidence.repeats < 2:
        return ""
    often = times_text(evidence.selection.agreement)
    return (
        f"this rests on {counted(evidence.repeats, 'repeat')} of cross-validation; other random "
        f"splits of these rows would lead to the same choice {often}"
    )


def _value(evidence: Evidence, name: str) -> str:
    """Return the value of a contestant with its interval."""
    write = numbers_for(evidence)
    place = evidence.names.index(name)
    mean = float(evidence.posterior.means[place])
    return f"{write.value(mean)} of unseen rows" if _counts_rows(evidence) else write.value(mean)


def _counts_rows(evidence: Evidence) -> bool:
    return evidence.measure.name in ("error", "accuracy")


def _with_interval(evidence: Evidence, name: str) -> str:
    write = numbers_for(evidence)
    return f"{_value(evidence, name)} ({write.interval(*evidence.interval(name))})"


def _alone(evidence: Evidence) -> str:
    name = evidence.names[0]
    words = achieves(evidence.measure, _with_interval(evidence, name))
    return sentence(f"{named(name)} {words}; there is no other contestant to compare it with")


def _about_failures(evidence: Evidence, responses: Responses) -> str:
    """Return who was left out because some of its runs did not succeed."""
    runs = responses.runs[responses.runs["data"] == evidence.data]
    unsuccessful = runs[~runs["status"].isin(["done", "left"])]
    counts = unsuccessful["contestant"].astype(str).value_counts()
    absent = [name for name in responses.names if name in counts and name not in evidence.eligible]
    if not absent:
        return ""
    worst = int(counts[absent].max())
    planned = int((runs["contestant"] == absent[0]).sum())
    often = f"up to {worst}" if len(absent) > 1 and counts[absent].min() < worst else f"{worst}"
    return (
        f"{few([named(name) for name in absent])} failed in {often} of {planned} runs and "
        f"{'were' if len(absent) > 1 else 'was'} left out of the choice"
    )


def _no_signal(evidence: Evidence) -> list[str]:
    """Return the sentences where the baseline is chosen."""
    write, baseline = numbers_for(evidence), str(evidence.baseline)
    costs = dict(zip(evidence.names, evidence.posterior.costs, strict=True))
    learnt = [name for name in evidence.names if name != baseline]
    best = min(learnt, key=lambda name: costs[name])
    gain = costs[baseline] - costs[best]
    known = achieves(evidence.measure, _with_interval(evidence, baseline))
    if evidence.claimed(best, baseline):
        lead = (
            f"these inputs predict the target, but hardly: {named(best)} is better than "
            f"{named(baseline)} by {write.difference(gain)} only, less than the "
            f"{write.margin(evidence.margin)} that would matter"
        )
        return [lead, f"{named(baseline)}, which ignores the inputs, {known}"]
    _, low, high = evidence.posterior.difference(best, baseline)
    lead = (
        f"we saw no sign that these inputs predict the target: no learner did better than "
        f"{named(baseline)}, which {known}, by the {write.margin(evidence.margin)} that would "
        "matter"
    )
    word = "better" if gain > 0 else "worse"
    size = write.difference(gain)
    truth = _range(evidence, low, high)
    return [
        lead,
        f"the best of them, {named(best)}, did {size} {word} here; the truth may be {truth}",
    ]


def _range(evidence: Evidence, low: float, high: float) -> str:
    """Return an interval of a difference in words: from so much worse to so much better."""
    write = numbers_for(evidence)
    worst, finest = (low, high) if evidence.measure.greater_is_better else (-high, -low)
    words = [
        f"{write.difference(edge)} {'better' if edge > 0 else 'worse'}" for edge in (worst, finest)
    ]
    if (worst > 0) == (finest > 0):
        first, last = sorted((abs(worst), abs(finest)))
        side = "better" if worst > 0 else "worse"
        return f"{write.plain(first)} to {write.difference(last)} {side}"
    return f"anything from {words[0]} to {words[1]}"


def _recommendation(evidence: Evidence) -> list[str]:
    chosen = evidence.selection.name
    words = achieves(evidence.measure, _with_interval(evidence, chosen))
    if evidence.selection.agreement < TOSS_UP:
        return [*_toss_up(evidence), f"{named(chosen)} {words}"]
    parts = [*_little_data(evidence), f"use {named(chosen)}: it {words}"]
    if chosen != evidence.best:
        return [*parts, _simpler(evidence), *_long_shot(evidence)]
    others = [name for name in evidence.order if name != chosen]
    beaten = [name for name in others if evidence.claimed(chosen, name)]
    if len(beaten) == len(others):
        every = "every other contestant" if len(others) > 1 else f"{named(others[0])}"
        return [*parts, f"it is better than {every}{_nearest(evidence, others)}"]
    open_ones = [name for name in others if name not in beaten]
    if beaten:
        learnt = [name for name in beaten if name != evidence.baseline]
        also = [evidence.baseline] if evidence.baseline in beaten else []
        parts.append(f"it is better than {few([named(str(name)) for name in [*learnt, *also]])}")
    parts.append(_rival(evidence, open_ones))
    return [*parts, *_long_shot(evidence)]


def _toss_up(evidence: Evidence) -> list[str]:
    """Return who could be chosen as well, and who is suggested."""
    shares = evidence.selection.shares
    chosen = evidence.selection.name
    contenders = [name for name in evidence.order if shares[name] >= CONTENDER or name == chosen]
    write = numbers_for(evidence)
    means = dict(zip(evidence.names, evidence.posterior.means, strict=True))
    values = listed([write.plain(means[name]) for name in contenders])
    unit = " %" if write.value(0.0).endswith("%") else ""
    return [
        f"it is a toss-up between {listed([named(name) for name in contenders])} ({values}{unit})",
        f"we suggest {named(chosen)}",
    ]


def _little_data(evidence: Evidence) -> list[str]:
    """Return a warning where the rows are too few to say much."""
    low, high = evidence.interval(evidence.selection.name)
    if not evidence.margin or (high - low) / 2 <= WIDE * evidence.margin:
        return []
    if evidence.claims["claimed"].any() and evidence.posterior.n_rows >= 100:
        return []
    rows = evidence.posterior.n_rows
    return [f"with {rows} rows little is certain"] if evidence.losses is not None else []


def _simpler(evidence: Evidence) -> str:
    """Return why the simpler contestant is chosen though another did better here."""
    chosen, best = evidence.selection.name, evidence.best
    write = numbers_for(evidence)
    size = write.difference(evidence.posterior.difference(best, chosen)[0])
    reason = (
        f"less than the {write.margin(evidence.margin)} that would matter and within the noise"
        if evidence.rule == "half standard error"
        else "which is within the noise"
    )
    return f"{named(best)} did {size} better here, {reason}; {named(chosen)} is simpler"


def _nearest(evidence: Evidence, others: Sequence[str]) -> str:
    chosen = evidence.selection.name
    _, low, high = evidence.posterior.difference(others[0], chosen)
    words = _range(evidence, low, high)
    if len(others) == 1:
        return f", which is {words}"
    return f"; the nearest, {named(others[0])}, is {words}"


def _rival(evidence: Evidence, rivals: Sequence[str]) -> str:
    """Return what is to be said of the nearest contestant that cannot be told from the choice."""
    chosen, write = evidence.selection.name, numbers_for(evidence)
    own = evidence.complexity[chosen]
    simpler = [name for name in rivals if evidence.complexity[name] < own]
    chances = {
        name: 1.0 - evidence.posterior.better_equal_worse(name, chosen, evidence.margin)[2]
        for name in simpler
    }
    likely = [name for name in simpler if chances[name] >= 0.5]
    if likely:
        name = max(likely, key=lambda simple: chances[simple])
        return (
            f"{named(name)} is simpler and probably no more than {write.margin(evidence.margin)} "
            f"worse (probability {chance_text(chances[name])})"
        )
    if evidence.same_losses(rivals[0], chosen):
        return f"{named(rivals[0])} did the same on every row"
    value, low, high = evidence.posterior.difference(rivals[0], chosen)
    return (
        f"the nearest, {named(rivals[0])}, did {write.difference(value)} worse here, which may be "
        f"chance: the truth may be {_range(evidence, low, high)}"
    )


def _long_shot(evidence: Evidence) -> list[str]:
    """Return how likely the choice is near the best, where that is not likely."""
    within = float(evidence.table["probability_within"][evidence.selection.name])
    if within >= 0.5:
        return []
    size = numbers_for(evidence).margin(evidence.margin)
    chance = chance_text(within)
    return [
        f"it is the best bet, but the probability of being within {size} of the best is {chance}"
    ]


def advice_on_rows(evidence: Evidence) -> str:
    """Return what would settle what is open on one data set; empty where nothing is.

    Parameters
    ----------
    evidence
        What is known.
    """
    chosen = evidence.selection.name
    rivals = [name for name in evidence.order if name != chosen and name in evidence.eligible]
    rivals = [name for name in rivals if not evidence.claimed(chosen, name)]
    if not rivals or evidence.losses is None:
        return ""
    rival = evidence.best if evidence.best != chosen else rivals[0]
    write = numbers_for(evidence)
    size = abs(evidence.posterior.difference(rival, chosen)[0])
    pair = f"{named(chosen)} and {named(rival)}"
    if evidence.same_losses(chosen, rival):
        return sentence(f"no number of rows would tell {pair} apart: they do the same on each")
    if size <= evidence.margin:
        return sentence(
            f"which of {pair} is better hardly matters, if they keep differing by "
            f"{write.difference(size)}"
        )
    times = evidence.rows_to_tell(rival, chosen)
    rows = evidence.posterior.n_rows
    still = f"if they keep differing by {write.difference(size)}"
    if times is None:
        return sentence(f"no affordable number of rows would tell {pair} apart, {still}")
    if times <= 1:
        return sentence(f"as many rows again would probably tell {pair} apart, {still}")
    total = f"{int(float(f'{times * rows:.2g}')):,}"
    return sentence(
        f"about {times:g} times as many rows ({total}) would tell {pair} apart, {still}"
    )


def not_rejected_sentence(evidence: Evidence, verdict: Verdict, name: str) -> str:
    """Return the answer by the rule of Alpaydin 19.15: the simplest that no test rejects.

    Parameters
    ----------
    evidence
        What is known.
    verdict
        What the tests say.
    name
        The contestant.
    """
    parts = [f"use {named(name)}: it {achieves(evidence.measure, _with_interval(evidence, name))}"]
    if len(verdict.unbeaten) > 1:
        parts.append(
            f"it is the simplest of {len(verdict.unbeaten)} contestants that the tests do not show "
            f"to be worse than another, which is the rule that was asked for"
        )
    if name != evidence.best:
        write = numbers_for(evidence)
        value, low, high = evidence.posterior.difference(evidence.best, name)
        word = write.difference(value)
        parts.append(
            f"{named(evidence.best)} did {word} better here; the truth may be "
            f"{_range(evidence, low, high)}"
        )
    return " ".join(sentence(part) for part in parts)


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


def ranks_sentences(ranks: RankEvidence, verdict: Verdict) -> str:
    """Return the answer over several data sets.

    Parameters
    ----------
    ranks
        What the mean ranks tell.
    verdict
        What the tests say.
    """
    chosen, best = ranks.selection.name, ranks.best
    count = counted(ranks.n_data_sets, "data set")
    if chosen == best:
        rank = f"{ranks.mean_rank(chosen):.2f}"
        parts = [f"use {named(chosen)}: over {count} it ranks best (mean rank {rank})"]
    else:
        reason = "but by less than half the standard error of the difference"
        parts = [
            f"use {named(chosen)}: over {count} its mean rank is {ranks.mean_rank(chosen):.2f}",
            f"{named(best)} ranks best ({ranks.mean_rank(best):.2f}), {reason}",
            f"{named(chosen)} is simpler",
        ]
    above = [name for name in ranks.order if verdict.beats(chosen, name)]
    level = [name for name in ranks.order if name != chosen and name not in above]
    if above:
        parts.append(
            f"it ranks above {_with_ranks(ranks, above)}, adjusted p < {verdict_level(verdict)}"
        )
    if level and verdict.tested:
        parts.append(f"the tests cannot tell it from {_with_ranks(ranks, level)}")
    agreement = times_text(ranks.selection.agreement)
    parts.append(f"{count} more like these would lead to the same choice {agreement}")
    return " ".join(sentence(part) for part in parts)


def verdict_level(verdict: Verdict) -> str:
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
    names = list(dict.fromkeys(choices.values()))
    if len(names) == 1:
        values = listed(
            [f"{_with_interval(known, names[0])} on {data}" for data, known in evidence.items()]
        )
        measure = next(iter(evidence.values())).measure
        return sentence(
            f"use {named(names[0])}, the choice on each of the {len(evidence)} data sets: it "
            f"{achieves(measure, values)}"
        )
    where = listed([f"{named(name)} on {data}" for data, name in choices.items()])
    parts = [f"it depends on the data set: use {where}"]
    if ranks is not None:
        parts.append(
            f"over all of them {named(ranks.best)} ranks best (mean rank "
            f"{ranks.mean_rank(ranks.best):.2f}), but {ranks.n_data_sets} data sets are too few to "
            "say more than that"
        )
    return " ".join(sentence(part) for part in parts)


def plain_sentence(responses: Responses, verdict: Verdict) -> str:
    """Return the answer where nothing is known but means: no interval, no test.

    Parameters
    ----------
    responses
        The scores.
    verdict
        Who has the best mean.
    """
    table = responses.by_split(verdict.scope) if verdict.scope in responses.data else None
    mean = float(table[verdict.best].mean()) if table is not None else float("nan")
    words = measure_words(responses.measure)
    value = "" if np.isnan(mean) else f" ({mean:.4g})"
    leads = sentence(f"{named(verdict.best)} has the best {words}{value}")
    return (
        f"{leads} The design tells nothing of how far that may be chance; use cross-validation to "
        "know."
    )
