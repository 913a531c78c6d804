#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Unit tests of the comparison: a tiny corpus is replayed as if perfray had printed it, unchanged and changed."""
import copy
import os
import re
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import compare
import corpus_files
import dump_form
import quipper_form
import quipper_joins
import quipper_made
import quipper_metadata
import quipper_values
import replay
import rules
import text_forms
from quipper_example import FEATURES, GOLDEN, JOINED_MAPS, OURS, OURS_OBJECTS, STREAM, to_lines

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

    def test_report_order_and_cut_names(self):
        lines = REPORT.split("\n")
        ours = "\n".join(lines[:3] + [lines[3], lines[5], lines[4]])
        self.assertEqual(len(text_forms.differing_rows(REPORT, ours)), 2)
        wide = ("# ........  .........  ..\n"
                "    60.00%  work       /a\n    20.00%  perf-exec  b\n    20.00%  work       c\n")
        self.assertEqual(text_forms.differing_rows(REPORT, wide), [])
        self.assertEqual(len(text_forms.differing_rows(REPORT, wide.replace("60.00", "61.00"))), 1)


def differing_places(reference, ours):
    """The differences from a golden dump, each as the text before its value."""
    return [(mine or other).split("=")[0] for mine, other in quipper_form.differing_dumps(reference, ours)]


def change_value(line):
    """A line of a golden dump with another value, or None if it has no value."""
    name, colon, value = line.partition(": ")
    if not colon:
        return None
    other = {"true": "false", "false": "true"}.get(value)
    return name + colon + (other or (value[:-1] + 'x"' if value.endswith('"') else str(int(value) + 1)))


def leaves_of(value, path=()):
    """The paths of the numbers and texts in a JSON value."""
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, one in inner for leaf in leaves_of(one, path + (key,))]
    return [path]


def change_leaf(objects, path):
    """The objects with another value at `path`. Texts change in their last character, so that hex digits stay hex
    digits."""
    changed = copy.deepcopy(objects)
    target = changed
    for key in path[:-1]:
        target = target[key]
    old = target[path[-1]]
    new = old + 1 if isinstance(old, int) else old[:-1] + ("7" if old[-1:] != "7" else "8")
    target[path[-1]] = new
    return changed


# Members of our objects that quipper does not have: positions, perfray's own texts, the recorded size of an attr.
NOT_QUIPPERS = re.compile(r"^\w*\.(offset|name)$|^feature_(?!nrcpus|total_mem)\w*\.bit$|attr\.size$|\.(magic|features)$"
                          r"|\.ids\.(offset|size)$|^feature_event_desc.*\.ids\.|^\.id\.cpu$")


