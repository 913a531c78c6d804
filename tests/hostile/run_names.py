#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_names.py - tests names that control a terminal or break a format, in every field and every output.

usage: run_names.py [--verbose] RECORDED

RECORDED is the folder of recordings. Environment: PERFRAY, the command.

For each payload of PAYLOADS, a file and a stream are made in which every field that can contain a name contains it (named_recording.py), between two marks that
identify the field. Requirements for all output to stdout, stderr or a terminal:

    clean       valid UTF-8; below 0x20 newline and tab only; no DEL, no C1, no character that turns or hides text
    reached     the fields of REACHED are in the output, so it was tested with these names
    given back  from every name that is shown completely, the bytes can be restored: by the decoder of JSON or CSV, then by replacing `\\xNN`; a name that needs
                no escapes is shown unchanged
    raw         with --raw-names, text has the original bytes

Lines of the result: `ok hostile/names PAYLOAD`, `ok hostile/names WHERE` for names that come from elsewhere (objects,
kallsyms, perf maps, the command line), `ok hostile/names mutants` for recordings whose texts mutate.py replaced.
"""
import argparse
import concurrent.futures
import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from xml.dom import minidom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import named_recording  # noqa: E402

import recorder_files  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MUTATE = os.path.join(HERE, "..", "support", "mutate.py")
SECONDS = 30
MUTANTS = 120
KNOWN_STATUS = (0, 3, 4)

PAYLOADS = {
    "escape": b"\x1b[2J\x1b]0;owned\x07\x1b[31m",
    "c0": bytes(range(1, 32)),
    "delete": b"a\x7f\x7f\x08b",
    "c1": "".join(map(chr, range(0x80, 0xA0))).encode(),
    "c1-bytes": bytes(range(0x80, 0xA0)),
    "invalid": b"\xff\xfe\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x80 \xf0\x9f\xa6 \xc3",
    "bidi": "\u202aa\u202bb\u202cc\u202dd\u202ee\u2066f\u2067g\u2068h\u2069i\u200ej\u200fk\u061c".encode(),
    "zero-width": "\u200ba\u200cb\u200dc\u2060d\ufeffe\u180ef\u00adg".encode(),
    "separators": "a\u2028b\u2029c\u0085d".encode(),
    "tags": "a\U000e0001\U000e0041\U000e007f\U000e0100b".encode(),
    "lines": b"a\nb\r\nc\td\x0b\x0c",
    "quotes": b"\"a\" 'b' `c` \\ \\\" \\\\",
    "escaped": b"\\x1b \\x41\\x5c \\n \\u0000 \\x4",
    "markup": b"</script><script>alert(1)</script><!--\"><svg onload=alert(1)> &lt;",
    "formula": b"=cmd|'/C calc'!A0,\"x\",;a;b",
    "format": b"%s%s%n%n%*d %1$s",
    "plain": "żółć 名前 🦀 ſ \U0001d54f".encode(),
    "long": b"A" * 300,
}

# Fields that `dump` shows only as bytes, because the tables have no text for them.
AS_BYTES = {"bpf_program", "btf_function", "btf_function_2", "simpleperf_file", "trace_cmdline", "trace_event",
            "trace_field", "trace_kallsyms", "trace_printk", "trace_system", "unknown_feature", "unknown_record"}
TEXT_FEATURES = {"hostname", "osrelease", "version", "arch", "cpudesc", "cpuid", "cmdline_program", "cmdline_argument"}
IN_PERF_HEADER = TEXT_FEATURES | {
    "cache_map", "cache_size", "cache_type", "core_siblings", "thread_siblings", "cpu_pmu_cap", "cpu_pmu_cap_value",
    "event_desc_0", "group_desc", "hybrid_cpus", "hybrid_pmu", "numa_cpus", "pmu_cap", "pmu_cap_value", "pmu_caps_pmu",
    "pmu_mapping"}
IN_PERF_DUMP = {"auxtrace_error", "cgroup", "comm", "event_update_unit", "kernel_map", "ksymbol", "mmap", "mmap2",
                "mmap2_build_id", "module_map"}
IN_REPORT = {"comm", "mmap", "mmap2", "mmap2_build_id", "module_map", "trace_event", "trace_system"}
IN_INFO = TEXT_FEATURES | {"bpf_program", "group_desc", "trace_event", "trace_system"}

# For each command, the fields that must be in its output for a file; None: all except AS_BYTES.
REACHED = {
    ("dump",): None, ("dump", "--hex"): None, ("dump", "--format=jsonl"): None,
    ("dump", "--format=perf"): IN_PERF_DUMP, ("dump", "--format=perf", "--hex"): IN_PERF_DUMP,
    ("info",): IN_INFO | {"event_desc_0"}, ("info", "--format=json"): IN_INFO | {"build_id"},
    ("info", "--format=perf"): IN_PERF_HEADER, ("info", "--events"): {"trace_event", "trace_system"},
    ("info", "--build-ids"): set(), ("info", "--stats"): {"trace_event", "trace_system"},
    ("report",): IN_REPORT, ("report", "--format=perf"): IN_REPORT, ("report", "--format=csv"): IN_REPORT,
    ("report", "-g", "--format=csv"): IN_REPORT, ("symbols",): set(), ("symbols", "--format=json"): set(),
    ("export",): {"comm"}, ("export", "--mark-kernel"): {"comm"}, ("flame",): {"comm"}, ("verify", "--notes"): set(), ("verify", "--notes", "--format=json"): set(),
    **{("export", "--format=" + name): {"comm"} for name in ("csv", "jsonl", "speedscope", "firefox", "chrome")},
    **{("export", "--format=" + name): set() for name in ("callgrind", "dot", "mermaid")},
    ("report", "--format=json"): IN_REPORT, ("report", "--sort=dso,sym,comm,pid,tid"): IN_REPORT,
}
# Only in files: streams have other records for these.
OF_FILES = {"event_desc_0", "build_id"}
JSON_LINES, JSON, CSV = ("dump", "--format=jsonl"), ("info", "--format=json"), ("report", "--format=csv")

# Characters that must never be printed unescaped.
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
                     "\ufff9-\ufffb\U000e0000-\U000e0fff]")
ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")


class Names:
    """One payload in each field, marked."""

    def __init__(self, payload):
        self.payload, self.of = payload, {}

    def mark(self, field):
        return b"q%02dz" % list(self.of).index(field)

    def __call__(self, field, room):
        if field not in self.of:
            self.of[field] = b""
            mark = self.mark(field)
            self.of[field] = mark + self.payload[:room - 2 * len(mark)] + mark
        return self.of[field]


def run(words, **more):
    return harness.perfray(*words, timeout=SECONDS, **more)


def known_status(command):
    """verify may have findings."""
    return KNOWN_STATUS + (1,) if command[0] == "verify" else KNOWN_STATUS


def dirt(output):
    """Describes the first violation in the printed bytes, or None."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as bad:
        return "not UTF-8: %s, in %r" % (bad, output[max(0, bad.start - 20):bad.start + 20])
    found = HOSTILE.search(text)
    return "raw %r in %r" % (found.group(0), text[max(0, found.start() - 30):found.end() + 30]) if found else None


