"""The commands. Heavy imports wait until a command needs them."""

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._printing import (
    FAILED,
    DataSource,
    DropMissing,
    LeaveOut,
    column_table,
    console,
    names_in,
    print_table,
)

if TYPE_CHECKING:
    import pandas as pd

    from verulam.catalogue import Found, MapRow

app = typer.Typer(
    name="verulam",
    help="Every learner in the textbook, and the experiments to choose between them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Tags = Annotated[
    list[str] | None, typer.Option("--tag", help="Ability, repeatable.", metavar="TAG")
]


def _version(wanted: bool) -> None:
    if wanted:
        import verulam

        typer.echo(f"verulam {verulam.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Every learner in the textbook, and the experiments to choose between them."""


@app.command()
def learners(
    task: Annotated[str | None, typer.Option(help="Such as classification.")] = None,
    tag: Tags = None,
) -> None:
    """List the learners, ours and borrowed ones."""
    from verulam.catalogue import learners as table_of

    table = table_of(task=task, tags=tuple(tag or ()))
    if table.empty:
        typer.echo("No learner has all of these abilities.", err=True)
        raise typer.Exit(FAILED)
    for number, (name, group) in enumerate(table.groupby("task", sort=False)):
        if number:
            console().print()
        console().print(f"{name}:", highlight=False, markup=False)
        print_table(group[["name", "section", "tags"]])


@app.command()
def datasets() -> None:
    """List the bundled data sets."""
    from verulam.data import list_datasets

    columns = ["name", "task", "rows", "columns", "title"]
    print_table(list_datasets().reset_index()[columns])


@app.command()
def describe(
    data: DataSource,
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    drop_missing_target: DropMissing = False,
    leave_out: LeaveOut = None,
) -> None:
    """Describe the columns of a data set."""
    from verulam.experiment import open_data

    found = open_data(
        data,
        target=target,
        drop_missing_target=drop_missing_target,
        leave_out=names_in(leave_out),
    )
    console().print(repr(found).partition("\n")[0], highlight=False, markup=False)
    if found.description:
        console().print(found.description, highlight=False, markup=False)
    print_table(column_table(found.summary()))


@app.command()
def find(
    words: Annotated[
        list[str],
        typer.Argument(help="Words, a section such as 13.8, or an id.", metavar="WORDS..."),
    ],
) -> None:
    """Say where a section or a method of the texts lives."""
    from verulam.catalogue import find as search

    question = " ".join(words)
    found = search(question)
    if not found.rows and not found.learners:
        nearest = ", ".join(found.suggestions)
        typer.echo(f"Nothing found for {question!r}. Nearest: {nearest}.", err=True)
        raise typer.Exit(FAILED)
    if found.section:
        console().print(
            f"Alpaydin {found.section.number}: {found.section.title}", highlight=False, markup=False
        )
    for line in _map_lines(found.rows):
        typer.echo(line)
    if found.learners:
        console().print()
        print_table(_learner_table(found))


def _map_lines(rows: Iterable["MapRow"]) -> Iterator[str]:
    """Yield what the texts ask for and, below it, the names to import, which stay whole."""
    from verulam.catalogue import entries

    covering: dict[str, list[str]] = {}
    for item in entries():
        for row_id in item.rows:
            covering.setdefault(row_id, []).append(item.name)
    for row in rows:
        indent = " " * max(len(row.id) + 2, 6)
        places = f" ({row.source} {row.section})"
        yield fill(f"{row.id:<{len(indent)}}{row.capability}{places}", 80, subsequent_indent=indent)
        names = ", ".join(row.where or covering.get(row.id, ())) or "not yet"
        yield fill(
            names,
            80,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _learner_table(found: "Found") -> "pd.DataFrame":
    import pandas as pd

    # The name of ours is the path of the class already.
    rows = [
        (item.name, item.path if item.source == "borrowed" else "ours", item.section)
        for item in found.learners
    ]
    return pd.DataFrame(rows, columns=["learner", "class", "section"])
