r"""Formulas without a network: Matplotlib's mathtext draws them as SVG inside the page.

MkDocs loads this file as a hook, which adds a Markdown extension. It knows the forms used in
docstrings and pages: ``:math:`x^2``` and ``$x^2$`` in a line, a ``.. math::`` block or lines
between ``$$`` on their own; and the citations of docstrings, ``[key]_``.
"""

import logging
import re
from functools import cache
from html import escape
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import fromstring, register_namespace, tostring

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from matplotlib import rc_context
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image

#: Points of the drawing per em of the text around it.
FONT_SIZE = 10.0
DIRECTIVE = re.compile(r"^(?P<indent> *)\.\. math::(?P<first>.*)$")
#: Citations of reStructuredText: in a line, and the entry at the start of its block.
CITATION = r"\[(\w+)\]_"
ENTRY = re.compile(r"^( *)\.\. \[(\w+)\] ")
#: An argument without braces: a letter, a digit or a command.
ONE = r"\w|\\[a-zA-Z]++"
#: What TeX allows and mathtext lacks: pattern and replacement.
DIALECT = {
    r"\\tfrac": r"\\frac",
    rf"\\frac\s*({ONE})\s*({ONE})": r"\\frac{\1}{\2}",
    rf"\\frac\s*({ONE})\s*\{{": r"\\frac{\1}{",
    rf"\\sqrt\s*({ONE})": r"\\sqrt{\1}",
    r"\\[lr]Vert\b": r"\\Vert",
    r"\\[lr]vert\b": r"\\vert",
    r"\\text\{ (\w+) \}": r"\\ \\mathrm{\1}\\ ",
    r"\\text\{": r"\\mathrm{",
    r"\\[bB]ig+[lr]?\b": "",
    r"\\(le|ge|ne)\b": r"\\\1q",
    r"\\math(cal|bf|rm|bb) (\w)": r"\\math\1{\2}",
}
LOG = logging.getLogger("mkdocs.hooks.formulas")


def on_config(config: Any) -> Any:
    """Add the extension to those that MkDocs hands to Markdown."""
    config.markdown_extensions.append(Formulas())
    return config


@cache
def drawn(tex: str, *, full_size: bool = False) -> str:
    """Return the SVG of a formula, aligned with the line of text it stands in.

    What mathtext cannot draw is shown as it was written, with a warning, which a strict build
    takes for an error.
    """
    plain = " ".join(tex.split())
    for pattern, replacement in DIALECT.items():
        plain = re.sub(pattern, replacement, plain)
    if full_size:
        # The fractions of a block, as in TeX's display style.
        plain = plain.replace(r"\frac", r"\dfrac")
    picture = BytesIO()
    try:
        with rc_context({"svg.fonttype": "path", "svg.hashsalt": tex, "mathtext.fontset": "cm"}):
            depth = math_to_image(
                f"${plain}$", picture, prop=FontProperties(size=FONT_SIZE), dpi=72, format="svg"
            )
    except ValueError as error:
        LOG.warning("mathtext cannot draw %s: %s", plain, str(error).splitlines()[-1])
        return f"<code>{escape(tex)}</code>"
    return _inline(picture.getvalue().decode(), tex, depth)


def _inline(document: str, tex: str, depth: float) -> str:
    """Return the SVG document as an element that takes size and colour from the text."""
    register_namespace("", "http://www.w3.org/2000/svg")
    register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = fromstring(document)  # noqa: S314 - our own drawing, not foreign data
    for part in list(root):
        if part.tag.endswith("metadata"):
            root.remove(part)
    for length in ("width", "height"):
        root.set(length, f"{float(root.attrib[length].removesuffix('pt')) / FONT_SIZE:.3f}em")
    root.set("role", "img")
    root.set("aria-label", tex)
    root.set("fill", "currentColor")
    root.set("style", f"vertical-align: {-depth / FONT_SIZE:.3f}em")
    return tostring(root, encoding="unicode").replace("\n", " ")


class Formulas(Extension):
    """The Markdown extension: blocks first, then what is left inside lines."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's own name
        """Register both processors; the line's one goes before that of code in backticks."""
        md.preprocessors.register(BlockFormulas(md), "formulas", 24)
        md.inlinePatterns.register(LineFormula(r":math:`([^`]+)`", md), "math-role", 195)
        md.inlinePatterns.register(Citation(CITATION, md), "citation", 190)
        md.inlinePatterns.register(
            LineFormula(r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?![\w$])", md), "math-dollar", 184
        )


class LineFormula(InlineProcessor):
    """A formula inside a line of text."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - Markdown's own name
        self,
        m: re.Match[str],
        data: str,
    ) -> tuple[str, int, int]:
        """Return the drawing in place of the match."""
        return self.md.htmlStash.store(drawn(m.group(1))), m.start(0), m.end(0)


class Citation(InlineProcessor):
    """A citation by key, without the mark-up that Markdown does not know."""

    def handleMatch(  # type: ignore[override]  # noqa: N802 - Markdown's own name
        self,
        m: re.Match[str],
        data: str,
    ) -> tuple[str, int, int]:
        """Return the key in brackets."""
        return f"[{m.group(1)}]", m.start(0), m.end(0)


class BlockFormulas(Preprocessor):
    """Formulas in paragraphs of their own."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines with each block replaced by its drawing."""
        result: list[str] = []
        position = 0
        while position < len(lines):
            directive = DIRECTIVE.match(lines[position])
            if directive:
                tex, position = _directive(lines, position, directive)
            elif lines[position].strip() == "$$":
                end = lines.index("$$", position + 1)
                tex, position = " ".join(lines[position + 1 : end]), end + 1
            else:
                result.append(ENTRY.sub(r"\1**\2** ", lines[position]))
                position += 1
                continue
            block = f'<p class="formula">{drawn(tex, full_size=True)}</p>'
            result += ["", self.md.htmlStash.store(block), ""]
        return result


def _directive(lines: list[str], position: int, found: re.Match[str]) -> tuple[str, int]:
    """Return the formula of a ``.. math::`` block, and the line after it."""
    parts = [found.group("first")]
    deeper = found.group("indent") + " "
    position += 1
    if not parts[0].strip():
        while position < len(lines) and not lines[position].strip():
            position += 1
    while position < len(lines) and lines[position].startswith(deeper):
        parts.append(lines[position])
        position += 1
    return " ".join(parts).replace("\\\\", r"\quad ").replace("&", " "), position
