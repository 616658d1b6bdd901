"""The catalogue as a table."""

from collections.abc import Sequence

import pandas as pd

from verulam.base import Abilities, unknown_name
from verulam.catalogue._entries import entries

_COLUMNS = ["name", "task", "tags", "interpretability", "source", "section", "summary"]


def learners(task: str | None = None, tags: Sequence[str] = ()) -> pd.DataFrame:
    """Return one row per learner: name, task, tags, source, section, summary.

    Interpretability is graded: 3 where the fitted model can be read as a whole, 2 where each
    prediction can be explained, 1 where neither.

    Parameters
    ----------
    task
        Keep the learners of one task, such as "classification".
    tags
        Keep the learners with all of these abilities, such as ("missing", "categorical").

    Examples
    --------
    >>> table = learners(task="outliers")
    >>> "isolation forest" in set(table["name"])
    True
    """
    for tag in tags:
        if tag not in Abilities.names():
            raise unknown_name("tag", tag, Abilities.names())
    rows = []
    tasks = set()
    for item in entries():
        able = item.abilities
        tasks.add(able.task)
        if set(tags) <= set(able.tags) and task in (None, able.task):
            rows.append(
                (
                    item.name,
                    able.task,
                    ", ".join(able.tags),
                    item.interpretability,
                    item.source,
                    item.section,
                    item.summary,
                )
            )
    if task is not None and task not in tasks:
        raise unknown_name("task", task, sorted(tasks))
    return pd.DataFrame(rows, columns=_COLUMNS)
