# SPDX-License-Identifier: Apache-2.0
"""Recordings of perf and traces of XRay, read through libperfray.

    import perfray

    with perfray.open("perf.data") as recording:
        for record in recording:
            if record.name == "sample":
                print(record["time"], hex(record["ip"]))
        for hole in recording.holes:
            print("byte", hole.offset, hole.text)

The contract is that of the <perfray/...> headers, called through ctypes: a record is valid until the next one
is read; `Record.copy()` keeps its fields. Numbers are ints, texts str (with `\\xNN` for unprintable bytes,
as everywhere in perfray), raw bytes bytes. `dump()` writes the output of `perfray dump`.

PERFRAY_LIBRARY is the path of the library (build/libperfray.so before installation); if unset, the system searches
libperfray.so.0. ImportError reports a missing library.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

__all__ = ["Error", "Hole", "Record", "Recording", "open", "dump"]

NO_OFFSET = 2**64 - 1
OK, END, HOLE = 0, 1, 2
TEXT, JSON_LINES, PERF = 0, 1, 2
_FORMATS = {"text": TEXT, "jsonl": JSON_LINES, "perf": PERF}
_ABSENT, _UNSIGNED, _SIGNED, _DOUBLE, _TEXT, _BYTES, _U64S, _ITEMS, _PART = range(9)


# --- Structs of error.h, record.h, reader.h, views.h, dump.h.

class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("offset", ctypes.c_uint64), ("length", ctypes.c_uint64),
                ("where", ctypes.c_char_p), ("text", ctypes.c_char * 160)]


class _Record(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("inner", ctypes.c_uint64), ("part", ctypes.c_uint32),
                ("type", ctypes.c_uint32), ("size", ctypes.c_uint32), ("misc", ctypes.c_uint16),
                ("tail", ctypes.c_uint16), ("inside", ctypes.c_bool), ("event", ctypes.c_int32),
                ("payload", ctypes.c_uint64), ("bytes", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class _Text(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_uint32), ("room", ctypes.c_uint32)]


class _Bytes(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_uint64)]


class _U64s(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("count", ctypes.c_uint64), ("swap", ctypes.c_uint64)]


class _Items(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_uint64), ("count", ctypes.c_uint64),
                ("context", ctypes.c_void_p), ("of", ctypes.c_uint64)]


class _As(ctypes.Union):
    _fields_ = [("u", ctypes.c_uint64), ("i", ctypes.c_int64), ("d", ctypes.c_double), ("text", _Text),
                ("bytes", _Bytes), ("u64s", _U64s), ("items", _Items), ("part", ctypes.c_void_p)]


class _Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("name", ctypes.c_char_p), ("layout", ctypes.c_uint64), ("value", _As)]


class _DumpOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_int), ("hex", ctypes.c_bool), ("only", ctypes.c_char_p),
                ("offset_from", ctypes.c_uint64), ("offset_to", ctypes.c_uint64), ("time_from", ctypes.c_uint64),
                ("time_to", ctypes.c_uint64), ("name", ctypes.c_char_p), ("aux_folder", ctypes.c_char_p),
                ("hole", ctypes.c_void_p), ("hole_context", ctypes.c_void_p), ("counts", ctypes.c_void_p),
                ("instr_maps", ctypes.c_void_p), ("note", ctypes.c_void_p)]


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(os.environ.get("PERFRAY_LIBRARY") or ctypes.util.find_library("perfray") or "libperfray.so.0")
    except OSError as error:
        raise ImportError("%s; install perfray, or name the library in PERFRAY_LIBRARY" % error) from None
    pointer, error = ctypes.c_void_p, ctypes.POINTER(_Error)
    for name, result, arguments in (
            ("pfr_open", pointer, [ctypes.c_char_p, pointer, error]),
            ("pfr_close", None, [pointer]),
            ("pfr_next", ctypes.c_int, [pointer, ctypes.POINTER(_Record), error]),
            ("pfr_rewind", ctypes.c_int, [pointer, error]),
            ("pfr_record_name", ctypes.c_char_p, [ctypes.POINTER(_Record)]),
            ("pfr_get", ctypes.c_int, [ctypes.POINTER(_Record), ctypes.c_char_p, ctypes.POINTER(_Value), error]),
            ("pfr_escape", ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]),
            ("pfr_status_name", ctypes.c_char_p, [ctypes.c_int]),
            ("pfr_output_open", pointer, [ctypes.c_int, ctypes.c_bool, error]),
            ("pfr_output_close", ctypes.c_int, [pointer, error]),
            ("pfr_dump", ctypes.c_int, [pointer, ctypes.POINTER(_DumpOptions), pointer, error])):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()

Value = Union[int, float, str, bytes, List[int], None]


def _show(raw: bytes) -> str:
    """Bytes of a file as printable text, escaped."""
    room = ctypes.create_string_buffer(4 * len(raw) + 17)
    length = _library.pfr_escape(room, len(room), raw, len(raw))
    return room.raw[:length].decode("utf-8")


class Hole(NamedTuple):
    """An unreadable range of the recording."""
    offset: Optional[int]
    length: int
    where: str
    text: str


class Error(Exception):
    """A failed call: `status` is its name ("input/output", "format", ...), `offset` the byte concerned, if any."""

    def __init__(self, error: _Error) -> None:
        super().__init__(error.text.decode("utf-8", "replace"))
        self.status: str = _library.pfr_status_name(error.status).decode()
        self.offset: Optional[int] = None if error.offset == NO_OFFSET else error.offset


def _hole_of(error: _Error) -> Hole:
    return Hole(None if error.offset == NO_OFFSET else error.offset, error.length,
                (error.where or b"").decode(), error.text.decode("utf-8", "replace"))


class Record:
    """One record. Attributes are its header and position; `record["field"]` is a field, with dots for nested parts: "ip",
    "regs_user.abi", "id.time" (of the sample_id). The value is None if the layout has the field but this record lacks it."""

    def __init__(self, raw: _Record) -> None:
        self._raw = raw
        self.offset: int = raw.offset
        self.inner: Optional[int] = raw.inner if raw.inside else None
        self.part: int = raw.part
        self.type: int = raw.type
        self.size: int = raw.size
        self.misc: int = raw.misc
        self.event: Optional[int] = raw.event if raw.event >= 0 else None
        self.payload: int = raw.payload
        name = _library.pfr_record_name(ctypes.byref(raw))
        self.name: Optional[str] = name.decode() if name else None

    @property
    def bytes(self) -> bytes:
        """The bytes of the record in the file."""
        return ctypes.string_at(self._raw.bytes, self._raw.size)

    def __getitem__(self, field: str) -> Value:
        value, error = _Value(), _Error()
        if _library.pfr_get(ctypes.byref(self._raw), field.encode(), ctypes.byref(value), ctypes.byref(error)) < 0:
            raise KeyError(error.text.decode("utf-8", "replace"))
        return _value_of(value)

    def get(self, field: str, default: Value = None) -> Value:
        """`record[field]`, or `default` if there is no such field."""
        try:
            return self[field]
        except KeyError:
            return default

    def copy(self, *fields: str) -> Dict[str, Value]:
        """The named fields, in a dict that outlives the record."""
        return {field: self[field] for field in fields}


def _u64s(view: _U64s) -> List[int]:
    raw = ctypes.string_at(view.at, 8 * view.count) if view.count else b""
    numbers = (ctypes.c_uint64 * view.count).from_buffer_copy(raw) if raw else []
    return [int.from_bytes(n.to_bytes(8, "little"), "big") if view.swap else n for n in numbers]


def _value_of(value: _Value) -> Value:
    kind, held = value.kind, value.value
    if kind == _UNSIGNED:
        return held.u
    if kind == _SIGNED:
        return held.i
    if kind == _DOUBLE:
        return held.d
    if kind == _TEXT:
        return _show(ctypes.string_at(held.text.at, held.text.length)) if held.text.length else ""
    if kind == _BYTES:
        return ctypes.string_at(held.bytes.at, held.bytes.length) if held.bytes.length else b""
    if kind == _U64S:
        return _u64s(held.u64s)
    if kind == _ITEMS:
        return ctypes.string_at(held.items.at, held.items.length) if held.items.length else b""
    return None


class Recording:
    """An open recording or trace. Iteration starts at the first record, in file order; afterwards `holes` lists the
    unreadable ranges. Not thread-safe."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        error, name = _Error(), os.fsencode(path)
        self._handle = None
        if b"\0" in name:
            raise ValueError("a path holds no NUL")
        self._handle = _library.pfr_open(name, None, ctypes.byref(error))
        self._path, self._begun = path, False
        self.holes: List[Hole] = []
        if not self._handle:
            raise Error(error)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Also invalidates its records."""
        _library.pfr_close(self._handle)
        self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _need(self) -> int:
        if not self._handle:
            raise ValueError("the recording is closed")
        return self._handle

    def rewind(self) -> None:
        """Back to the first record; a stream cannot."""
        error = _Error()
        if _library.pfr_rewind(self._need(), ctypes.byref(error)) < 0:
            raise Error(error)
        self.holes, self._begun = [], False

    def __iter__(self) -> Iterator[Record]:
        if self._begun:
            self.rewind()
        self._begun = True
        error = _Error()
        while True:
            raw = _Record()
            status = _library.pfr_next(self._need(), ctypes.byref(raw), ctypes.byref(error))
            if status == OK:
                yield Record(raw)
            elif status == HOLE:
                self.holes.append(_hole_of(error))
            elif status == END:
                return
            else:
                raise Error(error)

    def dump(self, file: Any, format: str = "text", only: Optional[str] = None) -> bool:
        """Writes every record with every field, as `perfray dump`, into `file` (which has a descriptor): "text",
        "jsonl" or "perf". `only`: names of types with commas between. A recording that was iterated is opened anew, which a
        stream cannot. False: parts could not be used. ValueError: no such format, or a closed recording; TypeError: a file
        without a descriptor, such as io.StringIO."""
        self._need()
        if format not in _FORMATS:
            raise ValueError("no format %r: %s" % (format, ", ".join(_FORMATS)))
        try:
            descriptor = file.fileno()
        except (AttributeError, OSError):
            raise TypeError("dump writes into a file with a descriptor, not into %s" % type(file).__name__) from None
        if self._begun:  # a pass may have read features from records; a new dump prints them at their records
            return dump(self._path, file, format, only)
        self._begun = True
        file.flush()
        options = _DumpOptions(size=ctypes.sizeof(_DumpOptions), format=_FORMATS[format], only=only and only.encode())
        error, closed = _Error(), _Error()
        output = _library.pfr_output_open(descriptor, False, ctypes.byref(error))
        if not output:
            raise Error(error)
        status = _library.pfr_dump(self._need(), ctypes.byref(options), output, ctypes.byref(error))
        if _library.pfr_output_close(output, ctypes.byref(closed)) < 0 <= status:
            raise Error(closed)
        if status < 0:
            raise Error(error)
        return status == OK


def open(path: Union[str, "os.PathLike[str]"]) -> Recording:
    """The recording or trace at `path`, "-" for standard input. Raises Error where it cannot be read."""
    return Recording(path)


def dump(path: Union[str, "os.PathLike[str]"], file: Any, format: str = "text", only: Optional[str] = None) -> bool:
    """Opens, dumps, closes: see Recording.dump."""
    with open(path) as recording:
        return recording.dump(file, format, only)
