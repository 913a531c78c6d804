/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_LINK_H
#define PFR_SYMBOL_DEBUG_LINK_H
/*
 * What a stripped object says of what was taken out of it.
 *
 *     .gnu_debuglink   the name of another file, and the CRC-32 of all its bytes (gdb manual, "Separate Debug Files")
 *     .gnu_debugaltlink, .debug_sup   the name of a file that several objects share, and its build-id
 *     .gnu_debugdata   an object packed by xz inside this one, whose symbols are those that .dynsym lacks
 * ("MiniDebugInfo")
 */
#include "symbol/elf/elf_names.h"

#include <limits.h>

/* Where an object is, for who looks for what belongs to it. */
struct debug_home {
    const char *path, *symfs; /* of the object; symfs may be NULL */
    const char *folder;       /* of separate files; NULL: /usr/lib/debug below symfs */
};

/* The file that several objects share, as dwz -m makes it. */
struct shared_link {
    char name[PATH_MAX]; /* "": none */
    uint8_t id[BUILD_ID_MOST];
    size_t id_size;
};

/* False: the object names none, or a name with a folder in it. */
bool elf_read_debug_link(const struct elf_object *object, struct debug_link *link);

/* What .gnu_debugaltlink or .debug_sup (DWARF 5, 7.3.6) names; `is_shared` asks for what a shared file's own .debug_sup
   says of itself, where the name is empty. False: nothing of the kind. */
bool elf_read_shared_link(const struct elf_object *object, bool is_shared, struct shared_link *link);

/* "FOLDER/.build-id/ab/cdef...REST" of an id; false: it does not fit. */
bool build_id_path(char *to, size_t room, const char *folder, const uint8_t *id, size_t size, const char *rest);

/* Whether all bytes of a file have this sum. FOUND, OTHER_BUILD; LIMIT for files of more than 4 GB; IO. */
enum symbol_result debug_link_check(int fd, uint64_t size, uint32_t crc);

/* Reads the tables of symbols of the packed object. FOUND, also where there is none or it is damaged;
   LIMIT, NO_MEMORY. */
enum symbol_result elf_read_packed_symbols(const struct elf_object *object, struct elf_names *names);

#endif
