/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass checks the format of all lines and marks some of them; a lookup searches the marks, then reads the few lines
 * after a mark. A symbol extends to the next symbol, like symbols without sizes in symbol_table.c; of several symbols
 * with the same address, the last one is used.
 */
#include "symbol/kernel/kernel_list.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "symbol/table/symbol_table.h"

#define DIGITS 16u
#define MARK_EACH 8u
#define ROOM_FIRST ((size_t)1 << 20)
#define READ_LEAST ((size_t)64 << 10)
#define NAME_LONGEST ((size_t)4 << 10) /* bytes after the address and type of a line */
#define EACH_BYTE(value) (0x0101010101010101u * (uint64_t)(value))

void kernel_list_init(struct kernel_list *list, struct memory *memory) {
    *list = (struct kernel_list){.memory = memory};
    u64_map_init(&list->names, memory);
    arena_init(&list->arena, memory);
}

void kernel_list_free(struct kernel_list *list) {
    mem_free(list->memory, list->text, list->room, 1);
    mem_free(list->memory, list->marks, list->marks_room, sizeof *list->marks);
    u64_map_free(&list->names);
    arena_free(&list->arena);
    kernel_list_init(list, list->memory);
}

/* --- Lines. */

bool kernel_line_is_named(char type, const char *name, size_t length) {
    return length > 0 && name[0] != '$' && type != '\0' && strchr("tTwWdDbB", type);
}

const char *kernel_line_module(const char *from, const char *end, uint32_t *length) {
    const char *open = memchr(from, '[', (size_t)(end - from));
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    *length = close ? (uint32_t)(close - open - 1) : 0;
    return close ? open + 1 : NULL;
}

/* Converts eight digits at once: the bits of each byte show whether it is a digit, and its value. Upper-case letters
   are not accepted. */
static inline bool take_eight(const char *at, uint64_t *value) {
    uint64_t text;
    memcpy(&text, at, sizeof text);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        text = __builtin_bswap64(text);
    const uint64_t letters = text >> 6 & EACH_BYTE(1), low = text & EACH_BYTE(0xf), digits = low + letters * 9;
    const bool good = text == EACH_BYTE(0x30) + letters * 0x30 + low && (digits & EACH_BYTE(0x10)) == 0 &&
                      ((digits + EACH_BYTE(6)) >> 4 & EACH_BYTE(1)) == letters;
    uint64_t sum = (digits | digits >> 4) & 0x00ff00ff00ff00ffu;
    sum = (sum | sum >> 8) & 0x0000ffff0000ffffu;
    *value = *value << 32 | (uint32_t)(sum | sum >> 16);
    return good;
}

/* Parses "ffffffff81362070 t name" up to `end`, the '\n'. */
static inline bool take_line(const char *at, const char *end, struct kernel_line *line) {
    const char *name = at + DIGITS + 3;
    if (end - at < (ptrdiff_t)DIGITS + 4 || at[DIGITS] != ' ' || at[DIGITS + 2] != ' ')
        return false;
    line->address = 0;
    line->type = at[DIGITS + 1];
    line->name = name;
    line->name_length = (uint32_t)(end - name); /* still includes the module's name */
    return end - name < (ptrdiff_t)NAME_LONGEST && take_eight(at, &line->address) && take_eight(at + 8, &line->address);
}

/* Separates the name and the module's name. */
static void part_name(struct kernel_line *line) {
    const char *end = line->name + line->name_length, *tab = memchr(line->name, '\t', line->name_length);
    line->module = NULL;
    line->module_length = 0;
    if (!tab)
        return;
    line->name_length = (uint32_t)(tab - line->name);
    line->module = kernel_line_module(tab, end, &line->module_length);
}

bool kernel_line_read(const char *at, const char *end, struct kernel_line *line) {
    if (!take_line(at, end, line))
        return false;
    part_name(line);
    return true;
}

/* --- Loading. */

static enum symbol_result make_room(struct kernel_list *list) {
    const size_t room = list->room ? list->room * 2 : ROOM_FIRST;
    if (list->room - list->length >= READ_LEAST)
        return SYMBOL_FOUND;
    char *more = mem_resize(list->memory, list->text, list->room, room, 1);
    if (!more)
        return table_memory_result(list->memory);
    list->text = more;
    list->room = room;
    return SYMBOL_FOUND;
}

