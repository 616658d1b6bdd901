"""Designs of studies: the settings they run, those that cannot be, and what is made of them."""

import json

import numpy as np
import pytest

from verulam.base import DataError
from verulam.experiment import (
    DataChoice,
    Design,
    Factor,
    LearnerChoice,
    Results,
    Study,
    analyse,
    central_composite,
    finalise,
    fractional_factorial,
    make_plan,
    run,
)
from verulam.experiment._effects.study_effects import surface_of
from verulam.experiment._store.responses import responses
from verulam.experiment._study.designs import read_design
from verulam.experiment._study.toml import parse_study

LEVELS = {"k": [1, 3, 5], "weights": ["uniform", "distance"]}
TWO = {"a": [1, 2], "b": [None, 3], "c": [True, False], "d": ["x", "y"]}
RANGES = {
    "C": {"low": 0.1, "high": 10.0, "scale": "log"},
    "gamma": {"low": 0.01, "high": 1.0, "scale": "log"},
}


def settings(design, factors):
    return read_design(design).settings_for(factors)


def test_every_combination_by_itself():
    made = settings(None, LEVELS)
    assert made == settings("full factorial", LEVELS)
    assert len(made) == 6
    assert made[1] == {"k": 1, "weights": "distance"}


def test_a_best_guess_is_the_first_levels_or_the_base_and_its_steps():
    assert settings("best guess", LEVELS) == [{"k": 1, "weights": "uniform"}]
    steps = [{"k": 7}, {"weights": "distance"}, {"weights": "uniform"}]
    tried = settings({"kind": "best guess", "base": {"k": 3}, "steps": steps}, LEVELS)
    assert [each["k"] for each in tried] == [3, 7, 7]  # the last step leads back


def test_one_at_a_time_stays_on_the_axes_of_its_base():
    made = settings({"kind": "one at a time", "base": {"k": 3}}, LEVELS)
    base = {"k": 3, "weights": "uniform"}
    assert made[0] == base
    assert len(made) == 1 + (3 - 1) + (2 - 1)
    assert all(sum(each[name] != base[name] for name in base) <= 1 for each in made)


def test_a_fraction_keeps_levels_of_every_kind():
    made = settings({"kind": "fractional", "generators": ["D=ABC"]}, TWO)
    assert made == settings("fractional", TWO)
    assert len(made) == 8
    codes = np.array([[1 if each[n] == TWO[n][1] else -1 for n in TWO] for each in made])
    assert (codes.T @ codes == 8 * np.eye(4)).all()
    assert {type(each["b"]) for each in made} == {int, type(None)}
    table = fractional_factorial([Factor(name, (-1, 1), "numeric") for name in TWO], ["D=ABC"])
    assert codes.tolist() == table.to_numpy().tolist()


def test_a_fraction_of_ranges_takes_their_ends():
    made = settings({"kind": "fractional", "resolution": 3}, {**RANGES, "degree": [2, 3]})
    assert len(made) == 4
    assert {each["C"] for each in made} == {0.1, 10.0}


def test_a_central_composite_is_coded_on_the_scale_of_each_range():
    made = settings("central composite", RANGES)
    factors = [Factor(name, (given["low"], given["high"]), "log") for name, given in RANGES.items()]
    table = central_composite(factors, "faced")
    assert len(made) == len(table) == 9
    for name in RANGES:
        np.testing.assert_allclose([each[name] for each in made], table[name], rtol=1e-5)
    assert {each["gamma"] for each in made} == {0.01, 0.1, 1.0}


def test_a_circumscribed_design_goes_beyond_its_ranges_and_an_inscribed_one_does_not():
    factors = {"x": {"low": -1.0, "high": 1.0}, "y": [0, 10, 20]}
    beyond = settings({"kind": "central composite", "form": "circumscribed"}, factors)
    assert max(each["x"] for each in beyond) == pytest.approx(np.sqrt(2), rel=1e-5)
    within = settings({"kind": "central composite", "form": "inscribed"}, factors)
    assert max(each["x"] for each in within) == 1.0
    assert all(isinstance(each["y"], int) for each in within)


def test_box_behnken_has_no_corners():
    made = settings("box-behnken", {name: {"low": -1, "high": 1} for name in "xyz"})
    assert len(made) == 13
    assert all(0 in each.values() for each in made)


@pytest.mark.parametrize(
    ("design", "factors", "words"),
    [
        ("grid", LEVELS, "^design: 'grid'; expected one of full factorial, best guess"),
        ({"kind": "sequential", "settings": 2}, RANGES, "^design.settings: 2; expected"),
        ({"generators": ["D=ABC"]}, TWO, r"^design\.kind: missing"),
        ({"kind": "fractional", "generator": ["D=ABC"]}, TWO, r"^design\.generator: no such key"),
        ({"kind": "box-behnken", "base": {}}, TWO, r"^design\.base: no such key of 'box-behnken'"),
        ({"kind": "fractional", "generators": "D=ABC"}, TWO, r"^design\.generators: 'D=ABC'"),
        ({"kind": "fractional", "generators": ["D=AE"]}, TWO, r"^design\.generators: 'D=AE' has"),
        ({"kind": "fractional", "generators": ["C=A"]}, TWO, r"^design\.generators: AC would be"),
        (
            {"kind": "fractional", "generators": ["D=ABC"], "resolution": 4},
            TWO,
            r"^design\.resolution: follows",
        ),
        ({"kind": "fractional", "resolution": 5}, TWO, r"^design\.resolution: 5 needs 5 factors"),
        ("fractional", LEVELS, r"^factors\.k: a fractional design takes two levels.* got 3"),
        ("central composite", LEVELS, r"^factors\.weights: \['uniform', 'distance'\]; a central"),
        ("central composite", {"k": [3]}, r"^factors\.k: 3 alone"),
        ("central composite", {"k": [1, 2]}, r"^factors\.k: no whole number between 1 and 2"),
        ({"kind": "central composite", "form": "round"}, RANGES, r"^design\.form: 'round'"),
        ("box-behnken", RANGES, "^design: A Box-Behnken design takes 3 to 7 factors, not 2"),
        ({"kind": "one at a time", "base": {"p": 1}}, LEVELS, "^design: 'p' is not a factor"),
        ({"kind": "one at a time", "base": 3}, LEVELS, r"^design\.base: 3; expected a table"),
        ({"kind": "best guess", "steps": {"k": 3}}, LEVELS, r"^design\.steps: .* list of tables"),
        (None, {"k": 3}, r"^factors\.k: expected a list of levels"),
        (None, {"k": {"low": 3}}, r"^factors\.k\.high: missing"),
    ],
)
def test_what_cannot_be_laid_out(design, factors, words):
    with pytest.raises(DataError, match=words):
        settings(design, factors)


