#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_opens.py - checks which files each command opens, that there is no network access, and the effect of hostile object names.

usage: run_opens.py RECORDED

RECORDED is the folder of recordings. Environment: PERFRAY, the command. Needs strace, and that tracing is permitted.

opens/VERB...     a run opens only the input, the files that the case allows, and those of SYSTEM below. No socket, no connection, no
                  second program.
opens/object-...  the recording has an object with a hostile path. A device, FIFO, socket, link loop, folder or file of the kernel's file
                  systems is never opened for reading. A file of 1 TB costs no more than a small one. Each run takes less than 2 s and
                  64 MB.
opens/map-...     like opens/object, for /tmp/perf-PID.map
outputs/...       files of `dump --aux`: mode 0600 regardless of the umask, in a folder of mode 0700; no symbolic link is followed and no
                  existing file is overwritten; if the command fails, the files that it made are removed
"""
import argparse
import itertools
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import Skip  # noqa: E402
import named_recording  # noqa: E402
from made_outputs import SECONDS, aux_stream, check_outputs, write  # noqa: E402
from strace_log import whole_calls  # noqa: E402
SECONDS_MOST = 2.0
KILOBYTES_MOST = 64 << 10
CALLS = "open,openat,openat2,creat,socket,connect,sendto,sendmsg,execve,execveat"
# Files that the dynamic loader and the C library open.
SYSTEM = re.compile(r"/etc/ld\.so\.(cache|preload)|(/usr)?/lib(64)?/([\w.-]+/)*lib[\w.+-]+\.so(\.[\d.]+)?|"
                    r"/usr/lib/locale/.*|/usr/(lib|share)/([\w-]+/)?gconv/.*|/etc/localtime|/usr/share/zoneinfo/.*|/proc/self/(io|statm)")
# Files with names of the running kernel; only `report` may open them.
KERNEL = re.compile(r"/proc/kallsyms|/sys/kernel/notes")
OPEN = re.compile(r'^\d* *(open|openat|openat2|creat)\((?:([^,"]*), )?"((?:[^"\\]|\\.)*)"(?:\.\.\.)?(?:, (.*))?\)'
                  r' += (-?\d+)')
CALL = re.compile(r"^\d* *(\w+)\(")
LINK = re.compile(r"<(.*)>$")


# Where `symbols` looks for files of a recorded build-id.
PLACES = "/usr/lib/debug/"
ANONYMOUS = "/dev/zero"  # the kernel's name for shared memory, which is not an object


class Opened:
    """One open: path, flags as strace writes them, whether it succeeded."""

    def __init__(self, match):
        _, folder, path, self.flags, result = match.groups()
        path = path.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
        base = LINK.search(folder or "")
        self.path = os.path.normpath(os.path.join(base.group(1) if base else "/", path))
        self.flags, self.done = self.flags or "", int(result) >= 0

    def reads_content(self):
        return self.done and "O_PATH" not in self.flags


def trace(words, folder, stdin=None, **environment):
    """(opens, other calls, the run)"""
    log = os.path.join(folder, "strace.txt")
    tracer = ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=" + CALLS, "-o", log]
    done = subprocess.run([*tracer, harness.PERFRAY, *words], stdin=stdin or subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False,
                          env=dict(os.environ, HOME=folder, **environment))
    opens, others = [], []
    with open(log, encoding="utf-8", errors="surrogateescape") as lines:
        for line in whole_calls(lines):
            match, call = OPEN.match(line), CALL.match(line)
            if match:
                opens.append(Opened(match))
            elif call:
                others.append(line.strip())
    return opens, others, done


# sendto() calls that send to the demangling process. They pass no address, and any socket() or connect() call fails the test, so there can be
# no other receiver.
TO_OURSELVES = re.compile(r"^\d* *sendto\(\d+<(socket|UNIX[\w-]*):\[.*, MSG_NOSIGNAL, NULL, 0\) += \d+$")


def judge_calls(others):
    programs = [line for line in others if "exec" in CALL.match(line).group(1)]
    if len(programs) != 1:
        yield "programs were run: %s" % programs[1:]
    for line in others:
        if line not in programs and not TO_OURSELVES.match(line):
            yield line


def is_below(path, folder):
    return path + "/" == folder or path.startswith(folder)


def is_unfinished(path, name):
    """Files are written under a temporary name; directories are synchronised with fsync of their parent."""
    return re.fullmatch(re.escape(name) + r"\.[0-9]+\.new(/.*)?", path) or path == os.path.dirname(name)


def check_opens(words, folder, allowed, kernel=False, stdin=None, must=(), makes=None):
    """`allowed`: paths; with a trailing slash, folders. `makes`: the output, which must exist afterwards."""
    opens, others, done = trace(words, folder, stdin, DEBUGINFOD_URLS="http://127.0.0.1:9/", TMPDIR=folder)
    if done.returncode not in ((0, 1) if words[0] == "verify" else (0, 4)):
        yield "status %d: %s" % (done.returncode, done.stderr)
    yield from judge_calls(others)
    for each in opens:
        if SYSTEM.fullmatch(each.path) or (kernel and KERNEL.fullmatch(each.path)):
            continue
        if makes and is_unfinished(each.path, makes):
            continue
        if not any(is_below(each.path, path) if path.endswith("/") else each.path == path for path in allowed):
            yield "opens %s (%s)" % (each.path, each.flags)
    for path in must:
        if not any(each.path == path and each.reads_content() for each in opens):
            yield "the test does not see the open of %s" % path
    if makes and not os.path.exists(makes):
        yield "%s is not there" % makes


def check_verbs(folder, recorded):
    """name -> findings, for every command and form."""
    def at(name):
        return os.path.join(recorded, name)
    made, stream = os.path.join(folder, "names.data"), os.path.join(folder, "jit.data")
    write(made, named_recording.make_file(lambda field, room: b"object_" + field.encode()))
    # Objects that `made` names. They are below folders of the system, but do not exist.
    named = ["/usr/object_mmap", "/opt/object_mmap2"]
    for words in (["info"], ["info", "--format=json"], ["info", "--format=perf"], ["info", "--events"],
                  ["info", "--build-ids"], ["info", "--stats"], ["dump"], ["dump", "--format=jsonl"],
                  ["dump", "--format=perf"], ["verify"]):
        for name in (at("demo.data"), at("threads.data"), made):
            allowed = [name + "/"] if os.path.isdir(name) else [name]
            must = [] if os.path.isdir(name) else [name]
            yield " ".join(words) + " " + os.path.basename(name), check_opens(words + [name], folder, allowed, must=must)
    yield from check_traces(folder, recorded)
    yield "dump --aux", check_aux_opens(folder)
    yield "report", check_opens(["report", made], folder, [made] + named, kernel=True, must=[made])
    near = [name + rest for name in named for rest in (".debug", ".dbg")]
    yield "symbols", check_opens(["symbols", made], folder, [made] + named + near + [PLACES], kernel=True, must=[made])
    yield "report --no-symbols", check_opens(["report", "--no-symbols", made], folder, [made], must=[made])
    for words in (["export"], ["export", "--format=pprof"], ["flame"]):
        yield " ".join(words), check_opens([*words, made], folder, [made] + named, kernel=True, must=[made])
        yield " ".join(words) + " --no-symbols", check_opens([*words, "--no-symbols", made], folder, [made], must=[made])
    fixtures = os.path.dirname(os.path.abspath(recorded))
    trace_file, table = os.path.join(fixtures, "xray/fdr-v5.xray"), os.path.join(fixtures, "maps/functions.yaml")
    yield "latency", check_opens(["latency", trace_file], folder, [trace_file], must=[trace_file])
    yield "verify of a trace", check_opens(["verify", trace_file], folder, [trace_file], must=[trace_file])
    made_name = os.path.join(folder, "made")
    for words in (["convert"], ["convert", "-z", "--byte-order=big"], ["recover"]):
        for name in (at("demo.data"), at("buildid-mmap.data"), trace_file)[:3 if len(words) == 1 else 2]:
            yield "%s %s" % (" ".join(words), os.path.basename(name)), check_opens(
                [*words, name, "-o", made_name], folder, [name], must=[name], makes=made_name)
    yield "convert --to=directory", check_opens(["convert", "--to=directory", at("demo.data"), "-o", made_name + "-folder"],
                                                folder, [at("demo.data")], must=[at("demo.data")], makes=made_name + "-folder")
    yield "latency -m", check_opens(["latency", "-m", table, trace_file], folder, [trace_file, table],
                                    must=[trace_file, table])
    root = at("demo-root")
    yield "report --symfs", check_opens(["report", "--symfs", root, at("demo.data")], folder,
                                        [at("demo.data"), root + "/", os.path.join(folder, ".debug") + "/"], kernel=True,
                                        must=[os.path.join(root, "demo/busy")])
    yield "report --kallsyms", check_kallsyms_opens(folder, made, named)
    write(stream, named_recording.make_jit_stream(b"java", os.getpid()))
    yield "report of a perf map", check_opens(["report", stream], folder, [stream, "/tmp/perf-%d.map" % os.getpid()])
    yield "report of a pipe", check_pipe_opens(folder, stream)


def check_traces(folder, recorded):
    """For a trace, only the files that name its functions are opened."""
    fixtures = os.path.realpath(os.path.join(recorded, ".."))
    path, names = os.path.join(fixtures, "xray", "fdr-v5.xray"), os.path.join(fixtures, "maps", "functions.yaml")
    for words in (["info"], ["dump"], ["script"], ["script", "--format=json"], ["script", "--format=llvm-yaml"]):
        yield " ".join(words) + " of a trace", check_opens([*words, path], folder, [path], must=[path])
        if words != ["info"]:
            yield " ".join(words) + " --instr-map", check_opens([*words, "-m", names, path], folder, [path, names],
                                                                must=[path, names])


    # a recorder's trace names objects: commands that only read the trace open no object, the others only regular files
    lying = os.path.join(fixtures, "recorder", "lying.xray")
    for words in (["info"], ["dump"], ["verify"], ["info", "--stats"]):
        yield " ".join(words) + " of a recorder's trace", check_opens([*words, lying], folder, [lying], must=[lying])
    for words in (["latency"], ["latency", "--lines"]):
        yield " ".join(words) + " of a recorder's trace", check_opens([*words, lying], folder, [lying, "/nonexistent/"],
                                                                     must=[lying])


def check_kallsyms_opens(folder, made, named):
    table = os.path.join(folder, "kallsyms")
    write(table, b"ffffffff81000000 T a\nffffffff82000000 T _etext\n")
    yield from check_opens(["report", "--kallsyms", table, made], folder, [made, table] + named, must=[table])


def check_pipe_opens(folder, stream):
    """A stream is copied to an unnamed file in TMPDIR."""
    with subprocess.Popen(["cat", stream], stdout=subprocess.PIPE) as cat:
        yield from check_opens(["report", "-"], folder, [folder, "/tmp/perf-%d.map" % os.getpid()], stdin=cat.stdout)


def check_aux_opens(folder):
    source, target = os.path.join(folder, "aux.data"), os.path.join(folder, "aux-out")
    write(source, aux_stream())
    yield from check_opens(["dump", "--aux", target, source], folder, [source, target + "/"], must=[source])
    if len(os.listdir(target)) != 2:
        yield "no files were written: the test shows nothing"


def object_stream(path):
    """One sample in an object of this path."""
    made = b"PERFILE2" + struct.pack("<Q", 16)
    made += named_recording.record(64, named_recording.attr(1, 0) + struct.pack("<Q", 1))
    made += named_recording.record(3, struct.pack("<II", 7, 7) + b"task\0\0\0\0" + named_recording.tail())
    made += named_recording.record(10, struct.pack("<IIQQQIIQQII", 7, 7, 0x10000, 4096, 0, 8, 1, 99, 0, 5, 2)
                                   + named_recording.padded(path.encode()) + named_recording.tail(), 2)
    return made + named_recording.sample(0x10010, 2, 1, 2000)


def big_elf(path, recorded, size):
    """An object whose section table and sections extend to the end of a file of `size` bytes."""
    shutil.copy(os.path.join(recorded, "demo-root/demo/busy"), path)
    with open(path, "r+b") as file:
        head = file.read(64)
        table, count = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<H", head, 60)[0]
        for number in range(count):
            file.seek(table + 64 * number + 4)
            if struct.unpack("<I", file.read(4))[0] in (2, 3):  # symbols, strings
                file.seek(table + 64 * number + 32)
                file.write(struct.pack("<Q", size // 2 // 24 * 24))
        file.truncate(size)


def jit_dump():
    """Code at the sample's address."""
    load = struct.pack("<IIQQQQ", 7, 7, 0x10000, 0x10000, 256, 1) + b"stolen\0" + bytes(256)
    return (struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, 1, 0)
            + struct.pack("<IIQ", 0, 16 + len(load), 1) + load)


