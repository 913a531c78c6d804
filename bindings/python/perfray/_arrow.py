# SPDX-License-Identifier: Apache-2.0
"""Exports columns through the Arrow C data interface (arrow.apache.org/docs/format/CDataInterface.html), without a copy.

An exported struct points to the column's memory. Until the consumer releases the struct, `_held` refers to the objects that keep this memory alive.
"""
from __future__ import annotations

import ctypes
import itertools
from typing import Any, Dict, List, Mapping, Tuple

_FORMATS = {"B": b"C", "H": b"S", "I": b"I", "Q": b"L", "q": b"l"}
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class _Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p), ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


_held: Dict[int, Any] = {}
_numbers = itertools.count(1)


def _released(kind: Any) -> Any:
    def release(at: int) -> None:
        """Releases the children first; those that the consumer moved out have no `release` any more. The entry of `_held` owns the memory of the
        structs."""
        one = kind.from_address(at)
        children = (ctypes.c_void_p * one.n_children).from_address(one.children) if one.n_children else ()
        for child in children:
            own = kind.from_address(child).release
            if own:
                _Release(own)(child)
        one.release = None
        _held.pop(one.private_data, None)
    return _Release(release)


_release_schema, _release_array = _released(_Schema), _released(_Array)


def _keep(struct: Any, release: Any, *kept: Any) -> Any:
    """Makes the struct valid, and keeps `kept` alive until its release. The caller keeps the struct itself alive."""
    number = next(_numbers)
    struct.release, struct.private_data = ctypes.cast(release, ctypes.c_void_p), number
    _held[number] = kept
    return struct


def _pointers(structs: List[Any]) -> Any:
    return (ctypes.c_void_p * len(structs))(*map(ctypes.addressof, structs))


def _schema(columns: Mapping[str, memoryview]) -> _Schema:
    children = [_keep(_Schema(format=_FORMATS[column.format], name=name.encode()), _release_schema)
                for name, column in columns.items()]
    pointers = _pointers(children)
    return _keep(_Schema(format=b"+s", name=b"", n_children=len(children), children=ctypes.addressof(pointers)), _release_schema,
                 children, pointers)  # type: ignore[no-any-return]


def _column(column: memoryview) -> _Array:
    whole = column if column.contiguous else memoryview(column.tobytes()).cast(column.format)
    at = _address(whole)
    buffers = (ctypes.c_void_p * 2)(None, at)
    return _keep(_Array(length=len(whole), n_buffers=2, buffers=ctypes.addressof(buffers)), _release_array, whole, buffers)  # type: ignore[no-any-return]


def _array(columns: Mapping[str, memoryview]) -> _Array:
    children = [_column(column) for column in columns.values()]
    pointers, buffers = _pointers(children), (ctypes.c_void_p * 1)(None)
    rows = len(next(iter(columns.values()))) if columns else 0
    return _keep(_Array(length=rows, n_buffers=1, n_children=len(children), buffers=ctypes.addressof(buffers),
                        children=ctypes.addressof(pointers)), _release_array, children, pointers, buffers)  # type: ignore[no-any-return]


class _Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


def _address(column: memoryview) -> int:
    """The address of a read-only buffer; ctypes returns only addresses of writable buffers."""
    buffer = _Buffer()
    python = ctypes.pythonapi
    python.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
    python.PyBuffer_Release.argtypes = [ctypes.POINTER(_Buffer)]
    python.PyObject_GetBuffer(column, ctypes.byref(buffer), 0)
    python.PyBuffer_Release(ctypes.byref(buffer))
    return buffer.buf or 0


# --- Capsules

_Destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_python = ctypes.pythonapi
_new_capsule, _capsule_pointer = _python["PyCapsule_New"], _python["PyCapsule_GetPointer"]
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destroy]
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_roots: Dict[int, Any] = {}  # the structs of capsules by address, until their destruction


def _destroyer(kind: Any, name: bytes) -> Any:
    def destroy(capsule: int) -> None:
        """Releases the struct if no consumer has taken it."""
        at = _capsule_pointer(capsule, name)
        release = kind.from_address(at).release
        if release:
            _Release(release)(at)
        _roots.pop(at, None)
    return _Destroy(destroy)


_NAMES = {_Schema: b"arrow_schema", _Array: b"arrow_array"}
_destroyers = {kind: _destroyer(kind, name) for kind, name in _NAMES.items()}


def _capsule(struct: Any) -> Any:
    at = ctypes.addressof(struct)
    _roots[at] = struct
    return _new_capsule(at, _NAMES[type(struct)], _destroyers[type(struct)])


def export(columns: Mapping[str, memoryview]) -> Tuple[Any, Any]:
    """The capsules of a struct array and its schema."""
    return _capsule(_schema(columns)), _capsule(_array(columns))
