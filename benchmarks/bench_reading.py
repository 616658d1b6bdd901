"""Reading CSV files with their types worked out, beside the quickest readers."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv

from benchmarks._timing import Race, print_races, race
from verulam.data import read_csv
from verulam.numerics import njit

assert njit, "loops read files where they are loaded, as they are with any learner"
#: Rows and columns.
SIZES = ((10_000, 10), (200_000, 10), (200, 5_000))


def run() -> None:
    """Print the races at three sizes."""
    with tempfile.TemporaryDirectory() as folder:
        races = [line for size in SIZES for line in _races(Path(folder, "table.csv"), *size)]
    print_races("Reading CSV", races)


def _races(path: Path, n_rows: int, n_columns: int) -> list[Race]:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, n_columns - 1)).round(5)
    table = pd.DataFrame(numbers, columns=[f"x{place}" for place in range(n_columns - 1)])
    table["colour"] = rng.choice(["blue", "green", "red"], n_rows)
    table.to_csv(path, index=False)
    work = f"{n_rows:,} x {n_columns:,}"
    peers = {
        "pandas": partial(pd.read_csv, path),
        "PyArrow": lambda: pyarrow.csv.read_csv(path).to_pandas(),
    }
    return [
        race(work, partial(read_csv, path), name, theirs, same=_same)
        for name, theirs in peers.items()
    ]


def _same(ours: Any, theirs: pd.DataFrame) -> None:
    tables = [table.astype({"colour": str}) for table in (ours.table, theirs)]
    pd.testing.assert_frame_equal(*tables, check_dtype=False)