def check_dump_of_other_owner(folder):
    """A jitdump that belongs to the user is used; a jitdump of another owner is not. Commands that only show records look for no jitdump."""
    path, recording = os.path.join(folder, "jit-4.dump"), os.path.join(folder, "jit-4.data")
    write(path, jit_dump())
    write(recording, object_stream(path))
    for words in (["info"], ["dump"], ["verify"], ["report", "--no-symbols"], ["script", "--no-symbols"]):
        yield from check_opens([*words, recording], folder, [recording])
    yield from check_opens(["report", recording], folder, [recording, path], must=[path])
    if b"stolen" not in trace(["report", recording], folder)[2].stdout:
        yield "our own names nothing: the test shows nothing"
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        if b"stolen" in trace(["report", recording], folder)[2].stdout:
            yield "its names are used"


def hostile_objects(folder, recorded):
    """name -> (path, whether it may be read)"""
    def at(name):
        return os.path.join(folder, name)
    os.mkfifo(at("fifo"))
    os.symlink(at("fifo"), at("to-fifo"))
    os.symlink(at("loop-2"), at("loop"))
    os.symlink(at("loop"), at("loop-2"))
    os.symlink("/dev/zero", at("to-zero"))
    os.symlink("/proc/self/mem", at("to-mem"))
    os.mkdir(at("a-folder"))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(at("socket"))
    objects = {"fifo": (at("fifo"), False), "link-to-fifo": (at("to-fifo"), False), "loop": (at("loop"), False),
               "folder": (at("a-folder"), False), "socket": (at("socket"), False), "zero": ("/dev/zero", False),
               "link-to-zero": (at("to-zero"), False), "full": ("/dev/full", False), "tty": ("/dev/tty", False),
               "mem": ("/proc/self/mem", False), "link-to-mem": (at("to-mem"), False), "kmsg": ("/proc/kmsg", False),
               "fd": ("/proc/self/fd/0", False), "sys": ("/sys/kernel/uevent_seqnum", False),
               "trace-pipe": ("/sys/kernel/tracing/trace_pipe", False)}
    os.mkfifo(at("jit-1.dump"))
    write(at("plain.dump"), jit_dump())
    os.symlink(at("plain.dump"), at("jit-2.dump"))
    objects.update({"jitdump-fifo": (at("jit-1.dump"), False), "jitdump-link": (at("jit-2.dump"), False)})
    try:
        write(at("jit-3.dump"), jit_dump())
        os.truncate(at("jit-3.dump"), 1 << 40)
        objects["jitdump-terabyte"] = (at("jit-3.dump"), True)
        with open(at("terabyte"), "wb") as file:
            file.truncate(1 << 40)
        big_elf(at("terabyte-elf"), recorded, 1 << 40)
        objects.update({"terabyte": (at("terabyte"), True), "terabyte-elf": (at("terabyte-elf"), True)})
    except OSError as reason:
        objects.update({name: (reason, True) for name in ("terabyte", "terabyte-elf", "jitdump-terabyte")})
    return objects


