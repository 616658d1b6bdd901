"""A plan in words: its size and splits, its notices, and what its designs cannot tell apart."""

from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.design import DESIGN_CAVEATS, AliasStructure, Factor, alias_structure, block_structure
from verulam.experiment._resampling.resampling import drawn_word, resampling
from verulam.experiment._study.choices import learner_label
from verulam.experiment._study.cost_matrix import has_losses, unsuited_data
from verulam.experiment._study.designs import (
    FULL,
    Design,
    block_contrasts,
    read_design,
    resolved_generators,
)
from verulam.experiment._tasks.tasks import task_of
from verulam.experiment._text import counted
from verulam.experiment._tuning.options import tuning

if TYPE_CHECKING:
    from verulam.experiment._plan.records import Plan

#: So many data sets are named.
MOST_NAMED = 6
#: Pairs of effects that a sentence names; a table has the others.
MOST_PAIRS = 6
#: Kinds of a design in a study that its table of settings calls by a longer name.
_CAVEAT_NAMES = {"one at a time": "one factor at a time", "fractional": "fractional factorial"}


def plan_text(plan: "Plan") -> str:
    """Return a plan in one sentence.

    Parameters
    ----------
    plan
        The plan.
    """
    study = plan.study
    names = ", ".join(planned.label for planned in plan.data[:MOST_NAMED])
    more = ", ..." if len(plan.data) > MOST_NAMED else ""
    task = task_of(study)
    word = "data set" if task is None else task.data_word
    data = f"{counted(len(plan.data), word)} ({names}{more})"
    folds = {planned.label: len({split.fold for split in planned.splits}) for planned in plan.data}
    how = tuning(study.tuning)
    tuned = "" if how is None else f". Tuned by {how.title}"
    locked = f", {100 * study.test_share:.0f}% of the rows locked away" if study.test_share else ""
    asked = resampling(study.resampling)
    most = "" if asked.max_repeats is None else "up to "
    splits = "" if asked.kind == "seeds" else f"{drawn_word(asked, folds)}, "
    return (
        f"{study.name}: {most}{counted(len(plan.runs), 'run')} {_factors(plan, data)}, "
        f"{splits}seed {study.seed}"
        f"{locked}{tuned}{plan.budget_text}"
    )


def _factors(plan: "Plan", data: str) -> str:
    """Return the numbers whose product is the number of runs, or what there is of each."""
    study = plan.study
    settings = sorted({len(contestants) for contestants in plan.contestants})
    splits = sorted({len(planned.splits) for planned in plan.data})
    numbers = [*settings, len(plan.data), *splits, len(study.training_shares), study.replications]
    exact = len(settings) == len(splits) == 1 and prod(numbers) == len(plan.runs)
    task = task_of(study)
    who = "learner" if task is None else task.contestant_word
    drawn = "seed" if resampling(study.resampling).kind == "seeds" else "split"
    parts = [f"{_counts(settings, 'setting')} of {who}s", data, _counts(splits, drawn)]
    if len(study.training_shares) > 1:
        parts.append(f"{len(study.training_shares)} training shares")
    if study.replications > 1:
        parts.append(f"{study.replications} replications")
    return f"= {' x '.join(parts)}" if exact else f"of {', '.join(parts)}"


def _counts(counts: list[int], word: str) -> str:
    """Return a number of things, or the range of it."""
    if len(counts) == 1:
        return counted(counts[0], word)
    return f"{counts[0]} to {counts[-1]} {word}s"


def nuisance_notices(plan: "Plan") -> list[str]:
    """Return which nuisance factors will be tested, and which are words alone.

    Parameters
    ----------
    plan
        The plan.
    """
    tested = {column.name: None for planned in plan.data for column in planned.nuisance}
    words = [name for name in plan.study.nuisance if name not in tested]
    lines = []
    if tested:
        lines.append(f"Nuisance factors, no inputs, tested in the analysis: {', '.join(tested)}.")
    if words:
        lines.append(f"Nuisance factors for the record, no columns: {', '.join(words)}.")
    return lines


