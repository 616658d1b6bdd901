"""From verdicts to an answer: whom to recommend, in which order all stand, what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from verulam.experiment._advice import advice_on_splits, advice_over_data
from verulam.experiment._contestants import Responses
from verulam.experiment._data_tests import FEWEST_FOR_TWO
from verulam.experiment._verdict import Verdict, order_of_all

#: Of more names than this, a sentence says how many more there are.
MOST_NAMES = 5
#: With fewer scores of each contestant, tests on splits cannot tell anything.
FEWEST_SCORES = 5


@dataclass(frozen=True)
class Answer:
    """What a study says.

    Attributes
    ----------
    recommended
        The contestant to use; None where the study cannot say.
    order
        All contestants from best to worst.
    sentence
        The answer in words.
    advice
        What it would take to know more; empty where everything is settled.
    undecided
        Why the order is not that of quality, in words; empty where tests speak for it.
    """

    recommended: str | None
    order: tuple[str, ...]
    sentence: str
    advice: str = ""
    undecided: str = ""

    @property
    def order_words(self) -> str:
        """The order with what it is worth."""
        if self.undecided:
            return f"Order {self.undecided}: {', '.join(self.order)}."
        return f"From best to worst: {', '.join(self.order)}."


def answer(
    responses: Responses,
    verdicts: Mapping[str, Verdict],
    over_data: Verdict | None,
    *,
    alpha: float,
) -> Answer:
    """Return what a study says.

    Parameters
    ----------
    responses
        The scores.
    verdicts
        For each data set what the tests say there.
    over_data
        What they say over all data sets.
    alpha
        Level of significance.
    """
    if not verdicts:
        return Answer(None, (), "No run has finished, so that nothing can be said yet.")
    if len(responses.names) == 1:
        return Answer(responses.names[0], tuple(responses.names), _alone(responses))
    if len(present := _present(responses)) == 1:
        return Answer(None, tuple(present), _only(responses, present[0]))
    if over_data is None:
        verdict = next(iter(verdicts.values()))
        said = _from_verdict(responses, verdict, advice_on_splits(responses, verdict, alpha))
        return replace(said, sentence=f"{said.sentence}{_few_scores(responses, verdict)}")
    if over_data.tested:
        order = _order_over_data(responses, verdicts, over_data)
        advice = advice_over_data(responses, over_data, alpha, chosen=order[0])
        if order[0] != order_of_all(over_data, over_data.names)[0]:
            return _against_each(responses, verdicts, over_data, order, advice)
        return _from_verdict(responses, over_data, advice)
    return _from_each_data_set(responses, verdicts)


def with_order(said: Answer) -> Answer:
    """Return the answer with the order of all in its sentence, for studies that ask for it.

    Parameters
    ----------
    said
        The answer.
    """
    if len(said.order) < 2:
        return said
    return replace(said, sentence=f"{said.order_words} {said.sentence}")


def listed(names: Sequence[str]) -> str:
    """Return names as people write them in a row."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def few(names: Sequence[str]) -> str:
    """Return the first of many names in a row, and how many more there are.

    Examples
    --------
    >>> few(["a", "b", "c"]), few(list("abcdefgh"))
    ('a, b and c', 'a, b, c, d, e and 3 others')
    """
    if len(names) <= MOST_NAMES + 1:
        return listed(names)
    return listed([*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} others"])


def _from_verdict(responses: Responses, verdict: Verdict, advice: str) -> Answer:
    present = [name for name in responses.names if name in verdict.names]
    order = order_of_all(verdict, present)
    if not verdict.tested:
        sentence = (
            f"{verdict.best} has the {_standing(responses, verdict)}, but the design allows no "
            "test, so that it may be chance."
        )
        return Answer(verdict.best, order, sentence, advice, _undecided(responses, verdict))
    chosen, best = order[0], verdict.best
    baselines = [each.name for each in responses.contestants if each.baseline]
    others = [name for name in verdict.group if name != best]
    # Contestants stand simplest first: those before the chosen one lose to somebody.
    losers = [name for name in present[: present.index(chosen)] if name in others]
    unbeaten = _that_nobody_beats(verdict, losers, present)
    if verdict.undecided:
        sentence = (
            f"The contestants are not all equal, but no pair can be named: more data are needed. "
            f"Until then use {chosen}, the simplest{_rather(responses, verdict, chosen)}."
        )
    elif chosen in baselines:
        sentence = (
            f"No learner is shown to beat the baseline {chosen}: use it, or gather more data. "
            f"{best} has the {_standing(responses, verdict)}."
        )
    elif chosen != best:
        simplest = "the simplest of these" if len(others) > 1 else "the simpler one"
        sentence = (
            f"Use {chosen}. {best} has the {_standing(responses, verdict)}, but the tests fail to "
            f"reject that {few(others)} {'do' if len(others) > 1 else 'does'} equally well; "
            f"{chosen} is {simplest}{unbeaten}."
        )
    elif others:
        sentence = (
            f"Use {chosen}. It has the {_standing(responses, verdict)} and is the simplest of "
            f"those that the tests cannot tell apart{unbeaten}: the others are {few(others)}."
        )
    else:
        other = "any other" if len(present) > 2 else "the other"
        sentence = (
            f"Use {chosen}. It has the {_standing(responses, verdict)}, and the tests reject that "
            f"{other}{' of them' if _among(responses, present) else ''} does equally well."
        )
    return Answer(chosen, order, sentence, advice, _undecided(responses, verdict))


def _that_nobody_beats(verdict: Verdict, losers: Sequence[str], names: Sequence[str]) -> str:
    """Return why simpler contestants that cannot be told from the best are not recommended."""
    if not losers:
        return ""
    reasons = [
        f"{loser} loses to {next(name for name in names if verdict.beats(name, loser))}"
        for loser in losers
    ]
    return f" that nobody is shown to beat ({few(reasons)})"


def _few_scores(responses: Responses, verdict: Verdict) -> str:
    """Return a warning where there are too few scores for the tests to tell anything."""
    scores = len(responses.by_split(verdict.scope))
    if not verdict.tested or not 1 < scores < FEWEST_SCORES:
        return ""
    return f" Beware: with only {scores} scores of each, these tests can tell next to nothing."


def _rather(responses: Responses, verdict: Verdict, chosen: str) -> str:
    """Return who is ahead of the simplest, and by how much."""
    if chosen == verdict.best:
        return ""
    words = f", or {verdict.best}, which has the {_standing(responses, verdict)}"
    if verdict.scope not in responses.data:
        return words
    mean = responses.by_split(verdict.scope)[chosen].mean()
    return f"{words}, against {mean:.4g} of {chosen}"


def _undecided(responses: Responses, verdict: Verdict) -> str:
    if verdict.decides:
        return ""
    over = "" if verdict.scope in responses.data else " over data sets"
    return f"not decided by the tests{over} (simplest first)"


def _beaten(verdicts: Mapping[str, Verdict], name: str) -> list[bool]:
    """Return whether each data set's own tests say that another contestant beats this one."""
    return [name not in verdict.unbeaten for verdict in verdicts.values()]


def _order_over_data(
    responses: Responses, verdicts: Mapping[str, Verdict], over_data: Verdict
) -> tuple[str, ...]:
    """Return the order of all; where it would begin with what is beaten everywhere, another.

    The tests over few data sets have little power, so that the simplest contestant may be unbeaten
    there and yet beaten on each data set. Then those that are beaten on none come first, and those
    that are beaten on each last, as far as the tests over data sets do not say otherwise.
    """
    present = [name for name in responses.names if name in over_data.names]
    order = order_of_all(over_data, present)
    if not all(_beaten(verdicts, order[0])):
        return order
    where = {name: _beaten(verdicts, name) for name in present}
    return order_of_all(
        over_data, sorted(present, key=lambda name: any(where[name]) + all(where[name]))
    )


def _against_each(
    responses: Responses,
    verdicts: Mapping[str, Verdict],
    over_data: Verdict,
    order: tuple[str, ...],
    advice: str,
) -> Answer:
    """Return the answer where the tests on each data set rule out what those over them do not."""
    chosen = order[0]
    ruled_out = [name for name in order if all(_beaten(verdicts, name))]
    some = any(_beaten(verdicts, chosen))
    sentence = (
        f"Use {chosen}. The tests over {len(verdicts)} data sets do not decide, but on each data "
        f"set by itself they rule out {few(ruled_out)}; {chosen} is the simplest that they rule "
        f"out on {'some only' if some else 'none'}. "
        f"{'It' if chosen == over_data.best else over_data.best} has the "
        f"{_standing(responses, over_data)}."
    )
    undecided = _undecided(responses, over_data).replace(
        "simplest first", "simplest first, those ruled out on each data set last"
    )
    return Answer(chosen, order, sentence, advice, undecided)


def _standing(responses: Responses, verdict: Verdict) -> str:
    among = _among(responses, verdict.names)
    if verdict.scope in responses.data:
        word = "highest" if responses.measure.greater_is_better else "lowest"
        mean = responses.by_split(verdict.scope)[verdict.best].mean()
        return f"{word} mean {measure_words(responses)} ({mean:.4g}){among}"
    return f"best mean rank by {measure_words(responses)}{among}"


def _present(responses: Responses) -> list[str]:
    """Return the contestants that have a score on any data set."""
    return [str(name) for name in responses.by_data().columns]


def _among(responses: Responses, compared: Sequence[str]) -> str:
    """Return of how many contestants something is said, where that is not all of them."""
    if len(compared) == len(responses.names):
        return ""
    counts = f" of the {len(compared)} of {len(responses.names)} contestants that"
    return f"{counts} {_why_present(responses, compared)}"


def _why_present(responses: Responses, compared: Sequence[str]) -> str:
    """Return what the compared contestants have that the others have not."""
    missing = responses.runs[~responses.runs["contestant"].isin(list(compared))]
    if missing["status"].eq("left").any():
        return "have been run so far"
    if missing["status"].eq("done").any():
        several = len(responses.data) > 1
        return f"have results{' on all data sets' if several else ''}"
    return "could be run"


def measure_words(responses: Responses) -> str:
    """Return the title of the measure for the middle of a sentence; abbreviations stay."""
    title = responses.measure.title
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _alone(responses: Responses) -> str:
    means = _means(responses, responses.names[0])
    return f"{means}; there is no other contestant to compare it with."


def _only(responses: Responses, name: str) -> str:
    reason = _why_present(responses, [name]).replace("have", "has")
    return (
        f"Nothing can be compared: {name} is the only one of {len(responses.names)} contestants "
        f"that {reason}. {_means(responses, name)}."
    )


def _means(responses: Responses, name: str) -> str:
    words = []
    for data in responses.data:
        scores = responses.by_split(data)
        if name in scores:
            words.append(f"{scores[name].mean():.4g} on {data}")
    return f"{name} has a mean {measure_words(responses)} of {listed(words)}"


def _from_each_data_set(responses: Responses, verdicts: Mapping[str, Verdict]) -> Answer:
    """Return the simplest contestant that nothing beats on any data set."""
    safe = [
        name
        for name in responses.names
        if all(name in verdict.unbeaten for verdict in verdicts.values())
    ]
    means = responses.by_data().rank(axis=1, ascending=not responses.measure.greater_is_better)
    by_rank = means.mean().sort_values(kind="stable").index
    order = (*safe, *(str(name) for name in by_rank if name not in safe))
    baselines = [each.name for each in responses.contestants if each.baseline]
    undecided = (
        "not decided by tests over data sets (first those that none beats on any data set, "
        "simplest first, then by mean rank)"
    )
    if safe:
        sentence = (
            f"Use {safe[0]}. On none of the {len(verdicts)} data sets is another contestant shown "
            f"to beat it, and{_among(responses, _present(responses))} it is the simplest of which "
            "this is true."
        )
        if safe[0] in baselines and safe[0] != by_rank[0]:
            sentence = (
                f"No learner is shown to beat the baseline {safe[0]} on any of the {len(verdicts)} "
                f"data sets: use it, or gather more data. {by_rank[0]} has the best mean rank by "
                f"{measure_words(responses)}{_among(responses, _present(responses))}."
            )
        return Answer(safe[0], order, sentence, _too_few(responses), undecided)
    each = listed(
        [
            f"{order_of_all(verdict, verdict.names)[0]} on {data}"
            for data, verdict in verdicts.items()
        ]
    )
    sentence = f"It depends on the data set: use {each}."
    return Answer(None, order, sentence, _too_few(responses), undecided)


def _too_few(responses: Responses) -> str:
    if len(responses.data) >= FEWEST_FOR_TWO:
        return ""
    return (
        f"A conclusion beyond these {len(responses.data)} data sets needs at least "
        f"{FEWEST_FOR_TWO}, and better 20, for the tests over data sets."
    )