def measure(words):
    """(seconds, peak kilobytes, status) of a run without strace. The peak is at least that of this script, because of the time before
    exec."""
    start = time.monotonic()
    child = os.posix_spawn(harness.PERFRAY, [harness.PERFRAY, *words], os.environ, file_actions=(
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)))
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return time.monotonic() - start, used.ru_maxrss, os.waitstatus_to_exitcode(status)
        if time.monotonic() - start > SECONDS:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return SECONDS, 0, -9
        time.sleep(0.01)


def check_object(folder, path, may_read, recording):
    seconds, kilobytes, status = measure(["report", "--no-pager", recording])
    if status not in (0, 4):
        yield "status %d" % status
    if seconds > SECONDS_MOST or kilobytes > KILOBYTES_MOST:
        yield "%.1f s and %d KB" % (seconds, kilobytes)
    opens, others, done = trace(["report", recording], folder)
    yield from judge_calls(others)
    if path != ANONYMOUS and not any(each.path == path for each in opens):
        yield "the test does not see that %s was looked at" % path
    for each in opens:
        if each.path == path and each.reads_content() and not may_read:
            yield "opens %s (%s)" % (path, each.flags)
    if b"0x" not in done.stdout and not (may_read and b"stolen" in done.stdout):
        yield "the sample is not shown: %r" % done.stdout


