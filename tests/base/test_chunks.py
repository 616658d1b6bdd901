"""Sources of data: same sum from memory, stream and Dask, in a fixed order."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits

import verulam.base._chunks as chunks
from verulam.base import (
    Chunk,
    DataError,
    MemorySource,
    Source,
    map_rows,
    open_source,
)


def prepare(inputs, targets, weights, first):
    return Chunk(np.asarray(inputs, dtype=float), targets, weights)


def column_sums(chunk):
    return chunk.inputs.sum(axis=0)


@pytest.fixture
def data():
    return np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 64 rows, and threads from the first row on."""
    monkeypatch.setattr(chunks, "CHUNK_NUMBERS", 1)
    monkeypatch.setattr(chunks, "THREADED_NUMBERS", 1)


def test_three_sources_agree(data, small_chunks):
    dask_array = pytest.importorskip("dask.array")
    pieces = np.array_split(data, 7)
    expected = data.sum(axis=0)
    for source in (
        data,
        iter(pieces),
        lambda: pieces,
        dask_array.from_array(data, chunks=(300, 2)),
    ):
        assert_allclose(open_source(source, None, None, prepare).total(column_sums), expected)


def test_threads_do_not_change_a_bit(data, small_chunks):
    sums = [MemorySource(Chunk(data), threads).total(column_sums) for threads in (1, 2, 5)]
    assert_array_equal(sums[0], sums[1])
    assert_array_equal(sums[0], sums[2])


def test_every_row_is_seen_once(data, small_chunks):
    total = MemorySource(Chunk(data)).total(lambda chunk: np.array([len(chunk)]))
    assert total[0] == 1000


def test_map_rows_keeps_the_order(data, small_chunks):
    assert_array_equal(map_rows(lambda rows: rows * 2, data, data.shape), data * 2)


def test_stream_names_the_bad_chunk():
    def refuse_negative(inputs, targets, weights, first):
        if np.min(inputs) < 0:
            raise ValueError("negative")
        return prepare(inputs, targets, weights, first)

    stream = iter([np.ones((2, 1)), -np.ones((2, 1))])
    with pytest.raises(DataError, match=r"Chunk 1 \(counted from 0\): negative"):
        open_source(stream, None, None, refuse_negative).total(column_sums)


def test_used_up_stream_says_so():
    stream = iter([np.ones((2, 1))])
    source = open_source(stream, None, None, prepare)
    source.total(column_sums)
    with pytest.raises(DataError, match="one-shot iterator can be read only once"):
        source.total(column_sums)


def test_stream_carries_its_own_targets():
    with pytest.raises(ValueError, match="pass y and sample_weight inside the chunks"):
        open_source(iter([]), [1], None, prepare)
    with pytest.raises(DataError, match="tuple of 4"):
        open_source(iter([(1, 2, 3, 4)]), None, None, prepare).total(column_sums)


def test_dask_partitions_must_match():
    dask_array = pytest.importorskip("dask.array")
    inputs = dask_array.ones((6, 1), chunks=(2, 1))
    with pytest.raises(ValueError, match="must be Dask too"):
        open_source(inputs, np.ones(6), None, prepare).total(column_sums)


def test_blas_gets_its_threads_back(data, small_chunks):
    """Also where several threads predict at once."""

    def threads():
        return [
            future["num_threads"] for future in threadpool_info() if future["user_api"] == "blas"
        ]

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(4) as pool:
            work = [pool.submit(map_rows, np.sqrt, np.abs(data), data.shape) for _ in range(20)]
            for future in work:
                future.result()
        assert threads() == before


def test_every_source_has_the_method_of_the_protocol():
    methods = {name for name in vars(Source) if not name.startswith("_")}
    assert methods == {"total"}
    for source in (MemorySource, chunks.StreamSource, chunks.DaskSource):
        assert methods <= set(vars(source))
