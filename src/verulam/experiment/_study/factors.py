"""Factors of a learner that are no parameters of it: data set, preparation, rows, and scales."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, clone
from verulam.design import mean_neighbour_distance
from verulam.experiment._preparation.preparation import PREPARATIONS, is_preparation
from verulam.experiment._preparation.reductions import REDUCTIONS

#: Names that stand for parts of the study, wherever a learner's factors are named.
DATA_SET, PREPARATION, TRAINING_SHARE = "data_set", "preparation", "training_share"
STUDY_FACTORS = (DATA_SET, PREPARATION, TRAINING_SHARE)
#: What the levels of a factor may be multiples of.
SCALES = ("neighbour distance",)
_SCALED_KEYS = ("multiples", "of")
#: More rows than this are not needed to know the distance between neighbours.
MOST_ROWS = 5000


@dataclass(frozen=True)
class SettingParts:
    """A setting of a design, what is for the learner apart from what is for the study.

    Attributes
    ----------
    parameters
        Levels that the learner itself is given.
    data
        The data set that it is for; None for all.
    preparation
        How the table is prepared; None where the study says.
    share
        Part of the training rows; None where the study says.
    """

    parameters: dict[str, Any]
    data: str | None = None
    preparation: str | None = None
    share: float | None = None


def setting_parts(setting: Mapping[str, Any]) -> SettingParts:
    """Return a setting with what belongs to the study apart from what belongs to the learner.

    Parameters
    ----------
    setting
        The level of each factor.

    Examples
    --------
    >>> parts = setting_parts({"C": 10, "preparation": "ranks", "training_share": 0.5})
    >>> parts.parameters, parts.preparation, parts.share
    ({'C': 10}, 'ranks', 0.5)
    """
    return SettingParts(
        {name: level for name, level in setting.items() if name not in STUDY_FACTORS},
        setting.get(DATA_SET),
        setting.get(PREPARATION),
        setting.get(TRAINING_SHARE),
    )


def check_study_factors(settings: Sequence[Mapping[str, Any]], where: str) -> None:
    """Raise where a level of a preparation or of a training share cannot be one.

    Parameters
    ----------
    settings
        What a design runs.
    where
        What the factors are called, for messages.
    """
    for setting in map(setting_parts, settings):
        if setting.preparation is not None and not is_preparation(setting.preparation):
            known = ", ".join([*PREPARATIONS, *REDUCTIONS])
            raise DataError(
                f"{where}.{PREPARATION}: {setting.preparation!r}; expected some of {known}."
            )
        share = setting.share
        if share is not None and not (
            isinstance(share, int | float) and not isinstance(share, bool) and 0.0 < share <= 1.0
        ):
            raise DataError(
                f"{where}.{TRAINING_SHARE}: {share!r}; expected numbers above 0, up to 1."
            )


def check_data_sets(settings: Sequence[Mapping[str, Any]], labels: Sequence[str], key: str) -> None:
    """Raise where a design names a data set that the study does not have.

    Parameters
    ----------
    settings
        What the design runs.
    labels
        What the data sets are called.
    key
        What the factor is called, for messages.
    """
    for setting in settings:
        if DATA_SET in setting and setting[DATA_SET] not in labels:
            raise DataError(
                f"{key}: the study has no data set {setting[DATA_SET]!r}; it has "
                f"{', '.join(labels)}."
            )


def plain_factors(factors: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return factors with the multiples of a scale as levels, under a name that says so.

    Parameters
    ----------
    factors
        For each factor its levels, a range, or multiples of a scale of the data:
        ``{"multiples": [0.5, 1, 2], "of": "neighbour distance"}``.
    where
        What they are called, for messages.

    Examples
    --------
    >>> factors = {"bandwidth": {"multiples": [0.5, 1], "of": "neighbour distance"}, "k": [1, 3]}
    >>> plain_factors(factors, "factors")
    {'bandwidth in neighbour distances': [0.5, 1], 'k': [1, 3]}
    """
    plain = {}
    for name, levels in factors.items():
        if not isinstance(levels, Mapping) or not set(levels) & set(_SCALED_KEYS):
            plain[name] = levels
            continue
        for key in levels:
            if key not in _SCALED_KEYS:
                raise DataError(f"{where}.{name}.{key}: no such key beside multiples and of.")
        scale, multiples = levels.get("of", SCALES[0]), levels.get("multiples")
        if scale not in SCALES:
            raise DataError(f"{where}.{name}.of: {scale!r}; expected {' or '.join(SCALES)}.")
        if (
            not isinstance(multiples, Sequence)
            or not multiples
            or not all(map(_above_0, multiples))
        ):
            raise DataError(
                f"{where}.{name}.multiples: {multiples!r}; expected a list of numbers above 0."
            )
        plain[f"{name}{_SUFFIX}"] = list(multiples)
    return plain


_SUFFIX = f" in {SCALES[0]}s"


def scaled_parameters(
    parameters: Mapping[str, Any], inputs: pd.DataFrame, preparation: Any
) -> dict[str, Any]:
    """Return parameters with multiples of a scale turned into the units of a data set.

    Parameters
    ----------
    parameters
        Levels, some of them under the names that `plain_factors` gives.
    inputs
        What learners see, without the locked rows.
    preparation
        A transformer that comes before the learner, whose output has the scale; None for none.

    Notes
    -----
    Alpaydin 19.5: levels that are multiples of a statistic of the data mean the same for all data
    sets, whatever their units.
    """
    multiples = [name for name in parameters if name.endswith(_SUFFIX)]
    if not multiples:
        return dict(parameters)
    scale = _neighbour_distance(inputs, preparation)
    return {
        # Six digits, so that the last bits of a distance do not make another run of it.
        name.removesuffix(_SUFFIX): float(f"{level * scale:.6g}") if name in multiples else level
        for name, level in parameters.items()
    }


def _neighbour_distance(inputs: pd.DataFrame, preparation: Any) -> float:
    if len(inputs) > MOST_ROWS:
        places = np.linspace(0, len(inputs) - 1, MOST_ROWS).astype(int)
        inputs = inputs.iloc[places]
    seen: Any = inputs
    if preparation is not None:
        seen = clone(preparation).fit_transform(inputs)
    try:
        numbers = np.asarray(seen, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "factors: multiples of the neighbour distance need numbers, but the learner is given "
            "the table as it is, with its categories."
        ) from None
    return mean_neighbour_distance(numbers)


def _above_0(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