class Quipper(unittest.TestCase):
    def test_golden_and_json_meet(self):
        self.assertEqual(quipper_form.differing_dumps(GOLDEN, OURS), [])
        self.assertEqual(quipper_form.differing_dumps(GOLDEN, replay.replay_golden(GOLDEN)), [])

    def test_stream_tells_the_same(self):
        # In a stream, build-ids are separate records, so quipper has neither this feature nor its bit.
        self.assertEqual(quipper_form.differing_dumps(GOLDEN.replace("229372", "229368"), STREAM), [])

    def test_every_value_of_a_golden_dump_counts(self):
        lines = GOLDEN.split("\n")
        for at, line in enumerate(lines):
            other = change_value(line)
            if other:
                text = "\n".join(lines[:at] + [other] + lines[at + 1:])
                self.assertNotEqual(quipper_form.differing_dumps(text, OURS), [], line)

    def test_every_fact_of_ours_counts(self):
        for path in leaves_of(OURS_OBJECTS):
            label = ".".join(map(str, (OURS_OBJECTS[path[0]].get("name", ""), *path[1:])))
            if not NOT_QUIPPERS.search(label):
                changed = to_lines(change_leaf(OURS_OBJECTS, path))
                self.assertNotEqual(quipper_form.differing_dumps(GOLDEN, changed), [], label)

    def test_what_nothing_maps_is_found(self):
        places = ("file_attrs {\n  attr {", "event_types {", "string_metadata {", "comm_event {", "sample_info {")
        for message in places:
            for value in ("0", "1", '""', "false"):
                text = GOLDEN.replace(message, message + "\n new_field: " + value, 1)
                self.assertEqual(len(differing_places(text, OURS)), 1, (message, value))
        for text in ("hybrid_topology {\n  cpus: 0\n}\n", "tracing_data {\n  tracing_data: \"\"\n}\n", "new_word: 0\n",
                     "events {\n  new_event {\n    a: 0\n  }\n}\n", "events {\n  new_word: 0\n}\n",
                     "what is this?\n", "stats {\n"):
            self.assertNotEqual(quipper_form.differing_dumps(GOLDEN + text, OURS), [], text)

    def test_missing_features_are_found(self):
        for bit in FEATURES:
            fewer = [one for one in OURS_OBJECTS if one.get("bit") != bit]
            self.assertNotEqual(quipper_form.differing_dumps(GOLDEN, to_lines(fewer)), [], bit)

    def test_a_map_too_many_is_found_and_counted(self):
        number = next(at for at, one in enumerate(OURS_OBJECTS) if one.get("type") == 10)
        more = OURS_OBJECTS + [dict(OURS_OBJECTS[number], size=120)]
        self.assertEqual(differing_places(GOLDEN, to_lines(more)), ["stats[0].num_mmap_events", "type"])

    def test_order_of_messages_counts_and_order_of_events_does_not(self):
        others = [one for one in OURS_OBJECTS if one not in JOINED_MAPS]  # the parts of a joined mapping stay in order
        self.assertEqual(quipper_form.differing_dumps(GOLDEN, to_lines(JOINED_MAPS + others[::-1])), [])
        token = '  perf_command_line_token {\n    value: "-e"\n    value_md5_prefix: 5793861197931060347\n  }\n'
        first = GOLDEN.index("  perf_command_line_token")
        swapped = GOLDEN[:first] + token + GOLDEN[first:].replace(token, "", 1)
        place = "string_metadata[0].perf_command_line_token.value"
        self.assertEqual(differing_places(swapped, OURS), [place, place + "_md5_prefix"])

    def test_fields_that_a_dump_is_too_old_for(self):
        old = re.sub(r"\n *(root_path|root_path_md5_prefix|no_hw_idx|branch_stack_hw_idx): .*", "", GOLDEN)
        self.assertLess(len(old), len(GOLDEN) - 100)
        self.assertEqual(quipper_form.differing_dumps(old, OURS), [])

    def test_numbers_in_every_spelling(self):
        for value in (16, "16", "0x10"):
            self.assertEqual(quipper_values.make_number(value, "ip"), 16)
        self.assertEqual(quipper_values.make_number(-1, "pid"), 4294967295)
        for name in ("comm", "cpu_topology.thread_siblings", "build_ids.build_id_hash"):
            self.assertEqual(quipper_values.make_number("16", name), "16")

    def test_paths_through_arrays(self):
        record = {"fields": {"branch": {"entries": [{"from": 1}, {"from": 2}]}, "chain": [3, 4]}}
        self.assertEqual(quipper_values.pick_values(record, "fields.branch.entries[].from"), [1, 2])
        self.assertEqual(quipper_values.pick_values(record, "fields.none|fields.chain[]"), [3, 4])

    def test_root_paths(self):
        for name, path in (("/a", ""), ("/bin/w", "/bin"), ("/usr/lib/x.so", "/usr/lib"), ("//anon", "//"),
                           ("/lib/modules/3.4.0/kernel/x.ko", "/lib/modules"), ("[vdso]", ""), ("w", "")):
            self.assertEqual(quipper_made.root_path(name), path)

    def test_mask_of_either_byte_order(self):
        for magic, features in (("50455246494c4532", "fc7f030000000000"), ("32454c4946524550", "0000000000037ffc")):
            header = {"name": "file_header", "fields": {"magic": magic, "features": features + "0" * 48}}
            self.assertEqual(quipper_metadata.read_ours([header])["metadata_mask"], "229372")


def change_map(at, **changes):
    """JOINED_MAPS with other fields in the record `at`."""
    changed = copy.deepcopy(JOINED_MAPS)
    changed[at]["fields"].update(changes)
    return changed


