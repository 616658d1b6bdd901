"""The command that answers in one line which learner to use for a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._shared import (
    FAILED,
    INTERRUPTED,
    DataSource,
    DropMissing,
    LeaveOut,
    as_typed,
    complete_learners,
    complete_measure,
    examples,
    folder_of,
    names_in,
    say,
    wrapped,
)

if TYPE_CHECKING:
    from verulam.experiment import Comparison

compare_app = typer.Typer()
DEFAULT_RULE = "half standard error"

Learners = Annotated[
    str | None,
    typer.Option(
        help="Names with commas between; one of each kind if not given.",
        autocompletion=complete_learners,
    ),
]
MeasureName = Annotated[
    str | None, typer.Option(help="Such as error, auc, r2.", autocompletion=complete_measure)
]
ResamplingForm = Annotated[
    str | None,
    typer.Option(
        help="Such as 10-fold, 5x10-fold, 5x2, '5-fold by patient', 'expanding 5 by date'; if not "
        "given, 10-fold, repeated until the choice would survive other splits."
    ),
]
Matters = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Difference of the measure below which learners are as good as equal, such as 0.01; "
        "if not given, a point for shares, else a share of what guessing scores.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        help="Whom to recommend: 'half standard error', 'one standard error', 'best mean' or 'not "
        "rejected'."
    ),
]
Keep = Annotated[
    str | None,
    typer.Option(
        help="Columns to use although they seem to name the rows alone, with commas between.",
        metavar="COLUMNS",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column whose equal values stay on one side of every split, such as the patient; none "
        "for none; if not given, one that seems to be it.",
        metavar="COLUMN",
    ),
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report.")]
Rare = Annotated[
    str, typer.Option(help="Classes of fewer than 5 rows: keep, drop, or join into one.")
]
OpenIt = Annotated[bool, typer.Option("--open", help="Open the report in the browser.")]
TimeBudget = Annotated[
    float | None, typer.Option(help="Seconds of fitting after which no more repeats are begun.")
]


@compare_app.command(
    epilog=examples(
        "verulam compare iris",
        "verulam compare sales.csv --target bought --measure auc --open",
        'verulam compare wine --learners "naive bayes,random forest" --resampling 5x2',
    )
)
def compare(
    data: DataSource,
    target: Annotated[str | None, typer.Option(help="Column to predict.")] = None,
    learners: Learners = None,
    measure: MeasureName = None,
    resampling: ResamplingForm = None,
    matters: Matters = None,
    rule: Rule = DEFAULT_RULE,
    time_budget: TimeBudget = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same scores.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    store: Annotated[
        Path | None, typer.Option(help="Keep every run in this file, to go on from there.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Also write every run to this file.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="File for the report; DATA-comparison.html if not given.")
    ] = None,
    no_report: NoReport = False,
    drop_missing_target: DropMissing = False,
    leave_out: LeaveOut = None,
    rare: Rare = "keep",
    keep: Keep = None,
    groups: Groups = None,
    open_it: OpenIt = False,
) -> None:
    """Compare learners on a data set and write a report.

    Exit code: 0 fine, 1 some runs failed, 2 wrong usage or unusable data, 130 stopped.
    """
    # Without a name, the report goes to the current folder.
    page = None if no_report else report or Path("report.html")
    for option, path in (("--csv", csv), ("--store", store), ("--report", page)):
        # Found out now, not after the work is done.
        folder_of(path, option)
    _check_options(rule, time_budget)
    from verulam.base import spreadsheet_table, write_whole
    from verulam.experiment import compare as run

    with _stopped_cleanly(store):
        comparison = run(
            data,
            None if learners is None else names_in(learners),
            target=target,
            measure=measure,
            resampling=resampling,
            random_state=seed,
            n_jobs=jobs,
            store=store,
            drop_missing_target=drop_missing_target,
            leave_out=names_in(leave_out),
            rare=rare,
            keep=names_in(keep),
            groups=False if groups == "none" else groups,
            matters=matters,
            rule=rule,
            time_budget=time_budget,
        )
    if csv is not None:
        write_whole(csv, spreadsheet_table(comparison.scores()).to_csv(index=False))
    say(str(comparison))
    if not no_report:
        command = as_typed(
            "compare",
            data,
            {
                "--target": target,
                "--learners": learners,
                "--measure": measure,
                "--resampling": resampling,
                "--matters": matters,
                "--rule": None if rule == DEFAULT_RULE else rule,
                "--time-budget": time_budget,
                "--seed": seed,
                "--drop-missing-target": drop_missing_target,
                "--leave-out": leave_out,
                "--rare": None if rare == "keep" else rare,
                "--keep": keep,
                "--groups": groups,
            },
        )
        _report(comparison, report, command, open_it=open_it)
    if len(comparison.failures):
        raise typer.Exit(FAILED)


def _check_options(rule: str, time_budget: float | None) -> None:
    """Refuse what the library would refuse under another name."""
    from verulam.statistics import SELECTION_RULES

    if rule not in SELECTION_RULES:
        accepted = ", ".join(f"'{name}'" for name in SELECTION_RULES)
        raise typer.BadParameter(f"{rule!r}; expected one of {accepted}", param_hint="--rule")
    if time_budget is not None and not time_budget > 0:
        raise typer.BadParameter(
            f"{time_budget:g}; expected a number of seconds above 0", param_hint="--time-budget"
        )


@contextmanager
def _stopped_cleanly(store: Path | None) -> Iterator[None]:
    """Say what is kept where the work is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        resumable = f"Finished runs are kept in {store}; the same command goes on from there."
        hint = "Nothing was kept; with --store FILE the same command can go on another time."
        say(wrapped(f"Stopped. {resumable if store else hint}"), err=True)
        raise typer.Exit(INTERRUPTED) from None


def _report(comparison: "Comparison", file: Path | None, command: str, *, open_it: bool) -> None:
    path = comparison.report(file, command=command)
    say(f"\nReport: {path}")
    if open_it:
        typer.launch(path.resolve().as_uri())
