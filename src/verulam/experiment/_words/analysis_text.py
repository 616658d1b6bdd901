"""An analysis as text: on a terminal of 80 columns, and as a LaTeX table."""

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.catalogue import GRADES
from verulam.experiment._study.study import aim_question
from verulam.experiment._text import (
    WIDTH,
    bulleted,
    chance_text,
    few,
    in_task_words,
    is_share,
    measure_words,
    memory_text,
    named,
    number_text,
    numbers_text,
    p_text,
    paragraph,
    seconds_text,
    sentence,
    size_text,
    spoken_name,
    text_table,
    wrapped_table,
)
from verulam.experiment._words.answer_text import numbers_for, repeats_sentence
from verulam.experiment._words.data_sets_text import order_sentence

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._effects.effects import FactorEffects
    from verulam.experiment._evidence.evidence import Evidence
    from verulam.experiment._evidence.verdict import Verdict

LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
#: What the probability beside a mean rank is.
NO_WORSE = (
    "the probability that, over data sets like these, a contestant is behind the best by no more "
    "than matters (the Bayesian signed rank test)"
)
#: So many contestants fit side by side on a page.
PER_PAGE = 5
#: Heads of an analysis of variance, in the order of its columns.
HEADS = ["source", "sum of squares", "d.f.", "mean square", "F", "p", "corrected p"]


def analysis_text(analysis: "Analysis") -> str:
    """Return the whole analysis as text."""
    blocks = [
        fill(_title(analysis), WIDTH),
        fill(analysis.answer.sentence, WIDTH),
        main_table(analysis),
    ]
    if analysis.overall is not None:
        blocks += _means_by_data(analysis.responses.by_data())
    verdict = analysis.verdict
    if verdict is not None and verdict.tested:
        blocks.append("\n".join(_test_lines(verdict)))
    blocks.append("\n".join(_order_lines(analysis)))
    if analysis.assessments is not None:
        blocks.append(_assessment_table(analysis.assessments))
    blocks += finding_blocks(analysis)
    if analysis.answer.advice:
        blocks.append(fill(f"To know more: {analysis.answer.advice}", WIDTH))
    for heading, lines in (
        ("Assumptions", verdict.assumptions if verdict else ()),
        ("Notes", analysis.notes),
        ("Notices", analysis.notices),
        ("Keep in mind", analysis.caveats),
    ):
        if lines:
            blocks.append(bulleted(heading, lines))
    text = "\n\n".join(block for block in blocks if block)
    return in_task_words(text, analysis.results.description.get("task"))


def grade_text(grade: float) -> str:
    """Return a grade of interpretability, out of the best."""
    return "-" if grade != grade else f"{grade:.0f}/{max(GRADES)}"


def main_table(analysis: "Analysis") -> str:
    """Return the tables of contestants, best first: values, differences from the best, costs."""
    tables = [wrapped_table(*response_cells(analysis))]
    known = _evidence(analysis)
    if analysis.overall is None and known is not None and len(analysis.table) > 1:
        tables.append(wrapped_table(*difference_cells(analysis)))
        tables.append(fill(about_differences(known, analysis.responses.names), WIDTH))
    if analysis.overall is not None and _has_chances(analysis):
        tables.append(fill(sentence(f"no worse: {NO_WORSE}"), WIDTH))
    tables.append(wrapped_table(*cost_cells(analysis)))
    if analysis.recommended is not None and len(analysis.table) > 1:
        words = "" if known is None else repeats_sentence(known)
        tables.append(fill(f"* recommended. {words}".rstrip(". ") + ("." if words else ""), WIDTH))
    return "\n\n".join(tables)


def about_differences(known: "Evidence", names: Sequence[str]) -> str:
    """Return what the intervals and the adjusted p of the table of differences allow for.

    Parameters
    ----------
    known
        What is known of the contestants.
    names
        The contestants of the study.
    """
    often = ", after any number of repeats" if known.looks else ""
    allowance = (
        "the adjusted p also allows for the best having been picked by its results: it asks how "
        f"often the best of so many equals would lead as clearly{often}"
    )
    parts = ["an interval is that of one difference by itself", allowance, _further_behind(known)]
    if known.margin:
        parts.append(
            f"differences of at most {numbers_for(known).margin(known.margin)} are taken not to "
            "matter; matters (--matters of a command) names another size"
        )
    return paragraph(parts, names)


def _further_behind(known: "Evidence") -> str:
    """Return who is not shown to be worse although nearer ones are; empty where nobody is."""
    table = known.table["difference"].abs()
    worse = [name for name in known.order if known.claimed(known.best, name)]
    names = [
        name
        for name in known.order
        if worse and name not in worse and table[name] > table[worse].min()
    ]
    if not names:
        return ""
    are, vary = ("is", "varies") if len(names) == 1 else ("are", "vary")
    rest = "further behind than some that are shown to be worse"
    return (
        f"{few([named(name) for name in names])} {are} {rest}, but {vary} more, so that chance is "
        "not ruled out"
    )