static enum symbol_result read_all(struct kernel_list *list, int fd, uint64_t most_bytes) {
    for (;;) {
        const enum symbol_result result = make_room(list);
        if (result != SYMBOL_FOUND)
            return result;
        const ssize_t got = read(fd, list->text + list->length, list->room - list->length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? SYMBOL_IO : SYMBOL_FOUND;
        list->length += (size_t)got;
        if (list->length > most_bytes)
            return SYMBOL_LIMIT;
    }
}

static enum symbol_result mark(struct kernel_list *list, const char *line) {
    void *more = mem_grow(list->memory, list->marks, list->nr_marks, &list->marks_room, 1024, sizeof *list->marks);
    if (!more)
        return table_memory_result(list->memory);
    list->marks = more;
    list->marks[list->nr_marks++] = (uint32_t)(line - list->text);
    return SYMBOL_FOUND;
}

/* State of the pass over the text. */
struct seen {
    uint64_t last; /* address of the last line */
    size_t named;
    bool line, address;
};

static enum symbol_result look_at(struct kernel_list *list, const char *at, const char *end, struct seen *seen) {
    struct kernel_line line;
    if (!take_line(at, end, &line))
        return SYMBOL_NO_MATCH;
    seen->line = true;
    seen->address |= line.address != 0;
    if (!kernel_line_is_named(line.type, line.name, line.name[0] != '\t'))
        return SYMBOL_FOUND;
    if (line.address < seen->last)
        return SYMBOL_NO_MATCH;
    seen->last = line.address;
    return seen->named++ % MARK_EACH == 0 ? mark(list, at) : SYMBOL_FOUND;
}

static enum symbol_result look_at_all(struct kernel_list *list) {
    struct seen seen = {0};
    const char *at = list->text, *const end = at + list->length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const enum symbol_result result = look_at(list, at, newline, &seen);
        if (result != SYMBOL_FOUND)
            return result;
        at = newline + 1;
    }
    if (seen.line && !seen.address)
        return SYMBOL_HIDDEN;
    return seen.named ? SYMBOL_FOUND : SYMBOL_NO_SYMBOLS;
}

enum symbol_result kernel_list_read(struct kernel_list *list, int fd, uint64_t most_bytes) {
    const enum symbol_result result = read_all(list, fd, most_bytes);
    if (result == SYMBOL_FOUND && list->length && list->text[list->length - 1] != '\n')
        list->text[list->length++] = '\n'; /* read_all has left room for it */
    if (result != SYMBOL_FOUND)
        kernel_list_free(list);
    return result;
}

enum symbol_result kernel_list_index(struct kernel_list *list) {
    const enum symbol_result result =
        list->length && memchr(list->text, '\0', list->length) ? SYMBOL_NO_MATCH : look_at_all(list);
    if (result != SYMBOL_FOUND)
        kernel_list_free(list);
    return result;
}

/* --- Searching. */

static uint64_t address_of_mark(const struct kernel_list *list, size_t mark) {
    uint64_t address = 0;
    const char *at = list->text + list->marks[mark];
    (void)(take_eight(at, &address) && take_eight(at + 8, &address));
    return address;
}

/* The last marked line at or before the address; if there is none, the first marked line. */
static const char *line_before(const struct kernel_list *list, uint64_t address) {
    size_t low = 0, high = list->nr_marks;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (address_of_mark(list, middle) <= address)
            low = middle;
        else
            high = middle;
    }
    return list->text + list->marks[low];
}

/* Takes the next line with a symbol at *at; false: the list ends. */
static bool next_named(const struct kernel_list *list, const char **at, struct kernel_line *line) {
    const char *const end = list->text + list->length;
    while (*at < end) {
        const char *start = *at, *newline = memchr(start, '\n', (size_t)(end - start));
        *at = newline + 1;
        if (!take_line(start, newline, line) || !kernel_line_is_named(line->type, line->name, line->name[0] != '\t'))
            continue;
        part_name(line);
        return true;
    }
    return false;
}

static bool same_module(const struct kernel_line *a, const struct kernel_line *b) {
    return !a->module == !b->module && a->module_length == b->module_length &&
           (!a->module || memcmp(a->module, b->module, a->module_length) == 0);
}

/* Returns the same pointer for a line each time. */
static enum symbol_result keep_name(struct kernel_list *list, const struct kernel_line *line, struct symbol *symbol) {
    const size_t first = line->name_length, second = line->module_length;
    uint64_t *kept = u64_map_at(&list->names, (uint64_t)(line->name - list->text), 0, NULL);
    if (kept && !*kept) {
        char *text = arena_take(&list->arena, first + second + 2, 1);
        if (!text)
            return table_memory_result(list->memory);
        memcpy(text, line->name, first);
        text[first] = '\0';
        if (second)
            memcpy(text + first + 1, line->module, second);
        text[first + 1 + second] = '\0';
        *kept = (uint64_t)(uintptr_t)text;
    }
    if (!kept)
        return table_memory_result(list->memory);
    symbol->name = (const char *)(uintptr_t)*kept;
    symbol->name_length = first;
    symbol->module = symbol->name + first + 1;
    return SYMBOL_FOUND;
}

enum symbol_result kernel_list_find(struct kernel_list *list, uint64_t address, struct symbol *symbol) {
    struct kernel_line here = {0}, next;
    const char *at = line_before(list, address);
    bool found = false, more;
    while ((more = next_named(list, &at, &next)) && next.address <= address) {
        here = next;
        found = true;
    }
    const uint64_t behind = more ? next.address : UINT64_MAX;
    if (!found)
        return symbol->from = 0, symbol->end = behind, SYMBOL_NO_MATCH;
    const uint64_t far = table_end_of_next_page(here.address);
    const uint64_t end = more && (same_module(&here, &next) || behind < far) ? behind : far;
    if (address >= end)
        return symbol->from = end, symbol->end = behind, SYMBOL_NO_MATCH;
    *symbol = (struct symbol){.start = here.address, .size = end - here.address, .from = here.address, .end = end};
    return keep_name(list, &here, symbol);
}
