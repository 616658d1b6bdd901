"""Findings beyond the answer: in the text, and as plain values."""

import json

import pytest
from tests.experiment.conftest import BASELINE, BAYES, MEANS

from verulam.experiment import analyse
from verulam.experiment._words.findings import (
    alias_lines,
    finding_blocks,
    finding_values,
    variance_rows,
)


def test_effects_are_in_the_text(factors):
    analysis = analyse(factors)
    text = "\n".join(finding_blocks(analysis))
    assert "Effects: k-nearest neighbours on breast_cancer" in text
    assert "learner x training share" in text
    assert "experimental error" in text
    assert "which share" in " ".join(text.split())
    assert max(map(len, str(analysis).splitlines())) <= 80


def test_interaction_of_contestants_and_data_sets(several):
    analysis = analyse(several)
    assert "contestants x data sets" in analysis.interaction.index
    assert "contestants x data sets" in str(analysis)
    assert set(analysis.errors) == {"iris", "wine", "penguins"}
    assert [each.data for each in analysis.overlaps] == ["iris", "wine", "penguins"]


def test_vectors_are_in_the_text(make_results):
    options = {"resampling": "5x2", "response": ["error", "balanced_accuracy"]}
    analysis = analyse(make_results([BASELINE, MEANS, BAYES], ["wine"], **options))
    assert "By error, balanced_accuracy together" in " ".join(str(analysis).split())


def test_everything_is_plain_json(factors):
    found = json.loads(analyse(factors).to_json())
    assert found["effects"][0]["table"][0]["source"] == "n_neighbors"
    assert found["effects"][0]["aliases"] == {}
    assert {row["index"] for row in found["effects"][0]["means"]["n_neighbors"]} == {1, 15}
    assert found["experimental_error"]["breast_cancer"]["splits"] == 3
    assert found["error_overlap"][0]["rows"] == 569
    assert found["vector_responses"] == []


def test_cells_of_a_table(factors):
    effects = analyse(factors).effects[0]
    rows = variance_rows(effects.table)
    assert [row[0] for row in rows] == ["n_neighbors", "splits", "error", "total"]
    assert rows[-1][3:] == ["-", "-", "-", "-"]
    assert alias_lines(effects) == []


@pytest.mark.parametrize("name", ["two"])
def test_little_is_said_where_little_varies(name, request):
    found = finding_values(analyse(request.getfixturevalue(name)))
    assert found["effects"] == []
    assert found["interaction"] is None