def _evidence(analysis: "Analysis") -> "Evidence | None":
    """Return the evidence of the only data set; None where there are several, or none."""
    only = len(analysis.responses.data) == 1
    return analysis.evidence.get(analysis.responses.data[0]) if only else None


def best_first(analysis: "Analysis") -> pd.DataFrame:
    """Return the table of contestants in the order of their ranks."""
    if analysis.overall is not None:
        return analysis.table.sort_values("mean_rank", kind="stable")
    known = _evidence(analysis)
    table = analysis.table.sort_values("rank", kind="stable")
    if known is None:
        return table
    others = [name for name in table.index if name not in known.order]
    return table.loc[[*known.order, *others]]


def shown_name(analysis: "Analysis", name: str) -> str:
    """Return a contestant's name for a table, with a mark where it is recommended."""
    marked = name == analysis.recommended and len(analysis.table) > 1
    return f"{spoken_name(name)}{' *' if marked else ''}"


def response_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of values as text, best first."""
    if analysis.overall is not None:
        return _rank_cells(analysis)
    table = best_first(analysis)
    known = _evidence(analysis)
    measure = measure_words(analysis.measure)
    if known is None:
        means, deviations = response_texts(table)
        rows = [
            [shown_name(analysis, str(name)), means[place], deviations[place]]
            for place, name in enumerate(table.index)
        ]
        return ["contestant", measure, "s.d."], rows
    write = numbers_for(known)
    rows = []
    for name, row in table.iterrows():
        missing = row["estimate"] != row["estimate"]
        interval = "-" if missing else write.interval(row["low"], row["high"])
        cells = ["-" if missing else write.value(row["estimate"]), interval]
        chances = [chance_text(row["probability_best"]), chance_text(row["probability_within"])]
        rows.append([shown_name(analysis, str(name)), *cells, *chances])
    within = f"within {write.margin(known.margin)}"
    return ["contestant", measure, "95 % interval", "is best", within], rows


def difference_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of differences from the best as text, best first."""
    known = _evidence(analysis)
    assert known is not None
    write = numbers_for(known)
    rows = []
    for name, row in best_first(analysis).iterrows():
        words = str(row["against_best"])
        if words in ("best", "not tested"):
            rows.append([spoken_name(str(name)), "", "", words])
            continue
        limits = write.interval(row["difference_low"], row["difference_high"])
        difference = f"{write.plain(row['difference'])} ({limits})"
        rows.append([spoken_name(str(name)), difference, p_text(row["adjusted_p"]), words])
    head = f"{'points' if is_share(analysis.measure) else 'difference'} (95 % interval)"
    return ["against the best", head, "adjusted p", ""], rows


def _has_chances(analysis: "Analysis") -> bool:
    """Return whether there are data sets enough for probabilities beside the mean ranks."""
    return bool(analysis.table["equal"].notna().any())


def _rank_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table over data sets as text, best first."""
    table = best_first(analysis)
    chances = _has_chances(analysis)
    rows = []
    for name, row in table.iterrows():
        wins = row.get("wins", float("nan"))
        cells = [_rank_text(row["mean_rank"]), "-" if wins != wins else f"{wins:.0f}"]
        if chances:
            cells.append(chance_text(1.0 - row["worse"]))
        cells += [p_text(row["adjusted_p"]), str(row["against_best"])]
        rows.append([shown_name(analysis, str(name)), *cells])
    extra = ["no worse"] if chances else []
    return ["contestant", "mean rank", "wins", *extra, "adjusted p", "against the best"], rows


def response_texts(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return means and standard deviations as text, the same number of decimals in each column."""
    if "mean" not in table:
        return [], []
    return numbers_text(table["mean"].tolist()), numbers_text(table["standard_deviation"].tolist())


