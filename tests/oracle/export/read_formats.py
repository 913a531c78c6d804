# SPDX-License-Identifier: Apache-2.0
"""Readers of the export formats, written from the specifications of the formats. Each returns {stack: weight}, or raises Wrong if the file
breaks a rule of the format. A stack is the names joined by ";", outermost first (a ";" in a name is replaced by ":")."""
import csv
import gzip
import io
import json
import re
import struct
from collections import Counter

from harness import Wrong, must


def part(name):
    return name.replace(";", ":")


def joined(names):
    return ";".join(part(name) for name in names)


def folded(data):
    stacks = Counter()
    for line in data.decode("utf-8").splitlines():
        stack, count = line.rsplit(" ", 1)
        stacks[stack.partition(";")[2]] += int(count)
    return stacks


def leaves(stacks):
    functions = Counter()
    for stack, count in stacks.items():
        functions[stack.rsplit(";", 1)[-1]] += count
    return functions


def inclusive(stacks):
    functions = Counter()
    for stack, count in stacks.items():
        for name in set(stack.split(";")) if stack else ():
            functions[name] += count
    return functions


# --- JSON and text

def speedscope(data):
    """Returns the merged profile; the profiles of the threads must add up to it."""
    whole = json.loads(data)
    must(whole["$schema"] == "https://www.speedscope.app/file-format-schema.json", "no $schema")
    names = [frame["name"] for frame in whole["shared"]["frames"]]
    found = []
    for profile in whole["profiles"]:
        stacks = Counter()
        must(len(profile.get("samples", [])) == len(profile.get("weights", [])), "samples and weights")
        for sample, weight in zip(profile.get("samples", []), profile.get("weights", [])):
            stacks[joined(names[frame] for frame in sample)] += weight
        opened, at = [], 0
        for event in profile.get("events", []):
            must(event["at"] >= at, "at falls")
            if event["at"] > at and opened:
                stacks[joined(names[frame] for frame in opened)] += event["at"] - at
            at = event["at"]
            if event["type"] == "O":
                opened.append(event["frame"])
            else:
                must(opened and opened.pop() == event["frame"], "a close without its open")
        must(not opened, "%d frames stay open" % len(opened))
        must(sum(profile.get("weights", [])) <= profile["endValue"] - profile["startValue"], "weights beyond the end")
        found.append(stacks)
    return found[0], sum(found[1:], Counter())


def chrome(data):
    """({stack: samples}, [(tid, name, ts in ns, dur in ns)], [(ts in ns, text) of logged events])."""
    whole = json.loads(data)
    frames, stacks, calls, logged = whole["stackFrames"], Counter(), [], []
    for event in whole["traceEvents"]:
        must(isinstance(event["pid"], int) and isinstance(event["tid"], int), "pid and tid are numbers")
        if event["ph"] == "P":
            names, at = [], event.get("sf")
            while at:
                names.append(frames[at]["name"])
                at = frames[at].get("parent")
            stacks[joined(reversed(names))] += 1
        elif event["ph"] == "X":
            calls.append((event["tid"], event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000)))
        else:
            must(event["ph"] in "Mi", "a phase %s" % event["ph"])
            if event.get("cat") == "event":
                logged.append((round(event["ts"] * 1000), event["args"].get("text")))
    return stacks, calls, logged


def firefox(data):
    """({stack: weight}, markers of calls and losses, [(time in ns, text) of logged events])."""
    whole = json.loads(data)
    shared, stacks, markers, logged = whole["shared"], Counter(), 0, []
    for name, table in list(shared.items()):
        if isinstance(table, dict):
            must(all(len(column) == table["length"] for key, column in table.items() if key != "length"), "%s: lengths" % name)
    texts, names = shared["stringArray"], []
    for frame, prefix in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefix"]):
        must(prefix is None or prefix < len(names), "a prefix of a later stack")
        own = part(texts[shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]])
        names.append(own if prefix is None else names[prefix] + ";" + own)
    for thread in whole["threads"]:
        samples, at = thread["samples"], 0
        scale = 1000000 if samples["weightType"] == "tracing-ms" else 1
        for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"] or []):
            must(time >= at, "times fall")
            at = time
            stacks["" if stack is None else names[stack]] += round(weight * scale)
        must(all(len(thread["markers"][key]) == thread["markers"]["length"] for key in ("data", "name", "startTime", "phase")), "markers")
        markers += sum(data["type"] != "event" for data in thread["markers"]["data"])
        logged += [(round(time * 1000000), data.get("text")) for time, data in zip(thread["markers"]["startTime"], thread["markers"]["data"])
                   if data["type"] == "event"]
    return stacks, markers, logged


def table(data):
    """Rows of a CSV file as dictionaries."""
    must(b"\r" not in data, "a line ends in CR")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def lines(data):
    return [json.loads(line) for line in data.decode("utf-8").splitlines()]


