#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-runtime-archive.sh OUT.a PARTS.a LOADS.a COUNTER.a SIGNALS.a - makes an archive of four members: the recorder as one
# object, with hidden names made local; and the wrappers of dlopen and dlclose, of prctl, and of sigaction and its like, which
# the linker takes only into programs that call these functions.
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
