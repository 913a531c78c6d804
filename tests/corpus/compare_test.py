#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Unit tests of the comparer: a tiny corpus of its own, played back as if perfray had printed it, whole and changed."""
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest

import compare
import corpus_files
import dump_form
import quipper_form
import replay
import rules
import text_forms

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "compare.py")
DUMP = """# header
#

0x108@a.data [0x28]: event: 3

0 0x108 [0x28]: PERF_RECORD_COMM: work:8/8

0x130@a.data [0x28]: event: 9
.  0000:  09 00
7 0x130 [0x28]: PERF_RECORD_SAMPLE(IP, 0x2): 8/8: 0x55 period: 1 addr: 0
... FP chain: nr:1
.....  0: 0000000000000055
 ... thread: work:8
 ...... dso: /work

0x158@a.data [0x10]: event: 74

0 0x158 [0x10]: PERF_RECORD_CPU_MAP: 0-1
: unhandled!

Aggregated stats:
           TOTAL events:          3
"""
STATS = "\nAggregated stats:\n           TOTAL events:          2\n          SAMPLE events:          1  (50.0%)\n"
REPORT = ("# Overhead  Command  Shared Object\n# ........  .......  .............\n#\n"
          "    60.00%  work     /a\n    20.00%  perf-ex  b\n    20.00%  work     c\n")
GOLDEN = """file_attrs {
  attr {
    type: 1
  }
}
events {
  header {
    type: 3
    misc: 0
    size: 64
  }
  timestamp: 5
  comm_event {
    pid: 4294967295
    tid: 8
    comm: "w\\303\\266rk"
    comm_md5_prefix: 42
    sample_info {
      pid: 8
      tid: 8
      sample_time_ns: 18446744041015200657
    }
  }
}
"""
OURS = '{"offset":264,"type":3,"name":"comm","misc":0,"size":64,"fields":{"pid":-1,"tid":8,"comm":"w\u00f6rk"},' \
    '"id":{"pid":8,"tid":8,"time":"18446744041015200657","cpu":0}}'

OUTPUTS = {"header": "# captured on    : now\n# data offset    : 264\n", "evlist": "a: sample_type: IP\n",
           "buildid": "12 /a\n", "stats": STATS, "dump": DUMP, "report": REPORT, "pb_text": GOLDEN}


def judge(output, reference, ours, complete=True, unfinished=False):
    data = corpus_files.DataFile("a/a.data", "a", "a.data", False, unfinished=unfinished)
    return compare.compare_texts("a/a.data", output, corpus_files.Reference(reference, complete), ours, data)


class Comparing(unittest.TestCase):
    def test_replayed_reference_is_equal_and_a_changed_line_is_found(self):
        for output, text in OUTPUTS.items():
            with self.subTest(output=output):
                self.assertEqual(judge(output, text, replay.replay(output, text, False)).verdict, "equal")
                self.assertEqual(judge(output, text, replay.replay(output, text, True)).verdict, "unexplained")

    def test_nothing_printed_is_never_equal(self):
        for output, text in OUTPUTS.items():
            self.assertEqual(judge(output, text, "").verdict, "unexplained", output)

    def test_dump_order_hex_and_verdicts_do_not_count(self):
        blocks = DUMP.split("\n\n0x")
        ours = "0x" + "\n0x".join([blocks[3].split("Agg")[0].replace(": unhandled!\n", "")] + blocks[1:3])
        self.assertEqual(dump_form.differing_lines(DUMP, ours), ([], True))

    def test_records_at_one_offset_are_a_bag(self):
        first, second = "0x10@d [0x8]: event: 3\n1 0x10 [0x8]: A\n", "0x10@d [0x8]: event: 3\n2 0x10 [0x8]: B\n"
        self.assertEqual(dump_form.differing_lines(first + second, second + first)[0], [])
        self.assertEqual(len(dump_form.differing_lines(first + second, first)[0]), 1)

    def test_parts_of_a_directory_are_kept_apart(self):
        one, other = ("0x10@d/data.%d [0x8]: event: 3\n1 0x10 [0x8]: A\n" % part for part in (0, 1))
        self.assertEqual(len(dump_form.differing_lines(one, other)[0]), 2)

    def test_stats_by_number(self):
        self.assertEqual(text_forms.differing_stats(STATS, STATS.replace("          SAMPLE", "   SAMPLE")), [])
        self.assertEqual(len(text_forms.differing_stats(STATS, STATS.replace("50.0", "50.1"))), 1)

    def test_report_ties_and_cut_names(self):
        lines = REPORT.split("\n")
        ours = "\n".join(lines[:3] + [lines[3], lines[5], lines[4]])
        self.assertEqual(text_forms.differing_rows(REPORT, ours), [])
        wide = ("# ........  .........  ..\n"
                "    60.00%  work       /a\n    20.00%  perf-exec  b\n    20.00%  work       c\n")
        self.assertEqual(text_forms.differing_rows(REPORT, wide), [])
        self.assertEqual(len(text_forms.differing_rows(REPORT, wide.replace("60.00", "61.00"))), 1)