def callgrind(data):
    """Returns ({function: self}, {(caller, callee): cost}, total)."""
    names, own, edges, at, callee, totals = {}, Counter(), Counter(), None, None, None

    def name_of(text):
        number, _, name = re.fullmatch(r"\((\d+)\)( (.*))?", text).groups()
        if name is not None:
            must(number not in names, "named twice: %s" % name)
            names[number] = name
        return names[number]
    for line in data.decode("utf-8").splitlines():
        key, _, text = line.partition("=")
        if key == "fn":
            at = name_of(text)
        elif key == "cfn":
            callee = name_of(text)
        elif line.startswith("summary: "):
            summary = int(line.split()[1])
        elif line.startswith("totals: "):
            totals = int(line.split()[1])
        elif re.fullmatch(r"0 \d+", line):
            if callee:
                edges[part(at), part(callee)] += int(line.split()[1])
            else:
                own[part(at)] += int(line.split()[1])
            callee = None
        else:
            must(key in ("ob", "cob", "fl", "cfi", "calls") or re.match(r"#|version|creator|cmd|positions|events|$", line), "a line %r" % line)
    must(totals == summary == sum(own.values()), "totals %s, summary %s, lines %d" % (totals, summary, sum(own.values())))
    return own, edges, totals


def dot(data):
    """Returns ({name: label}, {(from, to): label}) of a DOT file written by perfray."""
    nodes, edges = {}, {}
    for line in data.decode("utf-8").splitlines():
        node = re.fullmatch(r'F(\d+) \[label="\{((?:\\.|[^\\"|{}])*)\|([^"]*)\}".*\];', line)
        edge = re.fullmatch(r'F(\d+) -> F(\d+) \[label="([^"]*)".*\];', line)
        if node:
            nodes[node[1]] = (re.sub(r"\\(.)", r"\1", node[2]), node[3])
        elif edge:
            edges[edge[1], edge[2]] = edge[3]
        else:
            must(line in ("digraph xray {", "node [shape=record];", 'F0 [label="" shape=point];', "}"), "a line %r" % line)
    names = {number: part(name) for number, (name, _) in nodes.items()}
    names["0"] = ""
    found = Counter()
    for (one, other), label in edges.items():
        found[names[one], names[other]] += float(label)
    totals = Counter()
    for name, label in nodes.values():
        totals[part(name)] += float(label)
    return totals, found


def mermaid(data):
    nodes, edges = {"0": ("", "0")}, Counter()
    for line in data.decode("utf-8").splitlines()[2:]:
        node = re.fullmatch(r'    F(\d+)\["(.*)<br/>(.*)"\]', line)
        edge = re.fullmatch(r'    F(\d+) -->\|"(.*)"\| F(\d+)', line)
        must(node or edge, "a line %r" % line)
        if node:
            name = re.sub(rb"#(\d+);", lambda found: bytes([int(found[1])]), node[2].encode()).decode()
            nodes[node[1]] = (part(name), node[3])
        else:
            edges[edge[1], edge[3]] += float(edge[2])
    found = Counter()
    for (one, other), count in edges.items():
        found[nodes[one][0], nodes[other][0]] += count
    return found


# --- Protocol buffers

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 128:
            return value, at


def message(data):
    """Returns {field: [value or bytes, ...]}."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            must(len(value) == length, "a field continues past the end")
        elif key & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            raise Wrong("a wire type %d" % (key & 7))
        fields.setdefault(key >> 3, []).append(value)
    return fields


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def one(fields, number, default=0):
    return fields.get(number, [default])[0]


def text(value):
    return (value or b"").decode("utf-8")


def perfetto(data):
    """({stack: samples}, [(track, name, begin, end)], lost, weights, [(time, text of a logged event)]); rules: interned before use, flags, balanced, ascending."""
    names, frames, callstacks, events, uuids = {}, {}, {}, {}, set()
    stacks, calls, lost, open_of, time_of, weights, logged = Counter(), [], 0, {}, {}, 0, []
    for number, packet in enumerate(message(data)[1]):
        packet = message(packet)
        flags, interned = one(packet, 13), message(one(packet, 12, b""))
        must(one(packet, 10) == 1 and (flags & 1 if number == 0 else not flags & 1), "sequence and flags of packet %d" % number)
        must(not interned or flags & 2, "packet %d interns without its flag" % number)
        for rows, field in ((names, 5), (events, 2)):
            for row in map(message, interned.get(field, [])):
                rows[one(row, 1)] = text(one(row, 2, b""))
        for row in map(message, interned.get(6, [])):
            must(one(row, 2) in names, "a frame before its function")
            must(3 not in row or 4 in row, "a frame with a mapping and without rel_pc")
            frames[one(row, 1)] = names[one(row, 2)]
        for row in map(message, interned.get(7, [])):
            callstacks[one(row, 1)] = joined(frames[frame] for frame in row.get(2, []))
        for row in map(message, packet.get(60, [])):
            uuids.add(one(row, 1))
        for row in map(message, packet.get(66, [])):
            if 17 in row:
                lost += one(row, 17)
                continue
            must(flags & 2 and 8 in packet, "a sample without flags or time")
            must(4 not in row or one(row, 4) in callstacks, "a stack before it is interned")
            stacks[callstacks.get(one(row, 4), "")] += 1
        for row in map(message, packet.get(135, [])):
            stacks[callstacks.get(one(row, 6), "")] += 1
            weights += one(row, 11)
        for row in map(message, packet.get(11, [])):
            track, time = one(row, 11), one(packet, 8)
            if one(row, 9) == 3:
                must(track in uuids, "an event on no track")
                logged.append((time, text(one(row, 23))))
                continue
            must(track in uuids and time >= time_of.get(track, 0), "track %d: no descriptor, or its time falls" % track)
            time_of[track] = time
            if one(row, 9) == 1:
                open_of.setdefault(track, []).append((events[one(row, 10)], time))
            else:
                must(one(row, 9) == 2 and open_of.get(track), "an end without its begin")
                calls.append((track, *open_of[track].pop(), time))
    must(not any(open_of.values()), "calls stay open")
    return stacks, calls, lost, weights, logged


def perfetto_times(wanted, calls):
    """Times in Perfetto's order: where the trace's clock steps back, and where a caller's end, rounded down, is 1 ns before its
    callee's, a begin or an end moves to the latest time before it. All other calls are exact. Returns the number of moved calls."""
    wanted, found = Counter(wanted), Counter(call[1:] for call in calls)
    times = {time for _, begin, end in wanted for time in (begin, end)}
    exact, moved = sorted((wanted - found).elements()), sorted((found - wanted).elements())
    must([call[0] for call in exact] == [call[0] for call in moved], "perfetto: %d calls differ, %d are new" % (len(exact), len(moved)))
    for (name, begin, end), other in zip(exact, moved):
        must(other[1] >= begin and other[2] >= end and {*other[1:]} <= times,
             "perfetto: %s %d..%d is %d..%d" % (name, begin, end, *other[1:]))
    return len(moved)


