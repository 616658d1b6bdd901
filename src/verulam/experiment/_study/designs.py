"""The design of a study: which settings of a learner's factors are run."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from verulam.base import DataError, nearest_names
from verulam.design import (
    Factor,
    block_numbers,
    block_structure,
    box_behnken,
    central_composite,
    find_block_contrasts,
    find_generators,
    fractional_factorial,
    latin_hypercube,
)
from verulam.experiment._tuning.space import Setting, search_space, setting_key

FULL, SEQUENTIAL, HYPERCUBE = "full factorial", "sequential", "latin hypercube"
#: Settings of a Latin hypercube for every factor, where it does not say.
SETTINGS_PER_FACTOR = 10
#: The keys that each design takes beside its kind.
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    FULL: ("blocks",),
    "best guess": ("base", "steps"),
    "one at a time": ("base",),
    "fractional": ("generators", "resolution", "blocks"),
    "central composite": ("form",),
    "box-behnken": (),
    HYPERCUBE: ("settings", "seed"),
    SEQUENTIAL: ("settings", "added_settings"),
}
_LONG_NAMES = {
    "one factor at a time": "one at a time",
    "fractional factorial": "fractional",
    "sequential quadratic": SEQUENTIAL,
}
_Form = Literal["faced", "inscribed", "circumscribed"]
_FORMS = get_args(_Form)


@dataclass(frozen=True)
class Design:
    """Which settings of its factors a learner is run with.

    Attributes
    ----------
    kind
        "full factorial", "best guess", "one at a time", "fractional", "central composite",
        "box-behnken", "latin hypercube" or "sequential".
    base
        Level of some factors at the start of a best guess, or while another factor is varied;
        the first level of the others.
    steps
        Of a best guess: what each step changed.
    generators
        Of a fraction, such as "D=ABC"; letters stand for the factors in order.
    resolution
        Of a fraction without generators: the smallest that has it is taken. None takes 4.
    form
        Of a central composite: "faced" and "inscribed" stay within the range of every factor,
        "circumscribed" goes beyond it.
    settings
        Of a sequential design: how many settings it may run in all; None takes 20. It starts
        with both ends and the middle of one range, or a faced central composite of several, and
        adds settings where the fitted quadratic is best, until nothing improves. Of a Latin
        hypercube: how many settings it has; None takes ten for every factor.
    added_settings
        Of a sequential design: settings that it has added so far.
    blocks
        Of a full factorial or a fraction of two levels each: the effects, such as "ABC", whose
        signs put the settings in blocks, or the number of blocks. Blocks are run one after the
        other.
    seed
        Of a Latin hypercube: the same seed gives the same settings.

    Examples
    --------
    >>> half = Design("fractional", generators=["C=AB"])
    >>> factors = {"n_neighbors": [1, 9], "p": [1, 2], "weights": ["uniform", "distance"]}
    >>> for setting in half.settings_for(factors):
    ...     print(setting)
    {'n_neighbors': 1, 'p': 1, 'weights': 'distance'}
    {'n_neighbors': 1, 'p': 2, 'weights': 'uniform'}
    {'n_neighbors': 9, 'p': 1, 'weights': 'uniform'}
    {'n_neighbors': 9, 'p': 2, 'weights': 'distance'}
    """

    kind: str = FULL
    base: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[Mapping[str, Any]] = ()
    generators: Sequence[str] = ()
    resolution: int | None = None
    form: _Form = "faced"
    settings: int | None = None
    added_settings: Sequence[Mapping[str, Any]] = ()
    blocks: Sequence[str] | int = ()
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it as a study file has it, without what was left out."""
        plain = Design()
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if entry.name == "kind" or getattr(self, entry.name) != getattr(plain, entry.name)
        }

    def settings_for(
        self, factors: Mapping[str, Any], *, key: str = "design", where: str = "factors"
    ) -> list[Setting]:
        """Return the settings of some factors that the design runs, each once.

        Parameters
        ----------
        factors
            For each factor its levels, or a range: a mapping with `low` and `high`, perhaps
            `scale` ("linear" or "log") and `whole`. Designs of levels take both ends of a range,
            those of surfaces the range of numeric levels.
        key, where
            What design and factors are called, for messages.
        """
        if not factors:
            return [{}]
        for name, values in factors.items():
            if not isinstance(values, Mapping) and not _is_list(values):
                raise DataError(
                    f"{where}.{name}: expected a list of levels, or a table with low and high."
                )
        for name in {name for table in (self.base, *self.steps) for name in table}:
            if name not in factors:
                raise DataError(f"{key}: {name!r} is not a factor; there are {', '.join(factors)}.")
        if self.blocks:
            _refuse_other_levels(_levels(factors, where), "a design in blocks", where)
            block_contrasts(self, len(factors), key)
        if self.kind == SEQUENTIAL:
            settings = [*_surface(self, factors, key, where), *map(dict, self.added_settings)]
        elif self.kind in ("central composite", "box-behnken"):
            settings = _surface(self, factors, key, where)
        elif self.kind == HYPERCUBE:
            settings = _hypercube(self, factors, where)
        else:
            settings = _combined(self, _levels(factors, where), key, where)
        if self.kind == FULL:  # a level that is there twice is a mistake, and the plan says so
            return settings
        return list({setting_key(setting): setting for setting in settings}.values())

    def blocks_for(
        self, factors: Mapping[str, Any], *, key: str = "design", where: str = "factors"
    ) -> list[int]:
        """Return the block of each setting, from 1; nothing where the design has no blocks.

        Parameters
        ----------
        factors
            As of `settings_for`.
        key, where
            What design and factors are called, for messages.
        """
        if not self.blocks or not factors:
            return []
        levels = _levels(factors, where)
        contrasts = block_contrasts(self, len(levels), key)
        settings = self.settings_for(factors, key=key, where=where)
        # Levels may be of any kind, lists included: they are compared by what they look like.
        codes = np.array(
            [
                [1.0 if repr(setting[name]) == repr(levels[name][1]) else -1.0 for name in levels]
                for setting in settings
            ]
        )
        return [int(number) for number in block_numbers(codes, contrasts)]