def unescape(text):
    return ESCAPED.sub(lambda found: bytes([int(found.group(1), 16)]), text)


def strings_of(value):
    """Every string of a JSON document, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings_of(inner)


def texts_of(command, output):
    """The texts in an output, decoded by the format's decoder, as bytes."""
    text = output.decode("utf-8")
    if command == JSON_LINES or command == ("export", "--format=jsonl"):
        found = [each for line in text.splitlines() for each in strings_of(json.loads(line))]
    elif "--format=json" in command or command[-1] in ("--format=speedscope", "--format=firefox", "--format=chrome"):
        found = list(strings_of(json.loads(text)))
    elif "--format=csv" in command:
        found = [cell for row in csv.reader(io.StringIO(text, newline=""), strict=True) for cell in row]
    elif command[0] == "flame":
        found = [each.data for each in minidom.parseString(output).getElementsByTagName("title") for each in each.childNodes]
    else:
        found = [text]
    return [each.encode("utf-8") for each in found]


def is_whole(command, field, name):
    """Whether the output must show the complete name, instead of a part of it or a name derived from it."""
    if command[0] == "report" and (field == "module_map" or b"/" in name):
        return False  # the last part of the path
    if command[0] == "export" and b";" in name:
        return False  # it would separate frames
    if field in ("trace_event", "trace_field") and (b"\n" in name or b";" in name):
        return False
    return command == JSON or command[0] != "info"  # in other outputs, words are quoted and lists are split


