/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_HANDLE_H
#define PFR_SYMBOL_SYMBOL_HANDLE_H
/* What the sources of this folder keep for an object that was opened: the same for all of them. */
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/kernel_list.h"
#include "symbol/table/symbol_table.h"

struct elf_names;
struct jit_dump;

struct symbol_handle {
    struct memory *memory;
    struct symbol_table table;
    struct symbol_segment *segments;
    size_t segment_count;
    uint8_t build_id[BUILD_ID_MOST];
    size_t build_id_size;
    uint64_t size; /* of the file */
    struct debug_link debug_link;
    enum symbol_result state;  /* kallsyms: what reading gave; FOUND once the list or the table is there */
    struct kernel_list list;   /* kallsyms: its text; empty: what it says is in the table */
    struct kernel_image image; /* kallsyms: what was kept of it */
    const char *cache;         /* kallsyms: the folder of that; NULL: none */
    bool has_key;              /* kallsyms: `key` says what the list is of */
    struct kernel_key key;
    int unread;                  /* kallsyms: the file, until the first find that it must answer; else -1 */
    struct elf_names *elf;       /* elf: its symbols */
    const struct jit_dump *dump; /* jitdump: where its names are */
};

/* FOUND, LIMIT or NO_MEMORY; *handle is NULL unless FOUND. */
enum symbol_result handle_new(struct memory *memory, struct symbol_handle **handle);

/* `result` itself; when that is not FOUND, *handle is freed and made NULL. */
enum symbol_result handle_settle(struct symbol_handle **handle, enum symbol_result result);

/* Functions of the table in symbol_source.h that sources share. */
enum symbol_result handle_find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol);
struct symbol_segments handle_segments(const struct symbol_handle *handle);
const uint8_t *handle_build_id(const struct symbol_handle *handle, size_t *size);
uint64_t handle_size(const struct symbol_handle *handle);
void handle_close(struct symbol_handle *handle);

#endif
