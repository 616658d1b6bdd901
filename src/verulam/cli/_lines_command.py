"""The command that draws every line between two classes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from verulam.cli._completion import complete_data
from verulam.cli._printing import console, print_table

lines_app = typer.Typer()


@lines_app.command()
def lines(
    data: Annotated[
        str,
        typer.Argument(help="Name of a bundled data set, or a file.", autocompletion=complete_data),
    ],
    target: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="This class against all others, where there are more.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, separated by commas; two can be drawn.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the lines over two columns into this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the trainers that need chance.")] = 0,
) -> None:
    """Train every linear trainer on two classes: who converges, how wrong, how wide, how fast.

    For example: verulam lines iris --positive setosa --columns petal_length_cm,petal_width_cm
    """
    from verulam.experiment import open_data
    from verulam.linear import compare_lines

    rows, classes, names = _two_classes(open_data(data, target=target), positive, columns)
    found = compare_lines(rows, classes, random_state=seed)
    answer = "A line separates" if found.separability else "No line separates"
    console().print(
        f"{answer} the classes, by a linear program. {len(rows)} rows, columns scaled: "
        f"{', '.join(names)}.",
        highlight=False,
        markup=False,
    )
    table = found.table.drop(columns="remark").reset_index()
    for column in ("error rate", "margin", "seconds"):
        table[column] = [f"{value:.4f}" if value == value else "" for value in table[column]]
    print_table(table)
    if picture is not None:
        _draw(found, picture)


def _two_classes(found: Any, positive: str | None, columns: str | None) -> Any:
    import numpy as np

    from verulam.base import DataError, unknown_name

    inputs = found.inputs
    if columns:
        wanted = [name.strip() for name in columns.split(",")]
        for name in wanted:
            if name not in inputs.columns:
                raise unknown_name("column", name, list(inputs.columns))
        inputs = inputs[wanted]
    numbers = inputs.select_dtypes("number").dropna(axis="columns", how="all")
    complete = numbers.notna().all(axis=1).to_numpy()
    if numbers.shape[1] == 0 or not complete.any():
        raise DataError("no rows have numbers in their columns, which lines are drawn over.")
    if not complete.all():
        left_out = f"{(~complete).sum()} rows with gaps are left out."
        console().print(left_out, highlight=False, markup=False)
    numbers = numbers[complete]
    labels = np.asarray(found.target_values).astype(str)[complete]
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


def _draw(found: Any, picture: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from verulam.plots import lines as draw_lines

    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    draw_lines(found, ax=axes)
    figure.savefig(picture, dpi=130)
    console().print(f"Lines drawn in {picture}", highlight=False, markup=False)
