# SPDX-License-Identifier: Apache-2.0
"""Queries that the library answers with JSON (latencies, SQL), and the lookup of addresses."""
from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from perfray._library import (Error, Handle, address, check, has_sql, library, new_error, show, structs,
                              text_bytes, text_list)
from perfray._rows import Rows
from perfray._tables import MODES

if TYPE_CHECKING:
    from perfray._model import Model, Place

_BY = {"function": 0, "caller": 1, "thread": 2}
_JSON_LINES = 4


def _in_memory() -> Any:
    """A file for a document that json reads whole."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("perfray", os.MFD_CLOEXEC), "w+b")
    return _on_disk()


def _on_disk() -> Any:
    """A file for any number of rows."""
    import tempfile  # takes long to import
    return tempfile.TemporaryFile()


def _printed(write: Callable[[int, Any], int], file: Any) -> Any:
    """The file with the output of `write(output, error)`, positioned at its start."""
    error, closed = new_error(), new_error()
    output = library.pfr_output_open(file.fileno(), False, ctypes.byref(error))
    if not output:
        raise Error(error)
    status = write(output, error)
    if library.pfr_output_close(output, ctypes.byref(closed)) < 0 <= status:
        raise Error(closed)
    check(status, error)
    file.seek(0)
    return file


# --- Latency


class Bin(NamedTuple):
    """Calls whose latency was at least `start` and less than `end`."""
    start: int
    end: int
    count: int


class LatencyRow(NamedTuple):
    """Durations of the calls of one function. `exact` is False if percentiles come from a sketch (error at most 0.4 %). `histogram` is a
    list of `Bin`s if it was requested; `caller` and `tid` are set with by="caller" and by="thread"."""
    function: str
    object: Optional[str]
    count: int
    min: Optional[int]
    p50: Optional[int]
    p90: Optional[int]
    p95: Optional[int]
    p99: Optional[int]
    p999: Optional[int]
    max: Optional[int]
    sum: int
    self: int
    open: int
    lone: int
    backward: int
    exact: bool
    id: Optional[int]
    caller: Optional[str] = None
    caller_id: Optional[int] = None
    pid: Optional[int] = None
    tid: Optional[int] = None
    file: Optional[str] = None
    line: Optional[int] = None
    histogram: Tuple[Bin, ...] = ()


class Latency(Rows[LatencyRow]):
    """Rows of a latency table, and facts about the trace: `unit` of the times ("ns", "ticks"), `calls`, `open` (unfinished calls), `lone`
    (unmatched exits), `backward`, `left_out`, `notes`."""

    def __init__(self, document: Dict[str, Any]) -> None:
        super().__init__([_latency_row(row) for row in document["rows"]], LatencyRow._fields)
        self.unit: str = document["unit"]
        self.calls: int = document["calls"]
        self.open: int = document["open"]
        self.lone: int = document["lone"]
        self.backward: int = document["backward"]
        self.left_out: int = document["left_out"]
        self.notes: List[str] = document["notes"]


def _latency_row(row: Dict[str, Any]) -> LatencyRow:
    bins = tuple(Bin(one["from"], one["to"], one["count"]) for one in row.pop("histogram", ()))
    return LatencyRow(histogram=bins, **row)


class _LatencyOptions:
    """The struct, and the objects to which it points."""

    def __init__(self, model: "Model", function: Union[None, str, Sequence[str]], options: Dict[str, Any]) -> None:
        self._lists = [text_list([function] if isinstance(function, str) else function), text_list(options.pop("objects", None))]
        by = options.pop("by", "function")
        if by not in _BY:
            raise ValueError("no choice %r: %s" % (by, ", ".join(_BY)))
        kind = structs["pfr_latency_options"]
        self.struct = kind(size=ctypes.sizeof(kind), format=2, by=_BY[by], functions=address(self._lists[0]),
                           objects=address(self._lists[1]), naming=ctypes.addressof(model._options.naming))
        for key in ("histogram", "deduce", "ticks", "lines", "top", "sort", "tids", "min_duration", "time"):
            if key in options:
                value = options.pop(key)
                setattr(self.struct, key, text_bytes(value) if isinstance(value, str) else value)
        if options:
            raise TypeError("no option %s" % ", ".join(map(repr, options)))


def latency(model: "Model", function: Union[None, str, Sequence[str]] = None, **options: Any) -> Latency:
    model._need()
    ready = _LatencyOptions(model, function, options)
    reader = model._reader_of_calls() or model._options.reader(model._inputs[0].path)
    with _printed(lambda output, error: library.pfr_latency_print(reader.pointer, ctypes.byref(ready.struct), output,
                                                                  ctypes.byref(error)), _in_memory()) as file:
        return Latency(json.load(file))


# --- Reports


def report(reader: Handle, naming: Any, sort: str) -> Dict[str, Any]:
    """The document of `perfray report --format=json`."""
    kind = structs["pfr_report_options"]
    options = kind(size=ctypes.sizeof(kind), format=3, branches=2, sort=text_bytes(sort), naming=ctypes.addressof(naming))
    with _printed(lambda output, error: library.pfr_report_print(reader.pointer, ctypes.byref(options), output,
                                                                 ctypes.byref(error)), _in_memory()) as file:
        document: Dict[str, Any] = json.load(file)
        return document


# --- SQL

Cell = Union[None, int, float, str]


class SqlRows(Rows[Tuple[Cell, ...]]):
    """Rows of a query, as tuples. `fields` are the names of the columns (empty if there are no rows)."""

    def dicts(self) -> List[Dict[str, Cell]]:
        """The rows as dicts by column."""
        return [dict(zip(self.fields, row)) for row in self]


def _sql_open(model: "Model") -> Handle:
    if not has_sql:
        raise NotImplementedError("this libperfray was built without SQLite")
    options, error = structs["pfr_sql_options"], new_error()
    ready = options(size=ctypes.sizeof(options), limits=ctypes.addressof(model._options.limits))
    pointer = library.pfr_sql_open(ctypes.byref(ready), ctypes.byref(error))
    if not pointer:
        raise Error(error)
    handle = Handle(pointer, library.pfr_sql_close, [model._need()], model._options)
    check(library.pfr_sql_attach_opened(pointer, model._inputs[0].path, model._need().pointer, b"recording", ctypes.byref(error)),
          error)
    return handle


def _bind(handle: Handle, parameters: Dict[str, Any]) -> None:
    error = new_error()
    for name, value in parameters.items():
        if not isinstance(value, (int, float, str)):
            raise TypeError("a parameter is a number or a text, not %s" % type(value).__name__)
        text = text_bytes(str(int(value)) if isinstance(value, bool) else str(value))
        check(library.pfr_sql_bind(handle.pointer, text_bytes(name), text, ctypes.byref(error)), error)


def sql(model: "Model", query: str, parameters: Dict[str, Any]) -> SqlRows:
    handle = _sql_open(model)
    _bind(handle, parameters)
    text = text_bytes(query)
    with _printed(lambda output, error: library.pfr_sql_print(handle.pointer, text, _JSON_LINES, output, ctypes.byref(error)),
                  _on_disk()) as file:
        rows = [json.loads(line, object_pairs_hook=list) for line in file]
    fields = [name for name, _ in rows[0]] if rows else []
    return SqlRows([tuple(value for _, value in row) for row in rows], fields)


# --- Addresses


def symbolize(model: "Model", pid: int, tid: int, where: int, time: int, mode: str) -> Optional["Place"]:
    from perfray._model import Place
    if mode not in MODES:
        raise ValueError("no mode %r: %s" % (mode, ", ".join(MODES)))
    error, place, held = new_error(), structs["pfr_place"](), model._need()
    pointer = library.pfr_symbolizer_open(held.pointer, ctypes.byref(error))
    if not pointer:
        raise Error(error)
    handle = Handle(pointer, library.pfr_symbolizer_close, [held])
    check(library.pfr_symbolize(handle.pointer, pid, tid, MODES.index(mode), time, where, ctypes.byref(place), ctypes.byref(error)), error)
    if place.path is None:
        return None
    offset = place.address - place.start if place.name else None
    return Place(show(place.path) or "", show(place.name), place.address, offset, show(place.file), place.line)
