# SPDX-License-Identifier: Apache-2.0
"""The output of llvm-xray as tuples: `fdr-dump` (every record) and `convert -f yaml` (calls and events)."""
import re

import oracle

ACTION = {b"Enter": "enter", b"Enter With Arg": "enter_arg", b"Exit": "exit", b"Tail Exit": "tail_exit"}
LINES = [
    (re.compile(rb"<Buffer: size = (\d+) bytes>\n"), lambda m: ("buffer_extents", int(m[1]))),
    (re.compile(rb"<Thread ID: (-?\d+)>\n"), lambda m: ("new_buffer", int(m[1]))),
    (re.compile(rb"<Wall Time: seconds = (-?\d+)\.(-?\d+)>\n"), lambda m: ("wall_clock_time", int(m[1]), int(m[2]))),
    (re.compile(rb"<PID: (-?\d+)>\n"), lambda m: ("pid", int(m[1]))),
    (re.compile(rb"<CPU: id = (\d+), tsc = (\d+)>\n"), lambda m: ("new_cpu_id", int(m[1]), int(m[2]))),
    (re.compile(rb"<TSC Wrap: base = (\d+)>\n"), lambda m: ("tsc_wrap", int(m[1]))),
    (re.compile(rb"<Function ([A-Za-z ]+): #(\d+) delta = \+(\d+)>\n"),
     lambda m: (ACTION[m[1]], int(m[2]), int(m[3]))),
    (re.compile(rb"<Call Argument: data = (\d+) \(hex = 0x[0-9a-fA-F]+\)>\n"), lambda m: ("call_argument", int(m[1]))),
    (re.compile(rb"<End of Buffer>\n"), lambda m: ("end_of_buffer",)),
]
CUSTOM_DELTA = re.compile(rb"<Custom Event: delta = \+(-?\d+), size = (\d+), data = '")
CUSTOM_TSC = re.compile(rb"<Custom Event: tsc = (\d+), cpu = (\d+), size = (\d+), data = '")
TYPED = re.compile(rb"<Typed Event: delta = \+(-?\d+), type = (\d+), size = (\d+), data = '")


def read_event(text, at):
    """Returns (record, position after it) or None. The payload is copied unchanged, including newlines."""
    match = CUSTOM_DELTA.match(text, at)
    if match:
        size, end = int(match[2]), b"'>\n"
        record = ("custom_event", int(match[1]))
    elif CUSTOM_TSC.match(text, at):
        match = CUSTOM_TSC.match(text, at)
        size, end = int(match[3]), b"'>\n"
        record = ("custom_event", int(match[1]))
    elif TYPED.match(text, at):
        match = TYPED.match(text, at)
        size, end = int(match[3]), b"'\n"
        record = ("typed_event", int(match[1]), int(match[2]))
    else:
        return None
    data, at = text[match.end():match.end() + size], match.end() + size
    if not text.startswith(end, at):
        raise ValueError("event at %d does not end: %r" % (match.start(), text[at:at + 8]))
    return record + (data,), at + len(end)


def read_dump(text):
    """Yields the records of `fdr-dump` in order."""
    at, records = 0, []
    while at < len(text):
        event = read_event(text, at)
        if event:
            records.append(event[0])
            at = event[1]
            continue
        for pattern, make in LINES:
            match = pattern.match(text, at)
            if match:
                records.append(make(match))
                at = match.end()
                break
        else:
            raise ValueError("unknown line at %d: %r" % (at, text[at:at + 60]))
    return records


def oracle_dump(trace):
    """Yields the tuples of read_dump from the oracle's records. An enter without argument, followed by an argument, is printed as one
    line."""
    records = []
    for r in trace.records:
        if r.kind in oracle.ACTIONS:
            plain = r.kind == "enter_arg" and getattr(r, "plain", False)
            records.append(("enter" if plain else r.kind, r.func, r.value))
        elif r.kind == "wall_clock_time":
            records.append((r.kind,) + r.value)
        elif r.kind == "new_cpu_id":
            records.append((r.kind, r.cpu, r.value))
        elif r.kind == "custom_event":
            records.append((r.kind, r.value, r.data))
        elif r.kind == "typed_event":
            records.append((r.kind, r.value, r.event_type, r.data))
        elif r.kind == "end_of_buffer":
            records.append((r.kind,))
        else:
            records.append((r.kind, r.value))
    return records


YAML_RECORD = re.compile(
    r"^  - \{ type: (?P<type>\d+), func-id: (?P<func>-?\d+), function: .*?, (?:args: \[ (?P<args>[0-9, ]*) \], )?"
    r"cpu: (?P<cpu>\d+), thread: (?P<tid>\d+), (?:process: (?P<pid>\d+), )?kind: (?P<kind>[a-z-]+), "
    r"tsc: (?P<tsc>\d+), data: (?P<data>.*) \}$")
YAML_HEADER = re.compile(r"^  ([a-z-]+): +(\S+)$")
YAML_KIND = {"function-enter": "enter", "function-enter-arg": "enter_arg", "function-exit": "exit",
             "function-tail-exit": "tail_exit", "custom-event": "custom_event", "typed-event": "typed_event"}


def read_yaml(text):
    """(header, records): (kind, func, tid, pid or 0, cpu, tsc, args), events without func (E18) and payload (E25)."""
    header, records = {}, []
    for line in text.split("\n"):
        match = YAML_RECORD.match(line)
        if match:
            kind = YAML_KIND[match["kind"]]
            args = tuple(int(a) for a in match["args"].split(",")) if match["args"] else ()
            func = None if kind.endswith("event") else int(match["func"])
            records.append((kind, func, int(match["tid"]), int(match["pid"] or 0), int(match["cpu"]),
                            int(match["tsc"]), args))
        elif YAML_HEADER.match(line):
            header.update([YAML_HEADER.match(line).groups()])
        elif line not in ("---", "header:", "records:", "records:         []", "...", ""):
            raise ValueError("unknown line: " + line)
    return header, records


def oracle_yaml(trace):
    """The tuples of read_yaml, with the changes that LLVM makes: version 2 shows the thread id as the process, a custom event of versions 1
    to 3 has cpu 0, an exit with an argument becomes an enter."""
    version, fdr = trace.header["version"], trace.header["type"] == 1
    records = []
    for (pid, tid), thread in trace.threads.items():
        for r in thread:
            shown = tid if fdr and version == 2 else pid or 0
            if r.kind in oracle.ACTIONS:
                kind = "enter_arg" if r.args else r.kind
                records.append((kind, r.func, tid, shown, r.cpu, r.tsc, tuple(r.args)))
            else:
                cpu = 0 if r.kind == "custom_event" and version < 4 else r.cpu
                records.append((r.kind, None, tid, shown, cpu, r.tsc, ()))
    return records
