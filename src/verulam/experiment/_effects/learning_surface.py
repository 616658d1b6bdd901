"""Response against the rows learnt from and the complexity of the learner, from stored runs."""

from collections.abc import Sequence

import pandas as pd

from verulam.base import DataError, unknown_name
from verulam.experiment._store.responses import Responses, StoredContestant, responses
from verulam.experiment._store.results import Results
from verulam.experiment._study.factors import TRAINING_SHARE

#: Fewest levels of complexity, and fewest shares of the rows, that make a surface.
FEWEST = 3


def learning_surface(
    results: Results,
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
    found = responses(results, measure)
    where = found.data[0] if data is None else data
    if where not in found.data:
        raise unknown_name("data set", where, found.data)
    able = [each for each in found.contestants if factor in each.levels]
    names = list(dict.fromkeys(each.learner for each in able))
    if not names:
        known = [name for each in found.contestants for name in each.levels]
        raise unknown_name("factor", factor, list(dict.fromkeys(known)))
    chosen = names[0] if learner is None else learner
    if chosen not in names:
        raise unknown_name("learner with that factor", chosen, names)
    table = surface_table(found, where, [each for each in able if each.learner == chosen], factor)
    if table.shape[0] < 2:
        raise DataError(
            "learning_surface: the study has one training share; give several, such as "
            "training_shares = [0.1, 0.3, 1.0]."
        )
    return table


def surface_table(
    found: Responses, data: str, contestants: Sequence[StoredContestant], factor: str
) -> pd.DataFrame:
    """Return mean responses by training rows and level, averaged over the other factors.

    Parameters
    ----------
    found
        The scores.
    data
        Label of the data set.
    contestants
        Settings of one learner.
    factor
        The factor of the columns.
    """
    levels = {each.name: each.levels[factor] for each in contestants}
    scores = found.scores[found.scores["data"] == data]
    scores = scores[scores["contestant"].isin(levels)]
    scores = scores.assign(level=scores["contestant"].astype(object).map(levels))
    table = scores.pivot_table(index="share", columns="level", values="score", observed=True)
    rows = (table.index * found.training_rows[data]).to_numpy().round().astype(int)
    return table.set_axis(pd.Index(rows, name="training_rows"), axis=0)


def surface_factors(found: Responses) -> list[tuple[str, str]]:
    """Return learners and their factors of numbers that span a surface with the training rows.

    Parameters
    ----------
    found
        The scores.
    """
    if found.shared_out["share"].nunique() < FEWEST:
        return []
    pairs = []
    for learner in dict.fromkeys(each.learner for each in found.contestants):
        settings = [each for each in found.contestants if each.learner == learner]
        for factor in settings[0].levels:
            levels = {each.levels.get(factor) for each in settings}
            numbers = all(
                isinstance(level, int | float) and not isinstance(level, bool) for level in levels
            )
            if factor != TRAINING_SHARE and numbers and len(levels) >= FEWEST:
                pairs.append((learner, factor))
    return pairs
