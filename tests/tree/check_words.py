#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps comments, pages and help texts in plain technical English: counts words that perfray used far more often than other projects.

    check_words.py ROOT            runs the test: no folder may exceed its row in word_limits.txt
    check_words.py ROOT --lower    rewrites word_limits.txt with the current counts; a limit never rises
    check_words.py ROOT --list [FOLDER]      prints every occurrence as FILE:LINE
    check_words.py PATH... --measure         prints the rates of these source trees, one row per tree, after those of zstd, libgit2 and jq

words/FOLDER/MARKER   the marker occurs in the comments or prose of the folder at most as often as word_limits.txt allows. If the count is more than a tenth
                      below its limit, the limit should be lowered: this is printed, but is not a failure
words/finds           each reader of a language finds each marker in comments and prose, and finds nothing else
words/table           word_limits.txt is sorted, and has no row twice
words/folders         each folder in word_limits.txt exists

A marker at or below its target rate (TARGETS, per 10 000 words) never fails, so a folder that reached it may grow. `help`
counts options in tool/ whose help text is longer than 72 characters or has two sentences; its target is 0.

The readers read comments of C, Python and shell, texts of .def tables and option rows, and prose of .md and .scd without code and literal blocks. Generated
pages are left out: their prose is in *.in.md.
"""
import argparse
import collections
import io
import math
import os
import re
import sys
import tokenize
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

# Occurrences per 10 000 words: the targets, and those of other projects as --measure prints them.
TARGETS = {"behind": 1, "stand": 1, "what": 1, "none": 6, "alone": 2, "told": 1}
PEERS = {"zstd-1.5.4": (220830, 0.1, 0.0, 0.0, 1.3, 0.2, 0.0), "libgit2-1.5.1": (232278, 0.2, 0.0, 0.0, 1.0, 0.2, 0.0),
         "jq-1.6": (14151, 0.7, 0.0, 0.0, 2.1, 0.0, 0.0)}
HELP_LENGTH = 72
MARKERS = {
    "behind": re.compile(r"\bbehind\b", re.I),
    "stand": re.compile(r"\b(?:stands?|stood)\b(?! for\b)(?!-)", re.I),
    "what": re.compile(r"(?:^|(?<=[.!?] ))What (?:is|was|has|are|were|have)\b(?![^.!?]*\?)"),
    "none": re.compile(r"\bnone\b|\bNone (?=of|is|are|has|have|can)\b"),  # not Python's None
    "alone": re.compile(r"(?<!-)\balone\b", re.I),
    "told": re.compile(r"\b(?:is|are|was|were|be|been) (?:told|said)\b", re.I),
}
LIMITS = Path(__file__).resolve().parent / "word_limits.txt"
FOLDERS = ("src", "tool", "tests", "bench", "fuzz", "include", "docs", "examples", "bindings", "web")
GENERATED = {"docs/perf-data-format.md", "docs/xray-format.md"}
C_SUFFIXES = {".c", ".h", ".cc", ".cpp", ".hpp", ".S", ".def", ".js", ".css"}
STRING = r'"(?:[^"\\\n]|\\.)*"'
C_TOKEN = re.compile(r"/\*(.*?)\*/|//([^\n]*)|" + STRING + r"|'(?:[^'\\\n]|\\.)+'", re.S)
STRINGS = re.compile(STRING + r"(?:\s*" + STRING + ")*")
OPTION = re.compile(r"[({]\s*\"([a-z][\w-]*)\",\s*(?:'.'|0|\w+),")

Text = collections.namedtuple("Text", "line words")


# --- Reading: each reader yields Text(line, words) per comment or paragraph, with blanks squeezed.

def squeezed(text):
    return " ".join(text.split())


def c_texts(source):
    """Reads comments; consecutive // lines are one text."""
    run, begin, last = [], 0, 0
    for match in C_TOKEN.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if run and (match[2] is None or line != last + 1):
            yield Text(begin, squeezed(" ".join(run)))
            run = []
        if match[1] is not None:
            body = re.sub(r"^\s*\*+ ?", "", match[1], flags=re.M)
            yield from paragraphs(body, line)
        elif match[2] is not None:
            begin, last = (begin if run else line), line
            run.append(match[2])
    if run:
        yield Text(begin, squeezed(" ".join(run)))


def paragraphs(text, line):
    for part in re.split(r"(\n[ \t]*\n)", text):
        if part.strip():
            yield Text(line, squeezed(part))
        line += part.count("\n")


def literal(match):
    return "".join(re.findall(STRING, match))[1:-1].replace('""', "").replace('\\"', '"')


def table_texts(source):
    """Reads the documentation column of a .def table: strings of more than one word."""
    for match in STRINGS.finditer(re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), source, flags=re.S)):
        words = literal(match[0])
        if " " in words:
            yield Text(source.count("\n", 0, match.start()) + 1, words)


