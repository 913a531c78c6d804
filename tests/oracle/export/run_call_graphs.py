#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_call_graphs.py - compares perfray graph with llvm-xray graph and graph-diff, and perfray replay with uftrace.

usage: run_call_graphs.py [NAME...]

Requires PERFRAY_CORPUS, which contains the output of llvm-xray-19 (tests/oracle/corpus), llvm-xray-19 for graph-diff, and uftrace with gcc.

    graph     the same edges with their counts and functions with their sums, except for rounding to ns, for each trace that llvm-xray reads
              completely
    diff      the same changes of counts in percent
    replay    a program is built with -pg and traced by uftrace, and built with XRay and traced by perfray: both show the same call tree of
              its functions
"""
import glob
import os
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import Skip, must  # noqa: E402

SOURCE = """
__attribute__((noinline)) int leaf(int n) { return n * 3 + 1; }
__attribute__((noinline)) int middle(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += leaf(i); return sum; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { int sum = 0; for (int i = 1; i < 4; i++) sum += middle(i) + fib(i + 2); return sum & 1; }
"""


def corpus():
    folder = harness.corpus("xray")
    if not folder:
        raise Skip("PERFRAY_CORPUS is not set")
    return folder


def graph_of(text):
    """Returns ({(caller, callee): label}, {name: label}). Functions with the same name are merged."""
    names, edges, vertices = {"F0": ""}, Counter(), Counter()
    for line in text.splitlines():
        vertex = re.match(r'(F\d+) \[label="\{((?:\\.|[^\\|])*)\|([^"}]*)\}"', line)
        if vertex:
            names[vertex[1]] = re.sub(r"\\(.)", r"\1", vertex[2])
            vertices[names[vertex[1]]] += float(vertex[3])
    for one, other, label in re.findall(r'(F\d+) -> (F\d+) \[label="([^"]*)"', text):
        edges[names.get(one, one), names.get(other, other)] += float(label)
    return edges, vertices


def options_for(name, folder):
    if name.startswith("events-repaired"):
        return ["--no-symbols"]  # llvm-xray cannot read the instrumentation map of this file (see instrumentation maps in
                                 # docs/differences.md)
    binary = os.path.join(folder, "bin", "%s.%s" % (name.split(".")[0].split("-")[0], name.rsplit(".", 1)[1]))
    return ["-m", binary, "--no-cache", "--demangle=full"] if os.path.exists(binary) else None


def check_graph(name, folder):
    with open(os.path.join(folder, "out", name + ".graph.dot"), encoding="utf-8", errors="replace") as file:
        wanted = graph_of(file.read())
    done = harness.perfray("graph", "-e", "count", "-v", "sum", *options_for(name, folder), os.path.join(folder, "traces", name))
    must(done.returncode in (0, 4), harness.last_line(done))
    found = graph_of(done.stdout.decode("utf-8"))
    names = {name: cut(name) for edge in found[0] for name in edge}
    edges, vertices = Counter(), Counter()
    for (one, other), count in found[0].items():
        edges[names[one], names[other]] += count
    for vertex, total in found[1].items():
        vertices[names.get(vertex, vertex)] += total
    return wanted, (edges, vertices)


def cut(name):
    """llvm-xray cuts names at 40 characters, and escapes those in DOT as in HTML."""
    return re.sub("[<>&]", lambda found: {"<": "&lt;", ">": "&gt;", "&": "&amp;"}[found[0]], name if len(name) <= 40 else name[:40] + "...")


def only_listed(name, wanted, found):
    """Returns None if the graphs are equal or differ only as docs/differences.md lists, otherwise a description of the difference."""
    if name.startswith("except."):  # graphs-after-exceptions
        wrong = ("thrower(int)", "catcher(int)")  # no function of the program calls like this
        others = {edge: n for edge, n in wanted[0].items() if edge[1] != wrong[1]}
        same = others == {edge: n for edge, n in found[0].items() if edge[1] != wrong[1]}
        return None if same and wrong in wanted[0] and wrong not in found[0] else "not only the catcher's callers differ"
    if name.startswith("unfinished."):  # buffers-written-twice
        same = sum(wanted[0].values()) == sum(found[0].values()) and ("late", "late") in wanted[0] and ("late", "late") not in found[0]
        return None if same else "not only nested copies differ"
    off = [key for key in wanted[1].keys() | found[1].keys() if abs(wanted[1][key] - found[1][key]) > 1e-4 * wanted[1][key] + 1e-6]
    return ("edges: %s" % harness.first_difference(dict(wanted[0]), dict(found[0])) if wanted[0] != found[0] else
            "sums: %s" % off[:3] if off else None)


def check_graphs():
    folder = corpus()
    same, listed = 0, 0
    for path in sorted(glob.glob(os.path.join(folder, "out", "*.graph.dot"))):
        name = os.path.basename(path)[:-len(".graph.dot")]
        with open(path, encoding="utf-8", errors="replace") as file:
            is_graph = file.read().startswith("digraph")
        if not is_graph or not options_for(name, folder) or not os.path.exists(os.path.join(folder, "traces", name)):
            continue
        why = only_listed(name, *check_graph(name, folder))
        must(why is None, "%s: %s" % (name, why))
        listed += name.startswith(("except.", "unfinished."))
        same += not name.startswith(("except.", "unfinished."))
    must(same >= 30 and listed >= 4, "%d graphs are the same, %d differ as listed" % (same, listed))
    return "%d graphs are the same, %d differ as listed" % (same, listed)


def contrast_on_white(color):
    """The contrast as WCAG 2 defines it."""
    linear = lambda part: part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
    red, green, blue = (linear(int(color[i:i + 2], 16) / 255) for i in (0, 2, 4))
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def check_contrast():
    """Every line is visible on white, including the lines for the smallest numbers and for changes."""
    trace = lambda name: os.path.join(corpus(), "traces", name)
    colors = set()
    for more in ([], ["--diff", trace("fib.fdr.19")]):
        done = harness.perfray("graph", "--no-symbols", "--edge-color=count", *more, trace("fib-filtered.fdr.19"))
        colors |= set(re.findall(r'-> F\d+ \[.*?color="#([0-9a-f]{6})"', done.stdout.decode()))
    must(len(colors) >= 3, "only %s" % sorted(colors))
    least = min(colors, key=contrast_on_white)
    must(contrast_on_white(least) >= 3, "#%s has %.2f:1" % (least, contrast_on_white(least)))
    return "%d colours, at least %.2f:1" % (len(colors), contrast_on_white(least))


def check_diff():
    harness.need("llvm-xray-19")
    folder = corpus()
    trace = lambda name: os.path.join(folder, "traces", name)
    binary = os.path.join(folder, "bin", "fib.19")
    theirs = harness.run(["llvm-xray-19", "graph-diff", "--instr-map-1=" + binary, "--instr-map-2=" + binary, "--edge-label=count",
                          "--vertex-label=none", trace("fib.fdr.19"), trace("fib-filtered.fdr.19")])
    ours = harness.perfray("graph", "-e", "count", "-v", "none", "-m", binary, "--no-cache", "--diff", trace("fib.fdr.19"),
                           trace("fib-filtered.fdr.19"))
    changes = lambda text: sorted(re.findall(r'-> F\d+ \[.*?label="([^"]+)%"', text))
    must(theirs.returncode == 0 and ours.returncode == 0, harness.last_line(ours) + harness.last_line(theirs))
    wanted, found = changes(theirs.stdout.decode()), changes(ours.stdout.decode())
    must(wanted and wanted == found, "%s, and %s" % (wanted, found))
    return "%s" % ", ".join(found)


def tree_of(text, own):
    """Returns [(depth, name)] of calls to the program's own functions, and how often each is repeated in a row."""
    calls = []
    for line in text.splitlines():
        call = re.search(r"\] \| ( *)([a-z_]+)\(", line)
        times = re.search(r"\) *;? *x(\d+)$|; x(\d+)$", line)
        if call and call[2] in own:
            calls.append((len(call[1]) // 2, call[2], int((times[1] or times[2]) if times else 1)))
    return calls


def check_replay(folder):
    harness.need("uftrace", "gcc")
    clang = harness.first_of("clang-19", "clang-14")
    with open(os.path.join(folder, "p.c"), "w", encoding="utf-8") as file:
        file.write(SOURCE)
    built = harness.run(["gcc", "-pg", "-O0", "-o", "p.uf", "p.c"], cwd=folder)
    must(built.returncode == 0, harness.last_line(built))
    built = harness.run([clang, "-fxray-instrument", "-fxray-instruction-threshold=1", "-O0", "-o", "p.xray", "p.c"], cwd=folder)
    if built.returncode != 0:
        raise Skip("no program can be built with XRay: %s" % harness.last_line(built))
    done = harness.run(["uftrace", "record", "--no-libcall", "-d", "uf", "./p.uf"], cwd=folder)
    theirs = harness.run(["uftrace", "replay", "--no-merge", "-d", "uf", "--no-pager"], cwd=folder)
    if done.returncode not in (0, 1) or theirs.returncode != 0:
        raise Skip("uftrace cannot trace here: %s" % harness.last_line(done))
    environment = harness.environment(XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic xray_logfile_base=log. verbosity=0")
    environment["XRAY_OPTIONS"] += " xray_naive_log_func_duration_threshold_us=0"
    harness.run(["./p.xray"], cwd=folder, env=environment)
    logs = glob.glob(os.path.join(folder, "log.*"))
    if not logs:
        raise Skip("XRay wrote no trace")
    ours = harness.perfray("replay", "--no-cache", "--each", "-m", os.path.join(folder, "p.xray"), logs[0])
    must(ours.returncode == 0, harness.last_line(ours))
    own = ("leaf", "middle", "fib", "main")
    wanted, found = tree_of(theirs.stdout.decode(), own), tree_of(ours.stdout.decode(), own)
    must(wanted and wanted == found, harness.first_difference(wanted, found))
    return "%d calls" % len(found)


def main(names):
    checks = {"graph": check_graphs, "diff": check_diff, "contrast": check_contrast}
    if not harness.has_command():
        return harness.skip("export/call-graphs", "PERFRAY is not set")
    for name, check in checks.items():
        if not names or name in names:
            harness.attempt("export/call-graphs/" + name, check)
    if not names or "replay" in names:
        with harness.scratch("replay") as folder:
            harness.attempt("export/call-graphs/replay", check_replay, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
