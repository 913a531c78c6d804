/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SHARED_DEBUG_H
#define PFR_SYMBOL_SHARED_DEBUG_H
/*
 * Entries and texts shared by several objects (dwz -m), in a file that the object gives by name and build-id. The file
 * is searched in this order: at its name (a relative name: below the object's folder); in the folder of separate debug
 * files, at the part of the name after "/.dwz/"; in the same folder, by build-id. A file with another build-id is
 * ignored.
 */
#include "symbol/elf/debug_link.h"
#include "symbol/dwarf/dwarf_info.h"

struct shared_debug {
    struct debug_sections sections;
    struct dwarf_info info;
    bool is_there;
    char name[PATH_MAX]; /* name as in the object; "": the object names no file */
};

/* FOUND, even if the object names no file, or the file is missing or exceeds a limit; NO_MEMORY. Close `shared` after
 * every outcome. */
enum symbol_result shared_debug_open(struct shared_debug *shared, struct elf_object *object,
                                     const struct debug_home *home, struct memory *memory);
void shared_debug_close(struct shared_debug *shared);

/* NULL if there is no shared file. */
struct dwarf_info *shared_debug_info(struct shared_debug *shared);

/* Name of a shared file that could not be opened, else NULL. */
const char *shared_debug_missing(const struct shared_debug *shared);

#endif