class Quipper(unittest.TestCase):
    def test_golden_and_json_meet(self):
        self.assertEqual(quipper_form.differing_records(GOLDEN, OURS), [])
        other = OURS.replace('"tid":8,"comm"', '"tid":9,"comm"')
        self.assertEqual(len(quipper_form.differing_records(GOLDEN, other)), 1)

    def test_numbers_in_every_spelling(self):
        for value in (16, "16", "0x10"):
            self.assertEqual(quipper_form.make_number(value, "ip"), 16)
        self.assertEqual(quipper_form.make_number(-1, "pid"), 4294967295)
        self.assertEqual(quipper_form.make_number("16", "comm"), "16")

    def test_paths_through_arrays(self):
        record = {"fields": {"branch": {"entries": [{"from": 1}, {"from": 2}]}, "chain": [3, 4]}}
        self.assertEqual(quipper_form.pick_values(record, "fields.branch.entries[].from"), [1, 2])
        self.assertEqual(quipper_form.pick_values(record, "fields.none|fields.chain[]"), [3, 4])


class Rules(unittest.TestCase):
    def test_few_and_documented(self):
        self.assertLessEqual(len(rules.RULES), rules.MOST_RULES)
        path = os.path.join(HERE, "..", "..", "docs", "differences.md")
        if not os.path.exists(path):
            self.skipTest("docs/differences.md is not there")
        with open(path) as source:
            headings = re.findall(r"^#+ (.*)$", source.read(), re.M)
        slugs = {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in headings}
        self.assertEqual(set(rules.RULES) - slugs, set())

    def test_only_the_explained_part_may_differ(self):
        short = "cycles: size: 80, mmap: 1, sample_regs_user: 0x6e85, sample_stack_user: 28294"
        self.assertEqual(judge("evlist", short, "cycles: size: 80, mmap: 1").verdict, "listed")
        self.assertEqual(judge("evlist", short, "cycles: size: 80").verdict, "unexplained")
        longer = short.replace("80", "128")
        self.assertEqual(judge("evlist", longer, "cycles: size: 128, mmap: 1").verdict, "unexplained")

    def test_reading_on(self):
        cut = DUMP.split("\n0x158")[0]
        self.assertEqual(judge("dump", cut, DUMP, complete=False).verdict, "listed")
        self.assertEqual(judge("dump", DUMP, cut).verdict, "unexplained")

    def test_unfinished_header_keeps_its_frame(self):
        text = "# data offset    : 264\n# hostname : (null)\n"
        self.assertEqual(judge("header", text, "# data offset    : 264\n", unfinished=True).verdict, "listed")
        self.assertEqual(judge("header", text, "# data offset    : 264\n").verdict, "unexplained")
        self.assertEqual(judge("header", text, "# data offset    : 265\n", unfinished=True).verdict, "unexplained")

    def test_joined_maps(self):
        line = "type=1 misc=2 size=104 mmap_event filename=/a len=%d pgoff=4 pid=1 start=16"
        facts = rules.Facts("pb_text")
        self.assertEqual(rules.explain(line % 32, line % 16, facts), "huge-page-maps-are-not-joined")
        self.assertIsNone(rules.explain(line % 16, line % 32, facts))
        self.assertIsNone(rules.explain(line % 32, (line % 16).replace("pid=1", "pid=2"), facts))


class WholeProgram(unittest.TestCase):
    def run_on_corpus(self, script, *words):
        """Runs compare.py on a corpus of one file, with a shell script as perfray."""
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "perf", "plain")
            os.makedirs(folder)
            files = {"a.data": "PERFILE2" + "\0" * 56, "a.data.stats.txt": STATS,
                     "a.data.run.txt": "# stats: exit 0, 4 lines, 0.1 s\n", "a.data.report.txt": REPORT}
            for name, text in files.items():
                with open(os.path.join(folder, name), "w") as target:
                    target.write(text)
            tool = os.path.join(root, "tool")
            with open(tool, "w") as target:
                target.write("#!/bin/sh\n" + script)
            os.chmod(tool, stat.S_IRWXU)
            environment = dict(os.environ, PERFRAY=tool, PERFRAY_CORPUS=root, PYTHONDONTWRITEBYTECODE="1")
            return subprocess.run([sys.executable, PROGRAM, *words], env=environment, text=True, stdout=subprocess.PIPE)

    def test_equal(self):
        done = self.run_on_corpus('case "$*" in *--stats*) cat "${4}.stats.txt";; esac\n')
        self.assertIn("ok corpus/stats equal=1 listed=0\n", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_wrong_exit_status_and_output(self):
        for script in ('cat "${4}.stats.txt"; exit 7\n', 'cat "${4}.stats.txt"; kill -SEGV $$\n', "echo\n"):
            done = self.run_on_corpus(script)
            self.assertIn("not ok corpus/stats equal=0 listed=0 unexplained=1", done.stdout)
            self.assertEqual(done.returncode, 1)

    def test_skipped_without_program(self):
        environment = {name: value for name, value in os.environ.items() if name not in ("PERFRAY", "PERFRAY_CORPUS")}
        done = subprocess.run([sys.executable, PROGRAM], env=environment, text=True, stdout=subprocess.PIPE)
        self.assertEqual(done.returncode, 77)
        self.assertEqual(done.stdout.count("skip corpus/"), len(compare.COMMANDS) + 1)


class RealCorpus(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("PERFRAY_CORPUS"), "PERFRAY_CORPUS is not set")
    def test_replayed(self):
        for words in (["--replay"], ["--replay=change"]):
            done = subprocess.run([sys.executable, PROGRAM, *words], stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
