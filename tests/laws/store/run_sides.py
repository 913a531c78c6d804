# SPDX-License-Identifier: Apache-2.0
"""run_sides.py: checks that two expressions over a store compare like two sets of files.

store/flame-diff         the flame graph of two expressions is that of two files; several uploads of a side are drawn
store/diff, store/view   diff of two expressions has the weights of diff of two files; view writes a page
store/view-runs          the changes on the page of two expressions with several uploads are those of diff
store/intervals          diff has the same intervals, or none if the store has too few time slots
store/runs               several uploads of a side are compared like several files: the same values, intervals and verdicts
store/events             an event that some uploads lack: diff and the page name these uploads
store/build-id           an object whose build-id some recordings lack is one object; two builds are two
"""
import csv
import gzip
import io
import json
import os
import re
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import run_store  # noqa: E402


def check_diff(folder):
    store = run_store.new_store(folder, "diff.db")
    base, new = (os.path.join(run_store.RECORDED, name) for name in ("sample-cpu.data", "cpu-clock.data"))
    run_store.push(store, "-l", "version=1", base)
    run_store.push(store, "-l", "version=2", new)
    ours = run_store.text("diff", "--store", store, "--where", "version=1", "--where", "version=2", "--format=csv")
    files = run_store.text("diff", "--no-symbols", "--format=csv", base, new)
    pick = lambda output: sorted(tuple(row[:4]) for row in csv.reader(io.StringIO(output)))  # noqa: E731
    if pick(ours) != pick(files):
        raise harness.Wrong("store\n%s\nfiles\n%s" % (ours[:500], files[:500]))


def diff_of(*arguments):
    """(low, high) of each row of a comparison in CSV, None if they are not known, and its verdicts."""
    rows = list(csv.reader(io.StringIO(run_store.text("diff", "--format=csv", *arguments))))[1:]
    return {tuple(row[:2]): (float(row[5]), float(row[6])) if row[5] else None for row in rows}, {row[8] for row in rows}


def two_sides(folder, name, *options):
    store = run_store.new_store(folder, name)
    paths = [os.path.join(run_store.RECORDED, name) for name in ("zstd-many.data", "killed.data")]
    for number, path in enumerate(paths):
        run_store.push(store, *options, "--at", "@1000000000.001", "-l", "version=%d" % number, path)
    return paths, ("--store", store, "--where", "version=0", "--where", "version=1")


def check_intervals(folder):
    """The bootstrap draws existing slots: intervals equal those of files, and too few slots give no interval."""
    paths, few = two_sides(folder, "few.db")
    intervals, verdicts = diff_of(*few)
    if set(intervals.values()) != {None} or verdicts != {"noise"}:
        raise harness.Wrong("intervals out of one slot: %r" % intervals)
    said = run_store.text("diff", *few)
    if "1 slot of the store\n" not in said or "need at least 8" not in said or "interval not known" not in said:
        raise harness.Wrong(said)
    if json.loads(run_store.text("diff", *few, "--format=json"))["rows"][0]["self"]["low"] is not None:
        raise harness.Wrong("json")
    run_store.text("diff", *few, "--fail-on", "total > +3%", ends=(2,))
    run_store.text("diff", *few, "--fail-on", "total > +3%", "--point", ends=(1,))
    run_store.text("diff", *few, "--per", "second", ends=(2,))
    ours, verdicts = diff_of(*two_sides(folder, "many.db", "--slot", "10ms")[1])
    files, wanted = diff_of("--no-symbols", *paths)
    if verdicts != wanted or ours.keys() != files.keys():
        raise harness.Wrong("%r, not %r" % (ours, files))
    for row, (low, high) in ((row, ends) for row, ends in files.items() if ends): # the total of a single recording has no interval
        if not 0.7 * (high - low) <= ours[row][1] - ours[row][0] <= 1.5 * (high - low):
            raise harness.Wrong("%r: %r, not about %r" % (row, ours[row], (low, high)))


