"""What the commands share: options and their completion, tables, paragraphs, paths, exit codes."""

import json
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

#: Exit codes: some runs failed or nothing was found; stopped by the user.
FAILED, INTERRUPTED = 1, 130


def complete_data(incomplete: str) -> list[str]:
    """Return the bundled data sets whose names begin like this; files are the shell's own."""
    return _beginning(bundled_catalogue(), incomplete)


def complete_learners(incomplete: str) -> list[str]:
    """Return names of learners, the last one completed, for a list with commas between."""
    from verulam.catalogue import agent_entries, entries

    done, comma, last = incomplete.rpartition(",")
    names = _beginning((item.name for item in entries() + agent_entries()), last.lstrip())
    return [f"{done}{comma}{name}" for name in names]


def complete_measure(incomplete: str) -> list[str]:
    """Return the measures whose names begin like this."""
    from verulam.measures import measures

    return _beginning(measures().index, incomplete)


def complete_engine(incomplete: str) -> list[str]:
    """Return the engines that a study can run on."""
    return _beginning(["processes", "serial", "dask", "dask://"], incomplete)


def complete_final(incomplete: str) -> list[str]:
    """Return what may be finalised: a word for the winner, or a learner."""
    return _beginning(["best", "recommended"], incomplete) + complete_learners(incomplete)


def bundled_catalogue() -> dict[str, dict[str, Any]]:
    """Return what is known of the bundled data sets, without the code that reads tables."""
    file = files("verulam").joinpath("data", "bundled", "catalogue.json")
    return json.loads(file.read_text(encoding="utf-8"))


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in map(str, names) if name.startswith(incomplete)]


DataSource = Annotated[
    str,
    typer.Argument(
        help="Name of a bundled data set, or a file.", autocompletion=complete_data, metavar="DATA"
    ),
]
StoreFile = Annotated[
    Path, typer.Argument(help="Store of a study, or the study file beside it.", metavar="STORE")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing-target", help="Leave out rows without a target value.")
]
LeaveOut = Annotated[
    str | None,
    typer.Option(help="Columns that are no inputs, with commas between.", metavar="COLUMNS"),
]


def examples(*lines: str) -> str:
    """Return examples for the end of a help text, which click then leaves as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def names_in(listing: str | None) -> list[str]:
    """Return the names in a list with commas between; none where nothing is given."""
    return [name.strip() for name in (listing or "").split(",") if name.strip()]


def as_typed(command: str, argument: str, options: Mapping[str, Any]) -> str:
    """Return a command as it is typed; options that are None or false are left out.

    An option with a list is repeated for each of its members.

    Examples
    --------
    >>> as_typed("compare", "my data.csv", {"--target": "sold", "--store": None, "--seed": 0})
    "verulam compare 'my data.csv' --target sold --seed 0"
    """
    words = ["verulam", command, *([argument] if argument else [])]
    for option, value in options.items():
        if value is True:
            words.append(option)
        elif isinstance(value, list | tuple):
            words += [word for item in value for word in (option, str(item))]
        elif value is not None and value is not False:
            words += [option, str(value)]
    return shlex.join(words)


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print words for people; control characters in names and values of data are spelled out."""
    from verulam.base import visible_text

    typer.echo(visible_text(text), err=err, nl=nl)


def pass_on(text: str, *, nl: bool = True) -> None:
    """Print a text for programs: as it is into a pipe or a file, spelled out on a terminal."""
    if sys.stdout.isatty():
        say(text, nl=nl)
    else:
        typer.echo(text, nl=nl)


def wrapped(text: str) -> str:
    """Return a paragraph that fits a terminal."""
    from textwrap import fill

    return fill(text, 80, break_long_words=False, break_on_hyphens=False)


def default_store(study: Path) -> Path:
    """Return where the results of a study file are kept: beside it, under the same name."""
    return study.with_suffix(".sqlite")


def existing_store(path: Path) -> Path:
    """Return the store that a path names, itself or by its study file."""
    return default_store(path) if path.suffix == ".toml" else path


def folder_of(path: Path | None, option: str) -> None:
    """Refuse a file in a folder that does not exist or cannot be written; None is no file."""
    if path is None:
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {folder}", param_hint=option)
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(f"the folder {folder} cannot be written", param_hint=option)


def console() -> "Console":
    """Return a console on standard output: plain in a pipe, at most as wide as the terminal."""
    from rich.console import Console

    return Console(soft_wrap=False)


def print_words(words: str) -> None:
    """Print a paragraph as wide as the terminal, with the care that `say` takes."""
    from verulam.base import visible_text

    console().print(visible_text(words), highlight=False, markup=False)


def print_table(table: "pd.DataFrame") -> None:
    """Print a DataFrame; cells wrap rather than being cut off."""
    print_rows(
        [str(name) for name in table.columns],
        table.itertuples(index=False),
        numeric=[str(name) for name in table.columns if table[name].dtype.kind in "iuf"],
    )


def print_rows(
    columns: Sequence[str], rows: Iterable[Iterable[Any]], numeric: Collection[str] = ()
) -> None:
    """Print rows below the names of their columns; numbers stand to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from verulam.base import visible_text

    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for place, name in enumerate(columns):
        justify: Literal["left", "right"] = "right" if name in numeric else "left"
        # The first column is what people copy into the next command.
        heading = Text(visible_text(name))
        drawn.add_column(heading, justify=justify, overflow="fold", no_wrap=place == 0)
    for row in rows:
        # As texts: square brackets in a cell are no markup of the console.
        drawn.add_row(*(Text(visible_text(cell_text(cell))) for cell in row))
    console().print(drawn, highlight=False, markup=False)


def cell_text(cell: Any) -> str:
    """Return a cell as people write it: few decimals, days without hours, nothing for missing."""
    if isinstance(cell, float):
        # Prices and the like, which nobody writes with exponents.
        large = 10_000 <= abs(cell) < 1e15
        return "" if cell != cell else f"{cell:,.0f}" if large else f"{cell:.4g}"
    return "" if cell is None else str(cell).removesuffix(" 00:00:00")


def column_table(summary: "pd.DataFrame") -> "pd.DataFrame":
    """Return the summary of a data set with its values in one column, to fit a terminal."""
    table = summary.reset_index()
    table["values"] = [_values_text(row) for _, row in table.iterrows()]
    return table[["column", "kind", "missing", "distinct", "values", "becomes"]]


def _values_text(row: "pd.Series[Any]") -> str:
    parts = []
    if row["minimum"] != "":
        parts.append(f"{cell_text(row['minimum'])} to {cell_text(row['maximum'])}")
    if row["mean"] != "" and row["mean"] == row["mean"]:  # infinite values may have none
        parts.append(f"mean {cell_text(row['mean'])}")
    if row["most_frequent"] != "" and row["kind"] != "text":
        parts.append(f"mostly {cell_text(row['most_frequent'])}")
    return ", ".join([*parts, *filter(None, [row["note"]])])
