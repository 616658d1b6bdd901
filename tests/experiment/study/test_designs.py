"""Designs of studies: the settings they run, those that cannot be, and what is made of them."""

import json

import numpy as np
import pytest

from verulam.base import DataError
from verulam.design import Factor, central_composite, fractional_factorial
from verulam.experiment import (
    DataChoice,
    Design,
    LearnerChoice,
    Results,
    Study,
    analyse,
    finalise,
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
    "kernel__width": {"low": 0.7, "high": 70.0, "scale": "log"},
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
    table = central_composite(factors, "faced", centre_points=1)
    assert len(made) == len(table) == 9
    for name in RANGES:
        np.testing.assert_allclose([each[name] for each in made], table[name], rtol=1e-5)
    assert {each["kernel__width"] for each in made} == {0.7, 7.0, 70.0}


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
        "ensemble.RandomForestClassifier",
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
    assert "width=" in made.card.learner  # built again from the design that the store has


def test_a_hypercube_takes_ranges_and_levels():
    factors = {**RANGES, "kernel": ["rbf", "poly"], "degree": {"low": 1, "high": 4}}
    made = settings({"kind": "latin hypercube", "settings": 8, "seed": 2}, factors)
    assert len(made) == 8
    for name, given in RANGES.items():
        levels = np.log([each[name] for each in made])
        low, high = np.log([given["low"], given["high"]])
        parts = np.floor(8 * (levels - low) / (high - low))
        assert sorted(parts) == list(range(8))
    assert sorted(each["kernel"] for each in made) == ["poly"] * 4 + ["rbf"] * 4
    assert sorted(each["degree"] for each in made) == [1, 1, 2, 2, 3, 3, 4, 4]
    assert made == settings({"kind": "latin hypercube", "settings": 8, "seed": 2}, factors)
    assert made != settings({"kind": "latin hypercube", "settings": 8}, factors)
    assert len(settings("latin hypercube", RANGES)) == 20


def test_levels_of_a_hypercube_stay_as_they_are():
    factors = {"sizes": [[10], [5, 5]], "C": RANGES["C"]}
    made = settings({"kind": "latin hypercube", "settings": 4}, factors)
    assert sorted(repr(each["sizes"]) for each in made) == ["[10]", "[10]", "[5, 5]", "[5, 5]"]


TWO_LEVELS = {"max_depth": [1, 3], "min_samples_leaf": [1, 9], "max_features": [1, 2]}


def test_blocks_follow_the_sign_of_the_contrast():
    design = read_design({"kind": "full factorial", "blocks": ["ABC"]})
    blocks = design.blocks_for(TWO_LEVELS)
    made = design.settings_for(TWO_LEVELS)
    for setting, block in zip(made, blocks, strict=True):
        high = sum(setting[name] == levels[1] for name, levels in TWO_LEVELS.items())
        assert block == (2 if high % 2 else 1)
    assert read_design({"kind": "full factorial", "blocks": 2}).blocks_for(TWO_LEVELS) == blocks
    assert read_design("full factorial").blocks_for(TWO_LEVELS) == []


def test_a_study_runs_block_after_block_and_says_what_that_costs():
    plain, blocked = trees(), trees({"kind": "full factorial", "blocks": ["ABC"]})
    plan = make_plan(blocked)
    table = plan.table()
    assert table["block"].tolist() == [1] * 12 + [2] * 12
    assert table["setting"].nunique() == 8
    assert ids(blocked) == ids(plain)
    assert "block" not in make_plan(plain).table()
    first = table["setting"][:12]
    assert not first.equals(first.sort_values(ignore_index=True)), "random within a block"
    assert plan.order == "in random order within blocks"
    (line,) = [line for line in plan.notices if "blocks" in line]
    assert "2 blocks" in line
    assert "cannot be told from max_depth x min_samples_leaf x max_features." in line


def test_a_fraction_in_blocks_and_learners_without_blocks():
    design = {"kind": "fractional", "generators": ["C=AB"], "blocks": ["AC"]}
    with pytest.raises(
        DataError, match=r"design\.blocks: contrasts: AC would give up the factor B"
    ):
        settings(design, TWO_LEVELS)
    factors = {**TWO_LEVELS, "pruning": ["none", "pessimistic"]}
    half = {"kind": "fractional", "generators": ["D=ABC"], "blocks": ["AB"]}
    learners = [LearnerChoice("decision tree", factors=factors), LearnerChoice("majority class")]
    study = Study("half", [DataChoice("iris")], learners, resampling="10-fold", design=half)
    table = make_plan(study).table()
    blocks = table.loc[table["learner"] == "decision tree", "block"]
    assert blocks.tolist() == [1] * 40 + [2] * 40
    others = np.flatnonzero(table["learner"] == "majority class")
    assert others.min() < 40 < others.max(), "runs without a block are spread over all"


@pytest.mark.parametrize(
    ("design", "factors", "words"),
    [
        ({"kind": "full factorial", "blocks": "ABC"}, TWO_LEVELS, r"design\.blocks: 'ABC'; exp"),
        ({"kind": "full factorial", "blocks": True}, TWO_LEVELS, r"design\.blocks: True"),
        ({"kind": "full factorial", "blocks": 3}, TWO_LEVELS, r"design\.blocks: n_blocks: 3"),
        ({"kind": "full factorial", "blocks": ["AD"]}, TWO_LEVELS, r"different letters of ABC"),
        ({"kind": "full factorial", "blocks": 2}, {"k": [1, 2, 3]}, r"factors\.k: a design in bl"),
        (
            {"kind": "fractional", "generators": ["C=AB"], "blocks": 2},
            TWO_LEVELS,
            r"design\.blocks: a fraction takes the effects",
        ),
        ({"kind": "best guess", "blocks": 2}, TWO_LEVELS, r"design\.blocks: no such key"),
        ({"kind": "latin hypercube", "seed": -1}, RANGES, r"design\.seed: -1; expected"),
        ({"kind": "latin hypercube", "settings": 2}, RANGES, r"design\.settings: 2; expected"),
    ],
)
def test_bad_blocks_and_hypercubes(design, factors, words):
    with pytest.raises(DataError, match=words):
        settings(design, factors)


def test_a_study_tells_lack_of_fit_and_where_the_optimum_may_lie(tmp_path):
    ranges = {"C": {**RANGES["C"], "high": 1000.0}, "kernel__width": {"low": 0.2, "high": 20.0}}
    ranges["kernel__width"]["scale"] = "log"
    machine = LearnerChoice("support vector machine", factors=ranges, design="central composite")
    study = Study("surface", [DataChoice("iris")], [machine], resampling="5-fold")
    results = run(study, tmp_path / "surface.sqlite", engine="serial", progress=False)
    (effects,) = analyse(results).effects
    table = effects.table
    # Of a mean over five splits, a test row for every four learnt from: 1 + 5 / 4.
    variance = table.loc["error", "mean_square"] * 2.25 / 5
    assert effects.pure_error == pytest.approx((variance, 4 * 8))
    lack = effects.surface.anova.loc["lack of fit"]
    assert lack["degrees_of_freedom"] == 3
    assert lack["F"] == pytest.approx(lack["mean_square"] / variance)
    assert any(line.startswith("Sums of squares are of type II") for line in effects.notes)
    (line,) = [line for line in effects.notes if line.startswith("A quadratic surface")]
    assert "lack of fit: p =" in line
    assert "region of Box and Hunter" in line


def test_one_split_of_a_fraction_is_judged_by_lenth(tmp_path):
    results = run(
        trees(resampling="holdout"), tmp_path / "trees.sqlite", engine="serial", progress=False
    )
    (effects,) = analyse(results).effects
    assert len(effects.lenth.table) == 7
    assert any("by Lenth's method (pseudo standard error" in line for line in effects.notes)
