/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SPLIT_FILES_H
#define PFR_SYMBOL_SPLIT_FILES_H
/*
 * The entries of units that were split off an object (-gsplit-dwarf): in the package beside it, OBJECT.dwp, or in the
 * file that the unit names (.dwo, or the relocatable object itself), below its own folder, else beside the object.
 *
 *     struct split_files files;
 *     split_files_init(&files, &home, &sections, memory);
 *     if (split_files_find(&files, unit, ranges_left, &info) == SYMBOL_FOUND)
 *         ... the entries of info->units[0] ...
 *     split_files_free(&files);
 *
 * A file counts when it has the unit of that id. Each is opened once, as open_regular_under does it; what it has is
 * kept until the end. What may be read of all of them is bounded by their size.
 */
#include "symbol/elf/debug_link.h"
#include "symbol/dwarf/dwarf_names.h"

struct split_file;

struct split_files {
    struct memory *memory;
    const struct debug_sections *object;
    const struct debug_home *home;
    struct split_file **files; /* those that were opened, whether or not they have anything */
    size_t count, room;
    struct u64_map by_inode;
    struct split_file *package;
    bool package_asked;
    struct split_budget budget;
    uint64_t info_left;        /* bytes of entries that may still be read */
    uint64_t ranges_more;      /* ranges that the files may have: for who counts those */
    struct dwarf_names *names; /* which may be read out of the files, too */
};

/* Where the object is and its sections must outlive it. Takes no memory yet. */
void split_files_init(struct split_files *files, const struct debug_home *home, const struct debug_sections *object,
                      struct dwarf_names *names, struct memory *memory);
void split_files_free(struct split_files *files);

/* The entries of what was split off a skeleton; *info is the caller's, for dwarf_info_close, after FOUND alone.
   NO_FILE: they are nowhere; LIMIT, NO_MEMORY. */
enum symbol_result split_files_find(struct split_files *files, const struct info_unit *skeleton,
                                    struct dwarf_info *info);

#endif
