# SPDX-License-Identifier: Apache-2.0
"""The sizes that PERFRAY_SIZES accepts, read from src/base/memory/sizes.def, and random values for them."""
import os
import random
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "src/base/memory/sizes.def"
JOBS = (1, 2, 3, 7)
WITH_JOBS = {"report", "script", "export", "flame", "symbols", "latency", "offcpu"}


def rows():
    """Returns [(name, default, minimum)] from the table; tests fail if it is empty."""
    found = re.findall(r'^SIZE\(\w+, "([\w-]+)", ([\d< ]+), (\d+), "', TABLE.read_text(encoding="utf-8"), re.M)
    assert len(found) == len(re.findall(r"^SIZE\(", TABLE.read_text(encoding="utf-8"), re.M)) > 0
    return [(name, eval(most, {"__builtins__": {}}), int(least)) for name, most, least in found]  # only digits and <<


def smallest():
    """All sizes at their minimum."""
    return ",".join("%s=%d" % (name, least) for name, _, least in rows())


def drawn(draw):
    """Draws from a random.Random: a quarter of the sizes keep their default, and the others are mostly small."""
    chosen = []
    for name, most, least in rows():
        if draw.random() < 0.25:
            continue
        value = least if draw.random() < 0.25 else least + int(2 ** (draw.random() * 16)) - 1
        chosen.append("%s=%d" % (name, min(value, most)))
    return ",".join(chosen)


def environment(sizes, seed=None):
    """The environment of a command with these sizes."""
    made = dict(os.environ, PERFRAY_SIZES=sizes)
    if seed is not None:
        made["PERFRAY_HASH_SEED"] = str(seed)
    return made


def of(name):
    """Sizes that depend only on the name; for a third of all names the defaults ("")."""
    draw = random.Random("sizes " + name)
    return drawn(draw) if draw.random() < 0.67 else ""


def jobs_of(name, command):
    """The -j arguments of a command, which depend only on the name; empty for a command without -j."""
    return ["-j", str(random.Random("jobs " + name).choice(JOBS))] if command in WITH_JOBS else []
