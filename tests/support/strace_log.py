# SPDX-License-Identifier: Apache-2.0
"""strace_log.py - what `strace -f -o FILE` wrote."""
import re

RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)", re.DOTALL)


def whole_calls(lines):
    """Each call as one line: strace parts those during which another process made one."""
    begun = {}
    for line in lines:
        head, mark, _ = line.partition(" <unfinished ...>")
        resumed = RESUMED.match(line)
        if mark:
            begun[line.split()[0]] = head
        elif resumed:
            yield begun.pop(resumed.group(1)) + resumed.group(2)
        else:
            yield line
    yield from begun.values()
