#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_runtime.sh - compares the cost of a call under perfray's flight recorder, LLVM's and uftrace (compare_runtime.py).
#
#   RUNTIME=build/src/runtime PERFRAY=build/tool/perfray bench/run_runtime.sh [--rounds 15] [--only WORD] [--disk FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec /usr/bin/python3 "$here/compare_runtime.py" "$@"