def options(source):
    """Yields (line, text, whether -h shows it) of each option row. The text is the last string inside the brackets of the row."""
    for match in OPTION.finditer(source):
        depth, at = 0, match.start()
        for token in re.finditer(STRING + r"|'(?:[^'\\]|\\.)'|[({})]", source[match.start():]):
            depth += 1 if token[0] in "({" else -1 if token[0] in ")}" else 0
            at = match.start() + token.end()
            if not depth:
                break
        texts = [literal(found) for found in STRINGS.findall(source[match.end():at])]
        if texts and texts[-1]:
            yield source.count("\n", 0, match.start()) + 1, texts[-1], "REFUSED" not in source[match.start() - 8:at]


def python_texts(source):
    """Reads comments and docstrings; consecutive comment lines are one text."""
    run, begin, last, before = [], 0, 0, tokenize.NEWLINE
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        is_statement = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        before = before if token.type in (tokenize.NL, tokenize.COMMENT) else token.type
        if token.type == tokenize.COMMENT:
            if run and token.start[0] != last + 1:
                yield Text(begin, squeezed(" ".join(run)))
                run = []
            begin, last = (begin if run else token.start[0]), token.start[0]
            run.append(token.string.lstrip("#!"))
        elif is_statement and token.type == tokenize.STRING and token.string.lstrip("rRuU")[:3] == '"""':
            yield from paragraphs(token.string.lstrip("rRuU")[3:-3], token.start[0])
    if run:
        yield Text(begin, squeezed(" ".join(run)))


def hash_texts(source):
    run, begin = [], 0
    for number, line in enumerate(source.splitlines() + [""], 1):
        match = re.match(r"\s*#(?!!)\s?(.*)", line)
        if match:
            begin = begin if run else number
            run.append(match[1])
        elif run:
            yield Text(begin, squeezed(" ".join(run)))
            run = []


def page_texts(source, indented_code):
    """Reads paragraphs, list items and table cells, without code blocks, code spans and link targets."""
    blank = lambda match: "\n" * match[0].count("\n")  # noqa: E731
    source = re.sub(r"^```.*?^```$", blank, source, flags=re.M | re.S)
    if indented_code:
        source = re.sub(r"(?<=\n\n)(?:(?: {4}|\t).*\n)+", blank, source)
    source = re.sub(r"`[^`\n]*`", "CODE", source)
    source = re.sub(r"\]\([^)\s]*\)", "]", source)
    for text in paragraphs(source, 1):
        for part in re.split(r" \| |(?:^| )(?:[-*]|\d+\.) (?=[A-Z*_`])", text.words):
            if part.strip(" |-#*"):
                yield Text(text.line, part.strip(" |-#*"))


def texts_of(path):
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in C_SUFFIXES:
        yield from c_texts(source)
        if path.suffix == ".def":
            yield from table_texts(source)
    elif path.suffix == ".py":
        yield from python_texts(source)
    elif path.suffix in (".md", ".scd"):
        yield from page_texts(source, path.suffix == ".md")
    elif path.suffix == ".sh" or path.name in ("meson.build", "Makefile", "LAYERS", "dev"):
        yield from hash_texts(source)


# --- Counting.

class Count:
    def __init__(self):
        self.words = 0
        self.found = collections.defaultdict(list)

    def add(self, path, text):
        self.words += len(text.words.split())
        for marker, pattern in MARKERS.items():
            for _ in pattern.findall(text.words):
                self.found[marker].append((path, text.line, text.words))

    def rate(self, marker):
        return len(self.found[marker]) * 10000 / max(self.words, 1)


def is_licence(words):
    return words.startswith("SPDX-License-Identifier") and len(words.split()) < 4


def folder_of(relative):
    """Returns the folder to which the file counts: two levels in src, tests and docs, one level elsewhere."""
    parts = relative.parts
    if len(parts) == 1:
        return "."
    deep = parts[0] in ("src", "tests", "docs") and len(parts) > 2
    return "/".join(parts[:2]) if deep else parts[0]


