"""How an analysis reads: on a terminal of 80 columns, and as a LaTeX table."""

import re
from collections.abc import Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING

import pandas as pd

from verulam.catalogue import GRADES
from verulam.experiment._findings import HEADS, finding_blocks, variance_rows
from verulam.experiment._study import AIMS
from verulam.experiment._text import number_text, numbers_text, seconds_text, text_table

if TYPE_CHECKING:
    from verulam.experiment._analysis import Analysis
    from verulam.experiment._verdict import Verdict

WIDTH = 80
NARROWEST_NAME = 20
LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def analysis_text(analysis: "Analysis") -> str:
    """Return the whole analysis as text."""
    blocks = [
        fill(_title(analysis), WIDTH),
        fill(f"Answer: {analysis.answer.sentence}", WIDTH),
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
    return "\n\n".join(block for block in blocks if block)


def wrapped_table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int = WIDTH) -> str:
    """Return a text table whose first column wraps where the table would be too wide.

    Examples
    --------
    >>> print(wrapped_table(["learner", "error"], [["nearest mean of all means", "0.08"]], 26))
    learner              error
    -------------------  -----
    nearest mean of all   0.08
      means
    """
    others = [max(len(row[place]) for row in [header, *rows]) for place in range(1, len(header))]
    room = max(NARROWEST_NAME, width - sum(others) - 2 * len(others))
    lines: list[list[str]] = []
    for name, *cells in rows:
        first, *more = _folded(name, room)
        lines.append([first, *cells])
        lines += [[f"  {part}"[:room], *[""] * len(cells)] for part in more]
    return text_table(header, lines)


def _folded(name: str, room: int) -> list[str]:
    """Return the lines of a name that may be too long, broken after a space or a dot at best."""
    lines = [""]
    for part in re.split(r"(?<=[ .])", name):
        if lines[-1] and len((lines[-1] + part).rstrip()) > room:
            lines.append("")
        lines[-1] += part
    return [piece for line in lines for piece in wrap(line, room) or [""]]


def bulleted(heading: str, lines: Sequence[str]) -> str:
    """Return a heading and a list below it."""
    items = [fill(f"- {line}", WIDTH, subsequent_indent="  ") for line in lines]
    return "\n".join([f"{heading}:", *items])


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    if size != size:
        return "-"
    if size < 1000:
        return f"{size:.0f} B"
    return f"{size / 1000:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def memory_text(megabytes: float) -> str:
    """Return what a run added to the memory of its process; less than can be told as a bound."""
    if megabytes != megabytes:
        return "-"
    return "< 0.1 MB" if megabytes < 0.1 else f"{megabytes:.1f} MB"


def p_text(p_value: float) -> str:
    """Return a p-value, very small ones as a bound."""
    if p_value != p_value:
        return "-"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def grade_text(grade: float) -> str:
    """Return a grade of interpretability, out of the best."""
    return "-" if grade != grade else f"{grade:.0f}/{max(GRADES)}"


def main_table(analysis: "Analysis") -> str:
    """Return the tables of contestants, best first: response and tests, then costs."""
    return f"{wrapped_table(*response_cells(analysis))}\n\n{wrapped_table(*cost_cells(analysis))}"


def best_first(analysis: "Analysis") -> pd.DataFrame:
    """Return the table of contestants in the order of their ranks."""
    leading = "rank" if analysis.overall is None else "mean_rank"
    return analysis.table.sort_values(leading, kind="stable")


def response_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of responses and tests as text, best first."""
    several = analysis.overall is not None
    names = ["mean rank", "wins"] if several else ["mean", "s.d."]
    rows = []
    table = best_first(analysis)
    means, deviations = response_texts(table)
    for place, (name, row) in enumerate(table.iterrows()):
        if several:
            wins = row.get("wins", float("nan"))
            numbers = [_rank_text(row["mean_rank"]), "-" if wins != wins else f"{wins:.0f}"]
        else:
            numbers = [means[place], deviations[place]]
        rows.append([str(name), *numbers, p_text(row["adjusted_p"]), str(row["equality"])])
    return ["contestant", *names, "p", "equality"], rows


def response_texts(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return means and standard deviations as text, the same number of decimals in each column."""
    if "mean" not in table:
        return [], []
    return numbers_text(table["mean"].tolist()), numbers_text(table["standard_deviation"].tolist())


def cost_cells(analysis: "Analysis") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the table of mean costs as text, best first."""
    rows = [
        [
            str(name),
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
    """Return the table of contestants in LaTeX, with the rules of booktabs."""
    header, rows = response_cells(analysis)
    data = ", ".join(analysis.responses.data)
    caption = f"{analysis.measure.title} on {data} by {analysis.design}."
    for row, costs in zip(rows, cost_cells(analysis)[1], strict=True):
        row[-2:-2] = costs[1:3]
    header[-2:-2] = ["fit", "predict"]
    alignment = f"l{'r' * (len(header) - 2)}l"
    tables = [_booktabs(header, rows, alignment, caption)]
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
    question = description["question"] or AIMS[description["aim"]]
    data = analysis.responses.data
    names = ", ".join(data) if len(data) <= 6 else f"{len(data)} data sets"
    return (
        f"{description['name']}: {question} {analysis.measure.title} on {names} by "
        f"{analysis.design}."
    )


def _means_by_data(means: pd.DataFrame) -> list[str]:
    """Return the mean responses, a few contestants at a time where they do not fit."""
    longest = max(len(str(data)) for data in means.index)
    per_block = max(1, (WIDTH - min(longest, 30)) // 9)
    columns = [f"[{number}]" for number in range(1, means.shape[1] + 1)]
    blocks = []
    for start in range(0, means.shape[1], per_block):
        part = means.iloc[:, start : start + per_block]
        rows = [[str(data), *map(number_text, values)] for data, *values in part.itertuples()]
        blocks.append(wrapped_table(["data set", *columns[start : start + per_block]], rows))
    key = ", ".join(f"[{n}] {name}" for n, name in enumerate(means.columns, start=1))
    return [*blocks, fill(key, WIDTH)]


def _test_lines(verdict: "Verdict") -> list[str]:
    lines = [fill(f"Test: {verdict.method}, because: {verdict.why}.", WIDTH)]
    lines += [
        fill(f"{test.name}: {test.headline()}. {test.conclusion()}", WIDTH)
        for test in verdict.tests
    ]
    if verdict.undecided:
        lines.append("All are not equal, but no pair can be named: more data are needed.")
    return lines


def _order_lines(analysis: "Analysis") -> list[str]:
    lines = []
    said = analysis.answer
    if len(said.order) > 1:
        words = said.order_words if said.undecided else f"Order: {' > '.join(said.order)}."
        lines.append(fill(words, WIDTH))
    verdict = analysis.verdict
    if verdict is not None and verdict.tested and len(verdict.group) > 1:
        lines.append(fill(f"Not told from the best: {', '.join(verdict.group)}.", WIDTH))
    if len(analysis.front) > 0:
        words = f"Not beaten in both response and time to fit: {', '.join(analysis.front)}."
        lines.append(fill(words, WIDTH))
    return lines


def _assessment_table(assessments: pd.DataFrame) -> str:
    rows = [
        [
            f"{row['data']}: {row['contestant']}",
            number_text(row["mean"]),
            p_text(row["p_value"]),
            row["decision"],
            "good enough" if row["decision"] == "reject" else "not shown",
        ]
        for row in assessments.to_dict("records")
    ]
    return wrapped_table(["good enough?", "mean", "p", "no better", "so"], rows)
