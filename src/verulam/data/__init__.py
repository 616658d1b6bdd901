"""Tables with roles: readers, streams, bundled data sets, generators and noise."""

from verulam.base import publish as _publish
from verulam.data._bundled import dataset, dataset_names, list_datasets
from verulam.data._dataset import Dataset
from verulam.data._generators.boolean import parity, truth_table
from verulam.data._generators.curves import friedman, linear, noisy_sine, polynomial
from verulam.data._generators.gaussian import BayesError, GaussianClasses, gaussian_classes
from verulam.data._generators.noise import (
    NoisyData,
    drop_values,
    flip_labels,
    hide_column,
    jitter_inputs,
)
from verulam.data._generators.plane import blobs, checkerboard, four_spirals, two_spirals, xor
from verulam.data._generators.sequences import (
    URN_CHAIN,
    SequenceSample,
    UrnChain,
    hidden_markov,
    markov_chain,
)
from verulam.data._readers.any_format import read
from verulam.data._readers.arff import read_arff
from verulam.data._readers.csv import read_csv
from verulam.data._readers.npz import read_npz
from verulam.data._readers.other_formats import read_excel, read_feather, read_json
from verulam.data._readers.parquet import read_parquet
from verulam.data._readers.stream import ChunkStream, stream
from verulam.data._table.normalise_frame import as_pandas
from verulam.data._table.summary import column_hint
from verulam.data._table.written_values import same_word, written_numbers

__all__ = [
    "URN_CHAIN",
    "BayesError",
    "ChunkStream",
    "Dataset",
    "GaussianClasses",
    "NoisyData",
    "SequenceSample",
    "UrnChain",
    "as_pandas",
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
    "read_excel",
    "read_feather",
    "read_json",
    "read_npz",
    "read_parquet",
    "same_word",
    "stream",
    "truth_table",
    "two_spirals",
    "written_numbers",
    "xor",
]

_publish(__name__)
