"""Reading CSV files with their types worked out, beside the quickest readers."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv

from benchmarks._timing import Race, print_races, race
from verulam.data import read_csv

#: Rows and columns.
SIZES = ((10_000, 10), (1_000_000, 10), (200, 10_000))


def run() -> None:
    """Print the races at three sizes, after both sides have given the same table."""
    with tempfile.TemporaryDirectory() as folder:
        races = [line for size in SIZES for line in _races(Path(folder, "table.csv"), *size)]
    print_races("Reading CSV", races)


def _races(path: Path, n_rows: int, n_columns: int) -> list[Race]:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, n_columns - 1)).round(5)
    table = pd.DataFrame(numbers, columns=[f"x{place}" for place in range(n_columns - 1)])
    table["colour"] = rng.choice(["blue", "green", "red"], n_rows)
    table.to_csv(path, index=False)
    pd.testing.assert_frame_equal(
        read_csv(path).table.astype({"colour": str}), pd.read_csv(path), check_dtype=False
    )
    work = f"{n_rows:,} x {n_columns:,}"
    peers = {
        "pandas": partial(pd.read_csv, path),
        "PyArrow": lambda: pyarrow.csv.read_csv(path).to_pandas(),
    }
    return [race(work, partial(read_csv, path), name, theirs) for name, theirs in peers.items()]
