"""Predictions of a saved model: for a table, or for a file of any length."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from verulam.base import DataError, draft_of, spreadsheet_table, unknown_name, visible_text
from verulam.data import as_pandas, read, stream
from verulam.experiment._final.card import ModelCard
from verulam.experiment._final.columns import (
    check_names,
    gap_counts,
    gap_remarks,
    model_inputs,
    outside_counts,
    unseen_counts,
)
from verulam.experiment._final.model_file import SavedModel, load_model
from verulam.experiment._speed import PREDICT_CHUNK_ROWS

#: Endings of files that are written as Parquet.
PARQUET = frozenset({".parquet", ".pq"})
#: Endings of files that are not read in parts.
NOT_STREAMED = frozenset(
    {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".json", ".jsonl", ".ndjson", ".feather", ".arrow",
     ".arff", ".npz"}
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class FilePredictions:
    """What was done with a file.

    Attributes
    ----------
    rows
        Number of rows predicted.
    columns
        Names of the columns written.
    notices
        What the user should know: columns left alone, values outside of what the model has seen.
    """

    rows: int
    columns: tuple[str, ...]
    notices: tuple[str, ...]


def predict(
    model: SavedModel | str | Path,
    table: Any,
    *,
    unseen: str = "missing",
    missing: str = "refuse",
    first_row: int = 1,
    source: str = "the table",
) -> pd.DataFrame:
    """Return predictions for the rows of a table, one row for each.

    Parameters
    ----------
    model
        A model, or the path of its file.
    table
        Of pandas, polars or Arrow; has the columns that the model needs, and perhaps others.
    unseen
        Take categories that the model has never seen for "missing" (a model made from complete
        rows takes the commonest instead), or "refuse" them.
    missing
        "refuse" gaps where the model was made from complete rows, or take the "typical" value.
    first_row
        Number of the first row, for messages.
    source
        What to call the table in messages.

    Notes
    -----
    Columns: ``prediction``; ``probability_...`` for each class where the learner gives
    probabilities; where the study said what wrong decisions cost, ``decision`` has the action of
    least expected loss (which may be to reject), and ``risk`` that loss.
    """
    if not isinstance(model, SavedModel):
        model = load_model(model)
    card = model.card
    frame = as_pandas(table)
    if frame is None:
        raise DataError(f"{source}: got {type(table).__name__}; expected a DataFrame.")
    check_names(frame.columns, card, source=source)
    inputs = model_inputs(
        frame, card, unseen=unseen, missing=missing, first_row=first_row, source=source
    )
    return _prediction_table(model, inputs).set_axis(frame.index)


def predict_file(
    model: SavedModel,
    path: str | Path,
    output: str | Path | None = None,
    *,
    keep: Sequence[str] = (),
    unseen: str = "missing",
    missing: str = "refuse",
    chunk_rows: int = PREDICT_CHUNK_ROWS,
) -> FilePredictions:
    """Predict for every row of a file; of CSV and Parquet files a chunk at a time.

    Parameters
    ----------
    model
        The model.
    path
        The file to read.
    output
        The file to write, as Parquet where its name ends in ``.parquet`` or ``.pq`` and as CSV
        where it ends in ``.csv`` or ``.txt`` or has no ending; it appears when all rows are done,
        and not at all after an error. None writes CSV to standard output.
    keep
        Columns of the file to write before the predictions, beside those that told the rows of
        the study apart, such as the number of a customer, which are written where they are there.
    unseen
        Take categories that the model has never seen for "missing" (a model made from complete
        rows takes the commonest instead), or "refuse" them.
    missing
        "refuse" gaps where the model was made from complete rows, or take the "typical" value.
    chunk_rows
        Number of rows that are in memory at a time.
    """
    path = Path(path)
    if output is not None and Path(output).resolve() == path.resolve():
        raise DataError(f"output: {output} is the file that is read; name another.")
    _check_form(output)
    source: Any = _WholeTable(path) if _is_read_whole(path) else stream(path).source
    card = model.card
    extra = check_names(source.names, card, source=path.name)
    for name in keep:
        if name not in source.names:
            raise unknown_name("column", name, source.names)
        if name in _output_columns(model):
            raise DataError(
                f"keep: {name!r} is also a column of the predictions; give it another name in "
                f"{path.name}."
            )
    taken = _output_columns(model)
    identifiers = [
        column.name
        for column in card.columns
        if column.role == "identifier" and column.name in source.names and column.name not in taken
    ]
    keep = list(dict.fromkeys([*identifiers, *keep]))
    source.check()
    read_columns = dict.fromkeys([*keep, *(column.name for column in card.inputs)])
    # Categories are compared as they are written, and so are numbers such as 1.200 for 1200: what
    # the parser makes of them would differ.
    words = {name: np.dtype(object) for name in read_columns if not _is_plain_number(card, name)}
    rows, columns = 0, tuple(_output_columns(model, keep))
    outside = outside_counts(pd.DataFrame(columns=[c.name for c in card.inputs], dtype=float), card)
    strangers: Counter[str] = Counter()
    gaps: Counter[str] = Counter()
    with _opened(output, columns) as write:
        for frame in source.frames(list(read_columns), chunk_rows, words):
            frame = frame.reset_index(drop=True)
            inputs = model_inputs(
                frame, card, unseen=unseen, missing=missing, first_row=rows + 1, source=path.name
            )
            outside += outside_counts(inputs, card)
            strangers.update(unseen_counts(frame, card))
            gaps.update(gap_counts(frame, card))
            write(pd.concat([frame[list(keep)], _prediction_table(model, inputs)], axis=1))
            rows += len(frame)
    notices = (
        *_notices(extra, keep, outside, card),
        *_strangers(strangers, card),
        *gap_remarks(gaps),
    )
    return FilePredictions(rows, columns, notices)


class _WholeTable:
    """A file of a format that is read as a whole, in the place of one that is read in parts."""

    def __init__(self, path: Path) -> None:
        self._table = read(path).table
        self.names = [str(name) for name in self._table.columns]

    def check(self) -> None:
        """Do nothing: what cannot be read has been refused."""

    def frames(self, columns: Sequence[str], rows: int, words: Any) -> Iterator[pd.DataFrame]:
        """Yield some rows of some columns at a time, with the types that the file gave them."""
        for start in range(0, len(self._table), rows):
            yield self._table[list(columns)].iloc[start : start + rows]


def _is_read_whole(path: Path) -> bool:
    compressed = path.suffix.lower() in {".gz", ".bz2", ".xz", ".zst", ".zip"}
    return (Path(path.stem) if compressed else path).suffix.lower() in NOT_STREAMED


def _strangers(counts: Mapping[str, int], card: ModelCard) -> Iterator[str]:
    """Yield what was done with categories that the model has never seen."""
    instead = "missing" if card.accepts_missing else "the commonest one"
    for name, count in counts.items():
        if count:
            one = count == 1
            yield (
                f"{count} {'value' if one else 'values'} of {name!r} "
                f"{'is a category' if one else 'are categories'} that the model has never seen, "
                f'taken for {instead}; unseen="refuse" (--unseen refuse) stops there.'
            )


def _check_form(output: str | Path | None) -> None:
    """Refuse to write CSV into a file whose name promises something else."""
    suffix = "" if output is None else Path(output).suffix.lower()
    if suffix not in {"", ".csv", ".txt", *PARQUET}:
        raise DataError(
            f"output: {output} cannot be written as {suffix}; predictions are CSV (.csv) or "
            "Parquet (.parquet)."
        )


def _prediction_table(model: SavedModel, inputs: pd.DataFrame) -> pd.DataFrame:
    card, estimator = model.card, model.estimator
    X = inputs.to_numpy(dtype=np.float64) if card.as_array else inputs
    names = _output_columns(model)
    if not len(inputs):
        return pd.DataFrame(columns=names)
    table = pd.DataFrame({"prediction": np.asarray(estimator.predict(X))})
    if not _has_probabilities(model):
        return table
    places = [list(estimator.classes_).index(label) for label in card.classes]
    probabilities = np.asarray(estimator.predict_proba(X))[:, places]
    by_class = [f"probability_{label}" for label in card.classes]
    table = pd.concat([table, pd.DataFrame(probabilities, columns=by_class)], axis=1)
    losses = card.loss_table()
    if losses is not None:
        best = losses.best(probabilities)
        table["decision"] = losses.actions[best]
        table["risk"] = losses.risks(probabilities)[np.arange(len(best)), best]
    return table


def _has_probabilities(model: SavedModel) -> bool:
    return bool(model.card.classes) and hasattr(model.estimator, "predict_proba")


def _output_columns(model: SavedModel, keep: Sequence[str] = ()) -> list[str]:
    names = [*keep, "prediction"]
    if _has_probabilities(model):
        names += [f"probability_{label}" for label in model.card.classes]
        names += ["decision", "risk"] if model.card.losses is not None else []
    return names


def _is_plain_number(card: ModelCard, name: str) -> bool:
    return any(c.name == name and c.kind == "numeric" and not c.form for c in card.inputs)


@contextmanager
def _opened(output: str | Path | None, columns: Sequence[str]) -> Iterator[Any]:
    """Give a function that writes tables one after the other to where they are wanted."""
    if output is None:
        with _csv_writer(sys.stdout, columns) as write:
            yield write
        return
    path = Path(output)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise DataError(f"output: {path} cannot be written; name a file in a folder that exists.")
    with draft_of(path) as draft:
        if path.suffix.lower() in PARQUET:
            with _parquet_writer(draft, columns) as write:
                yield write
            return
        with (
            draft.open("w", encoding="utf-8", newline="") as file,
            _csv_writer(file, columns) as write,
        ):
            yield write


@contextmanager
def _csv_writer(file: IO[str], columns: Sequence[str]) -> Iterator[Any]:
    """Give a function that writes tables, the names before the first one that was predicted."""
    begun = False

    def write(table: pd.DataFrame) -> None:
        nonlocal begun
        text = spreadsheet_table(table).to_csv(index=False, header=not begun, lineterminator="\n")
        file.write(visible_text(text) if file.isatty() else text)
        begun = True

    yield write
    if not begun:
        write(pd.DataFrame(columns=list(columns)))


@contextmanager
def _parquet_writer(path: Path, columns: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet

    writer: Any = None

    def write(table: pd.DataFrame) -> None:
        nonlocal writer
        content = pa.Table.from_pandas(
            table, schema=writer.schema if writer else None, preserve_index=False
        )
        writer = writer or pyarrow.parquet.ParquetWriter(path, content.schema)
        writer.write_table(content)

    try:
        yield write
        if writer is None:
            write(pd.DataFrame(columns=list(columns)))
    finally:
        if writer is not None:
            writer.close()


def _notices(
    extra: Sequence[str], keep: Sequence[str], outside: pd.Series, card: ModelCard
) -> tuple[str, ...]:
    lines = []
    unknown = [name for name in extra if name not in keep]
    if unknown:
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        lines.append(
            f"Columns that the model does not know are left alone: {', '.join(unknown[:10])}{more}."
        )
    ranges = {column.name: column.values for column in card.inputs}
    lines += [
        f"{count} {'value' if count == 1 else 'values'} of {name!r} outside of what the model has "
        f"seen ({ranges[str(name)]})."
        for name, count in outside.items()
        if count
    ]
    return tuple(lines)
