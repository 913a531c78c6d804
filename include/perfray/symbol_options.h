/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOL_OPTIONS_H
#define PERFRAY_SYMBOL_OPTIONS_H
/*
 * pfr_symbol_options - where symbols, lines and debug information come from, and how function names are written. The
 * common options of all functions that resolve addresses.
 *
 * A NULL `const pfr_symbol_options *` is the default, and so is `(pfr_symbol_options){.size = sizeof(...)}`: objects
 * are opened where the recording names them, kernel symbols are those of the running kernel if it is the recorded one,
 * and names are demangled without parameters.
 *
 * An object whose build-id is not the recorded one is not used, so a rebuilt program cannot give wrong names. Addresses
 * without a symbol are printed as numbers.
 *
 * The struct and its strings must remain valid as long as the options struct that points to it is used. The library
 * never changes it, so that several calls and threads may share one.
 *
 * Example, a recording of another machine whose files are below ./target:
 *
 *     const pfr_symbol_options names = {.size = sizeof names, .symfs = "target", .vmlinux = "target/vmlinux"};
 *     pfr_report_options options = {.size = sizeof options, .naming = &names};
 */
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How template arguments of C++ names are printed. FOLD and OMIT also print "std::__cxx11::" as "std::". Name filters
 * match the printed names.
 */
typedef enum pfr_templates {
    /* Completely: std::map<int, char>::find */
    PFR_TEMPLATES_KEEP,
    /* As an ellipsis: std::map<...>::find. Arguments of up to three characters are kept. */
    PFR_TEMPLATES_FOLD,
    /* Not at all: std::map::find */
    PFR_TEMPLATES_OMIT
} pfr_templates;

typedef struct pfr_symbol_options {
    /* sizeof(pfr_symbol_options). Members beyond it have their defaults, so that programs compiled with an older header
       work. */
    size_t size;
    /* Prefix for the paths of objects: look them up below this directory. Symbols of the running kernel are then not
       used. NULL: "/". */
    const char *symfs;
    /*
     * Directory DIR of separate debug files. They are searched in this order: DIR/.build-id/xx/yy.debug; then the name
     * in .gnu_debuglink beside the object, in .debug/ beside the object, and in DIR. NULL: /usr/lib/debug below symfs.
     */
    const char *debug_dir;
    /* The directory that pfr_debuginfod_fetch() (debuginfod.h) filled. NULL: nothing was fetched. */
    const char *fetched;
    /* Directory of a cache of source lines and kernel symbols, one file per build-id; read and written. NULL: no
       cache. */
    const char *cache_dir;
    /* ELF file of the kernel. Used if its build-id is the recorded one. NULL: kallsyms. */
    const char *vmlinux;
    /* Kernel symbols in the format of /proc/kallsyms; takes precedence over vmlinux. "/dev/null" is an empty list.
       NULL: those of the running kernel, if it is the recorded one. */
    const char *kallsyms;
    /*
     * XRay: the objects that define the traced functions, ELF files or maps written by `llvm-xray extract`. The program
     * first, then its shared objects in the order of loading; the list ends with NULL. NULL: the names that perfray's
     * own recorder stores in the trace, else function numbers. PFR_ERR_USAGE for perf.data.
     */
    const char *const *instr_maps;
    /* Open no object and resolve nothing: addresses remain numbers. */
    bool no_symbols;
    /* Write mangled names, as they are in the symbol tables. */
    bool mangled;
    /* Write C++ names with their parameter types. No effect together with `mangled`. For XRay traces, no effect in
       scripts. */
    bool parameters;
    /* Demangle names of the kernel as well, which matters for Rust code. Default: as they are in vmlinux. */
    bool demangle_kernel;
    /* How template arguments of C++ names are printed. Default: completely. */
    pfr_templates templates;
} pfr_symbol_options;

#ifdef __cplusplus
}
#endif
#endif
