"""From runs to an answer: means, paired tests against the best, a recommendation in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from verulam.experiment._paired import equality_p_values
from verulam.measures import Measure

SIGNIFICANCE = 0.05


def summarise(
    scores: pd.DataFrame, learners: Sequence[str], measure: Measure, *, folds: int
) -> pd.DataFrame:
    """Return one row per learner, in the order given: means, times, and the test against the best.

    Parameters
    ----------
    scores
        One row per run.
    learners
        Their names.
    measure
        Tells which way is better.
    folds
        Folds per repeat, for the variance of the test.
    """
    groups = scores.groupby("learner", sort=False)
    summary = pd.DataFrame(
        {
            "mean": groups["score"].mean(),
            "standard_deviation": groups["score"].std(ddof=1),
            "fit_seconds": groups["fit_seconds"].mean(),
            "predict_seconds": groups["predict_seconds"].mean(),
            "failures": groups["error"].agg(lambda errors: int((errors != "").sum())),
        }
    ).reindex(list(learners))
    summary["difference"], summary["p_value"], summary["decision"] = np.nan, np.nan, ""
    best = best_learner(summary, measure)
    if best is None:
        summary["decision"] = "not tested"
        return summary
    tested = [name for name in learners if name != best and summary.loc[name, "failures"] == 0]
    by_learner = {str(name): group["score"].to_numpy() for name, group in groups}
    p_values = equality_p_values(
        by_learner[best], {name: by_learner[name] for name in tested}, folds=folds
    )
    summary.loc[tested, "difference"] = summary["mean"][tested] - float(summary["mean"][best])
    summary.loc[tested, "p_value"] = [p_values[name] for name in tested]
    rejected = summary["p_value"] < SIGNIFICANCE
    summary["decision"] = np.where(rejected, "reject", "fail to reject")
    summary.loc[summary["failures"] > 0, "decision"] = "not tested"
    summary.loc[best, "decision"] = "best"
    return summary


def best_learner(summary: pd.DataFrame, measure: Measure) -> str | None:
    """Return the learner with the best mean among those whose runs all succeeded."""
    means = summary.loc[summary["failures"] == 0, "mean"].dropna()
    if means.empty:
        return None
    return str(means.idxmax() if measure.greater_is_better else means.idxmin())


def recommended(summary: pd.DataFrame, simplest: Sequence[str]) -> str | None:
    """Return the simplest learner that is not shown to differ from the best.

    Parameters
    ----------
    summary
        What `summarise` gave.
    simplest
        The learners, simplest first.

    Notes
    -----
    Alpaydin 19.15: where equality is not rejected, prefer the simpler learner.
    """
    equal = summary.index[summary["decision"].isin(["best", "fail to reject"])]
    return next((name for name in simplest if name in equal), None)


def conclude(summary: pd.DataFrame, measure: Measure, simplest: Sequence[str]) -> str:
    """Return what may be concluded, in a sentence or two."""
    best = best_learner(summary, measure)
    if best is None:
        return "No learner completed all of its runs, so nothing can be concluded."
    word = "highest" if measure.greater_is_better else "lowest"
    title = measure.title[0].lower() + measure.title[1:]
    lead = f"{best} has the {word} mean {title} ({float(summary['mean'][best]):.4g})"
    equal = [str(name) for name in summary.index[summary["decision"] == "fail to reject"]]
    rejected = summary.index[summary["decision"] == "reject"]
    if not equal and rejected.empty:
        return f"{lead}; there is no other complete learner to test it against."
    if not equal:
        return (
            f"{lead}, and equality is rejected for every other learner tested. Recommended: {best}."
        )
    chosen = recommended(summary, simplest)
    reason = "the simplest of these" if chosen != best else "the best of these and the simplest"
    return (
        f"{lead}. The tests fail to reject that {_listed(equal)} "
        f"{'does' if len(equal) == 1 else 'do'} equally well. Recommended: {chosen}, {reason}."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
