"""Two columns of a file as points of the plane, read by the readers of `verulam.data`."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import panel as pn

from verulam.base import DataError
from verulam.data import read
from verulam.lab._pool import Outcome
from verulam.lab._shell import Session, upload_limit
from verulam.lab._state import CLASSES, MOST_POINTS, Points
from verulam.lab._widgets import WIDTH, button

SUFFIXES = (".csv", ".parquet", ".feather", ".json", ".jsonl", ".xlsx", ".arff", ".npz", ".gz")


class LimitedDropper(pn.widgets.FileDropper):
    """A place for one file, which refuses pieces of a file that is too large in all.

    The browser refuses such a file itself; this is for what does not come from the page.
    """

    def _process_event(self, event: Any) -> None:
        data = getattr(event, "data", None)
        if isinstance(data, dict):
            pieces = int(data.get("total_chunks", 1))
            if pieces > 1 + upload_limit() // self.chunk_size:
                return
        super()._process_event(event)


def file_dropper(**options: Any) -> LimitedDropper:
    """Return a place to drop a file into, with the limit of the lab.

    Parameters
    ----------
    **options
        Passed on to the widget.
    """
    limit = f"{upload_limit() // 1_000_000}MB"
    return LimitedDropper(
        label="File",
        multiple=False,
        max_file_size=limit,
        max_total_file_size=limit,
        chunk_size=5_000_000,
        previews=[],
        **options,
    )


def dropped_file(
    files: Mapping[str, bytes | str], suffixes: Sequence[str] = SUFFIXES
) -> tuple[str, bytes]:
    """Return name and content of the file that was dropped last, if it is of a fitting kind.

    Parameters
    ----------
    files
        Value of a `file_dropper`, with one file at least.
    suffixes
        Endings of the kinds of files that are accepted.
    """
    name, content = list(files.items())[-1]
    data = content.encode() if isinstance(content, str) else content
    if len(data) > upload_limit():
        raise DataError(f"file must have at most {upload_limit() // 1_000_000} MB.")
    if not name.lower().endswith(tuple(suffixes)):
        raise DataError(f"file must end in one of {', '.join(suffixes)}, not {name!r}.")
    return name, data


def read_upload(name: str, content: bytes) -> pd.DataFrame:
    """Return the table in an uploaded file.

    Parameters
    ----------
    name
        Of the file; its suffix tells the format.
    content
        Its bytes.
    """
    dropped_file({name: content})
    suffixes = "".join(Path(name).suffixes[-2:]).lower()
    # Readers take names of files; the name of the upload is not one of ours.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffixes}"
        path.write_bytes(content)
        return read(path).table


def plane_columns(name: str, content: bytes) -> pd.DataFrame:
    """Return the columns of a file that the plane can use: numbers, and few classes.

    Parameters
    ----------
    name, content
        Of the file.
    """
    table = read_upload(name, content)
    numbers = table.select_dtypes("number").columns
    if len(numbers) < 2:
        raise DataError("file must have two columns of numbers.")
    few = [name for name in table.columns if 2 <= table[name].nunique() <= len(CLASSES)]
    return table[[name for name in table.columns if name in {*numbers, *few}]]


def points_of_table(
    table: pd.DataFrame, first: str, second: str, classes: str | None = None, *, scale: bool = True
) -> Points:
    """Return two columns of a table as points; rows without a value are left out.

    Parameters
    ----------
    table
        With at least two columns of numbers.
    first, second
        Names of the columns.
    classes
        Name of a column of at most five classes, or None.
    scale
        Whether columns are brought to mean 0 and standard deviation 1, as learners that go by
        distances need.
    """
    if first == second:
        raise DataError(f"Across and Up must be two different columns, not twice {first!r}.")
    columns = [first, second, *([classes] if classes else [])]
    rows = table[columns].dropna().head(MOST_POINTS)
    if len(rows) < 2:
        raise DataError(f"{first!r} and {second!r} must have two rows with values.")
    names, places = [], []
    for name in (first, second):
        values = rows[name].to_numpy(np.float64)
        if not np.isfinite(values).all() or np.abs(values).max() > 1e9:
            raise DataError(f"{name!r} must hold finite numbers below a thousand million.")
        deviation = float(values.std())
        scaled = scale and deviation > 0
        values = (values - values.mean()) / deviation if scaled else values
        names.append(f"{name} (scaled)" if scaled else name)
        places.append(tuple(np.round(values, 4).tolist()))
    codes: np.ndarray = np.zeros(len(rows), dtype=np.intp)
    if classes:
        kinds = rows[classes].astype("category")
        if len(kinds.cat.categories) > len(CLASSES):
            raise DataError(
                f"{classes!r} must have at most {len(CLASSES)} classes, "
                f"not {len(kinds.cat.categories)}."
            )
        codes = kinds.cat.codes.to_numpy(np.intp)
    return Points(places[0], places[1], tuple(codes.tolist()), (names[0], names[1]))


class FileLoader:
    """A file, two of its columns and its classes.

    Parameters
    ----------
    session
        Of the tab; a process of its pool reads the file.
    loaded
        Called with the points.
    say
        Called with what is wrong.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> FileLoader(Session(Pool()), print, print).view.width
    316
    """

    def __init__(
        self, session: Session, loaded: Callable[[Points], None], say: Callable[..., None]
    ) -> None:
        self._session, self._loaded, self._say = session, loaded, say
        self._table: pd.DataFrame | None = None
        self.dropper = file_dropper(width=WIDTH, layout="compact")
        self.columns = [pn.widgets.Select(label=name, width=WIDTH) for name in ("Across", "Up")]
        self.classes = pn.widgets.Select(label="Classes", width=WIDTH)
        self.scale = pn.widgets.Checkbox(label="Scale columns", value=True)
        self._choice = pn.Column(
            *self.columns,
            self.classes,
            self.scale,
            button("Show these columns", self._load),
            visible=False,
        )
        self.dropper.param.watch(self._dropped, "value")
        self.view = pn.Column(self.dropper, self._choice, width=WIDTH + 16)

    def _dropped(self, event: Any) -> None:
        if not event.new:
            return
        try:
            name, data = dropped_file(event.new)
        except DataError as error:
            self._say(str(error), wrong=True)
            return
        self._say(f"Reading {name} ...")
        self._session.start("file", plane_columns, name, data, deliver=self._read)

    def _read(self, outcome: Outcome) -> None:
        if outcome.state != "done":
            self._say(outcome.message, wrong=True)
            return
        self._say("")
        self._table = table = outcome.value
        numbers = list(table.select_dtypes("number").columns)
        for widget, name in zip(self.columns, numbers, strict=False):
            widget.options = numbers
            widget.value = name
        few = [name for name in table.columns if 2 <= table[name].nunique() <= len(CLASSES)]
        self.classes.options = ["none", *few]
        self.classes.value = few[-1] if few else "none"
        self._choice.visible = True

    def _load(self) -> None:
        if self._table is None:
            return
        classes = None if self.classes.value == "none" else self.classes.value
        first, second = (widget.value for widget in self.columns)
        try:
            points = points_of_table(self._table, first, second, classes, scale=self.scale.value)
        except (DataError, ValueError) as error:
            self._say(str(error), wrong=True)
            return
        self._loaded(points)