def runs_store(folder, name):
    """A store with three uploads of each of two versions, and the paths of their files."""
    store = run_store.new_store(folder, name)
    sides = [[os.path.join(run_store.RECORDED, name + ".data") for name in names] for names in (("zstd-many", "killed", "cpu-clock"), ("chains", "sample-cpu", "period"))]
    for version, paths in enumerate(sides):
        for number, path in enumerate(paths):
            run_store.push(store, "--at", "@%d" % (1700000000 + number), "-l", "version=%d" % version, path)
    return store, sides


def check_runs(folder):
    store, sides = runs_store(folder, "runs.db")
    wheres = ("--store", store, "--where", "version=0", "--where", "version=1")
    files = ("--no-symbols", "--base", ",".join(sides[0]), "--new", ",".join(sides[1]))
    for options in (("--format=csv",), ("--format=csv", "--by", "object"), ("--format=csv", "--per", "run")):
        ours, wanted = (sorted(run_store.text("diff", *options, *sources).splitlines()) for sources in (wheres, files))
        if ours != wanted or len(ours) < 4:
            raise harness.Wrong("%s: %s" % (" ".join(options), harness.first_difference(ours, wanted)))
    one, three = run_store.text("diff", *wheres[:4], "--where", "version=1 and upload ~ '*'"), run_store.text("diff", *wheres)
    if one.count("recordings") != three.count("recordings"):
        raise harness.Wrong(three)
    done = harness.perfray("diff", *wheres[:3], "version=0 or comm=nobody", *wheres[4:])
    if done.returncode not in (0, 4) or b"3 of 6 uploads have no matching sample" not in done.stderr:
        raise harness.Wrong("%d: %s" % (done.returncode, done.stderr.decode()))
    run_store.text("diff", *wheres[:3], "version=0 and comm=nobody", *wheres[4:], ends=(2,))


def check_flame_diff(folder):
    paths, sides = two_sides(folder, "flame.db")
    titles = lambda svg: sorted(re.findall("<title>([^<]*)", svg))  # noqa: E731
    ours = titles(run_store.text("flame", *sides[:4], "--diff", "version=1", "-o", "-"))
    files = titles(run_store.text("flame", "--no-symbols", paths[0], "--diff", paths[1], "-o", "-"))
    if ours != files or len(ours) < 3:
        raise harness.Wrong("%r, not %r" % (ours, files))
    run_store.text("flame", *sides[:4], "--diff", "version=none", "-o", "-", ends=(2,))
    store = run_store.new_store(folder, "flames.db")
    for number, name in enumerate(("zstd-many", "killed", "chains", "overwrite")):
        run_store.push(store, "-l", "version=%d" % (number % 2), os.path.join(run_store.RECORDED, name + ".data"))
    svg = run_store.text("flame", "--store", store, "--where", "version=1", "--diff", "version=0", "-o", "-")
    first = {}
    for side in (0, 1):
        for line in run_store.text("export", "--format=folded", "--weight", "period", "--store", store, "--where", "version=%d" % side).splitlines():
            stack, weight = line.rsplit(" ", 1)
            first.setdefault(stack.split(";")[1], [0, 0])[side] += int(weight)
    whole = [sum(column) for column in zip(*first.values())]
    wanted = ["%.2f %% → %.2f %%" % tuple(100 * x / y for x, y in zip(weights, whole)) for weights in first.values()]
    harness.must(len(wanted) > 1 and all(shares in svg for shares in wanted), "not all of %r are in the graph" % wanted)


def page_counts(*arguments):
    """The number of rows of each column of a page's data, and its events."""
    data = gzip.decompress(harness.perfray("view", "--data", *arguments, "-o", "-").stdout)
    head = json.loads(data[12:12 + int.from_bytes(data[8:12], "little")])
    return {column["name"]: column["count"] for column in head["columns"]}, head["meta"]["events"]


