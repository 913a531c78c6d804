#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh - compares CPU time and peak memory of perfray and perf (bench/compare_peer.py) on inputs of
# bench/make-inputs.sh.
#
#   PERFRAY=build/tool/perfray bench/run.sh [--quick] [options of compare_peer.py]
#
# The inputs are kept in the folder PERFRAY_BENCH_INPUTS, and made there if they are missing. If the variable is not
# set, they are made in a temporary folder that is removed. --quick makes small inputs, whose ratios are not meaningful
# because they include perf's fixed cost.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sizes=
if [ "${1:-}" = --quick ]; then
    sizes="small_mb=10 big_mb=50 dsos=4 procs=2 secs=2"
    shift
fi
command -v perf >/dev/null 2>&1 || { echo "run.sh: perf is not installed" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
inputs=${PERFRAY_BENCH_INPUTS:-$scratch}
MEASURE=$scratch/measure
export MEASURE
"${CC:-cc}" -O2 -o "$MEASURE" "$here/measure.c"
make_input() { # file, target of make-inputs.sh
    # shellcheck disable=SC2086 # several words
    [ -s "$inputs/$1" ] || "$here/make-inputs.sh" "$inputs" $sizes "$2" >&2
}
make_input fp-big.data fp1000
make_input fp-small.data fp100
make_input pipe.data pipe
make_input steady.data steady
make_input flat.data flat
make_input procs.data procs
make_input tiny.data tiny
/usr/bin/python3 "$here/compare_peer.py" --inputs "$inputs" "$@"
