"""Which test fits an aim and a design, and why."""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from verulam.base import DataError
from verulam.statistics._core.checks import checked_count, checked_option

Aim = Literal["assess", "compare", "best", "order"]
Design = Literal["hold-out", "k-fold", "repeated", "5x2", "data sets"]
Kind = Literal["error", "number", "area", "vector"]
AIMS = ("assess", "compare", "best", "order")
DESIGNS = ("hold-out", "k-fold", "repeated", "5x2", "data sets")
KINDS = ("error", "number", "area", "vector")
MANY = ("best", "order")
NORMAL = "results of the splits are nearly normal"
PAIRED = "all learners saw the same splits"
ONE_SET = "one training set: says nothing about others"
INDEPENDENT = "data sets are independent"


@dataclass(frozen=True)
class Choice:
    """A test that fits, with the reason and what it takes for granted.

    Parameters
    ----------
    function
        Name of the function in `verulam.statistics`.
    reason
        Why it fits, and why it stands where it does.
    assumptions
        What it takes for granted.
    """

    function: str
    reason: str
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """When a choice applies: any of the aims, designs and kinds, with enough replications."""

    aims: tuple[str, ...]
    designs: tuple[str, ...]
    kinds: tuple[str, ...]
    fewest: int
    choice: Choice


def rule(
    aims: str | tuple[str, ...],
    designs: str | tuple[str, ...],
    kinds: str | tuple[str, ...],
    fewest: int,
    function: str,
    reason: str,
    *assumptions: str,
) -> Rule:
    """Return a rule; single words stand for tuples of one."""
    parts = [(part,) if isinstance(part, str) else part for part in (aims, designs, kinds)]
    return Rule(parts[0], parts[1], parts[2], fewest, Choice(function, reason, assumptions))


SPLITS = ("k-fold", "repeated")
NUMBERS = ("error", "number", "area")
#: In order of preference among those that apply.
RULES = (
    rule("assess", "hold-out", "error", 1, "binomial_test",
         "exact for a count of errors", ONE_SET),
    rule("assess", "hold-out", "error", 10, "normal_approximation_test",
         "quick for large counts; at least five errors and five hits expected", ONE_SET),
    rule("assess", "hold-out", "area", 4, "auc_interval",
         "DeLong's interval for one area", ONE_SET),
    rule("assess", "hold-out", "number", 2, "bootstrap_interval",
         "no distribution has to be assumed", ONE_SET),
    rule("assess", (*SPLITS, "5x2"), NUMBERS, 2, "runs_t_test",
         "several runs show how results vary", NORMAL),
    rule("assess", "data sets", NUMBERS, 6, "sign_test",
         "results on different data sets are not normal; only their side counts", INDEPENDENT),
    rule("compare", "hold-out", "error", 1, "mcnemar",
         "one training and one test set, counted instance by instance", ONE_SET),
    rule("compare", "hold-out", "area", 4, "delong_test",
         "areas of two classifiers on the same instances", ONE_SET),
    rule("compare", "hold-out", "number", 6, "permutation_test",
         "losses of the same instances, exchanged at random", ONE_SET),
    rule("compare", "5x2", NUMBERS, 10, "five_by_two_f_test",
         "least affected by the overlap of training sets, whatever the order", PAIRED, NORMAL),
    rule("compare", "5x2", NUMBERS, 10, "five_by_two_t_test",
         "for a one-sided claim; depends on which of ten differences comes first", PAIRED, NORMAL),
    rule("compare", SPLITS, NUMBERS, 2, "corrected_t_test",
         "allows for the overlap of training parts", PAIRED, NORMAL),
    rule("compare", "repeated", NUMBERS, 4, "calibrated_t_test",
         "the same by fewer degrees of freedom, calibrated to keep the level", PAIRED, NORMAL),
    rule("compare", SPLITS, NUMBERS, 2, "bayesian_correlated_t",
         "probability that a difference matters, instead of a test", PAIRED, NORMAL),
    rule("compare", "k-fold", NUMBERS, 2, "cv_t_test",
         "usual, but rejects too often: training parts overlap", PAIRED, NORMAL),
    rule("compare", "data sets", NUMBERS, 6, "wilcoxon_test",
         "uses the size of differences, not only their sign", INDEPENDENT,
         "differences on different data sets can be compared"),
    rule("compare", "data sets", NUMBERS, 6, "sign_test",
         "weakest and safest: counts wins", INDEPENDENT),
    rule("compare", "data sets", NUMBERS, 2, "bayesian_signed_rank",
         "probability that a difference matters, instead of a test", INDEPENDENT),
    rule("compare", (*SPLITS, "5x2"), "vector", 3, "hotelling_test",
         "several measures at once see the kind of error", PAIRED, "measures are jointly normal"),
    rule(MANY, SPLITS, NUMBERS, 2, "repeated_anova",
         "folds shared by all learners are blocks", PAIRED, NORMAL),
    rule(MANY, SPLITS, NUMBERS, 2, "tukey_hsd",
         "which pairs differ, after the analysis of variance", PAIRED, NORMAL),
    rule("order", SPLITS, NUMBERS, 2, "multitest_order",
         "completes the order by simplicity where tests cannot", PAIRED, NORMAL),
    rule("best", SPLITS, NUMBERS, 2, "multitest_order",
         "its first learner: the simplest that none beats", PAIRED, NORMAL),
    rule(MANY, "repeated", NUMBERS, 2, "one_way_anova",
         "only when each learner had its own splits", NORMAL, "all results are independent"),
    rule(MANY, "data sets", NUMBERS, 3, "compare_many",
         "ranks make data sets comparable; then pairs, and groups that are not distinguishable",
         INDEPENDENT),
    rule(MANY, "data sets", NUMBERS, 2, "kruskal_wallis",
         "only when results are not from the same data sets", "all results are independent"),
    rule(MANY, SPLITS, "vector", 3, "manova",
         "several measures at once, with the directions that matter",
         "measures are jointly normal with one covariance"),
)  # fmt: skip


