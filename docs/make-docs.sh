#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes docs/perf-data-format.md again, out of its prose and the tables. Run it after a change to either.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${CC:-cc} -std=gnu17 -I "$root/src" -o "$work/gen_reference" "$root/src/wire/gen_reference.c"
"$work/gen_reference" "$root/docs/perf-data-format.in.md" > "$work/perf-data-format.md"
mv "$work/perf-data-format.md" "$root/docs/perf-data-format.md"
