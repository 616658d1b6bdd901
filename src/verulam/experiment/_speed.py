"""Numbers of the engine that decide its speed, and none of its results."""

#: Bytes of a store that are read through the memory of the system: copies of pages against what
#: counts as memory of the process. `benchmarks/bench_analysis.py` reads a store of 560 MB in the
#: same time with none, with this and with all of it mapped, which then counts as 560 MB.
STORE_MAPPED_BYTES = 1 << 26

#: Seconds of work that are sent to a worker ahead: more keeps it from waiting for the next run,
#: less loses fewer runs to be sent anew where it dies. `benchmarks/bench_experiment.py` runs short
#: fits with it; no other was measured.
WORK_AHEAD_SECONDS = 0.2

#: Runs that a worker is sent ahead at most, however short they are. Not measured by itself.
MOST_RUNS_AHEAD = 64

#: Seconds between looks at the clocks of the workers: how late a time limit may be noticed, against
#: waking up for nothing. Not measured.
HEARTBEAT_SECONDS = 0.1

#: Batches that wait at each thread of a Dask cluster, so that none is ever idle, against what is
#: done again where a worker is lost. Not measured.
DASK_BATCHES_AHEAD = 2

#: Rows of a file that are predicted at a time: memory against calls of the model. Not measured.
PREDICT_CHUNK_ROWS = 20_000
