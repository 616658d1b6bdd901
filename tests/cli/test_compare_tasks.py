"""Comparisons that predict nothing, as a user gives them: agents, densities, clusterings."""

import pytest

from verulam.cli import main


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own, on a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys, *words, code=0):
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    assert (caught.value.code or 0) == code
    captured = capsys.readouterr()
    assert all(len(line) <= 80 for line in captured.out.splitlines())
    return captured.out + captured.err


def test_agents_in_one_line(capsys, folder):
    output = printed(
        capsys, "compare", "--environment", "corridor", "--episodes", "10", "--resampling",
        "3 seeds", "--learners", "random agent,Sarsa,Dyna", "--jobs", "1", "--store", "runs.sqlite",
    )  # fmt: skip
    assert output.startswith("corridor: Mean return by 3 seeds, the same for all agents\n")
    assert "rests on 3 seeds" in " ".join(output.split())
    assert output.endswith("\nReport: corridor-comparison.html\n")
    page = (folder / "corridor-comparison.html").read_text(encoding="utf-8")
    assert "verulam compare " in page
    assert "--environment corridor --episodes 10" in page
    assert "--learners &#39;random agent,Sarsa,Dyna&#39;" in page
    assert "Learning curves on corridor" in page
    status = printed(capsys, "status", "runs.sqlite")
    assert "9 done" in status


def test_tasks_of_tables(capsys):
    words = ("iris", "--resampling", "3-fold", "--no-report", "--jobs", "1")
    output = printed(
        capsys, "compare", *words, "--task", "density", "--learners",
        "parametric.GaussianDensity,nonparametric.KernelDensity",
    )  # fmt: skip
    assert output.startswith("iris: Log-likelihood by 3-fold cross-validation\n")
    output = printed(
        capsys, "compare", *words, "--task", "clustering", "--learners", "k-means",
        "--measure", "stability",
    )  # fmt: skip
    assert output.startswith("iris: Stability by 3-fold cross-validation\n")


def test_a_study_of_agents_from_plan_to_report(capsys, folder):
    (folder / "walks.toml").write_text(
        'resampling = "3 seeds"\nagents = ["random agent", "Sarsa"]\n'
        '[[environments]]\nsource = "corridor"\nepisodes = 5\nmax_steps = 50\n'
    )
    assert "6 runs = 2 settings of agents x 1 environment" in " ".join(
        printed(capsys, "plan", "walks.toml").split()
    )
    output = printed(capsys, "run", "walks.toml", "--engine", "serial")
    assert "6 done" in output
    assert "finalise" not in output
    assert "agents meet the same seeds" in " ".join(
        printed(capsys, "analyse", "walks.sqlite").split()
    )
    printed(capsys, "report", "walks.sqlite")
    refused = printed(capsys, "finalise", "walks.sqlite", code=2)
    assert "study of control" in " ".join(refused.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a data set or a file, or an environment"),
        (("iris", "--environment", "cliff"), "without the data 'iris'"),
        (("iris", "--episodes", "5"), "is for --environment"),
        (("--environment", "cliff", "--task", "density"), "is for tables"),
        (("--environment", "clif"), "Unknown environment 'clif'"),
        (("iris", "--task", "sorting"), "Unknown task 'sorting'"),
        (("--environment", "cliff", "--learners", "naive bayes"), "'naive bayes' is no agent"),
    ],
)
def test_what_does_not_fit_is_refused(capsys, words, message):
    assert message in " ".join(printed(capsys, "compare", *words, code=2).split())
