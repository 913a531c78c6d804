/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SPLIT_FILES_H
#define PFR_SYMBOL_SPLIT_FILES_H
/*
 * Entries of units that were split off an object (-gsplit-dwarf): in the package next to it, OBJECT.dwp, or in the file
 * that the unit names (.dwo, or the relocatable object itself), in the unit's folder, else next to the object.
 *
 *  struct split_files files;
 *  split_files_init(&files, &home, &sections, &names, memory);
 *  if (split_files_find(&files, unit, &info) == SYMBOL_FOUND)
 *      ... the entries of info.units[0] ...
 *  split_files_free(&files);
 *
 * A file is used if it has the unit of that id. Each is opened once, by open_regular_under, and its contents are kept
 * until the end. Reading is bounded by the size of the files.
 */
#include "symbol/elf/debug_link.h"
#include "symbol/dwarf/dwarf_names.h"

struct split_file;

struct split_files {
    struct memory *memory;
    const struct debug_sections *object;
    const struct debug_home *home;
    struct split_file **files; /* files opened, with or without usable contents */
    size_t count, room;
    struct u64_map by_inode;
    struct split_file *package;
    bool package_asked;
    struct split_budget budget;
    uint64_t info_left;        /* bytes of entries that may still be read */
    uint64_t ranges_more;      /* range budget of files opened since; the caller takes it over */
    struct dwarf_names *names; /* names may also be read from the files */
};

/* `home`, `object` and `names` must outlive it. Allocates nothing yet. */
void split_files_init(struct split_files *files, const struct debug_home *home, const struct debug_sections *object,
                      struct dwarf_names *names, struct memory *memory);
void split_files_free(struct split_files *files);

/* Finds the split part of a skeleton. After FOUND the caller closes *info by dwarf_info_close. NO_FILE: not found;
 * LIMIT, NO_MEMORY. */
enum symbol_result split_files_find(struct split_files *files, const struct info_unit *skeleton,
                                    struct dwarf_info *info);

#endif
