"""The commands. Heavy imports wait until a command needs them."""

from typing import Annotated, Any

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
    if found.rows:
        print_table(_map_table(found))
    if found.learners:
        console().print()
        print_table(_learner_table(found))


def _map_table(found: Any) -> Any:
    import pandas as pd

    from verulam.catalogue import entries

    covering: dict[str, list[str]] = {}
    for item in entries():
        for row in item.rows:
            covering.setdefault(row, []).append(item.name)
    rows = [
        (
            row.id,
            row.source,
            row.section,
            row.capability,
            ", ".join(row.where or covering.get(row.id, ())) or "not yet",
        )
        for row in found.rows
    ]
    return pd.DataFrame(rows, columns=["id", "text", "section", "capability", "where"])


def _learner_table(found: Any) -> Any:
    import pandas as pd

    rows = [(item.name, item.path, item.section) for item in found.learners]
    return pd.DataFrame(rows, columns=["learner", "class", "section"])
