"""The answer of a study as parts of a page: words, a table, pictures, what to keep in mind."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from verulam.base import DataError
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._report.report import contestant_rows
from verulam.experiment._report.svg import drawn
from verulam.experiment._text import shortened, spoken_name
from verulam.plots import critical_difference

#: More contestants than this are left to the table.
MOST_DRAWN = 40
COSTS = ("fit", "predict", "failed")
DIFFERENCE_CAPTION = (
    "How probable each difference from the nearest rival is; differences between the dashed lines "
    "would not matter."
)
#: Headings that say more than a narrow page has room for.
LEFT_OUT = ("adjusted p", "difference (95 %)", "repeats")


@dataclass(frozen=True)
class Drawn:
    """A picture.

    Attributes
    ----------
    title, caption
        What it shows, and how to read it.
    svg
        The drawing, in the colour of the words around it.
    """

    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class AnswerView:
    """What a page says of a study.

    Attributes
    ----------
    sentence, advice
        The answer, and what would make it firmer.
    recommended
        Whom to use; empty where nothing can be said.
    margin
        The difference that matters, None where it has no meaning.
    heads, rows
        The table of all contestants, the best first.
    notes
        What to keep in mind.
    design
        How the splits were drawn.
    pictures
        Drawn after the words have been shown.
    """

    sentence: str
    advice: str
    recommended: str
    margin: float | None
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    design: str
    pictures: tuple[Drawn, ...] = ()


def answer_view(analysis: Analysis, data: str = "") -> AnswerView:
    """Return what an analysis says, without pictures.

    Parameters
    ----------
    analysis
        Of the study.
    data
        Label of the data set whose margin is meant; empty for the first.

    Examples
    --------
    >>> from verulam import compare
    >>> comparison = compare("iris", ["majority class", "nearest mean"], progress=False)
    >>> view = answer_view(comparison.analysis)
    >>> view.recommended, view.rows[0][:2]
    ('nearest mean', ('nearest mean', '8.7 %'))
    """
    rows = contestant_rows(analysis)
    heads: tuple[str, ...] = ()
    cells = []
    for row in rows:
        shown = {name: cell for name, cell in row["cells"].items() if name not in LEFT_OUT}
        shown |= {name: row["costs"][name] for name in COSTS}
        heads = ("contestant", *shown)
        cells.append((row["name"], *(cell.text for cell in shown.values())))
    known = analysis.evidence.get(data or analysis.responses.data[0])
    recommended = analysis.recommended
    return AnswerView(
        analysis.answer.sentence,
        analysis.answer.advice,
        "" if recommended is None else spoken_name(recommended),
        None if known is None else float(known.margin),
        heads,
        tuple(cells),
        tuple(
            dict.fromkeys(
                filter(None, (analysis.race, *analysis.notes, *analysis.notices, *analysis.caveats))
            )
        ),
        analysis.design,
    )


def with_pictures(view: AnswerView, analysis: Analysis, data: str = "") -> AnswerView:
    """Return the view with the pictures that the analysis allows.

    Parameters
    ----------
    view
        What `answer_view` returned.
    analysis
        Of the study.
    data
        Label of the data set that is drawn; empty for the first.
    """
    return replace(view, pictures=tuple(_pictures(analysis, data or analysis.responses.data[0])))


def _pictures(analysis: Analysis, data: str) -> Iterator[Drawn]:
    many = None if analysis.over_data is None else analysis.over_data.many
    if many is not None and len(many.ranks) <= MOST_DRAWN:
        means = many.pairs.means.rename(index=spoken_name)
        groups = [[spoken_name(str(name)) for name in clique] for clique in many.cliques]
        spoken = replace(many, pairs=replace(many.pairs, means=means), cliques=groups)
        yield Drawn(
            "Critical differences",
            "Mean ranks over the data sets, the best on the left. Bars join contestants that the "
            "tests cannot tell apart.",
            drawn(partial(critical_difference, spoken)),
        )
    known = analysis.evidence.get(data)
    if known is None or len(known.names) > MOST_DRAWN:
        return
    on_data = f" on {data}" if len(analysis.responses.data) > 1 else ""
    plots: list[tuple[str, str, Callable[[], Any]]] = [
        (
            f"How good is each{on_data}",
            "95 % intervals; shaded is what is within the margin of the best estimate.",
            partial(analysis.plot_intervals, data),
        )
    ]
    if len(known.names) > 1:
        plots += [
            (
                f"Who may be the best{on_data}",
                "The probability of being the best, and of being within the margin of the best.",
                partial(analysis.plot_probabilities, data),
            ),
            (
                f"The difference that matters most{on_data}",
                DIFFERENCE_CAPTION,
                partial(analysis.plot_difference, data=data),
            ),
        ]
    for title, caption, plot in plots:
        try:
            yield Drawn(title, caption, drawn(plot))
        except DataError:
            continue  # where a picture has nothing to show, the words say why


def answer_html(view: AnswerView, count: int) -> str:
    """Return the words and the table of an answer for a page.

    Parameters
    ----------
    view
        The answer.
    count
        How many answers have been shown, for whoever waits for the next.
    """
    advice = f"<p class=quiet>{html.escape(view.advice)}</p>" if view.advice else ""
    notes = "".join(f"<li>{html.escape(shortened(note))}</li>" for note in view.notes)
    folded = f"<details><summary>Keep in mind</summary><ul>{notes}</ul></details>" if notes else ""
    return (
        f'<section role=status aria-live=polite data-answer="{count}" '
        f'data-recommended="{html.escape(view.recommended)}">'
        f"<h2>The answer</h2><p class=answer>{html.escape(view.sentence)}</p>{advice}</section>"
        f"{table_html(view.heads, view.rows, 'Contestants, the best first', view.recommended)}"
        f"<p class=quiet>{html.escape(view.design)}</p>{folded}"
    )


def pictures_html(view: AnswerView) -> str:
    """Return the pictures of an answer for a page; they take the colours of its words."""
    return "".join(
        f"<figure><figcaption><strong>{html.escape(picture.title)}</strong><br>"
        f"<span class=quiet>{html.escape(picture.caption)}</span></figcaption>"
        f'<div class=drawing role=img aria-label="{html.escape(picture.title)}">{picture.svg}</div>'
        "</figure>"
        for picture in view.pictures
    )


def table_html(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str, strong: str = ""
) -> str:
    """Return a table for a page; nothing in it is taken for markup.

    Parameters
    ----------
    heads
        Headings of the columns.
    rows
        Cells; numbers, with a unit or not, stand to the right.
    caption
        What the table is, for those who hear it.
    strong
        First cell of the row that is emphasised.

    Examples
    --------
    >>> "<td class=number>3</td>" in table_html(["a", "b"], [["<b>", 3]], "numbers")
    True
    """
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in heads)
    body = []
    for row in rows:
        kind = " class=strong" if strong and str(row[0]) == strong else ""
        cells = "".join(_cell(str(cell)) for cell in row[1:])
        first = html.escape(str(row[0]))
        body.append(f"<tr{kind}><th scope=row>{first}</th>{cells}</tr>")
    return (
        f'<div class=scroll tabindex=0 role=region aria-label="{html.escape(caption)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _cell(text: str) -> str:
    begins = bool(text) and (text[0].isdigit() or text[0] in "-<")
    # A range, or a sentence that begins with a number, is read as text.
    is_number = begins and " to " not in text and not re.search(r"[^\W\d_]{3,}", text)
    kind = " class=number" if is_number else ""
    return f"<td{kind}>{html.escape(text)}</td>"


#: Looks of these parts, inside the parts of a page.
STYLE = """
.answer { font-size: 16px; line-height: 1.5; margin: 6px 0; max-width: 75ch; }
table { border-collapse: collapse; font-size: 13px; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid
  var(--lab-edge, #d9dde1); vertical-align: top; }
thead th { color: var(--lab-faint, #5a646e); font-weight: 500; }
tbody th { font-weight: 400; } tr.strong th { font-weight: 600; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; max-height: 420px; overflow-y: auto; max-width: 100%; }
.scroll:focus-visible { outline: 2px solid var(--lab-accent, #0072b2); }
figure { margin: 14px 0; } figcaption { margin-bottom: 6px; }
.drawing { overflow-x: auto; max-width: 100%; } .drawing svg { max-width: 100%; height: auto; }
details { margin: 8px 0; } summary { cursor: pointer; }
ul { padding-left: 20px; margin: 6px 0; } li { margin: 3px 0; max-width: 90ch; }
progress { width: 100%; max-width: 420px; height: 10px; accent-color: var(--lab-accent, #0072b2); }
p { margin: 6px 0; }
"""
