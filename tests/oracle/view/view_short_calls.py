# SPDX-License-Identifier: Apache-2.0
"""Tests the page of a trace with more calls than --max-size allows: latencies of the whole recording equal those of perfray latency, and rows of a selection that lack calls are marked."""
import json
import os
import random
import struct

import harness
import xray_files
from view_exercise import equal, must_be_quiet

PARSE, LOOKUP, HANDLE = 1, 3, 5  # of traced.yaml
THREADS, REQUESTS = (201, 202), 100  # requests in each buffer
BUFFERS = 30
FREQUENCY = 2100000000  # times are sums of ticks, then ns
KEYS = ("count", "sum", "self", "min", "p50", "p90", "p95", "p99", "p999", "max")


def requests(noise, at):
    """Steps of REQUESTS calls of handle, which calls the other functions, and the time after them."""
    steps = []
    for _ in range(REQUESTS):
        steps.append(("call", 0, HANDLE, at))
        for _ in range(40):
            func, most = (LOOKUP, 60) if noise.random() < 0.1 else (PARSE, 9000)
            steps.append(("call", 0, func, at + 3))
            at += 5 + noise.randrange(most)
            steps.append(("call", 1, func, at))
        at += 7
        steps.append(("call", 1, HANDLE, at))
    return steps, at + 11


def write(folder):
    """240 000 calls; those of parse are so many that their percentiles come from a sketch."""
    path, trace, noise = os.path.join(folder, "short.xray"), xray_files.Fdr(5), random.Random(27)
    with open(path, "wb") as file:
        header = trace.header()
        file.write(header[:8] + struct.pack("<Q", FREQUENCY) + header[16:])
        for thread in THREADS:
            at = 1000000
            for _ in range(BUFFERS):
                steps, after = requests(noise, at)
                file.write(trace.buffer(thread, 5, 3, at, steps))
                at = after
    return path


def job(page):
    steps = [["facts", "start"], ["tab", "Latency"], ["click", ".latencies tbody .name .link"], ["facts", "latency"], ["drag", 0.1, 0.4], ["facts", "selected"], ["tab", "Flame graph"], ["key", "Escape"], ["key", "Escape"], ["facts", "whole"]]
    return {"name": "short calls", "file": page, "steps": steps}


def grouped(number):
    return "{:,}".format(number).replace(",", "\u2009")


def check(result, trace, words):
    must_be_quiet(result)
    facts, made = result["facts"], json.loads(harness.perfray("latency", "--format=json", *words, trace).stdout)
    wanted = {row["function"]: [row[key] for key in KEYS] for row in made["rows"]}
    equal("latencies", {row["name"]: row["values"] for row in facts["latency"]["latencies"]}, wanted)
    equal("marks of the whole recording", [row["marked"] for row in facts["latency"]["latencies"]], ["", "", ""])
    harness.must(any(not row["exact"] for row in made["rows"]), "no percentile is from a sketch")
    lost = [row for row in facts["selected"]["latencies"] if row["marked"]]
    harness.must(0 < len(lost) and all("in the whole recording, each shorter than" in row["marked"] for row in lost), "%s" % facts["selected"]["latencies"])
    harness.must("The page leaves out %s calls in the whole recording" % grouped(made["calls"] - facts["whole"]["rows"]) in facts["selected"]["omitted"][0], "%s" % facts["selected"]["omitted"])
    harness.must(" of %s in the recording" % grouped(made["calls"]) in facts["whole"]["details"]["calls"], facts["whole"]["details"]["calls"])
    return "%d of %d calls" % (facts["whole"]["rows"], made["calls"])
