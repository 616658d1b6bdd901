"""The answer of a study: whom to use, in which order all stand, and what would settle the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from verulam.experiment._analysis.data_tests import FEWEST_FOR_TWO
from verulam.experiment._analysis.more_data import advice_over_data
from verulam.experiment._evidence.evidence import Evidence
from verulam.experiment._evidence.rank_evidence import RankEvidence
from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._store.responses import Responses
from verulam.experiment._words.answer_text import (
    absent_sentences,
    advice_on_rows,
    choice_sentences,
    each_data_set_sentences,
    not_rejected_sentence,
    nothing_sentence,
    order_sentence,
    plain_sentence,
    ranks_sentences,
)
from verulam.experiment._words.phrases import measure_words

NOT_REJECTED = "not rejected"


@dataclass(frozen=True)
class Answer:
    """What a study says.

    Attributes
    ----------
    recommended
        The contestant to use; None where the study cannot say.
    order
        All contestants by their means, or by their mean ranks, the best first.
    sentence
        The answer in words.
    advice
        What it would take to know more; empty where everything is settled.
    """

    recommended: str | None
    order: tuple[str, ...]
    sentence: str
    advice: str = ""


def answer(
    responses: Responses,
    verdicts: Mapping[str, Verdict],
    over_data: Verdict | None,
    evidence: Mapping[str, Evidence],
    ranks: RankEvidence | None,
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
    evidence
        For each data set what is known of all contestants.
    ranks
        What the mean ranks over data sets tell.
    alpha
        Level of significance.
    """
    if not verdicts:
        return Answer(None, (), nothing_sentence(responses))
    if len(responses.data) == 1:
        return _on_one(responses, next(iter(verdicts.values())), evidence)
    if over_data is not None and over_data.tested and ranks is not None:
        name = ranks.selection.name
        advice = advice_over_data(responses, over_data, alpha, name=name)
        absent = _with_space(absent_sentences(responses, ranks.order, where=" on some data set"))
        return Answer(name, ranks.order, f"{absent}{ranks_sentences(ranks, over_data)}", advice)
    return _on_each(responses, verdicts, evidence, ranks)


def with_order(answer: Answer, responses: Responses) -> Answer:
    """Return the answer with the order of all in its sentence, for studies that ask for it.

    Parameters
    ----------
    answer
        The answer.
    responses
        What was measured.
    """
    if len(answer.order) < 2:
        return answer
    several = len(responses.data) > 1
    words = measure_words(responses.measure)
    line = order_sentence(answer.order, f"mean rank of the {words}" if several else words)
    return replace(answer, sentence=f"{line} {answer.sentence}")


def _on_one(responses: Responses, verdict: Verdict, evidence: Mapping[str, Evidence]) -> Answer:
    known = evidence.get(verdict.scope)
    if known is None:
        order = _by_means(responses, verdict.scope)
        # One that is alone in having results has nobody to be compared with.
        best = verdict.best if len(order) > 1 or len(responses.names) == 1 else None
        absent = _with_space(absent_sentences(responses, order))
        return Answer(best, order, f"{absent}{plain_sentence(responses, verdict)}")
    if known.rule == NOT_REJECTED and verdict.tested:
        unbeaten = [name for name in verdict.unbeaten if name in known.eligible]
        name = min(
            # All may be beaten by one that has failed elsewhere.
            unbeaten or [known.best],
            key=lambda name: (known.complexity[name], known.order.index(name)),
        )
        absent = _with_space(absent_sentences(responses, known.eligible))
        text = not_rejected_sentence(known, verdict, name)
        return Answer(name, known.order, f"{absent}{text}")
    alone = len(known.names) == 1 and len(responses.names) > 1
    return Answer(
        None if alone else known.selection.name,
        known.order,
        choice_sentences(known, responses),
        advice_on_rows(known),
    )


def _on_each(
    responses: Responses,
    verdicts: Mapping[str, Verdict],
    evidence: Mapping[str, Evidence],
    ranks: RankEvidence | None,
) -> Answer:
    """Return the answer where there are too few data sets for one over all of them."""
    means = responses.by_data()
    absent = _with_space(absent_sentences(responses, means.columns[means.notna().any()].tolist()))
    if not evidence:
        text = plain_sentence(responses, *verdicts.values())
        return Answer(None, () if ranks is None else ranks.order, f"{absent}{text}")
    choices = {known.selection.name for known in evidence.values()}
    agreed = next(iter(choices)) if len(choices) == 1 and len(evidence) == len(verdicts) else None
    order = ranks.order if ranks is not None else next(iter(evidence.values())).order
    text = each_data_set_sentences(evidence, ranks)
    return Answer(agreed, order, f"{absent}{text}", _too_few(responses))


def _with_space(text: str) -> str:
    return f"{text} " if text else ""


def _by_means(responses: Responses, data: str) -> tuple[str, ...]:
    means = responses.by_split(data).mean()
    ascending = not responses.measure.greater_is_better
    return tuple(str(name) for name in means.sort_values(ascending=ascending, kind="stable").index)


def _too_few(responses: Responses) -> str:
    if len(responses.data) >= FEWEST_FOR_TWO:
        return ""
    return (
        f"A conclusion beyond these {len(responses.data)} data sets needs at least "
        f"{FEWEST_FOR_TWO}, and better 20, for the tests over data sets."
    )