def cost_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of mean costs as text, best first."""
    rows = [
        [
            spoken_name(str(name)),
            seconds_text(row["fit_seconds"]),
            seconds_text(row["predict_seconds"]),
            size_text(row["model_size"]),
            memory_text(row["peak_memory"]),
            grade_text(row["interpretability"]),
            f"{row['failed']:.0f} of {row['done'] + row['failed']:.0f}",
        ]
        for name, row in best_first(analysis).iterrows()
    ]
    return ["mean costs", "fit", "predict", "size", "memory", "readable", "failed"], rows


def _rank_text(rank: float) -> str:
    return "-" if rank != rank else f"{rank:.2f}"


def latex_table(analysis: "Analysis") -> str:
    """Return the tables of contestants in LaTeX, with the rules of booktabs."""
    header, rows = response_cells(analysis)
    data = ", ".join(analysis.responses.data)
    caption = f"{analysis.measure.title} on {data} by {analysis.design}."
    for row, costs in zip(rows, cost_cells(analysis)[1], strict=True):
        row += costs[1:3]
    header += ["fit", "predict"]
    tables = [_booktabs(header, rows, f"l{'r' * (len(header) - 1)}", caption)]
    if analysis.overall is not None:
        by_data = _data_cells(analysis.responses.by_data(), PER_PAGE, spoken_name)
        words = f"{analysis.measure.title}, mean on each data set."
        tables += [
            _booktabs(head, cells, f"l{'r' * (len(head) - 1)}", words) for head, cells in by_data
        ]
    if analysis.overall is None and _evidence(analysis) is not None and len(rows) > 1:
        head, differences = difference_cells(analysis)
        tables.append(_booktabs(head, differences, "lrrl", f"Differences on {data}."))
    for effects in analysis.effects:
        words = f"Analysis of variance: {effects.scope}."
        tables.append(_booktabs(HEADS, variance_rows(effects.table), "lrrrrrr", words))
    return "\n\n".join(tables)


def _booktabs(
    header: Sequence[str], rows: Sequence[Sequence[str]], alignment: str, caption: str
) -> str:
    lines = [" & ".join(latex_escaped(cell) for cell in row) + r" \\" for row in [header, *rows]]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_escaped(caption)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def latex_escaped(text: str) -> str:
    r"""Return a text that LaTeX prints as it is.

    Examples
    --------
    >>> print(latex_escaped("n_neighbors=5 & 10%"))
    n\_neighbors=5 \& 10\%
    """
    return "".join(LATEX_SPECIAL.get(sign, sign) for sign in text)


def _title(analysis: "Analysis") -> str:
    description = analysis.results.description
    question = aim_question(description)
    data = analysis.responses.data
    names = ", ".join(data) if len(data) <= 6 else f"{len(data)} data sets"
    return (
        f"{description['name']}: {question} {analysis.measure.title} on {names} by "
        f"{analysis.design}."
    )


def _means_by_data(means: pd.DataFrame) -> list[str]:
    """Return the mean responses, a few contestants at a time where they do not fit."""
    longest = max(len(str(data)) for data in means.index)
    numbers = {name: f"[{number}]" for number, name in enumerate(means.columns, start=1)}
    per_block = max(1, (WIDTH - min(longest, 30)) // 9)
    blocks = [wrapped_table(*cells) for cells in _data_cells(means, per_block, numbers.get)]
    key = ", ".join(f"{number} {spoken_name(str(name))}" for name, number in numbers.items())
    return [*blocks, fill(key, WIDTH)]


def _data_cells(
    means: pd.DataFrame, per_block: int, heading: Callable[[str], Any]
) -> list[tuple[list[str], list[list[str]]]]:
    """Return head and rows of the tables of data sets by contestants, so many of them in each."""
    blocks = []
    for start in range(0, means.shape[1], per_block):
        part = means.iloc[:, start : start + per_block]
        rows = [[str(data), *map(number_text, values)] for data, *values in part.itertuples()]
        blocks.append((["data set", *map(heading, part.columns)], rows))
    return blocks


def _test_lines(verdict: "Verdict") -> list[str]:
    lines = [fill(f"Tests: {verdict.method}. Why: {verdict.why}.", WIDTH)]
    lines += [
        fill(f"{test.name}: {test.headline()}. {test.conclusion()}", WIDTH)
        for test in verdict.tests
    ]
    lines += [fill(line, WIDTH) for line in test_summary(verdict)]
    return lines


def test_summary(verdict: "Verdict") -> list[str]:
    """Return what the tests of pairs say, in sentences.

    Parameters
    ----------
    verdict
        The tests.
    """
    if verdict.undecided:
        return ["These tests say that not all are equal, but not which pair differs."]
    worse = [name for name in verdict.names if verdict.beats(verdict.best, name)]
    level = [name for name in verdict.group if name != verdict.best]
    best, lines = named(verdict.best), []
    if worse:
        names = few([named(name) for name in worse])
        lines.append(f"By these tests, worse than {best} (adjusted p): {names}.")
    if level:
        names = few([named(name) for name in level])
        lines.append(f"By these tests, not distinguishable from {best}: {names}.")
    return lines


def pairs_text(analysis: "Analysis") -> str:
    """Return the test of every pair as text, on each data set, and over all of them.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    verdicts = [*analysis.verdicts.values()]
    if analysis.over_data is not None:
        verdicts.append(analysis.over_data)
    blocks = [
        fill(f"{verdict.scope}: {verdict.method}.", WIDTH) + "\n\n" + _pair_table(verdict)
        for verdict in verdicts
        if verdict.tested
    ]
    return "\n\n".join(blocks) or "No pair could be tested."


