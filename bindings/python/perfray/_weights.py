# SPDX-License-Identifier: Apache-2.0
"""Weights by function: the flat table, the call tree, the callers of a function."""
from __future__ import annotations

import contextlib
import ctypes
import gc
from array import array
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from perfray import _queries
from perfray._columns import view
from perfray._library import FlatCallback, check, library, new_error, show
from perfray._rows import Rows
from perfray._tables import Event, Symbol

if TYPE_CHECKING:
    from perfray._model import Model

_LETTERS = {0: "?", 1: "k", 2: ".", 3: "H", 4: "g", 5: "u"}
_LIMIT = "[limit]"
_new_row: Any = tuple.__new__


class FlatRow(NamedTuple):
    """The self weight of one function in one command. `symbol` is its name, or the address if it has no name; `mode` is the
    letter that reports print: "." user, "k" kernel."""
    event: str
    comm: Optional[str]
    object: str
    symbol: str
    mode: str
    weight: int
    samples: int
    percent: float


class FunctionRow(NamedTuple):
    """A function in all commands: `self_weight` is its own weight, `weight` includes callees (recursion counts once)."""
    symbol: str
    object: str
    weight: int
    percent: float
    self_weight: int
    self_percent: float


class CallerRow(NamedTuple):
    """A caller (None: the function is outermost) and the weight of its calls, callees included."""
    caller: Optional[str]
    object: Optional[str]
    weight: int
    percent: float


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def event_of(model: "Model", event: Union[None, int, str, Event]) -> Event:
    """An event by its name, id or row; None: the first event that has samples."""
    if isinstance(event, Event):
        return event
    if isinstance(event, int):
        return model.events[event]
    for row in model.events:
        if row.name == event or (event is None and row.samples):
            return row
    if event is None and len(model.events):
        return model.events[1]
    raise ValueError("no event %r: %s" % (event, ", ".join(row.name for row in model.events) or "there are no events"))


def stack_weights(model: "Model", event: int) -> Tuple[memoryview, memoryview]:
    """The weights of each stack, by id: of the stack only, and including the stacks that extend it."""
    handle, error = model._need(), new_error()
    room = (ctypes.c_uint64 * (len(model.stacks) + 1))
    own, total = room(), room()
    check(library.pfr_model_weights(handle.pointer, event, own, total, ctypes.byref(error)), error)
    return tuple(view(ctypes.addressof(sums), len(sums), "Q", sums) for sums in (own, total))  # type: ignore[return-value]


# --- The flat table


def _names_of(model: "Model") -> Callable[[int], Tuple[str, str]]:
    """(object, name) by symbol. Makes no rows of the symbol table, because there may be 100 000 symbols."""
    handle, get, known = model._need(), library.pfr_model_get_symbol, {0: ("[unknown]", "0x%016x" % 0)}

    def names(id: int) -> Tuple[str, str]:
        pair = known.get(id)
        if pair is None:
            raw = get(handle.pointer, id).contents
            name = raw.name
            pair = known[id] = (model.objects[raw.object].name, "0x%016x" % raw.address if name is None else show(name) or "")
        return pair
    return names


def _rows_of_samples(model: "Model", event: Event) -> List[FlatRow]:
    handle, error, names = model._need(), new_error(), _names_of(model)
    # Negative weights, so that tuples are in the order of the rows.
    found: List[Tuple[int, int, str, str, str, str]] = []
    add, comms, letters = found.append, [""] + [comm or "" for comm in model.comms], [_LETTERS.get(mode, "?") for mode in range(256)]

    def each(_: int, row: Any) -> bool:
        cell = row.contents
        add((-cell.weight, -cell.samples, comms[cell.comm], *names(cell.symbol), letters[cell.mode]))
        return True
    check(library.pfr_model_flat(handle.pointer, event.id, FlatCallback(each), None, ctypes.byref(error)), error)
    found.sort()
    of = event.name
    return [_new_row(FlatRow, (of, comm, held_by, name, mode, -weight, -samples, percent(-weight, event.weight)))
            for weight, samples, comm, held_by, name, mode in found]


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Switches the garbage collector off while many rows are made: it would run again and again, find nothing, and take a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def rows_of_report(document: Dict[str, Any]) -> List[FlatRow]:
    """The rows of a JSON report by comm, dso and sym; a trace has no comm."""
    return [FlatRow(event["name"], row.get("comm"), row["dso"], row["sym"][4:], row["sym"][1], row["weight"], row["samples"],
                    float(row["percent"])) for event in document["events"] for row in event["rows"]]


def _rows_of_calls(model: "Model") -> List[FlatRow]:
    """Uses the library's report, whose sums are in ticks. The model's sums are in ns, rounded for each call, and therefore
    lower by a few ns."""
    reader = model._reader_of_calls()
    assert reader
    rows = rows_of_report(_queries.report(reader, model._options.naming, "dso,sym"))
    rows.sort(key=lambda row: (-row.weight, -row.samples, row[2:5]))
    return rows


def flat(model: "Model", event: Union[None, int, str, Event] = None) -> Rows[FlatRow]:
    rows: List[FlatRow] = []
    for one in model.events if event is None else [event_of(model, event)]:
        rows += _rows_of_calls(model) if one.is_traced else _rows_of_samples(model, one)
    return Rows(rows, FlatRow._fields)


