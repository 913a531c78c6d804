/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SPLIT_FILES_H
#define PFR_SYMBOL_SPLIT_FILES_H
/*
 * Entries of units that were split off an object (-gsplit-dwarf). They are in the package OBJECT.dwp next to the
 * object, or in the file that the unit names (.dwo, or the relocatable object itself), which is searched in the unit's
 * folder, then next to the object.
 *
 *  struct split_files files;
 *  split_files_init(&files, &home, &sections, &names, memory);
 *  if (split_files_find(&files, unit, &info) == SYMBOL_FOUND)
 *      ... the entries of info.units[0] ...
 *  split_files_free(&files);
 *
 * A file is used if it has a unit with the required id. Each file is opened once, by open_regular_under, and its
 * contents are kept until split_files_free. Reading is bounded by the size of the files.
 */
#include "symbol/elf/debug_link.h"
#include "symbol/dwarf/dwarf_names.h"

struct split_file;

struct split_files {
    struct memory *memory;
    const struct debug_sections *object;
    const struct debug_home *home;
    struct split_file **files; /* files that were opened, whether their contents are usable or not */
    size_t count, room;
    struct u64_map by_inode;
    struct split_file *package;
    bool package_asked;
    struct split_budget budget;
    uint64_t info_left;   /* bytes of entries that may still be read */
    uint64_t ranges_more; /* additional range budget for newly opened files; the caller adds it to its own budget */
    struct dwarf_names *names; /* names that may also be read from these files */
};

/* `home`, `object` and `names` must outlive `files`. Allocates nothing yet. */
void split_files_init(struct split_files *files, const struct debug_home *home, const struct debug_sections *object,
                      struct dwarf_names *names, struct memory *memory);
void split_files_free(struct split_files *files);

/* Finds the split part of a skeleton. After FOUND, the caller closes *info by dwarf_info_close. NO_FILE: the split part
   was not found; LIMIT, NO_MEMORY. */
enum symbol_result split_files_find(struct split_files *files, const struct info_unit *skeleton,
                                    struct dwarf_info *info);

#endif