def read_design(design: str | Mapping[str, Any] | Design | None, key: str = "design") -> Design:
    """Return the design that a word or a table of a study file stands for.

    Parameters
    ----------
    design
        A kind, a mapping with `kind` and the other attributes, or a design; None for the full
        factorial.
    key
        What it is called, for messages.

    Examples
    --------
    >>> read_design("one factor at a time").kind
    'one at a time'
    """
    if isinstance(design, Design):
        design = design.to_dict()
    table = {"kind": design or FULL} if design is None or isinstance(design, str) else dict(design)
    if "kind" not in table:
        raise DataError(f"{key}.kind: missing; expected one of {', '.join(_OPTIONS)}.")
    kind = _LONG_NAMES.get(table["kind"], table["kind"])
    if kind not in _OPTIONS:
        raise DataError(f"{key}: {kind!r}; expected one of {', '.join(_OPTIONS)}.")
    for name in table:
        if name != "kind" and name not in _OPTIONS[kind]:
            nearest = nearest_names(name, ("kind", *_OPTIONS[kind]), count=1)[0]
            raise DataError(f"{key}.{name}: no such key of {kind!r}. Nearest: {nearest}.")
    read = Design(**{**table, "kind": kind})
    _check(read, key)
    return read


def without_added_settings(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a study without the settings that its searches added.

    Parameters
    ----------
    description
        The study, as its store has it.
    """
    plain = deepcopy(dict(description))
    # A design stands with the study, with a learner, or with both.
    for part in [plain, *plain.get("learners", ())]:
        if isinstance(part.get("design"), dict):
            part["design"].pop("added_settings", None)
    return plain


def resolved_generators(design: Design, n_factors: int, key: str = "design") -> tuple[str, ...]:
    """Return the generators of a fraction, as it says, or those of its resolution."""
    if design.generators:
        return tuple(design.generators)
    try:
        return find_generators(n_factors, design.resolution or 4)
    except DataError as error:
        raise DataError(f"{key}.{error}") from error


def block_contrasts(design: Design, n_factors: int, key: str = "design") -> tuple[str, ...]:
    """Return the effects that the blocks of a design give up, as it says, or the best for them.

    Parameters
    ----------
    design
        A design in blocks.
    n_factors
        Number of factors.
    key
        What the design is called, for messages.
    """
    fraction = design.kind == "fractional"
    try:
        if not isinstance(design.blocks, int):
            contrasts = tuple(design.blocks)
        elif fraction:
            raise DataError("a fraction takes the effects that are given up, such as ['AB'].")
        else:
            contrasts = find_block_contrasts(n_factors, design.blocks)
        places = [Factor(f"factor {place}", (0, 1)) for place in range(n_factors)]
        generators = resolved_generators(design, n_factors, key) if fraction else ()
        block_structure(places, contrasts, generators)
    except DataError as error:
        raise DataError(f"{key}.blocks: {error}") from error
    return contrasts


def _check(design: Design, key: str) -> None:
    if not isinstance(design.base, Mapping):
        raise DataError(f"{key}.base: {design.base!r}; expected a table with levels of factors.")
    if not _is_list(design.steps, empty=True) or not all(
        isinstance(step, Mapping) for step in design.steps
    ):
        raise DataError(f"{key}.steps: {design.steps!r}; expected a list of tables.")
    if not _is_list(design.generators, empty=True) or not all(
        isinstance(text, str) for text in design.generators
    ):
        raise DataError(f'{key}.generators: {design.generators!r}; expected such as ["D=ABC"].')
    if design.generators and design.resolution is not None:
        raise DataError(f"{key}.resolution: follows from the generators; give one of the two.")
    words = not isinstance(design.blocks, int) and _is_list(design.blocks, empty=True)
    if isinstance(design.blocks, bool) or not (
        isinstance(design.blocks, int) or (words and all(isinstance(w, str) for w in design.blocks))
    ):
        raise DataError(
            f'{key}.blocks: {design.blocks!r}; expected such as ["ABC"], or 2, 4 or 8 blocks.'
        )
    if isinstance(design.seed, bool) or not isinstance(design.seed, int) or design.seed < 0:
        raise DataError(f"{key}.seed: {design.seed!r}; expected a whole number of at least 0.")
    count = design.settings
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 3):
        raise DataError(f"{key}.settings: {count!r}; expected a whole number of at least 3.")
    if design.form not in _FORMS:
        raise DataError(f"{key}.form: {design.form!r}; expected one of {', '.join(_FORMS)}.")


def _is_list(values: Any, *, empty: bool = False) -> bool:
    if isinstance(values, str | Mapping) or not hasattr(values, "__len__"):
        return False
    return empty or len(values) > 0


def _levels(factors: Mapping[str, Any], where: str) -> dict[str, Sequence[Any]]:
    """Return the levels of each factor as they were given, of ranges both ends."""
    return {
        name: values if _is_list(values) else search_space({name: values}, where)[0].levels
        for name, values in factors.items()
    }


def _base(design: Design, levels: Mapping[str, Sequence[Any]]) -> Setting:
    return {name: design.base.get(name, choices[0]) for name, choices in levels.items()}


def _combined(
    design: Design, levels: Mapping[str, Sequence[Any]], key: str, where: str
) -> list[Setting]:
    """Return the settings of a design that takes levels as they are."""
    match design.kind:
        case "best guess":
            settings = [_base(design, levels)]
            for step in design.steps:
                settings.append({**settings[-1], **step})
            return settings
        case "one at a time":
            base = _base(design, levels)
            varied = [
                {**base, name: level} for name, choices in levels.items() for level in choices
            ]
            return [base, *varied]
        case "fractional":
            return _fraction(design, levels, key, where)
        case _:
            return [
                dict(zip(levels, combination, strict=True))
                for combination in product(*levels.values())
            ]


def _fraction(
    design: Design, levels: Mapping[str, Sequence[Any]], key: str, where: str
) -> list[Setting]:
    _refuse_other_levels(levels, "a fractional design", where)
    generators = resolved_generators(design, len(levels), key)
    # Places of levels, since a table would not keep levels of every kind as they are.
    places = [Factor(name, (0, 1)) for name in levels]
    try:
        table = fractional_factorial(places, generators)
    except ValueError as error:
        raise DataError(f"{key}.{error}") from error
    return [
        {name: choices[row[place]] for place, (name, choices) in enumerate(levels.items())}
        for row in table.to_numpy().tolist()
    ]


def _refuse_other_levels(levels: Mapping[str, Sequence[Any]], what: str, where: str) -> None:
    for name, choices in levels.items():
        if len(choices) != 2:
            raise DataError(
                f"{where}.{name}: {what} takes two levels, or a range; got {len(choices)}."
            )


def _hypercube(design: Design, factors: Mapping[str, Any], where: str) -> list[Setting]:
    """Return settings spread over ranges, and over the levels of lists."""
    space = search_space(
        {name: list(values) if _is_list(values) else values for name, values in factors.items()},
        where,
    )
    # Places of levels, since a table would not keep levels of every kind as they are.
    places = [
        Factor(factor.name, range(len(factor.levels))) if factor.kind == "categorical" else factor
        for factor in space
    ]
    count = design.settings or SETTINGS_PER_FACTOR * len(space)
    rows = latin_hypercube(places, count, design.seed).to_dict("records")
    return [
        {
            factor.name: factor.levels[row[factor.name]]
            if factor.kind == "categorical"
            else _readable(np.asarray(row[factor.name]).item(), factor)
            for factor in space
        }
        for row in rows
    ]


def design_ranges(design: Design, factors: Mapping[str, Any], where: str) -> list[Factor]:
    """Return the ranges of numbers that a design lays its settings out in.

    Parameters
    ----------
    design
        The design, of a kind that needs them.
    factors
        Ranges, or lists of numbers.
    where
        What the factors are called, for messages.
    """
    return [_range(design.kind, name, levels, where) for name, levels in factors.items()]


def readable_setting(setting: Mapping[str, Any], factors: Sequence[Factor]) -> Setting:
    """Return a setting of plain numbers in six digits, the same on every machine."""
    return {
        factor.name: _readable(np.asarray(setting[factor.name]).item(), factor)
        for factor in factors
    }


def _surface(design: Design, factors: Mapping[str, Any], key: str, where: str) -> list[Setting]:
    ranges = design_ranges(design, factors, where)
    # The centre once: every setting is repeated by the splits, which tell the pure error.
    try:
        if design.kind == "box-behnken":
            table = box_behnken(ranges, centre_points=1)
        else:
            table = central_composite(ranges, design.form, centre_points=1)
    except ValueError as error:
        raise DataError(f"{key}: {error}") from error
    columns = {
        factor.name: [_readable(value, factor) for value in table[factor.name].tolist()]
        for factor in ranges
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _range(kind: str, name: str, levels: Any, where: str) -> Factor:
    factor = search_space({name: list(levels) if _is_list(levels) else levels}, where)[0]
    if factor.kind == "categorical":
        whole = all(isinstance(level, int) for level in factor.levels)
        try:
            factor = Factor(name, factor.levels, "numeric", whole=whole)
        except ValueError:
            raise DataError(
                f"{where}.{name}: {list(factor.levels)!r}; a {kind} design takes numbers, or a "
                "table with low and high."
            ) from None
    if factor.low == factor.high:
        raise DataError(f"{where}.{name}: {factor.low!r} alone; a {kind} design takes a range.")
    if len(set(factor.decoded([-1.0, 0.0, 1.0]).tolist())) < 3:
        raise DataError(
            f"{where}.{name}: no whole number between {factor.low!r} and {factor.high!r}; a "
            f"{kind} design takes three levels."
        )
    return factor


def _readable(value: float, factor: Factor) -> float:
    """Return a value in six digits, the same on every machine; ends stay as they were given."""
    if factor.whole or value in (factor.low, factor.high):
        return value
    return float(f"{value:.6g}")
