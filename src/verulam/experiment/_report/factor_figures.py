"""Pictures of what a study varies: levels, effects, surfaces and shares of the rows."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from verulam.experiment._effects.learning_surface import (
    FEWEST_LEVELS,
    surface_factors,
    surface_table,
)
from verulam.experiment._effects.study_effects import surface_of
from verulam.experiment._report.svg import ReportFigure, drawn
from verulam.experiment._text import spoken_name
from verulam.experiment._words.analysis_text import alias_lines

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._effects.effects import FactorEffects
    from verulam.experiment._store.responses import StoredContestant

#: More data sets or lines than this are left to the tables.
MOST_DATA_SETS, MOST_CURVES = 12, 8
#: Fewer effects than this make no picture of their own.
FEWEST_EFFECTS = 3


def learning_curves(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the response against the share of the training rows, for each data set.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import level_means

    scores = analysis.responses.shared_out
    if scores["share"].nunique() < 2:
        return
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        curves = scores[scores["data"] == data]
        table = curves.pivot_table(
            index="share", columns="contestant", values="score", observed=True
        )
        names = [
            contestant.name
            for contestant in analysis.leaders(data)
            if contestant.name in table.columns
        ]
        draw = partial(
            level_means,
            table[names].rename(columns=spoken_name),
            factor="share of the training rows",
            label=analysis.measure.title,
        )
        yield ReportFigure(
            f"Learning curves on {data}",
            "Mean response against the part of the training rows that was learnt from.",
            drawn(draw),
            folded=len(analysis.responses.data) > 1,
        )


def learning_surfaces(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the response over training rows and levels, where both have several numbers.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import response_surface

    responses = analysis.responses
    if responses.shared_out["share"].nunique() < FEWEST_LEVELS:
        return
    for learner, factor in surface_factors(responses):
        settings = responses.settings_of(learner)
        for data in responses.data[:MOST_DATA_SETS]:
            table = surface_table(responses, data, settings, factor)
            if table.isna().to_numpy().any() or min(table.shape) < 2:
                continue
            draw = partial(
                response_surface,
                table,
                factor=factor,
                label=analysis.measure.title,
                greater_is_better=analysis.measure.greater_is_better,
            )
            yield ReportFigure(
                f"{spoken_name(learner)} on {data}: {factor} and training rows",
                "How complex a model may be depends on the rows that it learns from: the dashed "
                "line joins the best level for each number of rows.",
                drawn(draw, on_white=True),
                on_white=True,
                folded=len(responses.data) > 1,
            )


def effect_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the responses at the levels of factors, the sizes of effects, and fitted surfaces.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    yield from _levels(analysis)
    for effects in analysis.effects:
        if len(effects.estimates) >= FEWEST_EFFECTS:
            yield from _sizes(analysis, effects)
        yield from _surface(analysis, effects)


def _sizes(analysis: "Analysis", effects: "FactorEffects") -> Iterator[ReportFigure]:
    from scipy import special

    from verulam.plots import effect_normal, effect_pareto

    estimates = effects.estimates
    freedom = float(effects.table["degrees_of_freedom"]["error"])
    error = float(estimates["standard_error"].iloc[0])
    limit = error * float(-special.stdtrit(freedom, analysis.alpha / 2)) if freedom else None
    aliases = " ".join(alias_lines(effects))
    label = f"effect on {analysis.measure.name}"
    yield ReportFigure(
        f"Sizes of effects: {effects.scope}",
        "Change of the mean response from the first to the second level. Bars beyond the line "
        f"are more than chance at the level {analysis.alpha:g}. {aliases}".strip(),
        drawn(partial(effect_pareto, estimates["effect"], limit=limit, label=label)),
        folded=len(analysis.responses.data) > 1,
    )
    yield ReportFigure(
        f"Normal plot of effects: {effects.scope}",
        f"Effects that are chance lie on the line, real ones away from it. {aliases}".strip(),
        drawn(partial(effect_normal, estimates["effect"], label=label)),
        folded=True,
    )


def _surface(analysis: "Analysis", effects: "FactorEffects") -> Iterator[ReportFigure]:
    from verulam.plots import surface_contours

    surface = surface_of(effects)
    if surface is None or len(surface.factors) < 2:
        return
    point = ", ".join(f"{name} = {value:.4g}" for name, value in surface.stationary_point.items())
    caption = (
        f"A quadratic through the mean responses (R squared {surface.r_squared:.2f}); it is level "
        f"at {point}: a {surface.kind}. {' '.join(surface.warnings)}"
    )
    yield ReportFigure(
        f"Response surface: {effects.scope}",
        caption.strip(),
        drawn(
            partial(surface_contours, surface, effects.settings, label=analysis.measure.title),
            on_white=True,
        ),
        on_white=True,
        folded=len(analysis.responses.data) > 1,
    )


def _levels(analysis: "Analysis") -> Iterator[ReportFigure]:
    from verulam.plots import level_means

    scores = analysis.responses.full
    for learner in analysis.responses.learners:
        settings = analysis.responses.settings_of(learner)
        for factor in settings[0].levels:
            table = _level_table(scores, settings, factor)
            if len(table) > 1:
                yield ReportFigure(
                    f"{spoken_name(learner)}: {factor}",
                    "Mean response at each level, one line per data set and setting of the other "
                    "factors. Lines that are not parallel show an interaction.",
                    drawn(partial(level_means, table, factor=factor, label=analysis.measure.title)),
                )


def _level_table(
    scores: pd.DataFrame, settings: list["StoredContestant"], factor: str
) -> pd.DataFrame:
    levels = {setting.name: setting.levels[factor] for setting in settings}
    rest = {
        setting.name: ", ".join(f"{k}={v}" for k, v in setting.levels.items() if k != factor)
        for setting in settings
    }
    curves = scores[scores["contestant"].isin(levels)]
    series = [
        f"{data}, {rest[name]}" if rest[name] else str(data)
        for data, name in zip(curves["data"], curves["contestant"], strict=True)
    ]
    curves = curves.assign(level=curves["contestant"].map(levels), series=series)
    table = curves.pivot_table(index="level", columns="series", values="score", sort=False)
    return table.iloc[:, :MOST_CURVES]


def vector_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the contestants along the combinations of responses that tell them apart.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import manova_projections

    for verdict in analysis.vectors[:MOST_DATA_SETS]:
        if verdict.analysis is None:
            continue
        yield ReportFigure(
            f"Several responses at once on {verdict.data}",
            f"Means of the contestants along the combinations of "
            f"{', '.join(verdict.means.columns)} that tell them apart best.",
            drawn(partial(manova_projections, verdict.analysis)),
            folded=len(analysis.vectors) > 1,
        )