def check_objects(folder, recorded):
    for name, (path, may_read) in hostile_objects(folder, recorded).items():
        recording = os.path.join(folder, "object-%s.data" % name)
        if isinstance(path, OSError):
            yield "object-" + name, skip("no file of 1 TB can be made: %s" % path)
            continue
        write(recording, object_stream(path))
        yield "object-" + name, check_object(folder, path, may_read, recording)
    yield "object-other-build", check_other_build(folder, recorded)
    yield "jitdump-other-owner", check_dump_of_other_owner(folder)


def skip(reason):
    raise Skip(reason)
    yield  # a generator, like the checks


def check_other_build(folder, recorded):
    """An object is not used for names if its build-id is not the recorded build-id."""
    root = os.path.join(folder, "other-build")
    shutil.copytree(os.path.join(recorded, "demo-root"), root)
    words = ["report", "--symfs", root, os.path.join(recorded, "demo.data")]
    if b"scramble" not in trace(words, folder)[2].stdout:
        yield "no names from the right object: the test shows nothing"
    path = os.path.join(root, "demo/busy")
    with open(path, "rb") as file:
        content = file.read()
    note = content.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    write(path, content[:note] + bytes([content[note] ^ 1]) + content[note + 1:])
    if b"scramble" in trace(words, folder)[2].stdout:
        yield "names come from another build"


