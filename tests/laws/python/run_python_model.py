#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the model of the Python package agrees with the command, and that it uses the library's memory.

python/flat         flat() is report --format=json to the digit, functions() is report --children, on fixtures and the corpus
python/light        flat() imports only what it needs
python/latency      latency() is latency --format=json
python/marks        marks have the values that a program logged, and are those of sql
python/every        every call of exercise.py runs on every recording and trace; all exceptions are errors of the library
python/copies       columns are views of the library's memory, read-only, and outlive close(); batches are the cursor's
python/arrow        the Arrow C data interface: values, memory, release
python/refused      wrong arguments raise exceptions with the library's message; SQL cannot write
python/damage       damage causes a warning, and is in losses and holes
python/threads      threads share a model; closing a model that a cursor uses does not crash the process
python/release      models, cursors and views are released by the garbage collector, in any order, and at the end of the process
python/streams      a recording on standard input, or in a FIFO, has the same rows
python/record       record() writes a file, streams records, and returns its results
"""
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import warnings
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import xray_files  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
RECORDED, XRAY = os.path.join(harness.FIXTURES, "recorded"), os.path.join(harness.FIXTURES, "xray")
CHAINS, TRACE = os.path.join(RECORDED, "chains.data"), os.path.join(XRAY, "fdr-v5.xray")
EACH = 1 if harness.LONG else 6
SIZE_MOST = 4 << 20


def inputs():
    """The fixtures, and every sixth file of the corpus."""
    folders = [RECORDED, XRAY]
    corpus = ["perf/recorded", "perf/quipper", "perf/other", "perf/bigendian", "perf/simpleperf", "xray/traces", "xray/synth"]
    folders += filter(None, (harness.corpus(*part.split("/")) for part in corpus))
    for folder in folders:
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if not name.endswith((".txt", ".md", ".tsv", ".zst"))]
        paths = [path for path in paths if os.path.isfile(path) and os.path.getsize(path) < SIZE_MOST]
        yield from paths if folder in (RECORDED, XRAY) else paths[::EACH]


def opened():
    """(path, model) of every input from which a model can be made."""
    for path in inputs():
        try:
            with perfray.open_model(path) as model:
                yield path, model
        except perfray.Error:
            continue


def document(verb, path, *words):
    done = harness.perfray(verb, "--format=json", *words, "-i" if verb == "report" else "--", path)
    return json.loads(done.stdout) if done.returncode in (0, 4) else None


# --- Equality

def is_traced(model):
    return any(event.is_traced for event in model.events)


def rows_of_report(printed):
    return Counter((event["name"], row.get("comm"), row["dso"], row["sym"], row["weight"], row["samples"], float(row["percent"]))
                   for event in printed["events"] for row in event["rows"])


def differ(theirs, ours):
    return "" if theirs == ours else "command %s, Python %s" % (list((theirs - ours).items())[:3], list((ours - theirs).items())[:3])


def check_children(model, path):
    printed = document("report", path, "--children", "--no-branch-stack", "--sort", "dso,sym", "-g", "none")
    theirs, ours = Counter(), Counter()
    for event in printed["events"]:
        for row in event["rows"]:
            if row["sym"][4:6] != "0x":
                theirs[event["name"], row["dso"], row["sym"][4:]] += row["weight"]
    for event in model.events:
        for row in model.functions(event):
            if row.symbol[:2] != "0x":
                ours[event.name, row.object, row.symbol] += row.weight
    return differ(+theirs, +ours)


def check_flat():
    files, wrong = 0, []
    for path, model in opened():
        printed = document("report", path, "--no-branch-stack", "--sort", "dso,sym" if is_traced(model) else "comm,dso,sym")
        if printed is None:
            continue
        files += 1
        ours = Counter((row.event, row.comm, row.object, "[%s] %s" % (row.mode, row.symbol), row.weight, row.samples, row.percent)
                       for row in model.flat())
        alone = Counter(perfray.flat(path)) if files % 3 == 0 else Counter(model.flat())
        problem = differ(rows_of_report(printed), ours) or differ(alone, Counter(model.flat())) or ("" if is_traced(model) or files % 3 else check_children(model, path))
        wrong += ["%s: %s" % (path, problem)] if problem else []
    harness.must(not wrong and files > 40, "\n".join(wrong[:harness.SHOWN]) or "%d files" % files)
    return "%d files" % files


SLOW_IMPORTS = ("numpy", "pandas", "tempfile", "shutil", "lzma", "html", "subprocess")
LIGHT = "import gc, sys, perfray; perfray.flat(sys.argv[1]); print(gc.isenabled(), *(name for name in %r if name in sys.modules))" % (SLOW_IMPORTS,)


def check_light():
    """flat() is for small recordings too: it imports only what it needs, and leaves the garbage collector on."""
    done = subprocess.run([sys.executable, "-c", LIGHT, CHAINS], env=dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(perfray.__file__))),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    harness.must(done.stdout.decode().split() == ["True"], done.stdout.decode() + done.stderr.decode())


def row_of_latency(row, asked):
    found = {key: getattr(row, key) for key in asked if key != "histogram"}
    if "histogram" in asked:
        found["histogram"] = [{"from": one.start, "to": one.end, "count": one.count} for one in row.histogram]
    return found


def check_latency():
    files, wrong = 0, []
    for path, model in opened():
        for by in ("function", "caller", "thread") if is_traced(model) else ():
            printed = document("latency", path, "--by=" + by, "--histogram")
            ours = model.latency(by=by, histogram=True)
            files += 1
            if [row_of_latency(row, asked) for row, asked in zip(ours, printed["rows"])] != printed["rows"] or len(ours) != len(printed["rows"]):
                wrong.append("%s by %s" % (path, by))
            facts = ("unit", "calls", "open", "lone", "backward", "left_out", "notes")
            if [getattr(ours, fact) for fact in facts] != [printed[fact] for fact in facts]:
                wrong.append("%s: other facts" % path)
    harness.must(not wrong and files > 20, "\n".join(wrong) or "%d tables" % files)
    return "%d tables" % files


# Payloads of logged events, and the text that Python shows.
PAYLOADS = ((b"begin request 17", "begin request 17"), (b"C string\0", "C string"), (b"two\nlines", "two\\x0alines"), (b"a\0b", None), (b"", None),
            ("\u00e4 \u202e".encode(), "\u00e4 \\xe2\\x80\\xae"), (b"</script><b>", "</script><b>"))


def logged_trace():
    """Every payload as a custom and as a typed event, ten ticks after the other."""
    trace, steps = xray_files.Fdr(5), [("call", 0, 1, 1500)]
    for i, (data, _) in enumerate(PAYLOADS):
        steps += [("custom", 2000 + 20 * i, data), ("typed", 2010 + 20 * i, 65530 + i % 6, data)]
    return trace.header() + trace.buffer(201, 5, 3, 1500, steps)


def check_logged(path):
    with perfray.open_model(path) as model:
        thread = next(id for id in range(1, len(model.threads) + 1) if model.threads[id].tid == 201)
        made = [(mark.kind, mark.count, mark.text, mark.type, mark.thread, mark.cpu, mark.event) for mark in model.marks]
        times = [mark.time - model.marks[0].time for mark in model.marks]
    wanted = [(kind, len(data), text, type, thread, 3, 0) for i, (data, text) in enumerate(PAYLOADS)
              for kind, type in (("custom", 0), ("typed", 65530 + i % 6))]
    harness.must(made == wanted and times == [10 * i for i in range(len(wanted))], "%s at %s, wanted %s" % (made, times, wanted))


def check_marks():
    """Marks have the values that were logged, and those of sql."""
    files = 0
    with harness.scratch("marks") as folder:
        path = os.path.join(folder, "logged.xray")
        with open(path, "wb") as file:
            file.write(logged_trace())
        check_logged(path)
    for path, model in opened():
        rows = [(mark.time, mark.kind, mark.count, mark.cpu, mark.thread or None, mark.event or None, mark.offset, mark.text,
                 mark.type if mark.kind == "typed" else None) for mark in model.marks]
        ours = [tuple(row) for row in model.sql("SELECT ts, kind, count, cpu, thread_id, event_id, offset, text, type FROM mark ORDER BY id")]
        harness.must(rows == ours, "%s: %s, sql %s" % (path, rows[:3], ours[:3]))
        files += bool(rows)
    harness.must(files > 10, "%d files have marks" % files)
    return "%d files with marks" % files


def check_every():
    import exercise
    files = 0
    for path in inputs():
        try:
            exercise.ask(path, columns=exercise.KEPT)
            files += 1
        except perfray.Error as error:
            harness.must(error.status in ("format", "damage") and str(error), "%s: %s" % (path, error))
        except AssertionError as error:
            raise harness.Wrong("%s: %s at line %d" % (path, error, error.__traceback__.tb_next.tb_next.tb_lineno)) from error
    return "%d files" % files


# --- Memory

def address(column):
    return numpy.asarray(column).__array_interface__["data"][0]


def place_of_column(model, name):
    raw = perfray._library.structs["pfr_column"]()
    perfray._library.library.pfr_model_column(model._handle.pointer, 1 << perfray._model._KEPT.index(name), ctypes.byref(raw))
    return raw.at


def check_copies():
    model = perfray.open_model(CHAINS, columns=["time", "weight", "mode"])
    for name in ("time", "weight", "mode", "stack"):
        column = model.columns[name]
        harness.must(address(column) == place_of_column(model, name) and column.readonly, "%s is a copy" % name)
        harness.must(not model.columns.to_numpy(name).flags.writeable, "%s can be written" % name)
    table = ctypes.cast(perfray._library.library.pfr_model_stacks(model._handle.pointer), ctypes.c_void_p).value
    offsets = {"parent": 0, "frame": 4, "symbol": 8, "depth": 12, "is_outer": 14, "is_apart": 15}
    for name, column in model.stacks.columns().items():
        harness.must(address(column) == table + offsets[name] and numpy.asarray(column).strides == (16,), "stacks.%s is a copy" % name)
    frame = model.columns.to_pandas()
    harness.must(address(frame["time"]) == address(model.columns["time"]), "the frame is a copy")
    batches = model.samples().batches()
    batch = next(batches)
    harness.must(address(batch["time"]) != address(model.columns["time"]) and list(batch["time"]) == list(model.columns["time"]), "batch")
    kept = [model.columns["time"], batch["weight"], model.stacks.columns()["symbol"], frame]
    before = [list(view) for view in kept[:3]]
    model.close()
    del model, batches, batch
    gc.collect()
    harness.must([list(view) for view in kept[:3]] == before, "views changed after close()")


def check_arrow():
    import arrow_reader
    from perfray import _arrow
    model = perfray.open_model(CHAINS, columns=["time"])
    for columns in (model.columns, model.samples().columns(), model.stacks.columns()):
        batch = arrow_reader.Batch(columns)
        for name, at, values in batch.columns():
            harness.must(values == columns[name].tolist(), "%s has other values" % name)
            harness.must(not columns[name].contiguous or at == address(columns[name]), "%s is a copy" % name)
        harness.must(_arrow._held and batch.release() and not _arrow._held, "structs are held after their release")
    del batch
    harness.must(len(list(arrow_reader.Batch(model.columns).columns())) == 2, "columns")
    gc.collect()
    harness.must(not _arrow._held and not _arrow._roots, "a capsule that nobody took is held")


# --- Refusals

def refusal(call, kinds):
    try:
        return "no exception, but %r" % (call(),)
    except kinds as error:
        return "" if str(error) else "%r has no words" % error


def check_refused():
    model = perfray.open_model(CHAINS)
    cases = [(lambda: perfray.open_model("/nowhere/perf.data"), perfray.Error), (lambda: perfray.open_model("a\0b"), ValueError),
             (lambda: perfray.open_model(__file__), perfray.Error), (lambda: perfray.open_model(CHAINS, columns=["tim"]), ValueError),
             (lambda: perfray.open_model(CHAINS, symfz="/"), TypeError), (lambda: perfray.open_model(CHAINS, limits={"mem": 1}), TypeError),
             (lambda: perfray.open_model(CHAINS, limits={"memory": 1000}), perfray.Error),
             (lambda: perfray.open_model(CHAINS, beside=CHAINS), perfray.Error), (lambda: perfray.open_model(CHAINS, templates="x"), ValueError),
             (lambda: model.samples(thread=99), perfray.Error), (lambda: model.samples(event="none"), ValueError),
             (lambda: model.samples(records=True, in_time_order=True), perfray.Error), (lambda: model.latency(), perfray.Error),
             (lambda: model.latency(by="x"), ValueError), (lambda: model.latency(size=3), TypeError), (lambda: model.callers("no_such"), KeyError),
             (lambda: model.calls(function=99999), perfray.Error), (lambda: model.stacks[0], IndexError), (lambda: model.columns["time"], KeyError),
             (lambda: perfray.open_model(TRACE).latency(time="x"), perfray.Error), (lambda: model.sql("SELECT :x", x=b"a"), TypeError),
             (lambda: perfray.record(["true"], outputs="x"), TypeError), (lambda: perfray.record(["true"], chains="x", output="x").run(), ValueError)]
    for query in ("DELETE FROM sample", "CREATE TABLE x(a)", "ATTACH 'x.db' AS x", "SELECT load_extension('x')", "VACUUM INTO 'x.db'",
                  "PRAGMA journal_mode=DELETE", "SELECT * FROM nothing", "SELECT :unbound", "SELECT readfile('/etc/passwd')"):
        cases.append((lambda query=query: model.sql(query), perfray.Error))
    wrong = ["case %d: %s" % (number, problem) for number, problem in enumerate(refusal(*case) for case in cases) if problem]
    model.close()
    wrong += [problem for problem in (refusal(call, ValueError) for call in (model.flat, model.samples, lambda: model.stacks, lambda: model.quality,
                                                                            lambda: model.sql("SELECT 1"), model.tree)) if problem]
    harness.must(not wrong, "\n".join(wrong))
    return "%d cases" % (len(cases) + 6)


def check_damage():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = perfray.open_model(os.path.join(RECORDED, "killed.data"))
    with harness.scratch("python") as folder:
        cut = os.path.join(folder, "cut.data")
        with open(CHAINS, "rb") as file, open(cut, "wb") as to:
            to.write(file.read()[:4000])
        with warnings.catch_warnings(record=True) as cut_heard:
            warnings.simplefilter("always")
            damaged = perfray.open_model(cut)
    harness.must(model.losses.get("unfinished") == 1, "killed.data: %s" % model.losses)
    harness.must([one.category for one in cut_heard] == [perfray.DamageWarning], "a cut file: %s, %s" % (cut_heard, damaged.losses))
    harness.must(damaged.holes and damaged.holes[0].text and damaged.losses["holes"] >= len(damaged.holes), "%s %s" % (damaged.holes, damaged.losses))
    harness.must("holes=" in damaged._repr_html_() and not perfray.open_model(CHAINS).losses and not heard, "losses are not shown")


# --- Threads, streams, recording

def check_threads():
    model, problems = perfray.open_model(CHAINS), []
    expected = model.samples(in_time_order=True).columns()["time"].tolist()

    def work():
        for _ in range(20):
            if model.samples(in_time_order=True).columns()["time"].tolist() != expected or len(model.flat()) == 0:
                problems.append("another answer in a thread")
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    cursor = iter(model.samples())
    first = next(cursor)
    shared = [threading.Thread(target=lambda: problems.extend(() for _ in model.samples().batches())) for _ in range(2)]
    for worker in shared:
        worker.start()
    model.close()
    for worker in shared:
        worker.join()
    rest = list(cursor)
    harness.must(first.id == 1 and len(rest) == len(expected) - 1, "a cursor of a closed model")
    harness.must(not [one for one in problems if one], problems[:1])


CYCLES = """
import gc, sys, perfray
def cycle(path):
    model = perfray.open_model(path)
    model.itself = model
    return [model.samples(), iter(model.calls()), model.tree(), model.flat(), model.stacks.columns(), model.columns][number]
