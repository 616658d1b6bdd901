"""Write the list of references from ``references.bib``, the only place that holds them.

MkDocs loads this file as a hook. The list replaces a mark in ``references.md``, and each entry
gets its key as an anchor.
"""

import re
from pathlib import Path
from typing import Any

MARK = "<!-- references -->"
ENTRY = re.compile(r"@\w+\{(?P<key>\w+),\n(?P<fields>.*?)\n\}", re.DOTALL)
FIELD = re.compile(r"^ *(\w+) = \{(.*?)\},?$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the list where the page asks for it."""
    if MARK not in markdown:
        return markdown
    source = Path(page.file.abs_src_path).with_suffix(".bib").read_text(encoding="utf-8")
    entries = [
        _described(found["key"], dict(FIELD.findall(found["fields"])))
        for found in ENTRY.finditer(source)
    ]
    return markdown.replace(MARK, "\n\n".join(entries))


def _described(key: str, fields: dict[str, str]) -> str:
    """Return one entry as a definition: its key, then who, what, where and when."""
    authors = fields["author"].strip("{}").split(" and ")
    who = ", ".join(authors[:-1]) + " and " + authors[-1] if len(authors) > 1 else authors[0]
    parts = [f"{who}: *{fields['title']}*"]
    if "journal" in fields:
        issue = f"({fields['number']})" if "number" in fields else ""
        pages = f", {fields['pages'].replace('--', '–')}" if "pages" in fields else ""
        parts.append(f"{fields['journal']} {fields['volume']}{issue}{pages}")
    if "edition" in fields:
        parts.append(f"edition {fields['edition']}")
    parts += [fields[name] for name in ("booktitle", "publisher", "note", "year") if name in fields]
    return f'<span id="{key}">{key}</span>\n:   {", ".join(parts)}.'
