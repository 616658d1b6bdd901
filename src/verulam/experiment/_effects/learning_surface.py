"""Response against the rows learnt from and the complexity of the learner, from stored runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from verulam.base import DataError, unknown_name
from verulam.experiment._store.responses import Responses, StoredContestant, responses
from verulam.experiment._study.factors import TRAINING_SHARE

if TYPE_CHECKING:
    from verulam.experiment._store.results import Results

#: Fewest levels of complexity, and fewest shares of the rows, that make a surface.
FEWEST_LEVELS = 3


def learning_surface(
    results: "Results",
    factor: str,
    *,
    learner: str | None = None,
    data: str | None = None,
    measure: str | None = None,
) -> pd.DataFrame:
    """Return the mean response for each number of training rows and each level of a factor.

    Parameters
    ----------
    results
        A study with several `training_shares` and a learner of which the factor is varied.
    factor
        What makes the learner more complex, such as the degree of a polynomial.
    learner
        Which learner; None takes the first that has the factor.
    data
        Which data set; None takes the first.
    measure
        What is measured; None takes the first measure of the study.

    Notes
    -----
    The triple trade-off (SIT1305 I): the error on new rows falls as the rows :math:`N` that are
    learnt from grow, and first falls and then rises with the complexity :math:`c(H)` of the
    hypothesis class.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, run
    >>> tree = LearnerChoice("decision tree", label="tree", factors={"max_depth": [1, 2, 4]})
    >>> study = Study("trade-off", [DataChoice("iris")], [tree], training_shares=[0.2, 0.5, 1.0],
    ...               resampling="2-fold")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     surface = learning_surface(results, "max_depth")
    >>> surface.shape, list(surface.index), list(surface.columns)
    ((3, 3), [15, 38, 75], [1, 2, 4])
    """
    scores = responses(results, measure)
    where = scores.data[0] if data is None else data
    if where not in scores.data:
        raise unknown_name("data set", where, scores.data)
    able = [contestant for contestant in scores.contestants if factor in contestant.levels]
    names = list(dict.fromkeys(contestant.learner for contestant in able))
    if not names:
        known = [name for contestant in scores.contestants for name in contestant.levels]
        raise unknown_name("factor", factor, list(dict.fromkeys(known)))
    shown = names[0] if learner is None else learner
    if shown not in names:
        raise unknown_name("learner with that factor", shown, names)
    table = surface_table(
        scores, where, [contestant for contestant in able if contestant.learner == shown], factor
    )
    if table.shape[0] < 2:
        raise DataError(
            "learning_surface: the study has one training share; give several, such as "
            "training_shares = [0.1, 0.3, 1.0]."
        )
    return table


def surface_table(
    responses: Responses, data: str, contestants: Sequence[StoredContestant], factor: str
) -> pd.DataFrame:
    """Return mean responses by training rows and level, averaged over the other factors.

    Parameters
    ----------
    responses
        The scores.
    data
        Label of the data set.
    contestants
        Settings of one learner.
    factor
        The factor of the columns.
    """
    levels = {contestant.name: contestant.levels[factor] for contestant in contestants}
    scores = responses.scores[responses.scores["data"] == data]
    scores = scores[scores["contestant"].isin(levels)]
    scores = scores.assign(level=scores["contestant"].astype(object).map(levels))
    table = scores.pivot_table(index="share", columns="level", values="score", observed=True)
    # Shares mean different numbers of rows on different data sets; rows can be read off an axis.
    rows = (table.index * responses.training_rows[data]).to_numpy().round().astype(int)
    return table.set_axis(pd.Index(rows, name="training_rows"), axis=0)


def surface_factors(responses: Responses) -> list[tuple[str, str]]:
    """Return learners and their factors of numbers that span a surface with the training rows.

    Parameters
    ----------
    responses
        The scores.
    """
    pairs = []
    for learner in responses.learners:
        settings = responses.settings_of(learner)
        for factor in settings[0].levels:
            levels = {setting.levels.get(factor) for setting in settings}
            numbers = all(
                isinstance(level, int | float) and not isinstance(level, bool) for level in levels
            )
            if factor != TRAINING_SHARE and numbers and len(levels) >= FEWEST_LEVELS:
                pairs.append((learner, factor))
    return pairs
