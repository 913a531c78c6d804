/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_LINK_H
#define PFR_SYMBOL_DEBUG_LINK_H
/*
 * Sections of a stripped object that lead to its separate debug information:
 *
 *  .gnu_debuglink      the name of another file, and the CRC-32 of its bytes
 *                      (gdb manual, "Separate Debug Files")
 *  .gnu_debugaltlink,  the name of a file that several objects share, and
 *  .debug_sup          its build-id
 *  .gnu_debugdata      an object compressed by xz with the symbols that
 *                      .dynsym lacks ("MiniDebugInfo")
 */
#include "symbol/elf/elf_names.h"

#include <limits.h>

/* Location of an object, for searching its separate files. */
struct debug_home {
    const char *path, *symfs; /* path of the object; symfs may be NULL */
    const char *folder;       /* folder of separate debug files; NULL: /usr/lib/debug below symfs */
};

/* The file that several objects share, as made by dwz -m. */
struct shared_link {
    char name[PATH_MAX]; /* "": no file is named */
    uint8_t id[BUILD_ID_MOST];
    size_t id_size;
};

/* False: the object names no file, or the name contains a slash. */
bool elf_read_debug_link(const struct elf_object *object, struct debug_link *link);

/* Reads the name and build-id in .gnu_debugaltlink or .debug_sup (DWARF 5, 7.3.6). With `is_shared`, reads the
 * .debug_sup by which a shared file identifies itself; the name is then empty. False: there is no such section. */
bool elf_read_shared_link(const struct elf_object *object, bool is_shared, struct shared_link *link);

/* Makes "FOLDER/.build-id/ab/cdef...REST"; false: it does not fit, or the id has an invalid length. */
bool build_id_path(char *to, size_t room, const char *folder, const uint8_t *id, size_t size, const char *rest);

/* Checks the CRC of all bytes of a file. FOUND, OTHER_BUILD; LIMIT for files of more than 4 GB; IO. */
enum symbol_result debug_link_check(int fd, uint64_t size, uint32_t crc);

/* Reads the symbol tables of the compressed object in .gnu_debugdata. FOUND, even if there is no such object or it is
   damaged; LIMIT, NO_MEMORY. */
enum symbol_result elf_read_packed_symbols(const struct elf_object *object, struct elf_names *names);

#endif
