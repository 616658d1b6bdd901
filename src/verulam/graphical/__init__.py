"""Graphical models: networks of discrete variables that can be asked anything."""

from verulam.base import publish as _publish
from verulam.graphical._applications import (
    log_likelihood_of_sites,
    phylogeny,
    rate_hierarchy,
    story_over_days,
    topic_text,
)
from verulam.graphical._decisions import BestChoice, InfluenceDiagram, Utility
from verulam.graphical._dynamic import DynamicNetwork, from_hidden_markov
from verulam.graphical._factor import Factor, FactorModel, multiply
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._inference.answers import MostProbable, Posterior
from verulam.graphical._inference.elimination import eliminate, enumerate_joint
from verulam.graphical._inference.junction_tree import JunctionTree
from verulam.graphical._inference.loopy import Beliefs, loopy_propagation
from verulam.graphical._inference.mean_field import mean_field
from verulam.graphical._inference.polytree import Propagation, propagate
from verulam.graphical._inference.sampling import (
    SampledRows,
    gibbs_sampling,
    likelihood_weighting,
)
from verulam.graphical._learners.classifier import BayesianNetworkClassifier
from verulam.graphical._learners.density import BayesianNetworkDensity
from verulam.graphical._learning.levels import Levels
from verulam.graphical._learning.search import (
    LearnedStructure,
    learn_structure,
    structure_score,
)
from verulam.graphical._learning.tables import (
    HiddenParent,
    LearnedTables,
    fit_softmax,
    learn_tables,
    try_hidden_parent,
)
from verulam.graphical._learning.trees import chow_liu, tree_augmented
from verulam.graphical._network.conditionals import NoisyOr, SoftmaxTable, Table, tabulate
from verulam.graphical._network.examples import asia, sprinkler
from verulam.graphical._network.formats import parse_bif, read_bif, to_bif, to_dot, write_bif
from verulam.graphical._network.network import BayesianNetwork
from verulam.graphical._network.separation import (
    ExplainingAway,
    PathReport,
    Separation,
    connection,
    d_separated,
    explaining_away,
    independences,
)
from verulam.graphical._undirected.constraints import ConstraintNetwork, Mode, necker_cube
from verulam.graphical._undirected.factor_graph import FactorGraph
from verulam.graphical._undirected.markov_field import (
    FieldMessages,
    MarkovField,
    moralise,
    propagate_field,
)
from verulam.graphical._undirected.pixel_grid import Restored, restore_image

__all__ = [
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BayesianNetworkDensity",
    "Beliefs",
    "BestChoice",
    "ConstraintNetwork",
    "DirectedGraph",
    "DynamicNetwork",
    "ExplainingAway",
    "Factor",
    "FactorGraph",
    "FactorModel",
    "FieldMessages",
    "HiddenParent",
    "InfluenceDiagram",
    "JunctionTree",
    "LearnedStructure",
    "LearnedTables",
    "Levels",
    "MarkovField",
    "Mode",
    "MostProbable",
    "NoisyOr",
    "PathReport",
    "Posterior",
    "Propagation",
    "Restored",
    "SampledRows",
    "Separation",
    "SoftmaxTable",
    "Table",
    "Utility",
    "asia",
    "chow_liu",
    "connection",
    "d_separated",
    "eliminate",
    "enumerate_joint",
    "explaining_away",
    "fit_softmax",
    "from_hidden_markov",
    "gibbs_sampling",
    "independences",
    "learn_structure",
    "learn_tables",
    "likelihood_weighting",
    "log_likelihood_of_sites",
    "loopy_propagation",
    "mean_field",
    "moralise",
    "multiply",
    "necker_cube",
    "parse_bif",
    "phylogeny",
    "propagate",
    "propagate_field",
    "rate_hierarchy",
    "read_bif",
    "restore_image",
    "sprinkler",
    "story_over_days",
    "structure_score",
    "tabulate",
    "to_bif",
    "to_dot",
    "topic_text",
    "tree_augmented",
    "try_hidden_parent",
    "write_bif",
]

_publish(__name__)
