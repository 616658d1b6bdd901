"""The command that draws every line between two classes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from verulam.cli._shared import (
    DataSource,
    DropMissing,
    LeaveOut,
    names_in,
    print_table,
    print_words,
)

lines_app = typer.Typer()


@lines_app.command()
def lines(
    data: DataSource,
    target: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="This class against all others, where there are more.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, separated by commas; two can be drawn.")
    ] = None,
    trainers: Annotated[
        str | None,
        typer.Option(help="Trainers to run, separated by commas; all, where none is named."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw lines over two columns, ways and errors into this file."),
    ] = None,
    drop_missing_target: DropMissing = False,
    leave_out: LeaveOut = None,
    seed: Annotated[int, typer.Option(help="Seed of the trainers that need chance.")] = 0,
) -> None:
    """Train every linear trainer on two classes: who converges, how wrong, how wide, how fast.

    For example: verulam lines iris --positive setosa --columns petal_length_cm,petal_width_cm
    """
    from verulam.experiment._study.data_source import open_data
    from verulam.linear import compare_lines

    if picture is not None and not picture.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {picture.resolve().parent}.")
    opened = open_data(
        data,
        target=target,
        drop_missing_target=drop_missing_target,
        leave_out=names_in(leave_out),
    )
    rows, classes, names = _two_classes(opened, positive, columns)
    comparison = compare_lines(rows, classes, names_in(trainers) or None, random_state=seed)
    print_words(
        f"{_answer(comparison.separability.separable)} {len(rows)} rows, columns scaled: "
        f"{', '.join(names)}."
    )
    table = comparison.table.drop(columns="remark").reset_index()
    for column in ("error rate", "margin", "seconds"):
        table[column] = [f"{value:.4f}" if value == value else "" for value in table[column]]
    print_table(table)
    _say_who_failed(comparison.table)
    if picture is not None:
        _draw(comparison, picture, names)


def _answer(separable: bool | None) -> str:
    if separable is None:
        return "A linear program could not decide whether a line separates the classes."
    return f"{'A' if separable else 'No'} line separates the classes, by a linear program."


def _two_classes(data: Any, positive: str | None, columns: str | None) -> Any:
    import numpy as np

    from verulam.base import DataError, unknown_name

    if data.target is None:
        raise DataError(
            f"name the column with the classes with --target; there are: "
            f"{', '.join(map(str, data.table.columns))}."
        )
    inputs = data.inputs
    if columns:
        selected = names_in(columns)
        for name in selected:
            if name not in inputs.columns:
                raise unknown_name("column", name, list(inputs.columns))
        inputs = inputs[selected]
    numbers = inputs.select_dtypes("number").dropna(axis="columns", how="all")
    others = [name for name in inputs.columns if name not in numbers.columns]
    if others and len(numbers.columns):
        print_words(f"Columns without numbers are left out: {', '.join(others)}.")
    complete = numbers.notna().all(axis=1).to_numpy()
    if numbers.shape[1] == 0 or not complete.any():
        raise DataError("no rows have numbers in their columns, which lines are drawn over.")
    if not complete.all():
        print_words(f"{(~complete).sum()} rows with gaps are left out.")
    numbers = numbers[complete]
    labels = np.asarray(data.target_values).astype(str)[complete]
    if positive is not None:
        if positive not in labels:
            raise unknown_name("class", positive, sorted(set(labels)))
        labels = np.where(labels == positive, positive, "other")
    if len(set(labels)) != 2:
        raise DataError(
            f"there are {len(set(labels))} classes; name one of {', '.join(sorted(set(labels)))} "
            "with --positive, to set it against the rest."
        )
    values = numbers.to_numpy(dtype=float)
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0), labels, list(numbers)


def _say_who_failed(table: Any) -> None:
    """Name the trainers that did not converge, each reason once."""
    failed = table[~table["converged"] & (table["remark"] != "")]
    reasons = failed["remark"].str.replace(r"^.* without", "stopped without", regex=True)
    for reason, group in failed.groupby(reasons, sort=False):
        print_words(f"{', '.join(group.index)}: {reason}")


def _draw(comparison: Any, picture: Path, names: list[str]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from verulam import plots
    from verulam.base import draft_of

    if len(names) == 2:
        figure, axes = plt.subplots(1, 3, figsize=(17, 5.5), layout="constrained")
        plots.lines(comparison, ax=axes[0]).set(
            title="Lines", xlabel=f"{names[0]} (scaled)", ylabel=f"{names[1]} (scaled)"
        )
        plots.trajectories(comparison, ax=axes[1]).set(title="Ways through the weights")
        plots.error_curves(comparison, ax=axes[2]).set(title="Errors on the way")
        axes[1].get_legend().remove()
        axes[2].get_legend().remove()
    else:
        figure, ax = plt.subplots(figsize=(9, 5.5), layout="constrained")
        plots.error_curves(comparison, ax=ax).set(title="Errors on the way")
        print_words(
            "Lines need two columns (--columns a,b); the picture shows the errors on the way."
        )
    with draft_of(picture) as draft:
        figure.savefig(draft, dpi=130)
    plt.close(figure)
    print_words(f"Drawn in {picture}")
