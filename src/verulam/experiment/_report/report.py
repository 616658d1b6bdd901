"""The report: one file with everything that a study says, to be read in any browser."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError, write_whole
from verulam.catalogue import GRADES
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._final.final_learner import chosen_insight
from verulam.experiment._final.insight import IMPORTANCE_TITLE, WORST_TITLE, InsightSection
from verulam.experiment._report.figures import MOST_DATA_SETS, figures, shown_contestant
from verulam.experiment._report.provenance import design_facts, origins, reproduction
from verulam.experiment._store.predictions import hardest_rows
from verulam.experiment._study.study import aim_question
from verulam.experiment._text import (
    chance_text,
    in_task_words,
    measure_words,
    memory_text,
    named,
    number_text,
    p_text,
    seconds_text,
    shortened,
    size_text,
    spoken_name,
)
from verulam.experiment._words.analysis_text import (
    HEADS,
    alias_lines,
    best_first,
    grade_text,
    nuisance_lines,
    response_texts,
    test_summary,
    variance_rows,
)
from verulam.experiment._words.answer_text import numbers_for, repeats_sentence

if TYPE_CHECKING:
    from verulam.experiment._evidence.evidence import Evidence
    from verulam.experiment._store.results import Results
    from verulam.experiment._study.study import Study

#: More failed runs than this are counted; the store has them all.
MOST_FAILURES = 100
WORST_WORDS = (
    "Rows that were predicted worst when they were not learnt from, over all repeats; rows are "
    "counted from 1, those without a target left out. A wrong value in the table is often among "
    "them."
)
#: A word that is longer may be broken at its capital letters, for the sake of phones.
LONG_WORD = 14


def report(
    source: "Analysis | Results | str | Path",
    path: str | Path,
    *,
    command: str = "",
    persistent: bool = True,
    study: "Study | None" = None,
) -> Path:
    """Write a report as one HTML file that needs nothing else, and return its path.

    Parameters
    ----------
    source
        An analysis, the results of a study, or the path of a store.
    path
        The file to write.
    command
        The command that gave the results, for whoever wants to give it again.
    persistent
        Whether the store of the results stays where it is, so that it is named.
    study
        The study itself, where its store cannot tell what the recommended learner goes by:
        learners and tables given as objects.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, report, run
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> study = Study("flowers", [DataChoice("iris")], learners, resampling="5-fold")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     report(results, f"{folder}/flowers.html").name
    'flowers.html'
    """
    path = Path(path)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise DataError(f"path: {path} cannot be written; name a file in a folder that exists.")
    analysis = source if isinstance(source, Analysis) else analyse(source)
    page = render(analysis, command=command, persistent=persistent, study=study)
    write_whole(path, page)
    return path


def render(
    analysis: Analysis,
    *,
    command: str = "",
    persistent: bool = True,
    study: "Study | None" = None,
) -> str:
    """Return the report as HTML.

    Parameters
    ----------
    analysis
        The analysis of the study.
    command, persistent
        The command that gave the results, and whether their store stays.
    study
        The study itself, where its store cannot tell all.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    folder = files("verulam.experiment._report") / "templates"
    # Everything is escaped unless it is marked: labels and messages come from the data.
    environment = Environment(
        loader=PackageLoader("verulam.experiment._report"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    environment.filters["spoken"] = spoken_name
    environment.filters["unbroken"] = _unbroken
    template = environment.get_template("report.html.j2")
    drawings = [(figure, Markup(figure.svg)) for figure in figures(analysis)]  # noqa: S704 (Matplotlib escapes the labels in its SVG)
    description = analysis.results.description
    page = template.render(
        analysis=analysis,
        study=description,
        question=aim_question(description),
        design=design_facts(analysis),
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),  # noqa: S704 (our own file)
        script=Markup((folder / "report.js").read_text(encoding="utf-8")),  # noqa: S704 (our own file)
        contestants=contestant_rows(analysis),
        stability=_stability(analysis),
        several=analysis.overall is not None,
        means=analysis.responses.by_data(),
        leading=[pair for pair in drawings if pair[0].leading],
        # Open ones first, side by side where there is room; those to be opened follow in lines.
        drawings=sorted(
            (pair for pair in drawings if not pair[0].leading), key=lambda pair: pair[0].folded
        ),
        assessments=_assessment_rows(analysis),
        worst=list(worst_tables(analysis)),
        worst_words=WORST_WORDS,
        understood=understanding(analysis, study),
        **_failures(analysis.results),
        breakable=_breakable,
        number=number_text,
        p_text=p_text,
        spoken=spoken_name,
        test_summary=test_summary,
        sections=_sections,
        variance_heads=HEADS,
        variance_rows=variance_rows,
        alias_lines=alias_lines,
        nuisance_lines=nuisance_lines,
        grades=GRADES,
        again=reproduction(analysis.results, command=command, persistent=persistent),
        **origins(analysis.results),
    )
    return in_task_words(page, description.get("task"))


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it says, what it is sorted by, and how it stands.

    Attributes
    ----------
    text
        What it says.
    key
        What it is sorted by; empty for nothing.
    kind
        "number", "word", or "number short" for one that no phone breaks.
    """

    text: str
    key: str
    kind: str = "number"


def contestant_rows(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the rows of the main tables, best first, with cells of values and costs by heading.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    several = analysis.overall is not None
    known = None if several else analysis.evidence.get(analysis.responses.data[0])
    rows = []
    table = best_first(analysis)
    means, deviations = response_texts(table)
    for place, (name, row) in enumerate(table.iterrows()):
        if several:
            cells = _rank_cells(row)
        elif known is not None:
            cells = _evidence_cells(row, known)
        else:
            cells = {
                "mean": _said(row["mean"], means[place]),
                "s.d.": _said(row["standard_deviation"], deviations[place]),
            }
        costs = {
            "fit": _number(row["fit_seconds"], seconds_text),
            "predict": _number(row["predict_seconds"], seconds_text),
            "size": _number(row["model_size"], size_text),
            "memory": _number(row["peak_memory"], memory_text),
            "readable": _number(row["interpretability"], grade_text),
            "failed": _number(row["failed"], "{:.0f}".format),
        }
        rows.append(
            {
                "name": spoken_name(str(name)),
                "cells": cells,
                "costs": costs,
                "beside": {} if known is None else _beside_cells(str(name), known),
                "in_group": row["against_best"] in ("best", "not distinguishable"),
                "recommended": name == analysis.recommended and len(table) > 1,
                "pareto": bool(row["pareto"]),
            }
        )
    return rows


def _evidence_cells(row: pd.Series, known: "Evidence") -> dict[str, Cell]:
    """Return the cells of one contestant on one data set."""
    write = numbers_for(known)
    missing = row["estimate"] != row["estimate"]
    interval = "-" if missing else write.interval(row["low"], row["high"])
    difference = "-" if missing else write.plain(row["difference"])
    if not missing and row["against_best"] != "best":
        limits = write.interval(row["difference_low"], row["difference_high"])
        difference = f"{difference} ({limits})"
    return {
        measure_words(known.measure): _number(row["estimate"], write.value),
        "95 % interval": Cell(interval, "" if missing else repr(float(row["low"]))),
        "is best": _chance(row["probability_best"]),
        f"within {write.margin(known.margin)}": _chance(row["probability_within"]),
        # Next to the values, where a phone shows them without scrolling far.
        "against the best": Cell(row["against_best"], row["against_best"], "word"),
        "adjusted p": _number(row["adjusted_p"], p_text),
        "difference (95 %)": Cell(difference, "" if missing else repr(float(row["difference"]))),
        "repeats": _number(row["repeats"], "{:.0f}".format),
    }


def _beside_cells(name: str, known: "Evidence") -> dict[str, Cell]:
    """Return what is probable of one contestant beside the best, and beside the baseline."""
    write = numbers_for(known)
    table = known.table if name in known.names else known.table.reindex([name])
    row: dict[Any, Any] = table.loc[name].to_dict()
    cells = {
        "better than the best": _chance(row["better"]),
        "practically equal": _chance(row["equal"]),
        "worse": _chance(row["worse"]),
        "regret": _number(row["regret"], write.difference),
    }
    if name == known.best:
        cells |= dict.fromkeys(list(cells)[:3], _chance(np.nan))
    if known.baseline is None:
        return cells
    value = row["difference_baseline"] if name != known.baseline else np.nan
    limits = write.interval(row["difference_low_baseline"], row["difference_high_baseline"])
    chances = {
        "better than it": row["better_baseline"],
        "equal to it": row["equal_baseline"],
        "worse than it": row["worse_baseline"],
    }
    return {
        **cells,
        "from the baseline (95 %)": _number(value, lambda _: f"{write.plain(value)} ({limits})"),
        # The baseline beside itself tells nothing.
        **{head: _chance(np.nan if pd.isna(value) else chance) for head, chance in chances.items()},
    }


def _rank_cells(row: pd.Series) -> dict[str, Cell]:
    """Return the cells of one contestant over several data sets."""
    return {
        "mean rank": _number(row["mean_rank"], "{:.2f}".format),
        "against the best": Cell(row["against_best"], row["against_best"], "word"),
        "adjusted p": _number(row["adjusted_p"], p_text),
        "better": _number(row["better"], chance_text),
        "equal": _number(row["equal"], chance_text),
        "worse": _number(row["worse"], chance_text),
        "wins": _number(row.get("wins"), "{:.0f}".format),
    }


def _unbroken(sentence: str) -> str:
    """Keep a per cent sign on the line of its number."""
    return sentence.replace(" %", "\N{NO-BREAK SPACE}%")


def _stability(analysis: Analysis) -> str:
    """Return how many repeats agree with the choice, on the only data set; empty where unknown."""
    data = analysis.responses.data
    known = analysis.evidence.get(data[0]) if len(data) == 1 else None
    return "" if known is None or len(known.names) < 2 else repeats_sentence(known)


def _said(value: float, text: str) -> Cell:
    """Return a number that has been written already."""
    return Cell(text, "" if value != value else repr(float(value)))


def _number(value: Any, write: Callable[[float], str]) -> Cell:
    if value is None or value != value:
        return Cell("-", "")
    return Cell(write(value), repr(float(value)))


def _chance(value: Any) -> Cell:
    return replace(_number(value, chance_text), kind="number short")


def _failures(results: "Results") -> dict[str, Any]:
    """Return the first runs that failed, and how many there are in all."""
    failures = results.failures()
    shown = failures.head(MOST_FAILURES)
    rows = shown.assign(error=shown["error"].map(shortened)).to_dict("records")
    return {"failures": rows, "failed_runs": len(failures)}


def _assessment_rows(analysis: Analysis) -> list[dict[Any, Any]]:
    return [] if analysis.assessments is None else analysis.assessments.to_dict("records")


@dataclass(frozen=True)
class Understanding:
    """What the recommended learner goes by, or why that is not said.

    Attributes
    ----------
    name
        The learner.
    sections
        What there is to say.
    reason
        Why there is nothing; empty where there is something.
    """

    name: str
    sections: tuple[InsightSection, ...] = ()
    reason: str = ""


def understanding(analysis: Analysis, study: "Study | None" = None) -> Understanding | None:
    """Return what the recommended learner goes by; None where there is no such learner.

    Parameters
    ----------
    analysis
        The analysis of the study.
    study
        The study itself, where its store cannot tell all.
    """
    shown = shown_contestant(analysis)
    several = len(analysis.responses.data) > 1 or analysis.results.description.get("task")
    if shown is None or shown.baseline or several:
        return None
    (data,) = analysis.responses.data
    name = named(shown.name)
    try:
        insight = chosen_insight(analysis, data, shown, study)
    # A learner may fail on all rows though it did not on parts of them; the page is still written.
    except Exception as error:
        return Understanding(name, reason=" ".join(str(error).split())[:300])
    # The section as a whole is called what the card calls its first part.
    titles = {IMPORTANCE_TITLE: "Importance of columns"}
    sections = tuple(
        part._replace(title=titles.get(part.title, part.title))
        for part in insight.sections()
        if part.title != WORST_TITLE
    )
    return Understanding(name, sections) if sections else None


def worst_tables(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """Yield for each data set the rows that the recommended contestant predicts worst.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    shown = shown_contestant(analysis)
    if shown is None:
        return
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        pooled = analysis.predictions.pooled(data, shown.learner, shown.setting)
        hardest = () if pooled is None else hardest_rows(pooled)
        if pooled is None or not hardest:
            continue
        numbers = hardest[0].wrong is None
        kind = "number" if numbers else "word"
        heads = [("row", "number"), ("is", kind), ("predicted", kind)]
        heads.append(("mean error" if numbers else "predicted wrongly", "number"))
        # Without probabilities the share of wrong predictions says it all.
        chances = pooled.probabilities is not None
        heads += [("probability of its class", "number")] if chances else []
        rows = [
            [
                Cell(str(row.row), str(row.row)),
                _value_cell(row.target, kind),
                _value_cell(row.predicted, kind),
                _number(row.loss, number_text) if numbers else _number(row.wrong, "{:.0%}".format),
                *([_number(1.0 - row.loss, number_text)] if chances else []),
            ]
            for row in hardest
        ]
        title = f"{spoken_name(shown.name)} on {data}"
        yield {"title": title[0].upper() + title[1:], "heads": heads, "rows": rows}


def _value_cell(value: str | float, kind: str) -> Cell:
    text = number_text(value) if isinstance(value, float) else str(value)
    return Cell(text, str(value), kind)


def _breakable(name: str) -> Any:
    """Return a name that a narrow column may break between its words, but not within one."""
    from markupsafe import Markup, escape

    # Not within numbers such as 0.5; capitals begin a word of a long part only.
    parts = re.split(r"(?<=[._/])(?=[^\W\d_])", name)
    pieces = [
        piece
        for part in parts
        for piece in (re.split(r"(?<=[a-z])(?=[A-Z])", part) if len(part) > LONG_WORD else [part])
    ]
    return Markup("<wbr>").join(escape(piece) for piece in pieces)


def _sections(content: str) -> list[tuple[str, str]]:
    """Return the place and the heading of each section of a page, for its list of contents."""
    return re.findall(r'<section id="([\w-]+)">\s*<h2>([^<]+)</h2>', content)