def _pair_table(verdict: "Verdict") -> str:
    rows = []
    for row in verdict.pairs.sort_values("adjusted_p", kind="stable").to_dict("records"):
        pair = [spoken_name(row["better"]), spoken_name(row["worse"])]
        words = {"reject": "better", "fail to reject": ""}.get(row["decision"], row["decision"])
        rows.append([*pair, number_text(abs(row["difference"])), p_text(row["adjusted_p"]), words])
    table = wrapped_table(["ahead", "behind", "by", "adjusted p", ""], rows)
    return f"{table}\n\nPairs without a word at the end are not distinguishable."


def _order_lines(analysis: "Analysis") -> list[str]:
    lines = []
    if len(analysis.answer.order) > 1:
        several = analysis.overall is not None
        words = "mean rank" if several else measure_words(analysis.measure)
        lines.append(fill(order_sentence(analysis.answer.order, words), WIDTH))
    if len(analysis.front) > 0:
        names = ", ".join(spoken_name(name) for name in analysis.front)
        lines.append(fill(f"Not beaten in both response and time to fit: {names}.", WIDTH))
    return lines


def _assessment_table(assessments: pd.DataFrame) -> str:
    rows = [
        [
            f"{row['data']}: {spoken_name(row['contestant'])}",
            number_text(row["mean"]),
            p_text(row["p_value"]),
            "good enough" if row["decision"] == "reject" else "not shown",
        ]
        for row in assessments.to_dict("records")
    ]
    return wrapped_table(["good enough?", "mean", "p", ""], rows)


def variance_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return the cells of an analysis of variance as text.

    Parameters
    ----------
    table
        One row per source of variation.
    """
    return [
        [
            str(source),
            f"{row['sum_of_squares']:.4g}",
            f"{row['degrees_of_freedom']:.0f}",
            _number(row["mean_square"]),
            _number(row["F"]),
            p_text(row["p_value"]),
            p_text(row["corrected_p"]),
        ]
        for source, row in table.iterrows()
    ]


def alias_lines(effects: "FactorEffects") -> list[str]:
    """Return what the design could not tell apart, in sentences.

    Parameters
    ----------
    effects
        Effects of factors.
    """
    lines = [
        f"{name} cannot be told from {', '.join(others)}."
        for name, others in effects.aliases.items()
    ]
    return [*lines, *effects.notes]


def finding_blocks(analysis: "Analysis") -> list[str]:
    """Return the further findings as text for a terminal.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    blocks = []
    for effects in analysis.effects:
        blocks.append(_variance_text(f"Effects: {effects.scope}", effects.table))
        if lines := alias_lines(effects):
            blocks.append(_filled(lines))
    if analysis.interaction is not None:
        blocks.append(_variance_text("Contestants and data sets", analysis.interaction))
    for effects in analysis.nuisance:
        blocks.append(_variance_text(f"Nuisance factor: {effects.scope}", effects.table))
        blocks.append(_filled(nuisance_lines(effects, analysis.alpha)))
    if vectors := [f"{verdict.data}: {verdict.sentence}" for verdict in analysis.vectors]:
        blocks.append(_filled(vectors))
    if shared := [f"{overlap.data}: {overlap.sentence}" for overlap in analysis.overlaps]:
        blocks.append(_filled(shared))
    if analysis.errors:
        blocks.append(_error_text(analysis))
    return blocks


def _variance_text(title: str, table: pd.DataFrame) -> str:
    rows = [[row[0], *row[1:3], *row[4:]] for row in variance_rows(table)]
    head = [HEADS[0], "squares", "d.f.", "F", "p", "corrected p"]
    return f"{fill(title, WIDTH)}\n{text_table(head, rows)}"


def _error_text(analysis: "Analysis") -> str:
    rows = [
        [
            data,
            str(error.splits),
            number_text(error.of_run),
            number_text(error.of_difference),
            number_text(error.detectable),
        ]
        for data, error in analysis.errors.items()
    ]
    head = ["experimental error", "splits", "of a run", "of a difference", "seen with power 0.8"]
    return text_table(head, rows)


def _filled(lines: Sequence[str]) -> str:
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.4g}"


def nuisance_lines(effects: "FactorEffects", alpha: float) -> list[str]:
    """Return what a nuisance factor does, in sentences.

    Parameters
    ----------
    effects
        Its effects.
    alpha
        Level of significance.
    """
    contestant, name = effects.factors
    significant = effects.significant(alpha)
    levels = ", ".join(f"{level} {mean:.4g}" for level, mean in effects.means[name].items())
    does = "depend on it" if name in significant else "are not shown to depend on it"
    lines = [f"{effects.scope}: errors {does} ({levels})."]
    if f"{contestant} x {name}" in significant:
        lines.append("The comparison depends on it too: look at its levels one by one.")
    return [*lines, *effects.notes]
