/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files as a source of names: opening, checking, and lookup. */
#include "symbol/elf/debug_link.h"
#include "symbol/elf/elf_plt.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/own_vdso.h"
#include "symbol/table/regular_file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

struct elf_handle {
    struct symbol_handle base;
    struct elf_names names;
};

static bool has_symtab(const struct elf_object *object) {
    return elf_section_of_type(object, SHT_SYMTAB) != NULL;
}

static enum symbol_result sort_symbols(struct elf_names *names) {
    const uint64_t count = elf_names_count(names) + names->stubs.count;
    const struct elf_part *own = &names->parts[0];
    enum symbol_result result = groups_init(&names->groups, names->memory, own->low, own->high, count);
    if (result != SYMBOL_FOUND)
        return result;
    if (!elf_names_add(names))
        return SYMBOL_NO_SYMBOLS;
    elf_stubs_add(names); /* as in perf, PLT entries are named only if the object has other symbols */
    groups_seal(&names->groups);
    return SYMBOL_FOUND;
}

static enum symbol_result read_symbols(struct elf_object *object, struct elf_names *names) {
    enum symbol_result result = elf_names_read(names, object);
    if (result == SYMBOL_FOUND && !has_symtab(object))
        result = elf_read_packed_symbols(object, names);
    if (result == SYMBOL_FOUND && elf_names_count(names) > 0)
        result = elf_stubs_read(names, object);
    if (result != SYMBOL_FOUND)
        return result;
    return elf_names_count(names) > 0 ? sort_symbols(names) : SYMBOL_NO_SYMBOLS;
}

static enum symbol_result load_elf(const struct symbol_object *asked, struct elf_object *object,
                                   struct elf_handle *elf) {
    struct symbol_handle *handle = &elf->base;
    struct build_id id;
    elf_read_build_id(object, &id);
    memcpy(handle->build_id, id.bytes, id.size);
    handle->build_id_size = id.size;
    elf_read_debug_link(object, &handle->debug_link);
    enum symbol_result result = elf_build_check(asked, &id, object->fd, object->file_size);
    if (result == SYMBOL_FOUND)
        result = elf_read_segments(object, handle);
    if (result == SYMBOL_FOUND)
        result = read_symbols(object, &elf->names);
    if (result != SYMBOL_NO_SYMBOLS || !asked->may_be_bare)
        return result;
    elf_names_free(&elf->names); /* later lookups then find no symbols */
    return SYMBOL_FOUND;
}

static enum symbol_result open_image(const struct symbol_object *asked, int *fd, uint64_t *size) {
    struct stat facts;
    if (asked->kind == SYMBOL_VDSO)
        return open_own_vdso(fd, size);
    const enum symbol_result result = open_regular_under(asked->symfs, asked->path, fd, &facts);
    *size = result == SYMBOL_FOUND ? (uint64_t)facts.st_size : 0;
    return result;
}

static void elf_close(struct symbol_handle *handle) {
    if (handle)
        elf_names_free(&((struct elf_handle *)handle)->names);
    handle_close(handle);
}

static enum symbol_result elf_open(const struct symbol_object *asked, struct memory *memory,
                                   struct symbol_handle **handle) {
    int fd;
    uint64_t size;
    struct elf_object object;
    *handle = NULL;
    enum symbol_result result = open_image(asked, &fd, &size);
    if (result != SYMBOL_FOUND)
        return result;
    result = elf_object_start(&object, fd, size, memory);
    if (result == SYMBOL_FOUND)
        result = handle_new(memory, sizeof(struct elf_handle), handle);
    if (result == SYMBOL_FOUND) {
        struct elf_handle *elf = (struct elf_handle *)*handle;
        elf->base.size = size;
        elf_names_init(&elf->names, memory);
        result = handle_settle(handle, load_elf(asked, &object, elf), elf_close);
    }
    elf_object_end(&object);
    close(fd);
    return result;
}

static enum symbol_result put(void *context, uint32_t number, struct symbol_table *table) {
    return elf_names_put(context, number, table);
}

static void extent(void *context, uint32_t number, uint64_t *start, uint64_t *size) {
    elf_names_extent(context, number, start, size);
}

static enum symbol_result elf_find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol) {
    struct elf_names *names = &((struct elf_handle *)handle)->names;
    if (names->groups.bucket_count)
        return groups_find(&names->groups, address, (struct group_source){extent, put, names}, symbol);
    symbol->from = 0;
    symbol->end = UINT64_MAX;
    return SYMBOL_NO_MATCH;
}

static const struct debug_link *elf_debug_link(const struct symbol_handle *handle) {
    return &handle->debug_link;
}

const struct symbol_source elf_symbol_source = {
    "elf", elf_open, elf_find, handle_segments, handle_build_id, handle_size, elf_debug_link, elf_close,
};
