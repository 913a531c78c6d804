#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_forms.py - checks that one recording gives the same text in every form.

usage: run_forms.py [NAME...]

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus with its byte-swapped copies (`be.*`), skipped if it is not set. Recordings are
made by the installed perf in a temporary folder, then converted to other forms by tests/support/other_forms.py. `perfray script` reads each form
as a named file, with 1, 2 and 4 threads, and, if possible, from a pipe, with and without non-sample events. Every text must equal that of the
file, byte for byte. The stream that perf inject makes lacks names and build-ids, so its text must be perf's. run_fresh.py compares recordings
that perf itself makes in these forms with perf's text.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
from fresh import Skip, Wrong
from run_fresh import STATE

import corpus_files  # noqa: E402
import other_forms  # noqa: E402

HERE = ("-e", "cpu-clock", "-F", "3999")
SOURCES = {"busy": "busy_loops.c", "storm": "storm.c"}
RECORDINGS = {
    "chains": ((*HERE, "-g"), ("./busy", "60")),
    "all_cpus": ((*HERE, "-a", "-g", "--switch-events", "--namespaces"), ("./busy", "60")),
    "storm": ((*HERE, "-g"), ("./storm", "60")),
    "two_events": (("-c", "300000", "-e", "cpu-clock:u", "-e", "task-clock"), ("./busy", "60")),
}


def script_of(folder, name, options, piped=False):
    if not piped:
        return fresh.our_script(folder, name, options)
    words = ["sh", "-c", 'file=$0 tool=$1; shift; cat "$file" | "$tool" script --raw-names --no-pager "$@" -', name,
             harness.PERFRAY, *options]
    done = fresh.run(words, folder)
    if done.returncode != 0:
        raise Wrong("%s piped: status %d, %s" % (name, done.returncode, fresh.last_line(done)))
    return done.stdout.decode("utf-8", "surrogateescape")


def make_forms(folder, recording):
    """The names of the forms made from the file `recording`."""
    forms = [recording]
    sound = other_forms.Recording(os.path.join(folder, recording))
    for form, make in other_forms.FORMS.items():
        if form != "zstd" or shutil.which("zstd", path=fresh.PATH):
            make(sound, os.path.join(folder, form))
            forms.append(form)
    return forms


def inject(folder, recording):
    """The stream that perf inject makes from a file; it has neither event names nor build-ids."""
    with open(os.path.join(folder, "inject"), "wb") as out:
        done = fresh.run(["perf", "inject", "-i", recording, "-o", "-"], folder, stdout=out)
    if done.returncode != 0:
        raise Skip("perf inject: %s" % fresh.last_line(done))
    return "inject"


def compare_form(folder, form, options, expect, facts=None):
    """Returns how many texts were compared with the result of `expect`."""
    readings = 0
    for piped, jobs in ((False, "-j1"), (False, "-j2"), (False, "-j4"), (True, "-j1")):
        if piped and os.path.isdir(os.path.join(folder, form)):
            continue
        for _ in range(fresh.TRIES):  # recorded programs of other users may be deleted meanwhile
            expected = expect()
            result = fresh.Comparison(expected, script_of(folder, form, (*options, jobs), piped), facts)
            if not result.unexplained or expected == expect():
                break
        result.check("%s%s %s %s" % (form, " piped" if piped else "", " ".join(options), jobs))
        readings += 1
    return readings


def has_ties(folder):
    """Whether two threads have samples with the same time in ns. Such samples are printed in file order, and a folder has several files."""
    times = {}
    for line in fresh.our_script(folder, "perf.data", ("-F", "tid,time", "--ns")).splitlines():
        tid, time = line.split()[:2]
        if times.setdefault(time, tid) != tid:
            return True
    return False


def record_without_ties(folder, options, words):
    """The timers of two CPUs may fire at the same times: then the recording is repeated."""
    for _ in range(10):
        fresh.record(folder, "perf.data", options, words)
        if not has_ties(folder):
            return
    raise Wrong("samples of several threads had one time in each of ten recordings")


def check_forms(folder, options, words):
    fresh.need("perf", "cat")
    name = words[0][2:]
    fresh.build(folder, SOURCES[name], name, "-O1", "-g", "-pthread", "-fno-omit-frame-pointer")
    record_without_ties(folder, options, words)
    forms = make_forms(folder, "perf.data")
    stream = inject(folder, "perf.data")
    figures = []
    for shows in ((), STATE):
        expected = fresh.our_script(folder, "perf.data", shows)
        if expected.count("\n") < 20:
            raise Skip("only %d lines were recorded" % expected.count("\n"))
        readings = sum(compare_form(folder, form, shows, lambda: fresh.our_script(folder, "perf.data", shows)) for form in forms)
        readings += compare_form(folder, stream, shows, lambda: fresh.perf_script(folder, stream, shows), fresh.FACTS)
        figures.append("%d lines %d times" % (expected.count("\n"), readings))
    return "%s: %s" % (" ".join([*forms, stream]), ", ".join(figures))


def check_twins(_):
    """Files of the corpus and their byte-swapped copies, read with --no-symbols, because most come from other machines."""
    root = harness.corpus("perf")
    if not root:
        raise Skip("PERFRAY_CORPUS names no corpus")
    files = corpus_files.list_data_files(os.path.abspath(root))
    pairs = lines = 0
    for data in files:
        twin = corpus_files.reference_source(data, files)
        if not data.big_endian or twin is data:
            continue
        expected, ours = (fresh.our_script(one.folder, one.name, ("--no-symbols", *STATE)) for one in (twin, data))
        fresh.Comparison(expected, ours, None).check(data.label)
        pairs += 1
        lines += expected.count("\n")
    return "%d files, %d lines" % (pairs, lines)


def main(names):
    checks = {name: lambda folder, row=row: check_forms(folder, *row) for name, row in RECORDINGS.items()}
    checks["swapped_twins"] = check_twins
    return fresh.attempt_all("script/forms", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
