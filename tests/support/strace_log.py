# SPDX-License-Identifier: Apache-2.0
"""strace_log.py - reads the output of `strace -f -o FILE`."""
import re

RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)", re.DOTALL)


def whole_calls(lines):
    """Yields each system call as one line: strace splits a call if another process makes one meanwhile."""
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
