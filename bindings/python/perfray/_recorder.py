# SPDX-License-Identifier: Apache-2.0
"""Recording: `perfray.record`."""
from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from perfray._library import (NO_OFFSET, Error, Handle, Hole, NoteCallback, address, check, library, new_error, structs,
                              text_bytes, text_list)
from perfray._recording import Record, Recording

_CHAINS = ("none", "fp", "dwarf", "lbr")
_BUILD_IDS = ("hits", "maps", "none", "all")
_LISTS = ("events", "filters", "command", "words")
_OURS = ("size", "alloc", "note", "context")
_MEMBERS = [name for name, _ in structs["pfr_recorder_options"]._fields_ if name not in _OURS]


class RecordResult(NamedTuple):
    """The result of a recording. `lost`: number of samples and records that the kernel dropped. `status`: exit status of the
    command (negative: the signal that ended it); None: no command was run. `is_full`: the recording ended because of max_bytes."""
    samples: int
    bytes: int
    lost: int
    parts: int
    status: Optional[int]
    is_full: bool
    notes: Tuple[str, ...]


def _choice(name: str, choices: Sequence[str], value: str) -> int:
    if value not in choices:
        raise ValueError("%s is one of %s, not %r" % (name, ", ".join(choices), value))
    return choices.index(value)


class _Options:
    """pfr_recorder_options, and the objects to which it points."""

    def __init__(self, values: Dict[str, Any], note: Any) -> None:
        kind = structs["pfr_recorder_options"]
        self.struct = kind(size=ctypes.sizeof(kind), note=note)
        self._kept: List[Any] = [note]
        for name, value in values.items():
            if name not in _MEMBERS:
                raise TypeError("no option %r: %s" % (name, ", ".join(_MEMBERS)))
            setattr(self.struct, name, self._ready(name, value))

    def _ready(self, name: str, value: Any) -> Any:
        if name == "chains":
            return _choice(name, _CHAINS, value)
        if name == "build_ids":
            return _choice(name, _BUILD_IDS, value)
        if name in _LISTS:
            self._kept.append(text_list([value] if isinstance(value, str) else value))
            return address(self._kept[-1])
        return text_bytes(os.fspath(value)) if isinstance(value, (str, os.PathLike)) else value


