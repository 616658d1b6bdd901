"""Words from data made harmless where they are shown: terminals, Markdown, spreadsheets."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: What moves the cursor, colours or rings: control characters but for new lines and tabs, and the
#: marks that turn the direction of what follows.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: Signs with a meaning in Markdown; an underscore inside of a word has none.
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: A cell that begins like this is a formula to spreadsheets, unless it is a number.
_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r]")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|[+-]?inf")


def visible_text(text: str) -> str:
    r"""Return a text in which control characters are spelled out, so that none acts on a terminal.

    Examples
    --------
    >>> from verulam.base import visible_text
    >>> print(visible_text("a label \x1b[31min red\x1b[0m"))
    a label \x1b[31min red\x1b[0m
    """
    return _UNSEEN.sub(lambda match: repr(match[0])[1:-1], text)


def markdown_text(text: str) -> str:
    r"""Return a text that Markdown shows as it is, in one line.

    Examples
    --------
    >>> from verulam.base import markdown_text
    >>> print(markdown_text("[click](http://a.example) <b>me</b> | n_neighbors"))
    \[click\](http://a.example) &lt;b&gt;me&lt;/b&gt; \| n_neighbors
    """
    escaped = _MARKUP.sub(lambda match: f"\\{match[0]}", visible_text(" ".join(text.split())))
    return re.sub("[&<>]", lambda match: _HTML[match[0]], escaped)


def spreadsheet_text(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; what is no text stays as it is.

    Examples
    --------
    >>> from verulam.base import spreadsheet_text
    >>> [spreadsheet_text(cell) for cell in ["=1+1", "-5", "red", -5.0]]
    ["'=1+1", '-5', 'red', -5.0]
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def spreadsheet_table(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table to be written as CSV: names and texts are no formulas, numbers stay numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.base import spreadsheet_table
    >>> print(spreadsheet_table(pd.DataFrame({"+name": ["@sum", "b"], "size": [-1, 2]})).to_csv())
    ,'+name,size
    0,'@sum,-1
    1,b,2
    <BLANKLINE>
    """
    import pandas as pd

    safe = table.rename(columns=spreadsheet_text, index=spreadsheet_text)
    safe.index.names = [spreadsheet_text(name) for name in safe.index.names]
    for place, dtype in enumerate(table.dtypes):
        texts = (
            isinstance(dtype, pd.CategoricalDtype)
            or pd.api.types.is_object_dtype(dtype)
            or pd.api.types.is_string_dtype(dtype)
        )
        if texts:
            safe.isetitem(place, [spreadsheet_text(cell) for cell in table.iloc[:, place]])
    return safe
