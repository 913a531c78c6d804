# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: the modules of perfray/ and libperfray.so.0 in a zip file, as PEP 517 and PEP 427 say.

    pip install --no-index --no-build-isolation bindings/python

The library is that of PERFRAY_LIBRARY, or build/libperfray.so.0 of the tree (`./dev build`). It needs this system's zstd, zlib,
lzma, xxhash, traceevent and sqlite3 libraries, so the wheel works on machines with the same versions. Only Python's standard
library is used, because setuptools needs the package wheel, which a new venv lacks.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "libperfray.so.0"
STAMP = (1980, 1, 1, 0, 0, 0)  # fixed, so that equal inputs make equal wheels


class UnsupportedOperation(Exception):
    """Raised for hooks that the backend does not have (PEP 517)."""


def version():
    with open(os.path.join(HERE, "perfray", "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "(.*)"', file.read(), re.M)[1]


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def library():
    path = os.environ.get("PERFRAY_LIBRARY") or os.path.join(HERE, "..", "..", "build", LIBRARY)
    if not os.path.isfile(path):
        raise FileNotFoundError("%s does not exist: run ./dev build first, or set PERFRAY_LIBRARY" % os.path.normpath(path))
    return path


def stripped(path):
    """The bytes of the library, without debugging information where `strip` is installed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copyfile(path, os.path.join(folder, LIBRARY))
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", copy], check=True)
        with open(copy, "rb") as file:
            return file.read()


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        project = file.read()
    fact = {key: re.search(r'^%s = "(.*)"' % key, project, re.M)[1] for key in ("description", "requires-python")}
    extras = "".join('Requires-Dist: %s; extra == "frames"\n' % name for name in ("numpy", "pandas"))
    return ("Metadata-Version: 2.1\nName: perfray\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\n"
            "Provides-Extra: frames\n%sDescription-Content-Type: text/markdown\n\n%s"
            % (version(), fact["description"], fact["requires-python"], extras, readme))


def contents():
    """(name in the wheel, bytes) of all files but RECORD."""
    for folder, folders, names in os.walk(os.path.join(HERE, "perfray")):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith((".py", ".typed")):
                with open(path, "rb") as file:
                    yield os.path.relpath(path, HERE), file.read()
    yield "perfray/" + LIBRARY, stripped(library())
    info = "perfray-%s.dist-info/" % version()
    yield info + "METADATA", metadata().encode()
    yield info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: perfray\nRoot-Is-Purelib: false\nTag: %s\n" % tag()).encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "perfray-%s-%s.whl" % (version(), tag())
    record = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
            wheel.writestr(_entry(path), data)
        own = "perfray-%s.dist-info/RECORD" % version()
        wheel.writestr(_entry(own), "".join(record) + own + ",,\n")
    return name


def _entry(path):
    entry = zipfile.ZipInfo(path, STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if path.endswith(LIBRARY) else 0o644) << 16
    return entry


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("the sources of the library are the whole tree: build a wheel")
