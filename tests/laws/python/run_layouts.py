#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that bindings/python/perfray/_declarations.py agrees with the headers.

    run_layouts.py COMPILER INCLUDE...

python/layouts     size of every struct, and offset and size of every member, by a C program and by ctypes
python/prototypes  every prototype is declared again together with the headers, so the compiler refuses one that differs
python/constants   enumeration values and bits in the package are those of the headers
"""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

sys.path.insert(0, os.path.join(harness.ROOT, "bindings", "python"))
COMPILER, INCLUDES = sys.argv[1].split(), ["-I" + folder for folder in sys.argv[2:]]
HEAD = "#include <perfray/perfray.h>\n#include <stdio.h>\n"
RENAMED = {("pfr_value", "value"): "as"}  # a Python keyword


def compiled(text, folder, *more):
    source, program = os.path.join(folder, "check.c"), os.path.join(folder, "check")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    done = harness.run([*COMPILER, "-std=gnu17", "-Wall", "-Werror", *INCLUDES, *more, source, "-o", program],
                       env=dict(os.environ, CCACHE_DISABLE="1"))
    return done, program


def struct_lines(structs):
    for name, kind in structs.items():
        if name == "pfr_value_as":
            continue
        yield 'printf("%s %%zu\\n", sizeof(%s));' % (name, name)
        for member, _ in kind._fields_:
            of = RENAMED.get((name, member), member)
            yield ('printf("%s.%s %%zu %%zu\\n", __builtin_offsetof(%s, %s), sizeof(((%s *)0)->%s));'
                   % (name, member, name, of, name, of))


def expected_lines(structs):
    for name, kind in structs.items():
        yield "%s %d" % (name, ctypes.sizeof(kind))
        for member, _ in kind._fields_:
            field = getattr(kind, member)
            yield "%s.%s %d %d" % (name, member, field.offset, field.size)


def check_layouts(folder, structs):
    text = HEAD + "int main(void) {\n" + "\n".join(struct_lines(structs)) + "\nreturn 0; }\n"
    done, program = compiled(text, folder)
    harness.must(done.returncode == 0, done.stderr.decode())
    theirs, ours = harness.run([program]).stdout.decode().splitlines(), list(expected_lines(structs))
    wrong = ["C: %s, ctypes: %s" % pair for pair in zip(theirs, ours) if pair[0] != pair[1]]
    harness.must(not wrong and len(theirs) == len(ours), "\n".join(wrong[:harness.SHOWN]) or "more lines in one")
    return "%d structs, %d members" % (len(structs), len(ours) - len(structs))


def check_prototypes(folder, declarations):
    text = declarations.PROTOTYPES + "#ifdef PERFRAY_SQL_H\n" + declarations.SQL_PROTOTYPES + "#endif\n"
    done, _ = compiled(HEAD + text, folder, "-c")
    harness.must(done.returncode == 0, done.stderr.decode())
    broken = text.replace("uint32_t pfr_model_count(", "uint64_t pfr_model_count(")
    done, _ = compiled(HEAD + broken, folder, "-c")
    harness.must(done.returncode != 0 and broken != text, "another type of a result compiles")
    return "%d prototypes" % text.count(";")


def numbers(perfray):
    """(C expression, value in the package)"""
    from perfray import _cursors, _queries, _library, _model, _recorder, _recording, _tables
    yield from (("PFR_COLUMN_" + name.upper(), 1 << bit) for bit, name in enumerate(_model._KEPT))
    yield from (("PFR_OBJECT_" + name.upper(), number) for number, name in enumerate(_tables.OBJECT_KINDS))
    yield from (("PFR_INTERVAL_" + name.upper(), number) for number, name in enumerate(_tables.INTERVAL_KINDS))
    yield from (("PFR_MARK_" + name.upper(), number) for number, name in enumerate(_tables.MARK_KINDS))
    yield from (("PFR_CPUMODE_" + name.upper().replace(" ", "_"), number) for number, name in enumerate(_tables.MODES))
    yield from (("PFR_TEMPLATES_" + name.upper(), number) for name, number in _model._TEMPLATES.items())
    yield from (("PFR_TABLE_" + name.upper(), number) for number, name in enumerate(_model._TABLES))
    yield from (("PFR_CALL_" + name, getattr(_cursors, "CALL_" + name)) for name in ("TAIL", "BACKWARD", "OPEN", "ARGUMENT", "LIMITED"))
    yield from (("PFR_CHAINS_" + name.upper(), number) for number, name in enumerate(_recorder._CHAINS))
    yield from (("PFR_DUMP_" + {"jsonl": "JSON_LINES"}.get(name, name.upper()), number) for name, number in _recording._FORMATS.items())
    builds = {"hits": "OF_HITS", "maps": "IN_MAPS", "none": "NONE", "all": "OF_ALL"}
    yield from (("PFR_BUILD_IDS_" + builds[name], number) for number, name in enumerate(_recorder._BUILD_IDS))
    yield from (("PFR_LATENCY_BY_" + name.upper(), number) for name, number in _queries._BY.items())
    yield from (("PFR_VALUE_" + name, getattr(_recording, "_" + name))
                for name in ("ABSENT", "UNSIGNED", "SIGNED", "DOUBLE", "TEXT", "BYTES", "U64S", "ITEMS", "PART"))
    yield from (("PFR_" + name, getattr(_library, name)) for name in ("OK", "END", "HOLE", "NO_OFFSET", "NO_TIME", "NO_CPU"))
    yield from (("PFR_LATENCY_JSON", 2), ("PFR_REPORT_JSON", 3), ("PFR_PERF_DATA", 0),
                ("PFR_U8", 0), ("PFR_U16", 1), ("PFR_U32", 2), ("PFR_U64", 3), ("PFR_I64", 4), ("PFR_ERR_IO", -4))


def check_constants(folder, perfray):
    asserts = ["#ifdef PERFRAY_SQL_H\n_Static_assert(PFR_SQL_JSON_LINES == %d, \"\");\n#endif" % perfray._queries._JSON_LINES]
    asserts += ["_Static_assert((int64_t)(%s) == (int64_t)%dULL, \"%s\");" % (name, number % 2**64, name) for name, number in numbers(perfray)]
    done, _ = compiled(HEAD + "\n".join(asserts) + "\n", folder, "-c")
    harness.must(done.returncode == 0, done.stderr.decode())
    return "%d numbers" % len(asserts)


def main():
    if not os.path.isfile(os.environ.get("PERFRAY_LIBRARY", "")):
        return harness.skip("python/layouts", "PERFRAY_LIBRARY is not set")
    import perfray
    from perfray import _declarations, _library
    structs = {name: kind for name, kind in _library.structs.items() if _library.has_sql or name != "pfr_sql_options"}
    with harness.scratch("layouts") as folder:
        harness.attempt("python/layouts", check_layouts, folder, structs)
        harness.attempt("python/prototypes", check_prototypes, folder, _declarations)
        harness.attempt("python/constants", check_constants, folder, perfray)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