def functions(model: "Model", event: Union[None, int, str, Event] = None) -> Rows[FunctionRow]:
    of, handle, error = event_of(model, event), model._need(), new_error()
    room = ctypes.c_uint64 * (len(model.symbols) + 1)
    own, total = room(), room()
    check(library.pfr_model_symbol_weights(handle.pointer, of.id, own, total, ctypes.byref(error)), error)
    rows = []
    for id, (self_weight, weight) in enumerate(zip(own, total)):
        if id and weight:
            symbol = model.symbols[id]
            rows.append(FunctionRow(symbol.text, symbol.object.name, weight, percent(weight, of.weight), self_weight,
                                    percent(self_weight, of.weight)))
    return Rows(sorted(rows, key=lambda row: (-row.weight, -row.self_weight, row.symbol)), FunctionRow._fields)


# --- The tree


class Node:
    """A function in the call tree, called by its parent: all stacks with the same path of functions."""
    __slots__ = ("_tree", "_stacks", "symbol", "self_weight", "weight")

    def __init__(self, tree: "Tree", stacks: List[int], symbol: Optional[Symbol]) -> None:
        self._tree, self._stacks = tree, stacks
        #: None: the root
        self.symbol: Optional[Symbol] = symbol
        self.self_weight: int = sum(tree._own[stack] for stack in stacks)
        #: callees included
        self.weight: int = sum(tree._total[stack] for stack in stacks)

    def __repr__(self) -> str:
        return "<%s %d>" % (self.name, self.weight)

    @property
    def name(self) -> str:
        return self.symbol.text if self.symbol else "all"

    @property
    def percent(self) -> float:
        """The percentage of the event's weight, callees included."""
        return percent(self.weight, self._tree.weight)

    @property
    def children(self) -> List["Node"]:
        """The functions that this function calls, heaviest first, without functions of weight 0."""
        return self._tree._children(self._stacks)

    def walk(self, depth: int = 0) -> Iterator[Tuple[int, "Node"]]:
        """(depth, node) for this node and all nodes below it, callers first."""
        waiting = [(depth, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            waiting.extend((level + 1, child) for child in reversed(node.children))


class Tree(Node):
    """The call tree of one event: the root, whose children are the outermost functions."""
    __slots__ = ("event", "_own", "_total", "_model", "_first", "_next")

    def __init__(self, model: "Model", event: Event) -> None:
        self.event, self._model = event, model
        self._own, self._total = stack_weights(model, event.id)
        self._first, self._next = self._links()
        super().__init__(self, [], None)
        self.self_weight = 0
        self.weight = sum(child.weight for child in self.children)

    def _links(self) -> Tuple["array[int]", "array[int]"]:
        """Two arrays by stack: the first callee that has weight; the next callee, with weight, of the same caller."""
        parents, total = self._model.stacks.parents.tolist(), self._total.tolist()
        first = array("I", bytes(4 * len(total)))
        following = array("I", bytes(4 * len(total)))
        for stack in range(len(total) - 1, 0, -1):
            if total[stack]:
                parent = parents[stack]
                following[stack] = first[parent]
                first[parent] = stack
        return first, following

    def _children(self, stacks: List[int]) -> List[Node]:
        grouped: Dict[int, List[int]] = {}
        for stack in stacks or [0]:
            at = self._first[stack]
            while at:
                grouped.setdefault(self._model.stacks.symbols[at], []).append(at)
                at = self._next[at]
        nodes = [Node(self, below, self._model.symbols[symbol]) for symbol, below in grouped.items()]
        return sorted(nodes, key=lambda node: (-node.weight, node.name))

    def text(self, min_percent: float = 0.5, max_depth: int = 30) -> str:
        """The tree as indented lines: percent, weight, function. Nodes below `min_percent` are left out."""
        lines: List[str] = []
        waiting: List[Tuple[int, Node]] = [(0, child) for child in reversed(self.children)]
        while waiting:
            level, node = waiting.pop()
            if node.percent < min_percent or level >= max_depth:
                continue
            lines.append("%6.2f %% %14d %s%s" % (node.percent, node.weight, "  " * level, node.name))
            waiting.extend((level + 1, child) for child in reversed(node.children))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from perfray import _html
        return _html.flame(self)


# --- Callers


def callers(model: "Model", function: Union[str, int, Symbol], event: Union[None, int, str, Event] = None) -> Rows[CallerRow]:
    wanted = {symbol.id for symbol in model.find(function)}
    if not wanted:
        raise KeyError("no function %r in this recording" % (function,))
    _, total = stack_weights(model, event_of(model, event).id)
    stacks, sums = model.stacks, {}  # type: Any, Dict[int, int]
    for stack, symbol in enumerate(stacks.symbols.tolist()):
        if symbol in wanted and total[stack] and stacks.outer[stack]:
            caller = stacks.symbols[stacks.parents[stack]]
            sums[caller] = sums.get(caller, 0) + total[stack]
    whole = sum(sums.values())
    rows = []
    for caller, weight in sums.items():
        by = model.symbols.get(caller)
        rows.append(CallerRow(by.text if by else None, by.object.name if by else None, weight, percent(weight, whole)))
    return Rows(sorted(rows, key=lambda row: (-row.weight, row.caller or "")), CallerRow._fields)