def pprof(data):
    """Returns {type of value: {stack: sum}}. Every location must have a function, and every sample as many values as there are types."""
    whole = message(gzip.decompress(data))
    texts = [text(value) for value in whole[6]]
    must(texts[0] == "" and len(set(texts)) == len(texts), "the first text is not empty, or a text is there twice")
    functions = {one(row, 1): texts[one(row, 2)] for row in map(message, whole.get(5, []))}
    maps = {one(row, 1): (one(row, 2), one(row, 3)) for row in map(message, whole.get(3, []))}
    locations = {}
    for row in map(message, whole.get(4, [])):
        least, most = maps.get(one(row, 2), (0, 0))
        must(2 not in row or least <= one(row, 3) < most, "an address outside of its mapping")
        locations[one(row, 1)] = functions[one(message(row[4][0]), 1)]
    must(0 not in locations and 0 not in functions and 0 not in maps, "a number 0")
    types = [texts[one(message(row), 1)] for row in whole[1]]
    found = {name: Counter() for name in types}
    for sample in map(message, whole.get(2, [])):
        values = packed(one(sample, 2, b""))
        must(len(values) == len(types), "%d values of %d types" % (len(values), len(types)))
        stack = joined(locations[at] for at in reversed(packed(one(sample, 1, b""))))
        for name, value in zip(types, values):
            found[name][stack] += value
    must(texts[one(whole, 14)] == types[-1], "the default is not the last type")
    return found


def otlp(data, times=None):
    """Returns {(event, type of value): {stack: sum}}, and adds each (event, type, stack, time, value) to `times`."""
    whole = message(data)
    dictionary = message(whole[2][0])
    for table_of in (1, 2, 3, 4, 5, 6, 7):
        must(dictionary.get(table_of, [b"x"])[0] == b"", "entry 0 of table %d" % table_of)
    texts = [text(value) for value in dictionary[5]]
    must(len(set(texts)) == len(texts), "a text twice")
    functions = [texts[one(message(row), 1)] for row in dictionary[3]]
    locations = [functions[one(message(one(message(row), 3, b"")), 1)] for row in dictionary[2]]
    chains = [joined(locations[at] for at in reversed(packed(one(message(row), 1, b"")))) for row in dictionary[7]]
    attributes, found = len(dictionary[6]), {}
    for resource in whole[1]:
        for scope in message(resource)[2]:
            for profile in map(message, message(scope).get(2, [])):
                kind = message(one(profile, 1, b""))
                event, name = texts[one(message(one(profile, 5, b"")), 1)], texts[one(kind, 1)]
                must((event, name) not in found, "two profiles of %s and %s" % (event, name))
                rows = found.setdefault((event, name), Counter())
                for sample in map(message, profile.get(2, [])):
                    must(all(0 < at < attributes for at in packed(one(sample, 2, b""))), "an attribute that is not there")
                    values, moments = packed(one(sample, 4)), struct.unpack("<%dQ" % (len(one(sample, 5, b"")) // 8), one(sample, 5, b""))
                    must(len(values) == len(moments) if times is not None else len(values) == 1 and not moments, "values and times")
                    rows[chains[one(sample, 1)]] += sum(values)
                    if times is not None:
                        times += [(event, name, chains[one(sample, 1)], *row) for row in zip(moments, values)]
    return found
