# SPDX-License-Identifier: Apache-2.0
"""Makes folded stacks ("name;outer;inner weight") from the text of perf script, parsed only by its grammar:

    text    = { sample }
    sample  = head [ " " frame ] | head { newline "\t" frame } newline newline
    head    = comm, up to the last blanks before: pid [ "/" tid ] [ "[" cpu "]" ] time ":" [ period ] event ":"
    frame   = address in hexadecimal, " ", symbol [ "+0x" offset ], " (", object, ")"

The text after the name of a tracepoint is not parsed. Any other line is an error.
"""
import os
import re
import sys
from collections import Counter

HEAD = re.compile(r"\s*(?P<comm>\S.*?)\s+(?P<pid>-?\d+)(?:/\s*(?P<tid>-?\d+))?\s+(?:\[(?P<cpu>\d+)\]\s+)?"
                  r"(?P<time>\d+\.\d+):\s+(?:(?P<period>\d+)\s+)?(?P<event>\S+?):(?:\s+(?P<rest>.*))?$")
FRAME = re.compile(r"\s*(?P<address>[0-9a-f]+) (?P<symbol>.+) \((?P<object>[^()]*|\[.*\]|.* \(deleted\))\)$")
OFFSET = re.compile(r"\+0x[0-9a-f]+$")


class NotUnderstood(Exception):
    """A line that does not match the grammar."""


def frame_name(match):
    """The symbol, or the object in brackets. `;` and blanks at the ends are replaced, because they have a meaning in
    the folded format."""
    name = OFFSET.sub("", match["symbol"])
    if name == "[unknown]":
        name = "[%s]" % os.path.basename(match["object"]).strip("[]")
    return name.replace(";", ":").strip()


def samples(text):
    """Yields (comm, event, weight, frames with the innermost first)."""
    now = None
    for line in text.split("\n"):
        if not line:
            if now:
                yield now
            now = None
        elif line.startswith("\t"):
            frame = FRAME.match(line)
            if not now or not frame:
                raise NotUnderstood(line)
            now[3].append(frame_name(frame))
        else:
            if now:
                yield now
            head = HEAD.match(line)
            if not head:
                raise NotUnderstood(line)
            now = (head["comm"], head["event"], int(head["period"] or 1), [])
            frame = FRAME.match(head["rest"] or "")
            if frame:
                now[3].append(frame_name(frame))


def fold(text):
    """{stack: weight}"""
    stacks = Counter()
    for comm, event, weight, frames in samples(text):
        stacks[";".join(["%s:%s" % (comm.replace(";", ":"), event), *reversed(frames)])] += weight
    return stacks


if __name__ == "__main__":
    for stack, weight in sorted(fold(sys.stdin.read()).items()):
        print(stack, weight)
