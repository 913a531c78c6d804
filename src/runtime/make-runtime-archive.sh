#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-runtime-archive.sh OUT.a PARTS.a UNLOAD.a COUNTER.a - three members: the recorder as one object with hidden names
# local, and dlclose and prctl, which are linked into programs alone that call them.
set -eu
out=$1
trap 'rm -f "$out.recorder.o" "$out.unload.o" "$out.counter.o"' EXIT
rm -f "$out"
"${LD:-ld}" -r --whole-archive "$2" -o "$out.recorder.o"
"${LD:-ld}" -r --whole-archive "$3" -o "$out.unload.o"
"${LD:-ld}" -r --whole-archive "$4" -o "$out.counter.o"
"${OBJCOPY:-objcopy}" --localize-hidden "$out.recorder.o"
"${AR:-ar}" rcsD "$out" "$out.recorder.o" "$out.unload.o" "$out.counter.o"
