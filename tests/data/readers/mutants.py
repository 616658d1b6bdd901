"""Files damaged on purpose, and what a reader may do with one: read it, or say what is wrong."""

import io
import lzma
import tempfile
import warnings
import zipfile
from bz2 import compress as compress_bz2
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from gzip import compress as compress_gzip
from pathlib import Path

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset, read, stream

#: What numbers in a header are most often misread.
EDGES = [0x00, 0x01, 0x7F, 0x80, 0xFF]


@dataclass(frozen=True)
class Escape:
    """A mutant that ended in something else than a data set or a sentence with the file's name."""

    format: str
    seed: int
    error: str


def table(n_rows: int = 60) -> pd.DataFrame:
    """Return a table with a column of every kind."""
    numbers = np.arange(n_rows)
    return pd.DataFrame(
        {
            "size": numbers / 7,
            "count": numbers,
            "colour": np.array(["red", "blue", "green"])[numbers % 3],
            "day": pd.date_range("2024-01-01", periods=n_rows).strftime("%Y-%m-%d"),
            "remark": [f'remark {number}, "quoted"' for number in numbers],
            "ripe": np.array(["no", "yes"])[numbers % 2],
        }
    )


def _csv() -> bytes:
    return table().to_csv(index=False).encode()


def _arff() -> bytes:
    head = (
        "@relation fruit\n@attribute size numeric\n@attribute count integer\n"
        "@attribute colour {red, blue, green}\n@attribute day date yyyy-MM-dd\n"
        "@attribute remark string\n@attribute ripe {no, yes}\n@data\n"
    )
    rows = [
        f"{row.size_},{row.count_},{row.colour},{row.day},'remark {row.count_}',{row.ripe}"
        for row in table().rename(columns={"size": "size_", "count": "count_"}).itertuples()
    ]
    return "\n".join([head, *rows, "{0 1.5, 5 yes}, {2.5}", ""]).encode()


def _parquet() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.parquet")
        Dataset.from_frame(table(), target="ripe", ignored=["remark"]).to_parquet(path)
        return path.read_bytes()


def _plain_parquet() -> bytes:
    buffer = io.BytesIO()
    table().to_parquet(buffer, compression=None)
    return buffer.getvalue()


def _npz(method: int) -> bytes:
    columns = table()
    arrays = {"X": columns[["size", "count"]].to_numpy(), "y": columns["ripe"].to_numpy(str)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, values in arrays.items():
            member = io.BytesIO()
            np.save(member, values)
            archive.writestr(f"{name}.npy", member.getvalue())
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", _csv())
    return buffer.getvalue()


#: Name of a file to the content that it has before it is damaged.
WHOLE: dict[str, Callable[[], bytes]] = {
    "table.csv": _csv,
    "table.csv.gz": lambda: compress_gzip(_csv(), mtime=0),
    "table.csv.bz2": lambda: compress_bz2(_csv()),
    "table.csv.xz": lambda: lzma.compress(_csv()),
    "table.csv.zip": _zip,
    "table.arff": _arff,
    "table.arff.xz": lambda: lzma.compress(_arff()),
    "roles.parquet": _parquet,
    "plain.parquet": _plain_parquet,
    "stored.npz": lambda: _npz(zipfile.ZIP_STORED),
    "deflated.npz": lambda: _npz(zipfile.ZIP_DEFLATED),
    "bzip2.npz": lambda: _npz(zipfile.ZIP_BZIP2),
    "lzma.npz": lambda: _npz(zipfile.ZIP_LZMA),
}


def mutant(whole: bytes, seed: int) -> bytes:
    """Return the content with one to four places changed; the same seed gives the same mutant."""
    generator = np.random.default_rng(seed)
    content = bytearray(whole)
    for _ in range(generator.integers(1, 5)):
        if not content:
            break
        # Headers and trailers are short and decide most: half of all changes are made there.
        edge = min(len(content), 200)
        place = int(generator.integers(edge if generator.random() < 0.25 else len(content)))
        if generator.random() < 0.25:
            place = len(content) - 1 - int(generator.integers(edge))
        length = int(generator.integers(1, 9))
        match generator.integers(7):
            case 0:
                content[place] ^= 1 << int(generator.integers(8))
            case 1:
                content[place : place + length] = generator.bytes(length)
            case 2:
                content[place : place + length] = bytes([int(generator.choice(EDGES))]) * length
            case 3:
                del content[place : place + length]
            case 4:
                content[place:place] = content[place : place + 4 * length]
            case 5:
                source = int(generator.integers(len(content)))
                content[place : place + length] = content[source : source + length]
            case _:
                del content[place + 1 :]
    return bytes(content)


def mutants(name: str, seeds: range) -> Iterator[tuple[int, bytes]]:
    """Yield each seed with the mutant of that file."""
    whole = WHOLE[name]()
    for seed in seeds:
        yield seed, mutant(whole, seed)


def escape(path: Path, reader: Callable[[Path], object]) -> str:
    """Return what came out of a reader that is neither a result nor an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            reader(path)
        except DataError as error:
            return "" if str(path) in str(error) else f"no file name: {error}"
        # Whatever comes out is what the fuzzer is there to see.
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""


def run_through(path: Path) -> None:
    """Read a file as a stream, all chunks of it."""
    for _ in stream(path, chunk_rows=25):
        pass


def attack(name: str, seeds: range, folder: Path) -> list[Escape]:
    """Read all mutants of a file, in whole and as a stream, and return what escaped."""
    path = folder / name
    readers: list[Callable[[Path], object]] = [read]
    if "arff" not in name and "npz" not in name:
        readers.append(run_through)
    escapes = []
    for seed, content in mutants(name, seeds):
        path.write_bytes(content)
        errors = {error for reader in readers if (error := escape(path, reader))}
        escapes += [Escape(name, seed, error) for error in sorted(errors)]
    return escapes


def by_kind(escapes: list[Escape]) -> Counter[str]:
    """Return how often each kind of error escaped."""
    return Counter(f"{event.format}: {event.error[:90]}" for event in escapes)
