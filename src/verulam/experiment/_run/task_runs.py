"""How a run of a task beyond prediction is made: agents trained, densities and clusters fitted."""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import silhouette_samples
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError, clone, spawn_seeds
from verulam.experiment._tasks.environments import reinforcement
from verulam.experiment._tasks.tasks import CLUSTERING, CONTROL, DENSITY

if TYPE_CHECKING:
    from verulam.experiment._plan.data import PlannedData
    from verulam.experiment._plan.records import PlannedRun
    from verulam.reinforcement import TrainingRun


class TaskRun(Protocol):
    """The two stages of a run, whose times are measured apart."""

    def fit(
        self, estimator: Any, planned: "PlannedData", run: "PlannedRun", rows: NDArray[np.int64]
    ) -> Any:
        """Let a contestant learn, and return what it has become."""

    def predictions(
        self, fitted: Any, planned: "PlannedData", run: "PlannedRun"
    ) -> dict[str, NDArray[Any]]:
        """Return what measures are computed from, by the names that a store has for it."""


class TrainedAgent(NamedTuple):
    """An agent that has learned, the world that it acts in, and how training went."""

    agent: Any
    environment: Any
    training: "TrainingRun"


class ControlRun:
    """Train an agent in an environment, then let its best policy act.

    A block is one seed: the chance of agent, world and test, the same for all agents.
    """

    def fit(
        self,
        estimator: Any,
        planned: "PlannedData",
        run: "PlannedRun",
        rows: NDArray[np.int64],
    ) -> TrainedAgent:
        """Train the agent; a share of the training rows is one of the episodes here."""
        choice = planned.data.choice
        environment = planned.data.make()
        world_seed, _ = spawn_seeds(run.seed, 2)
        if hasattr(environment, "reset"):
            environment.reset(seed=world_seed)
        training = reinforcement().train(
            estimator,
            environment,
            episodes=max(1, round(run.share * choice.episodes)),
            max_steps=choice.max_steps,
            random_state=world_seed,
        )
        return TrainedAgent(estimator, environment, training)

    def predictions(
        self, fitted: TrainedAgent, planned: "PlannedData", run: "PlannedRun"
    ) -> dict[str, NDArray[Any]]:
        """Return the returns of the tried policy, and returns and steps while learning."""
        choice = planned.data.choice
        _, test_seed = spawn_seeds(run.seed, 2)
        if hasattr(fitted.environment, "reset"):
            fitted.environment.reset(seed=test_seed)
        tried = reinforcement().try_policy(
            fitted.agent,
            fitted.environment,
            episodes=choice.test_episodes,
            max_steps=choice.max_steps,
            random_state=test_seed,
        )
        curve = np.array([fitted.training.returns, fitted.training.lengths], dtype=np.float64)
        if not (np.isfinite(tried.returns).all() and np.isfinite(curve).all()):
            raise ValueError("rewards are NaN or infinite.")
        return {"values": tried.returns, "scores": curve}


class DensityRun:
    """Fit a density, and take the log-densities of rows that it has not seen."""

    def fit(
        self,
        estimator: Any,
        planned: "PlannedData",
        run: "PlannedRun",
        rows: NDArray[np.int64],
    ) -> Any:
        """Fit the density."""
        return estimator.fit(_rows(planned, rows))

    def predictions(
        self, fitted: Any, planned: "PlannedData", run: "PlannedRun"
    ) -> dict[str, NDArray[Any]]:
        """Return the log-density of each held-out row."""
        values = np.asarray(fitted.score_samples(_rows(planned, run.split.test)), dtype=np.float64)
        if values.shape != (len(run.split.test),) or np.isnan(values).any():
            raise ValueError("score_samples gave NaN, or not one number for each row.")
        if np.isneginf(values).any():
            empty = int(np.isneginf(values).sum())
            raise ValueError(f"the density of {empty} held-out rows is 0: their log has no value.")
        return {"values": values}


class ClusteredHalves(NamedTuple):
    """A clustering of all training rows, and one of each half of them."""

    whole: "Labeller"
    halves: tuple["Labeller", "Labeller"]


class Labeller(NamedTuple):
    """A clustering that tells the cluster of any row, also where the learner cannot."""

    estimator: Any
    rows: NDArray[np.float64]
    labels: NDArray[Any]

    def labels_of(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Return the cluster of each row: as the learner says, or that of the nearest row."""
        if hasattr(self.estimator, "predict"):
            return np.asarray(self.estimator.predict(rows))
        nearest = NearestNeighbors(n_neighbors=1).fit(self.rows)
        return self.labels[nearest.kneighbors(rows, return_distance=False)[:, 0]]


class ClusteringRun:
    """Cluster rows, and see how well held-out rows fit in, and whether halves agree on them."""

    def fit(
        self, estimator: Any, planned: "PlannedData", run: "PlannedRun", rows: NDArray[np.int64]
    ) -> ClusteredHalves:
        """Fit the clustering to all training rows, and to each half of them."""
        order = np.random.default_rng([run.split.repeat, run.split.fold, 1]).permutation(rows)
        first, second = order[: len(rows) // 2], order[len(rows) // 2 :]
        whole, *halves = (
            _labeller(clone(estimator), _rows(planned, part)) for part in (rows, first, second)
        )
        return ClusteredHalves(whole, (halves[0], halves[1]))

    def predictions(
        self, fitted: ClusteredHalves, planned: "PlannedData", run: "PlannedRun"
    ) -> dict[str, NDArray[Any]]:
        """Return clusters of held-out rows, their silhouettes, and their clusters by the halves."""
        rows = _rows(planned, run.split.test)
        labels = _codes(fitted.whole.labels_of(rows))
        halves = np.column_stack([_codes(half.labels_of(rows)) for half in fitted.halves])
        # Where all rows are of one cluster, or each of its own, no other is nearer or farther.
        widths = np.zeros(len(rows))
        if 1 < len(np.unique(labels)) < len(rows):
            widths = silhouette_samples(rows, labels)
        return {"values": labels, "probabilities": halves, "scores": widths}


def _labeller(estimator: Any, rows: NDArray[np.float64]) -> Labeller:
    if hasattr(estimator, "predict"):
        return Labeller(estimator.fit(rows), rows, np.empty(0))
    labels = np.asarray(estimator.fit_predict(rows))
    if labels.shape != (len(rows),):
        raise DataError(f"fit_predict gave shape {labels.shape} for {len(rows)} rows.")
    return Labeller(estimator, rows, labels)


def _codes(labels: NDArray[Any]) -> NDArray[np.int32]:
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _rows(planned: "PlannedData", rows: NDArray[np.int64]) -> Any:
    """Return some rows as numbers, or as a table where they are categories."""
    if planned.numbers is None:
        return planned.inputs.iloc[rows].reset_index(drop=True)
    return planned.numbers[rows]


#: How runs of each task are made; those that predict a target are not among them.
TASK_RUNS: dict[str, TaskRun] = {
    CONTROL: ControlRun(),
    DENSITY: DensityRun(),
    CLUSTERING: ClusteringRun(),
}
