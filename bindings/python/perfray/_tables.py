# SPDX-License-Identifier: Apache-2.0
"""Rows of a model's tables as objects."""
from __future__ import annotations

from typing import Any, Callable, Generic, Iterator, List, NamedTuple, Optional, Sequence, TypeVar, Union, overload

from perfray._library import NO_CPU, NO_OFFSET, NO_TIME, show

OBJECT_KINDS = ("unknown", "file", "kernel", "module", "vdso", "anonymous", "memory", "bpf", "jit", "other", "limit")
INTERVAL_KINDS = ("waiting", "preempted", "woken", "running", "unknown")
WAIT_REASONS = (None, "other", "lock", "pipe", "socket", "disk", "timer", "fault", "child", "signal")
MARK_KINDS = ("lost", "lost_samples", "throttle", "unthrottle", "hole", "other", "custom", "typed")
MODES = ("unknown", "kernel", "user", "hypervisor", "guest kernel", "guest user")


def known(value: int, unknown: int) -> Optional[int]:
    return None if value == unknown else value


class Event(NamedTuple):
    """An event. `unit` is the unit of its weights, None for a count; times are in ns."""
    id: int
    name: str
    unit: Optional[str]
    samples: int
    weight: int
    first: Optional[int]
    last: Optional[int]
    is_traced: bool


class Process(NamedTuple):
    """A process, which owns an address space. `parent` is the id of a process; 0: unknown."""
    id: int
    pid: int
    parent: int
    comm: str
    start: Optional[int]
    end: Optional[int]


class Thread(NamedTuple):
    """A thread: one use of a tid in a process. `comm` is its last name, "" if it is unnamed."""
    id: int
    process: int
    pid: int
    tid: int
    comm: str
    start: Optional[int]
    end: Optional[int]


class Object(NamedTuple):
    """A mapped file, the kernel, a module, ... `name` is the name in reports, `build_id` is in hexadecimal digits."""
    id: int
    path: str
    name: str
    build_id: str
    kind: str


class Symbol(NamedTuple):
    """A function, or an address without a name (`name` is None)."""
    id: int
    name: Optional[str]
    mangled: Optional[str]
    object: Object
    address: int
    size: int

    @property
    def text(self) -> str:
        """The name, or the address as reports print it."""
        return self.name if self.name is not None else "0x%016x" % self.address

    def __str__(self) -> str:
        return self.text


class Frame(NamedTuple):
    """A location in a symbol. `file` and `line` need open_model(lines=True)."""
    id: int
    symbol: Symbol
    address: int
    file: Optional[str]
    line: int
    mode: str
    inlined: bool


class Interval(NamedTuple):
    """An interval of a thread's state: `kind` is "running", "waiting" (with a reason), "preempted", "woken" or "unknown".
    `stack`, `waker` (a thread) and `waker_stack` are ids; 0: not known."""
    start: int
    duration: int
    thread: int
    stack: int
    cpu: Optional[int]
    kind: str
    reason: Optional[str]
    waker: int
    waker_stack: int
    open_start: bool
    open_end: bool


class Mark(NamedTuple):
    """A loss, an unreadable range, or an event that a traced program logged ("custom", "typed"): see <perfray/spans.h>. `text` is the
    payload of an event if it is printable, `type` the number of a typed one, else 0."""
    time: Optional[int]
    count: int
    offset: Optional[int]
    thread: int
    cpu: Optional[int]
    event: int
    kind: str
    text: Optional[str]
    type: int


Row = TypeVar("Row")


class Table(Sequence[Row], Generic[Row]):
    """Rows by id: `table[1]` is the first row, `table.get(0)` is None. Iteration is in the order of ids."""

    def __init__(self, count: int, row: Callable[[int], Row]) -> None:
        self._rows: List[Optional[Row]] = [None] * (count + 1)
        self._row = row

    def __len__(self) -> int:
        return len(self._rows) - 1

    @overload
    def __getitem__(self, id: int) -> Row: ...

    @overload
    def __getitem__(self, id: slice) -> List[Row]: ...

    def __getitem__(self, id: Union[int, slice]) -> Any:
        if isinstance(id, slice):
            return [self[number] for number in range(*id.indices(len(self._rows))) if number]
        if not 0 < id < len(self._rows):
            raise IndexError("ids are 1 to %d" % len(self))
        row = self._rows[id]
        if row is None:
            row = self._rows[id] = self._row(id)
        return row

    def get(self, id: int, default: Optional[Row] = None) -> Optional[Row]:
        """The row, or `default` if there is no such id; id 0 means unknown."""
        return self[id] if 0 < id < len(self._rows) else default

    def __iter__(self) -> Iterator[Row]:
        return (self[id] for id in range(1, len(self._rows)))

    def __repr__(self) -> str:
        return "<table of %d rows>" % len(self)


def mode_name(mode: int) -> str:
    return MODES[mode] if mode < len(MODES) else "mode %d" % mode


def interval_of(raw: Any) -> Interval:
    return Interval(raw.start, raw.duration, raw.thread, raw.stack, known(raw.cpu, NO_CPU), INTERVAL_KINDS[raw.kind],
                    WAIT_REASONS[raw.reason], raw.waker, raw.waker_stack, raw.open_start, raw.open_end)


def mark_of(raw: Any) -> Mark:
    return Mark(known(raw.time, NO_TIME), raw.count, known(raw.offset, NO_OFFSET), raw.thread, known(raw.cpu, NO_CPU), raw.event,
                MARK_KINDS[raw.kind], show(raw.text), raw.type)