class Recorder:
    """A recording that has not begun yet: see `perfray.record`."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._values = options
        #: sentences about options that were reduced or dropped
        self.notes: List[str] = []
        #: unreadable ranges of a stream
        self.holes: List[Hole] = []
        #: set when the recording has ended
        self.result: Optional[RecordResult] = None
        self._handle: Optional[Handle] = None
        for name in options:
            if name not in _MEMBERS:
                raise TypeError("no option %r: %s" % (name, ", ".join(_MEMBERS)))

    def _open(self) -> Handle:
        if self._handle:
            raise ValueError("this recorder was begun already")
        notes = self.notes
        note = NoteCallback(lambda _, sentence: notes.append(sentence.decode("utf-8", "replace")))
        options, error = _Options(self._values, note), new_error()
        pointer = library.pfr_recorder_open(ctypes.byref(options.struct), ctypes.byref(error))
        if not pointer:
            raise Error(error)
        self._handle = Handle(pointer, library.pfr_recorder_close, keep=options)
        return self._handle

    def _finish(self, handle: Handle, status: int, error: Any) -> RecordResult:
        result = structs["pfr_recorder_result"]()
        library.pfr_recorder_get_result(handle.pointer, ctypes.byref(result))
        ended = os.waitstatus_to_exitcode(result.status) if result.has_status else None
        self.result = RecordResult(result.samples, result.bytes, result.lost, result.parts, ended, result.is_full, tuple(self.notes))
        check(status, error)
        return self.result

    def run(self) -> RecordResult:
        """Records until the command ends, `stop` is called, or Ctrl-C is pressed. Other Python threads run meanwhile."""
        handle, error, status = self._open(), new_error(), []  # type: Handle, Any, List[int]
        worker = threading.Thread(target=lambda: status.append(library.pfr_recorder_run(handle.pointer, ctypes.byref(error))))
        worker.start()
        try:
            worker.join()
        except KeyboardInterrupt:
            library.pfr_recorder_stop(handle.pointer)
            worker.join()
        return self._finish(handle, status[0], error)

    def begin(self) -> None:
        """Starts recording in a thread of the library, until `end`."""
        handle, error = self._open(), new_error()
        check(library.pfr_recorder_begin(handle.pointer, ctypes.byref(error)), error)

    def end(self) -> RecordResult:
        """Ends the recording that `begin` started, and waits until the file is complete."""
        handle, error = self._handle, new_error()
        if not handle:
            raise ValueError("the recording was not started")
        return self._finish(handle, library.pfr_recorder_end(handle.pointer, ctypes.byref(error)), error)

    def stop(self) -> None:
        """Makes `run` end soon. Any thread may call this."""
        handle = self._handle
        if handle:
            library.pfr_recorder_stop(handle.pointer)

    def __enter__(self) -> "Recorder":
        self.begin()
        return self

    def __exit__(self, *_: Any) -> None:
        self.end()

    def __iter__(self) -> Iterator[Record]:
        """The records while they are recorded; nothing is written to a file. A recorder process writes the stream; this process
        ends if the iteration is stopped."""
        if "output" in self._values:
            raise ValueError("a recording that is written to a file is not streamed: leave out `output`")
        import subprocess  # takes long to import
        result_pipe, give = os.pipe()
        child = subprocess.Popen([sys.executable, "-c", _CHILD, _HERE, json.dumps(self._values), str(give)], stdout=subprocess.PIPE,
                                 pass_fds=(give,))
        os.close(give)
        assert child.stdout
        ended = False
        try:
            recording = self._stream(child)
            yield from recording
            ended = True
        except Error:
            ended = True  # the recorder process reports the reason
            raise
        finally:
            self._read_result(child, result_pipe, ended)

    def _stream(self, child: Any) -> Recording:
        with child.stdout as pipe:
            recording = Recording("/proc/self/fd/%d" % pipe.fileno())
        self.holes = recording.holes
        return recording

    def _read_result(self, child: Any, result_pipe: int, ended: bool) -> None:
        """Reads the result that the recorder process reports at its end. If the iteration was stopped, ends the process first."""
        if not ended:
            child.send_signal(signal.SIGINT)
        with os.fdopen(result_pipe, "rb") as pipe:
            text = pipe.read()
        child.wait()
        said = json.loads(text) if text else {"failure": "the recorder process ended with status %d" % child.returncode}
        if "failure" not in said:
            self.notes = said["notes"]
            self.result = RecordResult(*said["result"][:6], tuple(self.notes))
        elif ended:
            error = new_error()
            error.status, error.offset, error.text = said.get("status", -4), NO_OFFSET, said["failure"].encode()[:159]
            raise Error(error)


_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_CHILD = """
import sys
try:
    sys.path.insert(0, sys.argv[1])
    from perfray._recorder import _child
    _child()
except KeyboardInterrupt:  # the iteration was given up before the recording began
    pass
"""


def _child() -> None:
    """The recorder process: records to standard output, and reports the result."""
    recorder = Recorder(dict(json.loads(sys.argv[2]), output="-"))
    said: Dict[str, Any]
    try:
        result = recorder.run()
        said = {"result": result, "notes": recorder.notes}
    except Error as error:
        said = {"failure": str(error), "status": error.code}
    with os.fdopen(int(sys.argv[3]), "w") as pipe:
        json.dump(said, pipe)


def record(command: Optional[Sequence[str]] = None, **options: Any) -> Recorder:
    """Samples a command (a list of words), or the targets that the options name, with the kernel's counters:

        result = perfray.record(["make"], output="make.data", frequency=999, chains="fp").run()

        with perfray.record(self=True, output="part.data"):     # a part of this program
            work()

        for record in perfray.record(["make"], frequency=99):   # no file: records as they come
            ...

    Options are the members of pfr_recorder_options in <perfray/sampling.h>, with their defaults: events (a list), pids,
    tids, cpus, all_cpus, self, period, frequency, chains ("fp", "dwarf", "lbr"), build_ids ("hits", "maps", "all",
    "none"), switches, clock, output, compress, max_bytes, ... Raises Error. `Recorder.notes` reports reduced options."""
    return Recorder(dict(options, command=list(command)) if command is not None else options)
