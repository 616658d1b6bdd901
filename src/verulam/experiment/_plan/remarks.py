"""What to keep in mind of the designs of a study, and what its fractions confuse."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from verulam.experiment._design.factorial import DESIGN_CAVEATS
from verulam.experiment._design.factors import Factor
from verulam.experiment._design.fractional import AliasStructure, alias_structure
from verulam.experiment._study.designs import FULL, Design, read_design, resolved_generators
from verulam.experiment._study.study import learner_label

#: Pairs of effects that a sentence names; a table has the others.
MOST_PAIRS = 6
_CAVEAT_NAMES = {"one at a time": "one factor at a time", "fractional": "fractional factorial"}


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
        if learner["factors"] and design.kind != FULL:
            yield learner_label(learner), design, list(learner["factors"])


def _aliases(design: Design, names: list[str]) -> AliasStructure:
    return alias_structure(
        [Factor(name, (0, 1)) for name in names], resolved_generators(design, len(names))
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