def hostile_maps(folder, path):
    """name -> function that makes a /tmp/perf-PID.map that must not be used."""
    plain = os.path.join(folder, "plain.map")
    write(plain, b"10000 100 stolen\n")

    def large():
        with open(path, "xb") as file:
            file.write(b"10000 100 stolen\n")
            file.truncate(10 << 30)

    def foreign():
        if os.geteuid() != 0:
            raise Skip("needs root")
        shutil.copy(plain, path)
        os.chown(path, 12345, 12345)
    return {"fifo": lambda: os.mkfifo(path), "link": lambda: os.symlink(plain, path), "folder": lambda: os.mkdir(path),
            "10-gigabytes": large, "other-owner": foreign}


def check_map(make, path, folder, recording):
    make()
    try:
        seconds, kilobytes, status = measure(["report", "--no-pager", recording])
        if status not in (0, 4) or seconds > SECONDS_MOST or kilobytes > KILOBYTES_MOST:
            yield "status %d, %.1f s, %d KB" % (status, seconds, kilobytes)
        if b"stolen" in trace(["report", recording], folder)[2].stdout:
            yield "its names are used"
    finally:
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)


def check_maps(folder):
    recording, path = os.path.join(folder, "java.data"), "/tmp/perf-%d.map" % os.getpid()
    write(recording, named_recording.make_jit_stream(b"java", os.getpid()))
    for name, make in hostile_maps(folder, path).items():
        yield "map-" + name, check_map(make, path, folder, recording)


def attempt(name, check):
    try:
        findings = list(check)
    except Skip as reason:
        harness.skip("hostile/" + name, reason)
    else:
        harness.result("hostile/" + name, findings)


def can_trace(folder):
    if not shutil.which("strace"):
        return "strace is not installed"
    try:
        opens, _, done = trace(["help"], folder)
    except (OSError, subprocess.TimeoutExpired) as reason:
        return str(reason)
    return None if opens and done.returncode == 0 else "tracing is not permitted"


def run_all(recorded, folder):
    for name, check in check_outputs(folder):
        attempt("outputs/" + name, check)
    reason = can_trace(folder)
    if reason:
        harness.skip("hostile/opens", reason)
    else:
        for name, check in itertools.chain(check_verbs(folder, recorded), check_objects(folder, recorded), check_maps(folder)):
            attempt("opens/" + name, check)
    return harness.status()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recorded")
    options = parser.parse_args()
    if not harness.has_command():
        return harness.skip("hostile/opens", "PERFRAY is not set")
    with harness.scratch("opens") as folder:
        return run_all(os.path.abspath(options.recorded), os.path.realpath(folder))


if __name__ == "__main__":
    sys.exit(main())
