#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_guard.py - tests that a program survives damage to its trace: the file is truncated, deleted, overwritten or loses pages while the program runs.

usage: run_guard.py LIBRARY ARCHIVE INCLUDE PERFRAY [WORD...]

programs/recorded_guard.c waits while its trace is damaged, makes more calls and ends with status 7. The program must
end with this status, no matter what was damaged and how it handles SIGBUS. The loss must be reported by the recorder,
or by perfray when it reads the rest. With WORDs only tests whose names contain one of them are run.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent / "programs"
STATUS = 7
CALLS = 20000  # 320 KB of records in each part; the trace has 1 MB
THREAD_CALLS = 4500  # more than a slot of 64 KB; 8 threads
ENDS = "recording ends here"
FOREIGN = b"This is a file of somebody else's.\n" * 60000


def truncate(to):
    return lambda trace: os.truncate(trace, to)


def overwrite(trace):  # like cp
    with open(trace, "wb") as out:
        out.write(FOREIGN)


def scribble(trace):  # all numbers of the control block and of every slot become invalid
    with open(trace, "r+b") as out:
        out.write(b"\xff" * os.path.getsize(trace))


def replace(trace):
    trace.with_suffix(".new").write_bytes(FOREIGN)
    os.replace(trace.with_suffix(".new"), trace)


class Damage:
    """The damage, the message of the recorder (None: none at all), and the message of perfray about the rest (None: there is no trace)."""

    def __init__(self, act, recorder, reader=None):
        self.act, self.recorder, self.reader = act, recorder, reader


DAMAGES = {
    "truncate/0": Damage(truncate(0), ENDS, "empty|no bytes|shorter"),
    "truncate/100": Damage(truncate(100), ENDS, "shorter|ends|cut|truncated"),
    "truncate/page": Damage(truncate(4096), ENDS, "shorter|ends|cut|truncated"),
    "truncate/half": Damage(truncate(400000), ENDS, "shorter|ends|cut|truncated"),
    "overwrite": Damage(overwrite, ENDS),
    "scribble": Damage(scribble, ENDS),
    "delete": Damage(os.unlink, None),  # or moved: the recorder does not look for the name, because that would take a system call
    "replace": Damage(replace, None),
    "nothing": Damage(lambda trace: None, None),
}
# how SIGBUS is handled, and where the calls are made
HOSTS = ("", "sigaction own", "signal own", "sysv own", "before own", "blocked", "masked", "sigaction inside", "threads", "threads blocked",
         "threads signal masked", "fork", "fork sigaction", "fork blocked")


