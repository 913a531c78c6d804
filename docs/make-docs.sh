#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes docs/perf-data-format.md and docs/xray-format.md again, out of their prose and the tables. Run it after a change
# to either.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu17 -I "$root/src" -o "$work/gen_reference" "$root/src/wire/gen_reference.c"
for name in perf-data-format xray-format; do
    "$work/gen_reference" "$root/docs/$name.in.md" > "$work/$name.md"
    mv "$work/$name.md" "$root/docs/$name.md"
done
