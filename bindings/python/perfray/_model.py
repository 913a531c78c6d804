# SPDX-License-Identifier: Apache-2.0
"""A recording as a model: `perfray.open_model`."""
from __future__ import annotations

import ctypes
import os
import stat
import sys
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Union

from perfray import _queries, _weights
from perfray._columns import TYPES, Columns, view
from perfray._cursors import SAMPLE_COLUMNS, Calls, Samples
from perfray._library import (HOLE, NO_TIME, DamageWarning, Error, Handle, Hole, HoleCallback, NoteCallback, address, hole_of, library,
                              new_error, path_bytes, show, structs, text_bytes, text_list)
from perfray._recording import Path, Recording
from perfray._rows import Rows
from perfray._stacks import Stacks
from perfray._tables import (OBJECT_KINDS, Event, Frame, Interval, Mark, Object, Process, Symbol, Table, Thread, interval_of, known,
                             mark_of, mode_name)

if TYPE_CHECKING:
    from perfray._recording import Record

_KEPT = ("time", "thread", "cpu", "event", "mode", "weight", "period", "stack", "comm")  # bits of PFR_COLUMN_*
_TABLES = ("event", "process", "thread", "comm", "object", "symbol", "frame", "stack")  # PFR_TABLE_*
_TEMPLATES = {"keep": 0, "fold": 1, "omit": 2}
_DAMAGE = ("holes", "truncated", "lossy", "limited")  # facts for which the commands exit with status 4
_NO_LOSS = frozenset(("throttled", "unthrottled", "unknown", "lossy", "late", "guests", "unmatched_exits", "sampled_states", "unknown_states"))


class Place(NamedTuple):
    """The meaning of an address: `address` is the address in the object's file, `offset` the distance from the start of the symbol."""
    object: str
    symbol: Optional[str]
    address: int
    offset: Optional[int]
    file: Optional[str]
    line: int


# --- Opening


class _Input:
    """A path that can be opened more than once: a stream is copied into an unnamed temporary file."""

    def __init__(self, path: Path) -> None:
        self._copy: Any = None
        if path in ("-", b"-"):
            self._spool(sys.stdin.buffer)
        elif _is_stream(path):
            with open(path, "rb") as stream:
                self._spool(stream)
        self.shown = os.fsdecode(path)
        self.path = b"/proc/self/fd/%d" % self._copy.fileno() if self._copy else path_bytes(path)

    def _spool(self, stream: Any) -> None:
        import shutil  # both take long to import
        import tempfile
        self._copy = tempfile.TemporaryFile()
        shutil.copyfileobj(stream, self._copy, 1 << 20)
        self._copy.flush()


def _is_stream(path: Path) -> bool:
    try:
        mode = os.stat(path_bytes(path)).st_mode
    except OSError:
        return False  # the library reports the reason
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


class _Options:
    """The options of open_model as structs of the library. The strings and structs are valid as long as this object exists."""

    def __init__(self, naming: Dict[str, Any], limits: Dict[str, int]) -> None:
        self.naming = self._struct("pfr_symbol_options", self._texts(naming))
        self.limits = self._struct("pfr_limits", limits)
        self.opening = self._struct("pfr_open_options", {"limits": ctypes.addressof(self.limits)})

    @staticmethod
    def _struct(name: str, values: Dict[str, Any]) -> Any:
        known_members = [member for member, _ in structs[name]._fields_][1:]
        for key in values:
            if key not in known_members:
                raise TypeError("no option %r: %s" % (key, ", ".join(known_members)))
        return structs[name](size=ctypes.sizeof(structs[name]), **values)

    def _texts(self, naming: Dict[str, Any]) -> Dict[str, Any]:
        ready: Dict[str, Any] = {}
        for key, value in naming.items():
            if key == "instr_maps":
                self._maps = text_list(value)
                ready[key] = address(self._maps)
            elif key == "templates":
                ready[key] = _choice(_TEMPLATES, value)
            else:
                ready[key] = value if isinstance(value, bool) or value is None else text_bytes(os.fspath(value))
        return ready

    def reader(self, path: bytes) -> Handle:
        error = new_error()
        pointer = library.pfr_open(path, ctypes.byref(self.opening), ctypes.byref(error))
        if not pointer:
            raise Error(error)
        return Handle(pointer, library.pfr_close, keep=self)


