"""The one record that every test returns: numbers, a decision in words, and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from rich.panel import Panel

Alternative = Literal["two-sided", "less", "greater"]
#: Characters in a line of a printed result.
WIDTH = 88


@dataclass(frozen=True)
class ConfidenceInterval:
    """An interval with its confidence and the estimate inside it.

    Parameters
    ----------
    low, high
        Limits; infinite on the open side of a one-sided interval.
    confidence
        Coverage in repeated sampling.
    estimate
        The point estimate.
    method
        How the interval was made.

    Examples
    --------
    >>> from verulam.statistics import ConfidenceInterval
    >>> interval = ConfidenceInterval(0.1, 0.3, 0.95, 0.2, "t")
    >>> print(interval, 0.15 in interval)
    95% interval [0.1, 0.3] True
    """

    low: float
    high: float
    confidence: float
    estimate: float
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Distance of the limits."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{100 * self.confidence:.4g}% interval [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class EffectSize:
    """How large a difference is, on a scale that has a name."""

    name: str
    value: float

    def __str__(self) -> str:
        return f"{self.name} {self.value:.3g}"


@dataclass(frozen=True)
class Assumption:
    """Something a test takes for granted, and whether the data were asked.

    Parameters
    ----------
    text
        The assumption in words.
    holds
        What a check said; None when it was not or cannot be checked.
    how
        How it was checked.
    """

    text: str
    holds: bool | None = None
    how: str = ""

    def __str__(self) -> str:
        if self.holds is None:
            return f"{self.text} (not checked{f': {self.how}' if self.how else ''})"
        return f"{self.text} ({'plausible' if self.holds else 'doubtful'}: {self.how})"


@dataclass(frozen=True, eq=False)
class TestResult:
    """Outcome of a statistical test.

    Parameters
    ----------
    name
        Name of the test.
    null, alternative
        The hypotheses in words.
    statistic, statistic_name
        Value and symbol of the test statistic.
    p_value
        Probability, if the null hypothesis holds, of a statistic at least as extreme.
    alpha
        Level of significance.
    critical_value
        Limit beyond which the statistic rejects; the limit on its absolute value for a
        symmetric two-sided test, NaN where there is none.
    degrees_of_freedom
        Those of the statistic's distribution; empty when it has none.
    tail
        ``"two-sided"``, ``"less"`` or ``"greater"``.
    estimate_name
        What `interval` estimates, in words.
    interval
        Confidence interval, where there is one.
    effect_size
        Size of the effect, with its name.
    assumptions
        What the test takes for granted.
    caveats
        What a reader should be told.
    table
        Table of the analysis, where there is one.
    details
        Further numbers, by name.
    source
        Where the text defines the test.

    Examples
    --------
    >>> from verulam.statistics import mcnemar
    >>> result = mcnemar(15, 5)
    >>> result.decision, round(result.statistic, 2), round(result.p_value, 3)
    ('reject', 4.05, 0.044)
    >>> print(mcnemar(15, 5, method="exact"))
    McNemar's test (exact): n01 = 15, p = 0.0414 (critical value 15 at alpha 0.05). Reject
    the hypothesis that both learners have the same error rate, in favour of: the error
    rates differ. Effect: odds ratio 3. Assumes: one training and one validation set, the
    same for both (not checked). Caveat: says nothing about other training sets of the
    same size.
    """

    # pytest would otherwise take an imported class of this name for a test case.
    __test__: ClassVar[bool] = False

    name: str
    null: str
    alternative: str
    statistic: float
    statistic_name: str
    p_value: float
    alpha: float = 0.05
    critical_value: float = np.nan
    degrees_of_freedom: tuple[float, ...] = ()
    tail: Alternative = "two-sided"
    estimate_name: str = ""
    interval: ConfidenceInterval | None = None
    effect_size: EffectSize | None = None
    assumptions: tuple[Assumption, ...] = ()
    caveats: tuple[str, ...] = ()
    table: pd.DataFrame | None = field(default=None, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    source: str = ""

    @property
    def reject(self) -> bool:
        """Whether the null hypothesis is rejected at `alpha`."""
        return self.p_value < self.alpha

    @property
    def decision(self) -> str:
        """The decision in words: a hypothesis is never accepted."""
        return "reject" if self.reject else "fail to reject"

    def headline(self) -> str:
        """Return statistic, degrees of freedom and p-value as a paper prints them."""
        freedom = ", ".join(f"{value:.4g}" for value in self.degrees_of_freedom)
        symbol = f"{self.statistic_name}({freedom})" if freedom else self.statistic_name
        value = "without bound" if np.isinf(self.statistic) else f"= {self.statistic:.4g}"
        return f"{symbol} {value}, {p_text(self.p_value)}"

    def conclusion(self) -> str:
        """Return the decision as a sentence."""
        if self.reject:
            return f"Reject the hypothesis that {self.null}, in favour of: {self.alternative}."
        return f"Fail to reject the hypothesis that {self.null}."

    def sentences(self) -> list[str]:
        """Return the parts of the printed paragraph."""
        critical = f"critical value {self.critical_value:.4g} at "
        if np.isnan(self.critical_value):
            critical = ""
        parts = [
            f"{self.name}: {self.headline()} ({critical}alpha {self.alpha:g}).",
            self.conclusion(),
        ]
        if self.interval is not None:
            name = self.estimate_name or "estimate"
            parts.append(f"{capital(name)} {self.interval.estimate:.4g}, {self.interval}.")
        if self.effect_size is not None:
            parts.append(f"Effect: {self.effect_size}.")
        if self.assumptions:
            parts.append(f"Assumes: {'; '.join(map(str, self.assumptions))}.")
        parts += [f"Caveat: {caveat}." for caveat in self.caveats]
        return parts

    def __str__(self) -> str:
        return fill(" ".join(self.sentences()), WIDTH)

    def __rich__(self) -> "Panel":
        """Return a panel for a terminal."""
        from rich.panel import Panel
        from rich.text import Text

        first, conclusion, *rest = self.sentences()
        body = Text(first.removeprefix(f"{self.name}: ") + "\n")
        body.append(conclusion, style="bold red" if self.reject else "bold")
        if rest:
            body.append("\n" + "\n".join(rest), style="dim")
        return Panel(body, title=self.name, title_align="left")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; undefined numbers become None."""
        low, high, confidence = (
            (self.interval.low, self.interval.high, self.interval.confidence)
            if self.interval
            else (None, None, None)
        )
        return {
            "name": self.name,
            "null": self.null,
            "alternative": self.alternative,
            "tail": self.tail,
            "statistic_name": self.statistic_name,
            "statistic": plain(self.statistic),
            "degrees_of_freedom": [plain(value) for value in self.degrees_of_freedom],
            "p_value": plain(self.p_value),
            "alpha": self.alpha,
            "critical_value": plain(self.critical_value),
            "decision": self.decision,
            "estimate_name": self.estimate_name,
            "estimate": plain(self.interval.estimate) if self.interval else None,
            "interval_low": plain(low),
            "interval_high": plain(high),
            "confidence": confidence,
            "effect_size_name": self.effect_size.name if self.effect_size else None,
            "effect_size": plain(self.effect_size.value) if self.effect_size else None,
            "assumptions": [str(assumption) for assumption in self.assumptions],
            "caveats": list(self.caveats),
            "source": self.source,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers as a table of one row; texts in lists are joined."""
        row = self.to_dict()
        for name in ("assumptions", "caveats"):
            row[name] = "; ".join(row[name])
        row["degrees_of_freedom"] = ", ".join(f"{v:g}" for v in self.degrees_of_freedom)
        return pd.DataFrame([row])


def plain(value: Any) -> float | None:
    """Return a number that JSON knows: None for NaN, infinity and nothing."""
    if value is None or not np.isfinite(value):
        return None
    return float(value)


def p_text(p_value: float) -> str:
    """Return a p-value as text, very small ones as a bound."""
    if p_value < 1e-4:
        return "p < 0.0001"
    return f"p = {p_value:.3g}"


def capital(text: str) -> str:
    """Return the text with its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]
