"""The data sets that come with the library, read when asked for."""

import json
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import pandas as pd

from verulam.base import unknown_name
from verulam.data._dataset import Dataset
from verulam.data._readers.parquet import read_parquet

_FOLDER = files("verulam.data") / "bundled"
_LISTED = (
    *("task", "rows", "columns", "classes", "categorical", "missing"),
    *("title", "source", "licence"),
)


def dataset(name: str) -> Dataset:
    """Return a bundled data set.

    Parameters
    ----------
    name
        One of :func:`dataset_names`.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> dataset("penguins")
    Dataset 'penguins': 344 rows, classification of 'species' (Adelie, Chinstrap, Gentoo)
      categorical: island, sex (11 missing)
      numeric: bill_length_mm (2 missing), bill_depth_mm (2 missing), flipper_length_mm (2 missing),
        body_mass_g (2 missing), year
    """
    entries = _catalogue()
    if name not in entries:
        raise unknown_name(
            "data set", name, entries, hint="verulam.data.list_datasets() shows them all."
        )
    with as_file(_FOLDER / entries[name]["file"]) as path:
        return read_parquet(path)


def dataset_names() -> list[str]:
    """Return the names of the bundled data sets, in order of the alphabet."""
    return list(_catalogue())


def list_datasets() -> pd.DataFrame:
    """Return one row per bundled data set: task, size, kinds of column, source and licence.

    Examples
    --------
    >>> from verulam.data import list_datasets
    >>> list_datasets().loc[["iris", "titanic"], ["task", "rows", "categorical", "missing"]]
                       task  rows  categorical  missing
    name
    iris     classification   150            0        0
    titanic  classification   891            4      867
    """
    rows = [
        {"name": name, **{key: entry[key] for key in _LISTED}}
        for name, entry in _catalogue().items()
    ]
    return pd.DataFrame(rows).set_index("name").fillna({"task": "none"})


@cache
def _catalogue() -> dict[str, dict[str, Any]]:
    return json.loads((_FOLDER / "catalogue.json").read_text("utf-8"))
