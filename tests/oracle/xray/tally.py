# SPDX-License-Identifier: Apache-2.0
"""Counts comparisons: equal, different as listed (a listed comparison must differ), or wrong."""
import harness


class Tally:
    def __init__(self):
        self.equal, self.listed, self.wrong = 0, 0, 0

    def check(self, what, name, ours, theirs, listed=()):
        """`ours` and `theirs` must be equal, or listed as different. A listed difference that does not occur is wrong, too."""
        good = (ours == theirs) != (name in listed)
        self.equal += good and ours == theirs
        self.listed += good and ours != theirs
        self.wrong += not good
        harness.result("%s %s" % (what, name), "" if good else harness.first_difference(theirs, ours) or "equal, though it is listed")

    def sum(self, files):
        """Prints the last lines of a script, and returns its exit status."""
        self.check("files", "all of them", files >= 121, True)
        print("# %d files: %d comparisons equal, %d listed, %d unexplained" % (files, self.equal, self.listed, self.wrong))
        return harness.status()
