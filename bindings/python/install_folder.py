# SPDX-License-Identifier: Apache-2.0
"""Prints the folder for packages below a prefix: the first one that Python searches, on Debian
/usr/local/lib/python3.11/dist-packages for /usr/local; if it searches none there, the usual one.

    install_folder.py PREFIX
"""
import site
import sys


def install_folder(prefix, searched):
    usual = "%s/lib/python%d.%d/site-packages" % (prefix, *sys.version_info[:2])
    return next((path for path in searched if path.startswith(prefix + "/lib")), usual)


if __name__ == "__main__":
    print(install_folder(sys.argv[1].rstrip("/"), site.getsitepackages()))