def _feature_holes(reader: Handle) -> Iterator[Hole]:
    """Header sections that are damaged or truncated. They are checked here because loading a model reads only few of them and reports
    none."""
    for index in range(library.pfr_feature_count(reader.pointer)):
        error = new_error()
        feature = library.pfr_get_feature(reader.pointer, index, ctypes.byref(error))
        if feature and library.pfr_check_feature(reader.pointer, feature, ctypes.byref(error)) == HOLE:
            yield hole_of(error)


def _choice(choices: Dict[str, int], value: str) -> int:
    if value not in choices:
        raise ValueError("no choice %r: %s" % (value, ", ".join(choices)))
    return choices[value]


def _column_bits(columns: Iterable[str]) -> int:
    bits = 0
    for name in [columns] if isinstance(columns, str) else columns:
        if name not in _KEPT:
            raise ValueError("no column %r: %s" % (name, ", ".join(_KEPT)))
        bits |= 1 << _KEPT.index(name)
    return bits


def open_model(path: Path, *, beside: Optional[Path] = None, columns: Iterable[str] = (), jobs: int = 0, max_stack: int = 0,
               functions: bool = False, lines: bool = False, inlined: bool = False, stitched: bool = False,
               limits: Optional[Dict[str, int]] = None, **naming: Any) -> "Model":
    """Loads the recording or trace at `path` into a `Model`. A stream ("-" or a FIFO) is copied first.

    beside      a trace of the same run as the recording (or the reverse), with the same clock
    columns     samples' columns that stay in memory: "time", "thread", "cpu", "event", "mode", "weight", "period", "comm"
                ("stack" always does); see Model.columns
    jobs        threads that load; 0: chosen by size
    max_stack   maximum depth of a call chain, from the innermost frame; 0: 127, for a trace 256
    functions   frames are functions, not addresses: fewer stacks, no lines
    lines       file and line of each frame; inlined: inlined functions are frames (implies lines)
    stitched    LBR stacks are extended with the outer frames of earlier samples
    limits      members of pfr_limits, such as {"memory": 2 << 30}
    naming      members of pfr_symbol_options: symfs, debug_dir, vmlinux, kallsyms, cache_dir, fetched, instr_maps (a list),
                no_symbols, mangled, parameters, demangle_kernel, templates ("keep", "fold", "omit")

    Raises Error. Damage is not an error, but DamageWarning is issued; see `Model.losses`."""
    options = _Options(naming, limits or {})
    kind = structs["pfr_model_options"]
    asked = kind(size=ctypes.sizeof(kind), columns=_column_bits(columns), jobs=jobs, max_stack=max_stack, functions=functions,
                 lines=lines, inlined=inlined, stitched=stitched, naming=ctypes.addressof(options.naming))
    inputs = [_Input(path)] + ([_Input(beside)] if beside is not None else [])
    return Model(inputs, options, asked)


def flat(path: Path, *, limits: Optional[Dict[str, int]] = None, **naming: Any) -> Rows[_weights.FlatRow]:
    """The rows of `open_model(path).flat()` without a model, in a fraction of the time: use this if you need nothing else of the model.
    Options are those of open_model."""
    options, one = _Options(naming, limits or {}), _Input(path)
    reader = options.reader(one.path)
    traced = library.pfr_get_header(reader.pointer).contents.format
    with _weights.without_collector():
        document = _queries.report(reader, options.naming, "dso,sym" if traced else "comm,dso,sym")
        return Rows(_weights.rows_of_report(document), _weights.FlatRow._fields)


