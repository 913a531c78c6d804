/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_LINK_H
#define PFR_SYMBOL_DEBUG_LINK_H
/*
 * What a stripped object says of what was taken out of it.
 *
 *     .gnu_debuglink   the name of another file, and the CRC-32 of all its bytes (gdb manual, "Separate Debug Files")
 *     .gnu_debugdata   an object packed by xz inside this one, whose symbols are those that .dynsym lacks
 * ("MiniDebugInfo")
 */
#include "elf_names.h"

/* False: the object names none, or a name with a folder in it. */
bool elf_read_debug_link(const struct elf_object *object, struct debug_link *link);

/* Whether all bytes of a file have this sum. FOUND, OTHER_BUILD; LIMIT for files of more than 4 GB; IO. */
enum symbol_result debug_link_check(int fd, uint64_t size, uint32_t crc);

/* Reads the tables of symbols of the packed object. FOUND, also where there is none or it is damaged;
   LIMIT, NO_MEMORY. */
enum symbol_result elf_read_packed_symbols(const struct elf_object *object, struct elf_names *names);

#endif
