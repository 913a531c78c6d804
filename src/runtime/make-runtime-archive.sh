#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-runtime-archive.sh OUT.a PARTS.a LOADS.a COUNTER.a - three members: the recorder as one object with hidden names
# local, and dlopen with dlclose, and prctl, which are linked into programs alone that call them.
set -eu
out=$1
trap 'rm -f "$out.recorder.o" "$out.loads.o" "$out.counter.o"' EXIT
rm -f "$out"
"${LD:-ld}" -r --whole-archive "$2" -o "$out.recorder.o"
"${LD:-ld}" -r --whole-archive "$3" -o "$out.loads.o"
"${LD:-ld}" -r --whole-archive "$4" -o "$out.counter.o"
"${OBJCOPY:-objcopy}" --localize-hidden "$out.recorder.o"
"${AR:-ar}" rcsD "$out" "$out.recorder.o" "$out.loads.o" "$out.counter.o"
