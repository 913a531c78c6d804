# SPDX-License-Identifier: Apache-2.0
"""Counts comparisons: equal, listed as different (and then they must differ), or wrong."""
import harness


class Tally:
    def __init__(self):
        self.equal, self.listed, self.wrong = 0, 0, 0

    def check(self, what, name, ours, theirs, listed=()):
        """Equal, or listed as different; what is listed and equal is wrong as well."""
        good = (ours == theirs) != (name in listed)
        self.equal += good and ours == theirs
        self.listed += good and ours != theirs
        self.wrong += not good
        harness.result("%s %s" % (what, name), "" if good else harness.first_difference(theirs, ours) or "equal, though it is listed")

    def sum(self, files):
        """The last lines of a script, and its exit status."""
        self.check("files", "all of them", files >= 121, True)
        print("# %d files: %d comparisons equal, %d listed, %d unexplained" % (files, self.equal, self.listed, self.wrong))
        return harness.status()