def test_a_design_is_described_as_it_was_given():
    given = {"kind": "fractional", "generators": ["D=ABC"]}
    assert read_design(given).to_dict() == given
    assert read_design(read_design(given)) == read_design(given)
    assert Design().to_dict() == {"kind": "full factorial"}


TREES = LearnerChoice(
    "decision tree",
    factors={"max_depth": [1, 3], "min_samples_leaf": [1, 9], "max_features": [1, 2]},
)


def trees(design=None, **changes):
    given = {"resampling": "3-fold", **changes}
    return Study("trees", [DataChoice("iris")], [TREES], design=design, **given)


def ids(study):
    return {each.run_id for each in make_plan(study).runs}


def test_a_larger_design_has_the_runs_of_a_smaller_one():
    half = ids(trees({"kind": "fractional", "generators": ["C=AB"]}))
    other = ids(trees({"kind": "fractional", "generators": ["C=-AB"]}))
    assert len(half) == len(other) == 12
    assert not half & other
    assert half | other == ids(trees())
    assert ids(trees("best guess")) < ids(trees("one at a time")) < ids(trees())


def test_the_design_of_a_learner_comes_first_and_the_file_says_the_same():
    content = {
        "data": ["iris"],
        "resampling": "3-fold",
        "design": "one at a time",
        "learners": [
            "majority class",
            {"name": "decision tree", "factors": dict(TREES.factors)},
            {"name": "random forest", "factors": {"n_estimators": [5, 9]}, "design": "best guess"},
        ],
    }
    plan = make_plan(parse_study(content))
    assert [c.label for c in plan.contestants[0]] == [
        "majority class",
        *["decision tree"] * 4,
        "random forest",
    ]
    described = json.loads(plan.study.to_json())
    assert described["design"] == {"kind": "one at a time"}
    assert described["learners"][2]["design"] == {"kind": "best guess"}
    assert "design" not in described["learners"][1]


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ({"design": "best guess"}, r"learners\[0\]\.design: has no factors to lay out"),
        ({"design": 3}, r"learners\[0\]\.design: expected a text or a table, got 3"),
        ({"factors": {"p": [1, 2, 3]}, "design": "fractional"}, r"learners\[0\]\.factors\.p: a"),
        (
            {"factors": {"p": [1, 2]}, "design": {"kind": "fractional", "generators": ["B=A"]}},
            r"learners\[0\]\.design\.generators: 'B=A' has the letter B",
        ),
    ],
)
def test_errors_of_a_file_name_the_learner(learner, words):
    with pytest.raises(DataError, match=words):
        parse_study({"data": ["iris"], "learners": [{"name": "decision tree", **learner}]})


def test_effects_of_a_fraction_come_with_their_aliases(tmp_path):
    study = trees({"kind": "fractional", "generators": ["C=AB"]})
    store = tmp_path / "trees.sqlite"
    run(study, store, engine="serial", progress=False)
    found = analyse(Results(store))
    (effects,) = found.effects
    assert effects.factors == ("max_depth", "min_samples_leaf", "max_features")
    assert effects.aliases["max_depth"] == ("min_samples_leaf x max_features",)
    (line,) = [line for line in found.caveats if "fractional design" in line]
    assert "it cannot tell max_depth from min_samples_leaf x max_features" in line
    again = run(trees(), store, engine="serial", progress=False)
    assert again.status()["done"] == 24


def test_effects_along_the_axes_are_main_effects(tmp_path):
    store = tmp_path / "trees.sqlite"
    found = analyse(run(trees("one at a time"), store, engine="serial", progress=False))
    (effects,) = found.effects
    assert [name for name in effects.table.index if name in TREES.factors] == list(TREES.factors)
    assert any("Interactions are ignored" in line for line in found.caveats)


def test_a_surface_is_fitted_to_the_points_of_a_composite(tmp_path):
    machine = LearnerChoice("support vector machine", factors=RANGES, design="central composite")
    study = Study("surface", [DataChoice("iris")], [machine], resampling="3-fold", test_share=0.3)
    results = run(study, tmp_path / "surface.sqlite", engine="serial", progress=False)
    found = analyse(results)
    (effects,) = found.effects
    assert len(effects.settings) == 9
    levels = [tuple(each.levels.values()) for each in responses(results).contestants]
    assert levels == sorted(levels)
    surface = surface_of(effects)
    assert surface is not None
    assert [factor.kind for factor in surface.factors] == ["log", "log"]
    assert any("taken to be quadratic" in line for line in found.caveats)
    made = finalise(results.path, "best", path=tmp_path / "model.skops")
    assert "gamma=" in made.card.learner  # built again from the design that the store has