def choose_test(
    aim: Aim,
    design: Design,
    *,
    measure: Kind = "error",
    replications: int | None = None,
    learners: int | None = None,
) -> tuple[Choice, ...]:
    """Return the tests that fit, in order of preference.

    Parameters
    ----------
    aim
        ``"assess"`` one learner against a value, ``"compare"`` two, find the ``"best"`` of many or
        ``"order"`` them all.
    design
        Where the results come from: one ``"hold-out"``, ``"k-fold"``, ``"repeated"`` splits,
        ``"5x2"``, or one result from each of several ``"data sets"``.
    measure
        ``"error"`` of classes, any other ``"number"``, an ``"area"`` under a curve, or a
        ``"vector"`` of measures.
    replications
        Number of splits or data sets (instances of a hold-out), to leave out tests that need more.
    learners
        Number of learners; with two, finding the best means comparing them.

    Notes
    -----
    Parametric tests come first where they are valid (Alpaydin 19.10-19.14).

    Examples
    --------
    >>> from verulam.statistics import choose_test
    >>> [choice.function for choice in choose_test("compare", "k-fold")]
    ['corrected_t_test', 'bayesian_correlated_t', 'cv_t_test']
    >>> choose_test("best", "data sets", replications=20)[0].reason
    'ranks make data sets comparable; then pairs, and groups that are not distinguishable'
    """
    checked_option(aim, "aim", AIMS)
    checked_option(design, "design", DESIGNS)
    checked_option(measure, "measure", KINDS)
    purpose: str = aim
    if learners is not None:
        learners = checked_count(learners, "learners")
        if (aim == "assess") != (learners == 1) or learners == 0:
            raise DataError(f"aim={aim!r} does not go with {learners} learner(s).")
        if aim == "compare" and learners > 2:
            raise DataError(f"aim='compare' is for two learners, not {learners}: use 'best'.")
        purpose = "compare" if learners == 2 else aim
    fitting = [
        rule
        for rule in RULES
        if purpose in rule.aims and design in rule.designs and measure in rule.kinds
    ]
    if not fitting:
        raise DataError(
            f"No test for aim={aim!r}, design={design!r} and measure={measure!r}; "
            "see decision_table() for what there is."
        )
    enough = [rule for rule in fitting if replications is None or rule.fewest <= replications]
    if not enough:
        minimum = min(rule.fewest for rule in fitting)
        raise DataError(f"replications={replications} are too few: at least {minimum} are needed.")
    return tuple(rule.choice for rule in enough)


def decision_table() -> pd.DataFrame:
    """Return all rules of `choose_test` as a table, in order of preference.

    Examples
    --------
    >>> from verulam.statistics import decision_table
    >>> decision_table().iloc[0][["aim", "design", "measure", "test"]].tolist()
    ['assess', 'hold-out', 'error', 'binomial_test']
    """
    return pd.DataFrame(
        {
            "aim": [", ".join(rule.aims) for rule in RULES],
            "design": [", ".join(rule.designs) for rule in RULES],
            "measure": [", ".join(rule.kinds) for rule in RULES],
            "fewest": [rule.fewest for rule in RULES],
            "test": [rule.choice.function for rule in RULES],
            "reason": [rule.choice.reason for rule in RULES],
            "assumptions": ["; ".join(rule.choice.assumptions) for rule in RULES],
        }
    )
