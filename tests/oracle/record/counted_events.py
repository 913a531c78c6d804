# SPDX-License-Identifier: Apache-2.0
"""Events that the program causes a known number of times: perfray has as many samples as the installed perf, and as the program
caused."""
import concurrent.futures
import contextlib
import os
import re
import subprocess
import threading

from counted_recorders import COUNT, Controlled, do_work, must_be_clean, record, said
from run_record import Skip, address_of, events, features, fires, must, must_be_root, report, run


# --- events --------------------------------------------------------------------------------------------------

def read_with_perf(path, name):
    """The program's samples by event and its mappings as perf prints them, and the warnings of perf."""
    done = run("perf", "script", "-i", path, "--show-mmap-events", "-F", "comm,tid,event")
    counts, maps = {}, set()
    for row in done.stdout.decode("utf-8", "replace").splitlines():
        words = row.split()
        if "PERF_RECORD_MMAP" in row and "/" + name in row:
            maps.add(re.sub(r"^.*PERF_RECORD", "PERF_RECORD", re.sub(r"-?\d+/\d+: \[0x[0-9a-f]+\(", "[(", row)))
        elif words and words[0] == name and "PERF_RECORD" not in row:
            counts[words[-1]] = counts.get(words[-1], 0) + 1
    return counts, maps, done.stderr


def rows_of(path, name):
    """Samples of the program by object and function, as perf report counts them."""
    rows = {}
    done = run("perf", "report", "-i", path, "--stdio", "--no-group", "-F", "sample,comm,dso,sym", "-t", "|")
    must(not done.stderr, "perf says of %s: %s" % (path, said(done)))
    for row in done.stdout.decode("utf-8", "replace").splitlines():
        words = [word.strip() for word in row.split("|")]
        if len(words) == 4 and words[1] == name and words[0].isdigit() and not words[3].endswith(tuple("0123456789abcdef")):
            rows[tuple(words[2:])] = int(words[0])
    return rows


def event_of_steps(folder, steps):
    """An event that occurs once per call of step(): the breakpoint, or the system call made with it."""
    return "mem:%s:x" % address_of(steps, "step") if fires(folder, steps, "step") else "syscalls:sys_enter_getppid"


EXACT, BY_CHANCE = True, False  # exact: perfray must have exactly as many as the program caused; otherwise, and always for perf, 3 %
                                # may differ


def compare_as_perf_reads(found, folder, name, exact):
    perf, ours = (os.path.join(folder, "%s.%s" % (name, tool)) for tool in ("perf", "ours"))
    (theirs, their_maps, _), (own, own_maps, warned) = found["perf"], found["ours"]
    must(not warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])
    must(events(perf) == events(ours), "events: perf %s, ours %s" % (events(perf), events(ours)))
    must(features(perf) == features(ours), "missing features: perf %s, ours %s" % (features(perf), features(ours)))
    must(their_maps and their_maps == own_maps, "maps: perf %s, ours %s" % (their_maps, own_maps))
    must(theirs.keys() == own.keys() and
         all(abs(own[event] - theirs[event]) <= 0.03 * theirs[event] for event in theirs), "samples: perf %s, ours %s" % (theirs, own))
    must(not exact or set(own.values()) == {COUNT}, "samples: %s of %d" % (own, COUNT))


SYSTEM_CALLS = threading.Lock()  # for two recordings of these events at once, the kernel calls both through another function


def compare_counted(folder, steps, name, options, exact, **more):
    with SYSTEM_CALLS if "sys_enter" in "".join(options) else contextlib.nullcontext():
        compare_both(folder, steps, name, options, exact, **more)


def compare_both(folder, steps, name, options, exact, command=None, counted=lambda: None):
    """Both recorders have the same counts, exactly if a call counts once. If the kernel reports its counts, perfray has exactly as many
    samples."""
    program = os.path.join(folder, name)
    os.link(steps, program)
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%s.%s" % (name, tool))
        before = counted()
        for _ in range(3 if "--cgroup" in options else 1):  # perf, too, sometimes misses the mappings of a program that has just joined
                                                            # a cgroup
            record(tool, out, options, command(program) if command else [program])
            found[tool] = read_with_perf(out, name)
            if found[tool][1]:
                break
    own = sum(found["ours"][0].values())
    must(before is None or own == counted() - before, "%d samples, the kernel counted from %s to %s" % (own, before, counted()))
    compare_as_perf_reads(found, folder, name, exact)
    must(sum(found["ours"][0].values()) >= COUNT, "%s samples of %d" % (found["ours"][0], COUNT))
    theirs, own = (rows_of(os.path.join(folder, "%s.%s" % (name, tool)), name) for tool in ("perf", "ours"))
    top = sorted(theirs, key=theirs.get, reverse=True)[:20]
    must(top and all(abs(own.get(row, 0) - theirs[row]) <= 3 + 0.03 * theirs[row] for row in top),
         "reports: perf %s, ours %s" % (theirs, own))
    must_be_clean(os.path.join(folder, name + ".ours"))


