"""The answer of a study: whom to use, in which order all stand, and what would settle the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._analysis.tests import FEWEST_FOR_TWO
from verulam.experiment._text import measure_words
from verulam.experiment._words.answer_text import (
    absent_sentences,
    advice_on_rows,
    choice_sentences,
    not_rejected_sentence,
    nothing_sentence,
)
from verulam.experiment._words.data_sets_text import (
    assessment_sentence,
    each_data_set_sentences,
    more_data_sets_sentence,
    order_sentence,
    plain_sentence,
    ranks_sentences,
    too_few_sentence,
)
from verulam.statistics import sample_size

if TYPE_CHECKING:
    from verulam.experiment._evidence.evidence import Evidence, RankEvidence
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.responses import Responses
    from verulam.measures import Measure

NOT_REJECTED = "not rejected"
#: Chance, usual in planning, that a difference that is there is shown by as many data sets.
POWER = 0.8
#: Efficiency of the signed rank test relative to the t test, for normal differences.
SIGNED_RANK_EFFICIENCY = 3 / np.pi


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
    responses: "Responses",
    verdicts: Mapping[str, "Verdict"],
    over_data: "Verdict | None",
    evidence: Mapping[str, "Evidence"],
    ranks: "RankEvidence | None",
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


def with_order(answer: Answer, responses: "Responses") -> Answer:
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


def _on_one(
    responses: "Responses", verdict: "Verdict", evidence: Mapping[str, "Evidence"]
) -> Answer:
    known = evidence.get(verdict.scope)
    if known is None:
        order = _by_means(responses, verdict.scope)
        # One that is alone in having results has nobody to be compared with.
        best = verdict.best if len(order) > 1 or len(responses.names) == 1 else None
        absent = _with_space(absent_sentences(responses, order))
        return Answer(best, order, f"{absent}{plain_sentence(responses, verdict)}")
    if known.rule == NOT_REJECTED and verdict.tested:
        # Alpaydin 19.15: of those that no test shows to be worse than another, the simplest.
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
    responses: "Responses",
    verdicts: Mapping[str, "Verdict"],
    evidence: Mapping[str, "Evidence"],
    ranks: "RankEvidence | None",
) -> Answer:
    """Return the answer where there are too few data sets for one over all of them."""
    means = responses.by_data()
    absent = _with_space(absent_sentences(responses, means.columns[means.notna().any()].tolist()))
    if not evidence:
        text = plain_sentence(responses, *verdicts.values())
        return Answer(None, () if ranks is None else ranks.order, f"{absent}{text}")
    choices = {known.selection.name for known in evidence.values()}
    # One name for all data sets only where every one of them chooses it.
    agreed = next(iter(choices)) if len(choices) == 1 and len(evidence) == len(verdicts) else None
    order = ranks.order if ranks is not None else next(iter(evidence.values())).order
    text = each_data_set_sentences(evidence, ranks)
    few = len(responses.data) < FEWEST_FOR_TWO
    advice = too_few_sentence(len(responses.data), FEWEST_FOR_TWO) if few else ""
    return Answer(agreed, order, f"{absent}{text}", advice)


def _with_space(text: str) -> str:
    return f"{text} " if text else ""


def _by_means(responses: "Responses", data: str) -> tuple[str, ...]:
    means = responses.by_split(data).mean()
    ascending = not responses.measure.greater_is_better
    return tuple(str(name) for name in means.sort_values(ascending=ascending, kind="stable").index)


def assessment_answer(
    answer: Answer, assessments: pd.DataFrame, measure: "Measure", acceptable: float
) -> Answer:
    """Return the answer to whether contestants are good enough.

    Parameters
    ----------
    answer
        The answer of the comparison.
    assessments
        What `assess` gave.
    measure
        What was measured.
    acceptable
        The level.
    """
    shown = assessments.groupby("contestant", sort=False)["decision"].agg(
        lambda decisions: bool((decisions == "reject").all())
    )
    good = [str(name) for name in shown.index[shown]]
    sentence = assessment_sentence(good, measure, acceptable)
    recommended = next((name for name in answer.order if name in good), None)
    # What would tell the best from the others is not what was asked.
    return replace(answer, sentence=sentence, recommended=recommended, advice="")


def advice_over_data(responses: "Responses", verdict: "Verdict", alpha: float, *, name: str) -> str:
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
    if len(verdict.names) == 2:
        needed = data_sets_needed((table[name] - table[rival]).to_numpy(), alpha=alpha)
    else:
        gap = float(means[rival] - means[name])
        # Bonferroni's level, since the tests of pairs allow for all of them.
        needed = data_sets_for_ranks(abs(gap), len(means), alpha=alpha / len(verdict.pairs))
    more = None if needed is None else max(1, needed - len(table))
    return more_data_sets_sentence(name, rival, more, POWER)


def data_sets_needed(differences: np.ndarray, *, alpha: float, power: float = POWER) -> int | None:
    """Return how many data sets a test over data sets needs; None where too many to count.

    Parameters
    ----------
    differences
        Of the responses, or of the ranks, of two contestants: one value per data set.
    alpha
        Level of significance.
    power
        Wanted probability of rejecting.

    Examples
    --------
    >>> import numpy as np
    >>> data_sets_needed(np.array([1.0, -1.0, 1.0, 1.0]), alpha=0.05)
    36
    """
    spread = float(differences.std(ddof=1))
    count = _sample(float(differences.mean()), spread, alpha, power, known=False)
    return None if count is None else ceil(count / SIGNED_RANK_EFFICIENCY)


def data_sets_for_ranks(
    gap: float, contestants: int, *, alpha: float, power: float = POWER
) -> int | None:
    r"""Return how many data sets tell two mean ranks apart; None where too many to count.

    Parameters
    ----------
    gap
        Difference of the mean ranks.
    contestants
        How many are ranked.
    alpha, power
        As in `data_sets_needed`; the level of one pair.

    Notes
    -----
    The difference of two ranks on one data set has variance :math:`L (L + 1) / 6`.

    Examples
    --------
    >>> data_sets_for_ranks(1.0, 4, alpha=0.05)
    27
    """
    spread = float(np.sqrt(contestants * (contestants + 1) / 6))
    return _sample(gap, spread, alpha, power, known=True)


def _sample(mean: float, spread: float, alpha: float, power: float, *, known: bool) -> int | None:
    if spread == 0 or mean == 0:
        return None
    try:
        return sample_size(mean / spread, alpha=alpha, power=power, known_variance=known)
    except DataError:
        return None
