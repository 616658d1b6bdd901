"""Numbers that decide speed and memory alone: no tree or prediction depends on them.

"Not measured" says that no record compares the number with others; the benchmark in brackets shows
what it acts on.
"""

#: Nodes of fewer rows are grown by one thread, with all that is below them: smaller nodes keep more
#: threads busy in turn, but pay for starting them more often. Not measured
#: (`benchmarks/bench_tree.py`, cost of a fit).
SHARED_ROWS = 8192
#: Larger samples are divided into about so many nodes of that sort. Each releases the memory of its
#: orders when it is done, so that more of them lower the peak and fewer have less to start. Chosen
#: so that a fit takes at most three times the data (`benchmarks/bench_tree.py`, memory of a fit).
PARTS = 32
#: Once the part of the tree that all threads grow together has so many nodes, every other one is
#: grown by one thread: it bounds the time spent in Python. Not measured.
SHARED_NODES = 4096
#: Columns of a table that are copied together before they are sorted: one cache line of float64,
#: so that a pass through the rows reads each line of memory once. Not measured
#: (`benchmarks/bench_tree.py`, fit).
COLUMNS_PER_TASK = 8
#: Tables of fewer numbers are sorted by one thread: starting more costs more than it saves. Not
#: measured.
THREADED_NUMBERS = 2**16
#: Arrays of at least so many bytes are taken from the system page by page, smaller ones from
#: NumPy, which is quicker to ask (`benchmarks/bench_tree.py`, memory of a fit; the border itself is
#: not measured).
PAGED_BYTES = 2**16
#: Rows that walk down a tree together: while one waits for memory, others move. More of them hide
#: more of the waiting, but longer wait for one another (`benchmarks/bench_tree.py`, predict;
#: other numbers are not on record).
ROWS_TOGETHER = 8
#: A tree of at most so many nodes for each row is packed for the walk: copying its nodes side by
#: side pays only where enough rows follow. Not measured.
PACKED_NODES_PER_ROW = 4
#: Share of the rows above which a column is listed without its commonest value: such a list is
#: shorter than the codes of all rows, but it has to be divided at every node.
COMMON_SHARE = 0.6
#: Rows, about, among which the commonest value of a column is looked for.
SAMPLED_ROWS = 128
#: Columns of tables with at most so many rows are all sorted in one call, instead of each being
#: looked at for the layout that suits it (`benchmarks/bench_tree.py`, 1,000 rows).
SORTED_ROWS = 512
#: Nodes of fewer rows have no table of their counts by code, however small it would be.
TABLED_ROWS = 24
#: Tables of at most so many rows are grown level by level as a whole, by one thread: every level
#: takes some calls, whatever its size.
LEVEL_ROWS = 2**15
#: Nodes of larger tables that have at most so many rows are grown in groups, each by one thread.
GROUP_ROWS = 2**13
#: Very large tables are divided into about so many groups: more of them lower the peak of memory
#: (`benchmarks/bench_tree.py`, memory of a fit).
GROUPS = 64