class JoinedMaps(unittest.TestCase):
    """The golden dump has one mapping instead of the two of JOINED_MAPS."""

    def judge_with(self, *records):
        """The result for the example with these records instead of JOINED_MAPS, and the pairs that differ."""
        others = [one for one in OURS_OBJECTS if one not in JOINED_MAPS]
        result = judge("pb_text", GOLDEN, to_lines([*others, *records]))
        return result.verdict, result.unexplained

    def test_joined_record(self):
        (one,) = quipper_joins.join_maps(JOINED_MAPS)
        self.assertEqual(one, dict(JOINED_MAPS[0], fields=dict(JOINED_MAPS[0]["fields"], len=12288)))
        self.assertEqual(self.judge_with(*JOINED_MAPS), ("equal", []))
        self.assertEqual(self.judge_with(one), ("equal", []))

    def test_numbers_in_hex(self):
        self.assertEqual(self.judge_with(*change_map(1, addr="0x12000", len="0x1000")), ("equal", []))

    def test_every_fact_of_either_part_counts(self):
        paths = leaves_of(JOINED_MAPS)
        self.assertEqual(len(paths), 20)
        for path in paths:
            self.assertEqual(self.judge_with(*change_leaf(JOINED_MAPS, path))[0], "unexplained", path)

    def test_a_wrong_length_of_the_whole_is_one_line(self):
        for at, length in ((1, 4095), (1, 4097), (1, 0)):
            verdict, ((mine, other),) = self.judge_with(*change_map(at, len=length))
            self.assertEqual(verdict, "unexplained")
            self.assertEqual(mine.replace("len=12288", "len=%d" % (8192 + length)), other)

    def test_order_counts(self):
        first, second = JOINED_MAPS
        between = {"type": 14, "misc": 0, "size": 24, "fields": {}}
        for records in ((second, first), (first, between, second), (first,), (second,), (first, second, second)):
            self.assertEqual(self.judge_with(*records)[0], "unexplained", records)

    def test_only_anonymous_memory_behind_a_file_is_joined(self):
        for at, name in ((0, "//anonymous"), (0, "[anon_heap]"), (1, "/lib/x"), (1, "[heap]"), (1, "//huge")):
            records = change_map(at, filename=name)  # as many words as the name had
            self.assertEqual(quipper_joins.join_maps(records), records)
        records = [dict(one, type=10) for one in JOINED_MAPS]
        self.assertEqual(quipper_joins.join_maps(records), records)

    def test_a_dump_with_both_parts_differs(self):
        event = re.search(r"events \{\n  header \{\n    type: 1\n.*?\n\}\n", GOLDEN, re.S)[0]
        first = event.replace("len: 12288", "len: 8192")
        second = event.replace("size: 104", "size: 96").replace("65536", "73728").replace("12288", "4096")
        names = 'filename: "//anon"\n filename_md5_prefix: 11476964321930150911\n' \
                ' root_path: "//"\n root_path_md5_prefix: 8917389372961817416\n'
        second = re.sub(r"pgoff: .*?(?=sample_info)", lambda _: names, second, flags=re.S)
        apart = GOLDEN.replace(event, first + second).replace("num_mmap_events: 2", "num_mmap_events: 3")
        swapped = [one for one in OURS_OBJECTS if one not in JOINED_MAPS] + JOINED_MAPS[::-1]
        self.assertEqual(judge("pb_text", apart, to_lines(swapped)).verdict, "equal")
        self.assertEqual(judge("pb_text", apart, OURS).verdict, "unexplained")


class Rules(unittest.TestCase):
    def test_few_and_documented(self):
        self.assertLessEqual(len(rules.RULES), rules.MOST_RULES)
        path = os.path.join(HERE, "..", "..", "..", "docs", "differences.md")
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

    def test_samples_in_no_mapping_are_fewer(self):
        facts = rules.Facts("pb_text")
        fewer, all_samples = ("stats[0].num_sample_events_mapped=%d" % count for count in (7, 9))
        self.assertEqual(rules.explain(fewer, all_samples, facts), "addresses-in-no-mapping")
        self.assertIsNone(rules.explain(all_samples, fewer, facts))
        self.assertIsNone(rules.explain(None, all_samples, facts))
        self.assertIsNone(rules.explain(fewer.replace("_mapped", ""), all_samples.replace("_mapped", ""), facts))

    def test_marked_addresses_are_of_samples(self):
        facts = rules.Facts("pb_text")
        marked, plain = ("type=9 misc=2 size=80 sample_event callchain=%d" % at for at in (1 << 63 | 16, 16))
        self.assertEqual(rules.explain(marked, plain, facts), "addresses-in-no-mapping")
        self.assertIsNone(rules.explain(plain, marked, facts))
        marked, plain = ("uint64_metadata[0].data=%d" % number for number in (1 << 63 | 16, 16))
        self.assertIsNone(rules.explain(marked, plain, facts))

    def test_precision_is_exchanged_in_big_endian_files_only(self):
        for output, line in (("evlist", "a: precise_ip: %d, mmap: 1"), ("header", "# precise_ip = %d"),
                             ("pb_text", "file_attrs[0].attr.precise_ip=%d")):
            big, little = rules.Facts(output, big_endian=True), rules.Facts(output)
            self.assertEqual(rules.explain(line % 2, line % 1, big), "precise-ip-of-big-endian-files")
            self.assertIsNone(rules.explain(line % 2, line % 1, little))
            self.assertIsNone(rules.explain(line % 3, line % 2, big))


class WholeProgram(unittest.TestCase):
    def run_on_corpus(self, script, *words):
        """Runs compare.py on a corpus of one file, with a shell script as perfray."""
        with harness.scratch("compare-test") as root:
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
    @unittest.skipUnless(harness.corpus(), "PERFRAY_CORPUS is not set")
    def test_replayed(self):
        for words in (["--replay"], ["--replay=change"]):
            done = subprocess.run([sys.executable, PROGRAM, *words], stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
