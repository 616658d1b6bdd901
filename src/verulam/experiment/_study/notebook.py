"""How studies, plans and results look in a notebook."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

#: Rows of a plan that are shown.
FIRST_ROWS = 8


def facts_html(title: str, facts: Mapping[str, Any]) -> str:
    """Return a title and a table of facts as HTML; everything is escaped.

    Parameters
    ----------
    title
        What they are about.
    facts
        Name and value; values that are nothing are left out.

    Examples
    --------
    >>> facts_html("a & b", {"runs": 3, "seed": None})
    '<p><strong>a &amp; b</strong></p><table><tr><th>runs</th><td>3</td></tr></table>'
    """
    rows = "".join(
        f"<tr><th>{escape(str(name))}</th><td>{escape(_words(value))}</td></tr>"
        for name, value in facts.items()
        if value not in (None, "", ())
    )
    return f"<p><strong>{escape(title)}</strong></p><table>{rows}</table>"


def study_html(study: Any, splits: str) -> str:
    """Return what a study asks and varies as HTML.

    Parameters
    ----------
    study
        The study.
    splits
        How its splits are drawn, in words.
    """
    learners = [choice.label or _name(choice.learner) for choice in study.learners]
    data = [choice.label or _source(choice.source) for choice in study.data]
    factors = [
        f"{learner}: {name} = {levels_text(levels)}"
        for learner, choice in zip(learners, study.learners, strict=True)
        for name, levels in choice.factors.items()
    ]
    facts = {
        "aim": study.aim,
        "question": study.question,
        "data sets": data,
        "learners": learners,
        "factors": tuple(factors),
        "nuisance factors": tuple(study.nuisance),
        "measures": tuple(getattr(m, "name", m) for m in study.measures or ()),
        "splits": splits,
        "seed": study.seed,
    }
    return facts_html(study.name, facts)


def levels_text(levels: Any) -> str:
    """Return the levels of a factor in words.

    Parameters
    ----------
    levels
        A list of levels, a range of numbers, or multiples of a scale.

    Examples
    --------
    >>> levels_text([1, 5]), levels_text({"low": 0.1, "high": 10, "scale": "log"})
    ('1, 5', '0.1 to 10, log')
    """
    if isinstance(levels, Mapping) and "multiples" in levels:
        return f"{', '.join(map(str, levels['multiples']))} x {levels.get('of', 'the scale')}"
    if isinstance(levels, Mapping):
        scale = f", {levels['scale']}" if "scale" in levels else ""
        return f"{levels['low']} to {levels['high']}{scale}"
    return ", ".join(map(str, levels))


def plan_html(plan: Any) -> str:
    """Return a plan as HTML: what it comes to, and its first runs.

    Parameters
    ----------
    plan
        The plan.
    """
    table = plan.table()
    columns = ["data", "learner", "setting", "repeat", "fold", "training_rows"]
    more = len(table) - FIRST_ROWS
    rest = f"<p>... and {more} more; carried out {plan.order}.</p>" if more > 0 else ""
    shown = table[columns].head(FIRST_ROWS).to_html(index=False)
    return f"<p>{escape(str(plan))}</p>{shown}{rest}"


def results_html(results: Any) -> str:
    """Return how far a study has come as HTML: how many runs of each learner ended how.

    Parameters
    ----------
    results
        The results.
    """
    runs: pd.DataFrame = results.runs()
    counts = pd.crosstab([runs["data"], runs["learner"]], runs["status"])
    return f"<p>{escape(str(results))}</p>{counts.to_html()}"


def _name(learner: Any) -> str:
    return learner if isinstance(learner, str) else type(learner).__name__


def _source(source: Any) -> str:
    return (
        "a DataFrame" if isinstance(source, pd.DataFrame) else str(getattr(source, "name", source))
    )


def _words(value: Any) -> str:
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return ", ".join(map(str, value)) if several else str(value)
