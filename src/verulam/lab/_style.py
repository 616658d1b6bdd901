"""How the lab looks: the colours of `verulam.plots`, on light and on dark ground."""

from dataclasses import dataclass

from matplotlib.colors import to_rgb
from panel.theme import Design, Inherit
from panel.viewable import Viewable

from verulam.lab._jobs import LEVELS, MOST_CODES
from verulam.plots._style import PALETTE

#: Bokeh's names of the markers of `verulam.plots`.
MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x", "star")
WEAKEST, STRONGEST = 0.10, 0.42


@dataclass(frozen=True)
class Tones:
    """Colours of a page.

    Attributes
    ----------
    name
        "light" or "dark".
    ground, panel, ink, faint, edge, accent
        Of the page, of its parts, of words, of quieter words, of lines, and of what is active.
    """

    name: str
    ground: str
    panel: str
    ink: str
    faint: str
    edge: str
    accent: str


LIGHT = Tones("light", "#fbfbfa", "#ffffff", "#20262c", "#5a646e", "#d9dde1", "#0072b2")
DARK = Tones("dark", "#15191d", "#1d2329", "#e6e9ec", "#a3adb7", "#39424b", "#56b4e9")


def mixed(colour: str, ground: str, share: float) -> str:
    """Return a colour over a ground: 0 is the ground, 1 the colour."""
    pairs = zip(to_rgb(colour), to_rgb(ground), strict=True)
    parts = (round(255 * (share * front + (1 - share) * back)) for front, back in pairs)
    return "#" + "".join(f"{part:02x}" for part in parts)


def class_palette(tones: Tones) -> list[str]:
    """Return the colours of the bytes in a picture of classes, by class and certainty."""
    colours = (*PALETTE[: MOST_CODES - 1], tones.faint)
    return [
        mixed(colour, tones.panel, WEAKEST + (STRONGEST - WEAKEST) * level / (LEVELS - 1))
        for colour in colours
        for level in range(LEVELS)
    ]


def density_palette(tones: Tones) -> list[str]:
    """Return the colours of the bytes in a picture of a density."""
    return [mixed(PALETTE[0], tones.panel, 0.85 * level / 255) for level in range(256)]


#: Inside the parts of a page, which styles of the page itself do not reach.
PARTS = """
:host { font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 14px;
  color: var(--lab-ink, #20262c); }
.bk-input, select.bk-input { background: var(--lab-panel, #fff); color: var(--lab-ink, #20262c);
  border: 1px solid var(--lab-edge, #d9dde1); border-radius: 6px; min-height: 30px; }
.bk-input:focus-visible, .bk-btn:focus-visible, a:focus-visible, summary:focus-visible {
  outline: 2px solid var(--lab-accent, #0072b2); outline-offset: 1px; box-shadow: none; }
.bk-btn, .bk-btn.bk-btn-default { background: var(--lab-panel, #fff);
  color: var(--lab-ink, #20262c); border: 1px solid var(--lab-edge, #d9dde1); border-radius: 6px;
  padding: 4px 10px; }
.bk-btn:hover { border-color: var(--lab-accent, #0072b2); }
.bk-btn.bk-active, .bk-btn.bk-btn-default.bk-active, .bk-btn.bk-btn-primary {
  background: var(--lab-accent, #0072b2); color: var(--lab-on-accent, #fff);
  border-color: var(--lab-accent, #0072b2); }
select.bk-input:not([size]):not([multiple]) { appearance: none; background-repeat: no-repeat;
  background-image: linear-gradient(45deg, transparent 50%, var(--lab-faint, #5a646e) 50%),
    linear-gradient(135deg, var(--lab-faint, #5a646e) 50%, transparent 50%);
  background-position: right 14px center, right 9px center; background-size: 5px 5px; }
select.bk-input[size] { background-image: none; }
.bk-description > .bk-icon { background-color: var(--lab-faint, #5a646e); }
.bk-btn.bk-active, .bk-btn-group .bk-btn.bk-active { box-shadow: none; }
.bk-btn-group .bk-btn { border: 1px solid var(--lab-edge, #d9dde1); }
.card { border: 0; }
:host(.card) { outline: 1px solid var(--lab-edge, #d9dde1); }
:host(.card:hover) { outline-color: var(--lab-accent, #0072b2); }
button.card-header { color: var(--lab-faint, #5a646e); }
.card-button svg { display: none; }
.card-button::before { content: ""; display: block; width: 9px; height: 9px; margin: 2px;
  background: currentColor; clip-path: polygon(20% 0, 80% 50%, 20% 100%); }
[aria-expanded="true"] > .card-button::before { transform: rotate(90deg); }
button.card-header:focus-visible { outline: 2px solid var(--lab-accent, #0072b2); }
.bk-btn-group > .bk-btn { box-shadow: none; }
.card-header { padding: 4px 6px; min-height: 0; } .card-header-row h3, .card-title h3 {
  font-size: 13px; font-weight: 500; margin: 2px 0; }
label, .bk-input-group > label { color: var(--lab-faint, #5a646e); font-size: 13px; }
.bk-slider-title, .bk-slider-value { color: var(--lab-ink, #20262c); font-size: 13px; }
.noUi-target { background: var(--lab-edge, #d9dde1); border: 0; box-shadow: none; }
.noUi-connect { background: var(--lab-accent, #0072b2) !important; }
.noUi-handle { background: var(--lab-panel, #fff); border: 1px solid var(--lab-accent, #0072b2);
  box-shadow: none; border-radius: 50%; }
a { color: var(--lab-accent, #0072b2); }
pre { background: var(--lab-ground, #fbfbfa); color: var(--lab-ink, #20262c);
  border: 1px solid var(--lab-edge, #d9dde1); border-radius: 6px; padding: 10px;
  overflow: auto; max-height: 420px; font-size: 12.5px; white-space: pre; user-select: all; }
.caption { color: var(--lab-ink, #20262c); line-height: 1.4; min-height: 2.8em; }
.caption .quiet, .quiet { color: var(--lab-faint, #5a646e); }
.caption .wrong, .wrong { color: var(--lab-wrong, #b3261e); }
h2, h3 { font-weight: 600; margin: 4px 0; }
h2 { font-size: 17px; } h3 { font-size: 15px; }
"""


