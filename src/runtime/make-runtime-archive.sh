#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-runtime-archive.sh OUT.a PARTS.a LOADS.a COUNTER.a SIGNALS.a - four members: the recorder as one object with hidden names
# local; and dlopen with dlclose, prctl, and sigaction with its like, which are linked into programs alone that call them.
set -eu
out=$1
trap 'rm -f "$out.recorder.o" "$out.loads.o" "$out.counter.o" "$out.signals.o"' EXIT
rm -f "$out"
"${LD:-ld}" -r --whole-archive "$2" -o "$out.recorder.o"
"${LD:-ld}" -r --whole-archive "$3" -o "$out.loads.o"
"${LD:-ld}" -r --whole-archive "$4" -o "$out.counter.o"
"${LD:-ld}" -r --whole-archive "$5" -o "$out.signals.o"
"${OBJCOPY:-objcopy}" --localize-hidden "$out.recorder.o"
"${AR:-ar}" rcsD "$out" "$out.recorder.o" "$out.loads.o" "$out.counter.o" "$out.signals.o"