for number in range(6):
    kept = cycle(sys.argv[1])
    gc.collect()
    list(getattr(kept, "children", kept))
    del kept
    gc.collect()
model = perfray.open_model(sys.argv[1])
model.itself, model.cursor = model, iter(model.samples())
next(model.cursor)
"""


def check_release():
    for path in (CHAINS, TRACE):
        done = harness.run([sys.executable, "-X", "faulthandler", "-c", CYCLES.replace("next(", "next(iter(()), " if path == TRACE else "next("), path],
                           env=dict(os.environ, PYTHONPATH=os.path.join(harness.ROOT, "bindings", "python"), MALLOC_PERTURB_="165"))
        harness.must(done.returncode == 0 and not done.stderr, done.stderr.decode()[-1000:])


STREAM = "import perfray; m = perfray.open_model('-'); print(len(m.flat()), m.sql('SELECT count(*) FROM record')[0][0], m.sample_count)"


def check_streams():
    def ask(path, script=STREAM):
        with open(path, "rb") as file:
            done = subprocess.run([sys.executable, "-c", script], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                  timeout=harness.SECONDS, env=dict(os.environ, PYTHONPATH=os.path.join(harness.ROOT, "bindings", "python")))
        return done.stdout.decode() + done.stderr.decode()
    plain = ask(os.devnull, STREAM.replace("'-'", repr(CHAINS)))
    harness.must(ask(CHAINS) == plain and len(plain.split()) == 3, "%s, from a stream %s" % (plain, ask(CHAINS)))
    harness.must(len(ask(os.path.join(RECORDED, "pipe.data")).split()) == 3, ask(os.path.join(RECORDED, "pipe.data")))
    with harness.scratch("python") as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        with subprocess.Popen(["sh", "-c", "cat '%s' > '%s'" % (CHAINS, fifo)]):
            rows = perfray.open_model(fifo).flat()
        harness.must(rows == perfray.open_model(CHAINS).flat(), "a FIFO has other rows")


def check_record():
    with harness.scratch("python") as folder:
        path = os.path.join(folder, "x.data")
        recorder = perfray.record(["sh", "-c", "exit 3"], output=path, chains="fp")
        try:
            result = recorder.run()
        except perfray.Error as error:
            if error.status == "permission":
                raise harness.Skip(str(error)) from None
            raise
        harness.must(result.status == 3 and result.bytes > 0 and recorder.result == result, "%s" % (result,))
        with perfray.record(self=True, output=path) as recorder:
            sum(number * number for number in range(2000000))
        own = perfray.open_model(path)
        harness.must(own.sample_count == recorder.result.samples > 0, "%d samples, %s" % (own.sample_count, recorder.result))
    stream = perfray.record(["sh", "-c", "sleep 0.2; exit 5"])
    names = Counter(record.name for record in stream)
    harness.must(names["comm"] and names["exit"] and stream.result.status == 5, "a stream: %s, %s" % (names, stream.result))
    for record in perfray.record(["sleep", "60"]):
        break  # ends the recorder
    harness.must("no_such_program" in refusal_text(lambda: list(perfray.record(["no_such_program"]))), "a program that does not exist")
    del record


def refusal_text(call):
    try:
        return "no exception: %r" % (call(),)
    except perfray.Error as error:
        return str(error)


def main():
    if not harness.has_command() or not os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
        return harness.skip("python/model", "PERFRAY or PERFRAY_LIBRARY is not set")
    warnings.simplefilter("ignore", perfray.DamageWarning)
    for name, check in (("flat", check_flat), ("light", check_light), ("latency", check_latency), ("marks", check_marks), ("every", check_every), ("arrow", check_arrow),
                        ("refused", check_refused), ("damage", check_damage), ("threads", check_threads), ("release", check_release), ("streams", check_streams),
                        ("record", check_record)):
        harness.attempt("python/" + name, check)
    if numpy:
        harness.attempt("python/copies", check_copies)
    else:
        harness.skip("python/copies", "numpy and pandas are not installed")
    return harness.status()


sys.path.insert(0, os.path.join(harness.ROOT, "bindings", "python"))
if os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
    import perfray  # noqa: E402
    import perfray._library  # noqa: E402
    import perfray._model  # noqa: E402
try:
    import numpy
    import pandas  # noqa: F401
except ImportError:
    numpy = None

if __name__ == "__main__":
    sys.exit(main())
