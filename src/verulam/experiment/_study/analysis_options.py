"""How a study is to be analysed, where whoever analyses it does not say otherwise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from verulam.base import DataError, nearest_names
from verulam.statistics import POST_HOC, SELECTION_RULES

#: Paired tests that may be asked for.
PAIR_TESTS = {
    "mcnemar": "McNemar's test",
    "five_by_two_f_test": "the combined 5x2 cv F test",
    "five_by_two_t_test": "the 5x2 cv t test",
    "corrected_t_test": "the corrected resampled t test",
    "calibrated_t_test": "the t test with calibrated degrees of freedom",
    "cv_t_test": "the K-fold cv paired t test",
    "t_test": "the paired t test",
    "permutation_test": "the paired permutation test",
}
INTERPRETABILITY = "interpretability"
#: Criteria of simplicity that every study has, and how being simple by them is said.
CRITERIA = {
    INTERPRETABILITY: "easier to read, by the grades of the catalogue",
    "fit_seconds": "quicker to fit",
    "predict_seconds": "quicker to predict",
    "model_size": "smaller when stored",
    "peak_memory": "smaller in memory while it learns",
}
Simplicity = str | Mapping[str, float]


@dataclass(frozen=True)
class AnalysisOptions:
    """How a study is to be analysed.

    Attributes
    ----------
    alpha
        Level of significance.
    acceptable
        Level of the first measure that a good enough contestant keeps; None asks nothing.
    test
        Paired test on the splits; None takes the one that the design suggests.
    simplicity
        Cost by which the simpler of two is found, or several with their weights; None takes the
        kind of model, by the grades of the catalogue.
    matters
        Difference of the first measure, in its own units, below which two contestants are as
        good as equal; None takes 1 percentage point for shares, and a share of what guessing
        scores for other measures.
    rule
        Rule of choice: one of `verulam.statistics.SELECTION_RULES`.
    procedure
        Procedure for all pairs over several data sets, such as "shaffer" or "nemenyi"; None
        takes the usual one.

    Examples
    --------
    >>> AnalysisOptions(alpha=0.01, simplicity="interpretability").to_dict()
    {'alpha': 0.01, 'simplicity': 'interpretability'}
    """

    alpha: float = 0.05
    acceptable: float | None = None
    test: str | None = None
    simplicity: Simplicity | None = None
    matters: float | None = None
    rule: str = "half standard error"
    procedure: str | None = None

    def __post_init__(self) -> None:
        for key in ("alpha", "acceptable", "matters"):
            number = getattr(self, key)
            if number is not None and (
                isinstance(number, bool) or not isinstance(number, int | float)
            ):
                raise DataError(f"analysis.{key}: {number!r}; expected a number.")
        if not 0.0 < self.alpha < 1.0:
            raise DataError(f"analysis.alpha: {self.alpha!r}; expected a number between 0 and 1.")
        if self.test is not None and self.test not in PAIR_TESTS:
            known = ", ".join(PAIR_TESTS)
            raise DataError(f"analysis.test: {self.test!r}; expected one of {known}.")
        if self.matters is not None and not 0.0 <= self.matters < float("inf"):
            raise DataError(
                f"analysis.matters: {self.matters!r}; expected a number of at least 0, in units "
                "of the measure."
            )
        _check_known("rule", self.rule, SELECTION_RULES)
        if self.procedure is not None:
            _check_known("procedure", self.procedure, POST_HOC)
        _check_simplicity(self.simplicity)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a study file has it, without what was left out."""
        defaults = {option.name: option.default for option in fields(self)}
        options = {name: getattr(self, name) for name in defaults}
        return {name: value for name, value in options.items() if value != defaults[name]}


def analysis_options(options: Mapping[str, Any] | AnalysisOptions | None) -> AnalysisOptions:
    """Return the options that a table of a study file stands for.

    Parameters
    ----------
    options
        A mapping with some of the attributes of `AnalysisOptions`; None for none.

    Examples
    --------
    >>> analysis_options({"acceptable": 0.1}).acceptable
    0.1
    """
    if isinstance(options, AnalysisOptions):
        return options
    if options is not None and not isinstance(options, Mapping):
        raise DataError(f"analysis: {options!r}; expected a table such as {{ alpha = 0.01 }}.")
    keys = [option.name for option in fields(AnalysisOptions)]
    for key in options or ():
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)[0]
            raise DataError(f"analysis.{key}: no such key. Nearest: {nearest}.")
    return AnalysisOptions(**(options or {}))


def _check_known(key: str, value: Any, known: Iterable[str]) -> None:
    if value not in known:
        raise DataError(f"analysis.{key}: {value!r}; expected one of {', '.join(known)}.")


def _check_simplicity(costs: Any) -> None:
    if costs is None:
        return
    if not isinstance(costs, str | Mapping):
        raise DataError(f"analysis.simplicity: {costs!r}; expected a cost, or costs with weights.")
    for name in [costs] if isinstance(costs, str) else costs:
        if name not in CRITERIA:
            known = ", ".join(CRITERIA)
            raise DataError(f"analysis.simplicity: {name!r}; expected some of {known}.")
