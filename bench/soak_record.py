#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak_record.py [SECONDS [FREQUENCY]] - records the whole machine for long: does the recorder's memory stay flat, does it
lose nothing, and do the times in its files stay with the wall clock?

Environment: PERFRAY, the command. Every minute a new part is begun (--switch-output); the finished one is checked by
`verify`, asked for its losses, counts and times, and deleted, so that the disk holds two parts. Drift is how the clock of
the samples moved against the wall clock, by the pairs of both in the headers; lag is how far the last sample of a part lies
from the pair of the next, which is read when that begins. Exit status 1: something does not hold. The numbers are printed
as they come and once more in sum.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

PERFRAY = os.environ.get("PERFRAY", "build/tool/perfray")
PART_SECONDS = 60  # or a third of the whole
MEMORY_GROWS_MOST = 1 << 20
DRIFT_MOST = 0.01
LAG_MOST = 1.0


def text(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode("utf-8", "replace")


def resident(pid):
    """Bytes of the process itself; the rings, which are shared with the kernel, are always as large."""
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
    return int(found.group(1)) * 1024 if found else 0


def clocks(info):
    """What the header's pair says: the event clock and the wall clock, both in seconds."""
    found = re.search(r"^clock\s+monotonic, (\d+) ns at (\S+ \S+)$", info, re.M)
    whole, part = found.group(2).split(".")
    return int(found.group(1)) / 1e9, time.mktime(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float("0." + part)


class Soak:
    def __init__(self):
        self.last = None
        self.samples = self.lost = self.parts = self.wrong = 0
        self.memory, self.offsets, self.lags = [], [], []

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
        print("part %d: %d samples, %d lost so far, clocks %.6f s apart from the first part, %d KB" %
              (self.parts, samples, self.lost, self.offsets[-1] - self.offsets[0],
               self.memory[-1] >> 10 if self.memory else 0), flush=True)
        os.unlink(path)

    def note_times(self, clock, wall, last):
        self.offsets.append(wall - clock)
        if self.last is not None:
            self.lags.append(abs(clock - self.last))
        self.last = last

    def holds(self, asked, took):
        # A recorder is as large as the state of the liveliest part so far; it must not go on growing.
        half = len(self.memory) // 2
        steady = self.memory[half:] or [0]
        grown = max(steady) - max(self.memory[:half] or [0])
        drift, lag = max(self.offsets) - min(self.offsets), max(self.lags)
        print("%d s: %d parts, %d wrong, %d samples (%.0f a second), %d lost, memory %d to %d KB, %d KB more than in the first "
              "half, drift %.6f s, lag at most %.6f s" %
              (took, self.parts, self.wrong, self.samples, self.samples / took, self.lost, min(self.memory) >> 10,
               max(self.memory) >> 10, grown // 1024, drift, lag))
        return (took >= asked and not self.lost and not self.wrong and grown <= MEMORY_GROWS_MOST and drift <= DRIFT_MOST and
                lag <= LAG_MOST)


def parts_of(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("soak.data."))


def ended(recorder):
    """Whether it has, within five seconds."""
    try:
        recorder.wait(timeout=5)
        return True
    except subprocess.TimeoutExpired:
        return False


def soak(folder, seconds, frequency):
    words = [PERFRAY, "record", "-a", "-e", "cpu-clock", "-F", str(frequency), "-k", "CLOCK_MONOTONIC",
             "--switch-output=%ds" % min(PART_SECONDS, max(seconds // 3, 1)), "-o", os.path.join(folder, "soak.data"), "sleep", str(seconds)]
    state, begun = Soak(), time.monotonic()
    recorder = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    before = []
    while not ended(recorder):
        state.memory.append(resident(recorder.pid))
        for name in before[:-1]:  # the newest one of five seconds ago may only now be finished
            state.take(os.path.join(folder, name))
        before = parts_of(folder)
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
