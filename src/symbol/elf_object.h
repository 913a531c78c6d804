/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_OBJECT_H
#define PFR_SYMBOL_ELF_OBJECT_H
/* One ELF file, open: its build-id, segments and symbols, taken out through libelf into a symbol_handle. */
#include <gelf.h>
#include "symbol_handle.h"

struct elf_object {
    Elf *elf;
    GElf_Ehdr header;
    size_t section_count, segment_count, names_section;
    struct memory *memory;
    uint64_t file_size;
    int fd;    /* the caller's */
    bool swap; /* its byte order is not this machine's */
};

/* Takes over nothing: fd is the caller's and must stay open until elf_object_end. FOUND, NOT_ELF, LIMIT. */
enum symbol_result elf_object_start(struct elf_object *object, int fd, uint64_t file_size, struct memory *memory);
void elf_object_end(struct elf_object *object);

struct build_id {
    uint8_t bytes[BUILD_ID_MOST];
    size_t size; /* 0: there is none */
};

void elf_read_build_id(struct elf_object *object, struct build_id *id);

/* Whether this is the build that was asked for; with no build-id asked for, any is. FOUND, OTHER_BUILD, NO_BUILD_ID. */
enum symbol_result build_id_check(const struct build_id *id, const struct symbol_object *asked);

/* The same, and where either says no build-id the file must have the sum that was asked for (debug_link.c). Also what
   debug_link_check gives. */
enum symbol_result elf_build_check(const struct symbol_object *asked, const struct build_id *id, int fd, uint64_t size);

/* FOUND, also when there are none; else LIMIT or NO_MEMORY. */
enum symbol_result elf_read_segments(struct elf_object *object, struct symbol_handle *handle);

/* Adds the symbols that name addresses to handle->table, unfinished (elf_symbols.c). FOUND, NO_SYMBOLS, LIMIT,
 * NO_MEMORY. */
enum symbol_result elf_read_symbols(struct elf_object *object, struct symbol_handle *handle);

/* Adds a name for each stub of its procedure linkage table (elf_plt.c). FOUND, also when there are none; LIMIT,
 * NO_MEMORY. */
enum symbol_result elf_read_plt(struct elf_object *object, struct symbol_handle *handle);

/* Reads `length` bytes at `offset` of a file; false: it has not so many, or reading failed. */
bool read_exactly(int fd, void *to, size_t length, uint64_t offset);

/* Writes all of it where the descriptor is, whatever a single write takes. False: it failed; errno. */
bool write_exactly(int fd, const void *bytes, size_t length);

#endif
