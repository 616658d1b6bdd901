"""A small version of `benchmarks/bench_answer.py`: how good the answer of `compare` is.

Seeds are fixed, and the limits are far wider than those that the long simulation is held to, so
that another version of a learner does not fail them by chance.
"""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not shipped"),
]

#: Sets of each size: every kind of problem so many times.
ROUNDS = 2
TIES = [("tie", kind, 200, index) for kind in ("stable 4", "unstable 4") for index in range(40)]


@pytest.fixture(scope="module")
def modules():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        names = ("bench_answer", "answer_problems", "answer_summary")
        yield {name: import_module(f"benchmarks.{name}") for name in names}


@pytest.fixture(scope="module")
def records(modules, tmp_path_factory):
    bench, problems = modules["bench_answer"], modules["answer_problems"]
    path = tmp_path_factory.mktemp("answer") / "records.jsonl"
    count = ROUNDS * len(problems.KINDS)
    work = bench.tasks((100, 200), (count, count), power=40)
    bench.simulate([*work, *TIES], path, jobs=1)
    return bench.read(path)


def _part(records, name):
    return [record for record in records if record["task"][0] == name]


@pytest.fixture(scope="module")
def sets(modules, records):
    return modules["answer_summary"].sets_table(_part(records, "set"))


def test_choice_is_about_as_good_as_the_lowest_mean(sets):
    assert sets["difference"].mean() < 0.5
    assert sets["regret"].mean() < 2.0
    assert sets.loc[sets["n"] == 200, "within"].mean() > 0.6


def test_baseline_is_not_chosen_where_it_is_far_behind(sets):
    far = sets[sets["baseline_far"]]
    assert len(far) > 20
    assert far["baseline_chosen"].mean() < 0.1


def test_baseline_is_chosen_in_pure_noise(sets):
    noise = sets[sets["kind"].isin(["pure noise", "noise numbers"])]
    assert noise["baseline_chosen"].mean() >= 0.5


def test_intervals_of_differences_cover(sets):
    assert 0.88 < sets["covered"].mean() < 0.999


def test_few_claims_are_wrong(sets):
    assert sets["claims"].sum() > 50
    assert sets["wrong_claims"].sum() <= 0.05 * sets["claims"].sum()


def test_repeats_are_added_only_where_they_are_needed(sets):
    assert sets["repeats"].between(2, 10).all()
    assert sets["repeats"].nunique() > 1
    assert sets["repeats"].mean() < 7


def test_other_splits_lead_to_the_same_choice_as_often_as_stated(sets):
    again = sets[sets["agreed"].notna()]
    assert len(again) >= 8
    assert again["agreed"].mean() == pytest.approx(again["agreement"].mean(), abs=0.3)


def test_stated_probabilities_are_about_right(modules, records):
    contestants = modules["answer_summary"].contestants_table(_part(records, "set"))
    for name in ("best", "within"):
        probable = contestants[f"stated_{name}"] > 0.5
        assert contestants.loc[probable, name].mean() > 0.5
        assert contestants.loc[~probable, name].mean() < 0.3


def test_level_learners_are_rarely_told_apart_at_any_look(modules, records):
    ties = modules["answer_summary"].ties_table(_part(records, "tie"))
    shares = ties.groupby("learners")["any look"].mean()
    assert (shares < 0.2).all()


def test_known_difference_is_recommended_and_claimed(modules, records):
    power = modules["answer_summary"].power_table(_part(records, "power"))
    assert power["recommended"].mean() > 0.85
    assert power["claimed"].mean() > 0.2
    assert not power["wrong"].any()


def test_summary_names_every_requirement(modules, records, capsys):
    modules["answer_summary"].print_summary(records)
    text = capsys.readouterr().out
    for words in ("lowest mean", "simplest among truly equal", "any look", "cover", "claimed"):
        assert words in text


def test_records_are_resumed_and_repeatable(modules, records, tmp_path):
    bench = modules["bench_answer"]
    tasks = [tuple(record["task"]) for record in _part(records, "tie")[:2]]
    path = tmp_path / "records.jsonl"
    bench.simulate(tasks[:1], path, jobs=1)
    path.write_text(path.read_text() + '{"task": ["tie", "cut')
    bench.simulate(tasks, path, jobs=1)
    assert [tuple(record["task"]) for record in bench.read(path)] == tasks
    assert bench.read(path)[1]["claimed"] == _part(records, "tie")[1]["claimed"]


def test_truth_of_known_predictions(modules):
    problems = modules["answer_problems"]
    random = np.random.default_rng(0)
    for kind in problems.KINDS:
        problem = problems.make_problem(kind, random)
        X, y = problem.draw(20_000, random)
        if problem.task == "classification":
            sure = problems.CLASSES[(problem.signal(X) > 0.5).astype(int)]
            observed = float(np.mean(sure != y))
        else:
            sure = problem.signal(X)
            observed = float(np.sqrt(np.mean((y - sure) ** 2)))
        assert problem.risk(X, sure) == pytest.approx(observed, rel=0.15, abs=0.01)