class Guard:
    def __init__(self, folder, library, archive, include, perfray, words):
        self.library, self.archive, self.include = Path(library).resolve(), Path(archive).resolve(), Path(include).resolve()
        self.perfray, self.words = str(Path(perfray).resolve()), words
        self.folder = Path(folder)
        self.trace = self.folder / "trace"
        self.program = self.build("guard", [str(self.library), f"-Wl,-rpath,{self.library.parent}"])

    def build(self, name, how):
        program = self.folder / name
        subprocess.run(["gcc", "-O1", "-finstrument-functions", "-pthread", f"-I{self.include}", str(HERE / "recorded_guard.c"), *how, "-o",
                        str(program)], check=True)
        return program

    def wants(self, name):
        return not self.words or any(word in name for word in self.words)

    def say(self, name, wrong):
        harness.result("guard/" + name, wrong)

    def run(self, act, words, program=None, trace=None, options="keep=first size=2M", before=(), folder=None):
        """Returns (exit status, standard error)."""
        trace = trace or self.trace
        options = f"file={trace} {options}"
        asked = {"GUARD_RT" if "before" in words else "PERFRAY_RT": options}
        environment = dict({k: v for k, v in os.environ.items() if not k.startswith(("PERFRAY_RT", "XRAY_"))}, **asked)
        host = subprocess.Popen([*before, str(program or self.program), str(THREAD_CALLS if "threads" in words else CALLS), *words], env=environment, cwd=folder or self.folder, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if host.stdout.readline() == "ready\n":
            act(self.folder / trace)
        try:
            said = host.communicate("go\n", timeout=120)[1]
        except subprocess.TimeoutExpired:
            host.kill()
            return "it hangs", ""
        return host.returncode, said

    def judge(self, damage, status, said):
        wrong = [] if status == STATUS else [f"status {status}"]
        lines = [line for line in said.splitlines() if line]
        if damage.recorder is None and lines or damage.recorder and not any(damage.recorder in line for line in lines):
            wrong.append(f"the recorder says {said!r}")
        if any(not line.startswith("perfray-rt: ") for line in lines) or len(set(lines)) > 2:
            wrong.append(f"somebody says {said!r}")
        return wrong

    def readers(self, damage):
        wrong = []
        for verb in ("info", "latency", "verify", "report"):
            done = subprocess.run([self.perfray, verb, str(self.trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
            text = done.stdout + done.stderr if verb in ("info", "verify") else done.stderr
            if done.returncode in (0, None) or done.returncode < 0 or not re.search(damage.reader, text):
                wrong.append(f"{verb}: status {done.returncode}, {text[-300:]!r}")
        return wrong

    def expect(self, name, damage, words, readers=False, **run):
        if not self.wants(name):
            return
        self.trace.unlink(missing_ok=True)
        wrong = self.judge(damage, *self.run(damage.act, words, **run))
        self.say(name, wrong + (self.readers(damage) if readers and damage.reader and not wrong else []))


def test_hosts(t):
    for host in HOSTS:
        words = host.split()
        for name in ("truncate/0", "overwrite") if host else DAMAGES:
            t.expect("_".join([name, *words]), DAMAGES[name], words, readers=not host)
        t.expect("_".join(["nothing", *words]), DAMAGES["nothing"], words)
    t.expect("ring/truncate", DAMAGES["truncate/0"], [], options="keep=last size=64k buffer=4k")
    t.expect("ring/scribble", DAMAGES["scribble"], ["threads"], options="keep=last size=64k buffer=4k")
    t.expect("relative/delete", DAMAGES["delete"], [], trace=Path("trace"))


def test_archive(t):
    if t.wants("archive") or t.wants("static"):
        for name, how in (("archive", [str(t.archive), "-ldl"]), ("static", ["-static", str(t.archive)])):
            program = t.build(name, how)
            for words in ("sigaction own", "signal own", "threads blocked"):
                t.expect(f"{name}/truncate_{words.replace(' ', '_')}", DAMAGES["truncate/0"], words.split(), program=program)


# --- Separate file systems, in a mount namespace and a user namespace.

MOUNTED = """
mount -t tmpfs -o size=4m none "$1" || exit 125
shift
exec "$@"
"""


def mounted(t, prepare=""):
    return ["unshare", "-rm", "sh", "-c", MOUNTED.replace("shift", "cd \"$1\"\n" + prepare + "\nshift"), "sh", str(t.folder / "disk")]


def may_mount(t):
    (t.folder / "disk").mkdir(exist_ok=True)
    done = subprocess.run([*mounted(t), "true"], stderr=subprocess.PIPE, text=True) if shutil.which("unshare") else None
    return done and done.returncode == 0


# Punches a hole into the trace and fills the disk with another file.
PUNCH = r'''
import ctypes, os, sys
fd = os.open("trace", os.O_RDWR)
size = os.fstat(fd).st_size
if ctypes.CDLL(None, use_errno=True).fallocate(fd, 3, ctypes.c_long(0 if sys.argv[1] == "all" else 65536), ctypes.c_long(size)) != 0:
    sys.exit(1)
rest = open("rest", "wb", buffering=0)
try:
    while True:
        rest.write(b"x" * 4096)
except OSError:
    pass
'''


def test_disks(t):
    if not t.wants("disk"):
        return
    if not may_mount(t):
        harness.skip("guard/disk", "no user namespaces with mounts here")
        return
    for words in ("", "threads blocked", "sigaction own"):
        for part in ("all", "slots"):
            t.say(f"disk/full_{part}_{words.replace(' ', '_')}", t.judge(Damage(None, ENDS), *disk_run(t, part, words.split())))
    status, said = t.run(lambda trace: None, [], trace="/proc/self/cwd/trace", before=mounted(t, "mount -o remount,ro none . || exit 125"))
    t.say("disk/read_only", t.judge(Damage(None, "cannot be made"), status, said))
    status, said = t.run(lambda trace: None, [], trace=str(t.folder / "disk/trace"), options="keep=first size=64M",
                         before=mounted(t, "dd if=/dev/zero of=rest bs=4k 2>/dev/null"))
    t.say("disk/full_before", t.judge(Damage(None, "no room on the disk"), status, said))


def disk_run(t, part, words):
    """The damage must be done inside the namespace, so a shell runs the program there and communicates with this test."""
    script = t.folder / "punch.py"
    script.write_text(PUNCH)
    between = f'mkfifo in out; "$@" < in > out & host=$!; exec 3> in 4< out; read line <&4; {sys.executable} {script} {part} || exit 3; echo ready; ' \
              'read line; echo go >&3; wait $host'
    return t.run(lambda trace: None, words, trace=str(t.folder / "disk/trace"), before=[*mounted(t), "sh", "-c", between, "sh"])


def main():
    with harness.scratch("guard") as folder:
        t = Guard(folder, *sys.argv[1:5], sys.argv[5:])
        test_hosts(t)
        test_archive(t)
        test_disks(t)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
