"""The command that answers in one line which learner to use for a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._shared import (
    FAILED,
    INTERRUPTED,
    DropMissing,
    LeaveOut,
    as_typed,
    complete_data,
    complete_learners,
    complete_measure,
    examples,
    folder_of,
    names_in,
    say,
    wrapped,
)

if TYPE_CHECKING:
    from verulam.experiment import Comparison, EnvironmentChoice

compare_app = typer.Typer()
DEFAULT_RULE = "half standard error"
#: Options that change no score.
NO_SCORES = {"data", "jobs", "store", "csv", "report", "no_report", "open_it"}

Learners = Annotated[
    list[str] | None,
    typer.Option(
        help="Names with commas between, or the option again for each; one of each kind if not "
        "given.",
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
Categorical = Annotated[
    str | None,
    typer.Option(help="Columns of numbers that are codes, with commas between.", metavar="COLUMNS"),
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
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column that says how much each row weighs, in learning and in the measures.",
        metavar="COLUMN",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to predict; several columns of numbers, each with its --target, are predicted "
        "together."
    ),
]
LossFile = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of what decisions cost: a row per decision, its name first, and a column "
        "per class; learners are then compared by the mean cost of their decisions.",
    ),
]
RejectCost = Annotated[
    float | None, typer.Option(min=0.0, help="What it costs to withhold a decision.")
]
OptionalData = Annotated[
    str | None,
    typer.Argument(
        help="Name of a bundled data set, or a file; left out where agents are compared.",
        autocompletion=complete_data,
        metavar="[DATA]",
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(help="density or clustering, where no target is to be predicted."),
]
EnvironmentName = Annotated[
    str | None,
    typer.Option(
        help="Compare agents instead, in an environment: cliff, corridor, four rooms, maze, "
        "slippery rooms, small grid, or a Gymnasium id.",
        metavar="NAME",
    ),
]
Episodes = Annotated[
    int | None, typer.Option(min=1, help="Episodes of training in the environment; 300.")
]
RunFile = Annotated[
    Path | None, typer.Option(help="Keep every run in this file, to go on from there.")
]
ReportFile = Annotated[
    Path | None, typer.Option(help="File for the report; DATA-comparison.html if not given.")
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
        "verulam compare iris --task clustering",
        "verulam compare --environment cliff",
    )
)
def compare(
    context: typer.Context,
    data: OptionalData = None,
    target: Targets = None,
    learners: Learners = None,
    measure: MeasureName = None,
    resampling: ResamplingForm = None,
    matters: Matters = None,
    rule: Rule = DEFAULT_RULE,
    time_budget: TimeBudget = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same scores.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    store: RunFile = None,
    csv: Annotated[Path | None, typer.Option(help="Also write every run to this file.")] = None,
    report: ReportFile = None,
    no_report: NoReport = False,
    drop_missing_target: DropMissing = False,
    leave_out: LeaveOut = None,
    rare: Rare = "keep",
    keep: Keep = None,
    categorical: Categorical = None,
    groups: Groups = None,
    weights: Weights = None,
    losses: LossFile = None,
    reject_cost: RejectCost = None,
    task: TaskName = None,
    environment: EnvironmentName = None,
    episodes: Episodes = None,
    open_it: OpenIt = False,
) -> None:
    """Compare learners on a data set, or agents in an environment, and write a report.

    Exit code: 0 fine, 1 some runs failed, 2 wrong usage or unusable data, 130 stopped.
    """
    _check_files(csv, store, report, no_report=no_report)
    _check_options(rule, time_budget)
    from verulam.experiment import compare as run

    with _stopped_cleanly(store):
        comparison = run(
            _source(data, environment, episodes, task),
            names_in(",".join(learners)) if learners else None,
            target=target if target and len(target) > 1 else next(iter(target or ()), None),
            measure=measure,
            resampling=resampling,
            random_state=seed,
            n_jobs=jobs,
            store=store,
            drop_missing_target=drop_missing_target,
            leave_out=names_in(leave_out),
            rare=rare,
            keep=names_in(keep),
            categorical=names_in(categorical),
            groups=False if groups == "none" else groups,
            weights=weights,
            losses=losses,
            reject_cost=reject_cost,
            matters=matters,
            rule=rule,
            time_budget=time_budget,
            task=task,
        )
    _write_runs(comparison, csv)
    say(str(comparison))
    if not no_report:
        command = _typed(context)
        _report(comparison, report, command, open_it=open_it)
        # Agents, densities and several outputs end in no model file.
        if not (environment or task or len(target or ()) > 1):
            say(_next_step(store))
    if len(comparison.failures):
        raise typer.Exit(FAILED)


def _typed(context: typer.Context) -> str:
    """Return the command as it is typed, without what changes no score."""
    options = {
        f"--{parameter.name}".replace("_", "-"): context.params[parameter.name]
        for parameter in context.command.params
        if parameter.name in context.params and parameter.name not in NO_SCORES
    }
    usual = {"--rule": DEFAULT_RULE, "--rare": "keep"}
    return as_typed(
        "compare",
        context.params["data"] or "",
        {name: value for name, value in options.items() if value != usual.get(name)},
    )


def _check_files(
    csv: Path | None, store: Path | None, report: Path | None, *, no_report: bool
) -> None:
    """Refuse files that cannot be written, before any work is done."""
    # Without a name, the report goes to the current folder.
    page = None if no_report else report or Path("report.html")
    for option, path in (("--csv", csv), ("--store", store), ("--report", page)):
        folder_of(path, option)


def _write_runs(comparison: "Comparison", csv: Path | None) -> None:
    """Write every run to a file, where one was named."""
    if csv is not None:
        from verulam.base import spreadsheet_table, write_whole

        write_whole(csv, spreadsheet_table(comparison.scores()).to_csv(index=False))


def _source(
    data: str | None, environment: str | None, episodes: int | None, task: str | None
) -> "str | EnvironmentChoice":
    """Return what is compared on: a table, or an environment."""
    if environment is None:
        if data is None:
            raise typer.BadParameter(
                "name a data set or a file, or an environment with --environment", param_hint="DATA"
            )
        if episodes is not None:
            raise typer.BadParameter("is for --environment", param_hint="--episodes")
        return data
    if data is not None:
        raise typer.BadParameter(
            f"agents act in an environment, without the data {data!r}", param_hint="--environment"
        )
    if task is not None:
        raise typer.BadParameter("is for tables", param_hint="--task")
    from verulam.experiment import EnvironmentChoice

    if episodes is None:
        return EnvironmentChoice(environment)
    return EnvironmentChoice(environment, episodes=episodes)


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


def _next_step(store: Path | None) -> str:
    """Return how a model is made of what was recommended."""
    if store is not None:
        return f"Next: verulam finalise {store}"
    return "Next: --store FILE keeps the runs, and verulam finalise FILE makes the model."


def _report(comparison: "Comparison", file: Path | None, command: str, *, open_it: bool) -> None:
    path = comparison.report(file, command=command)
    say(f"\nReport: {path}")
    if open_it:
        typer.launch(path.resolve().as_uri())
