"""The commands after a study: make the model it ends in, and use it."""

from pathlib import Path
from typing import Annotated

import typer

from verulam.cli._shared import complete_final, examples, existing_store, folder_of, wrapped

model_app = typer.Typer()

ModelFile = Annotated[
    Path, typer.Argument(help="Model that `verulam finalise` wrote.", metavar="MODEL")
]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", help="Type in the file to accept, repeatable.", metavar="TYPE"),
]


@model_app.command(
    epilog=examples(
        "verulam finalise study.sqlite",
        "verulam finalise study.sqlite --learner best -o model.skops",
        'verulam finalise study.sqlite --learner "naive bayes" --data penguins',
    )
)
def finalise(
    store: Annotated[
        Path, typer.Argument(help="Store of a study, or the study file beside it.", metavar="STORE")
    ],
    learner: Annotated[
        str | None,
        typer.Option(
            help="best (mean response), recommended (simplest that nothing beats), or a name; "
            "the recommended one if not given, else the best.",
            autocompletion=complete_final,
        ),
    ] = None,
    data: Annotated[str | None, typer.Option(help="Data set, where the study has several.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model file to write; beside the store.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="The data, where they are no longer where they were.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Use the locked part again, or replace a file; recorded."),
    ] = False,
) -> None:
    """Make the model that a study ends in, judge it once, save it.

    It is fitted to all rows but those that the study locked away, which are then used for the
    first and only time. Its card is written beside it.
    """
    folder_of(output, "--output")
    from verulam.experiment import finalise as make

    made = make(existing_store(store), learner, data=data, path=output, source=source, force=force)
    typer.echo(str(made.card))
    typer.echo(f"\nModel: {made.path}")
    typer.echo(f"Card: {', '.join(str(path) for path in made.card_paths)}")
    typer.echo(f"Next: verulam predict {made.path} NEW.csv -o predictions.csv")


@model_app.command(
    epilog=examples(
        "verulam predict model.skops new.csv -o predictions.csv",
        "verulam predict model.skops new.parquet -o predictions.parquet --keep customer",
        "verulam predict model.skops new.csv | head",
    )
)
def predict(
    model: ModelFile,
    file: Annotated[
        Path, typer.Argument(help="CSV or Parquet file, of any length.", metavar="FILE")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV or Parquet file to write; else printed as CSV."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", help="Column of FILE to write as well, repeatable.", metavar="COLUMN"
        ),
    ] = None,
    unseen: Annotated[
        str, typer.Option(help="Categories the model has never seen: refuse, or missing.")
    ] = "refuse",
    trust: Trust = None,
) -> None:
    """Predict for every row of a file with a saved model.

    Probabilities are written too and, where the study said what wrong decisions cost, the
    decisions of least risk. Nothing in a model file is executed: types that are neither
    Verulam's nor scikit-learn's are listed and refused.
    """
    folder_of(output, "--output")
    from verulam.experiment import UntrustedModelError, load_model, predict_file

    try:
        loaded = load_model(model, trusted=trust or ())
    except UntrustedModelError as error:
        typer.echo(f"Error: {error}", err=True)
        words = " ".join(f"--trust {name}" for name in [*(trust or ()), *error.types])
        typer.echo(f"Only if you know who made it: {words}", err=True)
        raise typer.Exit(2) from None
    done = predict_file(loaded, file, output, keep=keep or (), unseen=unseen)
    for line in done.notices:
        typer.echo(wrapped(line), err=True)
    if output is not None:
        rows = "1 row" if done.rows == 1 else f"{done.rows} rows"
        typer.echo(f"{output}: {rows}, columns {', '.join(done.columns)}")


@model_app.command(epilog=examples("verulam card model.skops", "verulam card model.skops --html"))
def card(
    model: ModelFile,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print it as HTML.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Print the card of a saved model."""
    if markdown + html + json > 1:
        raise ValueError("--markdown, --html and --json: only one of them can be printed.")
    from verulam.experiment import read_card

    model_card = read_card(model)
    if json:
        from json import dumps

        typer.echo(dumps(model_card.to_dict(), indent=2, ensure_ascii=False))
    elif markdown or html:
        typer.echo(model_card.to_markdown() if markdown else model_card.to_html(), nl=False)
    else:
        typer.echo(str(model_card))
