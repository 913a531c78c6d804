#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-archive.sh IN.a OUT.a - one object of all in IN.a, in which hidden names are local: who links OUT.a sees pfr_ names
# alone, and may have a function `found` of their own.
set -eu
whole=$2.o
trap 'rm -f "$whole"' EXIT
rm -f "$2"
"${LD:-ld}" -r --whole-archive "$1" -o "$whole"
"${OBJCOPY:-objcopy}" --localize-hidden "$whole"
"${AR:-ar}" rcsD "$2" "$whole"
