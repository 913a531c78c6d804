#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_diff_markdown.py - checks that the Markdown output of perfray diff, read by GitHub's parser, has the same rows as the CSV output.

Environment: PERFRAY, the command. The test generates recordings with object names that contain every special character of Markdown and HTML. Without cmark-gfm
the test is skipped.
"""
import csv
import html.parser
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import made  # noqa: E402

NAMES = ("plain", "a|b", "`code`", "*bold*", "_it_ _is_", "<b>tag<i>", "[link](x)", "![x](y)", "~~gone~~", "a&amp;b", "back\\|slash", "#1", "<!-- no", "http:x.org")
TITLES = ["verdict", "base", "new", "delta", "95 % interval", "q", "symbol", "object"]


class Page(html.parser.HTMLParser):
    """Collects the table cells as text, the headings, and the open elements."""
    def __init__(self):
        super().__init__()
        self.rows, self.headings, self.tags, self.open = [], [], set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "h3":
            self.headings.append("")

    def handle_endtag(self, tag):
        harness.must(self.open and self.open.pop() == tag, f"</{tag}> closes nothing")

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        elif "h3" in self.open:
            self.headings[-1] += data


def write(path, first):
    records = [made.comm("made", 1)]
    records += [made.map_of("/none/" + name, (i + 1) << 20, 1 << 16, 0, 2) for i, name in enumerate(NAMES)]
    for at in range(4000):
        one = 0 if at % 4 < first else at % len(NAMES)
        records.append(made.sample((one + 1 << 20) + 16, 1000 + 1000000 * at))
    made.write_file(path, records)


def check():
    with harness.scratch("diff-markdown") as folder:
        paths = [os.path.join(folder, side) for side in ("base.data", "new.data")]
        write(paths[0], 1)
        write(paths[1], 3)
        words = ["diff", "--by", "object", "--no-symbols", "--rows", "100", *paths]
        rendered = harness.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink"],
                               input=harness.perfray(*words, "--format=markdown").stdout)
        harness.must(rendered.returncode == 0, rendered.stderr)
        page = Page()
        page.feed(rendered.stdout.decode())
        rows = list(csv.DictReader(harness.perfray(*words, "--format=csv").stdout.decode().splitlines()))[1:]
        harness.must(len(page.headings) == 1 and page.headings[0].startswith("Performance: total "), page.headings)
        harness.must(not page.open and {"details", "summary", "table", "li"} <= page.tags, f"{page.tags}, open: {page.open}")
        harness.must(not {"b", "i", "em", "strong", "a", "img", "del"} & page.tags, f"names are markup: {page.tags}")
        harness.must([row for row in page.rows if row == TITLES] != [], "no titles")
        shown = [(row[0], row[6], row[7]) for row in page.rows if row != TITLES]
        harness.must(shown == [(row["verdict"], row["symbol"], row["object"]) for row in rows], f"{shown}, not {rows}")
        harness.must({row["object"] for row in rows} == set(NAMES), {row["object"] for row in rows} ^ set(NAMES))


def main():
    if not harness.installed("cmark-gfm"):
        harness.skip("diff/markdown", "cmark-gfm is not installed")
        return harness.status()
    harness.attempt("diff/markdown", check)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
