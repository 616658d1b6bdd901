"""Drawings that fit into a page."""

import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt

from verulam.experiment._report.svg import INK, drawn, page_svg


def sketch(title="a title"):
    axes = plt.subplots()[1]
    axes.plot([0, 1], [0, 1], color="black")
    axes.set_title(title)
    return axes


def test_takes_the_colour_of_the_page():
    svg = drawn(sketch)
    assert "currentColor" in svg
    assert INK not in svg
    assert "#000000" not in svg


def test_keeps_black_on_white():
    svg = drawn(sketch, on_white=True)
    assert "currentColor" not in svg
    assert INK not in svg


def test_labels_are_escaped_and_never_formulas():
    svg = drawn(lambda: sketch("<b>$x_1$</b>"))
    assert "<b>" not in svg
    assert "&lt;b&gt;$x_1$&lt;/b&gt;" in svg


def test_is_well_formed_and_repeatable():
    svg = drawn(sketch)
    assert ET.fromstring(svg).tag.endswith("svg")
    assert svg == drawn(sketch)


def test_leaves_no_figure_and_no_settings_behind():
    before = plt.rcParams["text.color"], plt.get_fignums()
    drawn(sketch)
    assert (plt.rcParams["text.color"], plt.get_fignums()) == before


def test_no_prologue_no_metadata():
    source = '<?xml?><!DOCTYPE x><svg width="100.4pt"><metadata>\n<a/></metadata><g id="a"/></svg>'
    assert page_svg(source) == '<svg style="width:100pt;min-width:58pt"><g/></svg>'