class Model:
    """A loaded recording: tables, samples, calls, stacks and sums. It never changes; any number of threads may use it. Ids start at 1; 0
    means unknown. `close()` (or a `with` block) releases the memory as soon as there is no view of it."""

    def __init__(self, inputs: List[_Input], options: _Options, asked: Any) -> None:
        #: unreadable ranges that were found while loading
        self.holes: List[Hole] = []
        #: sentences about possible errors or missing data
        self.notes: List[str] = []
        self._inputs, self._options, self._asked = inputs, options, asked
        self._handle: Optional[Handle] = self._load()
        handle = self._handle
        self._tables(handle.pointer)
        quality = self.quality
        if any(quality[key] for key in _DAMAGE):
            warnings.warn("%s: %s" % (inputs[0].shown, self._loss_text()), DamageWarning, stacklevel=3)

    def _load(self) -> Handle:
        readers = [self._options.reader(one.path) for one in self._inputs]
        holes, notes = self.holes, self.notes
        for reader in readers:
            holes.extend(_feature_holes(reader))
        on_hole = HoleCallback(lambda _, hole: holes.append(hole_of(hole.contents)))
        on_note = NoteCallback(lambda _, sentence: notes.append(sentence.decode("utf-8", "replace")))
        self._asked.hole, self._asked.note = on_hole, on_note
        self._asked.beside = readers[1].pointer if len(readers) > 1 else None
        error = new_error()
        pointer = library.pfr_model_open(readers[0].pointer, ctypes.byref(self._asked), ctypes.byref(error))
        if not pointer:
            raise Error(error)
        self.holes.sort(key=lambda hole: -1 if hole.offset is None else hole.offset)
        return Handle(pointer, library.pfr_model_close, readers, (self._options, self._inputs))

    def _tables(self, model: int) -> None:
        def table(name: str, row: Any) -> Any:
            return Table(library.pfr_model_count(model, _TABLES.index(name)), row)
        #: tables by id: see perfray.Event, Process, Thread, Object, Symbol, Frame; comms are texts
        self.events: Table[Event] = table("event", self._event)
        self.processes: Table[Process] = table("process", self._process)
        self.threads: Table[Thread] = table("thread", self._thread)
        self.comms: Table[str] = table("comm", self._comm)
        self.objects: Table[Object] = table("object", self._object)
        self.symbols: Table[Symbol] = table("symbol", self._symbol)
        self.frames: Table[Frame] = table("frame", self._frame)
        #: number of samples
        self.sample_count: int = library.pfr_model_sample_count(model)
        self.call_count: int = library.pfr_model_call_count(model)
        #: unit of the times of calls: "ticks" if the trace lacks its clock's frequency, otherwise "ns"
        self.time_unit: str = "ticks" if library.pfr_model_ticks(model) else "ns"
        self._stacks: Optional[Stacks] = None

    def _need(self) -> Handle:
        handle = self._handle
        if not handle:
            raise ValueError("the model is closed")
        return handle

    def close(self) -> None:
        """Releases the model. Existing rows and views remain valid."""
        self._handle = self._stacks = None

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<model of %s: %d samples, %d calls, %d stacks>" % (self._inputs[0].shown, self.sample_count, self.call_count,
                                                                  len(self.stacks) if self._handle else 0)

    # --- Rows of tables

    def _event(self, id: int) -> Event:
        handle = self._need()
        raw = library.pfr_model_get_event(handle.pointer, id).contents
        return Event(id, show(raw.name) or "", show(raw.unit), raw.samples, raw.weight, known(raw.first, NO_TIME),
                     known(raw.last, NO_TIME), raw.is_traced)

    def _process(self, id: int) -> Process:
        handle = self._need()
        raw = library.pfr_model_get_process(handle.pointer, id).contents
        return Process(id, raw.pid, raw.parent, self.comms.get(raw.comm) or "", known(raw.start, NO_TIME), known(raw.end, NO_TIME))

    def _thread(self, id: int) -> Thread:
        handle = self._need()
        raw = library.pfr_model_get_thread(handle.pointer, id).contents
        process = self.processes.get(raw.process)
        return Thread(id, raw.process, process.pid if process else 0, raw.tid, self.comms.get(raw.comm) or "",
                      known(raw.start, NO_TIME), known(raw.end, NO_TIME))

    def _comm(self, id: int) -> str:
        handle = self._need()
        return show(library.pfr_model_get_comm(handle.pointer, id)) or ""

    def _object(self, id: int) -> Object:
        handle = self._need()
        raw = library.pfr_model_get_object(handle.pointer, id).contents
        return Object(id, show(raw.path) or "", show(raw.name) or "", bytes(raw.build_id[:raw.build_id_size]).hex(),
                      OBJECT_KINDS[raw.kind])

    def _symbol(self, id: int) -> Symbol:
        handle = self._need()
        raw = library.pfr_model_get_symbol(handle.pointer, id).contents
        return Symbol(id, show(raw.name), show(raw.mangled), self.objects[raw.object], raw.address, raw.size)

    def _frame(self, id: int) -> Frame:
        handle = self._need()
        raw = library.pfr_model_get_frame(handle.pointer, id).contents
        return Frame(id, self.symbols[raw.symbol], raw.address, show(raw.file), raw.line, mode_name(raw.mode), raw.inlined)

    @property
    def stacks(self) -> Stacks:
        """The tree of call stacks."""
        if self._stacks is None:
            self._stacks = Stacks(self)
        return self._stacks

    @property
    def intervals(self) -> List[Interval]:
        """Intervals of thread states, if context switches were recorded."""
        return self._list(library.pfr_model_interval, interval_of)

    @property
    def marks(self) -> List[Mark]:
        """Losses, throttling and unreadable ranges, in file order."""
        return self._list(library.pfr_model_mark, mark_of)

    def _list(self, get: Any, row: Any) -> List[Any]:
        handle, rows = self._need(), []
        while True:
            at = get(handle.pointer, len(rows))
            if not at:
                return rows
            rows.append(row(at.contents))

    def find(self, function: Union[str, int, Symbol]) -> List[Symbol]:
        """The symbols with this name (one for each object that has it), or the one with this id, or `function` itself if it is a
        Symbol."""
        if isinstance(function, Symbol):
            return [function]
        if isinstance(function, int):
            return [self.symbols[function]]
        return [symbol for symbol in self.symbols if function in (symbol.name, symbol.mangled) or symbol.text == function]

    # --- Samples and calls

    def samples(self, *, thread: int = 0, event: Union[None, int, str, Event] = None, cpu: Optional[int] = None, first: int = 0,
                last: int = 0, in_time_order: bool = False, records: bool = False) -> Samples:
        """The samples, in file order or in time order; optionally only those of one thread (id), event, CPU or time range (ns, both ends
        included; last 0: no upper bound). records: each sample has its raw record."""
        kind = structs["pfr_samples_options"]
        of = 0 if event is None else _weights.event_of(self, event).id
        return Samples(self, kind(size=ctypes.sizeof(kind), in_time_order=in_time_order, records=records, first=first, last=last,
                                  thread=thread, event=of, by_cpu=cpu is not None, cpu=cpu or 0))

    def calls(self, *, thread: int = 0, function: Union[None, int, Symbol] = None, first: int = 0, last: int = 0,
              min_duration: int = 0) -> Calls:
        """The calls of a trace; optionally only those of one thread (id) or function (symbol or id), those that overlap a time range, or
        those that took at least `min_duration`."""
        kind = structs["pfr_calls_options"]
        symbol = function.id if isinstance(function, Symbol) else function or 0
        return Calls(self, kind(size=ctypes.sizeof(kind), first=first, last=last, min_duration=min_duration, thread=thread, symbol=symbol))

    @property
    def columns(self) -> Columns:
        """The columns of samples that are in the model's memory ("stack", and those of open_model(columns=...)), in file order, not
        copied."""
        handle = self._need()
        kept: Dict[str, memoryview] = {}
        for bit, name in enumerate(_KEPT):
            raw = structs["pfr_column"]()
            if library.pfr_model_column(handle.pointer, 1 << bit, ctypes.byref(raw)):
                letter, size = TYPES[raw.type]
                whole = view(raw.at, (raw.count - 1) * raw.stride // size + 1 if raw.count else 0, letter, handle)
                kept[name] = whole if raw.stride == size else whole[::raw.stride // size]
                assert letter == SAMPLE_COLUMNS[name]
        return Columns(kept)

    # --- Sums

    def weights(self, event: Union[None, int, str, Event] = None) -> Columns:
        """The weights of each stack, indexed by stack id: "self" is that of the stack only, "total" includes all stacks that extend it.
        event None: the first event that has samples."""
        own, total = _weights.stack_weights(self, _weights.event_of(self, event).id)
        return Columns({"self": own, "total": total})

    def flat(self, event: Union[None, int, str, Event] = None) -> Rows[_weights.FlatRow]:
        """The self weight of each function, by command and object: the rows of `perfray report --sort comm,dso,sym`, heaviest first. event
        None: all events, one after the other."""
        return _weights.flat(self, event)

    def functions(self, event: Union[None, int, str, Event] = None) -> Rows[_weights.FunctionRow]:
        """The weight of each function with its callees, and its self weight, heaviest first."""
        return _weights.functions(self, event)

    def tree(self, event: Union[None, int, str, Event] = None) -> _weights.Tree:
        """The call tree. event None: the first event that has samples."""
        return _weights.Tree(self, _weights.event_of(self, event))

    def callers(self, function: Union[str, int, Symbol], event: Union[None, int, str, Event] = None) -> Rows[_weights.CallerRow]:
        """The callers of a function (name, id or Symbol), by weight. KeyError: there is no such function."""
        return _weights.callers(self, function, event)

    # --- Queries to the library

    def latency(self, function: Union[None, str, Sequence[str]] = None, **options: Any) -> _queries.Latency:
        """Durations of the calls of a trace, as in `perfray latency`, for the functions that match one of these patterns (globs, or
        regular expressions between slashes), or for all functions. Options: by ("function", "caller", "thread"), histogram, sort, top,
        deduce, ticks, objects (a list), tids, min_duration ("10us"), time, lines."""
        return _queries.latency(self, function, **options)

    def sql(self, query: str, /, **parameters: Any) -> _queries.SqlRows:
        """Rows of an SQL query over the tables of docs/sql.md. `:name` in the query gets the value of the argument name=. Queries are
        read-only. Raises Error."""
        return _queries.sql(self, query, parameters)

    def _reader_of_calls(self) -> Optional[Handle]:
        """A new reader for the trace; None: the model has no trace."""
        for one in self._inputs:
            reader = self._options.reader(one.path)
            if library.pfr_get_header(reader.pointer).contents.format:  # PFR_PERF_DATA is 0
                return reader
        return None

    def records(self, *names: str) -> Iterator["Record"]:
        """The raw records in file order, either all or those of these types ("mmap2", "comm"), read from the file again. A record is valid
        until the next one."""
        self._need()
        recording = Recording(self._inputs[0].path)
        return (record for record in recording if not names or record.name in names)

    def symbolize(self, pid: int, tid: int, address: int, *, time: Optional[int] = None, mode: str = "user") -> Optional[Place]:
        """The meaning of an address in a thread at a time (None: at the end of the recording); None if no mapping contains it."""
        return _queries.symbolize(self, pid, tid, address, NO_TIME if time is None else time, mode)

    # --- Facts

    def _facts(self, get: Any) -> Dict[str, Any]:
        handle, facts = self._need(), {}
        while True:
            at = get(handle.pointer, len(facts))
            if not at:
                return facts
            text = show(at.contents.text) or ""
            number = at.contents.value
            facts[at.contents.key.decode()] = number if text == str(number) else text

    @property
    def quality(self) -> Dict[str, int]:
        """Completeness and damage of the recording: the fields of the quality line, and those of <perfray/model.h>."""
        return self._facts(library.pfr_model_fact)

    @property
    def losses(self) -> Dict[str, int]:
        """The fields of `quality` that show missing data; empty if the recording shows no loss."""
        return {key: value for key, value in self.quality.items() if value and key not in _NO_LOSS}

    def _loss_text(self) -> str:
        return " ".join("%s=%s" % item for item in self.losses.items()) or "nothing was lost"

    @property
    def meta(self) -> Dict[str, Any]:
        """Facts about the recording: "format", "clock", "hostname", "cmdline", ..."""
        return self._facts(library.pfr_model_meta)

    def _repr_html_(self) -> str:
        from perfray import _html
        return _html.model(self)
