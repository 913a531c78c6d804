/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SHARED_DEBUG_H
#define PFR_SYMBOL_SHARED_DEBUG_H
/*
 * Entries and texts that several objects share (dwz -m): in a file that an object names with its build-id. It is looked
 * for at that name, below the object's folder where it is relative; at what follows "/.dwz/" in it below the folder of
 * separate files; and there by build-id. Another build is as if it were not there.
 */
#include "symbol/elf/debug_link.h"
#include "symbol/dwarf/dwarf_info.h"

struct shared_debug {
    struct debug_sections sections;
    struct dwarf_info info;
    bool is_there;
    char name[PATH_MAX]; /* as the object has it; "": none */
};

/* FOUND, also where none is named or it is not there, or is more than a limit allows; NO_MEMORY. Close it after every
 * outcome. */
enum symbol_result shared_debug_open(struct shared_debug *shared, struct elf_object *object,
                                     const struct debug_home *home, struct memory *memory);
void shared_debug_close(struct shared_debug *shared);

/* NULL: there is none. */
struct dwarf_info *shared_debug_info(struct shared_debug *shared);

/* The name of one that could not be had; NULL: there is none such. */
const char *shared_debug_missing(const struct shared_debug *shared);

#endif
