"""What the card of a final model says of its data, its learner and its origin."""

import json

from sklearn.naive_bayes import GaussianNB

from verulam.data import dataset
from verulam.experiment import DataChoice, LearnerChoice, Study, finalise, run
from verulam.experiment._store.environment import environment


def test_columns_have_roles_kinds_levels_and_ranges(finished):
    columns = {column.name: column for column in finished.made.card.columns}
    assert columns["species"].role == "target"
    assert columns["island"].levels == ("Biscoe", "Dream", "Torgersen")
    table = dataset("penguins").table
    mass = columns["body_mass_g"]
    assert mass.kind == "numeric"
    assert table["body_mass_g"].min() <= mass.low < mass.high <= table["body_mass_g"].max()
    assert 0 < columns["sex"].missing < table["sex"].isna().sum()


def test_origin(finished):
    card = finished.made.card
    assert card.data["hash"] == dataset("penguins").content_hash
    assert card.data["rows"] == 344
    assert card.study["name"] == "birds"
    assert len(card.study["hash"]) == 32
    assert card.environment == json.loads(environment().content)
    assert card.created.endswith("+00:00")
    assert card.preparation == "the table as it is"
    assert card.accepts_missing
    assert not card.as_array


def test_losses_come_with_the_card(finished):
    table = finished.made.card.loss_table()
    assert table.actions.tolist() == ["Adelie", "Chinstrap", "Gentoo", "reject"]
    assert table.matrix[1].tolist() == [5.0, 0.0, 1.0]


def test_parameters_are_those_that_differ(tmp_path):
    learner = LearnerChoice(GaussianNB(var_smoothing=0.5))
    study = Study("flowers", [DataChoice("iris")], [learner], resampling="2-fold")
    run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    card = finalise(tmp_path / "runs.sqlite", study=study).card
    assert card.parameters == {"var_smoothing": 0.5}
    assert "var_smoothing=0.5" in str(card)
