# SPDX-License-Identifier: Apache-2.0
"""Makes frames with names from columns of ids. Imported only when a frame is requested, because numpy and pandas are optional."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Sequence

import numpy
import pandas

from perfray._cursors import CALL_OPEN
from perfray._library import NO_CPU, NO_TIME
from perfray._tables import MODES

if TYPE_CHECKING:
    from perfray._model import Model


def _texts(ids: Any, texts: Sequence[Any]) -> Any:
    """A categorical column: `texts[id - 1]` for each id, missing for id 0. Only texts that occur are categories."""
    used = numpy.unique(ids)
    codes: Dict[str, int] = {}
    table = numpy.full(len(texts) + 1, -1, dtype=numpy.int32)
    for id in used[used > 0].tolist():
        table[id] = codes.setdefault(texts[id - 1], len(codes))
    return pandas.Categorical.from_codes(table[ids], list(codes))


class _Lazy(Sequence[Any]):
    """A column of a table, made from the requested rows."""

    def __init__(self, table: Any, text: Any) -> None:
        self._table, self._text = table, text

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, index: Any) -> Any:
        return self._text(self._table[index + 1])


def _numbers(ids: Any, table: Any, number: Any) -> Any:
    """`number(row)` for each id; missing for id 0."""
    values = numpy.zeros(len(table) + 1, dtype=numpy.int64)
    for id in numpy.unique(ids[ids > 0]).tolist():
        values[id] = number(table[id])
    return _masked(values[ids], ids == 0)


def _masked(values: Any, missing: Any) -> Any:
    return pandas.Series(values).convert_dtypes().mask(missing) if missing.any() else values


def _symbols(model: "Model", symbols: Any, frame: Dict[str, Any]) -> None:
    frame["symbol"] = _texts(symbols, _Lazy(model.symbols, lambda row: row.text))
    frame["object"] = _texts(symbols, _Lazy(model.symbols, lambda row: row.object.name))


def samples(model: "Model", columns: Dict[str, Any]) -> Any:
    stack_symbols = numpy.asarray(model.stacks.columns()["symbol"])
    frame = {"id": columns["id"], "time": _masked(columns["time"], columns["time"] == NO_TIME),
             "event": _texts(columns["event"], _Lazy(model.events, lambda row: row.name)),
             "weight": columns["weight"], "period": columns["period"],
             "pid": _numbers(columns["thread"], model.threads, lambda row: row.pid),
             "tid": _numbers(columns["thread"], model.threads, lambda row: row.tid),
             "comm": _texts(columns["comm"], model.comms[:]),
             "cpu": _masked(columns["cpu"], columns["cpu"] == NO_CPU),
             "mode": pandas.Categorical.from_codes(numpy.minimum(columns["mode"], len(MODES) - 1).astype(numpy.int8), list(MODES))}
    _symbols(model, stack_symbols[columns["stack"]], frame)
    frame.update(thread=columns["thread"], stack=columns["stack"])
    return pandas.DataFrame(frame)


def calls(model: "Model", columns: Dict[str, Any]) -> Any:
    is_open = (columns["flags"] & CALL_OPEN) != 0
    frame = {"id": columns["id"], "start": columns["start"], "duration": _masked(columns["duration"], is_open),
             "self_time": _masked(columns["self"], is_open),
             "pid": _numbers(columns["thread"], model.threads, lambda row: row.pid),
             "tid": _numbers(columns["thread"], model.threads, lambda row: row.tid),
             "comm": _texts(columns["thread"], _Lazy(model.threads, lambda row: row.comm))}
    _symbols(model, columns["symbol"], frame)
    frame.update(depth=columns["depth"], parent=columns["parent"], open=is_open, thread=columns["thread"], stack=columns["stack"])
    return pandas.DataFrame(frame)


def rows(values: Sequence[Any], fields: Sequence[str]) -> Any:
    return pandas.DataFrame(list(values), columns=list(fields))
