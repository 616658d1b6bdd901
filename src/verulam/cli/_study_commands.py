"""The commands of a study, from its file to its report."""

import os
import re
import shlex
import textwrap
from datetime import UTC, datetime
from importlib.resources import files
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verulam.cli._shared import (
    FAILED,
    INTERRUPTED,
    StoreFile,
    complete_engine,
    default_store,
    examples,
    existing_store,
    pass_on,
    print_table,
    say,
    wrapped,
)

if TYPE_CHECKING:
    from verulam.experiment import Analysis, Results
    from verulam.experiment._plan.records import Plan

study_app = typer.Typer()

#: Runs of a plan that are printed; the rest is counted.
FIRST_ROWS = 10

StudyFile = Annotated[Path, typer.Argument(help="TOML file of a study.", metavar="STUDY")]


@study_app.command(
    epilog=examples(
        "verulam init",
        "verulam init flowers.toml",
        "verulam init iris",
        "verulam init sales.csv --target bought",
    )
)
def init(
    file: Annotated[
        Path,
        typer.Argument(
            help="Study file to write, or a table or bundled data set to write one for.",
            metavar="FILE",
        ),
    ] = Path("study.toml"),
    target: Annotated[str | None, typer.Option(help="Column of the table to predict.")] = None,
) -> None:
    """Write a commented study file that runs as it is, for an example or for a table of yours."""
    from verulam.data import dataset_names

    table: Path | str | None = None
    if str(file) in dataset_names() and not file.exists():
        table = str(file)
    elif target is not None or (file.suffix != ".toml" and file.is_file()):
        table = file
    if table is not None:
        file = Path(f"{file.name.split('.')[0]}.toml")
    elif not file.suffix:
        file = file.with_suffix(".toml")
    if not file.resolve().parent.is_dir():
        raise ValueError(f"There is no folder {file.resolve().parent}.")
    if file.exists():
        raise ValueError(f"{file} is already there and is left as it is; name another.")
    from verulam.base import write_whole

    write_whole(file, _example_study(file) if table is None else _study_for(file, table, target))
    say(f"Wrote {file}. Next: verulam plan {file}")


@study_app.command(
    epilog=examples("verulam plan study.toml --pilot", "verulam plan study.toml --csv > runs.csv")
)
def plan(
    study: StudyFile,
    csv: Annotated[bool, typer.Option("--csv", help="Print every run as CSV.")] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Try a few runs to foretell time and memory.")
    ] = False,
) -> None:
    """Show every run of a study before anything is run."""
    from verulam.base import spreadsheet_table
    from verulam.experiment import make_plan, read_study

    made = make_plan(read_study(study))
    table = made.table()
    if csv:
        pass_on(spreadsheet_table(table).to_csv(index=False), nl=False)
        return
    say(wrapped(str(made)))
    for notice in made.notices:
        say(wrapped(notice))
    for learner, aliases in made.aliases.items():
        say(f"\nEffects of {learner}, and what cannot be told from them:")
        print_table(aliases)
    say()
    columns = ["data", "learner", "setting", "repeat", "fold", "training_rows"]
    print_table(table[columns].head(FIRST_ROWS))
    if len(table) > FIRST_ROWS:
        more = len(table) - FIRST_ROWS
        say(f"... and {more} more; carried out {made.order}. --csv prints all.")
    if pilot:
        _print_forecast(made)


