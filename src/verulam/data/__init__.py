"""Tables with roles: readers, streams, bundled data sets, generators and noise."""

from verulam.base import publish as _publish
from verulam.data._arff import read_arff
from verulam.data._boolean import parity, truth_table
from verulam.data._bundled import dataset, dataset_names, list_datasets
from verulam.data._csv import read_csv
from verulam.data._curves import friedman, linear, noisy_sine, polynomial
from verulam.data._dataset import Dataset
from verulam.data._gaussian import BayesError, GaussianClasses, gaussian_classes
from verulam.data._hints import column_hint
from verulam.data._noise import NoisyData, drop_values, flip_labels, hide_column, jitter_inputs
from verulam.data._npz import read_npz
from verulam.data._parquet import read_parquet
from verulam.data._plane import blobs, checkerboard, four_spirals, two_spirals, xor
from verulam.data._read import read
from verulam.data._sequences import (
    URN_CHAIN,
    SequenceSample,
    UrnChain,
    hidden_markov,
    markov_chain,
)
from verulam.data._stream import ChunkStream, stream

__all__ = [
    "URN_CHAIN",
    "BayesError",
    "ChunkStream",
    "Dataset",
    "GaussianClasses",
    "NoisyData",
    "SequenceSample",
    "UrnChain",
    "blobs",
    "checkerboard",
    "column_hint",
    "dataset",
    "dataset_names",
    "drop_values",
    "flip_labels",
    "four_spirals",
    "friedman",
    "gaussian_classes",
    "hidden_markov",
    "hide_column",
    "jitter_inputs",
    "linear",
    "list_datasets",
    "markov_chain",
    "noisy_sine",
    "parity",
    "polynomial",
    "read",
    "read_arff",
    "read_csv",
    "read_npz",
    "read_parquet",
    "stream",
    "truth_table",
    "two_spirals",
    "xor",
]

_publish(__name__)
