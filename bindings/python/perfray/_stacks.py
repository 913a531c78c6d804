# SPDX-License-Identifier: Apache-2.0
"""The tree of call stacks of a model."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Union, overload

from perfray._columns import Columns, view
from perfray._library import Handle, library
from perfray._tables import Frame, Symbol

if TYPE_CHECKING:
    from perfray._model import Model


class Stack:
    """A call stack, represented by its innermost frame: a node of the tree, whose `parent` is the stack of the caller."""
    __slots__ = ("_stacks", "id")

    def __init__(self, stacks: "Stacks", id: int) -> None:
        self._stacks, self.id = stacks, id

    def __repr__(self) -> str:
        return "<stack %d: %s>" % (self.id, self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stack) and (self._stacks, self.id) == (other._stacks, other.id)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def parent(self) -> Optional["Stack"]:
        """The stack of the caller; None if this is an outermost frame."""
        return self._stacks.get(self._stacks.parents[self.id])

    @property
    def frame(self) -> Frame:
        return self._stacks._model.frames[self._stacks.frames[self.id]]

    @property
    def symbol(self) -> Symbol:
        return self._stacks._model.symbols[self._stacks.symbols[self.id]]

    @property
    def depth(self) -> int:
        """The number of frames above this one; 65535: that many or more."""
        return self._stacks.depths[self.id]

    @property
    def is_outer(self) -> bool:
        """True if no frame above has the same symbol. Sums of totals by symbol use only such stacks."""
        return bool(self._stacks.outer[self.id])

    @property
    def is_apart(self) -> bool:
        """True if the frame is a sampled address at which the recorded call chain does not end."""
        return bool(self._stacks.apart[self.id])

    @property
    def frames(self) -> List[Frame]:
        """All frames, innermost first."""
        frames, at = [], self.id
        while at:
            frames.append(self._stacks._model.frames[self._stacks.frames[at]])
            at = self._stacks.parents[at]
        return frames

    @property
    def text(self) -> str:
        """Names, innermost last, separated by ";", as in `perfray export --format=folded`."""
        return self._stacks.text(self.id)


class Stacks(Sequence[Stack]):
    """The stacks by id, from 1. Parents have smaller ids than their children, so a loop from the last id down can add up
    totals."""

    def __init__(self, model: "Model") -> None:
        self._model = model
        handle = model._need()
        self._count = library.pfr_model_count(handle.pointer, 7)
        at = ctypes.cast(library.pfr_model_stacks(handle.pointer), ctypes.c_void_p).value
        raw = view(at, 16 * (self._count + 1), "B", handle)
        words, halves = raw.cast("I"), raw.cast("H")
        self.parents, self.frames, self.symbols = words[0::4], words[1::4], words[2::4]
        self.depths, self.outer, self.apart = halves[6::8], raw[14::16], raw[15::16]

    def columns(self) -> Columns:
        """The whole table as columns, indexed by id ([0] is all zero): parent, frame, symbol, depth, is_outer, is_apart. The
        columns are views of the model's memory with a stride of 16 bytes."""
        return Columns({"parent": self.parents, "frame": self.frames, "symbol": self.symbols, "depth": self.depths,
                        "is_outer": self.outer, "is_apart": self.apart})

    def text(self, id: int, separator: str = ";") -> str:
        """The names of a stack, innermost last."""
        if not 0 <= id <= self._count:
            raise IndexError("ids are 1 to %d" % self._count)
        handle: Handle = self._model._need()
        room = ctypes.create_string_buffer(512)
        length = library.pfr_model_stack_text(handle.pointer, id, separator.encode(), room, len(room))
        if length >= len(room):
            room = ctypes.create_string_buffer(length + 1)
            library.pfr_model_stack_text(handle.pointer, id, separator.encode(), room, len(room))
        return room.value.decode("utf-8", "replace")

    def __len__(self) -> int:
        return int(self._count)

    @overload
    def __getitem__(self, id: int) -> Stack: ...

    @overload
    def __getitem__(self, id: slice) -> List[Stack]: ...

    def __getitem__(self, id: Union[int, slice]) -> Any:
        if isinstance(id, slice):
            return [Stack(self, number) for number in range(*id.indices(self._count + 1)) if number]
        if not 0 < id <= self._count:
            raise IndexError("ids are 1 to %d" % self._count)
        return Stack(self, id)

    def get(self, id: int, default: Optional[Stack] = None) -> Optional[Stack]:
        """The stack, or `default` if there is no such id; id 0 means unknown."""
        return Stack(self, id) if 0 < id <= self._count else default

    def __iter__(self) -> Iterator[Stack]:
        return (Stack(self, id) for id in range(1, self._count + 1))

    def __repr__(self) -> str:
        return "<%d stacks>" % self._count
