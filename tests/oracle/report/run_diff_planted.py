#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_diff_planted.py - checks that perfray diff of two builds lists exactly the changed functions first.

Environment: PERFRAY, the command. The same program in C++ and in Rust is built twice. In the new build `slow` takes 1.3 times as long, `inlined` is part
of its caller `host`, `added` is new, and `mover` is in another library; six functions take as long as before. Each build is recorded once, and the two
recordings are compared in both directions. Requires g++ or rustc, and a counter of CPU time.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

STEADY = "abcdef"
ROUNDS = 900                   # 1 to 2 s
FREQUENCY = 5000
# (base, new): verdicts of the functions listed first; mover is gone from one library and new in the other
WANTED = {("old", "new"): {("slow", "slower"), ("inlined", "gone"), ("host", "slower"), ("added", "new"), ("mover", "gone"), ("mover", "new")},
          ("new", "old"): {("slow", "faster"), ("inlined", "new"), ("host", "faster"), ("added", "gone"), ("mover", "gone"), ("mover", "new")}}

CXX_LIBRARY = """extern "C" __attribute__((noinline)) unsigned %s(unsigned x) {
    for (unsigned i = 0; i < 90000; i++) x = (x ^ x >> 7) * 2654435761u + i;
    return x;
}
"""
CXX = """#define LOOP(name, count) name(unsigned x) { for (unsigned i = 0; i < count; i++) x = (x ^ x >> 7) * 2654435761u + i; return x; }
#define FUNCTION(name, count) __attribute__((noinline)) unsigned LOOP(name, count)
extern "C" unsigned mover(unsigned x);
namespace work {
%s
#ifdef NEW
__attribute__((always_inline)) inline unsigned LOOP(inlined, 80000)
FUNCTION(slow, 130000)
FUNCTION(added, 80000)
#else
FUNCTION(inlined, 80000)
FUNCTION(slow, 100000)
#endif
__attribute__((noinline)) unsigned host(unsigned x) { x = inlined(x); for (unsigned i = 0; i < 60000; i++) x = (x ^ x >> 5) * 2654435761u + i; return x; }
}
int main() {
    unsigned x = 1;
    for (unsigned round = 0; round < %d; round++) {
        x = mover(work::slow(work::host(x)));
#ifdef NEW
        x = work::added(x);
#endif
        %s
    }
    return x == 7;
}
"""
RUST_LIBRARY = """#[no_mangle]
#[inline(never)]
pub extern "C" fn %s(mut x: u32) -> u32 {
    for i in 0..90000u32 { x = (x ^ x >> 7).wrapping_mul(2654435761).wrapping_add(i); }
    x
}
"""
# Each function has a different number, because rustc merges equal functions.
RUST = """macro_rules! function { ($inline:ident, $name:ident, $count:expr, $own:expr) => {
    #[inline($inline)] pub fn $name(mut x: u32) -> u32 {
        for i in 0..$count { x = (x ^ x >> 7).wrapping_mul(2654435761 + 8 * $own).wrapping_add(i); }
        x
    } } }
extern "C" { fn mover(x: u32) -> u32; }
mod work {
%s
#[cfg(new)] function!(always, inlined, 80000u32, 1);
#[cfg(new)] function!(never, slow, 130000u32, 2);
#[cfg(new)] function!(never, added, 80000u32, 3);
#[cfg(not(new))] function!(never, inlined, 80000u32, 1);
#[cfg(not(new))] function!(never, slow, 100000u32, 2);
#[inline(never)] pub fn host(x: u32) -> u32 {
    let mut x = inlined(x);
    for i in 0..60000u32 { x = (x ^ x >> 5).wrapping_mul(2654435761).wrapping_add(i); }
    x
}
}
fn main() {
    let mut x = 1u32;
    for _ in 0..%d {
        x = unsafe { mover(work::slow(work::host(x))) };
        #[cfg(new)] { x = work::added(x); }
        %s
    }
    std::process::exit((x == 7) as i32);
}
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def build(*words):
    done = harness.run(words)
    harness.must(done.returncode == 0, done.stderr.decode()[-500:])


def build_cxx(folder, side):
    """`mover` is in the first library of the old build, and in the second library of the new build."""
    for library in ("one", "two"):
        has_it = (library == "two") == (side == "new")
        source = write(folder, library + ".cc", CXX_LIBRARY % ("mover" if has_it else "other" + library))
        build("g++", "-O1", "-shared", "-fPIC", "-o", f"{folder}/lib{library}.so", source)
    source = write(folder, "planted.cc", CXX % ("\n".join(f"FUNCTION(steady_{s}, 100000)" for s in STEADY), ROUNDS,
                                                " ".join(f"x = work::steady_{s}(x);" for s in STEADY)))
    build("g++", "-O1", *(["-DNEW"] if side == "new" else []), "-o", f"{folder}/planted", source, f"-L{folder}", "-Wl,--no-as-needed", "-lone",
          "-ltwo", "-Wl,-rpath," + folder)


def build_rust(folder, side):
    for library in ("one", "two"):
        has_it = (library == "two") == (side == "new")
        source = write(folder, library + ".rs", RUST_LIBRARY % ("mover" if has_it else "other" + library))
        build("rustc", "-O", "--crate-type=cdylib", "-o", f"{folder}/lib{library}.so", source)
    source = write(folder, "planted.rs", RUST % ("\n".join(f"function!(never, steady_{s}, 100000u32, {ord(s)});" for s in STEADY), ROUNDS,
                                                 " ".join(f"x = work::steady_{s}(x);" for s in STEADY)))
    build("rustc", "-O", *(["--cfg", "new"] if side == "new" else []), "-o", f"{folder}/planted", source, f"-L{folder}", "-lone", "-ltwo",
          "-Clink-arg=-Wl,-rpath," + folder)


def plain(symbol):
    return symbol.split("(")[0].split("::")[-1]


def compare(paths, base, new):
    done = harness.perfray("diff", "--format=csv", paths[base], paths[new])
    harness.must(done.returncode == 0, done.stderr)
    rows = list(csv.DictReader(done.stdout.decode().splitlines()))[1:]
    wanted = WANTED[base, new]
    first = [(plain(row["symbol"]), row["verdict"]) for row in rows[:len(wanted)]]
    harness.must(set(first) == wanted, f"{base} to {new}: first are {first}")
    text = harness.perfray("diff", paths[base], paths[new]).stdout.decode()
    offers = [line for line in text.splitlines() if "(likely moved " in line and "mover" in line]
    harness.must(len(offers) == 2, f"{base} to {new}: offered: {offers}")


def check(build_side):
    with harness.scratch("planted") as folder:
        paths = {}
        for side in ("old", "new"):
            os.mkdir(os.path.join(folder, side))
            build_side(os.path.join(folder, side), side)
            paths[side] = os.path.join(folder, side + ".data")
            done = harness.perfray("record", "-e", "cpu-clock:u", "-F", FREQUENCY, "-o", paths[side], "--", os.path.join(folder, side, "planted"))
            if done.returncode != 0 and not os.path.exists(paths[side]):
                harness.skip("diff/planted", "recording fails: " + harness.last_line(done))
                return
        for base, new in WANTED:
            compare(paths, base, new)


def main():
    for name, compiler, build_side in (("cxx", "g++", build_cxx), ("rust", "rustc", build_rust)):
        if harness.installed(compiler):
            harness.attempt("diff/planted/" + name, check, build_side)
        else:
            harness.skip("diff/planted/" + name, compiler + " is not installed")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
