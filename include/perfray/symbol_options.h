/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOL_OPTIONS_H
#define PERFRAY_SYMBOL_OPTIONS_H
/*
 * Where names of functions come from, and how they are spelled: what all calls that name addresses have in common.
 * `(pfr_symbol_options){.size = sizeof(pfr_symbol_options)}` is the defaults, and a NULL `pfr_symbol_options *` is the
 * same. An options struct that points to one must not outlive it; the library never changes it, so that several calls
 * and threads may share one.
 *
 * Example, a recording of another machine whose files lie below ./target:
 *
 *     const pfr_symbol_options names = {.size = sizeof names, .symfs = "target", .vmlinux = "target/vmlinux"};
 *     pfr_report_options options = {.size = sizeof options, .naming = &names};
 */
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_symbol_options {
    size_t size;           /* sizeof(pfr_symbol_options); members beyond it have their defaults */
    const char *symfs;     /* objects are looked for under this folder; NULL: / */
    const char *debug_dir; /* separate debug files are looked for here; NULL: /usr/lib/debug below symfs */
    const char *fetched;   /* the folder that pfr_debuginfod_fetch filled; NULL: nothing was fetched */
    const char
        *cache_dir;       /* found lines and kernel symbols are kept in this folder, and read from it; NULL: no cache */
    const char *vmlinux;  /* the kernel's names come from this ELF file, if it is the recorded one; NULL: kallsyms */
    const char *kallsyms; /* the kernel's names; NULL: those of the running kernel, if it is the recorded one */
    /* Of a trace: objects (or what `llvm-xray extract` wrote of them) that name its functions, the program first, then
       its shared objects in the order of loading; ends with NULL; NULL: what the trace itself says, else numbers */
    const char *const *instr_maps;
    bool no_symbols; /* open no object: functions have no names */
    bool mangled;    /* names as the objects have them, not demangled */
    bool parameters; /* C++ names with their parameter types; not with `mangled`; of a trace in reports and exports only
                      */
    bool demangle_kernel; /* demangle the kernel's names, too; otherwise they are as `vmlinux` has them */
} pfr_symbol_options;

#ifdef __cplusplus
}
#endif
#endif
