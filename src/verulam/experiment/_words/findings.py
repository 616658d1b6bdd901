"""What an analysis says beyond its answer: effects, several responses, shared errors."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.experiment._effects.nuisance import nuisance_lines
from verulam.experiment._text import number_text, text_table

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._effects.effects import FactorEffects

WIDTH = 80
#: Heads of an analysis of variance, in the order of its columns.
HEADS = ["source", "sum of squares", "d.f.", "mean square", "F", "p", "corrected p"]


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
            _p_text(row["p_value"]),
            _p_text(row["corrected_p"]),
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
        What was found.
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
    if vectors := [f"{each.data}: {each.sentence}" for each in analysis.vectors]:
        blocks.append(_filled(vectors))
    if shared := [f"{each.data}: {each.sentence}" for each in analysis.overlaps]:
        blocks.append(_filled(shared))
    if analysis.errors:
        blocks.append(_error_text(analysis))
    return blocks


def finding_values(analysis: "Analysis") -> dict[str, Any]:
    """Return the further findings as tables and plain values.

    Parameters
    ----------
    analysis
        What was found.
    """
    return {
        "effects": [_effect_values(each) for each in analysis.effects],
        "nuisance": [_effect_values(each) for each in analysis.nuisance],
        "interaction": analysis.interaction,
        "vector_responses": [
            {
                "data": each.data,
                "overall": each.overall.to_dict(),
                "means": each.means,
                "single": each.single,
                "pairs": each.pairs,
            }
            for each in analysis.vectors
        ],
        "error_overlap": [
            {
                "data": each.data,
                "rows": each.rows,
                "shared": each.shared,
                "disagreement": each.disagreement,
            }
            for each in analysis.overlaps
        ],
        "experimental_error": {data: vars(each) for data, each in analysis.errors.items()},
    }


def _effect_values(effects: "FactorEffects") -> dict[str, Any]:
    return {
        "scope": effects.scope,
        "factors": list(effects.factors),
        "table": effects.table,
        "means": {name: means.reset_index() for name, means in effects.means.items()},
        "estimates": effects.estimates,
        "aliases": {name: list(others) for name, others in effects.aliases.items()},
        "notes": list(effects.notes),
    }


def _variance_text(title: str, table: pd.DataFrame) -> str:
    rows = [[row[0], *row[1:3], *row[4:]] for row in variance_rows(table)]
    head = [HEADS[0], "squares", "d.f.", "F", "p", "corrected p"]
    return f"{fill(title, WIDTH)}\n{text_table(head, rows)}"


def _error_text(analysis: "Analysis") -> str:
    rows = [
        [
            data,
            str(each.splits),
            number_text(each.of_run),
            number_text(each.of_difference),
            number_text(each.detectable),
        ]
        for data, each in analysis.errors.items()
    ]
    head = ["experimental error", "splits", "of a run", "of a difference", "seen with power 0.8"]
    return text_table(head, rows)


def _filled(lines: Sequence[str]) -> str:
    return "\n".join(fill(line, WIDTH, subsequent_indent="  ") for line in lines)


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.4g}"


def _p_text(value: float) -> str:
    if value != value:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
