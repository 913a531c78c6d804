#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_traces.sh - compares perfray and llvm-xray (bench/compare_traces.py) on traces that bench/make_trace.c makes.
#
#   PERFRAY=build/tool/perfray bench/run_traces.sh [options of compare_traces.py]
#
# The inputs are kept in the folder PERFRAY_BENCH_INPUTS, and made there if they are missing; if the variable is not
# set, in a temporary folder that is removed. They take 320 MB, and llvm-xray takes 5 GB of memory.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v llvm-xray >/dev/null 2>&1 || { echo "run_traces.sh: llvm-xray is not installed" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
inputs=${PERFRAY_BENCH_INPUTS:-$scratch}
MEASURE=$scratch/measure
export MEASURE
"${CC:-cc}" -O2 -o "$MEASURE" "$here/measure.c"
"${CC:-cc}" -O2 -o "$scratch/make_trace" "$here/make_trace.c"
for size in 64 256; do
    [ -s "$inputs/trace-$size.xray" ] || "$scratch/make_trace" "$inputs/trace-$size.xray" "$size" 4
done
/usr/bin/python3 "$here/compare_traces.py" --inputs "$inputs" "$@"
