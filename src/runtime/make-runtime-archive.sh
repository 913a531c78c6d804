#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-runtime-archive.sh OUT.a PARTS.a UNLOAD.a - two members: the recorder as one object with hidden names local, and
# dlclose, which is linked into programs alone that call it.
set -eu
out=$1
trap 'rm -f "$out.recorder.o" "$out.unload.o"' EXIT
rm -f "$out"
"${LD:-ld}" -r --whole-archive "$2" -o "$out.recorder.o"
"${LD:-ld}" -r --whole-archive "$3" -o "$out.unload.o"
"${OBJCOPY:-objcopy}" --localize-hidden "$out.recorder.o"
"${AR:-ar}" rcsD "$out" "$out.recorder.o" "$out.unload.o"
