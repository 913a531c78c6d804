#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_rules.py - checks that `verify` reports each broken rule by its name, and has no findings for sound files.

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus, whose good files must have no finding. broken_files.py makes the files and lists the expected
findings. Each broken file must have a finding of its rule at the given offset (None: anywhere), with the severity of the table, and no findings that are
not listed. `--notes` is used if the rule is a note.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY  # noqa: E402
from broken_files import BROKEN, SOUND  # noqa: E402

SECONDS = 60
# Files of the corpus that are not sound, with the reason: folders, and names of files.
DAMAGED_FOLDERS = ("hostile", "out", "out-synth", "bin", "src")
DAMAGED = {
    "quipper.piped.corrupted.zero_size_sample-3.2": "damaged by its makers",
    "rec61.killed_file": "the recorder was killed", "rec61.killed_z": "the recorder was killed",
    "c1.lpd.sleep.compressed2.pipe.data": "words of perf stand behind the last record",
    "lpd.sleep.compressed2.pipe.data": "words of perf stand behind the last record",
    "events.fdr.14": "extents that LLVM's runtime writes too small", "events.fdr.19": "extents that LLVM's runtime writes too small",
}
# Files that were made wrong, or so that llvm-xray refuses them.
DAMAGED_BEGINS = ("v5-le-event-empty", "v5-le-event-negative", "v5-le-no-cpu", "v5-le-extents", "v5-le-empty", "v5-le-order",
                  "v5-le-eob", "v5-le-edge", "v5-le-bad", "v5-le-args", "v5-le-preamble-only", "v5-le-cut", "basic-v3-le-headeronly",
                  "basic-v3-le-bad", "basic-v3-le-cut")
DAMAGED_CONTAINS = ("garbage-between",)


def run(path, *more):
    done = harness.perfray("verify", "--format=json", "--most=0", *more, path, timeout=SECONDS)
    return done.returncode, json.loads(done.stdout)["findings"] if done.stdout else [], done.stderr.decode()


def verify_bytes(content, *more):
    with tempfile.NamedTemporaryFile(prefix="perfray-verify-") as file:
        file.write(content)
        file.flush()
        return run(file.name, *more)


def table():
    done = subprocess.run([PERFRAY, "verify", "--rules", "--format=json"], stdout=subprocess.PIPE, timeout=SECONDS, check=True)
    return {rule["rule"]: rule["severity"] for rule in json.loads(done.stdout)}


def problem_of(rule, severity):
    content, offset, others = BROKEN[rule]
    status, findings, said = verify_bytes(content, *(["--notes"] if severity == "note" else []))
    named = [finding for finding in findings if finding["rule"] == rule]
    if status != 1 or not named:
        return "status %d, %s %s" % (status, [finding["rule"] for finding in findings], said)
    if {finding["severity"] for finding in named} != {severity}:
        return "severity %s" % named[0]["severity"]
    if offset is not None and offset not in [finding["offset"] for finding in named]:
        return "at %s, not at %d" % ([finding["offset"] for finding in named], offset)
    if named[0]["offset"] + named[0]["length"] > max(len(content), named[0]["offset"]):
        return "past the end"
    more = {finding["rule"] for finding in findings if finding["severity"] != "note"} - {rule} - set(others)
    return "and also %s" % sorted(more) if more else None


def tell(name, problem):
    harness.result("verify/" + name, problem)


def check_rules():
    rules = table()
    tell("every rule is broken once", "rules without a file: %s; files without a rule: %s" % (
        sorted(set(rules) - set(BROKEN)), sorted(set(BROKEN) - set(rules))) if set(rules) != set(BROKEN) else None)
    for rule in sorted(set(rules) & set(BROKEN)):
        tell("rule " + rule, problem_of(rule, rules[rule]))


def check_sound():
    for name, content in SOUND.items():
        status, findings, said = verify_bytes(content, "--notes")
        tell("sound " + name, "status %d, %s %s" % (status, findings[:2], said) if status or findings else None)


def is_recording(path):
    with open(path, "rb") as file:
        head = file.read(4)
    return head in (b"PERF", b"2ELI") or "/xray/" in path.replace(os.sep, "/")


def corpus_files(folder):
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - set(DAMAGED_FOLDERS))
        for name in sorted(names):
            path = os.path.join(root, name)
            known = name in DAMAGED or name.startswith(DAMAGED_BEGINS) or any(part in name for part in DAMAGED_CONTAINS)
            if not known and is_recording(path):
                yield path


def check_corpus():
    folder = harness.corpus()
    if not folder:
        return harness.skip("verify/corpus", "PERFRAY_CORPUS is not set")
    count, wrong = 0, []
    for path in corpus_files(folder):
        status, findings, said = run(path)
        if status == 3 and "/xray/" in path:
            continue  # the folders of traces also contain texts about them
        count += 1
        if status != 0:
            wrong.append("%s: status %d, %s %s" % (os.path.basename(path), status, findings[:1], said))
    tell("corpus (%d good files, %d with findings)" % (count, len(wrong)), wrong or (None if count > 200 else "too few files"))


def main():
    if not harness.has_command():
        return harness.skip("verify", "PERFRAY is not set")
    check_rules()
    check_sound()
    check_corpus()
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
