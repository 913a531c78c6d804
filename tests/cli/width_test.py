#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables on pseudo terminals of fixed width, of a traced C++ program with long names.

width/report-80      no row of the table is wider than the terminal; names are cut in the middle
width/latency-80     the same; a message names the columns that are left out
width/hierarchy-80   report --hierarchy: the same for its indented names
width/diff-80        diff and its call tree: the same, and the lines of the head are wrapped; a file gets whole lines
width/store-80       store list is a table in which ids are whole, and a message names the columns that are left out
width/formats-80     export --format=list
width/wide           a wide terminal shows all columns and complete names
width/folded         a terminal shows template arguments folded; --demangle=full shows them
width/filter         a filter by name matches whole names on a terminal too
width/file           a file gets complete names and all columns
width/less           the pager's less chops long lines ($LESS is FRSX)
"""
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

PERFRAY = os.environ["PERFRAY"]
TIME_LIMIT_SECONDS = 60
PROGRAM = """
#include <map>
#include <string>
namespace shop {
template <class Key, class Value> struct Store {
    std::map<Key, Value> all;
    Value &find_or_create_the_value_of_a_key(const Key &key) { return all[key]; }
};
}
int main() {
    shop::Store<std::string, std::map<int, std::string>> store;
    return (int)store.find_or_create_the_value_of_a_key("a").size();
}
"""
WHOLE = "shop::Store<std::__cxx11::basic_string<char"
FOLDED = "shop::Store<\u2026>::find_or_create_the_value_of_a_key"


def on_terminal(columns, arguments, rows=5000, **environment):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with subprocess.Popen([PERFRAY, *arguments], stdout=slave, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1", **environment}) as child:
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        child.wait(TIME_LIMIT_SECONDS)
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def in_file(arguments):
    return subprocess.run([PERFRAY, *arguments], capture_output=True, timeout=TIME_LIMIT_SECONDS, check=True).stdout.decode()


def wider(text, columns):
    for line in text.split("\n"):
        if len(line) > columns:
            yield f"{len(line)} columns: {line}"


def check_report(trace):
    shown = on_terminal(80, ["report", "-g", "none", trace])
    yield from wider(shown, 80)
    if "\u2026" not in shown or "main" not in shown:
        yield f"nothing is cut: {shown}"


def check_latency(trace):
    shown = on_terminal(80, ["latency", trace])
    yield from wider(shown, 80)
    if "# columns omitted: p95, p99.9, p90, Min; --format=csv prints all\n" not in shown:
        yield f"columns that are left out are not named: {shown}"
    if " p50 " not in shown or " p99 " not in shown or " Max " not in shown:
        yield f"columns are missing: {shown}"


def check_hierarchy(trace):
    shown = on_terminal(80, ["report", "-g", "none", "--hierarchy", trace])
    yield from wider(shown, 80)
    if "\u2026" not in shown or "Shared Object / Symbol" not in shown:
        yield f"nothing is cut: {shown}"


def check_diff(trace):
    shown, text = on_terminal(80, ["diff", "--tree", trace, trace]), in_file(["diff", "--tree", trace, trace])
    yield from wider(shown.replace(trace, "trace"), 80)
    if "# columns omitted: q, callees, new; --format=csv prints all\n" not in shown or "\u2026" not in shown:
        yield f"no column is left out, or no name is cut: {shown}"
    if " callees " not in text or "\u2026" in text or "omitted" in text or not list(wider(text, 100)):
        yield f"the file is cut: {text}"
    wide = on_terminal(5000, ["diff", "--tree", trace, trace])
    head = wide.split("\n#   base")[0]
    if head != text.split("\n#   base")[0] or "omitted" in wide:
        yield f"a wide terminal does not get all: {wide}"


def check_store(trace):
    url = str(Path(trace).parent / "store.db")
    in_file(["store", "init", "--store", url])
    in_file(["store", "push", "--store", url, "-l", "service=" + "long" * 20, "-l", "version=1", "--no-symbols", trace])
    heading, row = (line.split("\t") for line in in_file(["store", "list", "--store", url]).splitlines())
    shown = on_terminal(80, ["store", "list", "--store", url])
    yield from wider(shown, 80)
    if row[0] not in shown or "long\u2026long" not in shown or "# omitted: slot_ms" not in shown:
        yield f"id, label or message is missing: {shown}"
    wide = on_terminal(500, ["store", "list", "--store", url])
    if wide.split() != [*heading, *(cell for cell in row if cell)]:
        yield f"a wide terminal does not get all: {wide}"


def check_formats(_trace):
    shown = on_terminal(80, ["export", "--format=list"])
    yield from wider(shown, 80)
    words = in_file(["export", "--format=list"]).replace("\t", " ").split()
    if any(word not in shown for word in words):
        yield f"words are missing: {shown}"


def check_wide(trace):
    shown = on_terminal(250, ["latency", trace])
    if "not shown" in shown or "p99.9" not in shown or FOLDED not in shown:
        yield f"not all is shown: {shown}"


def check_folded(trace):
    for command in (["report", "-g", "none"], ["latency"]):
        folded, full = (on_terminal(5000, [*command, *how, trace]) for how in ([], ["--demangle=full"]))
        if FOLDED not in folded or WHOLE in folded or "__cxx11" in folded:
            yield f"not folded: {folded}"
        if WHOLE not in full:
            yield f"not full: {full}"
        bare = on_terminal(5000, [*command, "--demangle=simple", trace])
        if "shop::Store::find_or_create_the_value_of_a_key\n" not in bare.replace(" \n", "\n"):
            yield f"not simple: {bare}"


def check_filter(trace):
    if WHOLE not in on_terminal(5000, ["report", "-g", "none", "--symbol-filter", "basic_string<char", trace]):
        yield "a report by a whole name is empty"
    if WHOLE not in on_terminal(5000, ["latency", "--function", "shop::*basic_string<char*", trace]):
        yield "a table by a whole name is empty"


def check_file(trace):
    for command in (["report", "-g", "none"], ["latency"]):
        text = in_file([*command, trace])
        if WHOLE not in text or "\u2026" in text or "omitted" in text:
            yield f"{command}: {text}"


def check_less(trace):
    with tempfile.TemporaryDirectory(prefix="perfray-less-") as folder:
        options_file = Path(folder) / "LESS"
        environment = {"PAGER": f"printf %s \"$LESS\" >'{options_file}'; cat >/dev/null"}
        os.environ.pop("LESS", None)
        on_terminal(80, ["report", trace], rows=3, **environment)
        if not options_file.exists() or options_file.read_text() != "FRSX":
            yield f"LESS is {options_file.read_text() if options_file.exists() else None}"


def make_trace(folder):
    source, program, trace = (str(Path(folder) / name) for name in ("store.cc", "store", "store.xray"))
    Path(source).write_text(PROGRAM)
    subprocess.run(["g++", "-g", "-finstrument-functions", "-o", program, source], check=True)
    subprocess.run([PERFRAY, "trace", "-q", "-o", trace, program], check=False, stderr=subprocess.DEVNULL,
                   timeout=TIME_LIMIT_SECONDS)
    return trace


def main():
    if not shutil.which("g++"):
        print("skip width g++ is not installed")
        return 77
    failed = False
    with tempfile.TemporaryDirectory(prefix="perfray-width-") as folder:
        trace = make_trace(folder)
        checks = {"report-80": check_report, "latency-80": check_latency, "hierarchy-80": check_hierarchy,
                  "diff-80": check_diff, "store-80": check_store, "formats-80": check_formats, "wide": check_wide,
                  "folded": check_folded, "filter": check_filter, "file": check_file, "less": check_less}
        for name, check in checks.items():
            findings = list(check(trace))
            for finding in findings:
                print("   ", finding)
            print("not ok" if findings else "ok", f"width/{name}", flush=True)
            failed = failed or bool(findings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
