# SPDX-License-Identifier: Apache-2.0
"""Arrays in the library's memory as buffers: nothing is copied, and the memory stays allocated while a view of it exists."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

#: Format characters of `struct` and `memoryview` for the types of pfr_column_type, in its order, with their sizes.
TYPES = (("B", 1), ("H", 2), ("I", 4), ("Q", 8), ("q", 8))
_EMPTY = b""


def view(at: Optional[int], count: int, letter: str, keep: Any) -> memoryview:
    """A read-only memoryview of `count` numbers at an address; keeps `keep` alive."""
    size = dict(TYPES)[letter]
    if not count or not at:
        return memoryview(_EMPTY).cast(letter)
    array = (ctypes.c_char * (count * size)).from_address(at)
    array._keep = keep  # type: ignore[attr-defined]
    return memoryview(array).toreadonly().cast("B").cast(letter)


class Columns(Mapping[str, memoryview]):
    """Columns of equal length, by name: `columns["time"]` is a read-only memoryview of the library's memory, which all functions
    that accept buffers can use without a copy (`numpy.asarray`, `array.array`, `struct`). The memory is not released while a view
    of it exists, even if the model is closed."""

    def __init__(self, columns: Dict[str, memoryview]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> memoryview:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError("no column %r: %s" % (name, ", ".join(self._columns))) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return "<%d rows of %s>" % (self.rows, ", ".join(self._columns))

    @property
    def rows(self) -> int:
        """The number of values in each column."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def to_numpy(self, name: Optional[str] = None) -> Any:
        """The numpy array of one column, or a dict of all: the same memory, not a copy, read-only."""
        import numpy
        if name is not None:
            return numpy.asarray(self[name])
        return {key: numpy.asarray(column) for key, column in self._columns.items()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the numbers; uses the same memory if pandas supports it."""
        import pandas
        return pandas.DataFrame({name: pandas.Series(column, copy=False) for name, column in self.to_numpy().items()}, copy=False)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """The Arrow C data interface: a struct array of these columns. Only strided columns are copied."""
        from perfray import _arrow
        return _arrow.export(self._columns)
