"""The answer of a study in plain English, made from what its evidence says and nothing else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verulam.experiment._evidence.evidence import (
    DEFAULT_RULE,
    MOST_TIMES,
    OUT_OF_THE_RACE,
    Evidence,
)
from verulam.experiment._text import (
    Numbers,
    achieves,
    chance_text,
    counted,
    few,
    is_share,
    listed,
    measure_words,
    named,
    paragraph,
    sentence,
    shortened,
    times_text,
)

if TYPE_CHECKING:
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.responses import Responses

#: Below this agreement with other splits a choice is a toss-up.
TOSS_UP = 0.8
#: Contestants that other splits would lead to so often belong to the toss-up.
CONTENDER = 0.05
#: Where guessing errs as rarely as this, the error says little of a rare class.
RARE = 0.1
#: What a learner that is better than a baseline shows.
PREDICTABLE = "these inputs predict the target"
#: Where the interval of one difference leaves zero out, but a claim allows for all of them.
NOT_QUITE = "not quite enough to rule out chance"
#: An interval of the choice that is wider than so many margins on either side says little.
WIDE = 10.0


def numbers_for(evidence: Evidence) -> Numbers:
    """Return the writer of numbers for the evidence on one data set.

    Parameters
    ----------
    evidence
        What is known.
    """
    widths = [np.ptp(evidence.interval(name)) / 2 for name in evidence.eligible]
    # Those that always score the same, such as a baseline, would ask for many decimals.
    widths = [width for width in widths if width > evidence.margin / 10] or widths
    return Numbers.of(evidence.measure, float(np.median(widths)))


def choice_sentences(evidence: Evidence, responses: "Responses") -> str:
    """Return the answer on one data set: what to use, how good it is, and what speaks against it.

    Parameters
    ----------
    evidence
        What is known.
    responses
        Who took part.
    """
    parts = [
        _about_failures(evidence, responses),
        absent_sentences(responses, evidence.names, failed=False),
    ]
    if len(evidence.eligible) == 1:
        parts += _alone(evidence)
    elif evidence.selection.name == evidence.baseline:
        parts += _no_signal(evidence)
    else:
        parts += _recommendation(evidence)
    if len(evidence.eligible) > 1:
        parts += [_rare_class(evidence), agreement_sentence(evidence)]
    return paragraph(parts, responses.names)


def nothing_sentence(responses: "Responses") -> str:
    """Return why nothing can be said: every run failed, or none has finished.

    Parameters
    ----------
    responses
        The runs.
    """
    failed = responses.runs[~responses.runs["status"].isin(["done", "left"])]
    if failed.empty or len(failed) < len(responses.runs):
        return "No run has finished, so that nothing can be said yet."
    first = shortened(str(failed["error"].iloc[0]))
    return f"All {len(failed)} runs failed, so that nothing can be said; the first with: {first}"


def agreement_sentence(evidence: Evidence) -> str:
    """Return how often the rows were split, and how often other splits would agree.

    Parameters
    ----------
    evidence
        What is known.
    """
    often = times_text(evidence.selection.agreement)
    if evidence.measure.task == "control":
        count = counted(evidence.posterior.n_rows, "seed")
        return f"this rests on {count}; others would lead to the same choice {often}"
    if evidence.repeats < 2:
        return ""
    return (
        f"this rests on {counted(evidence.repeats, 'repeat')} of cross-validation; other random "
        f"splits of these rows would lead to the same choice {often}"
    )


def repeats_sentence(evidence: Evidence) -> str:
    """Return how many of the repeats would lead to the same choice by themselves.

    Parameters
    ----------
    evidence
        What is known.
    """
    agreeing, compared = evidence.repeats_agreeing
    if compared < 2:
        return ""
    choice = named(evidence.selection.name)
    if agreeing == compared == 2:
        return f"Both repeats would lead to {choice} by themselves."
    if agreeing == compared:
        return f"Each of the {compared} repeats would lead to {choice} by itself."
    if agreeing == 0:
        return f"None of the {compared} repeats would lead to {choice} by itself."
    return (
        f"Of the {compared} repeats, {agreeing} would lead to {choice} by "
        f"{'itself' if agreeing == 1 else 'themselves'}."
    )


def _value(evidence: Evidence, name: str) -> str:
    """Return the value of a contestant with its interval."""
    write = numbers_for(evidence)
    place = evidence.names.index(name)
    mean = float(evidence.posterior.means[place])
    return f"{write.value(mean)} of unseen rows" if _counts_rows(evidence) else write.value(mean)


def _counts_rows(evidence: Evidence) -> bool:
    return evidence.measure.name in ("error", "accuracy")


def with_interval(evidence: Evidence, name: str) -> str:
    write = numbers_for(evidence)
    return f"{_value(evidence, name)} ({write.interval(*evidence.interval(name))})"


def _alone(evidence: Evidence) -> list[str]:
    """Return the sentences where one contestant is left, or where there was never another."""
    name = evidence.eligible[0]
    words = achieves(evidence.measure, with_interval(evidence, name))
    if len(evidence.names) == 1:
        return [f"{named(name)} {words}", "it is alone: there was nothing to choose between"]
    return [f"use {named(name)}: it {words}", "no other contestant is left to compare it with"]


def absent_sentences(
    responses: "Responses", present: Sequence[str], *, where: str = "", failed: bool = True
) -> str:
    """Return who is left out for want of results, and why; empty where nobody is.

    Parameters
    ----------
    responses
        Who took part.
    present
        Who has results.
    where
        Where the others have none, in words.
    failed
        Whether to tell of those with failed runs too.
    """
    runs = responses.runs.assign(contestant=responses.runs["contestant"].astype(str))
    states = runs.groupby("contestant")["status"].agg(set)
    absent = [name for name in responses.names if name not in present]
    reasons: dict[str, list[str]] = {}
    for name in absent:
        state = states.get(name, {"left"})
        if state <= {"done"}:
            reason = f"could not be scored by {measure_words(responses.measure)}"
        elif state <= {"done", "left"}:
            reason = "had too few results yet" if "done" in state else "had no result yet"
        else:
            reason = "failed"
        if failed or reason != "failed":
            reasons.setdefault(reason, []).append(name)
    parts = []
    for reason, names in reasons.items():
        who, was = few([named(name) for name in names]), "were" if len(names) > 1 else "was"
        parts.append(f"{who} {reason}{where} and {was} left out of the choice")
    return paragraph(parts, responses.names)


def _about_failures(evidence: Evidence, responses: "Responses") -> str:
    """Return who was left out because some of its runs did not succeed."""
    runs = responses.full_runs
    runs = runs[runs["data"] == evidence.data]
    unsuccessful = runs[~runs["status"].isin(["done", "left"])]
    counts = unsuccessful["contestant"].astype(str).value_counts()
    absent = [name for name in responses.names if name in counts and name not in evidence.eligible]
    if not absent:
        return ""
    worst = int(counts[absent].max())
    planned = int((runs["contestant"] == counts[absent].idxmax()).sum())
    often = f"up to {worst}" if counts[absent].min() < worst else f"{worst}"
    return (
        f"{few([named(name) for name in absent])} failed in {often} of {planned} runs and "
        f"{'were' if len(absent) > 1 else 'was'} left out of the choice"
    )


def _no_signal(evidence: Evidence) -> list[str]:
    """Return the sentences where the baseline is chosen."""
    write, baseline = numbers_for(evidence), str(evidence.baseline)
    learners = [name for name in evidence.order if name in evidence.eligible and name != baseline]
    best = learners[0]
    value, low, high = evidence.posterior.difference(best, baseline)
    gain = value if evidence.measure.greater_is_better else -value
    known = achieves(evidence.measure, with_interval(evidence, baseline))
    if evidence.claimed(best, baseline):
        signal = "learning helps" if evidence.measure.task == "control" else PREDICTABLE
        hardly = (
            f"{signal}, but hardly: {named(best)} is better than "
            f"{named(baseline)} by only {write.difference(gain)}, less than the "
            f"{write.margin(evidence.margin)} that would matter"
        )
        ignores = "learns nothing" if evidence.measure.task == "control" else "ignores the inputs"
        return [hardly, f"{named(baseline)}, which {ignores}, {known}"]
    signal = "learning helps" if evidence.measure.task == "control" else PREDICTABLE
    if gain > evidence.margin:
        # Another rule than the usual one takes the baseline all the same.
        truth = f"the truth may be {_range(evidence, low, high)}"
        return [
            f"use {named(baseline)}, the simplest that the rule asked for allows: it {known}",
            f"{named(best)} did {write.difference(gain)} better here; {truth}",
        ]
    enough = f" by the {write.margin(evidence.margin)} that would matter" if evidence.margin else ""
    lead = [
        f"we saw no sign that {signal}: no learner did better than {named(baseline)}{enough}",
        f"{named(baseline)} {known}",
    ]
    who = f"the best of them, {named(best)}," if len(learners) > 1 else named(best)
    if evidence.same_losses(best, baseline):
        return [*lead, f"{who} did the same on every row"]
    word = "better" if gain > 0 else "worse"
    did = "just as well" if write.vanishes(gain) else f"{write.difference(gain)} {word}"
    return [*lead, f"{who} did {did} here; the truth may be {_range(evidence, low, high)}"]


def _range(evidence: Evidence, low: float, high: float) -> str:
    """Return an interval of a difference in words: from so much worse to so much better."""
    write = numbers_for(evidence)
    worst, finest = (low, high) if evidence.measure.greater_is_better else (-high, -low)
    words = [
        "just as good"
        if write.vanishes(edge)
        else f"{write.difference(edge)} {'better' if edge > 0 else 'worse'}"
        for edge in (worst, finest)
    ]
    if words[0] == words[1]:
        return words[0]
    if "just as good" in words:
        return f"anything from {words[0]} to {words[1]}"
    if (worst > 0) == (finest > 0):
        first, last = sorted((abs(worst), abs(finest)))
        side = "better" if worst > 0 else "worse"
        return f"{write.plain(first)} to {write.difference(last)} {side}"
    return f"anything from {words[0]} to {words[1]}"


def _recommendation(evidence: Evidence) -> list[str]:
    choice = evidence.selection.name
    words = achieves(evidence.measure, with_interval(evidence, choice))
    if evidence.selection.agreement < TOSS_UP:
        names = _contenders(evidence)
        suggestion = f"we suggest {named(choice)}, {_why_suggested(evidence, names)}which {words}"
        return [_toss_up(evidence, names), suggestion, *_beside_baseline(evidence)]
    parts = [*_little_data(evidence), f"use {named(choice)}: it {words}"]
    if choice != evidence.best:
        parts.append(_simpler(evidence))
        return [*parts, *_beside_baseline(evidence), *_long_shot(evidence)]
    others = [name for name in evidence.order if name != choice and name in evidence.eligible]
    beaten = [name for name in others if evidence.claimed(choice, name)]
    if len(beaten) == len(others):
        every = "every other contestant" if len(others) > 1 else f"{named(others[0])}"
        return [*parts, f"it is better than {every}{_nearest(evidence, others)}"]
    if beaten:
        learners = [name for name in beaten if name != evidence.baseline]
        also = [evidence.baseline] if evidence.baseline in beaten else []
        parts.append(f"it is better than {few([named(str(name)) for name in [*learners, *also]])}")
    rivals = [name for name in others if name not in beaten and name != evidence.baseline]
    if rivals:
        parts.append(_rival(evidence, rivals))
    if evidence.baseline not in beaten:
        parts += _beside_baseline(evidence)
    return [*parts, *_long_shot(evidence)]


def _beside_baseline(evidence: Evidence) -> list[str]:
    """Return whether the choice is shown to be better than ignoring the inputs, and how far."""
    choice, baseline = evidence.selection.name, evidence.baseline
    if baseline is None or baseline == choice:
        return []
    if evidence.claimed(choice, baseline):
        return [f"it is better than {named(baseline)}"]
    value, low, high = evidence.posterior.difference(baseline, choice)
    gain = -value if evidence.measure.greater_is_better else value
    write = numbers_for(evidence)
    side = "worse" if gain > 0 else "better"
    did = "just as well" if write.vanishes(gain) else f"{write.difference(gain)} {side}"
    hardly = f"it is not shown to be better than {named(baseline)}, which did {did} here"
    if low * high > 0:
        return [f"{hardly} ({_limits(write, low, high)}), {NOT_QUITE}"]
    return [f"{hardly}: the truth may be {_range(evidence, low, high)}"]


def _rare_class(evidence: Evidence) -> str:
    """Return a hint where hardly anything is left for the error to show."""
    if evidence.baseline is None or evidence.measure.name not in ("error", "accuracy"):
        return ""
    mean = float(evidence.posterior.means[evidence.names.index(evidence.baseline)])
    error = 1.0 - mean if evidence.measure.greater_is_better else mean
    if not 0.0 < error <= RARE:
        return ""
    return (
        f"{named(evidence.baseline)} errs on only {100 * error:.1f} %, so that errors show little "
        "of how well the rare cases are found: consider the measures auc or balanced_accuracy"
    )


def _limits(write: Numbers, low: float, high: float) -> str:
    """Return an interval on one side of zero, without its sign."""
    return write.interval(*sorted((abs(low), abs(high))))


def _contenders(evidence: Evidence) -> list[str]:
    """Return who could be chosen as well, and the choice, best first."""
    shares, choice = evidence.selection.shares, evidence.selection.name
    often = sorted(evidence.eligible, key=lambda name: (name != choice, -shares[name]))
    # Redrawn means may lead to a simple contestant that the evidence as a whole rules out.
    within = evidence.table["probability_within"]
    possible = [name for name in often if name == choice or within[name] >= OUT_OF_THE_RACE]
    often = possible if len(possible) > 1 else often
    contenders = {name for name in often if shares[name] >= CONTENDER} | set(often[:2])
    return [name for name in evidence.order if name in contenders]


def _why_suggested(evidence: Evidence, names: Sequence[str]) -> str:
    """Return that the choice is simpler than who did better here; empty where nobody did."""
    choice, grades = evidence.selection.name, evidence.complexity
    others = [name for name in names if name != choice]
    if choice == names[0] or min(grades[name] for name in others) <= grades[choice]:
        return ""
    return f"the {'simpler of the two' if len(names) == 2 else 'simplest of them'}, "


def _toss_up(evidence: Evidence, names: Sequence[str]) -> str:
    """Return between whom it is a toss-up, and how far they are apart."""
    write = numbers_for(evidence)
    means = dict(zip(evidence.names, evidence.posterior.means, strict=True))
    values = listed([write.plain(means[name]) for name in names])
    unit = " %" if is_share(evidence.measure) else ""
    tie = f"it is a toss-up between {listed([named(name) for name in names])} ({values}{unit})"
    apart = max(means[name] for name in names) - min(means[name] for name in names)
    if apart > evidence.margin or not evidence.margin:
        return tie
    return f"{tie}, which differ by less than the {write.margin(evidence.margin)} that would matter"


def _little_data(evidence: Evidence) -> list[str]:
    """Return a warning where the rows are too few to say much."""
    low, high = evidence.interval(evidence.selection.name)
    if not evidence.margin or (high - low) / 2 <= WIDE * evidence.margin:
        return []
    if evidence.losses is None or evidence.claims["claimed"].any():
        return []
    count = counted(evidence.posterior.n_rows, evidence.unit)
    return [f"with {count} this can only be a first guess"]


def _simpler(evidence: Evidence) -> str:
    """Return why the simpler contestant is chosen though another did better here."""
    choice, best = evidence.selection.name, evidence.best
    write = numbers_for(evidence)
    gain = evidence.posterior.difference(best, choice)[0]
    simpler = f"{named(choice)} is simpler"
    if write.vanishes(gain):
        return f"{named(best)} did just as well here; {simpler}"
    reason = (
        f"less than the {write.margin(evidence.margin)} that would matter and within the noise"
        if evidence.rule == DEFAULT_RULE
        else "which is within the noise"
    )
    return f"{named(best)} did {write.difference(gain)} better here, {reason}; {simpler}"


def _nearest(evidence: Evidence, others: Sequence[str]) -> str:
    _, low, high = evidence.posterior.difference(others[0], evidence.selection.name)
    words = _range(evidence, low, high)
    if len(others) == 1:
        return f", which is {words}"
    return f"; the nearest, {named(others[0])}, is {words}"


def _rival(evidence: Evidence, rivals: Sequence[str]) -> str:
    """Return what is to be said of the nearest contestant that cannot be told from the choice."""
    choice, write = evidence.selection.name, numbers_for(evidence)
    complexity = evidence.complexity[choice]
    chances = {
        name: 1.0 - evidence.posterior.better_equal_worse(name, choice, evidence.margin)[2]
        for name in rivals
        if evidence.complexity[name] < complexity
    }
    if chances and max(chances.values()) >= 0.5:
        name = max(chances, key=lambda simple: chances[simple])
        return (
            f"{named(name)} is simpler and probably no more than {write.margin(evidence.margin)} "
            f"worse (probability {chance_text(chances[name])})"
        )
    who = named(rivals[0])
    if len(evidence.eligible) > 2:
        who = f"the nearest, {who},"
    if evidence.same_losses(rivals[0], choice):
        return f"{who} did the same on every row"
    value, low, high = evidence.posterior.difference(rivals[0], choice)
    size = write.difference(value)
    if write.vanishes(value):
        return f"{who} did just as well here; the truth may be {_range(evidence, low, high)}"
    if (low > 0) == (high > 0):
        return f"{who} did {size} worse here ({_limits(write, low, high)}), {NOT_QUITE}"
    return (
        f"{who} did {size} worse here, which may be chance: the truth may be "
        f"{_range(evidence, low, high)}"
    )


def _long_shot(evidence: Evidence) -> list[str]:
    """Return how likely the choice is near the best, where that is not likely."""
    within = float(evidence.table["probability_within"][evidence.selection.name])
    if within >= 0.5:
        return []
    size = numbers_for(evidence).margin(evidence.margin)
    near = f"within {size} of the best" if evidence.margin else "the best"
    return [f"it is the best bet, but the probability that it is {near} is {chance_text(within)}"]


def advice_on_rows(evidence: Evidence) -> str:
    """Return what would settle what is open on one data set; empty where nothing is.

    Parameters
    ----------
    evidence
        What is known.
    """
    choice = evidence.selection.name
    rivals = [name for name in evidence.order if name != choice and name in evidence.eligible]
    rivals = [name for name in rivals if not evidence.claimed(choice, name)]
    if not rivals or evidence.losses is None:
        return ""
    rival = evidence.best if evidence.best != choice else rivals[0]
    size = abs(evidence.posterior.difference(rival, choice)[0])
    pair = f"{named(choice)} and {named(rival)}"
    if evidence.same_losses(choice, rival):
        return sentence(f"these rows cannot tell {pair} apart: they did the same on each")
    if size <= evidence.margin and evidence.margin:
        return sentence(_practical_tie(evidence, rival, pair))
    if choice == evidence.baseline and evidence.margin:
        # Nobody collects rows to show that a learner is worse than to ignore the inputs.
        return sentence(_missed_gain(evidence, rival, pair))
    return sentence(_rows_to_tell(evidence, rival, pair))


def _rows_to_tell(evidence: Evidence, rival: str, pair: str) -> str:
    """Return how many rows would show which of two is better."""
    write, choice = numbers_for(evidence), evidence.selection.name
    size = abs(evidence.posterior.difference(rival, choice)[0])
    more = f"not even {MOST_TIMES} times as many {evidence.unit}s"
    if write.vanishes(size):
        return f"{more} would tell {pair} apart"
    times = evidence.rows_to_tell(rival, choice)
    still = f"if they keep differing by {write.difference(size)}"
    if times is None:
        return f"{more} would tell {pair} apart, {still}"
    if times <= 1:
        return f"as many {evidence.unit}s again would probably tell {pair} apart, {still}"
    return f"{_times_rows(evidence, times)} would probably tell {pair} apart, {still}"


def _practical_tie(evidence: Evidence, rival: str, pair: str) -> str:
    """Return what is to be said of two whose difference here is below the margin."""
    write, margin = numbers_for(evidence), evidence.margin
    value, low, high = evidence.posterior.difference(rival, evidence.selection.name)
    did = (
        "did equally well"
        if write.vanishes(value)
        else f"differ by {write.difference(abs(value))}, less than the {write.margin(margin)} that "
        "would matter"
    )
    times = _times_to_margin(low, high, margin)
    if times <= 1:
        most = write.difference(max(abs(low), abs(high)))
        return f"which of {pair} is better hardly matters: they are at most about {most} apart"
    rows = _times_rows(evidence, times)
    return f"here {pair} {did}; {rows} would fix their difference to within {write.margin(margin)}"


def _missed_gain(evidence: Evidence, rival: str, pair: str) -> str:
    """Return how many rows would show whether a learner gains what matters on the baseline."""
    _, low, high = evidence.posterior.difference(rival, evidence.selection.name)
    size = numbers_for(evidence).margin(evidence.margin)
    most = high if evidence.measure.greater_is_better else -low
    if most <= evidence.margin:
        return (
            f"{named(rival)} is not better than {named(evidence.selection.name)} by {size} or "
            f"more; more {evidence.unit}s are not needed to see that"
        )
    times = _times_to_margin(low, high, evidence.margin)
    if times <= 1:
        # The difference is known well enough; open is whether it is more than chance.
        return _rows_to_tell(evidence, rival, pair)
    rows = _times_rows(evidence, times)
    if times > MOST_TIMES:
        rows = f"not even {MOST_TIMES} times as many {evidence.unit}s"
    return (
        f"{rows} would fix the difference between {pair} to within {size}, and so show whether a "
        "gain that matters was missed"
    )


def _times_to_margin(low: float, high: float, margin: float) -> float:
    """Return how many times as many rows narrow an interval to the margin on either side."""
    # The interval narrows as the root of the number of rows.
    return float(f"{np.ceil(((high - low) / 2 / margin) ** 2):.2g}")


def _times_rows(evidence: Evidence, times: float) -> str:
    # Of one split only some rows are validated, and how many there are is not known here.
    total = int(float(f"{times * evidence.posterior.n_rows:.2g}"))
    shown = f" ({total:,})" if evidence.repeats > 1 else ""
    return f"about {times:g} times as many {evidence.unit}s{shown}"


def not_rejected_sentence(evidence: Evidence, verdict: "Verdict", name: str) -> str:
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
    words = achieves(evidence.measure, with_interval(evidence, name))
    if name == evidence.baseline:
        signal = "learning helps" if evidence.measure.task == "control" else PREDICTABLE
        lead = f"we saw no sign that {signal}: the tests show no contestant"
        parts = [f"{lead} to be better than {named(name)}, which {words}"]
    else:
        parts = [f"use {named(name)}: it {words}"]
    unbeaten = [other for other in verdict.unbeaten if other in evidence.eligible]
    if len(unbeaten) > 1:
        parts.append(
            f"it is the simplest of {len(unbeaten)} contestants that the tests do not show to be "
            "worse than another, which is the rule that was asked for"
        )
    if name != evidence.best:
        write = numbers_for(evidence)
        value, low, high = evidence.posterior.difference(evidence.best, name)
        did = "just as well" if write.vanishes(value) else f"{write.difference(value)} better"
        parts.append(
            f"{named(evidence.best)} did {did} here; the truth may be {_range(evidence, low, high)}"
        )
    return paragraph(parts, evidence.names)