def count_tree(root):
    """Returns {folder: Count} of perfray's tree, including the option rows of tool/."""
    counts = collections.defaultdict(Count)
    paths = [root / "README.md", root / "dev", root / "meson.build"]
    paths += [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    for path in paths:
        relative = path.relative_to(root)
        if str(relative) in GENERATED or "fixtures" in relative.parts or "corpus" in relative.parts:
            continue
        count = counts[folder_of(relative)]
        for text in texts_of(path):
            if not is_licence(text.words):
                count.add(relative, text)
        if relative.parts[0] == "tool" and path.suffix in (".c", ".h"):
            add_help(count, relative, path.read_text(encoding="utf-8"))
    return counts


def add_help(count, relative, source):
    for line, words, is_shown in options(source):
        count.add(relative, Text(line, words))
        if is_shown and (len(words) > HELP_LENGTH or re.search(r"[.!?](?: |$)", words)):
            count.found["help"].append((relative, line, words))


def target_count(marker, count):
    """The occurrences at the target rate, rounded up, so that one of each is accepted even in the smallest folder."""
    return math.ceil(TARGETS.get(marker, 0) * count.words / 10000)


def limit_of(limits, folder, marker, count):
    """The limit in the table, or the target rate if that is higher."""
    return max(limits.get((folder, marker), 0), target_count(marker, count))


def read_limits():
    limits, rows = {}, []
    for line in LIMITS.read_text().splitlines() if LIMITS.exists() else ():
        if line and not line.startswith("#"):
            folder, marker, number = line.split()
            limits[folder, marker] = int(number)
            rows.append((folder, marker))
    return limits, rows


# --- The four uses.

MARKED = "The byte behind it. It stands here. What is left, goes. There are none. Only it alone is told."
UNMARKED = "What is it? UB stands for undefined behaviour. It is stand-alone and nonempty; they told us. It returns None."
LANGUAGES = {"a.c": "int a; /* %s */ char *s = \"behind\";\n", "b.c": "int a; // %s\n", "c.py": '"""%s"""\nTEXT = """none"""\n', "d.py": "# %s\nalone = 1\n",
             "e.sh": "# %s\nbehind=1\n", "f.md": "# Title\n\n%s `none`\n\n    none behind\n", "g.scd": "%s\n\n```\nnone\n```\n",
             "h.def": 'LAYOUT(1, alone, "%s")\n', "meson.build": "# %s\n"}


def check_readers():
    with harness.scratch("words") as folder:
        for name, form in LANGUAGES.items():
            path = Path(folder) / name
            for words, wanted in ((MARKED, 1), (UNMARKED, 0)):
                path.write_text(form % words)
                count = Count()
                for text in texts_of(path):
                    count.add(path, text)
                got = {marker: len(count.found[marker]) for marker in TARGETS}
                if set(got.values()) != {wanted}:
                    yield "%s: %d of each is wanted, got %s" % (name, wanted, got)
    row = '{"name", \'n\', OPT_FLAG, offsetof(struct o, name), NULL,\n "%s"},\nTEXT("other", 0, other, "WORD", "short"),'
    shown = list(options(row % ("x" * 80)))
    if shown != [(1, "x" * 80, True), (3, "short", True)]:
        yield "option rows: %s" % shown


def check(counts):
    limits, rows = read_limits()
    harness.result("words/finds", list(check_readers()))
    harness.result("words/table", [] if rows == sorted(set(rows)) else "word_limits.txt is not sorted, or has a row twice")
    gone = sorted({folder for folder, _ in rows if folder not in counts})
    harness.result("words/folders", ["word_limits.txt has %s, which is gone" % folder for folder in gone])
    for folder, count in sorted(counts.items()):
        for marker in (*TARGETS, "help"):
            number, limit = len(count.found[marker]), limit_of(limits, folder, marker, count)
            if number > limit:
                places = ["%s:%d: %.100s" % place for place in count.found[marker][-5:]]
                harness.result("words/%s/%s" % (folder, marker), ["%d, the limit is %d (see --list); the last ones:" % (number, limit), *places])
            if number < limits.get((folder, marker), 0) * 0.9:
                print("lower: %s %s is %d, its limit %d (check_words.py --lower)" % (folder, marker, number, limits[folder, marker]))
        harness.result("words/%s (%s)" % (folder, rates(count)))
    if not gone and not harness.counts["not ok"]:
        total = sum(len(found) for count in counts.values() for found in count.found.values())
        print("%d words, %d occurrences of markers" % (sum(count.words for count in counts.values()), total))


def rates(count):
    return "%d words, per 10 000: %s" % (count.words, ", ".join("%s %.1f" % (marker, count.rate(marker)) for marker in TARGETS))


def lower(counts):
    limits, rows = read_limits()
    with LIMITS.open("w") as out:
        out.write("# folder marker occurrences: the most that check_words.py accepts. Only lower these (check_words.py ROOT --lower).\n")
        for folder, count in sorted(counts.items()):
            for marker in sorted((*TARGETS, "help")):
                number = len(count.found[marker])
                number = min(number, limits.get((folder, marker), 0)) if rows else number
                if number > target_count(marker, count):
                    out.write("%s %s %d\n" % (folder, marker, number))


def show(counts, folder):
    for name, count in sorted(counts.items()):
        for marker, places in count.found.items() if folder in (None, name) else ():
            for path, line, words in places:
                print("%s:%d: %s: %.200s" % (path, line, marker, words))


def measure(paths):
    print("%-24s %9s " % ("tree", "words") + " ".join("%7s" % marker for marker in TARGETS))
    for name, (words, *numbers) in PEERS.items():
        print("%-24s %9d " % (name, words) + " ".join("%7.1f" % number for number in numbers))
    for root in paths:
        count = Count()
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and not path.is_symlink():
                for text in texts_of(path):
                    count.add(path, text)
        print("%-24.24s %9d " % (root.resolve().name, count.words) + " ".join("%7.1f" % count.rate(marker) for marker in TARGETS))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--measure", action="store_true")
    how = parser.parse_intermixed_args()
    if how.measure:
        measure(how.paths)
        return 0
    counts = count_tree(how.paths[0])
    if how.lower:
        lower(counts)
    elif how.list:
        show(counts, str(how.paths[1]) if len(how.paths) > 1 else None)
    else:
        check(counts)
        return harness.status()
    return 0


if __name__ == "__main__":
    sys.exit(main())
