# SPDX-License-Identifier: Apache-2.0
"""Reads the result of `__arrow_c_array__` like a consumer of the Arrow C data interface; written from the specification, with offsets."""
import ctypes
import struct

LETTERS = {b"C": "B", b"S": "H", b"I": "I", b"L": "Q", b"l": "q"}
SCHEMA, ARRAY = struct.Struct("@PPPqqPPPP"), struct.Struct("@qqqqqPPPPP")
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _words(at, form):
    return form.unpack(ctypes.string_at(at, form.size))


def _children(at, count):
    return struct.unpack("@%dP" % count, ctypes.string_at(at, count * ctypes.sizeof(ctypes.c_void_p)))


def release(at, form, place):
    """Calls the release of a struct once; afterwards its `release` is NULL."""
    function = _words(at, form)[place]
    if function:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(at)
    return not _words(at, form)[place]


class Batch:
    """One exported struct array: columns by name, as (address, values)."""

    def __init__(self, exporter):
        self._capsules = exporter.__arrow_c_array__()
        self.schema, self.array = (_pointer(capsule, name) for capsule, name in zip(self._capsules, (b"arrow_schema", b"arrow_array")))

    def columns(self):
        form, _, _, _, count, children, *_ = _words(self.schema, SCHEMA)
        assert ctypes.string_at(form) == b"+s"
        rows, nulls, offset, _, of_array, _, arrays, *_ = _words(self.array, ARRAY)
        assert (nulls, offset, of_array) == (0, 0, count)
        for schema, array in zip(_children(children, count), _children(arrays, count)):
            letter, name = (ctypes.string_at(at) for at in _words(schema, SCHEMA)[:2])
            length, _, _, buffers, _, at, *_ = _words(array, ARRAY)
            assert (length, buffers) == (rows, 2)
            data = _children(at, 2)[1]
            size = struct.calcsize(LETTERS[letter])
            yield name.decode(), data, memoryview(ctypes.string_at(data, length * size)).cast(LETTERS[letter]).tolist()

    def release(self):
        return release(self.schema, SCHEMA, 7) and release(self.array, ARRAY, 8)
