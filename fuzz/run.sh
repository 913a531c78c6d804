#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the targets of fuzz/targets, two at a time, and prints one line for each. Exit status 1 if there was a finding.
#
#   ./dev fuzz [--seconds N] [--engine libfuzzer|afl] [--store] [TARGET...]
#
# --seconds N   for each target (60)
# --engine E    libfuzzer (default) or afl: AFL++
# --store       afterwards, if there was no finding, replaces fuzz/corpus by a small set of inputs that covers every edge that
#               was reached; libfuzzer only
#
# All results are in build-fuzz/: inputs (corpus), findings (findings), output of the engines (logs).
set -u
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C
export LC_ALL
kept=build-fuzz

say() { printf '%s\n' "fuzz: $*" >&2; }
die() {
    say "$*"
    exit 2
}

rows() { grep -v '^#' fuzz/targets; }
longest_of() { rows | awk -v name="$1" '$1 == name { print $2 }'; }
stored_of() { rows | awk -v name="$1" '$1 == name { print $3 }'; }

build() { # engine, compiler
    folder=$kept/$1
    if [ ! -f "$folder/build.ninja" ]; then
        CC=$2 meson setup "$folder" -Dfuzz="$1" -Dtests=false -Dmanual=disabled -Db_sanitize=address,undefined \
            -Db_lundef=false -Doptimization=1 -Dc_args=-fno-sanitize-recover=all \
            -Dc_link_args=-fno-sanitize-recover=all >"$kept/logs/setup-$1.log" 2>&1 ||
            die "$folder cannot be configured: see $kept/logs/setup-$1.log"
    fi
    ninja -C "$folder" >"$kept/logs/build-$1.log" 2>&1 || {
        tail -n 30 "$kept/logs/build-$1.log" >&2
        die "the build failed"
    }
    /usr/bin/python3 fuzz/seed.py "$kept/seeds" "$folder/fuzz/seed_layouts" "$folder/tool/perfray" || die "no seeds"
}

print_line() { # arguments: target, executions, executions per second, edges, finding
    printf '%-14s %9s executions %7s/s %6s edges  %s\n' "$@"
}

# --- libFuzzer

number_of() { # name of a statistic, log
    sed -n "s/^stat::$1: *//p" "$2" | tail -n 1
}

what_was_found() { # log
    grep -m 1 -E 'does not hold|runtime error|ERROR: (Address|Leak)Sanitizer|ERROR: libFuzzer' "$1" || echo "see $1"
    sed -n 's/.*Test unit written to /    /p' "$1"
}

run_libfuzzer() { # target, seconds
    log=$kept/logs/$1.log
    mkdir -p "$kept/corpus/$1" "fuzz/corpus/$1"
    nice -n 10 "$kept/libfuzzer/fuzz/fuzz_$1" -max_total_time="$2" -max_len="$(longest_of "$1")" -timeout=10 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$kept/findings/$1-" \
        "$kept/corpus/$1" "fuzz/corpus/$1" "$kept/seeds/$1" >"$log" 2>&1
    status=$?
    edges=$(grep -o ' cov: [0-9]*' "$log" | tail -n 1)
    found='no finding'
    [ $status -eq 0 ] || found="FOUND: $(what_was_found "$log")"
    print_line "$1" "$(number_of number_of_executed_units "$log")" "$(number_of average_exec_per_sec "$log")" \
        "${edges##* }" "$found"
    return $status
}

store() { # target
    new=$kept/store/$1
    rm -rf "$new"
    mkdir -p "$new" "fuzz/corpus/$1"
    TMPDIR=$PWD/$kept/tmp nice -n 10 "$kept/libfuzzer/fuzz/fuzz_$1" -set_cover_merge=1 -use_counters=0 \
        -artifact_prefix="$kept/findings/$1-" -max_len="$(stored_of "$1")" -timeout=10 \
        "$new" "fuzz/corpus/$1" "$kept/corpus/$1" "$kept/seeds/$1" \
        >"$kept/logs/store-$1.log" 2>&1 ||
        die "$1: see $kept/logs/store-$1.log"
    find "fuzz/corpus/$1" -type f ! -name 'finding-*' -exec rm -f {} +
    cp "$new"/* "fuzz/corpus/$1/"
}

# --- AFL++

stat_of() { # name, fuzzer_stats
    sed -n "s/^$1 *: *//p" "$2"
}

