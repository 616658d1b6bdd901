"""Transactions: which items were bought, seen or used together."""

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from verulam.association._transactions_loops import are_sorted, number_values, transpose
from verulam.base import DataError, Seed, generator, unknown_name


@dataclass(frozen=True, eq=False)
class Transactions:
    """Sets of items, one for each transaction.

    Attributes
    ----------
    items
        Names of all items; those from lists as they first appear, or in order if they are whole
        numbers.
    starts : ndarray of shape (n_transactions + 1,)
        Where the items of each transaction begin in `codes`.
    codes : ndarray
        Positions of the items in `items`, sorted and distinct within each transaction.

    Examples
    --------
    >>> from verulam.association import Transactions
    >>> baskets = Transactions.from_lists([["beer", "chips"], ["beer"], ["chips", "salsa"], []])
    >>> baskets
    Transactions(4 transactions of 3 items, 1.2 items each)
    >>> baskets.counts(["beer", "chips"]), baskets.support(["beer"])
    (1, 0.5)
    """

    items: tuple[Any, ...]
    starts: NDArray[np.int64]
    codes: NDArray[np.int32]

    @classmethod
    def from_lists(cls, transactions: Iterable[Iterable[Any]]) -> "Transactions":
        """Return transactions from lists of items; an item that is named twice counts once."""
        if not hasattr(transactions, "__iter__"):
            raise DataError(f"transactions is {transactions!r}; expected a list of lists of items.")
        rows: list[Any] = transactions if isinstance(transactions, list) else list(transactions)
        if not set(map(type, rows)) <= {list}:
            rows = [_checked_row(place, row) for place, row in enumerate(rows)]
        flat = list(chain.from_iterable(rows))
        try:
            codes, items = _numbered(flat)
        except TypeError as error:
            place = next(place for place, row in enumerate(rows) if not _all_hashable(row))
            raise DataError(f"Transaction {place} (counted from 0): {error}.") from error
        if (codes < 0).any():
            raise DataError("An item is missing (NaN or None); leave it out of its transaction.")
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=starts[1:])
        return cls._from_codes(items, starts, codes)

    @classmethod
    def _from_codes(cls, items: tuple[Any, ...], starts: Any, codes: Any) -> "Transactions":
        """Return transactions of codes that need be neither sorted nor distinct."""
        codes = codes.astype(np.int32, copy=False)
        if not are_sorted(starts, codes):
            item_starts, rows = transpose(starts, codes, np.arange(len(starts) - 1), len(items))
            starts, codes = transpose(item_starts, rows, np.arange(len(items)), len(starts) - 1)
        return cls(items, starts, codes)

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> "Transactions":
        """Return transactions from the rows of a table.

        A column of True and False, or of 0 and 1, is an item. A column of categories or words is
        one item for each value, called "column=value"; missing values are no items. Numbers are
        refused: cut them into ranges first.
        """
        if not isinstance(table, pd.DataFrame):
            raise DataError(f"Expected a DataFrame, not {type(table).__name__}.")
        repeated = table.columns[table.columns.duplicated()]
        if len(repeated):
            raise DataError(f"The table has several columns called {repeated[0]!r}.")
        names: list[Any] = []
        columns: list[NDArray[np.bool_]] = []
        for name in table.columns:
            column = table[name]
            if _is_flag(column):
                names.append(name)
                columns.append((column == 1).fillna(False).to_numpy(dtype=bool))
            elif pd.api.types.is_numeric_dtype(column):
                raise DataError(
                    f"Column {name!r} has numbers; items are there or not. Cut it into ranges "
                    "first, for example with pandas.qcut."
                )
            else:
                values = column.dropna().astype(str)
                for value in pd.unique(values):
                    names.append(f"{name}={value}")
                    columns.append((column.notna() & (column.astype(str) == value)).to_numpy())
        if not columns:
            raise DataError("The table has no columns.")
        present = sp.csr_array(np.column_stack(columns))
        return cls(tuple(names), present.indptr.astype(np.int64), present.indices.astype(np.int32))

    @classmethod
    def from_pairs(cls, transactions: ArrayLike, items: ArrayLike) -> "Transactions":
        """Return transactions from pairs of a transaction's identifier and an item.

        Parameters
        ----------
        transactions
            Identifier of each pair's transaction; they are numbered in sorted order.
        items
            Item of each pair.
        """
        owners, names = pd.Series(transactions), pd.Series(items)
        if len(owners) != len(names):
            raise DataError(f"{len(owners)} identifiers, but {len(names)} items.")
        if owners.isna().any() or names.isna().any():
            raise DataError("A pair has no identifier or no item.")
        row_codes, rows = pd.factorize(owners, sort=True)
        item_codes, known = pd.factorize(names)
        ones = np.ones(len(row_codes), dtype=np.int8)
        shape = (len(rows), len(known))
        table = sp.csr_array(sp.coo_array((ones, (row_codes, item_codes)), shape=shape))
        table.sum_duplicates()
        table.sort_indices()
        return cls(tuple(known), table.indptr.astype(np.int64), table.indices.astype(np.int32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        mean = len(self.codes) / max(1, len(self))
        return (
            f"Transactions({len(self):,} transactions of {len(self.items):,} items, "
            f"{mean:.1f} items each)"
        )

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        codes = self.codes[self.starts[place] : self.starts[place + 1]]
        return tuple(self.items[code] for code in codes)

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """Number of transactions that each item is in."""
        return np.diff(self._rows_by_item[0])

    @property
    def density(self) -> float:
        """Share of the items that a transaction has, on average."""
        return len(self.codes) / max(1, len(self) * len(self.items))

    @cached_property
    def _rows_by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Where the transactions of each item begin, and the transactions, in order."""
        return transpose(self.starts, self.codes, np.arange(len(self)), len(self.items))

    def rows_having(self, items: Iterable[Any]) -> NDArray[np.intp]:
        """Return the numbers of the transactions that have all of some items."""
        if isinstance(items, str):
            raise DataError(f"items is {items!r}; expected a list of items.")
        starts, members = self._rows_by_item
        columns = [members[starts[code] : starts[code + 1]] for code in map(self.code_of, items)]
        columns.sort(key=len)
        rows = columns[0] if columns else np.arange(len(self))
        for column in columns[1:]:
            rows = np.intersect1d(rows, column, assume_unique=True)
        return rows.astype(np.intp)

    def code_of(self, item: Any) -> int:
        """Return the position of an item; an unknown one is named with its likeliest spellings."""
        try:
            return self._codes_by_name[item]
        except (KeyError, TypeError):
            raise unknown_name("item", str(item), [str(name) for name in self.items]) from None

    @cached_property
    def _codes_by_name(self) -> dict[Any, int]:
        return {name: code for code, name in enumerate(self.items)}

    def having(self, items: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which transactions have all of some items."""
        present = np.zeros(len(self), dtype=bool)
        present[self.rows_having(items)] = True
        return present

    def counts(self, items: Iterable[Any]) -> int:
        """Return how many transactions have all of some items."""
        return len(self.rows_having(items))

    def support(self, items: Iterable[Any]) -> float:
        """Return the share of the transactions that have all of some items."""
        if not len(self):
            raise DataError("There are no transactions.")
        return self.counts(items) / len(self)

    def take(self, rows: ArrayLike) -> "Transactions":
        """Return some of the transactions, with the same items."""
        places = np.asarray(rows)
        places = np.flatnonzero(places) if places.dtype == bool else places.astype(np.int64)
        if len(places) and not (places.min() >= 0 and places.max() < len(self)):
            raise DataError(f"rows must be numbers from 0 to {len(self) - 1}.")
        lengths = np.diff(self.starts)[places]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        offsets = np.repeat(self.starts[places] - starts[:-1], lengths)
        return Transactions(self.items, starts, self.codes[np.arange(starts[-1]) + offsets])

    def split(
        self, test_size: float = 0.5, *, random_state: Seed = None
    ) -> tuple["Transactions", "Transactions"]:
        """Return two parts at random: transactions to find rules in, and to test them on."""
        if not 0.0 < test_size < 1.0:
            raise DataError(f"test_size must lie between 0 and 1, but is {test_size}.")
        order = generator(random_state).permutation(len(self))
        n_test = round(test_size * len(self))
        return self.take(np.sort(order[n_test:])), self.take(np.sort(order[:n_test]))


def as_transactions(data: Any) -> Transactions:
    """Return transactions as they are, or from a table or lists."""
    if isinstance(data, Transactions):
        return data
    if isinstance(data, pd.DataFrame):
        return Transactions.from_table(data)
    if isinstance(data, np.ndarray) and data.ndim == 2 and np.isin(data, (0, 1)).all():
        raise DataError(
            "transactions is an array of zeros and ones, which mark items without names; make it a "
            "DataFrame with a column for each item."
        )
    if isinstance(data, Sequence | np.ndarray | pd.Series):
        return Transactions.from_lists(data)
    raise DataError(
        f"Expected Transactions, a DataFrame or a list of lists, not {type(data).__name__}."
    )


def _checked_row(place: int, row: Any) -> list[Any]:
    if isinstance(row, list):
        return row
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise DataError(
            f"Transaction {place} (counted from 0) is {row!r}; expected a list of items."
        )
    return list(row)


def _numbered(items: list[Any]) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Return the number of each item, below 0 where it is missing, and the distinct items.

    Whole numbers are numbered in order, everything else as it first appears.
    """
    try:
        # Takes nothing but whole numbers, and is the fastest to read them.
        values = np.frombuffer(array("q", items), dtype=np.int64)
    except (TypeError, OverflowError):
        values = np.empty(0, dtype=np.int64)
    if len(values):
        codes, first = _numbered_values(values)
        names = tuple(items[place] for place in first.tolist())
        # Whatever else stands for a whole number need not be equal to it.
        if all(issubclass(kind, int | np.integer) for kind in set(map(type, names))):
            return codes, names
    # Filled one by one, because a list of tuples would become a table.
    codes, known = pd.factorize(np.fromiter(items, object, len(items)), use_na_sentinel=True)
    return codes, tuple(known.tolist())


def _numbered_values(values: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the rank of each value, and the place where each distinct one comes first."""
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * len(values):
        return number_values(values, low, high)
    codes, known = pd.factorize(values, sort=True)
    first = np.empty(len(known), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(values))[::-1]
    return codes, first


def _all_hashable(row: list[Any]) -> bool:
    return all(isinstance(item, Hashable) for item in row)


def _is_flag(column: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(column):
        return True
    return pd.api.types.is_numeric_dtype(column) and bool(column.dropna().isin([0, 1]).all())