def check_view(folder):
    store = run_store.new_store(folder, "view.db")
    run_store.push(store, os.path.join(run_store.RECORDED, "chains.data"))
    page = os.path.join(folder, "view.html")
    run_store.text("view", "--store", store, "-o", page)
    if os.path.getsize(page) < 10000:
        raise harness.Wrong("no page")
    paths, sides = two_sides(folder, "pair.db")
    ours, files = page_counts(*sides[:4], "--diff", "version=1"), page_counts("--no-symbols", paths[0], "--diff", paths[1])
    if ours != files or not files[1][1]["baseline"]:
        raise harness.Wrong("%r, not %r" % (ours, files))
    run_store.text("view", *sides[:4], "--diff", "version=none", "-o", page, ends=(2,))


def page_losses(*arguments):
    data = gzip.decompress(harness.perfray("view", "--data", *arguments, "-o", "-").stdout)
    return json.loads(data[12:12 + int.from_bytes(data[8:12], "little")])["meta"]["losses"]


def check_events(folder):
    """two-events and group have cpu-clock and page-faults; the others have cpu-clock:pppH only."""
    store = run_store.new_store(folder, "events.db")
    for number, (version, name) in enumerate((("0", "two-events"), ("0", "sample-cpu"), ("1", "threads"), ("1", "killed"))):
        run_store.push(store, "--at", "@%d" % (1700000000 + number), "-l", "version=" + version, os.path.join(run_store.RECORDED, name + ".data"))
    sides = ("--store", store, "--where", "version=0", "--where", "version=1")
    page = page_losses(*sides[:2], "--where", "version=1", "--diff", "version=0")
    wanted = "no verdicts for page-faults: it is not in 1 of 2 recordings of the base (version=0 #2) and 2 of 2 recordings of the new side (version=1 #1, version=1 #2)"
    harness.must(wanted in page, "losses of the page: %r" % page)
    said = run_store.text("diff", *sides, "--by", "event")
    harness.must("note: page-faults has no samples in 1 of 2 recordings of the base (version=0 #2)" in said, said)
    done = harness.perfray("diff", *sides, "-e", "page-faults")
    harness.must(done.returncode == 2 and b"version=0 #2 has no event page-faults" in done.stderr, "%d %r" % (done.returncode, done.stderr))
    harness.must("page-faults" not in run_store.text("diff", *sides), "diff of the first event")
    run_store.push(store, "--at", "@1700000009", "-l", "version=2", os.path.join(run_store.RECORDED, "group.data"))
    page = page_losses(*sides[:2], "--where", "version=2", "--diff", "version=1")
    harness.must(sum("verdicts compare the first event of each recording" in loss for loss in page) == 1, "losses of the page: %r" % page)


def page_columns(*arguments):
    """The columns and the texts of a page's data."""
    data = gzip.decompress(harness.perfray("view", "--data", *arguments, "-o", "-").stdout)
    at, columns = 12 + int.from_bytes(data[8:12], "little"), {}
    for column in json.loads(data[12:at])["columns"]:
        count, width = column["count"], column["width"]
        planes, at = data[at:at + count * width], at + count * width
        columns[column["name"]] = [sum(planes[plane * count + i] << 8 * plane for plane in range(width)) for i in range(count)]
    ends, texts = columns["string.end"], bytes(columns["string.bytes"])
    return columns, [texts[begin:end].decode() for begin, end in zip([0, *ends], ends)]


VERDICTS = ("noise", "slower", "faster", "new", "gone")


