#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record-fixtures.sh - make the recordings of tests/fixtures/recorded again, and their README.md.
#
#   record-fixtures.sh [OUTDIR]        (default: tests/fixtures/recorded beside this script)
#
# Needs root, perf, gcc, unshare, and for some recordings tracefs, clang-14 and bpftool; what cannot be recorded here is
# named and left as it is. Programs and files lie in /tmp/perfray-demo, the host is called `demo`, the environment is
# empty, nothing but our own programs is recorded, and the local part of the kernel's release is overwritten with zero bytes in
# place, so no name of the recording machine gets into a file. The build-id cache is not written. demo.data is made by hand.
set -eu

tools=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$tools/../.." && pwd)
out=${1:-$root/tests/fixtures/recorded}
work=/tmp/perfray-demo
tracing=/sys/kernel/tracing
[ "$(id -u)" = 0 ] || { echo "record-fixtures.sh: needs root" >&2; exit 6; }
if [ "${PERFRAY_INSIDE:-}" != 1 ]; then
    mkdir -p "$out"
    exec unshare -u env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent \
        LC_ALL=C TZ=UTC PERFRAY_INSIDE=1 "$tools/record-fixtures.sh" "$(cd "$out" && pwd)"
fi
hostname demo

clean_up() {
    [ ! -e "$tracing/events/perfray/step" ] || echo '-:perfray/step' >>"$tracing/uprobe_events"
    rmdir /sys/fs/cgroup/perfray 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT
rm -rf --one-file-system "$work"
mkdir -p "$work"
cd "$work"
rows=$work/.rows
release_tail=$(uname -r | sed 's/^[0-9.]*//')
release_zeros=$(printf %s "${release_tail:=-none}" | sed 's/./\\x00/g')
: >"$rows"

# ---------------------------------------------------------------- programs
gcc -g -O1 -fno-omit-frame-pointer -Wl,--build-id -o busy "$root/examples/busy.c"
cat >steps.c <<'END'
/* Threads, a child, naps and 40 writes to one variable: something for every kind of event. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long counter;
__attribute__((noinline)) void step(long by) {
    counter += by;
    for (volatile int i = 0; i < 100000; i++)
        ;
}
static void *walk(void *unused) {
    pthread_setname_np(pthread_self(), "walker");
    for (int i = 0; i < 20; i++) {
        step(i);
        usleep(500);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, walk, NULL);
    for (int i = 0; i < 20; i++)
        step(-i);
    pthread_join(thread, NULL);
    if (fork() == 0) {
        execl("./busy", "busy", "0.02", (char *)NULL);
        _exit(1);
    }
    return wait(NULL) < 0;
}
END
gcc -g -O1 -fno-omit-frame-pointer -no-pie -Wl,--build-id -pthread -o steps steps.c
cat >watch.c <<'END'
/* The smallest tracepoint program; only its being loaded is recorded. */
__attribute__((section("tracepoint/sched/sched_switch"), used)) int watch(void *context) {
    return context == 0;
}
char terms[] __attribute__((section("license"), used)) = "GPL";
END

# ---------------------------------------------------------------- helpers
note() { # note NAME "what it shows" "command"
    printf '| `%s` | %s | `%s` |\n' "$1" "$2" "$(printf %s "$3" | sed 's/|/\\|/g')" >>"$rows"
}
keep() { # keep NAME: the recording takes its place, if there is one
    if [ ! -s "$1" ]; then
        echo "not recorded here: $1" >&2
        return 1
    fi
    rm -rf "${out:?}/$1"
    cp -r "$1" "$out/$1"
    find "$out/$1" -type f -exec sed -i "s/$release_tail/$release_zeros/g" {} +
    chmod -R u+rw,go+r-w,a-x+X "$out/$1"
}
take() { # take NAME "what it shows" COMMAND...: run it in $work and keep what it wrote
    local name=$1 what=$2
    shift 2
    rm -rf "$name"
    bash -c "$*" >/dev/null 2>"$work/.log" || { tail -3 "$work/.log" >&2; }
    keep "$name" && note "$name" "$what" "$*"
}

# ---------------------------------------------------------------- recordings
take cpu-clock.data "one event, no options" perf record -N -e cpu-clock -F 997 -o cpu-clock.data ./busy 0.1
take period.data "fixed period" perf record -N -e task-clock -c 1000000 -o period.data ./busy 0.1
take chains.data "frame-pointer chains" perf record -N -F 997 -g -o chains.data ./steps
take dwarf.data "registers and user stack" perf record -N -F 97 --call-graph dwarf,512 -o dwarf.data ./busy 0.2
take zstd.data "COMPRESSED records" perf record -N -F 997 -g -z -o zstd.data ./busy 0.2
take zstd-many.data "COMPRESSED records in several pieces" perf record -N -F 4000 -g -z -m 4 -o zstd-many.data ./busy 0.3
take pipe.data "a stream" "perf record -N -F 997 -o - ./busy 0.1 > pipe.data"
take pipe-zstd.data "a compressed stream" "perf record -N -F 997 -z -o - ./busy 0.1 > pipe-zstd.data"
take pipe-group.data "a stream with a group and its names" "perf record -N -e '{cpu-clock,page-faults}' -F 997 -o - ./steps > pipe-group.data"
take threads.data "a directory of one file per cpu" perf record -N -F 997 --threads -o threads.data ./steps
take threads-zstd.data "a compressed directory" perf record -N -F 997 -z --threads -o threads-zstd.data ./steps
take group.data "a group read by its leader" "perf record -N -e '{cpu-clock,page-faults}:S' -F 997 -o group.data ./busy 0.1"
take group-plain.data "a group whose members sample" "perf record -N -e '{cpu-clock,context-switches}' -F 997 -o group-plain.data ./steps"
take two-events.data "two events of different sample types" perf record -N -e cpu-clock -e page-faults -F 997 -d -o two-events.data ./steps
take tracepoints.data "RAW and TRACING_DATA" "perf record -N -e raw_syscalls:sys_exit,sched:sched_process_fork,sched:sched_process_exec -o tracepoints.data ./steps"
take pipe-tracepoints.data "record 66 with its blob" "perf record -N -e sched:sched_process_fork,sched:sched_process_exit -o - ./steps > pipe-tracepoints.data"
take breakpoint.data "writes to a variable" "perf record -N -e mem:0x$(nm steps | awk '$3 == "counter" { print $1 }'):w -o breakpoint.data ./steps"
if echo "p:perfray/step $work/steps:$(printf '%#x' $((0x$(nm steps | awk '$3 == "step" { print $1 }') - 0x400000)))" \
    >>"$tracing/uprobe_events"; then
    take uprobe.data "a probe on a function of the program" perf record -N -e perfray:step -g -o uprobe.data ./steps
    echo '-:perfray/step' >>"$tracing/uprobe_events"
fi
take switch-events.data "SWITCH" perf record -N -F 997 --switch-events -o switch-events.data ./steps
take namespaces.data "NAMESPACES" perf record -N -F 997 --namespaces -o namespaces.data ./steps
take namespaces-new.data "NAMESPACES of a program that makes new ones" perf record -N -F 997 --namespaces -o namespaces-new.data unshare -i ./steps
take addresses.data "ADDR, DATA_SRC, page sizes, data maps" perf record -N -e page-faults -c 1 -d --data-page-size --code-page-size -o addresses.data ./steps
take phys-addr.data "PHYS_ADDR" perf record -N -e page-faults -c 1 -d --phys-data -o phys-addr.data ./steps
take weight.data "weights asked for" perf record -N -F 997 -W -o weight.data ./busy 0.1
take intr-regs.data "REGS_INTR" perf record -N -F 997 --intr-regs=ax,sp,ip -o intr-regs.data ./busy 0.1
take user-regs.data "REGS_USER" perf record -N -F 997 --user-regs=ip,sp,bp -o user-regs.data ./busy 0.1
take clock.data "CLOCKID and CLOCK_DATA" perf record -N -F 997 -k CLOCK_MONOTONIC -o clock.data ./busy 0.1
take buildid-mmap.data "MMAP2 with build-ids" perf record --buildid-mmap -F 997 -o buildid-mmap.data ./steps
take overwrite.data "newest records first, the state last" perf record -N -F 997 --overwrite -o overwrite.data ./steps
take sample-cpu.data "CPU, PERIOD and IDENTIFIER in each sample" perf record -N -F 997 --sample-cpu --sample-identifier -T -P -o sample-cpu.data ./busy 0.1
take no-samples.data "the event never happened" perf record -N -e alignment-faults -o no-samples.data ./busy 0.02
take no-build-ids.data "no BUILD_ID section" perf record -B -F 997 -o no-build-ids.data ./busy 0.1
take bpf-output.data "a software dummy event" perf record -N -e dummy -e cpu-clock -F 997 -o bpf-output.data ./steps
take stat.data "perf stat record" perf stat record -e cpu-clock,page-faults -o stat.data ./steps
take stat-interval.data "perf stat record in intervals" perf stat record -I 50 -e cpu-clock,context-switches -o stat-interval.data ./busy 0.2
take exec.data "a shell that runs programs: FORK, COMM exec, EXIT" "perf record -N -F 997 -o exec.data sh -c './steps; ./busy 0.02; ./steps'"
take killed.data "perf was killed: data size 0" \
    "perf record -N -F 997 -m 1 -o killed.data ./busy 1 & sleep 0.5; kill -9 \$!; wait"

mkdir -p cgroups
if mount -t cgroup2 none cgroups 2>/dev/null; then umount cgroups; fi
take cgroups.data "CGROUP records and ids" "unshare -C perf record -N -F 997 --all-cgroups -o cgroups.data ./busy 0.1"
if clang-14 -O2 -g -target bpf -c watch.c -o watch.o 2>/dev/null; then
    mkdir -p bpffs && mount -t bpf bpf bpffs
    take bpf-program.data "KSYMBOL, BPF_EVENT, program info and BTF" \
        perf record -N -e cpu-clock -o bpf-program.data bpftool prog load watch.o bpffs/watch
    rm -f bpffs/watch
    umount bpffs
fi

# ---------------------------------------------------------------- the list
# Keeps the hand-written text above the heading.
heading='## Made by tests/support/record-fixtures.sh'
[ -e "$out/README.md" ] && sed "\\|^$heading|,\$d" "$out/README.md" >"$work/.readme" || echo '# Recordings made for the tests' >"$work/.readme"
{
    cat "$work/.readme"
    [ -z "$(tail -n 1 "$work/.readme")" ] || echo
    echo "$heading"
    echo
    echo "With $(perf --version), Linux $(uname -r | sed 's/[^0-9.].*//'), in /tmp/perfray-demo, on a host named \`demo\`, with an empty environment. \`busy\` is"
    echo "examples/busy.c, \`steps\` a small program inside the script. No hardware counters."
    echo
    echo "| file | shows | command |"
    echo "| --- | --- | --- |"
    sort "$rows"
} >"$out/README.md"
