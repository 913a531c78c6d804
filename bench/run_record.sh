#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_record.sh - compares perfray record and perf record: CPU per sample, memory, losses, `record true`
# (compare_record.py).
#
#   PERFRAY=build/tool/perfray bench/run_record.sh [--rounds N] [--markdown]
#
# It needs perf, root and the tracepoints of system calls.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v perf >/dev/null 2>&1 || { echo "run_record.sh: perf is not installed" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${CC:-cc}" -O2 -o "$scratch/measure" "$here/measure.c"
"${CC:-cc}" -O2 -o "$scratch/record_load" "$here/record_load.c"
MEASURE=$scratch/measure RECORD_LOAD=$scratch/record_load /usr/bin/python3 "$here/compare_record.py" "$@"
