# SPDX-License-Identifier: Apache-2.0
"""Records of a recording or trace, in file order: `perfray.open`."""
from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Dict, Iterator, List, Optional, Union

from perfray._library import (END, HOLE, OK, Error, Handle, Hole, check, hole_of, library, new_error, path_bytes, show,
                              structs, text_bytes)

_FORMATS = {"text": 0, "jsonl": 1, "perf": 2}
_ABSENT, _UNSIGNED, _SIGNED, _DOUBLE, _TEXT, _BYTES, _U64S, _ITEMS, _PART = range(9)

Path = Union[str, bytes, "os.PathLike[str]"]
Value = Union[int, float, str, bytes, List[int], None]


class Record:
    """One record. Attributes are its header and position; `record["field"]` is a field, with dots for nested parts: "ip",
    "regs_user.abi", "id.time" (of the sample_id). The value is None if records of this type may have the field but this one
    does not.

    Fields and bytes can be read until the next record is read; after that they raise ValueError."""

    def __init__(self, raw: Any, recording: "Recording") -> None:
        self._raw, self._recording, self._serial = raw, recording, recording._serial
        self.offset: int = raw.offset
        self.inner: Optional[int] = raw.inner if raw.inside else None
        self.part: int = raw.part
        self.type: int = raw.type
        self.size: int = raw.size
        self.misc: int = raw.misc
        self.event: Optional[int] = raw.event if raw.event >= 0 else None
        self.payload: int = raw.payload
        name = library.pfr_record_name(ctypes.byref(raw))
        self.name: Optional[str] = name.decode() if name else None

    def __repr__(self) -> str:
        return "<%s record of %d bytes at %d>" % (self.name or "unknown", self.size, self.offset)

    def _need(self) -> None:
        if self._serial != self._recording._serial:
            raise ValueError("the record is gone: another one was read since, or its recording was closed")

    @property
    def bytes(self) -> bytes:
        """The bytes of the record in the file."""
        with self._recording._lock:
            self._need()
            return ctypes.string_at(self._raw.bytes, self._raw.size)

    def __getitem__(self, field: str) -> Value:
        value, error = structs["pfr_value"](), new_error()
        with self._recording._lock:
            self._need()
            if library.pfr_get(ctypes.byref(self._raw), text_bytes(field), ctypes.byref(value), ctypes.byref(error)) < 0:
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


def _u64s(view: Any) -> List[int]:
    raw = ctypes.string_at(view.at, 8 * view.count) if view.count else b""
    numbers = (ctypes.c_uint64 * view.count).from_buffer_copy(raw) if raw else []
    return [int.from_bytes(n.to_bytes(8, "little"), "big") if view.swap else n for n in numbers]


def _value_of(value: Any) -> Value:
    kind, held = value.kind, value.value
    if kind == _UNSIGNED:
        return int(held.u)
    if kind == _SIGNED:
        return int(held.i)
    if kind == _DOUBLE:
        return float(held.d)
    if kind == _TEXT:
        return show(ctypes.string_at(held.text.at, held.text.length)) if held.text.length else ""
    if kind == _BYTES:
        return ctypes.string_at(held.bytes.at, held.bytes.length) if held.bytes.length else b""
    if kind == _U64S:
        return _u64s(held.u64s)
    if kind == _ITEMS:
        return ctypes.string_at(held.items.at, held.items.length) if held.items.length else b""
    return None


class Recording:
    """An open recording or trace. Iteration starts at the first record and is in file order; afterwards `holes` lists the
    unreadable ranges."""

    def __init__(self, path: Path) -> None:
        error = new_error()
        self._handle: Optional[Handle] = None
        self._lock = threading.RLock()
        pointer = library.pfr_open(path_bytes(path), None, ctypes.byref(error))
        self._path, self._begun, self._serial = path, False, 0
        self.holes: List[Hole] = []
        if not pointer:
            raise Error(error)
        self._handle = Handle(pointer, library.pfr_close)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the recording; its records become invalid."""
        with self._lock:
            self._handle = None
            self._serial += 1

    def _need(self) -> int:
        if not self._handle:
            raise ValueError("the recording is closed")
        return self._handle.pointer

    def rewind(self) -> None:
        """Goes back to the first record; not possible for a stream."""
        error = new_error()
        with self._lock:
            check(library.pfr_rewind(self._need(), ctypes.byref(error)), error)
            self.holes, self._begun = [], False
            self._serial += 1

    def __iter__(self) -> Iterator[Record]:
        if self._begun:
            self.rewind()
        self._begun = True
        while True:
            record = self._next()
            if record is None:
                return
            yield record

    def _next(self) -> Optional[Record]:
        error = new_error()
        while True:
            raw = structs["pfr_record"]()
            with self._lock:
                status = library.pfr_next(self._need(), ctypes.byref(raw), ctypes.byref(error))
                self._serial += 1
                if status == OK:
                    return Record(raw, self)
            if status == HOLE:
                self.holes.append(hole_of(error))
            elif status == END:
                return None
            else:
                raise Error(error)

    def dump(self, file: Any, format: str = "text", only: Optional[str] = None) -> bool:
        """Writes every record with every field to `file`, which must have a descriptor, like `perfray dump`. Formats:
        "text", "jsonl" or "perf". `only`: comma-separated names of types. A recording that was iterated is opened again,
        which is not possible for a stream. Returns False if parts could not be used. ValueError: unknown format, or a
        closed recording. TypeError: a file without a descriptor, such as io.StringIO."""
        self._need()
        if format not in _FORMATS:
            raise ValueError("no format %r: %s" % (format, ", ".join(_FORMATS)))
        try:
            descriptor = file.fileno()
        except (AttributeError, OSError):
            raise TypeError("dump writes into a file with a descriptor, not into %s" % type(file).__name__) from None
        if self._begun:  # an earlier pass may have read features from records; a new reader prints them at their records
            return dump(self._path, file, format, only)
        self._begun = True
        file.flush()
        return self._dump_to(descriptor, _FORMATS[format], only)

    def _dump_to(self, descriptor: int, format: int, only: Optional[str]) -> bool:
        kind = structs["pfr_dump_options"]
        options = kind(size=ctypes.sizeof(kind), format=format, only=text_bytes(only))
        error, closed = new_error(), new_error()
        output = library.pfr_output_open(descriptor, False, ctypes.byref(error))
        if not output:
            raise Error(error)
        with self._lock:
            self._serial += 1
            status = library.pfr_dump(self._need(), ctypes.byref(options), output, ctypes.byref(error))
        if library.pfr_output_close(output, ctypes.byref(closed)) < 0 <= status:
            raise Error(closed)
        return check(status, error) == OK


def open(path: Path) -> Recording:
    """The records of the recording or trace at `path`; "-" is standard input. Raises Error if it cannot be read."""
    return Recording(path)


def dump(path: Path, file: Any, format: str = "text", only: Optional[str] = None) -> bool:
    """Opens a recording, dumps it and closes it: see Recording.dump."""
    with open(path) as recording:
        return recording.dump(file, format, only)
