#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_edit.sh - compares convert, verify and recover with cp and libzstd (bench/compare_edit.py), with outputs in memory.
#
#   PERFRAY=build/tool/perfray bench/run_edit.sh [options of compare_edit.py]
#
# The inputs are those of run.sh and run_traces.sh. They are kept in the folder PERFRAY_BENCH_INPUTS, and made there if they are
# missing; if the variable is not set, in a temporary folder that is removed. /dev/shm must have room for 600 MB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
inputs=${PERFRAY_BENCH_INPUTS:-$scratch}
MEASURE=$scratch/measure ZSTD_PACE=$scratch/zstd_pace
export MEASURE ZSTD_PACE
"${CC:-cc}" -O2 -o "$MEASURE" "$here/measure.c"
"${CC:-cc}" -O2 -o "$ZSTD_PACE" "$here/zstd_pace.c" -lzstd
"${CC:-cc}" -O2 -o "$scratch/make_trace" "$here/make_trace.c"
[ -s "$inputs/flat.data" ] || "$here/make-inputs.sh" "$inputs" flat >&2
[ -s "$inputs/fp-small.data" ] || "$here/make-inputs.sh" "$inputs" fp100 >&2
[ -s "$inputs/trace-64.xray" ] || "$scratch/make_trace" "$inputs/trace-64.xray" 64 4
TMPDIR=/dev/shm /usr/bin/python3 "$here/compare_edit.py" --inputs "$inputs" "$@"
