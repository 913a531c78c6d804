# SPDX-License-Identifier: Apache-2.0
"""Common code of the tests that make new recordings: a temporary folder, programs built from tests/oracle/script/programs, recordings
by the installed perf, and a comparison, line by line, of the outputs of perf script and perfray script. Environment: PERFRAY, the
command."""
import concurrent.futures
import itertools
import os
import secrets
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import PATH, Skip, Wrong, first_of, last_line, need  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import compare_script  # noqa: E402
import script_rules  # noqa: E402

PROGRAMS = os.path.join(HERE, "programs")
SECONDS = 120
SHOWN = 3
AT_A_TIME = 4
TRIES = 5


def run(words, folder, **more):
    """Runs a command and returns the finished process. Its home is the folder, so that it writes nothing to the user's home."""
    environment = {"PATH": PATH, "HOME": folder, "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "200",
                   "GOCACHE": os.path.join(folder, "go-cache"), "GOFLAGS": "-mod=mod"}
    for name in ("GOROOT", "RUSTUP_HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"):
        if name in os.environ:
            environment[name] = os.environ[name]
    home = os.path.join(os.environ.get("HOME", "/nonexistent"), ".rustup")
    if os.path.isdir(home):
        environment.setdefault("RUSTUP_HOME", home)
    more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(words, cwd=folder, env=environment, stderr=subprocess.PIPE, timeout=SECONDS, check=False, **more)


def must(words, folder, why, **more):
    done = run(words, folder, **more)
    if done.returncode != 0:
        raise Skip("%s: %s" % (why, last_line(done)))
    return done


def build(folder, source, name, *options, compiler=None):
    """Builds folder/NAME from programs/SOURCE, unless it was built before. Returns its path. The default is a compiler for C."""
    made = os.path.join(folder, name)
    if not os.path.exists(made):
        compiler = compiler or first_of("gcc", "cc", "clang", "clang-14")
        need(compiler)
        must([compiler, "-o", made, *options, os.path.join(PROGRAMS, source)], folder, "%s does not compile" % source)
    return made


def own_name(name):
    """A name for a program that is recorded with -a. Other tests run programs with the usual name at the same time and delete them,
    so one report could find their symbols and the next one not."""
    return "%s-%s" % (name, secrets.token_hex(3))


def record(folder, output, options, words):
    """Makes a recording named OUTPUT of the command WORDS."""
    need("perf")
    done = run(["perf", "record", "-N", "-q", "-o", output, *options, "--", *words], folder)
    if done.returncode != 0 or not os.path.exists(os.path.join(folder, output)):
        raise Skip("perf record %s: %s" % (" ".join(options), last_line(done)))


def perf_script(folder, recording, options=()):
    done = run(["perf", "script", "--no-inline", "-i", recording, *options], folder)
    if done.returncode != 0:
        raise Wrong("perf script: %s" % last_line(done))
    return done.stdout.decode("utf-8", "surrogateescape")


def our_script(folder, recording, options=(), **more):
    done = run([harness.PERFRAY, "script", "--raw-names", "--no-inline", "--no-pager", *options, recording], folder, **more)
    if done.returncode != 0:
        raise Wrong("perfray script %s: status %d, %s" % (" ".join(options), done.returncode, last_line(done)))
    return done.stdout.decode("utf-8", "surrogateescape")


FACTS = script_rules.Facts("fresh")


def without_listed(theirs, ours):
    """The text of perfray, with perf's line wherever a rule explains the difference; if the texts differ in length, nothing is
    replaced."""
    pairs = list(zip(theirs.split("\n"), ours.split("\n")))
    if theirs.count("\n") != ours.count("\n"):
        return ours
    return "\n".join(their if their != our and script_rules.explain(their, our, FACTS) else our for their, our in pairs)


def blocks_of(text):
    """Splits the text into lists of lines: the line that begins an event, and the frames below it."""
    blocks = [[]]
    for line in text.split("\n"):
        if not line.startswith("\t"):
            blocks.append([])
        blocks[-1].append(line)
    return blocks


def differing_pairs(theirs, ours):
    """Pairs of lines that differ. If both texts have the same events, frames are paired within each event."""
    mine, yours = blocks_of(ours), blocks_of(theirs)
    if [block[:1] for block in mine] != [block[:1] for block in yours]:
        return compare_script.differing_lines(theirs, ours)
    return [pair for blocks in zip(yours, mine) if blocks[0] != blocks[1]
            for pair in itertools.zip_longest(*blocks) if pair[0] != pair[1]]


class Comparison:
    """The number of equal lines, the number of lines that each rule explains, and the pairs that no rule explains. Without FACTS no
    rule applies."""

    def __init__(self, theirs, ours, facts=FACTS):
        self.lines, self.ours = theirs.count("\n"), ours
        self.rules, self.unexplained = Counter(), []
        for pair in differing_pairs(theirs, ours) if theirs != ours else []:
            rule = facts and script_rules.explain(*pair, facts)
            if rule:
                self.rules[rule] += 1
            else:
                self.unexplained.append(pair)

    def figures(self):
        return ", ".join(["%d lines" % self.lines] + ["%d %s" % (self.rules[rule], rule) for rule in sorted(self.rules)])

    def check(self, what):
        if not self.unexplained:
            return
        text = "%s: %d lines differ" % (what, len(self.unexplained))
        for pair in self.unexplained[:SHOWN]:
            for sign, line in zip("-+", pair):
                if line is not None:
                    text += "\n  %s %s" % (sign, line[:220])
        raise Wrong(text)


def compare_scripts(folder, recording, options=()):
    """Returns the Comparison of the outputs of perf script and perfray script, and perf's output. Recorded programs of other users may be
    deleted between the two runs: if perf then prints something else, both commands run again."""
    theirs = perf_script(folder, recording, options)
    for _ in range(TRIES):
        result = Comparison(theirs, our_script(folder, recording, options))
        if not result.unexplained:
            break
        before, theirs = theirs, perf_script(folder, recording, options)
        if before == theirs:
            break
    return result, theirs


def attempt(name, check):
    """Prints one line for the check, which gets a temporary folder and returns figures."""
    with harness.scratch("script") as folder:
        harness.attempt(name, check, folder)


def attempt_all(suite, checks, names):
    """Returns the results of all checks, or of those named. perf record mostly waits, so several checks run at a time."""
    if not harness.has_command():
        return harness.skip(suite, "PERFRAY is not set")
    chosen = [name for name in checks if not names or name in names]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(lambda name: attempt("%s_%s" % (suite, name), checks[name]), chosen))
    return harness.status()
