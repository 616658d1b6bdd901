"""Tables with roles: readers, streams, bundled data sets, generators and noise."""

from verulam.data._arff import read_arff
from verulam.data._bundled import dataset, dataset_names, list_datasets
from verulam.data._csv import read_csv
from verulam.data._dataset import Dataset
from verulam.data._npz import read_npz
from verulam.data._parquet import read_parquet
from verulam.data._read import read
from verulam.data._stream import ChunkStream, stream

__all__ = [
    "ChunkStream",
    "Dataset",
    "dataset",
    "dataset_names",
    "list_datasets",
    "read",
    "read_arff",
    "read_csv",
    "read_npz",
    "read_parquet",
    "stream",
]
