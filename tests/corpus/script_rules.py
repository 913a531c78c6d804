# SPDX-License-Identifier: Apache-2.0
"""Differences from perf script that we want: each with its entry in docs/differences.md. As rules.py: a rule looks at one
pair of lines and at facts of the bytes, never at the name of a file."""
from rules import Facts  # noqa: F401

RULES = {}


def explain(reference, ours, facts):
    """The entry of docs/differences.md that explains this pair, or None."""
    for entry, rule in RULES.items():
        if rule(reference, ours, facts):
            return entry
    return None
