"""Write one notebook for each chapter into examples/, from the tested pages of the guide.

Run ``.venv/bin/python tools/build_notebooks.py`` after a page has changed.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GUIDE, FOLDER = ROOT / "docs" / "guide", ROOT / "examples"
#: Chapter of Alpaydin's book, its title, and the page that it is shown by.
CHAPTERS = {
    8: ("Nonparametric methods", "smoothers"),
    9: ("Decision trees", "tree"),
    10: ("Linear discrimination", "linear"),
    11: ("Multilayer perceptrons", "neural"),
    12: ("Local models", "local"),
    13: ("Kernel machines", "kernel"),
    14: ("Graphical models", "graphical"),
    15: ("Hidden Markov models", "sequence"),
    16: ("Bayesian estimation", "bayes"),
    17: ("Combining multiple learners", "ensemble"),
    18: ("Reinforcement learning", "reinforcement"),
    19: ("Design and analysis of experiments", "answer"),
}
#: A notebook ends with the section before which it has more cells of code.
MOST_CELLS = 14
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def notebook(chapter: int) -> dict[str, Any]:
    """Return the notebook of a chapter as Jupyter keeps it."""
    title, page = CHAPTERS[chapter]
    text = (GUIDE / f"{page}.md").read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = [
        _markdown(f"# Chapter {chapter}: {title}\n\nFrom the page *{page}* of the guide.")
    ]
    count = 0
    for section in re.split(r"^(?=## )", text.partition("\n")[2], flags=re.MULTILINE):
        made = list(_cells(section))
        codes = sum(cell["cell_type"] == "code" for cell in made)
        if count and count + codes > MOST_CELLS:
            break
        if codes:
            cells += made
            count += codes
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _cells(section: str) -> Iterator[dict[str, Any]]:
    """Yield the paragraphs and the examples of a section as cells."""
    place = 0
    for block in _BLOCK.finditer(section):
        yield from _prose(section[place : block.start()])
        place = block.end()
        if ">>>" in block[2]:
            yield from _codes(block[2])
        else:
            yield from _prose(block[0])
    yield from _prose(section[place:])


def _prose(text: str) -> Iterator[dict[str, Any]]:
    """Yield a cell of text, without pictures, and with words in the place of local links."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\s*", "", text)
    text = re.sub(r"\[([^\]]+)\]\((?!http)[^)]*\)", r"\1", text).strip()
    if text:
        yield _markdown(text)


def _codes(block: str) -> Iterator[dict[str, Any]]:
    """Yield cells of code with what they print, from an example with prompts."""
    source: list[str] = []
    output: list[str] = []
    for line in [*block.rstrip().splitlines(), ">>> "]:
        begins = line.startswith(">>>")
        # What is printed ends a cell: a notebook shows the last value alone.
        if begins and output:
            yield _code("\n".join(source), "\n".join(output))
            source, output = [], []
        if begins or line.startswith("... ") or line == "...":
            source.append(line[4:])
        elif line.strip():
            output.append(line)
    if any(source):
        yield _code("\n".join(source).rstrip(), "")


def _code(code: str, output: str) -> dict[str, Any]:
    last = ast.parse(code).body[-1]
    shown = isinstance(last, ast.Expr) and not ast.unparse(last).startswith("print(")
    outputs = [_output(output, shown=shown)] if output else []
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs}
    return cell | {"source": code.splitlines(keepends=True)}


def _output(text: str, *, shown: bool) -> dict[str, Any]:
    text = text.replace("<BLANKLINE>", "")
    lines = text.splitlines(keepends=True)
    if not shown:
        return {"output_type": "stream", "name": "stdout", "text": lines}
    return {
        "output_type": "execute_result",
        "execution_count": None,
        "metadata": {},
        "data": {"text/plain": lines},
    }


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def file_name(chapter: int) -> str:
    """Return what the notebook of a chapter is called."""
    words = CHAPTERS[chapter][0].lower().replace(" ", "-")
    return f"chapter-{chapter:02d}-{words}.ipynb"


def written(chapter: int) -> str:
    """Return the content of the file of a chapter."""
    return json.dumps(notebook(chapter), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for chapter in CHAPTERS:
        (FOLDER / file_name(chapter)).write_text(written(chapter), encoding="utf-8")
        print(FOLDER / file_name(chapter))
