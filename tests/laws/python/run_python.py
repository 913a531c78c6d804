#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_python.py - checks that records of the Python package are those of the command.

Environment: PERFRAY, the command; PERFRAY_LIBRARY, the shared library; FIXTURES, tests/fixtures; PERFRAY_CORPUS, whose recordings and traces
are used too. examples/dump_recording.py must print the same bytes as `dump --format=jsonl`; iterated records and their fields must be those
of these lines.
"""
import io
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY  # noqa: E402

ROOT = harness.ROOT
BINDING, EXAMPLE = os.path.join(ROOT, "bindings", "python"), os.path.join(ROOT, "examples", "dump_recording.py")
sys.path.insert(0, BINDING)
SECONDS = 120
NO_RECORDING = 3
SAMPLES_MOST = 300  # number of records of each recording whose fields are checked


def run(words):
    return harness.run(words, timeout=SECONDS, env=dict(os.environ, PYTHONPATH=BINDING, PYTHONDONTWRITEBYTECODE="1"))


def inputs():
    folders = [os.path.join(os.environ["FIXTURES"], "recorded"), os.path.join(os.environ["FIXTURES"], "xray")]
    corpus = harness.corpus() or ""
    for part in ("perf/quipper", "perf/simpleperf", "perf/other", "perf/recorded", "perf/bigendian", "perf/hostile",
                 "xray/traces", "xray/synth"):
        if os.path.isdir(os.path.join(corpus, part)):
            folders.append(os.path.join(corpus, part))
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if not name.endswith((".txt", ".zst", ".md", ".tsv", ".pb_text")) and os.path.getsize(path) < 1 << 22:
                yield path


def check_dump(path):
    """(whether it is a recording, the defect)"""
    plain = run([PERFRAY, "dump", "--format=jsonl", path])
    if plain.returncode == NO_RECORDING:
        return False, None
    made = run([sys.executable, EXAMPLE, path])
    if made.stdout != plain.stdout:
        return True, "%s: the dump is another (%s)" % (os.path.basename(path), made.stderr.decode()[-200:])
    if made.returncode != 0 and plain.returncode == 0:
        return True, "%s: status %d" % (os.path.basename(path), made.returncode)
    return True, None


def shown(value):
    """A value in the form of JSON lines."""
    return value.hex() if isinstance(value, bytes) else value


def number(text):
    return int(text, 16) if isinstance(text, str) and text.startswith("0x") else text


def check_fields(perfray, path):
    """Compares records and their simple fields with the lines of the dump."""
    lines = [json.loads(line) for line in run([PERFRAY, "dump", "--format=jsonl", path]).stdout.decode().splitlines()]
    lines = [line for line in lines if "type" in line and "damaged" not in line]
    count = 0
    with perfray.open(path) as recording:
        records = iter(recording)
        for line in lines[:SAMPLES_MOST]:
            record = next(records)
            if (record.offset, record.size, record.type) != (line["offset"], line["size"], line["type"]):
                return "%s: a record at %d, the dump has one at %d" % (os.path.basename(path), record.offset, line["offset"])
            if len(record.bytes) != record.size:
                return "%d bytes of a record of %d" % (len(record.bytes), record.size)
            for field, value in line.get("fields", {}).items():
                if isinstance(value, int) or (isinstance(value, str) and value.startswith("0x")):
                    count += 1
                    if record[field] != number(value):
                        return "%s at %d: %s is %r, not %r" % (line["name"], line["offset"], field, record[field], value)
            if "id" in line and "time" in line["id"] and record["id.time"] != line["id"]["time"]:
                return "id.time of the record at %d is %r" % (line["offset"], record["id.time"])
    return None if count or not lines else "no field was compared"


def check_misuse(recording, file, form, expected):
    try:
        return "dump into %r as %s gives %r" % (file, form, recording.dump(file, form))
    except expected:
        return None


def check_errors(perfray):
    with harness.scratch("python") as folder:
        try:
            perfray.open(os.path.join(folder, "nothing"))
            return "a file that is not there opens"
        except perfray.Error as error:
            if error.status != "input/output":
                return "status %s" % error.status
    path = os.path.join(os.environ["FIXTURES"], "recorded", "demo.data")
    recording = perfray.open(path)
    first = next(iter(recording))
    try:
        return "a field that is none: %r" % first["no_such_field"]
    except KeyError:
        pass
    if first.get("no_such_field", 7) != 7:
        return "get gives no default"
    if [r.offset for r in recording] != [r.offset for r in recording]:
        return "the second pass is another"
    wrong = check_misuse(recording, sys.stdout, "xml", ValueError) or check_misuse(recording, io.StringIO(), "text", TypeError)
    recording.close()
    try:
        return wrong or "a closed recording gives %r" % next(iter(recording))
    except ValueError:
        pass
    try:
        return "a path with a NUL opens: %r" % perfray.open(path + "\0")
    except ValueError:
        return check_misuse(recording, sys.stdout, "text", ValueError)


def check_library():
    """If there is no library, the error of the import says what to do."""
    done = subprocess.run([sys.executable, "-c", "import perfray"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, check=False,
                          env=dict(os.environ, PYTHONPATH=BINDING, PYTHONDONTWRITEBYTECODE="1", PERFRAY_LIBRARY="/nowhere/libperfray.so"))
    last = done.stderr.decode().strip().rsplit("\n", 1)[-1]
    return None if last.startswith("ImportError: /nowhere/libperfray.so") and "PERFRAY_LIBRARY" in last else last


def tell(name, problem):
    harness.result("python/" + name, problem)


def main():
    if not os.path.isfile(PERFRAY) or not os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
        return harness.skip("python", "PERFRAY or PERFRAY_LIBRARY is not set")
    import perfray  # the binding, with the library of this build
    results = [check_dump(path) for path in inputs()]
    problems = [problem for _, problem in results if problem]
    tell("dump of %d recordings" % sum(known for known, _ in results), problems)
    folder = os.path.join(os.environ["FIXTURES"], "recorded")
    recorded = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".data")]
    folder = os.path.join(os.environ["FIXTURES"], "xray")
    recorded += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    problems = [problem for problem in (check_fields(perfray, path) for path in recorded) if problem]
    tell("fields of %d recordings" % len(recorded), problems)
    tell("library", check_library())
    tell("errors", check_errors(perfray))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
