# SPDX-License-Identifier: Apache-2.0
"""Samples and calls of a model: as objects, as batches of columns, as whole columns, as pandas frames."""
from __future__ import annotations

import array
import ctypes
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Optional, Tuple

from perfray._columns import Columns, view
from perfray._library import END, NO_CPU, NO_TIME, Error, Handle, check, library, new_error, structs
from perfray._recording import Record
from perfray._tables import Event, Symbol, Thread, known, mode_name

if TYPE_CHECKING:
    from perfray._model import Model
    from perfray._stacks import Stack

SAMPLE_COLUMNS = {"id": "Q", "time": "Q", "weight": "Q", "period": "Q", "thread": "I", "comm": "I", "cpu": "I", "event": "I",
                  "stack": "I", "mode": "B"}
CALL_COLUMNS = {"id": "Q", "start": "Q", "duration": "Q", "self": "q", "parent": "Q", "argument": "Q", "thread": "I",
                "symbol": "I", "stack": "I", "depth": "I", "flags": "I"}
CALL_TAIL, CALL_BACKWARD, CALL_OPEN, CALL_ARGUMENT, CALL_LIMITED = 1, 2, 4, 8, 16


class _Cursor:
    """One pass over rows. Batches are read under a lock, because a cursor of the library belongs to one thread at a time."""

    def __init__(self, handle: Handle, next_batch: Callable[..., int], batch: Any, columns: Dict[str, str]) -> None:
        self._handle, self._next, self._type, self._columns = handle, next_batch, batch, columns
        self._lock, self._serial, self._done = threading.RLock(), 0, False

    def next(self) -> Optional[Any]:
        """The struct of the next batch; None at the end."""
        batch, error = ctypes.POINTER(self._type)(), new_error()
        with self._lock:
            self._serial += 1
            if self._done:
                return None
            status = self._next(self._handle.pointer, ctypes.byref(batch), ctypes.byref(error))
            self._done = status == END or status < 0
        check(status, error)
        return None if status == END else batch.contents

    def columns(self, batch: Any) -> Columns:
        """Views of the batch, which keep the cursor alive."""
        return Columns({name: view(ctypes.cast(getattr(batch, name), ctypes.c_void_p).value, batch.count, letter, self._handle)
                        for name, letter in self._columns.items()})


class _Rows:
    """Base class of Samples and Calls. Each iteration is a pass with its own cursor. The first cursor is opened by the
    constructor, so that wrong arguments are reported there."""
    _letters: Dict[str, str]

    def __init__(self, model: "Model", options: Any) -> None:
        self._model, self._options = model, options
        self._first: Optional[_Cursor] = self._open()

    def _open(self) -> _Cursor:
        raise NotImplementedError

    def _cursor(self) -> _Cursor:
        cursor, self._first = self._first or self._open(), None
        return cursor

    def batches(self) -> Iterator[Columns]:
        """Batches of columns in the library's memory, without a copy. Each batch overwrites the values of the previous one: copy
        values that must last longer (`bytes(column)`, `array.array`, `numpy.array`)."""
        cursor = self._cursor()
        while True:
            batch = cursor.next()
            if batch is None:
                return
            yield cursor.columns(batch)

    def columns(self) -> Columns:
        """All rows as columns, copied from the batches."""
        whole = {name: array.array(letter) for name, letter in self._letters.items()}
        for batch in self.batches():
            for name, values in whole.items():
                values.frombytes(batch[name].cast("B"))
        return Columns({name: memoryview(values).toreadonly() for name, values in whole.items()})

    def to_numpy(self) -> Dict[str, Any]:
        """A dict of numpy arrays, one for each column."""
        columns: Dict[str, Any] = self.columns().to_numpy()
        return columns


class Sample:
    """One sample. Names are looked up in the model when they are accessed."""
    __slots__ = ("_model", "id", "time", "weight", "period", "thread_id", "comm_id", "cpu", "event_id", "stack_id", "mode_number",
                 "record")

    def __init__(self, model: "Model", row: Tuple[int, ...], record: Optional[Record]) -> None:
        self._model = model
        #: number in file order, from 1
        self.id: int = row[0]
        #: ns by the recording's clock; None: not recorded
        self.time: Optional[int] = known(row[1], NO_TIME)
        self.weight: int = row[2]
        self.period: int = row[3]
        self.thread_id, self.comm_id = row[4], row[5]
        self.cpu: Optional[int] = known(row[6], NO_CPU)
        self.event_id, self.stack_id, self.mode_number = row[7], row[8], row[9]
        #: with samples(records=True): the raw record, valid until the next sample
        self.record = record

    def __repr__(self) -> str:
        return "<sample %d of %s at %s: %s>" % (self.id, self.comm, self.time, self.stack.text if self.stack else "")

    @property
    def thread(self) -> Optional[Thread]:
        return self._model.threads.get(self.thread_id)

    @property
    def comm(self) -> str:
        """The name of the thread at the time of the sample."""
        return self._model.comms.get(self.comm_id) or ""

    @property
    def event(self) -> Event:
        return self._model.events[self.event_id]

    @property
    def stack(self) -> Optional["Stack"]:
        return self._model.stacks.get(self.stack_id)

    @property
    def mode(self) -> str:
        """The CPU mode: "user", "kernel", ..."""
        return mode_name(self.mode_number)