class LabDesign(Design):
    """The look of every part of a page."""

    modifiers = {Viewable: {"stylesheets": [Inherit, PARTS]}}  # noqa: RUF012


def page_style(tones: Tones) -> str:
    """Return the style of a page: its colours as variables, its frame and its list of pages."""
    on_accent = "#ffffff" if tones is LIGHT else "#0b1116"
    wrong = "#b3261e" if tones is LIGHT else "#ff9a8f"
    return f"""
:root {{ color-scheme: {tones.name}; --lab-ground: {tones.ground}; --lab-panel: {tones.panel};
  --lab-ink: {tones.ink}; --lab-faint: {tones.faint}; --lab-edge: {tones.edge};
  --lab-accent: {tones.accent}; --lab-on-accent: {on_accent}; --lab-wrong: {wrong};
  --panel-primary-color: {tones.accent}; --panel-background-color: {tones.panel};
  --panel-on-background-color: {tones.ink}; --panel-surface-color: {tones.panel};
  --panel-on-surface-color: {tones.ink}; --panel-border-color: {tones.edge}; }}
html, body {{ margin: 0; background: var(--lab-ground); color: var(--lab-ink); height: auto;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; }}
header {{ display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center;
  padding: 8px 20px; background: var(--lab-panel); border-bottom: 1px solid var(--lab-edge); }}
header strong {{ font-weight: 600; margin-right: 8px; }}
header nav {{ display: flex; flex-wrap: wrap; gap: 4px; flex: 1; }}
header a, header button {{ color: var(--lab-ink); text-decoration: none; padding: 5px 10px;
  border-radius: 6px; border: 1px solid transparent; background: none; font: inherit;
  cursor: pointer; }}
header a:hover, header button:hover {{ border-color: var(--lab-edge); }}
header a[aria-current="page"] {{ border-color: var(--lab-accent); color: var(--lab-accent); }}
header a:focus-visible, header button:focus-visible {{ outline: 2px solid var(--lab-accent); }}
main {{ padding: 14px 20px 40px; max-width: 1400px; margin: 0 auto; box-sizing: border-box; }}
@media (max-width: 820px) {{ main {{ padding: 8px 10px 30px; }} }}
.skip {{ position: absolute; left: -999px; }} .skip:focus {{ left: 8px; top: 8px; z-index: 9; }}
"""