def missing_names(command, names, fields, output):
    """The fields that are not in the output as they should be."""
    texts = texts_of(command, output)
    plain = [unescape(text) for text in texts]
    for field in sorted(fields):
        name = names.of[field]
        if not any(names.mark(field) in text for text in texts):
            yield "%s is not shown" % field
        elif is_whole(command, field, name):
            if not any(name in text for text in plain):
                yield "%s does not give %r back" % (field, name)
            if names.payload == PAYLOADS["plain"] and len(name) == len(names.payload) + 8 \
                    and not any(name in text for text in texts):
                yield "%s is escaped without need" % field


def fields_of(command, names, is_file):
    fields = REACHED[command]
    if fields is None:
        fields = set(names.of) - AS_BYTES
    return {field for field in fields if field in names.of and (is_file or field not in OF_FILES)}


def judge(command, names, path, is_file):
    done = run([*command, *(["--no-pager"] if command[0] == "report" else []), path])
    where = "%s %s: " % (" ".join(command), "file" if is_file else "stream")
    if done.returncode not in known_status(command):
        yield where + "status %d" % done.returncode
    for stream in (done.stdout, done.stderr):
        if dirt(stream):
            yield where + dirt(stream)
            return
    try:
        for what in missing_names(command, names, fields_of(command, names, is_file), done.stdout):
            yield where + what
    except (ValueError, csv.Error) as bad:
        yield where + "does not parse: %s" % bad


def judge_raw(names, path):
    """--raw-names: the bytes themselves."""
    for command, field in ((("dump",), "comm"), (("dump", "--format=perf"), "comm"), (("info",), "hostname"),
                           (("info", "--format=perf"), "hostname"), (("info", "--stats"), "event_desc_0"),
                           (("info", "--build-ids"), "build_id"), (("report", "--no-pager"), "comm")):
        if names.of[field] not in run([*command, "--raw-names", path]).stdout:
            yield "%s --raw-names: %s is not there" % (" ".join(command), field)
    for command in (JSON_LINES, JSON, CSV):
        found = dirt(run([*command, "--raw-names", path]).stdout)
        if found:
            yield "%s --raw-names: %s" % (" ".join(command), found)


def read_terminal(master):
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            return shown
        if not part:
            return shown
        shown += part


def on_terminal(words, feed=None):
    """The output to stdout and stderr on a pseudo terminal, with its line ends converted back, and without colours."""
    master, slave = pty.openpty()
    with subprocess.Popen([harness.PERFRAY, *words], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          env=dict(os.environ, TERM="xterm-256color", PAGER="cat", NO_COLOR="1")) as child:
        os.close(slave)
        if feed:
            feed()
        shown = read_terminal(master)
        child.wait(SECONDS)
    os.close(master)
    return shown.replace(b"\r\n", b"\n")


def judge_terminal(path):
    for words in (["info"], ["dump"], ["report"], ["export"], ["info", "--format=json"]):
        found = dirt(on_terminal([*words, path]))
        if found:
            yield "%s on a terminal: %s" % (" ".join(words), found)


def check_payload(folder, label, payload):
    """Runs all commands on the file and the stream whose names contain the payload."""
    for is_file, make in ((True, named_recording.make_file), (False, named_recording.make_stream)):
        names = Names(payload)
        path = os.path.join(folder, "%s-%s.data" % (label, "file" if is_file else "stream"))
        with open(path, "wb") as file:
            file.write(make(names))
        for command in REACHED:
            yield from judge(command, names, path, is_file)
        yield from judge_terminal(path)
        if is_file:
            yield from judge_raw(names, path)


def check_mutants(folder, recorded):
    """Recordings whose texts were replaced, or filled completely."""
    inputs = sorted(os.path.join(recorded, name) for name in os.listdir(recorded) if name.endswith(".data"))
    inputs = [path for path in inputs if os.path.isfile(path)]
    subprocess.run([sys.executable, MUTATE, "--class", "str_hostile_all,str_hostile,str_nonul", "--count", str(MUTANTS),
                    "--quiet", folder] + inputs, check=True, stderr=subprocess.DEVNULL)
    made = sorted(name for name in os.listdir(folder) if name.startswith("m0"))
    if len(made) < MUTANTS // 2:
        yield "only %d mutants were made" % len(made)
    commands = list(REACHED)
    for number, name in enumerate(made):
        for command in commands[number % 3::3]:
            done = run([*command, *(["--no-pager"] if command[0] == "report" else []), os.path.join(folder, name)])
            found = dirt(done.stdout) or dirt(done.stderr)
            if found or done.returncode not in known_status(command):
                yield "%s %s: %s" % (" ".join(command), name, found or "status %d" % done.returncode)
        edit = ("recover",) if number % 2 else ("convert", "--byte-order=big")  # the output is not text
        done = run([*edit, os.path.join(folder, name), "-o", os.path.join(folder, "made")])
        if done.stdout or dirt(done.stderr) or done.returncode not in KNOWN_STATUS:
            yield "%s %s: %s" % (edit[0], name, dirt(done.stderr) or "status %d" % done.returncode)


