"""Several responses judged together: which contestants differ, and in which combination."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from verulam.base import DataError
from verulam.experiment._store.responses import Responses, at_largest_share, contestant_name
from verulam.statistics import (
    ManovaResult,
    TestResult,
    hotelling_test,
    manova,
    pairwise_hotelling,
)

if TYPE_CHECKING:
    from verulam.experiment._store.results import Results


@dataclass(frozen=True, eq=False)
class VectorVerdict:
    """What tests of several responses at once say on one data set.

    Attributes
    ----------
    data
        Label of the data set.
    means
        Mean of each response: a row per contestant.
    overall
        The test that all contestants have the same mean vector.
    single
        Tests of the single responses, adjusted after Holm.
    pairs
        Hotelling's test of every pair, adjusted after Holm.
    weights
        The combination of responses in which contestants differ most.
    analysis
        The multivariate analysis of variance; None for two contestants.
    """

    data: str
    means: pd.DataFrame
    overall: TestResult
    single: pd.DataFrame
    pairs: pd.DataFrame
    weights: pd.Series
    analysis: ManovaResult | None = None

    @property
    def sentence(self) -> str:
        """What the tests say, in words."""
        names = ", ".join(map(str, self.means.columns))
        words = f"By {names} together: {self.overall.headline()}. {self.overall.conclusion()}"
        apart = [str(name) for name in self.single.index[self.single["reject"]]]
        if self.overall.reject:
            words += f" Singly they differ in {', '.join(apart) or 'none of them'}."
        return words


def vector_verdicts(
    results: "Results", responses: Responses, *, alpha: float
) -> tuple[VectorVerdict, ...]:
    """Return the tests of several responses for each data set.

    Parameters
    ----------
    results
        The study.
    responses
        Its contestants and scores.
    alpha
        Level of significance.

    Notes
    -----
    Two contestants are compared by Hotelling's test, more by a multivariate analysis of variance
    and then pair by pair (Alpaydin 19.14).
    """
    names = list(results.response)
    if len(names) > 1:
        scores = results.response_scores()
    else:
        names = [measure.name for measure in results.measures]
        scores = results.scores()
    pairs = zip(scores["learner"], scores["setting"], strict=True)
    scores = scores.assign(contestant=[contestant_name(*pair) for pair in pairs])
    # Learning curves have runs with fewer rows, which would not be replications.
    scores = scores[at_largest_share(scores, responses.runs)]
    verdicts = []
    for data in responses.data:
        on_data = scores[scores["data"] == data]
        measured = [name for name in names if on_data[name].notna().any()]
        verdict = _verdict(data, on_data, measured, responses.names, alpha)
        if verdict is not None:
            verdicts.append(verdict)
    return tuple(verdicts)


def _verdict(
    data: str, scores: pd.DataFrame, measured: Sequence[str], names: Sequence[str], alpha: float
) -> VectorVerdict | None:
    groups = _shared(scores, measured, names)
    if len(measured) < 2 or len(groups) < 2:
        return None
    means = pd.DataFrame({name: group.mean() for name, group in groups.items()}).T
    try:
        if len(groups) == 2:
            (first, one), (second, other) = groups.items()
            test = hotelling_test(one, other, alpha=alpha)
            pairs = _one_pair(first, second, test)
            assert test.table is not None
            return VectorVerdict(data, means, test, test.table, pairs, test.details["direction"])
        arrays = {name: group.to_numpy() for name, group in groups.items()}
        variance = manova(arrays, names=list(measured), alpha=alpha)
        pairs = pairwise_hotelling(arrays, alpha=alpha)
    except DataError:  # one split, or responses that do not vary
        return None
    return VectorVerdict(
        data,
        means,
        variance.result,
        variance.univariate,
        pairs,
        variance.directions.iloc[:, 0],
        variance,
    )


def _shared(
    scores: pd.DataFrame, measured: Sequence[str], names: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Return the responses of each contestant on the splits that all of them have."""
    complete = scores.dropna(subset=list(measured))
    tables = {
        name: complete[complete["contestant"] == name]
        .groupby(["repeat", "fold"])[list(measured)]
        .mean()
        for name in names
    }
    tables = {name: table for name, table in tables.items() if not table.empty}
    if not tables:
        return {}
    most = max(len(table) for table in tables.values())
    # Vectors are compared split by split, so that a contestant that lacks some is left out.
    whole = {name: table for name, table in tables.items() if len(table) == most}
    if most < 2:
        return {}
    return whole


def _one_pair(first: str, second: str, test: TestResult) -> pd.DataFrame:
    row = {
        "first": first,
        "second": second,
        "T2": test.statistic,
        "p_value": test.p_value,
        "adjusted_p": test.p_value,
        "reject": test.reject,
    }
    return pd.DataFrame([row])
