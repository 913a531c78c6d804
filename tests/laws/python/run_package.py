#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package as users have it: installed, with its documents.

package/install   pip installs bindings/python into a new venv, without network; the package has its files, version and library
package/system    `meson install` (`./dev install`) installs all files of the package, below the prefix, into a folder that Python searches
package/page      every Python block in bindings/python/README.md runs there, without numpy and pandas if it does not use them
package/examples  bindings/python/examples print the expected output
package/types     names of the package have annotations; py.typed exists
"""
import inspect
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

SOURCE = os.path.join(harness.ROOT, "bindings", "python")
RECORDED, XRAY = os.path.join(harness.FIXTURES, "recorded"), os.path.join(harness.FIXTURES, "xray")
NO_NETWORK = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
              "PYTHONDONTWRITEBYTECODE": "1"}
ASK = """
import perfray, perfray._library, sys
print(perfray.__version__, perfray.__file__, perfray._library.library._name)
print("numpy" in sys.modules, perfray.open_model(sys.argv[1]).flat()[0].weight)
"""


def clean(**more):
    """An environment without references to this tree."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PERFRAY", "PYTHON"))}
    return dict(kept, **NO_NETWORK, **more)


def must_run(words, **more):
    done = harness.run(words, **more)
    harness.must(done.returncode == 0, "%s: %s" % (" ".join(words), done.stderr.decode()[-1500:]))
    return done.stdout.decode()