def file_names():
    return {label: b"a" + payload.replace(b"/", b"_")[:200] for label, payload in PAYLOADS.items()}


def check_file_names(folder, recorded):
    """The recording's own name, in titles and complaints."""
    with open(os.path.join(recorded, "cpu-clock.data"), "rb") as file:
        whole = file.read()
    for label, name in file_names().items():
        inside = os.path.join(os.fsencode(folder), b"names-" + label.encode())
        os.mkdir(inside)
        path, missing = os.path.join(inside, name), os.path.join(inside, b"missing-" + name)
        with open(path, "wb") as file:
            file.write(whole[:len(whole) * 2 // 3])
        for words in (["info"], ["dump"], ["report", "--no-pager"], ["dump", "--format=perf"], ["dump", "--only", path],
                      ["report", "--sort", path], ["info", b"--" + name], [b"x" + name],
                      ["dump", "--aux", missing + b"/x"], ["convert", "-o", missing + b"/x"],
                      ["recover", "-o", os.path.join(inside, b"made-" + name)]):
            done = run([*words, path, missing])
            found = dirt(done.stdout) or dirt(done.stderr)
            if found or not done.stderr:
                yield "%s, %r: %s" % (words[0], name, found or "nothing is said")
        shown = unescape(run(["info", missing]).stderr)
        if missing not in shown:
            yield "the message does not give %r back: %r" % (missing, shown)


def check_progress(folder, recorded):
    """The progress line names the file: it may contain no control characters except its own carriage return and erasure."""
    with open(os.path.join(recorded, "pipe.data"), "rb") as file:
        whole = file.read()
    for label in ("escape", "bidi", "c1-bytes"):
        path = os.path.join(os.fsencode(folder), b"fifo-" + file_names()[label])
        os.mkfifo(path)

        def feed(to=path):
            with open(to, "wb") as fifo:
                fifo.write(whole[:len(whole) // 2])
                fifo.flush()
                time.sleep(1.7)
                fifo.write(whole[len(whole) // 2:])

        shown = on_terminal(["info", path], feed)
        if b" MB/s" not in shown:
            yield "no line of progress: %r" % shown[:200]
        found = dirt(re.sub(rb"\r\x1b\[K|\r(?=[^\n]*\x1b\[K)|(?<=MB/s)\x1b\[K", b"", shown))
        if found:
            yield found


def make_demo_root(folder, recorded, symbol):
    """The objects of demo.data, one function's name replaced by one of the same length."""
    root = os.path.join(folder, "root-" + symbol.hex())
    shutil.copytree(os.path.join(recorded, "demo-root"), root)
    path = os.path.join(root, "demo", "busy")
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(content.replace(b"\0scramble\0", b"\0" + symbol + b"\0"))
    return root


def check_symbols(folder, recorded):
    """Names of functions: from an object, from kallsyms, from a perf map."""
    demo = os.path.join(recorded, "demo.data")
    kernel, jit = os.path.join(folder, "kernel.data"), os.path.join(folder, "jit.data")
    with open(kernel, "wb") as file:
        file.write(named_recording.make_file(lambda field, room: b"x"))
    with open(jit, "wb") as file:
        file.write(named_recording.make_jit_stream(b"java", os.getpid()))
    perf_map = "/tmp/perf-%d.map" % os.getpid()
    for label, payload in PAYLOADS.items():
        symbol = b"q" + payload.replace(b"\n", b"").replace(b" ", b"").replace(b"\t", b"")[:100]
        inner = (b"q" + payload[:6] + b"zzzzzzzz")[:8]
        table = os.path.join(folder, "kallsyms-" + label)
        with open(table, "wb") as file:
            file.write(b"ffffffff81000000 T " + symbol + b"\nffffffff81000200 T end\nffffffff82000000 T _etext\n")
        descriptor = os.open(perf_map, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"10000 100 " + payload.replace(b"\n", b"") + b"\n")
        try:
            runs = ((demo, ["--symfs", make_demo_root(folder, recorded, inner)], inner),
                    (kernel, ["--kallsyms", table], symbol), (jit, [], payload.replace(b"\n", b"")))
            for path, more, name in runs:
                yield from judge_symbols(path, more, label, name)
        finally:
            os.unlink(perf_map)


def judge_symbols(path, more, label, name):
    for form in ("text", "perf", "csv", "json"):
        done = run(["report", "--no-pager", "--format", form, *more, path])
        found = dirt(done.stdout) or dirt(done.stderr)
        if found:
            yield "%s, %s, %s: %s" % (os.path.basename(path), form, label, found)
        elif not any(name in unescape(text) for text in texts_of(("report", "--format=" + form), done.stdout)):
            yield "%s, %s: %r is not given back" % (os.path.basename(path), form, name)


def check_recorder(folder, _recorded):
    """Names of functions stored in a trace of the runtime, and the object that it names."""
    trace = os.path.join(os.fsencode(folder), b"recorder.xray")
    for label, payload in PAYLOADS.items():
        name = b"q" + payload.replace(b"\0", b"")[:400]
        recorder_files.OBJECT_NOTES = recorder_files.mapped(0x400000, b"/nonexistent/" + name) + recorder_files.scope(name)
        with open(trace, "wb") as file:
            file.write(recorder_files.killed())
        for words in (("latency", "--no-pager"), ("latency", "--by=caller", "--histogram", "--no-pager"), ("latency", "--format=csv"),
                      ("latency", "--by=caller", "--format=json"), ("dump", "--format=jsonl"), ("dump", "--no-pager"),
                      ("script", "--no-pager"), ("report", "--no-pager"), ("verify",), ("info", "--no-pager")):
            done = run([*words, trace])
            found = dirt(done.stdout) or dirt(done.stderr)
            if found or done.returncode:
                yield "%s, %s: %s" % (" ".join(words), label, found or done.stderr)
                continue
            command = CSV if "--format=csv" in words else words
            shown = [unescape(text) for text in texts_of(command, done.stdout)]
            if words[0] == "latency" and not any(name in text for text in shown):
                yield "%s, %s: %r is not given back" % (" ".join(words), label, name)


def check_functions(folder, recorded):
    """Names of functions in an instrumentation map, and the name of the map itself."""
    trace = os.path.join(recorded, "..", "xray", "fdr-v5.xray")
    for label, payload in PAYLOADS.items():
        payload = payload.replace(b"\n", b"")
        table = os.path.join(os.fsencode(folder), b"map-" + file_names()[label])
        quoted = payload.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        with open(table, "wb") as file:
            file.write(b'---\n- { id: 1, address: 0x10, function: 0x10, function-name: "q' + quoted + b'" }\n...\n')
        for words in (("latency", "--no-pager"), ("latency", "--by=caller", "--histogram", "--no-pager"),
                      ("latency", "--format=csv"), ("latency", "--by=caller", "--format=json"),
                      ("dump", "--format=jsonl")):
            done = run([*words, "-m", table, trace])
            found = dirt(done.stdout) or dirt(done.stderr)
            if found or done.returncode:
                yield "%s, %s: %s" % (" ".join(words), label, found or done.stderr)
                continue
            command = CSV if "--format=csv" in words else words
            shown = [unescape(text) for text in texts_of(command, done.stdout)]
            for name in (b"q" + payload,) + ((table,) if words[0] == "latency" else ()):
                if not any(name in text for text in shown):
                    yield "%s, %s: %r is not given back" % (" ".join(words), label, name)
            if words[0] == "latency" and command != CSV and "json" not in words[-1]:
                raw = run([*words, "--raw-names", "-m", table, trace]).stdout
                if b"q" + payload not in raw:
                    yield "%s --raw-names, %s: %r is not there" % (" ".join(words), label, payload)


def attempt(label, check, verbose):
    findings = [finding.encode("unicode_escape").decode() for finding in check]
    for finding in findings if verbose else ():
        print("   ", finding)
    harness.result("hostile/names " + label, findings)


def run_all(options, folder):
    checks = {label: check_payload(folder, label, payload) for label, payload in PAYLOADS.items()}
    for label, check in (("mutants", check_mutants), ("file-names", check_file_names), ("progress", check_progress),
                         ("symbols", check_symbols), ("functions", check_functions),
                         ("recorder", check_recorder)):
        checks[label] = check(folder, options.recorded)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda item: attempt(*item, options.verbose), checks.items()))
    return harness.status()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("recorded")
    options = parser.parse_args()
    if not harness.has_command():
        return harness.skip("hostile/names", "PERFRAY is not set")
    with harness.scratch("names") as folder:
        return run_all(options, folder)


if __name__ == "__main__":
    sys.exit(main())
