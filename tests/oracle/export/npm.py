# SPDX-License-Identifier: Apache-2.0
"""npm.py - programs from npm packages: OPTIONS["folder"] is the node_modules of build/npm, or None."""
import json
import os

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = {"folder": None}


def package(name):
    harness.need("node")
    folder = OPTIONS["folder"] and os.path.join(OPTIONS["folder"], name)
    if not folder or not os.path.isdir(folder):
        raise harness.Skip("the npm package %s is not installed" % name)
    return folder


def node(script, *words):
    done = harness.run(["node", os.path.join(HERE, script), OPTIONS["folder"], *words])
    harness.must(done.returncode == 0, "%s: %s" % (script, done.stderr.decode("utf-8", "replace")[-300:]))
    return json.loads(done.stdout)