class Samples(_Rows):
    """Samples of a model, returned by `Model.samples`. Iteration returns `Sample`s, read batch by batch."""
    _letters = SAMPLE_COLUMNS

    def _open(self) -> _Cursor:
        model, error = self._model._need(), new_error()
        pointer = library.pfr_samples_open(model.pointer, ctypes.byref(self._options), ctypes.byref(error))
        if not pointer:
            raise Error(error)
        handle = Handle(pointer, library.pfr_samples_close, [model])
        return _Cursor(handle, library.pfr_samples_next, structs["pfr_sample_batch"], SAMPLE_COLUMNS)

    def __iter__(self) -> Iterator[Sample]:
        cursor, model = self._cursor(), self._model
        while True:
            batch = cursor.next()
            if batch is None:
                return
            rows = zip(*(column.tolist() for column in cursor.columns(batch).values()))
            for number, row in enumerate(rows):
                yield Sample(model, row, self._record(cursor, batch, number))

    def _record(self, cursor: _Cursor, batch: Any, number: int) -> Optional[Record]:
        if not batch.record:
            return None
        raw = structs["pfr_record"]
        with cursor._lock:  # another loop over the same iterator may have advanced it
            at = batch.record + number * ctypes.sizeof(raw)
            return Record(raw.from_buffer_copy(ctypes.string_at(at, ctypes.sizeof(raw))), cursor)  # type: ignore[arg-type]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each sample: id, time, event, weight, period, pid, tid, comm, cpu, mode,
        symbol, object, thread, stack. Texts are categories; `thread` and `stack` are ids of the model."""
        from perfray import _pandas
        return _pandas.samples(self._model, self.to_numpy())


class Call:
    """One traced call. `duration` and `self_time` are None for an unfinished call (`is_open`)."""
    __slots__ = ("_model", "id", "start", "duration", "self_time", "parent", "argument", "thread_id", "symbol_id", "stack_id",
                 "depth", "flags")

    def __init__(self, model: "Model", row: Tuple[int, ...]) -> None:
        self._model = model
        self.id, self.start = row[0], row[1]
        self.flags: int = row[10]
        self.duration: Optional[int] = None if self.is_open else row[2]
        self.self_time: Optional[int] = None if self.is_open else row[3]
        #: id of the caller; 0: no caller, or not recorded
        self.parent: int = row[4]
        self.argument: Optional[int] = row[5] if self.flags & CALL_ARGUMENT else None
        self.thread_id, self.symbol_id, self.stack_id = row[6], row[7], row[8]
        self.depth: int = row[9]

    def __repr__(self) -> str:
        return "<call %d of %s at %d, %s>" % (self.id, self.symbol, self.start, self.duration)

    @property
    def is_open(self) -> bool:
        return bool(self.flags & CALL_OPEN)

    @property
    def thread(self) -> Optional[Thread]:
        return self._model.threads.get(self.thread_id)

    @property
    def symbol(self) -> Symbol:
        return self._model.symbols[self.symbol_id]

    @property
    def stack(self) -> Optional["Stack"]:
        return self._model.stacks.get(self.stack_id)


class Calls(_Rows):
    """Calls of a trace, returned by `Model.calls`. Iteration returns `Call`s, thread by thread, in the order of exits."""
    _letters = CALL_COLUMNS

    def _open(self) -> _Cursor:
        model, error = self._model._need(), new_error()
        pointer = library.pfr_calls_open(model.pointer, ctypes.byref(self._options), ctypes.byref(error))
        if not pointer:
            raise Error(error)
        handle = Handle(pointer, library.pfr_calls_close, [model])
        return _Cursor(handle, library.pfr_calls_next, structs["pfr_call_batch"], CALL_COLUMNS)

    def __iter__(self) -> Iterator[Call]:
        for batch in self.batches():
            for row in zip(*(column.tolist() for column in batch.values())):
                yield Call(self._model, row)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each call: id, start, duration, self_time, pid, tid, comm, symbol, object,
        depth, parent, open, thread, stack. Times are ns, or ticks (`Model.time_unit`). Open calls have no duration and
        self_time. The 99th percentile per thread:

            calls[~calls.open].groupby(["pid", "tid"]).duration.quantile(0.99)
        """
        from perfray import _pandas
        return _pandas.calls(self._model, self.to_numpy())
