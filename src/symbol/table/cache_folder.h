/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_CACHE_FOLDER_H
#define PFR_SYMBOL_CACHE_FOLDER_H
/*
 * The folder where what was found out once is kept for the next report: files that are ours alone, whole, and bounded.
 *
 *     int folder = cache_folder_open("/home/me/.cache/perfray");
 *     uint8_t *bytes = cache_file_read(folder, "0123.lines", most, memory, &size);
 *     ...
 *     int lock = cache_folder_lock(folder);
 *     cache_file_put(folder, "0123.lines", bytes, size);
 *     cache_folder_bound(folder, ".lines", most_of_all, memory);
 *
 * Nothing of it can make a report fail: a folder that cannot be made, that is somebody else's or that others may write
 * to is not used; what cannot be written is not kept. Files are made under another name and moved into place, so that
 * they are always whole, have mode 0600, and no symbolic link is followed. What is in them is for the caller to check.
 */
#include "base/memory/memory.h"

#include <stdint.h>

#define CACHE_NAME_ROOM 192 /* of the name of a file */

/* A descriptor, the caller's; -1: there is none that may be used. `make`: it is made where there is none. */
int cache_folder_open(const char *path);
int cache_folder_make(const char *path);

/* A file of ours, of 1 to most_bytes bytes, which is noted as used; -1: there is none. */
int cache_file_open(int folder, const char *name, uint64_t most_bytes, uint64_t *size);
/* All of its bytes, of the memory's; NULL: there is none, or no memory. */
uint8_t *cache_file_read(int folder, const char *name, uint64_t most_bytes, struct memory *memory, size_t *size);

/* Who writes holds the lock, a descriptor to close; -1: somebody else keeps it for longer than it is worth waiting. */
int cache_folder_lock(int folder);
void cache_file_put(int folder, const char *name, const uint8_t *bytes, size_t size);
/* When the files with this end of their names have more than so many bytes, those go that were not used for longest. */
void cache_folder_bound(int folder, const char *suffix, uint64_t most_bytes, struct memory *memory);

#endif
