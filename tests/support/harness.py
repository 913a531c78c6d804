# SPDX-License-Identifier: Apache-2.0
"""Common code of test scripts: result lines, skips, scratch folders, the corpus, running programs, comparing.

A script begins with

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
    import harness

which also lets it import the modules of support/, hostile/ and oracle/, and ends with `sys.exit(harness.status())`. Between:

    with harness.scratch("convert") as folder: # always removed at the end done = harness.perfray("convert", "-o", os.path.join(folder,
        "out.data"), path) harness.result("convert/same", "" if done.returncode == 0 else done.stderr.decode())
    harness.attempt("convert/in-perf", check_in_perf, folder)   # may raise Skip or Wrong

Result lines are `ok NAME`, `not ok NAME: PROBLEM` and `skip NAME reason`; ./dev test adds them up.

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus; PERFRAY_LONG, test more; PERFRAY_KEEP, a folder for the scratch folders
of failed tests.
"""
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
FIXTURES = os.environ.get("FIXTURES") or os.path.join(TESTS, "fixtures")
PERFRAY = os.environ.get("PERFRAY", "")
LONG = bool(os.environ.get("PERFRAY_LONG"))
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
SECONDS = 120
SHOWN = 8       # limits for the problems of one test, and the lines of one difference
SKIPPED = 77    # the exit status of a program that skipped all tests

sys.dont_write_bytecode = True
for shared in ("support", "hostile", *("oracle/" + name for name in sorted(os.listdir(os.path.join(TESTS, "oracle"))))):
    if os.path.isdir(os.path.join(TESTS, shared)) and os.path.join(TESTS, shared) not in sys.path:
        sys.path.append(os.path.join(TESTS, shared))


class Skip(Exception):
    """The reason why a test cannot run here."""


class Wrong(Exception):
    """The error that a check found."""


# --- Results

counts = {"ok": 0, "not ok": 0, "skip": 0}
_lock = threading.Lock()


def _say(kind, text):
    with _lock:
        counts[kind] += 1
        print(text, flush=True)


def result(name, wrong=()):
    """Prints one line for a test. WRONG describes the problem: a text, several texts, or True without a description. Returns whether
    the test is ok."""
    if not wrong:
        _say("ok", "ok %s" % name)
        return True
    problems = [wrong] if isinstance(wrong, str) else [] if wrong is True else [str(problem) for problem in wrong]
    shown = problems[:SHOWN] + (["and %d more" % (len(problems) - SHOWN)] if len(problems) > SHOWN else [])
    lines = "\n".join(shown).encode("utf-8", "backslashreplace").decode().split("\n")
    _say("not ok", "not ok %s%s" % (name, "\n    ".join([": " + lines[0] if lines[0] else "", *lines[1:]])))
    return False


def skip(name, reason):
    """Prints one line for a test that cannot run here. Returns the exit status for a script without other tests."""
    _say("skip", "skip %s %s" % (name, reason))
    return SKIPPED


def attempt(name, check, *arguments):
    """Runs a check and prints its line. The check returns nothing, or figures, which follow the name in brackets; it may raise Skip or
    Wrong."""
    try:
        figures = check(*arguments)
    except Skip as reason:
        skip(name, reason)
    except (Wrong, subprocess.TimeoutExpired) as problem:
        return result(name, str(problem) or True)
    else:
        return result("%s (%s)" % (name, figures) if figures else name)
    return True


def status():
    """Returns the exit status: 1 if a test failed, 77 if all were skipped."""
    return 1 if counts["not ok"] else SKIPPED if counts["skip"] and not counts["ok"] else 0


def must(holds, problem):
    if not holds:
        raise Wrong(problem)


# --- Installed programs and the corpus

def has_command():
    return os.path.isfile(PERFRAY)


def installed(program):
    return shutil.which(program, path=PATH)


def need(*programs):
    for program in programs:
        if not installed(program):
            raise Skip("%s is not installed" % program)


def first_of(*programs):
    """Returns the first of these programs that is installed."""
    for program in programs:
        if installed(program):
            return program
    raise Skip("%s is not installed" % " or ".join(programs))


def corpus(*parts):
    """Returns a directory of the corpus, or None if it does not exist."""
    root = os.environ.get("PERFRAY_CORPUS")
    folder = root and os.path.join(root, *parts)
    return folder if folder and os.path.isdir(folder) else None


# --- Scratch folders

@contextlib.contextmanager
def scratch(name):
    """Makes a folder that is removed at the end, even if a signal stops the test."""
    folder = tempfile.mkdtemp(prefix="perfray-%s-" % name)
    owner, failed = os.getpid(), counts["not ok"]
    _folders.add(folder)
    try:
        yield folder
    except BaseException:
        failed = -1
        raise
    finally:
        if os.getpid() == owner:
            if os.environ.get("PERFRAY_KEEP") and counts["not ok"] != failed:
                shutil.copytree(folder, os.path.join(os.environ["PERFRAY_KEEP"], os.path.basename(folder)), symlinks=True,
                                ignore_dangling_symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            _folders.discard(folder)


def _stop(number, _):
    """Meson stops a test that takes too long with SIGTERM, and soon after with SIGKILL. Forked processes die at once from SIGTERM."""
    if os.getpid() == _main:
        for folder in list(_folders):
            shutil.rmtree(folder, ignore_errors=True)
        sys.exit(128 + number)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


_main = os.getpid()
_folders = set()
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGTERM, _stop)


# --- Running and comparing

def environment(**more):
    """The same environment for each run: no locale, no time zone, and no files in the user's folders."""
    return dict(os.environ, LC_ALL="C", TZ="UTC", XDG_CACHE_HOME="/dev/null", **more)


def run(words, **more):
    """Runs a program and returns the finished process with its output. It reads only `input`."""
    if more.get("input") is None:
        more.pop("input", None)
        more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    more.setdefault("timeout", SECONDS)
    return subprocess.run([word if isinstance(word, (str, bytes)) else str(word) for word in words], check=False, **more)


def perfray(*words, **more):
    return run([PERFRAY, *words], **more)


def last_line(done):
    """Returns the last line of standard error, or the status if that is empty."""
    said = done.stderr if isinstance(done.stderr, str) else done.stderr.decode("utf-8", "replace")
    lines = said.strip().splitlines()
    return lines[-1] if lines else "status %d" % done.returncode


def first_difference(wanted, got):
    """Describes the first difference between two texts, lists or dictionaries; None if they are equal."""
    if wanted == got:
        return None
    if isinstance(wanted, (str, bytes)) and isinstance(got, (str, bytes)):
        return _line_difference(wanted, got)
    if isinstance(wanted, dict) and isinstance(got, dict):
        key = next(key for key in itertools.chain(wanted, got) if wanted.get(key) != got.get(key))
        return "%s: %s" % (key, first_difference(wanted.get(key), got.get(key)))
    if isinstance(wanted, (list, tuple)) and isinstance(got, (list, tuple)):
        for at, (one, other) in enumerate(zip(wanted, got)):
            if one != other:
                return "number %d: %s" % (at, first_difference(one, other))
        return "%d wanted, got %d" % (len(wanted), len(got))
    return "%.200r is wanted, got %.200r" % (wanted, got)


def _line_difference(wanted, got):
    for number, (one, other) in enumerate(zip(wanted.splitlines(), got.splitlines()), 1):
        if one != other:
            at = max(len(os.path.commonprefix([one, other])) - 60, 0)
            return "line %d: %r is wanted, got %r" % (number, one[at:at + 160], other[at:at + 160])
    return "%d bytes wanted, got %d" % (len(wanted), len(got))