def install(folder):
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        raise harness.Skip("python3-venv is not installed") from None
    venv = os.path.join(folder, "venv")
    must_run([sys.executable, "-m", "venv", venv], env=clean())
    pip = [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", SOURCE]
    must_run(pip, env=clean(PERFRAY_LIBRARY=os.environ["PERFRAY_LIBRARY"]))
    return venv


def check_install(folder):
    venv = install(folder)
    python = os.path.join(venv, "bin", "python")
    answers = must_run([python, "-c", ASK, os.path.join(RECORDED, "demo.data")], env=clean(), cwd=folder).split()
    harness.must(answers[1].startswith(venv) and answers[2].startswith(venv), "another package or library: %s" % answers)
    version = must_run([harness.PERFRAY, "--version"]).split()[1]
    harness.must(answers[0] == version, "version %s, the command's is %s" % (answers[0], version))
    harness.must(answers[3:] == ["False", "164164164"], "flat() in a new venv: %s" % answers)
    names = set(os.listdir(os.path.dirname(answers[1])))
    expected = {name for name in os.listdir(os.path.join(SOURCE, "perfray")) if name.endswith((".py", ".typed"))} | {"libperfray.so.0"}
    harness.must(names >= expected and "py.typed" in names, "missing: %s" % (expected - names))


def check_system(folder):
    """A package installed below a folder finds the library as one installed into the system does."""
    library = os.environ["PERFRAY_LIBRARY"]
    build = os.path.dirname(library)
    if not shutil.which("meson") or not os.path.exists(os.path.join(build, "build.ninja")):
        raise harness.Skip("meson is not installed, or this is not a build folder of meson")
    must_run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--tags", "python-runtime"], env=dict(os.environ, DESTDIR=folder))
    packages = [path for path, _, names in os.walk(folder) if "__init__.py" in names]
    harness.must(len(packages) == 1, "installed packages: %s" % packages)
    expected = {name for name in os.listdir(os.path.join(SOURCE, "perfray")) if name.endswith((".py", ".typed"))}
    harness.must(set(os.listdir(packages[0])) == expected, "files differ: %s" % (set(os.listdir(packages[0])) ^ expected))
    where = os.path.dirname(packages[0])
    answers = must_run(["/usr/bin/python3", "-c", ASK, os.path.join(RECORDED, "demo.data")],
                    env=clean(PYTHONPATH=where, LD_LIBRARY_PATH=build), cwd=folder).split()
    harness.must(answers[1].startswith(where) and answers[3:] == ["False", "164164164"], "another package: %s" % answers)
    sys.path.insert(0, SOURCE)
    from install_folder import install_folder
    debian = ["/usr/local/lib/python3.11/dist-packages", "/usr/lib/python3/dist-packages"]
    harness.must([install_folder(prefix, debian) for prefix in ("/usr/local", "/usr")] == debian, "another folder is chosen on Debian")
    harness.must("/opt/lib/python" in install_folder("/opt", debian), "another folder is chosen below /opt")


# --- The page

def blocks():
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def check_page(folder):
    for name, path in (("perf.data", os.path.join(RECORDED, "chains.data")), ("trace.xray", os.path.join(XRAY, "fdr-v5.xray")),
                       ("clock.data", os.path.join(RECORDED, "clock.data"))):
        shutil.copy(path, os.path.join(folder, name))
    found = blocks()
    harness.must(len(found) >= 8, "%d blocks of Python in the page" % len(found))
    for number, block in enumerate(found):
        script = os.path.join(folder, "block%d.py" % number)
        with open(script, "w", encoding="utf-8") as file:
            file.write(block)
        done = harness.run([sys.executable, script], cwd=folder, env=dict(os.environ, PYTHONPATH=SOURCE, PYTHONDONTWRITEBYTECODE="1"))
        if b"not permitted" in done.stderr or b"perf_event_paranoid" in done.stderr:
            continue  # recording is not possible on this machine
        harness.must(done.returncode == 0, "block %d of README.md: %s\n%s" % (number + 1, block, done.stderr.decode()[-1000:]))
    return "%d blocks" % len(found)


# --- Examples

def example(name, *words):
    env = dict(os.environ, PYTHONPATH=SOURCE, PYTHONDONTWRITEBYTECODE="1")
    done = harness.run([sys.executable, os.path.join(SOURCE, "examples", name), *words], env=env)
    harness.must(b"Traceback" not in done.stderr, "%s: %s" % (name, done.stderr.decode()[-1000:]))
    return done.returncode, done.stdout.decode().splitlines()


def check_examples():
    chains = os.path.join(RECORDED, "chains.data")
    status, lines = example("top_per_thread.py", chains, "2")
    harness.must(status == 0 and [line.split() for line in lines][:2] == [
        ["11421", "steps", "50.00", "%", "_dl_relocate_object"], ["11421", "steps", "50.00", "%", "0x00000000000011d2"]], "\n".join(lines))
    status, lines = example("latency_histogram.py", os.path.join(XRAY, "fdr-v5.xray"), "#1")
    harness.must(status == 0 and lines[0] == "#1: 2 calls, p50 300, p99 4999000120, max 4999000120 ns" and len(lines) > 2, "\n".join(lines))
    for limit, expected in (("90", 0), ("80", 1)):
        status, lines = example("check_share.py", chains, "__libc_start_call_main", limit)
        harness.must((status, lines) == (expected, ["__libc_start_call_main takes 84.00 %%, the limit is %s.00 %%" % limit]), "\n".join(lines))
    status, lines = example("check_share.py", os.path.join(RECORDED, "killed.data"), "main", "5")
    harness.must(status == 2, "a damaged recording: status %d" % status)


# --- Types

def check_types():
    sys.path.insert(0, SOURCE)
    import perfray
    bare = []
    for name in perfray.__all__:
        thing = getattr(perfray, name)
        harness.must(inspect.getdoc(thing), "%s has no docstring" % name)
        functions = [thing] if inspect.isfunction(thing) else [one for key, one in vars(thing).items()
                                                               if inspect.isfunction(one) and not key.startswith("_")]
        for function in functions:
            parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
            if any(one.annotation is one.empty for one in parameters) or "return" not in function.__annotations__:
                bare.append("%s.%s" % (name, function.__name__))
    harness.must(not bare, "without annotations: %s" % ", ".join(bare))
    return "%d names" % len(perfray.__all__)


def main():
    if not harness.has_command() or not os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
        return harness.skip("package", "PERFRAY or PERFRAY_LIBRARY is not set")
    with harness.scratch("package") as folder:
        harness.attempt("package/install", check_install, folder)
    with harness.scratch("package") as folder:
        harness.attempt("package/system", check_system, folder)
    try:
        import pandas  # noqa: F401
    except ImportError:
        harness.skip("package/page", "pandas is not installed")
    else:
        with harness.scratch("package") as folder:
            harness.attempt("package/page", check_page, folder)
        harness.attempt("package/examples", check_examples)
    harness.attempt("package/types", check_types)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