def page_changes(*arguments):
    """Change with callees, interval and verdict of each function of a page: as in the rows of diff --format=csv --children."""
    columns, texts = page_columns(*arguments)
    number = lambda value: (value // 2 if value % 2 == 0 else -(value // 2) - 1) / 1e6  # noqa: E731
    names, changes = [texts[id] for id in columns["func.name"]] + ["[total]"], {}
    for func, delta, low, high, verdict in list(zip(*(columns["change." + name] for name in ("func", "delta", "low", "high", "verdict"))))[1::2]:
        changes[names[func]] = (VERDICTS[verdict & 7], number(delta), *((number(low), number(high)) if verdict & 8 else ()))
    return changes


def name_on_page(symbol, object):
    return symbol if symbol != "[unknown]" else object if object.startswith("[") else "[%s]" % object


def check_view_runs(folder):
    store, _ = runs_store(folder, "page.db")
    rows = list(csv.reader(io.StringIO(run_store.text("diff", "--store", store, "--where", "version=0", "--where", "version=1", "--format=csv", "--children"))))[1:]
    wanted = {name_on_page(*row[:2]): (row[8], float(row[4]), *map(float, filter(None, row[5:7]))) for row in rows}
    made = page_changes("--store", store, "--where", "version=1", "--diff", "version=0")
    harness.must(made.keys() == wanted.keys() and len(made) > 3, "%r, not %r" % (sorted(made), sorted(wanted)))
    wrong = [(name, made[name], row) for name, row in wanted.items()
             if made[name][0] != row[0] or len(made[name]) != len(row) or any(abs(x - y) > 2e-6 for x, y in zip(made[name][1:], row[1:]))]
    harness.must(not wrong, "page, diff: %r" % wrong[:3])
    harness.must(all(len(row) == 4 for row in wanted.values()), "no intervals: %r" % wanted)
    return "%d functions" % len(wanted)


def add_twin(store, build_id):
    """Adds to each stack of `busy` a copy whose frames are in an object that differs only in its build-id."""
    with sqlite3.connect(store) as db:
        (busy,) = db.execute("SELECT object FROM object WHERE name = 'busy'").fetchone()
        mine = {frame for (frame,) in db.execute("SELECT frame FROM frame WHERE object = ?", (busy,))}
        db.execute("INSERT INTO object SELECT object + 1, path, name, ?, kind, listed, pid FROM object WHERE object = ?", (build_id, busy))
        db.execute("INSERT INTO frame SELECT frame + 1, object + 1, name, address, ip, size, mode, named, inlined FROM frame WHERE object = ?", (busy,))
        for stack, leaf, apart, frames in db.execute("SELECT stack, leaf, apart, frames FROM stack").fetchall():
            chain = [frame + (frame in mine) for (frame,) in struct.iter_unpack("<q", frames)]
            if mine & {frame for (frame,) in struct.iter_unpack("<q", frames)}:
                db.execute("INSERT INTO stack VALUES (?, ?, ?, ?)", (stack + 1, leaf + (leaf in mine), apart, struct.pack("<%dq" % len(chain), *chain)))
                db.execute("INSERT INTO sample SELECT day, upload, time, event, comm, stack + 1, n, weight FROM sample WHERE stack = ?", (stack,))


def check_build_id(folder):
    """perf stores the build-ids of objects with samples only, so recordings of the same objects may differ in them."""
    sizes = []
    for build_id in (None, "", "cd" * 20):
        store = run_store.new_store(folder, "ids-%d.db" % len(sizes))
        run_store.text("store", "push", "--store", store, "--symfs", os.path.join(run_store.RECORDED, "demo-root"), os.path.join(run_store.RECORDED, "demo.data"))
        if build_id is not None:
            add_twin(store, build_id)
        sizes.append(len(run_store.text("report", "-q", "-g", "caller,0", "--no-children", "-s", "dso", "--store", store).split("\n")))
    harness.must(sizes[0] == sizes[1] < sizes[2], "lines of the tree: %r" % sizes)
    return "%d lines, with another build %d" % (sizes[1], sizes[2])


def main():
    with harness.scratch("sides") as folder:
        for check in (check_diff, check_intervals, check_runs, check_flame_diff, check_view, check_view_runs, check_events, check_build_id):
            harness.attempt("store/" + check.__name__[6:].replace("_", "-"), check, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
