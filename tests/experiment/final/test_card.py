"""The card of a model, as people and programs read it."""

import json

import pytest

from verulam.base import DataError
from verulam.experiment import ModelCard
from verulam.experiment._final.card import ColumnCard, ResponseCard


def test_the_card_survives_json(finished):
    card = finished.made.card
    again = ModelCard.from_dict(json.loads(json.dumps(card.to_dict())))
    assert again.to_dict() == card.to_dict()
    assert again.inputs == card.inputs
    assert again.response == card.response


def test_markdown_has_everything(finished):
    text = finished.made.card.to_markdown()
    for words in (
        "# parametric.NaiveBayes for species",
        "| Made from | 229 rows of penguins |",
        "| island | input | categorical | Biscoe, Dream, Torgersen | 0 |",
        "| reject | 0.3 | 0.3 | 0.3 |",
        "locked test part",
        finished.made.card.data["hash"],
        finished.made.card.study["hash"],
        "scikit-learn",
    ):
        assert words in text


def test_html_is_escaped_and_complete(finished):
    content = finished.made.card.to_dict() | {"target": "<b>species & more</b>"}
    page = ModelCard.from_dict(content).to_html()
    assert page.startswith("<!doctype html>")
    assert "&lt;b&gt;species &amp; more" in page
    assert "<b>species" not in page
    assert "http" not in page
    for words in ("bill_length_mm", "Keep in mind", "0.3", "Wilson interval"):
        assert words in page


def test_text_fits_a_terminal(finished):
    lines = str(finished.made.card).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("parametric.NaiveBayes for species: Error")


def test_a_bar_in_a_name_does_not_break_the_table(finished):
    content = finished.made.card.to_dict()
    content["columns"] = [{**content["columns"][0], "name": "a|b"}]
    assert r"| a\|b |" in ModelCard.from_dict(content).to_markdown()


def test_a_card_of_the_future_is_refused(finished):
    with pytest.raises(DataError, match="newer Verulam"):
        ModelCard.from_dict(finished.made.card.to_dict() | {"format": 99})


def test_many_levels_are_cut_short():
    column = ColumnCard("code", "input", "categorical", tuple(range(15)))
    assert column.values == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more"
    price = ColumnCard("price", "input", "numeric", low=-0.1234567, high=2_321_170.4)
    assert price.values == "-0.123457 to 2,321,170"


def test_a_response_without_an_interval():
    assert str(ResponseCard("error", "Error", 0.25)) == "Error 0.25, locked test part"