@study_app.command(
    epilog=examples(
        "verulam run study.toml",
        "verulam run study.toml --engine dask --jobs 4",
        "verulam run study.toml --retry-failed",
    )
)
def run(
    study: StudyFile,
    store: Annotated[
        Path | None, typer.Option(help="File for the results; beside the study if not given.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="processes, serial, dask or dask://host:port.", autocompletion=complete_engine
        ),
    ] = "processes",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "--workers", help="Processes; one a core if not given."),
    ] = None,
    recycle: Annotated[
        int | None,
        typer.Option(help="Runs after which a process is replaced by a new one.", min=1),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try runs again that failed.")
    ] = False,
) -> None:
    """Carry out what is left of a study, and say what it found."""
    from verulam.experiment import Results, analyse, read_study
    from verulam.experiment import run as carry_out

    path = store or default_store(study)
    if jobs is not None and jobs < 1:
        raise ValueError(f"--jobs: {jobs}; expected a whole number of at least 1.")
    retry = ("killed", "timed out", "failed") if retry_failed else ("killed", "timed out")
    asked = read_study(study)
    try:
        results = carry_out(asked, path, engine=engine, workers=jobs, recycle=recycle, retry=retry)
    except KeyboardInterrupt:
        counts = Results(path).status() if path.is_file() else {}
        again = f"verulam run {study}" + (f" --store {store}" if store else "")
        say(
            f"Stopped: {counts.get('done', 0)} runs are kept in {path}, {counts.get('left', 0)} "
            f"are left. `{again}` goes on from there.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    if results.changes:
        say(wrapped(f"Changed since it was last run: {'; '.join(results.changes)}."))
        say()
    analysis = analyse(results)
    say(wrapped(f"{analysis.answer.sentence} {analysis.answer.advice}".strip()))
    if analysis.race:
        say(wrapped(analysis.race))
    say()
    say(f"Results: {results}")
    if results.left_out:
        say(wrapped(results.left_out))
    _print_next(analysis, path)
    if len(results.failures()):
        say(f"Some runs failed: verulam status {path}", err=True)
        raise typer.Exit(FAILED)


@study_app.command(epilog=examples("verulam status study.sqlite"))
def status(store: StoreFile) -> None:
    """Say how far a study has come, and what failed."""
    from verulam.experiment import Results, finalisations

    results = Results(existing_store(store))
    say(wrapped(str(results)))
    if damage := results.damage():
        say(wrapped(damage), err=True)
    runs = results.runs()
    counts = runs.groupby(["data", "learner", "status"]).size().unstack(fill_value=0)
    say()
    print_table(counts.reset_index())
    _print_failures(results)
    for look in finalisations(results.path, results.study).to_dict("records"):
        when = datetime.fromtimestamp(look["opened"], UTC).strftime("%Y-%m-%d %H:%M UTC")
        response = look["response"] or "not completed"
        words = f"{look['contestant']} by {look['who']}, {response}"
        say()
        say(wrapped(f"Locked part of {look['label']} used on {when}: {words}."))


@study_app.command()
def recover(
    store: Annotated[Path, typer.Argument(help="The damaged store.", metavar="STORE")],
    new: Annotated[Path, typer.Argument(help="The store to write.", metavar="NEW")],
) -> None:
    """Save the intact rows of a damaged store in a new one."""
    from verulam.experiment import recover as save

    say(str(save(store, new)))
    say(f"Next: verulam run STUDY --store {new}, which runs only what was lost.")


def _example_study(file: Path) -> str:
    """Return the commented study that runs as it is, with the names of its file and store."""
    text = (files("verulam.cli") / "study.toml").read_text(encoding="utf-8")
    return text.replace("study.toml", str(file)).replace("study.sqlite", str(default_store(file)))


def _study_for(file: Path, table: Path | str, target: str | None) -> str:
    """Return the commented study with a table of the user's in the place of the example."""
    from verulam.experiment._preparation.inspection import inspect_table, rare_classes
    from verulam.experiment._study.choices import default_learners
    from verulam.experiment._study.data_source import open_data

    if target is None and isinstance(table, str):
        target = open_data(table).target
    if target is None:
        names = ", ".join(open_data(table).table.columns)
        raise ValueError(f"--target: name the column of {table} to predict, one of {names}.")
    data = open_data(table, target=target, drop_missing_target=True)
    findings = inspect_table(data)
    grouped = [finding.columns[0] for finding in findings if finding.kind == "group"]
    lines = ["[[data]]", f"source = {_toml(table)}", f"target = {_toml(target)}"]
    lines += [f"groups = {_toml(grouped[0])}"] if grouped else []
    lines += ["drop_missing_target = true"] if data.dropped_rows else []
    remarks = [f"# {line}" for finding in findings for line in textwrap.wrap(str(finding), 96)]
    learners, omission = default_learners(
        str(data.task), data.n_rows, rare=bool(rare_classes(data))
    )
    remarks += [f"# {line}" for line in textwrap.wrap(omission, 96)]
    contestants = [f'[[learners]]\nname = "{name}"\n' for name in learners]
    measure = "auc" if rare_classes(data) else None
    if data.task == "regression":
        measures = '["root_mean_squared_error", "r2"]'
    else:
        measures = f'["{measure}", "error"]' if measure else '["error", "log_loss"]'
    text = _example_study(file)
    head, _, _ = text.partition("# A bundled data set")
    head = head.replace('name = "first study"', f"name = {_toml(data.name)}")
    head = re.sub(r"question = .*", f"question = {_toml(f'What predicts {target} best?')}", head)
    head = head.replace('measures = ["error", "log_loss"]', f"measures = {measures}")
    about = "# The table; columns that name the rows alone are left out by themselves.\n"
    parts = [head + about + "\n".join([*remarks, *lines]), *contestants]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _toml(text: Any) -> str:
    """Return a string as TOML writes it."""
    return dumps(str(text), ensure_ascii=False)


def _print_next(analysis: "Analysis", path: Path) -> None:
    """Say what to do with the results, and which learner would be finalised."""
    from verulam.experiment._final.choice import select_contestant
    from verulam.experiment._text import spoken_name

    labels = [label for label, table in analysis.tables.items() if table["mean"].notna().any()]
    say(f"Next: verulam report {path}, verulam analyse {path}")
    # A final model is one that predicts.
    if not labels or analysis.results.description.get("task"):
        return
    several = f" --data {shlex.quote(labels[0])}" if len(analysis.tables) > 1 else ""
    command = f"verulam finalise {path}{several}"
    recommended, best = (
        spoken_name(select_contestant(analysis, labels[0], learner).name)
        for learner in (None, "best")
    )
    other = "" if recommended == best else f" (with --learner best, {best})"
    say(wrapped(f"{command} makes a model of {recommended}{other}."))


def _print_forecast(made: "Plan") -> None:
    from verulam.experiment import forecast

    estimate = forecast(made)
    cores = os.cpu_count() or 1
    say()
    say(
        wrapped(
            f"From {estimate.pilots} pilot runs: about {_time_text(estimate.seconds)} one after "
            f"the other, {_time_text(estimate.seconds / cores)} on the {cores} cores here; "
            f"{_memory_text(estimate.memory)}."
        )
    )
    if estimate.affordable < estimate.runs:
        say(wrapped(f"The budget pays for about {estimate.affordable} of the runs."))
    for line in estimate.failures:
        say(wrapped(f"A pilot run failed: {line}"), err=True)


def _memory_text(megabytes: float) -> str:
    if megabytes != megabytes:
        return "memory cannot be told on this machine"
    return "less than 1 MB for a run" if megabytes < 1 else f"at most {megabytes:.0f} MB for a run"


def _time_text(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _print_failures(results: "Results") -> None:
    failures = results.failures()
    if failures.empty:
        return
    counts = failures.groupby(["learner", "status", "error"], sort=False).size()
    say()
    print_table(counts.reset_index(name="runs"))
