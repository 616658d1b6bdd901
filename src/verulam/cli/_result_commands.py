"""The commands after a study: analyse it, report it, make the model it ends in, and use it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verulam.cli._shared import (
    StoreFile,
    complete_final,
    complete_measure,
    examples,
    existing_store,
    folder_of,
    pass_on,
    say,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd

    from verulam.experiment import Analysis, ModelCard

result_app = typer.Typer()

ModelFile = Annotated[
    Path, typer.Argument(help="Model that `verulam finalise` wrote.", metavar="MODEL")
]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", help="Type in the file to accept, repeatable.", metavar="TYPE"),
]
Measure = Annotated[
    str | None, typer.Option(help="Such as error, auc, r2.", autocompletion=complete_measure)
]
Alpha = Annotated[
    float | None, typer.Option(help="Level of significance; 0.05 if the study does not say.")
]
Test = Annotated[str | None, typer.Option(help="Paired test, such as corrected_t_test.")]
Simplicity = Annotated[
    str | None,
    typer.Option(help="Cost that tells who is simpler: interpretability, fit_seconds, ..."),
]
Acceptable = Annotated[
    float | None, typer.Option(help="Level that is still good enough, to test against.")
]


@result_app.command(
    epilog=examples(
        "verulam analyse study.sqlite --measure auc",
        "verulam analyse study.sqlite --pairs",
        "verulam analyse study.sqlite --latex > table.tex",
    )
)
def analyse(
    store: StoreFile,
    measure: Measure = None,
    alpha: Alpha = None,
    test: Test = None,
    simplicity: Simplicity = None,
    acceptable: Acceptable = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the table for LaTeX.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the table as CSV.")] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Print the tests of all pairs, not with the best alone.")
    ] = False,
) -> None:
    """Analyse stored results by any measure; nothing is run again."""
    if json + latex + csv + pairs > 1:
        raise ValueError("--json, --latex, --csv and --pairs: only one of them can be printed.")
    analysis = _analysed(store, measure, alpha, acceptable, test, simplicity)
    if json:
        pass_on(analysis.to_json())
    elif latex:
        pass_on(analysis.to_latex())
    elif csv:
        pass_on(analysis.to_csv() or "", nl=False)
    elif pairs:
        say(analysis.pairs_text())
    else:
        say(str(analysis))


@result_app.command(
    epilog=examples(
        "verulam report study.sqlite", "verulam report study.sqlite -o report.html --open"
    )
)
def report(
    store: StoreFile,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; beside the store.")
    ] = None,
    measure: Measure = None,
    alpha: Alpha = None,
    test: Test = None,
    simplicity: Simplicity = None,
    acceptable: Acceptable = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write the report of a study as one HTML file."""
    folder_of(output, "--output")
    from verulam.experiment import report as write

    path = output or existing_store(store).with_suffix(".html")
    say(str(write(_analysed(store, measure, alpha, acceptable, test, simplicity), path)))
    if open_it:
        typer.launch(path.resolve().as_uri())


@result_app.command(
    epilog=examples(
        "verulam finalise study.sqlite",
        "verulam finalise study.sqlite --learner best -o model.skops",
        'verulam finalise study.sqlite --learner "naive bayes" --data penguins',
    )
)
def finalise(
    store: StoreFile,
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
    say(str(made.card))
    say(f"\nModel: {made.path}")
    say(f"Card: {', '.join(str(path) for path in made.card_paths)}")
    say(f"Next: verulam predict {made.path} NEW.csv -o predictions.csv")


@result_app.command(
    epilog=examples(
        "verulam predict model.skops new.csv -o predictions.csv",
        "verulam predict model.skops new.parquet -o predictions.parquet --keep customer",
        "verulam predict model.skops new.csv | head",
    )
)
def predict(
    model: ModelFile,
    file: Annotated[
        Path,
        typer.Argument(
            help="File of any known format; CSV and Parquet of any length.", metavar="FILE"
        ),
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
        str,
        typer.Option(help="Categories the model has never seen: missing (and told), or refuse."),
    ] = "missing",
    missing: Annotated[
        str,
        typer.Option(help="Gaps, where the model was made from complete rows: refuse, or typical."),
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
        say(f"Error: {error}", err=True)
        words = " ".join(f"--trust {name}" for name in [*(trust or ()), *error.types])
        say(f"Only if you know who made it: {words}", err=True)
        raise typer.Exit(2) from None
    done = predict_file(loaded, file, output, keep=keep or (), unseen=unseen, missing=missing)
    for line in done.notices:
        say(wrapped(line), err=True)
    if output is not None:
        rows = "1 row" if done.rows == 1 else f"{done.rows} rows"
        say(f"{output}: {rows}, columns {', '.join(done.columns)}")


@result_app.command(
    epilog=examples(
        "verulam explain model.skops new.csv", "verulam explain model.skops new.csv --row 17"
    )
)
def explain(
    model: ModelFile,
    file: Annotated[Path, typer.Argument(help="File with the row.", metavar="FILE")],
    row: Annotated[int, typer.Option(min=1, help="Number of the row, from 1.")] = 1,
    trust: Trust = None,
) -> None:
    """Say what speaks for the prediction of one row, column by column."""
    from verulam.experiment import load_model

    loaded = load_model(model, trusted=trust or ())
    table = _as_written(file, loaded.card)
    if row > len(table):
        raise ValueError(f"--row {row}: {file} has {len(table)} rows.")
    say(str(loaded.explain(table.iloc[[row - 1]].reset_index(drop=True))))


@result_app.command(epilog=examples("verulam card model.skops", "verulam card model.skops --html"))
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

        pass_on(dumps(model_card.to_dict(), indent=2, ensure_ascii=False))
    elif markdown or html:
        pass_on(model_card.to_markdown() if markdown else model_card.to_html(), nl=False)
    else:
        say(str(model_card))


def _as_written(file: Path, card: "ModelCard") -> "pd.DataFrame":
    """Return the rows of a file, which the model reads as those that it was made from."""
    import numpy as np
    import pandas as pd

    from verulam.data import read, stream

    # The cells of other formats have types of their own.
    if {".csv", ".tsv", ".txt", ".data"}.isdisjoint(suffix.lower() for suffix in file.suffixes):
        return read(file).table
    source = stream(file).source
    source.check()
    plain = {column.name for column in card.inputs if column.kind == "numeric" and not column.form}
    words = {name: np.dtype(object) for name in source.names if name not in plain}
    frames = list(source.frames(list(source.names), 100_000, words))
    return pd.concat(frames, ignore_index=True)


def _analysed(
    store: Path,
    measure: str | None,
    alpha: float | None,
    level: float | None,
    test: str | None,
    simplicity: str | None,
) -> "Analysis":
    from verulam.experiment import analyse as examine

    return examine(
        existing_store(store), measure, alpha, acceptable=level, test=test, simplicity=simplicity
    )
