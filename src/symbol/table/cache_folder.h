/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_CACHE_FOLDER_H
#define PFR_SYMBOL_CACHE_FOLDER_H
/*
 * The folder in which results are cached for the next report: files that belong only to this user, complete and limited
 * in size.
 *
 *  int folder = cache_folder_open("/home/me/.cache/perfray");
 *  uint8_t *bytes = cache_file_read(folder, "0123.lines", most, memory, &size);
 *  ...
 *  int lock = cache_folder_lock(folder);
 *  cache_file_put(folder, "0123.lines", bytes, size);
 *  cache_folder_bound(folder, ".lines", most_of_all, memory);
 *
 * The cache never makes a report fail. A folder that cannot be made, belongs to another user or is writable by others
 * is not used; write errors are ignored. Files are written under a temporary name and renamed, so they are always
 * complete; they have mode 0600, and symbolic links are not followed. The caller must check the contents.
 */
#include "base/memory/memory.h"

#include <stdint.h>

#define CACHE_NAME_ROOM 192 /* maximum bytes of a file name, with its NUL */

/* Returns a descriptor, which the caller closes; -1: there is no usable folder. cache_folder_make also creates the
 * folder if it is missing. */
int cache_folder_open(const char *path);
int cache_folder_make(const char *path);

/* Opens a file of this user that has 1 to most_bytes bytes, and marks it as used; -1: there is no such file. */
int cache_file_open(int folder, const char *name, uint64_t most_bytes, uint64_t *size);
/* Reads a whole file, which the caller frees; NULL: there is no such file, or memory ran out. */
uint8_t *cache_file_read(int folder, const char *name, uint64_t most_bytes, struct memory *memory, size_t *size);

/* Takes the writers' lock; returns a descriptor, which the caller closes. -1: another process has held the lock for 200
   ms. */
int cache_folder_lock(int folder);
void cache_file_put(int folder, const char *name, const uint8_t *bytes, size_t size);
/* If the files with this suffix have more than most_bytes bytes, deletes the least recently used ones. */
void cache_folder_bound(int folder, const char *suffix, uint64_t most_bytes, struct memory *memory);

#endif