def loss_notices(plan: "Plan") -> list[str]:
    """Return what the losses of a study will have no effect on.

    Parameters
    ----------
    plan
        The plan.
    """
    if not has_losses(plan.study):
        return []
    lines = [f"{label}: {text}" for label, text in unsuited_data(plan.study, plan.data).items()]
    silent = {
        contestant.label: None
        for planned, contestants in zip(plan.data, plan.contestants, strict=True)
        for contestant in contestants
        if planned.task == "classification" and not hasattr(contestant.estimator, "predict_proba")
    }
    if silent:
        lines.append(
            f"No probabilities are given by {', '.join(silent)}: as a final model it would "
            "decide without losses."
        )
    return lines


def design_remarks(description: Mapping[str, Any]) -> list[str]:
    """Return one line for each learner whose factors are not varied in every combination.

    Parameters
    ----------
    description
        The study, as its store has it.
    """
    remarks = []
    for label, design, names in _designs(description):
        caveat = DESIGN_CAVEATS[_CAVEAT_NAMES.get(design.kind, design.kind)]
        if design.kind == "fractional":
            caveat = _fraction_words(_aliases(design, names))
        if design.blocks:
            caveat = f"{caveat} {_block_words(design, names)}"
        remarks.append(f"{label}, {design.kind} design of {', '.join(names)}: {caveat}")
    return remarks


def alias_tables(description: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Return for each learner with a fractional design which effects cannot be told apart.

    Parameters
    ----------
    description
        The study, as its store has it.
    """
    return {
        label: _aliases(design, names).aliases.reset_index()[["effect", "factors", "aliases"]]
        for label, design, names in _designs(description)
        if design.kind == "fractional"
    }


def _designs(description: Mapping[str, Any]) -> Iterator[tuple[str, Design, list[str]]]:
    for learner in description["learners"]:
        design = read_design(learner.get("design") or description.get("design"))
        if learner["factors"] and (design.kind != FULL or design.blocks):
            yield learner_label(learner), design, list(learner["factors"])


def _aliases(design: Design, names: list[str]) -> AliasStructure:
    return alias_structure(
        [Factor(name, (0, 1)) for name in names], resolved_generators(design, len(names))
    )


def _block_words(design: Design, names: list[str]) -> str:
    """Return what the blocks of a design give up."""
    generators = resolved_generators(design, len(names)) if design.kind == "fractional" else ()
    factors = [Factor(name, (0, 1)) for name in names]
    structure = block_structure(factors, block_contrasts(design, len(names)), generators)
    lost = structure.lost["factors"].tolist()
    named = "; ".join(lost[:MOST_PAIRS])
    more = f"; and {len(lost) - MOST_PAIRS} more" if len(lost) > MOST_PAIRS else ""
    return (
        f"It is run in {structure.n_blocks} blocks, whose differences cannot be told from "
        f"{named}{more}."
    )


def _fraction_words(structure: AliasStructure) -> str:
    pairs: dict[frozenset[str], str] = {}
    for effect, row in structure.aliases.iterrows():
        for alias in str(row["aliases"]).split(", "):
            letters = alias.lstrip("-")
            if len(letters) <= 2:
                other = " x ".join(structure.letters[letter] for letter in letters)
                pairs.setdefault(
                    frozenset([str(effect), letters]), f"{row['factors']} from {other}"
                )
    numeral = f"resolution {structure.resolution}"
    if not pairs:
        return (
            f"At {numeral}, effects of one and two factors are told from one another, but not from "
            "interactions of three or more."
        )
    named = "; ".join(list(pairs.values())[:MOST_PAIRS])
    more = f"; and {len(pairs) - MOST_PAIRS} more pairs" if len(pairs) > MOST_PAIRS else ""
    return f"At {numeral}, it cannot tell {named}{more}."
