#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_counted.py STEPS.c - compares recordings of countable work, and single options, with the installed perf.

Environment: PERFRAY, the command. Nothing here depends on time: the events count calls, page faults and system calls, and STEPS.c causes a
known number of each. Every recorded file must pass `perfray verify`, `info` and `dump` without messages. Prints `ok NAME`, `not ok NAME` or
`skip NAME reason`.
"""
import ctypes
import glob
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from counted_events import counted, event_of_steps
from counted_options import all_options, listed
from counted_recorders import COUNT, PATIENCE, Controlled, do_work, must_be_clean, must_please_perf, record, said, wait_until
from run_record import NOBODY, PERFRAY, Skip, must, must_be_root, paranoid, report, run, text


# --- streams, parts, rings --------------------------------------------------------------------------------------------

def streams(folder, steps):
    """The readers read the stream while it is recorded; the output of the recorded command is not part of the stream. A pipe on standard
    output gets a stream without -o, too."""
    del folder
    head = [PERFRAY, "record", "-q", "-e", "page-faults:u", "-c", "1"]
    command = ["sh", "-c", "echo printed; " + steps + " >/dev/null"]
    for output, reader in zip(([], ["-o", "-"]), ([PERFRAY, "report", "--no-pager", "-"], ["perf", "report", "--stdio", "-i", "-"])):
        if not shutil.which(reader[0]):
            continue
        recorder = subprocess.Popen([*head, *output, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done = subprocess.run(reader, stdin=recorder.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=PATIENCE)
        recorder.stdout.close()
        printed = recorder.stderr.read()
        must(recorder.wait() == 0, "the recorder ends with %d" % recorder.returncode)
        must(printed == b"printed\n", "the command's output beside the stream: %r" % printed[-400:])
        must(done.returncode == 0 and b"touch" in done.stdout and b"steps" in done.stdout,
             "%s: status %d: %s" % (reader[0], done.returncode, said(done)))
        must(not done.stderr, "%s: %s" % (reader[0], said(done)))


def parts(folder, steps):
    """Each part of a recording switched by signal or size can be read separately; together the parts contain all samples."""
    for how in ("signal", "100K"):
        out = os.path.join(folder, "parts-%s.data" % how)
        program = subprocess.Popen([steps, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        recorder = Controlled("ours", out, ["-D", "-1", "-e", "page-faults:u", "-c", "1", "--switch-output=" + how, "-p",
                                            str(program.pid)])
        recorder.obey("enable")
        for _ in range(3):
            do_work(program)
            before = glob.glob(out + ".*")
            if how == "signal":
                recorder.process.send_signal(signal.SIGUSR2)
                wait_until(lambda: len(glob.glob(out + ".*")) > len(before), "no new part")
        program.stdin.close()
        program.wait()
        recorder.end()
        names = glob.glob(out + ".*")
        must(len(names) >= 2, "%s: %d parts" % (how, len(names)))
        total = 0
        for name in names:
            must_be_clean(name)
            must_please_perf(name)
            found = re.search(r"SAMPLE\s+(\d+)", text(PERFRAY, "info", name))
            total += int(found.group(1)) if found else 0
        must(3 * COUNT <= total <= 3.1 * COUNT, "%s: %d samples in all parts" % (how, total))
    few_parts(folder)


def few_parts(folder):
    """Only the requested number of newest parts remains. The name of a single file can also contain a time."""
    out = os.path.join(folder, "few.data")
    record("ours", out, ["-e", "page-faults", "-c", "1", "-m", "8", "--switch-output=100K", "--switch-max-files", "3"],
           ["sh", "-c", "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done"])
    names = sorted(glob.glob(out + ".*"))
    must(len(names) == 3, "%d parts stay of 3" % len(names))
    for name in names:
        must_be_clean(name)
    out = os.path.join(folder, "dated.data")
    record("ours", out, ["-e", "page-faults", "--timestamp-filename"], ["true"])
    must(len(glob.glob(out + ".20*")) == 1 and not os.path.exists(out), "the file has no time in its name")


def newest(folder, steps):
    """An overwritable ring buffer keeps the newest records without reporting losses: the last page is in the file, the first ones are not."""
    out = os.path.join(folder, "newest.data")
    done = record("ours", out, ["--overwrite", "-m", "4", "-d", "-e", "page-faults:u", "-c", "1"], [steps])
    last = int(done.stdout.split()[-1], 16)
    found = [int(word, 16) for word in text("perf", "script", "-i", out, "-F", "addr").split()]
    must(last in found and last - (COUNT - 1) * 4096 not in found, "%d samples, without the newest" % len(found))
    must(b"lost" not in done.stderr, said(done))
    must_be_clean(out)


def late(folder, steps):
    """Only events between `enable` and `disable` are counted."""
    out = os.path.join(folder, "late.data")
    program = subprocess.Popen([steps, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    recorder = Controlled("ours", out, ["-D", "-1", "-e", event_of_steps(folder, steps), "-p", str(program.pid)])
    recorder.obey("ping")
    for order in (None, "enable", "disable"):
        if order:
            recorder.obey(order)
        do_work(program)
    program.stdin.close()
    program.wait()
    recorder.end()
    count = len(text("perf", "script", "-i", out, "-F", "event").splitlines())
    must(count == COUNT, "%d samples of %d" % (count, COUNT))


def delayed(folder, steps):
    """The first sample comes the given delay after the exec; mappings are recorded from the start."""
    out = os.path.join(folder, "delayed.data")
    recorder = subprocess.Popen([PERFRAY, "record", "-D", "200", "-e", "cpu-clock:u", "-o", out, steps, "spin"],
                                stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 20000, "no samples come")
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=PATIENCE)
    rows = text("perf", "script", "-i", out, "--show-task-events", "-F", "comm,time,event", "--ns").splitlines()
    times = {kind: float(re.search(r"([\d.]+):", row).group(1)) for kind in ("COMM exec", "cpu-clock")
             for row in reversed(rows) if kind in row}
    must(len(times) == 2 and times["cpu-clock"] - times["COMM exec"] >= 0.2, "%s" % times)
    must_be_clean(out)


# --- CPUs that go offline and online --------------------------------------------------------------------------------------------

ONLINE = "/sys/devices/system/cpu/online"


class RealCpu:
    """Switches the last CPU off or on."""

    def __init__(self, folder):
        switches = sorted(glob.glob("/sys/devices/system/cpu/cpu[1-9]*/online"))
        if not switches:
            raise Skip("no cpu can be switched off here")
        self.path, self.cpu, self.before = switches[-1], re.search(r"cpu(\d+)/online", switches[-1]).group(1), []
        self.switch(True)

    def switch(self, on):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("1" if on else "0")


class ListedCpu:
    """If CPUs cannot be taken offline, only the list of online CPUs changes: a file without the last CPU is mounted over it for the
    recorder."""

    def __init__(self, folder):
        with open(ONLINE, encoding="ascii") as file:
            found = re.match(r"0-(\d+)$", file.read().strip())
        if not found:
            raise Skip("there is one cpu here")
        self.cpu, self.path = found.group(1), os.path.join(folder, "online")
        self.before = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" %s && exec "$@"' % ONLINE, self.path]
        self.switch(True)
        if run(*self.before, "true").returncode:
            raise Skip("/sys is read-only, and nothing can be mounted over it")

    def switch(self, on):
        last = int(self.cpu) - (not on)
        with open(self.path, "w", encoding="ascii") as file:
            file.write("0-%d\n" % last if last else "0\n")


def switched_cpu(folder):
    try:
        return RealCpu(folder)
    except OSError:
        return ListedCpu(folder)


def hotplug(folder, steps):
    must_be_root()
    out, messages = os.path.join(folder, "hotplug.data"), os.path.join(folder, "hotplug.messages")
    it = switched_cpu(folder)

    def is_reported(word):
        with open(messages, encoding="utf-8") as file:
            return word in file.read()
    with open(messages, "wb") as stream:
        recorder = subprocess.Popen([*it.before, PERFRAY, "record", "-a", "-c", "1", "-o", out, "-e", "page-faults:u", "sleep", "600"],
                                    stderr=stream)
    try:
        wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 4096, "no recording begins")
        it.switch(False)
        wait_until(lambda: is_reported("CPU %s went offline" % it.cpu), "it is not reported that a cpu went off")
        it.switch(True)
        wait_until(lambda: is_reported("CPU %s came online and is recorded" % it.cpu), "it is not reported that a cpu came")
        must(run("taskset", "-c", it.cpu, steps).returncode == 0, "nothing can run on cpu %s" % it.cpu)
    finally:
        it.switch(True)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=PATIENCE)
    must(recorder.returncode == 143, "status %d" % recorder.returncode)
    rows = text("perf", "script", "-i", out, "-F", "comm,cpu,event").splitlines()
    wanted = ["steps", "[%03d]" % int(it.cpu), "page-faults:u:"]
    must(sum(row.split() == wanted for row in rows) >= COUNT, "nothing of cpu %s is recorded after it came" % it.cpu)
    must_please_perf(out)
    must_be_clean(out)


# --- BPF programs -----------------------------------------------------------------------------------------------------

def load_program(name):
    """Loads a socket filter that returns 0, and returns its descriptor."""
    number = {"x86_64": 321, "aarch64": 280, "s390x": 351}.get(os.uname().machine)
    if number is None or sys.byteorder != "little":
        raise Skip("no program is written for this machine")
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("<IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0, name)
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, 5, ctypes.create_string_buffer(attr, 128), 128)
    if fd < 0:
        raise Skip("bpf(2): %s" % os.strerror(ctypes.get_errno()))
    return fd


def programs_of(path):
    """What perf prints about BPF programs in the header and in records."""
    rows = text("perf", "report", "-i", path, "--header-only", "-I").splitlines()
    rows += text("perf", "script", "-i", path, "--show-bpf-events", "-F", "comm,event").splitlines()
    found = [re.sub(r"^.*PERF_RECORD", "PERF_RECORD", row) for row in rows
             if row.startswith("# bpf_prog_info") or "PERF_RECORD_KSYMBOL" in row or "PERF_RECORD_BPF" in row]
    return sorted(row for row in found if "bpf_prog" in row or "BPF_EVENT" in row)


def programs(folder):
    """perfray records loaded BPF programs as perf does, with their descriptions in the header."""
    must_be_root()
    loaded = [load_program(b"perfray_one"), load_program(b"")]
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "programs." + tool)
        record(tool, out, ["-e", "cpu-clock"], ["true"])
        found[tool] = programs_of(out)
    for fd in loaded:
        os.close(fd)
    must(any("perfray_one" in row for row in found["perf"]) and len(found["perf"]) >= 6, "perf tells no program")
    must(found["perf"] == found["ours"], "perf %s, ours %s" % (found["perf"], found["ours"]))
    must_be_clean(os.path.join(folder, "programs.ours"))
    must_please_perf(os.path.join(folder, "programs.ours"))


def programs_among_many(folder):
    """The kernel makes its record of a BPF program longer for each counter of the CPU that receives the record, whoever opened the
    counter."""
    must_be_root()
    outs = [os.path.join(folder, "among-%d.data" % i) for i in range(3)]
    recorders = [subprocess.Popen([PERFRAY, "record", "-q", "-a", "-e", "cpu-clock", "-F", "99", "-o", out, *more, "sleep", "600"])
                 for out, more in zip(outs, ([], ["-g"], ["-z"]))]
    try:
        for out in outs:
            wait_until(lambda out=out: os.path.exists(out) and os.path.getsize(out) > 4096, "no recording begins")
        time.sleep(0.3)
        os.close(load_program(b"perfray_late"))
    finally:
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for recorder in recorders:
            recorder.wait(timeout=PATIENCE)
    for out in outs:
        must(any("perfray_late" in row for row in programs_of(out)), "%s: the program is not recorded" % out)
        must_be_clean(out)


# --- privileges -------------------------------------------------------------------------------------------------------

def capability(path, number):
    """Gives the file one effective capability (struct vfs_cap_data, revision 2)."""
    low, high = (1 << number if number < 32 else 0), (1 << number - 32 if number >= 32 else 0)
    os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, low, 0, high, 0))


def privileges(folder):
    """The capability is used only for counters, not for files and names: the recording belongs to the user, and the command has only the
    user's permissions."""
    must_be_root()
    if not shutil.which("setpriv"):
        raise Skip("setpriv is not installed")
    home, closed = os.path.join(folder, "home"), os.path.join(folder, "closed")
    os.chmod(folder, 0o755)
    os.mkdir(home)
    os.mkdir(closed, 0o700)
    os.chown(home, NOBODY, NOBODY)
    drop = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    ways = (("setuid", lambda path: os.chmod(path, 0o4755)), ("capability", lambda path: capability(path, 38)))
    for way, raise_it in ways:
        command, out = os.path.join(folder, "perfray-" + way), os.path.join(home, way + ".data")
        shutil.copy(PERFRAY, command)
        raise_it(command)
        script = "cat /proc/$PPID/status /proc/self/status"
        done = run(*drop, command, "record", "-a", "-e", "cpu-clock", "-o", out, "sh", "-c", script, cwd=home)
        if done.returncode == 6 and paranoid() > 0:
            raise Skip("a %s has no effect in this folder" % way)
        must(done.returncode == 0, "%s: status %d: %s" % (way, done.returncode, said(done)))
        lines = done.stdout.decode().splitlines()
        users = [line.split()[1:] for line in lines if line.startswith("Uid:")]
        caps = [int(line.split()[1], 16) for line in lines if line.startswith(("CapEff:", "CapPrm:"))]
        must(users == [[str(NOBODY)] * 4] * 2 and caps == [0] * 4, "%s: users %s, capabilities %s" % (way, users, caps))
        must(os.stat(out).st_uid == NOBODY, "%s: the file is not the user's" % way)
        must_be_clean(out)
        done = run(*drop, command, "record", "-o", os.path.join(closed, "x.data"), "-e", "cpu-clock", "true", cwd=home)
        must(done.returncode == 6 and not os.listdir(closed), "%s: status %d: %s" % (way, done.returncode, said(done)))
        secret = os.path.join(closed, "secret.data")
        shutil.copy(out, secret)
        must(run(*drop, command, "report", secret).returncode == 6, "%s: report reads what the user may not" % way)
        os.unlink(secret)


def main():
    source = sys.argv[1]
    with harness.scratch("counted") as folder:
        steps = os.path.join(folder, "steps")
        if run(PERFRAY, "record", "-q", "-e", "cpu-clock:u", "-o", os.path.join(folder, "try.data"), "true").returncode:
            return harness.skip("record", "nothing can be sampled here")
        if run("gcc", "-g", "-O1", "-no-pie", "-o", steps, source).returncode:
            return harness.skip("record", "gcc is not installed")
        report("privileges", privileges, folder)
        if not shutil.which("perf"):
            harness.skip("record/options", "perf is not installed")
            return harness.status()
        report("options", all_options, folder)
        report("list", listed, folder)
        report("bpf-programs", programs, folder)
        report("bpf-programs-among-many", programs_among_many, folder)
        counted(folder, steps)
        for name, part in (("streams", streams), ("parts", parts), ("newest", newest), ("late", late), ("delayed", delayed),
                           ("hotplug", hotplug)):
            report(name, part, folder, steps)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
