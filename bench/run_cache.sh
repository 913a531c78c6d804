#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_cache.sh [ROUNDS] - measures the cost of source lines without the cache, while the cache is made, and with it.
#
#   PERFRAY=build/tool/perfray bench/run_cache.sh 11
#
# A C++ program of twelve units with more than 20 MB of debugging information is built and recorded with frame pointers (needs
# g++, objcopy and perf). Each round runs `script -F +srcline` and `report --inline -s sym,srcline` without the cache, with an empty cache,
# with a full cache, and without any names. The medians of user + system time are printed, and the cost of names: the time minus that of a run
# that opens no object.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-11}
perfray=$(cd "$(dirname "${PERFRAY:-build/tool/perfray}")" && pwd)/$(basename "${PERFRAY:-perfray}")
folder=${PERFRAY_BENCH_INPUTS:-$(mktemp -d)}
[ -n "${PERFRAY_BENCH_INPUTS:-}" ] || trap 'rm -rf "$folder"' EXIT
cd "$folder"
if [ ! -f cache.data ]; then
    g++ -std=c++17 -O2 -g -fno-omit-frame-pointer -c "$here/../tests/oracle/symbols/programs/boxes.cpp" -o unit.o
    for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
        objcopy --redefine-sym "main=main_$i" unit.o "unit$i.o"
        printf 'extern "C" int main_%s();\n' $i
    done >units.h
    {
        echo '#include "units.h"'
        echo 'int main() { for (int round = 0; round < 2000; round++) {'
        for i in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "main_$i();"; done
        echo '} }'
    } >all.cpp
    g++ -g -fno-omit-frame-pointer all.cpp unit[0-9]*.o -Wl,--build-id=sha1 -o cached
    perf record -q -N -e cpu-clock:u -F 4999 -g -o cache.data ./cached >/dev/null
fi
size -A cached | awk '/^\.debug/ { sum += $2 } END { printf "debugging information: %.1f MB\n", sum / 1e6 }'
exec python3 "$here/compare_cache.py" "$perfray" "$rounds"
