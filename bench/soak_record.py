#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak_record.py [SECONDS [FREQUENCY]] - records the whole machine for a long time, and checks that the recorder's memory does not grow,
that no samples are lost, and that the times in its files do not drift from the wall clock.

Environment: PERFRAY, the command. Every minute a new part is begun (--switch-output). The finished part is checked with `verify`, its
losses, counts and times are read, and it is deleted, so that there are at most two parts on disk. Drift is the change
of the sample clock against the wall clock, from the pairs of both times in the headers. Lag is the difference between
the last sample of a part and the pair of the next part, which is read when the next part begins. Memory is the
recorder's memory, read at least every five seconds. The usual memory (the
median of a part) must not grow; the peak, when a part is finished and the hit objects are searched, depends on the tasks of that part and
has a bound. Exit status 1 if a check fails. The numbers are printed as they are measured, and summarized at the end.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PERFRAY = os.environ.get("PERFRAY", "build/tool/perfray")
PART_SECONDS = 60  # or a third of the whole
MEMORY_GROWS_MOST = 256 << 10
PEAK_MOST = 80 << 20  # 64 MB for finding the hit objects (src/record/recorder.c), and the rings
DRIFT_MOST = 0.01
LAG_MOST = 1.0


def text(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "replace")


def resident(pid):
    """The private memory of the process in bytes. The rings, which are shared with the kernel, have a fixed size."""
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
    return int(found.group(1)) * 1024 if found else 0


def peak(pid):
    """The peak resident set in bytes since the last call, including shared memory."""
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    with open("/proc/%d/clear_refs" % pid, "w", encoding="ascii") as file:
        file.write("5")
    return int(found.group(1)) * 1024 if found else 0


def clocks(info):
    """The pair of times in the header: the event clock and the wall clock, both in seconds."""
    found = re.search(r"^clock\s+monotonic, (\d+) ns at (\S+ \S+)$", info, re.M)
    whole, part = found.group(2).split(".")
    return int(found.group(1)) / 1e9, time.mktime(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float("0." + part)


class Soak:
    def __init__(self):
        self.last = None
        self.samples = self.lost = self.parts = self.wrong = 0
        self.memory, self.usual, self.peaks, self.offsets, self.lags = [], [], [], [], []

    def look(self, pid):
        """Looks at the recorder at least every five seconds."""
        self.memory.append(resident(pid))

    def end_part(self, pid):
        if self.memory:  # otherwise it was finished together with the previous part
            self.usual.append(int(statistics.median(self.memory)))
        self.peaks.append(peak(pid))
        self.memory = []

    def take(self, path):
        """A finished part."""
        info = text(PERFRAY, "info", path)
        verified = text(PERFRAY, "verify", path)
        if " 0 errors, 0 warnings" not in verified:
            self.wrong += 1
            print("verify: %s" % "\n        ".join(verified.splitlines()[:5]))
        quality = dict(re.findall(r"(\w+)=(\d+)", info))
        header = json.loads(text(PERFRAY, "info", "--format=json", path))
        self.note_times(*clocks(info), header["last_time"] / 1e9)
        samples = sum(event["samples"] for event in header["events"])
        self.samples += samples
        self.lost += int(quality["lost_samples"])
        self.parts += 1
        print("part %d: %d samples, %d lost so far, clocks %.6f s apart from the first part, %d KB, at most %d" %
              (self.parts, samples, self.lost, self.offsets[-1] - self.offsets[0], self.usual[-1] >> 10 if self.usual else 0,
               self.peaks[-1] >> 10 if self.peaks else 0), flush=True)
        os.unlink(path)

    def note_times(self, clock, wall, last):
        self.offsets.append(wall - clock)
        if self.last is not None:
            self.lags.append(abs(clock - self.last))
        self.last = last

    def holds(self, asked, took):
        half = len(self.usual) // 2
        grown = max(self.usual[half:]) - max(self.usual[:half])
        drift, lag = max(self.offsets) - min(self.offsets), max(self.lags)
        print("%d s: %d parts, %d wrong, %d samples (%.0f a second), %d lost, memory %d to %d KB, %d KB more than in the first "
              "half, at most %d KB, drift %.6f s, lag at most %.6f s" %
              (took, self.parts, self.wrong, self.samples, self.samples / took, self.lost, min(self.usual) >> 10,
               max(self.usual) >> 10, grown // 1024, max(self.peaks) >> 10, drift, lag))
        return (took >= asked and not self.lost and not self.wrong and grown <= MEMORY_GROWS_MOST and
                max(self.peaks) <= PEAK_MOST and drift <= DRIFT_MOST and lag <= LAG_MOST)


def is_finished(path):
    """The size of the records is written last: perf.data(5), header, u64 at byte 48."""
    with open(path, "rb") as file:
        return any(file.read(56)[48:])


def parts_of(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("soak.data."))


def ended(recorder, seconds):
    """Whether the process ends within this time."""
    try:
        recorder.wait(timeout=seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def soak(folder, seconds, frequency):
    words = [PERFRAY, "record", "-a", "-e", "cpu-clock", "-F", str(frequency), "-k", "CLOCK_MONOTONIC",
             "--switch-output=%ds" % min(PART_SECONDS, max(seconds // 3, 1)), "-o", os.path.join(folder, "soak.data"), "sleep", str(seconds)]
    look_seconds = min(5, seconds / 12)
    state, begun = Soak(), time.monotonic()
    recorder = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    while not ended(recorder, look_seconds):
        state.look(recorder.pid)
        for name in parts_of(folder)[:-1]:
            if is_finished(os.path.join(folder, name)):
                state.end_part(recorder.pid)
                state.take(os.path.join(folder, name))
    took = time.monotonic() - begun
    for name in parts_of(folder):
        state.take(os.path.join(folder, name))
    return state.holds(seconds, took) and recorder.returncode == 0


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 1800
    frequency = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    with tempfile.TemporaryDirectory(prefix="perfray-soak-") as folder:
        return 0 if soak(folder, seconds, frequency) else 1


if __name__ == "__main__":
    sys.exit(main())
