#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_runtime.sh [ROUNDS [CALLS]] - what a call costs under perfray's flight recorder, LLVM's and uftrace, in turns.
#
#   RUNTIME=build/src/runtime bench/run_runtime.sh 15
#
# Each round runs each of them once, in changing order, and counts the best of forty loops; the table has
# the median of the rounds, in ns for an enter and an exit with the call itself. `floor` has hooks that read the
# counter and store it: no recorder can be below it. What is not installed is left out, and said.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-15} calls=${2:-100000}
runtime=$(cd "${RUNTIME:-build/src/runtime}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
source=$here/runtime_calls.c
cd "$scratch"
"${CC:-gcc}" -O2 -pthread "$source" -o plain
"${CC:-gcc}" -O2 -finstrument-functions -DFLOOR "$source" -o floor
"${CC:-gcc}" -O2 -finstrument-functions "$source" -o perfray "$runtime/libperfray-rt.so.0" "-Wl,-rpath,$runtime"
"${CC:-gcc}" -O2 -finstrument-functions "$source" -o static "$runtime/libperfray-rt.a"
"${CC:-gcc}" -O2 -finstrument-functions "$source" -o hooked
sleds=
if command -v clang-19 >/dev/null 2>&1 && clang-19 -O2 "$source" -o clang -pthread &&
    clang-19 -O2 -fxray-instrument -fxray-instruction-threshold=1 -c "$source" -o sleds.o; then
    clang-19 sleds.o -pthread -Wl,-u,pfr_rt_start "$runtime/libperfray-rt.so.0" "-Wl,-rpath,$runtime" -o sleds
    sleds="clang sleds-off sleds"
fi
ways="plain floor off perfray static perfray-all $sleds"
if command -v clang-19 >/dev/null 2>&1 && clang-19 -O2 -fxray-instrument -DLLVM_FDR "$source" -o llvm 2>llvm.txt; then
    ways="$ways llvm"
else
    echo "LLVM's recorder is left out: clang-19 cannot build for it" >&2
fi
if command -v uftrace >/dev/null 2>&1; then ways="$ways uftrace"; else echo "uftrace is not installed" >&2; fi

# LLVM's runtime reads the counter only where the system tells its rate, and else a slower clock: that is told to it.
cat >with_tsc.sh <<'END'
mount -t tmpfs none /sys/devices/system/cpu && mkdir /sys/devices/system/cpu/cpu0 &&
    echo 2600000 >/sys/devices/system/cpu/cpu0/tsc_freq_khz
exec "$@"
END
with_tsc=
if [ "$(id -u)" -eq 0 ] && [ ! -e /sys/devices/system/cpu/cpu0/tsc_freq_khz ]; then
    with_tsc="unshare -m sh $scratch/with_tsc.sh"
elif [ ! -e /sys/devices/system/cpu/cpu0/tsc_freq_khz ]; then
    echo "LLVM's recorder reads the clock here, not the counter" >&2
fi

one() { # way kind -> ns
    rm -rf trace uftrace.data
    case $1 in
    perfray | static | sleds) PERFRAY_RT="file=trace keep=last size=1600k buffer=16k" ./"$1" "$2" "$calls" ;;
    perfray-all) PERFRAY_RT="file=trace keep=first size=1G" ./perfray "$2" "$calls" ;;
    off) ./perfray "$2" "$calls" ;;
    sleds-off) ./sleds "$2" "$calls" ;;
    llvm) $with_tsc ./llvm "$2" "$calls" ;;
    uftrace) uftrace record --no-libcall -d uftrace.data ./hooked "$2" "$calls" 2>/dev/null ;;
    *) ./"$1" "$2" "$calls" ;;
    esac
}

for kind in tiny parse two; do
    for round in $(seq "$rounds"); do
        [ $((round % 2)) -eq 0 ] && turn=$(echo "$ways" | tr ' ' '\n' | tac) || turn=$ways
        for way in $turn; do
            printf '%s %s %s\n' "$kind" "$way" "$(one "$way" "$kind" 2>/dev/null | tail -n 1)" >>results
        done
    done
done
sort -k1,1 -k2,2 -k3,3n results | awk '
    { key = $1 " " $2; if (key != last) { finish(); last = key; n = 0 } value[n++] = $3 }
    function finish() { if (n) median[last] = value[int(n / 2)] }
    END {
        finish()
        split("plain clang floor off sleds-off perfray static sleds perfray-all llvm uftrace", ways)
        printf "%-14s %10s %10s %10s\n", "ns a call", "tiny", "parse", "two"
        for (i = 1; i in ways; i++)
            if (("tiny " ways[i]) in median)
                printf "%-14s %10.2f %10.2f %10.2f\n", ways[i], median["tiny " ways[i]], median["parse " ways[i]], median["two " ways[i]]
        if (("tiny llvm") in median)
            printf "perfray / LLVM FDR: tiny %.2f, parse %.2f (at most 0.5)\n", median["tiny perfray"] / median["tiny llvm"],
                median["parse perfray"] / median["parse llvm"]
        if (("tiny uftrace") in median)
            printf "perfray-all / uftrace: tiny %.2f, parse %.2f (at most 0.4)\n",
                median["tiny perfray-all"] / median["tiny uftrace"], median["parse perfray-all"] / median["parse uftrace"]
        printf "two threads / one: perfray %.2f (at most 1.1)\n", median["two perfray"] / median["tiny perfray"]
        printf "above the floor: tiny %.2f ns, parse %.2f ns (at most 10)\n", median["tiny perfray"] - median["tiny floor"],
            median["parse perfray"] - median["parse floor"]
    }'
# Sleds that are off, beside the spread of one and the same program.
if [ -n "$sleds" ]; then
    for kind in tiny parse; do
        for round in $(seq 31); do
            printf '%s %s %s\n' "$(one clang $kind)" "$(one clang $kind)" "$(one sleds-off $kind)"
        done | awk -v kind=$kind '
            function median(list, n,    i, k, t) {
                for (i = 1; i < n; i++) for (k = i; k > 0 && list[k - 1] > list[k]; k--) {
                    t = list[k]; list[k] = list[k - 1]; list[k - 1] = t
                }
                return list[int(n / 2)]
            }
            { a[NR - 1] = $1; b[NR - 1] = $2; c[NR - 1] = $3; for (i = 1; i <= 2; i++) {
                if (NR + i == 2 || $i < low) low = $i; if ($i > high) high = $i } }
            END { printf "sleds off, 31 runs, %s: %.2f; without sleds %.2f and %.2f, from %.2f to %.2f\n", kind,
                median(c, NR), median(a, NR), median(b, NR), low, high }'
    done
fi
rm -rf trace
PERFRAY_RT="file=trace keep=first size=1G" ./perfray tiny "$calls" >/dev/null
"${PERFRAY:-$here/../build/tool/perfray}" latency -f csv trace | awk -F , -v bytes="$(du -B1 trace | cut -f 1)" \
    'NR > 1 { n += $4 } END { printf "bytes a call, what the trace says of itself counted: %.2f (at most 16, and 1 for buffers)\n", bytes / n }'