def hits_of_probe():
    """The count since the event was created; perf sometimes has one sample more than there were calls."""
    path = next(filter(os.path.exists, ("/sys/kernel/tracing/uprobe_profile", "/sys/kernel/debug/tracing/uprobe_profile")))
    with open(path, encoding="ascii") as lines:
        return sum(int(line.split()[2]) for line in lines if line.split()[1] == "step")


def probed(folder, steps):
    must_be_root()
    run("perf", "probe", "-q", "-d", "probe_perfray:*")
    if run("perf", "probe", "-q", "-x", steps, "probe_perfray:step=step").returncode:
        raise Skip("perf probe makes no probe here")
    try:
        compare_counted(folder, steps, "st-uprobe", ["-e", "probe_perfray:step"], BY_CHANCE, counted=hits_of_probe)
    finally:
        run("perf", "probe", "-q", "-d", "probe_perfray:*")


def in_cgroup(folder, steps):
    must_be_root()
    name = "perfray-test-%d" % os.getpid()
    for root in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        group = os.path.join(root, name)
        try:
            os.mkdir(group)
        except OSError:
            continue
        if os.path.exists(os.path.join(group, "cgroup.procs")):
            break
        os.rmdir(group)
    else:
        raise Skip("no cgroup can be made here")
    try:
        enter = "echo $$ >%s/cgroup.procs && exec %%s" % group
        compare_counted(folder, steps, "st-cgroup", ["-B", "-a", "-e", "page-faults:u", "-c", "1", "--cgroup", name], BY_CHANCE,
                        command=lambda program: ["sh", "-c", enter % program])
    finally:
        os.rmdir(group)


def of_process(folder, steps):
    """A process that already runs, and that works when the recorders are ready."""
    name = "st-process"
    path = os.path.join(folder, name)
    os.link(steps, path)
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%s.%s" % (name, tool))
        program = subprocess.Popen([path, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        recorder = Controlled(tool, out, ["-D", "-1", "-e", "page-faults:u," + event_of_steps(folder, steps), "-c", "1", "-p",
                                          str(program.pid)])
        recorder.obey("enable")
        do_work(program)
        program.stdin.close()
        program.wait()
        recorder.end()
        found[tool] = read_with_perf(out, name)
    compare_as_perf_reads(found, folder, name, BY_CHANCE)
    must(len(found["ours"][0]) == 2 and min(found["ours"][0].values()) >= COUNT, "%s" % found["ours"][0])
    must_be_clean(os.path.join(folder, name + ".ours"))


def counted(folder, steps):
    here = event_of_steps(folder, steps)
    sets = (
        ("st-break", ["-e", here], EXACT), ("st-faults", ["-e", "page-faults:u", "-c", "1"], BY_CHANCE),
        ("st-group", ["-e", "{page-faults:u,minor-faults:u}:S", "-c", "1"], BY_CHANCE),
        ("st-trace", ["-e", "syscalls:sys_enter_getppid"], EXACT),
        ("st-filter", ["-e", "raw_syscalls:sys_enter", "--filter", "id == %d" % os_getppid()], EXACT),
        ("st-zstd", ["-z", "-B", "-e", here], EXACT),
        ("st-machine", ["-B", "-a", "-e", "page-faults:u", "-c", "1"], BY_CHANCE))
    parts = [(name, compare_counted, folder, steps, name, options, exact) for name, options, exact in sets]
    parts += [("st-uprobe", probed, folder, steps), ("st-cgroup", in_cgroup, folder, steps),
              ("st-process", of_process, folder, steps)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = [(part[0], pool.submit(part[1], *part[2:])) for part in parts]
    for name, future in futures:
        report("counted/" + name[3:], future.result)


def os_getppid():
    """The system call number of getppid(2) on this machine."""
    try:
        with open("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id", encoding="ascii"):
            return {"x86_64": 110, "aarch64": 173, "s390x": 64}[os.uname().machine]
    except (OSError, KeyError):
        return 110
