# SPDX-License-Identifier: Apache-2.0
"""What was compared: equal, listed as different (and different it must be), or wrong."""


class Tally:
    def __init__(self):
        self.equal, self.listed, self.wrong = 0, 0, 0

    def check(self, what, name, ours, theirs, listed=()):
        if (ours == theirs) != (name in listed):
            print("ok %s %s" % (what, name))
            self.equal += ours == theirs
            self.listed += ours != theirs
            return
        self.wrong += 1
        print("not ok %s %s: %s" % (what, name, difference(ours, theirs)))


def difference(ours, theirs):
    """The first one, in words."""
    if ours == theirs:
        return "equal, though it is listed"
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in list(theirs) + list(ours):
            if ours.get(key) != theirs.get(key):
                return "%r is %r, not %r" % (key, ours.get(key), theirs.get(key))
    if isinstance(ours, list) and isinstance(theirs, list):
        for at, (a, b) in enumerate(zip(ours, theirs)):
            if a != b:
                return "number %d is %r, not %r" % (at, a, b)
        return "%d, not %d" % (len(ours), len(theirs))
    return "%r, not %r" % (ours, theirs)
