#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_record.py PROFILE_SELF BUSY.c - compares new recordings with those of the installed perf, and tests recording under adverse
conditions.

Environment: PERFRAY, the command. The two recorders alternate. They must have the same events and attrs, the same features and mappings,
and the same highest number of samples per second of the program's CPU time within 3 %; and perf must not warn about files of perfray. Adverse
conditions: killed, no space, limits, unprivileged users, storms of tasks. Prints `ok NAME`, `not ok NAME` or `skip NAME reason`; parts that
need root, perf, or a kernel that allows sampling may be skipped.
"""
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY, Skip, must  # noqa: E402

NOBODY = 65534
ROUNDS = 12  # the maximum; runs are repeated until the highest rates agree
MOST_APART = 0.03


def report(name, part, *arguments):
    harness.attempt("record/" + name, part, *arguments)


def run(*words, **more):
    return harness.run(words, **{"timeout": 60, **more})


def text(*words):
    return run(*words).stdout.decode("utf-8", "replace")


def must_be_root():
    """Skips this part for other users."""
    if os.geteuid() != 0:
        raise Skip("needs root")


def samples_in(path):
    found = re.search(r"SAMPLE\s+(\d+)", text(PERFRAY, "info", path))
    return int(found.group(1)) if found else 0


# --- side by side -----------------------------------------------------------------------------------------------------

def record(tool, options, out, command):
    head = ["perf", "record", "-N"] if tool == "perf" else [PERFRAY, "record"]
    if "-o-" in options:
        with open(out, "wb") as stream:
            return subprocess.run([*head, *[o for o in options if o != "-o-"], "-o", "-", *command], stdin=subprocess.DEVNULL,
                                  stdout=stream, stderr=subprocess.PIPE, timeout=60, check=False)
    return run(*head, *options, "-o", out, *command)


DEFAULT = ("cpu-clock:ppp", "cycles:ppp")  # the event that is recorded if no event is given


def timed(busy):
    """A command that prints the CPU time of the program on standard error."""
    return ["bash", "-c", "TIMEFORMAT='took %%U %%S'; time %s >/dev/null" % busy]


def seconds(done):
    found = re.search(rb"took ([\d.]+) ([\d.]+)", done.stderr)
    must(found, "the program did not run: %s" % done.stderr.decode("utf-8", "replace")[-200:])
    return float(found.group(1)) + float(found.group(2))


def busy_samples(path):
    rows = text("perf", "script", "-i", path, "-F", "comm,event").splitlines()
    return sum(row.split()[0] == "busy" for row in rows if row.split())


def maps(path):
    rows = text("perf", "script", "-i", path, "--show-mmap-events", "-F", "comm,tid,event").splitlines()
    found = set()
    for row in rows:
        if "PERF_RECORD_MMAP" in row and (" -1/0" in row or row.split()[0] == "busy"):
            found.add(row.split("]: ")[-1])
    return found


def features(path):
    found = re.search(r"missing features: (.*)", text("perf", "script", "-i", path, "--header-only"))
    return set(found.group(1).split()) if found else None


def events(path):
    """The attrs of the events. If no event is given, perfray excludes guests like later versions of perf (6.1.192),
    while earlier versions count guests. Therefore this flag of the default event, and the H in its name, are not
    compared."""
    rows = [row for row in text("perf", "evlist", "-v", "-i", path).splitlines() if not row.startswith("#")]
    return [row.replace(":pppH:", ":ppp:", 1).replace(", exclude_guest: 1", "") if row.startswith(DEFAULT) else row for row in rows]


def apart(rates):
    """The difference of the highest rates relative to that of perf. A virtual machine that takes the CPU away for a while keeps timers from
    firing: either recorder then gets about a tenth fewer samples in that run, and no run gets more than the frequency. Groups with counter
    reads do not count children, so both may be 0."""
    theirs, own = max(rates["perf"]), max(rates["ours"])
    return abs(own - theirs) / theirs if theirs else float(own > 0)


def warnings(path):
    """The warnings of perf. If breakpoints do not fire, perf warns about both recordings that there are no samples."""
    said = run("perf", "report", "--stdio", "-i", path).stderr + run("perf", "script", "-i", path).stderr
    return said.decode("utf-8", "replace").replace(path, "FILE")


def compare(options, folder, busy, counts=True, extra=()):
    """`extra`: features that the file of perfray has and the file of perf does not have."""
    rates = {"perf": [], "ours": []}
    for _ in range(ROUNDS):
        if rates["ours"] and (not counts or apart(rates) <= MOST_APART):
            break
        for tool, got in rates.items():
            out = os.path.join(folder, tool + ".data")
            if os.path.exists(out):
                os.unlink(out)
            done = record(tool, options, out, timed(busy))
            if done.returncode and tool == "perf":
                raise Skip("perf cannot: %s" % done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:100])
            must(done.returncode == 0, "status %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")[-300:]))
            got.append(busy_samples(out) / seconds(done))
    perf, ours = (os.path.join(folder, name + ".data") for name in rates)
    must(events(perf) == events(ours), "events:\n%s\n%s" % ("\n".join(events(perf)), "\n".join(events(ours))))
    if "-o-" not in options:
        must(features(perf) - features(ours) == set(extra) and features(ours) <= features(perf),
             "missing features: perf %s, ours %s" % (features(perf), features(ours)))
    must(maps(perf) == maps(ours), "maps: perf %s, ours %s" % (maps(perf), maps(ours)))
    must(warnings(ours) in ("", warnings(perf)), "perf says of ours: %s" % warnings(ours)[:300])
    must(run(PERFRAY, "info", ours).returncode == 0, "perfray info finds something")
    must(not counts or apart(rates) <= MOST_APART, "samples a second: %s" % rates)


SPIN = "int main(void) { for (volatile unsigned long i = 0;; i++) { } }"


def compare_process(folder, _):
    """A process that already runs, long enough for the slower of the two recorders to start."""
    os.makedirs(os.path.join(folder, "spin"))
    busy = os.path.join(folder, "spin", "busy")
    with open(busy + ".c", "w", encoding="ascii") as file:
        file.write(SPIN)
    must(run("gcc", "-o", busy, busy + ".c").returncode == 0, "no compiler")
    for tool in ("perf", "ours"):
        program = subprocess.Popen(["timeout", "--foreground", "4", busy], stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        done = record(tool, ["-p", text("pgrep", "-P", str(program.pid)).strip()], os.path.join(folder, tool + ".data"), [])
        program.wait()
        if done.returncode and tool == "perf":
            raise Skip("perf cannot")
        must(done.returncode == 0, done.stderr.decode("utf-8", "replace"))
    perf, ours = (os.path.join(folder, name + ".data") for name in ("perf", "ours"))
    must(events(perf) == events(ours), "events differ")
    must(maps(perf) == maps(ours), "maps: perf %s, ours %s" % (maps(perf), maps(ours)))
    must(busy_samples(ours) > 100, "few samples")


def uprobe(busy):
    must_be_root()
    run("perf", "probe", "-q", "-d", "probe_busy:*")
    if run("perf", "probe", "-x", busy, "search").returncode:
        raise Skip("perf probe makes no probe here")


def address_of(busy, name):
    found = re.search(r"^([0-9a-f]+) \w %s$" % name, text("nm", busy), re.M)
    if not found:
        raise Skip("nm finds no %s" % name)
    return "0x" + found.group(1)


def fires(folder, program, name):
    """Whether breakpoints work on this machine: some virtual machines accept them and never trap."""
    out = os.path.join(folder, "fires.data")
    run("perf", "record", "-N", "-o", out, "-c", "1", "-e", "mem:%s:x" % address_of(program, name), program)
    return "mem:" in text("perf", "script", "-i", out, "-F", "event")


def side_by_side(folder, busy):
    sets = (
        ("default", []), ("freq", ["-F", "997"]), ("count", ["-c", "500000"]), ("chains", ["-g"]),
        ("dwarf", ["-F", "497", "--call-graph", "dwarf"]), ("stream", ["-o-"]),
        ("group", ["-e", "{cpu-clock,task-clock}:S"]), ("several", ["-e", "cpu-clock:u,task-clock"]),
        ("data", ["-d", "--phys-data"]), ("clock", ["-k", "CLOCK_MONOTONIC"]), ("pages", ["--data-page-size", "--code-page-size"]))
    for name, options in sets:
        report("side-by-side/" + name, compare, options, folder, busy)
    report("side-by-side/zstd", compare, ["-z"], folder, busy, True, ["BUILD_ID"])
    report("side-by-side/process", compare_process, folder, busy)
    report("side-by-side/tracepoint", lambda: (must_be_root(), compare(["-e", "sched:sched_process_exit"], folder, busy, False)))
    report("side-by-side/machine", lambda: (must_be_root(), compare_machine(folder, busy)))
    report("side-by-side/breakpoint", lambda: compare(["-e", "mem:%s:x" % address_of(busy, "search")], folder, busy, False))

    report("side-by-side/no_caches", no_caches, folder)

    def probed():
        uprobe(busy)
        try:
            compare(["-e", "probe_busy:search"], folder, busy)
        finally:
            run("perf", "probe", "-q", "-d", "probe_busy:*")
    report("side-by-side/uprobe", probed)


def no_caches(folder):
    """Some virtual machines have no information about their caches."""
    must_be_root()
    hide = 'for folder in /sys/devices/system/cpu/cpu*/cache; do [ ! -d $folder ] || mount -t tmpfs none $folder || exit 1; done; exec "$@"'
    if run("unshare", "-m", "sh", "-c", hide, "sh", "true").returncode:
        raise Skip("no mount namespaces here")
    seen = {}
    for tool, head in (("perf", ["perf", "record", "-N"]), ("ours", [PERFRAY, "record"])):
        out = os.path.join(folder, "no_caches." + tool)
        run("unshare", "-m", "sh", "-c", hide, "sh", *head, "-e", "cpu-clock", "-o", out, "true")
        seen[tool] = features(out)
    must(seen["perf"] is not None and seen["perf"] == seen["ours"], "missing features: %s" % seen)


def compare_machine(folder, busy):
    for tool in ("perf", "ours"):
        done = record(tool, ["-a"], os.path.join(folder, tool + ".data"), [busy])
        must(done.returncode == 0, done.stderr.decode("utf-8", "replace"))
    perf, ours = (os.path.join(folder, name + ".data") for name in ("perf", "ours"))
    must(events(perf) == events(ours), "events differ")
    must(features(perf) == features(ours), "features: perf %s, ours %s" % (features(perf), features(ours)))
    warned = run("perf", "report", "--stdio", "-i", ours).stderr
    must(not warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])
    named = text("perf", "script", "-i", ours, "--show-task-events", "-F", "comm,tid,event")
    must(re.search(r"PERF_RECORD_COMM: \S+:1/1", named), "process 1 has no COMM record")


# --- adverse conditions -------------------------------------------------------------------------------------------------------

def status_is_passed_on(folder):
    out = os.path.join(folder, "status.data")
    for script, expected in (("exit 7", 7), ("kill -9 $$", 137), ("exit 0", 0)):
        got = run(PERFRAY, "record", "-q", "-o", out, "sh", "-c", script).returncode
        must(got == expected, "%s: status %d" % (script, got))
    must(run(PERFRAY, "record", "-q", "-o", out, "/nonexistent/program").returncode == 2, "a missing program")


def killed(folder, busy):
    out = os.path.join(folder, "killed.data")
    for wait in (0.7, 0.9, 1.3):
        recorder = subprocess.Popen([PERFRAY, "record", "-q", "-F", "1000", "-o", out, "bash", "-c", "while :; do :; done"],
                                    start_new_session=True, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        recorder.kill()
        recorder.wait()
        os.killpg(recorder.pid, signal.SIGKILL)
        info = run(PERFRAY, "info", out)
        must(info.returncode in (0, 4), "info of a killed recording: %d" % info.returncode)
        rows = text(PERFRAY, "report", "--no-pager", out)
        must("bash" in rows, "report of a killed recording shows nothing")


def interrupted(folder):
    out = os.path.join(folder, "interrupted.data")
    recorder = subprocess.Popen([PERFRAY, "record", "-q", "-o", out, "sleep", "60"], start_new_session=True,
                                stderr=subprocess.DEVNULL)
    time.sleep(0.4)
    before = time.monotonic()
    recorder.send_signal(signal.SIGINT)
    recorder.wait(timeout=10)
    must(time.monotonic() - before < 1, "SIGINT took %.1f s" % (time.monotonic() - before))
    must("data size 0" not in text(PERFRAY, "info", out), "the file is not finished")


def no_space(folder):
    must_be_root()
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if run("mount", "-t", "tmpfs", "-o", "size=256k", "none", small).returncode:
        raise Skip("no tmpfs can be mounted")
    try:
        out = os.path.join(small, "perf.data")
        done = run(PERFRAY, "record", "-F", "20000", "-g", "-o", out, "bash", "-c", "for ((i=0;i<300000;i++)); do :; done; exit 3")
        must(done.returncode == 5 and b"space" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))
        must(run(PERFRAY, "info", out).returncode in (0, 4) and samples_in(out) > 100, "what was written cannot be read")
    finally:
        run("umount", small)


def longest(folder):
    out = os.path.join(folder, "longest.data")
    done = run(PERFRAY, "record", "-F", "20000", "-g", "--max-size", "200K", "-o", out, "bash", "-c", "while :; do :; done")
    must(done.returncode == 143 and b"--max-size" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))
    must(200 << 10 <= os.path.getsize(out) < 3 << 20 and samples_in(out) > 100, "%d bytes" % os.path.getsize(out))


def storm(folder):
    out = os.path.join(folder, "storm.data")
    count = 2000
    script = "for ((i=0;i<%d;i++)); do /bin/true; done" % count
    done = run(PERFRAY, "record", "-e", "dummy", "-o", out, "bash", "-c", script, timeout=120)
    must(done.returncode == 0, done.stderr.decode())
    info = text(PERFRAY, "info", out)
    for name in ("FORK", "EXIT"):
        found = int(re.search(r"\b%s\s+(\d+)" % name, info).group(1))
        must(found == count + (name == "EXIT"), "%d %s for %d tasks" % (found, name, count))
    must(int(re.search(r"\bCOMM\s+(\d+)", info).group(1)) == count + 2, "not every exec is there:\n" + info)


def parts(folder):
    out = os.path.join(folder, "parts.data")
    done = run(PERFRAY, "record", "--switch-output=1s", "-o", out, "bash", "-c", "SECONDS=0; while ((SECONDS<3)); do :; done")
    must(done.returncode == 0, done.stderr.decode())
    names = [name for name in os.listdir(folder) if name.startswith("parts.data.")]
    must(len(names) >= 2, "one part")
    for name in names:
        must(run(PERFRAY, "info", os.path.join(folder, name)).returncode == 0, "%s alone cannot be read" % name)


def as_nobody(folder, *words):
    must_be_root()
    os.chmod(folder, 0o755)
    own = os.path.join(folder, "nobody")
    os.makedirs(own, exist_ok=True)
    os.chown(own, NOBODY, NOBODY)
    command = os.path.join(folder, "perfray")
    if not os.path.exists(command):
        shutil.copy(PERFRAY, command)
    drop = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    return run(*drop, command, "record", "-o", os.path.join(own, "perf.data"), *words, cwd=own)


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read())


def process_of_another(folder):
    """The process belongs to root, so the message must not blame perf_event_paranoid."""
    must_be_root()
    if paranoid() != 2:
        raise Skip("kernel.perf_event_paranoid is not 2")
    other = subprocess.Popen(["sleep", "60"])
    done = as_nobody(folder, "-e", "cpu-clock:u", "-p", str(other.pid))
    other.kill()
    other.wait()
    must(done.returncode == 6 and b"another user's" in done.stderr and b"paranoid" not in done.stderr, "status %d: %s" % (
        done.returncode, done.stderr.decode("utf-8", "replace")[-300:]))


def ordinary_user(folder):
    if paranoid() != 2:
        raise Skip("kernel.perf_event_paranoid is not 2")
    done = as_nobody(folder, "-e", "cpu-clock", "bash", "-c", "for ((i=0;i<100000;i++)); do :; done")
    must(done.returncode == 0 and b"only user code is sampled" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))
    must("exclude_kernel: 1" in text(PERFRAY, "info", os.path.join(folder, "nobody", "perf.data")), "the kernel is sampled")
    done = as_nobody(folder, "-a", "true")
    must(done.returncode == 6 and b"perf_event_paranoid" in done.stderr, "-a: status %d: %s" % (done.returncode, done.stderr))
    done = as_nobody(folder, "-m", "64M", "-e", "cpu-clock:u", "true")
    must(done.returncode == 0 and b"limit of locked memory" in done.stderr, "-m 64M: status %d: %s" % (done.returncode, done.stderr))


def few_files(folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    done = run(PERFRAY, "record", "-o", os.path.join(folder, "few.data"), "-e", ",".join(["cpu-clock"] * 30), "true",
               preexec_fn=limit)
    must(done.returncode == 5 and b"ulimit -n" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))


def cpu_of_perf(folder):
    """The current slowness of the machine; 0 without perf."""
    if not shutil.which("perf"):
        return 0
    cpus = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("perf", "record", "-q", "-o", os.path.join(folder, "peer.data"), "true")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(cpus)


def cost(folder):
    out = os.path.join(folder, "cost.data")
    walls, cpus = [], []
    for _ in range(9):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = run(PERFRAY, "record", "-q", "-o", out, "true")
        walls.append(time.monotonic() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        must(done.returncode == 0, done.stderr.decode())
    peer = cpu_of_perf(folder)
    must(min(cpus) <= max(0.020, peer / 4), "`record true` takes %.1f ms of cpu, that of perf %.1f" % (min(cpus) * 1e3, peer * 1e3))
    must(min(walls) <= max(0.030, peer), "`record true` takes %.1f ms, %.1f ms of cpu" % (min(walls) * 1e3, min(cpus) * 1e3))


def ourselves(folder, program):
    out = os.path.join(folder, "self.data")
    done = run(program, out)
    must(done.returncode == 0, done.stderr.decode())
    must("work" in text(PERFRAY, "report", "--no-pager", out) and samples_in(out) > 20, "profile_self shows no work")


def trouble(folder, busy, program):
    report("status", status_is_passed_on, folder)
    report("killed", killed, folder, busy)
    report("interrupted", interrupted, folder)
    report("no-space", no_space, folder)
    report("max-size", longest, folder)
    report("storm", storm, folder)
    report("switch-output", parts, folder)
    report("ordinary-user", ordinary_user, folder)
    report("process-of-another", process_of_another, folder)
    report("few-files", few_files, folder)
    report("cost", cost, folder)
    report("self", ourselves, folder, program)


def main():
    program, source = sys.argv[1:3]
    with harness.scratch("record") as folder:
        busy = os.path.join(folder, "busy")
        if run(PERFRAY, "record", "-q", "-e", "cpu-clock:u", "-o", os.path.join(folder, "try.data"), "true").returncode:
            return harness.skip("record", "nothing can be sampled here")
        if run("gcc", "-g", "-O1", "-no-pie", "-fno-omit-frame-pointer", "-o", busy, source).returncode:
            return harness.skip("record", "gcc is not installed")
        if shutil.which("perf"):
            side_by_side(folder, busy)
        else:
            harness.skip("record/side-by-side", "perf is not installed")
        trouble(folder, busy, program)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
