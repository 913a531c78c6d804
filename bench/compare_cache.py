# SPDX-License-Identifier: Apache-2.0
"""compare_cache.py PERFRAY ROUNDS - prints the table of run_cache.sh for cache.data in the current folder."""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

VERBS = {"script -F +srcline": ["script", "-F", "+srcline", "-j", "1"], "report --inline": ["report", "--inline", "-s", "sym,srcline", "-j", "1"]}
WAYS = ("unnamed", "without", "first", "second")
BAR = 0.10


def cost(words, **environment):
    """The user + system time of a run, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    perfray, rounds = sys.argv[1], int(sys.argv[2])
    missed = False
    print("| command | opens nothing | without | first | second | naming, second of first | bar | |\n|---|---|---|---|---|---|---|---|")
    for name, words in VERBS.items():
        taken = {way: [] for way in WAYS}
        folder = tempfile.mkdtemp()
        for _ in range(rounds):
            shutil.rmtree(folder)
            run = [perfray, *words, "--no-pager", "cache.data"]
            taken["unnamed"].append(cost([*run, "--no-symbols"]))
            taken["without"].append(cost([*run, "--no-cache"]))
            for way in ("first", "second"):
                taken[way].append(cost(run, XDG_CACHE_HOME=folder))
        shutil.rmtree(folder)
        median = {way: statistics.median(taken[way]) for way in WAYS}
        share = (median["second"] - median["unnamed"]) / (median["first"] - median["unnamed"])
        missed = missed or share > BAR
        print("| %s | %s | %.1f %% | %.0f %% | %s |" % (name, " | ".join("%.3f s" % median[way] for way in WAYS), 100 * share, 100 * BAR,
                                                       "**missed**" if share > BAR else "met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
