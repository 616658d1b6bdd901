"""Studies whose data sets are environments: planned, run, resumed, tested and reported."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from verulam import compare
from verulam.base import DataError, UnknownNameError, spawn_seeds
from verulam.experiment import (
    EnvironmentChoice,
    LearnerChoice,
    Results,
    Store,
    Study,
    analyse,
    finalise,
    make_plan,
    read_study,
    report,
    run,
)
from verulam.experiment._report.task_figures import agent_curves, reward_figures
from verulam.experiment._store.rows import unpack
from verulam.experiment._tasks.environments import fitting_agents
from verulam.reinforcement import (
    GridWorld,
    QLearning,
    Spaces,
    named_world,
    train,
    try_policy,
    value_iteration,
)

AGENTS = [
    "random agent",
    LearnerChoice("Q-learning", parameters={"learning_rate": 0.5}),
    LearnerChoice("Sarsa", parameters={"learning_rate": 0.01}),
]
CORRIDOR = EnvironmentChoice("corridor", episodes=30, test_episodes=5, max_steps=100)
STUDY = Study("walks", [CORRIDOR], AGENTS, resampling="6 seeds")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = tmp_path_factory.mktemp("walks") / "runs.sqlite"
    return run(STUDY, store, engine="serial", progress=False)


@pytest.fixture(scope="module")
def analysis(results):
    return analyse(results)


def stored(path):
    """Return every run of a store with its arrays."""
    with Store(path, read_only=True) as store:
        query = "SELECT run, predicted, scores FROM runs WHERE status = 'done' ORDER BY run"
        return [
            (name, unpack(values).tobytes(), unpack(curve).tobytes())
            for name, values, curve in store.rows(query)
        ]


def test_the_plan_pairs_agents_by_seed():
    plan = make_plan(STUDY)
    assert str(plan) == (
        "walks: 18 runs = 3 settings of agents x 1 environment (corridor) x 6 seeds, seed 0"
    )
    table = plan.table()
    seeds = table.pivot_table(index="fold", columns="learner", values="seed")
    assert (seeds.min(axis=1) == seeds.max(axis=1)).all()
    assert seeds["Sarsa"].nunique() == 6
    assert table["run"].nunique() == 18


def test_identities_and_seeds_are_the_same_for_ever():
    """Public paths and contents alone: what an earlier version has stored is not run again."""
    first = make_plan(STUDY).table().sort_values(["learner", "fold"]).iloc[0]
    assert (first["run"], first["seed"]) == ("6bfc1406f5965fcfc600a7a33be90eb7", 12501840)


def test_measures_are_those_of_the_episodes(results):
    scores = results.scores(["mean_return", "learning_return", "learning_steps"])
    means = scores.groupby("learner")[["mean_return", "learning_return"]].mean()
    best = value_iteration(named_world("corridor").process)
    assert best.values.max() <= 1.0
    assert means.loc["Q-learning", "mean_return"] > means.loc["random agent", "mean_return"]
    assert (scores["learning_steps"] >= 30 * 10).all()
    curves = agent_curves(analyse(results), "corridor")
    assert curves["Q-learning"].shape == (6, 30)
    by_seed = scores[scores["learner"] == "Q-learning"].sort_values("fold")["learning_return"]
    np.testing.assert_allclose(curves["Q-learning"].mean(axis=1), by_seed)


def test_a_run_is_training_and_trying_by_hand(results):
    """The numbers of the store are those of `train` and `try_policy` with the seeds of a block."""
    plan = make_plan(STUDY)
    planned = next(
        run
        for run in plan.runs
        if plan.contestants[0][run.contestant].label == "Q-learning" and run.split.fold == 2
    )
    process = named_world("corridor").process
    agent = QLearning(learning_rate=0.5, random_state=planned.seed)
    world_seed, test_seed = spawn_seeds(planned.seed, 2)
    training = train(agent, process, episodes=30, max_steps=100, random_state=world_seed)
    tried = try_policy(agent, process, episodes=5, max_steps=100, random_state=test_seed)
    scores = results.scores(["mean_return", "learning_return"]).set_index("run")
    assert scores.loc[planned.run_id, "mean_return"] == tried.returns.mean()
    assert scores.loc[planned.run_id, "learning_return"] == training.returns.mean()


def test_processes_give_the_same_and_more_seeds_keep_what_is_there(results, tmp_path):
    path = tmp_path / "runs.sqlite"
    fewer = Study("walks", [CORRIDOR], AGENTS, resampling="3 seeds")
    run(fewer, path, engine="processes", workers=2, progress=False)
    early = stored(path)
    assert len(early) == 9
    again = run(STUDY, path, engine="processes", workers=2, progress=False)
    assert again.status() == {"done": 18}
    assert set(early) < set(stored(path))
    assert stored(path) == stored(results.path)


def test_a_killed_study_goes_on_and_ends_bit_for_bit_the_same(results, tmp_path):
    path = tmp_path / "runs.sqlite"
    script = (
        "from tests_study import STUDY; from verulam.experiment import run; "
        f"run(STUDY, {str(path)!r}, engine='serial', progress=False)"
    )
    (tmp_path / "tests_study.py").write_text(
        "import time\n"
        "from verulam.experiment import EnvironmentChoice, LearnerChoice, Study\n"
        "from verulam.experiment._run import task_runs\n"
        "tried = task_runs.ControlRun.predictions\n"
        "def slowly(*arguments):\n"
        "    time.sleep(0.2)\n"
        "    return tried(*arguments)\n"
        "task_runs.ControlRun.predictions = slowly\n"
        "learners = ['random agent', LearnerChoice('Q-learning', parameters={'learning_rate': 0.5})"
        ", LearnerChoice('Sarsa', parameters={'learning_rate': 0.01})]\n"
        "world = EnvironmentChoice('corridor', episodes=30, test_episodes=5, max_steps=100)\n"
        "STUDY = Study('walks', [world], learners, resampling='6 seeds')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    try:
        until = time.monotonic() + 300
        while time.monotonic() < until and not (path.is_file() and done(path) >= 3):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    killed = done(path)
    assert 3 <= killed < 18
    again = run(STUDY, path, engine="serial", progress=False)
    assert again.status() == {"done": 18}
    assert stored(path) == stored(results.path)


def done(path):
    try:
        return Results(path).status().get("done", 0)
    except DataError:  # while it is being made
        return 0


def test_the_answer_speaks_of_agents_seeds_and_rewards(analysis):
    text = str(analysis)
    assert "Which agent is best?" in text
    assert "Mean return on corridor by 6 seeds" in text
    assert analysis.recommended == "Q-learning"
    assert "rests on 6 seeds; others would lead to the same choice" in analysis.answer.sentence
    assert "better than the random agent" in analysis.answer.sentence
    assert "paired t test for every pair" in text
    assert "agents meet the same seeds" in text
    assert "learner" not in text.replace("model learner", "")
    assert "data set" not in text
    assert "overlap" not in text


def test_tests_are_paired_by_seed(analysis):
    """The t test of differences within seeds, as chapter 19 has it."""
    table = analysis.responses.by_split("corridor")
    pairs = analysis.verdicts["corridor"].pairs
    row = pairs[(pairs["first"] == "random agent") & (pairs["second"] == "Sarsa")]
    expected = stats.ttest_rel(table["random agent"], table["Sarsa"]).pvalue
    assert float(row["p_value"].iloc[0]) == pytest.approx(expected)


def test_the_report_has_learning_curves_with_bands(analysis, tmp_path):
    (figure,) = reward_figures(analysis)
    assert figure.title == "Learning curves on corridor"
    assert "80 % of the seeds" in figure.caption
    page = report(analysis, tmp_path / "walks.html").read_text(encoding="utf-8")
    assert "Learning curves on corridor" in page
    assert "[[environments]]" in page
    assert "[[agents]]" in page


def test_a_study_file_is_the_same_study(tmp_path):
    file = tmp_path / "walks.toml"
    file.write_text(
        'name = "walks"\nresampling = "6 seeds"\nagents = ["random agent", '
        '{name = "Q-learning", parameters = {learning_rate = 0.5}}, '
        '{name = "Sarsa", parameters = {learning_rate = 0.01}}]\n'
        '[[environments]]\nsource = "corridor"\nepisodes = 30\ntest_episodes = 5\nmax_steps = 100\n'
    )
    read = read_study(file)
    assert read.to_json() == STUDY.to_json()
    expected = [run.run_id for run in make_plan(STUDY).runs]
    assert [run.run_id for run in make_plan(read).runs] == expected
    plain = file.with_name("plain.toml")
    plain.write_text('environments = ["cliff", "maze"]\nagents = ["Sarsa"]\n')
    assert [choice.source for choice in read_study(plain).data] == ["cliff", "maze"]
    assert str(read_study(plain).resampling) == "20-100 seeds"


def adaptive(agents, path, resampling="3-12 seeds", **options):
    world = EnvironmentChoice("small grid", episodes=20, test_episodes=3, max_steps=40)
    study = Study("more", [world], agents, resampling=resampling, **options)
    return run(study, path, engine="serial", progress=False)


#: Two settings whose first three seeds do not tell which is better.
CLOSE = [
    LearnerChoice("Sarsa", label=f"rate {rate}", parameters={"learning_rate": rate})
    for rate in (0.3, 0.35)
]


def test_seeds_are_added_until_the_choice_is_settled(tmp_path):
    """Far apart: the first three are enough. Close: three more at a time."""
    able = LearnerChoice("Dyna", parameters={"learning_rate": 0.9})
    apart = adaptive(["random agent", able], tmp_path / "apart.sqlite")
    assert apart.status() == {"done": 6}
    assert "by 3 seeds, the same for all agents" in " ".join(str(analyse(apart)).split())
    close = adaptive(CLOSE, tmp_path / "close.sqlite", analysis={"matters": 1e-9})
    assert close.status() == {"done": 12}
    assert "by 6 seeds, the same for all agents" in " ".join(str(analyse(close)).split())
    assert close.runs()["seed"].nunique() == 6
    # What more seeds add keeps the first ones, and is what as many seeds at one go would be.
    whole = adaptive(CLOSE, tmp_path / "whole.sqlite", "6 seeds", analysis={"matters": 1e-9})
    assert stored(close.path) == stored(whole.path)
    np.testing.assert_array_equal(*(estimates(analyse(some)) for some in (close, whole)))


def estimates(analysis):
    return next(iter(analysis.evidence.values())).table["estimate"]


def test_agents_that_are_equal_need_no_more_seeds(tmp_path):
    """Two that are the same but for their label never settle a choice, and need not."""
    same = [LearnerChoice("Dyna", label=label) for label in ("one", "other")]
    results = adaptive([*same, "random agent"], tmp_path / "runs.sqlite")
    assert results.runs()["seed"].nunique() == 3
    evidence = analyse(results).evidence["small grid"]
    assert evidence.selection.settled < 0.95


def test_a_study_that_was_stopped_goes_on_with_the_seeds_it_would_have_had(tmp_path):
    options = {"analysis": {"matters": 1e-9}}
    part = adaptive(CLOSE, tmp_path / "part.sqlite", budget={"runs": 9}, **options)
    assert part.status()["done"] == 8
    again = adaptive(CLOSE, tmp_path / "part.sqlite", **options)
    whole = adaptive(CLOSE, tmp_path / "whole.sqlite", **options)
    assert stored(again.path) == stored(whole.path)


@pytest.mark.parametrize("form", ["20-50 seeds", "20-10 seeds", "0-10 seeds"])
def test_ranges_of_seeds_go_in_equal_steps(form):
    with pytest.raises(DataError, match="the second number must be a multiple of the first"):
        Study("x", [CORRIDOR], ["Sarsa"], resampling=form)


def test_settings_of_agents_are_tuned_as_factors(tmp_path):
    """A grid in a study file: every setting is a contestant, effects are tested, one is chosen."""
    file = tmp_path / "grid.toml"
    file.write_text(
        'resampling = "4 seeds"\n[[environments]]\nsource = "corridor"\nepisodes = 12\n'
        'test_episodes = 3\nmax_steps = 60\n[[agents]]\nname = "Q-learning"\n'
        "factors = {learning_rate = [0.01, 0.9], trace_decay = [0.0, 0.9]}\n"
    )
    results = run(read_study(file), tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 16}
    analysis = analyse(results)
    effects = analysis.effects[0].table
    assert {"learning_rate", "trace_decay"} <= set(effects.index)
    assert estimates(analysis).idxmax().endswith("trace_decay=0.9)")
    assert analysis.recommended.endswith("trace_decay=0.9)")


def test_several_environments_are_ranked(tmp_path):
    worlds = [
        EnvironmentChoice(name, episodes=20, test_episodes=3, max_steps=60)
        for name in ("corridor", "small grid", "maze")
    ]
    agents = ["random agent", LearnerChoice("Dyna", parameters={"learning_rate": 0.5}), "Sarsa"]
    study = Study("many", worlds, agents, resampling="3 seeds")
    analysis = analyse(run(study, tmp_path / "runs.sqlite", engine="serial", progress=False))
    assert analysis.recommended == "Dyna"
    assert "over 3 environments it ranks best" in analysis.answer.sentence
    assert "Friedman" in analysis.over_data.method
    assert "data set" not in str(analysis)


def test_factors_shares_and_objects(tmp_path):
    agent = LearnerChoice(
        QLearning(), label="Q", factors={"learning_rate": [0.1, 0.9], "exploration": [0.1, 0.5]}
    )
    world = EnvironmentChoice(
        GridWorld("S...G", step_reward=-1.0), label="mine", episodes=8, test_episodes=2
    )
    study = Study("mine", [world], [agent], resampling="3 seeds", training_shares=(0.5, 1.0))
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 24}
    with Store(results.path, read_only=True) as store:
        lengths = {unpack(curve).shape[1] for (curve,) in store.rows("SELECT scores FROM runs")}
    assert lengths == {4, 8}
    assert set(analyse(results).effects[0].table.index) >= {"learning_rate", "exploration"}


def test_gymnasium_by_its_id():
    gymnasium = pytest.importorskip("gymnasium")
    world = EnvironmentChoice(
        "FrozenLake-v1", episodes=3, test_episodes=2, options={"is_slippery": False}
    )
    study = Study("lake", [world], ["random agent", "Q-learning"], resampling="2 seeds")
    plan = make_plan(study)
    assert plan.contestants[0][1].estimator.discount == 0.99
    made = EnvironmentChoice(gymnasium.make("FrozenLake-v1", is_slippery=False), episodes=3)
    assert make_plan(Study("x", [made], ["Sarsa"], resampling="2 seeds")).runs
    vectors = EnvironmentChoice("CartPole-v1", episodes=3)
    with pytest.raises(DataError, match="'Sarsa' cannot act in 'CartPole-v1': Sarsa keeps a table"):
        make_plan(Study("poles", [vectors], ["Sarsa"]))
    both = compare(world, progress=False, resampling="2 seeds", learners=["Q-learning", "Sarsa"])
    again = compare(world, progress=False, resampling="2 seeds", learners=["Q-learning", "Sarsa"])
    pd.testing.assert_series_equal(both.scores()["score"], again.scores()["score"])


def test_agents_by_default_are_those_that_fit():
    assert fitting_agents(Spaces(5, 2))[:3] == [
        "random agent", "Q-learning", "Q-learning with traces",
    ]  # fmt: skip
    assert "Sarsa" not in fitting_agents(Spaces(None, 2, state_size=3))
    short = EnvironmentChoice("corridor", episodes=5, test_episodes=2, max_steps=50)
    comparison = compare(short, progress=False, resampling="3 seeds")
    assert comparison.learners == fitting_agents(Spaces(5, 2))
    assert "Preparation" in str(comparison)
    assert str(comparison).startswith("corridor: Mean return by 3 seeds")


class Own:
    """A world without an identity."""

    n_states, n_actions = 2, 2

    def reset(self, *, seed=None):
        return 0, {}

    def step(self, action):
        return 1, 1.0, True, False, {}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EnvironmentChoice("cliff", episodes=0), "episodes: 0; expected a whole number"),
        (lambda: EnvironmentChoice("cliff", discount=2), "discount: 2; expected a number from 0"),
        (lambda: EnvironmentChoice(GridWorld("SG"), options={"a": 1}), "options: are for a Gym"),
        (lambda: Study("a", [CORRIDOR, "iris"], ["Sarsa"]), "environments and tables cannot"),
        (lambda: Study("a", ["iris"], ["Sarsa"]), "'Sarsa' is an agent, and needs environments"),
        (lambda: Study("a", [CORRIDOR], ["naive bayes"]), "'naive bayes' is no agent"),
        (lambda: Study("a", [CORRIDOR], ["Sarsa"], resampling="5-fold"), "k-fold makes no sense"),
        (lambda: Study("a", ["iris"], ["naive bayes"], resampling="5 seeds"), "seeds are for env"),
        (lambda: Study("a", [CORRIDOR], ["Sarsa"], test_share=0.2), "test_share: has no place"),
        (lambda: Study("a", [CORRIDOR], ["Sarsa"], tuning={}), "tuning: has no place"),
        (lambda: Study("a", [CORRIDOR], ["Sarsa"], replications=2), "replications: has no place"),
        (lambda: Study("a", [CORRIDOR], ["Sarsa"], task="density"), "'density' is for tables"),
        (lambda: compare("iris", task="density", weights="petal_width"), "weights: a column"),
        (lambda: compare("iris", task="density", target=["a", "b"]), "target: several columns"),
        (lambda: Study("a", ["iris"], ["Sarsa"], task="control"), "'control' needs environments"),
        (
            lambda: make_plan(Study("a", [CORRIDOR], ["Sarsa"], measures=["error"])),
            "'error' is for classification, but 'corridor' asks for control",
        ),
        (
            lambda: make_plan(
                Study("a", [CORRIDOR], [LearnerChoice("Sarsa", parameters={"rate": 1})])
            ),
            "Agent 'Sarsa' has no parameter 'rate'; it has discount",
        ),
        (
            lambda: make_plan(Study("a", [EnvironmentChoice(Own())], ["Sarsa"])),
            "environments: A run cannot be identified by",
        ),
        (
            lambda: make_plan(Study("a", [EnvironmentChoice(3)], ["Sarsa"])),
            "environment is of type int",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_misspelt_agent_gets_the_nearest_names():
    with pytest.raises(DataError, match=r"agents\[0\]: 'Dina' is no agent; nearest: .*Dyna"):
        Study("a", [CORRIDOR], ["Dina"])


def test_unknown_environments_are_named_beside_those_there_are():
    with pytest.raises(
        UnknownNameError,
        match=r"Unknown environment 'clif'\. Nearest: cliff, .* There are cliff, cor",
    ):
        make_plan(Study("a", [EnvironmentChoice("clif")], ["Sarsa"]))


def test_no_model_that_predicts_is_made_of_agents(results):
    with pytest.raises(DataError, match=r"study of control.*verulam.reinforcement.train"):
        finalise(results)


def test_agents_that_learn_nothing_more_than_chance_are_called_so(tmp_path):
    lazy = LearnerChoice("Sarsa", parameters={"learning_rate": 1e-9})
    world = EnvironmentChoice("small grid", episodes=2, test_episodes=20, max_steps=30)
    study = Study("lazy", [world], ["random agent", lazy], resampling="5 seeds")
    analysis = analyse(run(study, tmp_path / "runs.sqlite", engine="serial", progress=False))
    assert analysis.recommended == "random agent"
    assert "We saw no sign that learning helps: no agent did better" in analysis.answer.sentence
