# SPDX-License-Identifier: Apache-2.0
"""Loads libperfray, and makes ctypes structs and functions from `_declarations.py`; errors; handles."""
from __future__ import annotations

import ctypes
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

from perfray import _declarations

NO_OFFSET = 2**64 - 1
NO_TIME = 2**64 - 1
NO_CPU = 2**32 - 1
OK, END, HOLE = 0, 1, 2

# --- Types

_numbers: Dict[str, Any] = {
    "bool": ctypes.c_bool, "int": ctypes.c_int, "unsigned": ctypes.c_uint, "size_t": ctypes.c_size_t, "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
    "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "double": ctypes.c_double, "void": None}
_numbers.update({name: ctypes.c_int for name in _declarations.ENUMS.split()})
_handles = frozenset(_declarations.HANDLES.split())
structs: Dict[str, Any] = {}
callbacks: Dict[str, Any] = {}


def _type(name: str, stars: int) -> Any:
    """The ctypes type of a C type such as "uint32_t", with any number of stars. Handles, and pointers to types without a struct
    here, are addresses."""
    if name in callbacks:
        return callbacks[name]
    if stars == 0:
        return structs[name] if name in structs else _numbers[name]
    if stars == 1 and name == "char":
        return ctypes.c_char_p
    if stars == 1 and name in structs:
        return ctypes.POINTER(structs[name])
    if stars == 2 and name in structs:
        return ctypes.POINTER(ctypes.POINTER(structs[name]))
    return ctypes.c_void_p


def _argument(text: str) -> Tuple[str, int]:
    words = text.replace("const ", "").split()
    return words[0], text.count("*")


def _members(body: str) -> List[Tuple[str, Any]]:
    members: List[Tuple[str, Any]] = []
    for line in filter(None, map(str.strip, body.split(";"))):
        words = re.match(r"(?:const )?(\w+) (.*)$", line, re.S)
        assert words, line
        for name in words[2].split(","):
            parts = re.match(r"\s*(\**)(\w+)(?:\[(\d+)\])?$", name)
            assert parts, line
            kind = _type(words[1], len(parts[1]))
            members.append((parts[2], kind * int(parts[3]) if parts[3] else kind))
    return members


def _make_structs() -> None:
    for name, body in re.findall(r"(\w+) \{(.*?)\}", _declarations.STRUCTS, re.S):
        structs[name] = type(name, (ctypes.Structure,), {"_fields_": _members(body)})
        for callback, (result, argument) in _declarations.CALLBACKS.items():  # later structs have these as members
            if argument.split()[0] in (name, "char"):
                callbacks[callback] = ctypes.CFUNCTYPE(_numbers[result], ctypes.c_void_p, _type(*_argument(argument)))
        if name == "pfr_items":
            _make_value()


def _make_value() -> None:
    """Makes pfr_value by hand, because the texts have no form for its unnamed union."""
    fields = [("u", ctypes.c_uint64), ("i", ctypes.c_int64), ("d", ctypes.c_double), ("part", ctypes.c_void_p)]
    fields += [(name, structs["pfr_" + name]) for name in ("text", "bytes", "u64s", "items")]
    union = type("pfr_value_as", (ctypes.Union,), {"_fields_": fields})
    structs["pfr_value"] = type("pfr_value", (ctypes.Structure,), {
        "_fields_": [("kind", ctypes.c_int), ("name", ctypes.c_char_p), ("layout", ctypes.c_uint64), ("value", union)]})


_make_structs()
HoleCallback, NoteCallback, FlatCallback = callbacks["pfr_hole"], callbacks["pfr_note"], callbacks["pfr_flat_each"]

# --- The library


def _candidates() -> List[str]:
    """The library named by PERFRAY_LIBRARY, otherwise the one in this package (wheels contain it), otherwise the system's."""
    named = os.environ.get("PERFRAY_LIBRARY")
    if named:
        return [named]
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libperfray.so.0")
    if os.path.exists(own):
        return [own]
    from ctypes.util import find_library  # takes long to import
    return [find_library("perfray") or "libperfray.so.0"]


class _Library(ctypes.CDLL):
    """A function gets its types when it is first used, because most programs use only a few functions."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._prototypes: Dict[str, Tuple[str, str, str]] = {}

    def __getattr__(self, name: str) -> Any:
        result, stars, arguments = self._prototypes[name]
        function = self[name]
        function.restype = _type(result, len(stars))
        function.argtypes = [_type(*_argument(text)) for text in arguments.split(",")]
        setattr(self, name, function)  # last: other threads must not see it without its types
        return function


def _declare(dll: _Library, prototypes: str) -> None:
    """AttributeError: the library lacks one of the functions."""
    for result, stars, name, arguments in re.findall(r"(?:const )?(\w+) (\**)(\w+)\((.*?)\);", prototypes):
        dll[name]
        dll._prototypes[name] = result, stars, arguments


def _load() -> _Library:
    path = _candidates()[0]
    try:
        dll = _Library(path)
        _declare(dll, _declarations.PROTOTYPES)
    except (OSError, AttributeError) as error:
        raise ImportError("%s; install perfray, or name the library in PERFRAY_LIBRARY" % error) from None
    return dll


library = _load()
try:
    _declare(library, _declarations.SQL_PROTOTYPES)
    has_sql = True
except AttributeError:
    has_sql = False

# --- Errors


class Hole(NamedTuple):
    """An unreadable range of the recording: `length` bytes at `offset` (None: no particular bytes); `text` is the reason."""
    offset: Optional[int]
    length: int
    where: str
    text: str


class Error(Exception):
    """A failed call, with the library's message. `status` is the name of the status ("input/output", "format", "usage", "limit",
    ...), `code` its number, `offset` the byte of the recording concerned, if any."""

    def __init__(self, error: Any) -> None:
        super().__init__(error.text.decode("utf-8", "replace"))
        self.code: int = error.status
        self.status: str = library.pfr_status_name(error.status).decode()
        self.offset: Optional[int] = None if error.offset == NO_OFFSET else error.offset


class DamageWarning(UserWarning):
    """Part of a recording could not be used: see `model.losses` and `model.holes`."""


def new_error() -> Any:
    return structs["pfr_error"]()


def hole_of(error: Any) -> Hole:
    return Hole(None if error.offset == NO_OFFSET else error.offset, error.length,
                (error.where or b"").decode(), error.text.decode("utf-8", "replace"))


def fail(error: Any) -> NoReturn:
    raise Error(error)


def check(status: int, error: Any) -> int:
    """Returns the status, or raises Error if it is a failure."""
    if status < 0:
        raise Error(error)
    return status


# --- Texts


def show(raw: Optional[bytes]) -> Optional[str]:
    r"""Bytes of a file as printable text, with \xNN for other bytes, as perfray prints them. None if `raw` is None."""
    if raw is None:
        return None
    if raw.isascii() and b"\\" not in raw:
        text = raw.decode()
        if text.isprintable():
            return text
    room = ctypes.create_string_buffer(4 * len(raw) + 17)
    length = library.pfr_escape(room, len(room), raw, len(raw))
    return room.raw[:length].decode("utf-8")


def path_bytes(path: Any) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("a path holds no NUL")
    return name


def text_bytes(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    raw = os.fsencode(text)
    if b"\0" in raw:
        raise ValueError("a text holds no NUL")
    return raw


def text_list(texts: Any) -> Optional[Any]:
    """A NULL-terminated array of C strings, which keeps the strings alive."""
    if texts is None:
        return None
    raw = [text_bytes(os.fspath(text)) for text in texts]
    return (ctypes.c_char_p * (len(raw) + 1))(*raw, None)


def address(array: Any) -> Optional[int]:
    return None if array is None else ctypes.addressof(array)


# --- Handles


class Handle:
    """A pointer of the library, released when the last reference to the handle is gone. Views of its memory hold references, so
    they cannot outlive it. `parents` are handles that must be released later; `keep` is another object that must live as
    long as the handle.

    References do not ensure this order, because the garbage collector finalizes the objects of a cycle in any order. So a handle
    counts its users: itself and its children. The counters are lists because `append` and `pop` are atomic."""
    __slots__ = ("pointer", "_alive", "_users", "_release", "_parents", "_keep", "__weakref__")

    def __init__(self, pointer: int, release: Callable[[int], None], parents: Sequence["Handle"] = (), keep: Any = None) -> None:
        self.pointer, self._release, self._parents, self._keep = pointer, release, parents, keep
        self._alive, self._users = [pointer], [self.__class__]
        for parent in parents:
            parent._users.append(self.__class__)

    def __del__(self) -> None:
        self._drop()

    def _drop(self) -> None:
        self._users.pop()
        if self._users:
            return
        try:
            pointer = self._alive.pop()
        except IndexError:
            return  # another thread releases it
        self._release(pointer)
        for parent in self._parents:
            parent._drop()
