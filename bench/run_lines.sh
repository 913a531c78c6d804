#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_lines.sh - compares perfray and perf on file and line of every frame: user + system time of `script -F +srcline`, and
# of `report --inline`, on a C++ program with at least 20 MB of debugging information.
#
#   PERFRAY=build/tool/perfray bench/run_lines.sh [UNITS]
#
# The program consists of UNITS (16) sources that differ in one number; each uses <regex>, <map> and <sstream>. It is
# recorded with call chains, about 2 500 samples. The goal ("bar") is 50 times less time than `perf script -F +srcline`; exit
# status 1 if it is missed. perf runs addr2line for lines and does not wait for it, so perf stat is used to count the time of
# both. perfray's cache of lines is not used (bench/run_cache.sh measures it).
set -eu
units=${1:-16}
command -v perf >/dev/null 2>&1 || { echo "run_lines.sh: perf is not installed" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
perfray=$(realpath "$PERFRAY")
cd "$scratch"
for i in $(seq "$units"); do
    sed "s/NUMBER/$i/g" >"unit$i.cpp" <<'END'
#include <map>
#include <regex>
#include <sstream>
#include <string>
template <int N> struct words {
    std::map<std::string, int> seen;
    long count(int rounds) {
        const std::regex pattern("([a-z]+)" + std::to_string(N) + "|x[0-9]*y");
        std::ostringstream text;
        for (int i = 0; i < 40; i++)
            text << "alpha" << i << " x" << i * N << "y ";
        const std::string all = text.str();
        long found = 0;
        while (rounds-- > 0)
            for (std::sregex_iterator at(all.begin(), all.end(), pattern), end; at != end; ++at)
                found += ++seen[at->str()];
        return found;
    }
};
long unitNUMBER(int rounds) { return words<NUMBER>().count(rounds); }
END
    echo "long unit$i(int);" >>all.h
    echo "sum += unit$i(rounds);" >>all.inc
    "${CXX:-c++}" -g -O2 -fno-omit-frame-pointer -c "unit$i.cpp"
done
printf '#include "all.h"\n#include <cstdio>\n#include <cstdlib>\nint main(int, char **argv) {\n    const int rounds = atoi(argv[1]);\n    long sum = 0;\n#include "all.inc"\n    printf("%%ld\\n", sum);\n}\n' >main.cpp
"${CXX:-c++}" -g -o program main.cpp unit*.o
bytes=$(readelf -SW program | awk '{ for (i = 1; i < NF; i++) if ($i ~ /^\.debug_/) print $(i + 4) }' |
    while read -r size; do echo $((0x$size)); done | awk '{ sum += $1 } END { print sum }')
perf record -N -q -e cpu-clock:u -F 4999 -g -o perf.data -- ./program 1500 >/dev/null
cpu() { # arguments: a command; prints the least CPU milliseconds, in three runs, of it and all processes that it starts
    for _ in 1 2 3; do
        perf stat -x, -e task-clock -o stat.txt -- "$@" >/dev/null 2>&1 || exit 1
        awk -F, '$3 == "task-clock" { print $1 }' stat.txt
    done | sort -n | awk 'NR == 1 { printf "%.0f", $1 }'
}
echo "$bytes bytes of debugging information, $(perf script -F ip -G -i perf.data 2>/dev/null | grep -c .) samples; CPU ms:"
theirs=$(cpu perf script --no-inline -F +srcline -i perf.data)
ours=$(cpu "$perfray" script --no-cache --no-pager -F +srcline perf.data)
echo "perf script -F +srcline               $theirs"
echo "perfray script -F +srcline            $ours"
echo "perfray script --inline -F +srcline   $(cpu "$perfray" script --no-cache --no-pager --inline -F +srcline perf.data)"
echo "perfray report --inline               $(cpu "$perfray" report --no-cache --no-pager --inline perf.data)"
awk -v theirs="$theirs" -v ours="$ours" 'BEGIN { printf "%.0f times less than perf\n", theirs / ours; exit theirs < 50 * ours }'
