/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the kernel's list of symbols, /proc/kallsyms or a copy. A line is
 *
 *  ffffffff81362070 t handle_softirqs
 *  ffffffffc0401000 t ext4_read_inode	[ext4]
 *
 * address, type as in nm(1) (lower case: local; w: weak), name, and for modules a tab and the module's name. Symbols
 * have no sizes; each symbol extends to the next. Opening does not read the list (some 200 000 lines): it is read once,
 * when the first address is looked up, and searched as text (kernel_list.h). If the list is not sorted, it is converted
 * to a table. For the running kernel, a part of the list is cached for later reports, and is searched before the list
 * is read (kernel_image.h). A reader without permission gets zeros as addresses: SYMBOL_HIDDEN.
 */
#include <string.h>
#include <unistd.h>
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/kernel_list.h"
#include "symbol/table/regular_file.h"
#include "symbol/table/symbol_handle.h"

#define KALLSYMS_BYTES_MOST ((uint64_t)256 << 20)

struct kallsyms_handle {
    struct symbol_handle base; /* has the table for an unsorted list */
    enum symbol_result state;  /* result of reading; FOUND once the list or the table is ready */
    struct kernel_list list;   /* text of the list; empty if the symbols are in the table */
    struct kernel_image image; /* symbols cached by an earlier report */
    const char *cache;         /* cache folder; NULL: no cache */
    bool has_key;              /* `key` is valid: it identifies the list */
    struct kernel_key key;
    int unread; /* descriptor until the list has been read; then -1 */
};

struct kallsyms_reader {
    struct symbol_table *table;
    const char *module; /* module of the previous line; NULL: the kernel itself */
    bool saw_address, saw_line;
};

static enum symbol_binding binding_of(char type) {
    if (type == 'w' || type == 'W')
        return BINDING_WEAK;
    return type >= 'A' && type <= 'Z' ? BINDING_GLOBAL : BINDING_LOCAL;
}

/* Symbols of a module are adjacent, so remembering the last name avoids most copies. False: no memory. */
static bool note_module(struct kallsyms_reader *reader, const char *name, const char *end) {
    uint32_t length;
    const char *module = kernel_line_module(name, end, &length);
    if (!module) {
        reader->module = NULL;
        return true;
    }
    if (reader->module && strlen(reader->module) == length && memcmp(reader->module, module, length) == 0)
        return true;
    reader->module = arena_text(&reader->table->names, module, length);
    return reader->module != NULL;
}

static enum symbol_result read_kernel_symbol(struct kallsyms_reader *reader, const char *line, const char *end) {
    uint64_t address;
    if (!take_hex(&line, end, &address) || end - line < 3 || line[1] != ' ')
        return SYMBOL_FOUND;
    reader->saw_line = true;
    reader->saw_address |= address != 0;
    const char type = line[0], *name = line + 2;
    const char *tab = memchr(name, '\t', (size_t)(end - name));
    const char *name_end = tab ? tab : end;
    if (!kernel_line_is_named(type, name, (size_t)(name_end - name)))
        return SYMBOL_FOUND;
    if (!note_module(reader, name_end, end))
        return table_memory_result(reader->table->memory);
    const struct table_entry entry = {.name = name,
                                      .name_length = (uint32_t)(name_end - name),
                                      .module = reader->module,
                                      .start = address,
                                      .binding = (uint8_t)binding_of(type)};
    return table_add(reader->table, entry, 0);
}

static enum symbol_result read_lines(struct kallsyms_reader *reader, struct line_reader *lines) {
    for (;;) {
        const char *line;
        size_t length;
        enum symbol_result result = line_reader_next(lines, &line, &length);
        if (result == SYMBOL_FOUND)
            result = read_kernel_symbol(reader, line, line + length);
        if (result != SYMBOL_FOUND)
            return result;
    }
}

static enum symbol_result load_table(struct kallsyms_handle *handle) {
    struct kallsyms_reader reader = {.table = &handle->base.table};
    struct line_reader lines;
    if (lseek(handle->unread, 0, SEEK_SET) != 0)
        return SYMBOL_IO;
    enum symbol_result result = line_reader_start(&lines, handle->unread, KALLSYMS_BYTES_MOST, handle->base.memory);
    if (result == SYMBOL_FOUND) {
        result = read_lines(&reader, &lines);
        line_reader_end(&lines);
    }
    if (result != SYMBOL_NO_MATCH)
        return result;
    if (reader.saw_line && !reader.saw_address)
        return SYMBOL_HIDDEN;
    return table_finish(&handle->base.table, TABLE_NESTED);
}

static enum symbol_result load_kallsyms(struct kallsyms_handle *handle) {
    enum symbol_result result = kernel_list_read(&handle->list, handle->unread, KALLSYMS_BYTES_MOST);
    if (result != SYMBOL_FOUND)
        return result;
    if (handle->has_key && (handle->image.fd < 0 || handle->image.damaged))
        kernel_image_keep(handle->cache, &handle->key, handle->list.text, handle->list.length, handle->base.memory);
    result = kernel_list_index(&handle->list);
    return result == SYMBOL_NO_MATCH ? load_table(handle) : result;
}

/* Searches the symbols cached by an earlier report. */
static bool find_kept(struct kallsyms_handle *handle, uint64_t address, struct symbol *symbol) {
    if (handle->cache && !handle->has_key) {
        handle->has_key = kernel_key_read(handle->unread, &handle->key);
        if (handle->has_key)
            kernel_image_open(&handle->image, handle->cache, &handle->key);
        else
            handle->cache = NULL;
    }
    return kernel_image_find(&handle->image, address, symbol);
}

static void kallsyms_close(struct symbol_handle *base) {
    struct kallsyms_handle *handle = (struct kallsyms_handle *)base;
    if (!handle)
        return;
    if (handle->unread >= 0)
        close(handle->unread);
    kernel_list_free(&handle->list);
    kernel_image_close(&handle->image);
    handle_close(base);
}

static enum symbol_result kallsyms_open(const struct symbol_object *object, struct memory *memory,
                                        struct symbol_handle **base) {
    const enum symbol_result result = handle_new(memory, sizeof(struct kallsyms_handle), base);
    if (result != SYMBOL_FOUND)
        return result;
    struct kallsyms_handle *handle = (struct kallsyms_handle *)*base;
    struct stat facts;
    handle->cache = object->cache;
    handle->unread = -1;
    kernel_list_init(&handle->list, memory);
    kernel_image_init(&handle->image, memory);
    return handle_settle(base, open_regular(object->path, OPEN_PROC, &handle->unread, &facts), kallsyms_close);
}

static enum symbol_result kallsyms_find(struct symbol_handle *base, uint64_t address, struct symbol *symbol) {
    struct kallsyms_handle *handle = (struct kallsyms_handle *)base;
    if (handle->unread >= 0) {
        if (find_kept(handle, address, symbol))
            return SYMBOL_FOUND;
        handle->state = load_kallsyms(handle);
        close(handle->unread);
        handle->unread = -1;
    }
    if (handle->state != SYMBOL_FOUND)
        return handle->state;
    return handle->list.text ? kernel_list_find(&handle->list, address, symbol) : handle_find(base, address, symbol);
}

const struct symbol_source kallsyms_symbol_source = {
    "kallsyms", kallsyms_open, kallsyms_find, handle_segments, handle_build_id, handle_size, NULL, kallsyms_close,
};
