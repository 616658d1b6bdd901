"""Entry point and the commands that look things up. Heavy imports wait until one needs them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._compare_command import compare_app
from verulam.cli._lab_command import lab_app
from verulam.cli._lines_command import lines_app
from verulam.cli._result_commands import result_app
from verulam.cli._shared import (
    FAILED,
    INTERRUPTED,
    DataSource,
    DropMissing,
    LeaveOut,
    bundled_catalogue,
    column_table,
    console,
    names_in,
    print_rows,
    print_table,
    print_words,
    say,
)
from verulam.cli._study_commands import study_app
from verulam.cli._warm_command import warm_app

if TYPE_CHECKING:
    import pandas as pd

    from verulam.catalogue import Entry, MapRow

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
#: Of more columns than this a description counts the others.
MOST_COLUMNS = 60
#: Wrong usage or unusable data.
USAGE = 2
#: Options as other programs call them, and ours.
SYNONYMS = {
    "--metric": "--measure",
    "--metrics": "--measure",
    "--scoring": "--measure",
    "--n-jobs": "--jobs",
    "--n_jobs": "--jobs",
    "--workers": "--jobs",
    "--cv": "--resampling",
    "--folds": "--resampling",
    "--models": "--learners",
    "--random-state": "--seed",
    "--loss": "--losses",
    "--loss-matrix": "--losses",
    "--costs": "--losses",
    "--sample-weight": "--weights",
}
#: Where one of them is understood.
UNDERSTOOD = {("run", "--workers")}


def _version(requested: bool) -> None:
    if requested:
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
    """List the learners, ours and borrowed ones, and the agents."""
    from verulam.catalogue._entries import listed_learners

    listed = listed_learners(task, tag or ())
    if not listed:
        say("No learner has all of these abilities.", err=True)
        raise typer.Exit(FAILED)
    for number, name in enumerate(dict.fromkeys(row.task for row in listed)):
        if number:
            console().print()
        print_words(f"{name}:")
        print_rows(
            ("name", "section", "tags"),
            [(row.name, row.section, ", ".join(row.tags)) for row in listed if row.task == name],
        )


@app.command()
def datasets() -> None:
    """List the bundled data sets."""
    columns = ("name", "task", "rows", "columns", "title")
    rows = [
        (name, *(entry[column] or "none" for column in columns[1:]))
        for name, entry in bundled_catalogue().items()
    ]
    print_rows(columns, rows, numeric=("rows", "columns"))


@app.command()
def describe(
    data: DataSource,
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    drop_missing_target: DropMissing = False,
    leave_out: LeaveOut = None,
    every: Annotated[
        bool, typer.Option("--all", help=f"Show more than {MOST_COLUMNS} columns.")
    ] = False,
) -> None:
    """Describe the columns of a data set."""
    from verulam.experiment._study.data_source import open_data

    dataset = open_data(
        data,
        target=target,
        drop_missing_target=drop_missing_target,
        leave_out=names_in(leave_out),
    )
    print_words(repr(dataset).partition("\n")[0])
    if dataset.description:
        print_words(dataset.description)
    from verulam.experiment._preparation.inspection import inspect_table
    from verulam.experiment._preparation.preparation import columns_become

    findings = inspect_table(dataset)
    summary = dataset.summary()
    summary["becomes"] = columns_become(dataset, findings)
    _print_columns(summary, every=every)
    if findings:
        console().print()
        print_words("What deserves a look:")
        for finding in findings:
            say(fill(f"- {finding}", 80, subsequent_indent="  "))


def _print_columns(summary: "pd.DataFrame", *, every: bool) -> None:
    """Print what columns hold, and of many only how many more there are."""
    first = summary.index[:MOST_COLUMNS]
    shown = summary[summary.index.isin(first) | (summary["role"] == "target") | every]
    print_table(column_table(shown))
    if hidden := len(summary) - len(shown):
        kinds = summary["kind"].drop(shown.index).value_counts()
        listing = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        columns = "1 other column" if hidden == 1 else f"{hidden} other columns"
        print_words(f"And {columns} ({listing}); --all shows them.")


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
    matches = search(question)
    if not matches.rows and not matches.learners and not matches.elsewhere:
        nearest = ", ".join(matches.suggestions)
        say(f"Nothing found for {question!r}. Nearest: {nearest}.", err=True)
        raise typer.Exit(FAILED)
    if matches.section:
        print_words(f"Alpaydin {matches.section.number}: {matches.section.title}")
    for line in (*matches.elsewhere, *_map_lines(matches.rows)):
        say(fill(line, 80) if line in matches.elsewhere else line)
    if matches.learners:
        console().print()
        print_rows(("learner", "class", "section"), _learner_rows(matches.learners))


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


def _learner_rows(learners: Iterable["Entry"]) -> list[tuple[str, str, str]]:
    # The name of most of ours is the path of the class already.
    return [
        (item.name, "ours" if item.path == f"verulam.{item.name}" else item.path, item.section)
        for item in learners
    ]


for part in (compare_app, study_app, result_app, lines_app, warm_app, lab_app):
    app.add_typer(part)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 nothing found or failed runs, 2 bad usage or data.

    Parameters
    ----------
    arguments
        Words after ``verulam``; None takes them from the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Taken out here, so that it may stand before or after the command.
    debug = "--debug" in words
    _refuse_synonyms(words)
    try:
        app([word for word in words if word != "--debug"], prog_name="verulam")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    # What the library raises for names, arguments, data and files; anything else is a defect.
    except (ValueError, KeyError, OSError) as error:
        if debug or _is_defect(error):
            raise
        say(f"Error: {' '.join(_words(error).split())}", err=True)
        sys.exit(USAGE)


def _refuse_synonyms(words: Sequence[str]) -> None:
    """Name our option where one was given as other programs call it."""
    command = next((word for word in words if not word.startswith("-")), "")
    for word in words:
        option, equals, value = word.partition("=")
        if option in SYNONYMS and (command, option) not in UNDERSTOOD:
            instead = f"{SYNONYMS[option]}{equals}{value}"
            say(f"Error: {option} is called {SYNONYMS[option]} here; try {instead}.", err=True)
            sys.exit(USAGE)


def _words(error: Exception) -> str:
    """Return what an error says, without the numbers that systems give to theirs."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}."
    return str(error)


def _is_defect(error: Exception) -> bool:
    """Tell a lookup that went wrong inside from a name that the user got wrong."""
    # Imported here: it takes longer than all that most commands do.
    from verulam.base import UnknownNameError

    return isinstance(error, KeyError) and not isinstance(error, UnknownNameError)
