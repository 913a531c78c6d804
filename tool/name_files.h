/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_NAME_FILES_H
#define PERFRAY_TOOL_NAME_FILES_H
/* Options of commands that name addresses, which each command has rows of its own for: what they ask of the library,
   and whether the files that they name are there. */
#include <perfray/symbol_options.h>
#include "options.h"

struct naming { /* `cache` is true at first; NULL: the option was not given */
    const char *symfs, *debug_dir, *vmlinux, *kallsyms, *demangle;
    struct word_list instr_maps;
    bool cache, no_symbols, mangled, demangle_kernel;
};

/* Its texts are those of the options. */
pfr_symbol_options symbol_options_of(const struct naming *naming);

/* Whether each is there and what the option means: a folder, an object file, a list of symbols. The first one that is
   not is told, as "who: --option name: why; what to do". A folder that is not there is told, and does. */
bool name_files_fit(const char *who, const struct naming *naming);

#endif
