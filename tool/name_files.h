/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_NAME_FILES_H
#define PERFRAY_TOOL_NAME_FILES_H
/* Symbol lookup options shared by several commands: converts them for the library, and checks that the named files
 * exist. */
#include <perfray/symbol_options.h>
#include "options.h"

struct naming { /* `cache` must be true initially; NULL: the option was not given */
    const char *symfs, *debug_dir, *vmlinux, *kallsyms, *demangle;
    struct word_list instr_maps;
    bool cache, no_symbols, mangled, demangle_kernel;
};

/* The result refers to the texts in `naming`. */
pfr_symbol_options symbol_options_of(const struct naming *naming);

/* Checks that each file is readable and of the right type: folder, object file, list of symbols. Prints the first
 * problem as "who: --option name: why; what to do" and returns false. A missing folder (--symfs, --debug-dir) only
 * causes a warning. */
bool name_files_fit(const char *who, const struct naming *naming);

#endif