run_afl() { # target, seconds
    out=$kept/afl-out/$1
    rm -rf "$out" "$kept/afl-in/$1"
    mkdir -p "$kept/afl-out" "$kept/afl-in/$1"
    for from in "fuzz/corpus/$1" "$kept/seeds/$1" "$kept/corpus/$1"; do
        [ -d "$from" ] && find "$from" -type f -size "-$(longest_of "$1")c" -exec cp {} "$kept/afl-in/$1/" \;
    done
    AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_NO_UI=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0 \
        UBSAN_OPTIONS=abort_on_error=1:halt_on_error=1:symbolize=0 \
        nice -n 10 afl-fuzz -i "$kept/afl-in/$1" -o "$out" -V "$2" -G "$(longest_of "$1")" -t 5000 -m none \
        -- "$kept/afl/fuzz/fuzz_$1" >"$kept/logs/afl-$1.log" 2>&1
    stats=$out/default/fuzzer_stats
    [ -f "$stats" ] || {
        print_line "$1" - - - "NOT RUN: see $kept/logs/afl-$1.log"
        return 1
    }
    found=0
    for input in "$out"/default/crashes/id:* "$out"/default/hangs/id:*; do
        [ -f "$input" ] || continue
        found=$((found + 1))
        cp "$input" "$kept/findings/$1-afl-$found"
    done
    said='no finding'
    [ $found -eq 0 ] || said="FOUND: $found in $kept/findings"
    print_line "$1" "$(stat_of execs_done "$stats")" "$(stat_of execs_per_sec "$stats")" \
        "$(stat_of edges_found "$stats")" "$said"
    [ $found -eq 0 ]
}

# --- All

if [ "${1:-}" = --one ]; then # arguments: engine, seconds, target; runs one of the jobs below
    TMPDIR=$PWD/$kept/tmp
    UBSAN_OPTIONS=print_stacktrace=1
    ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-14)
    export TMPDIR UBSAN_OPTIONS ASAN_SYMBOLIZER_PATH
    "run_$2" "$4" "$3"
    exit $?
fi

seconds=60 engine=libfuzzer store='' targets=''
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=${2:-} && shift ;;
    --engine) engine=${2:-} && shift ;;
    --store) store=1 ;;
    -*) die "usage: ./dev fuzz [--seconds N] [--engine libfuzzer|afl] [--store] [TARGET...]" ;;
    *)
        [ -n "$(longest_of "$1")" ] || die "there is no target $1 in fuzz/targets"
        targets="$targets $1"
        ;;
    esac
    [ $# -gt 0 ] && shift
done
case $seconds in '' | *[!0-9]*) die "--seconds needs a number" ;; esac
[ -n "$targets" ] || targets=$(rows | awk '{ print $1 }')

mkdir -p "$kept/logs" "$kept/findings" "$kept/tmp"
case $engine in
libfuzzer) build libfuzzer clang-14 ;;
afl) build afl afl-clang-fast ;;
*) die "--engine is libfuzzer or afl" ;;
esac
# shellcheck disable=SC2086 # several names
printf '%s\n' $targets | xargs -P 2 -I NAME sh fuzz/run.sh --one "$engine" "$seconds" NAME
status=$?
if [ -n "$store" ] && [ "$engine" = libfuzzer ] && [ $status -eq 0 ]; then
    for target in $targets; do
        store "$target"
    done
    say "fuzz/corpus has $(find fuzz/corpus -type f | wc -l) inputs, $(find fuzz/corpus -type f -exec cat {} + | wc -c) bytes"
fi
[ $status -eq 0 ]
