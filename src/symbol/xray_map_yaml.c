/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map that `llvm-xray extract` writes, one line a sled:
 *
 *     - { id: 1, address: 0x233A0, function: 0x233A0, kind: function-enter, always-instrument: true,
 *         function-name: 'shapes::area(int) const', version: 2 }
 *
 * Of YAML only this is understood: a line holds one flow mapping, its scalars are plain, or quoted where they hold what
 * a plain one cannot. Lines that are no sled must be the marks of the document or comments.
 */
#include "regular_file.h"
#include "xray_map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define YAML_BYTES_MOST ((uint64_t)1 << 30)
#define NAME_MOST ((size_t)16 << 10)

struct sled {
    uint64_t id, function;
    bool has_id, has_function, has_name;
    char name[NAME_MOST];
    size_t name_length;
};

static void skip_blanks(const char **at, const char *end) {
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
}

/* A scalar without its quotation marks, cut at NAME_MOST. In single quotes '' is one; in double quotes \ escapes. */
static bool take_quoted(const char **at, const char *end, char *to, size_t *length) {
    const char quote = *(*at)++;
    for (*length = 0; *at < end; ++*at) {
        if (**at == quote && !(quote == '\'' && *at + 1 < end && (*at)[1] == '\''))
            return ++*at, true;
        if ((quote == '"' && **at == '\\') || **at == quote)
            ++*at;
        if (*at < end && *length < NAME_MOST)
            to[(*length)++] = **at;
    }
    return false;
}

/* Up to the comma or brace that ends it; "a, b" within brackets or quotes does not occur in plain ones. */
static bool take_plain(const char **at, const char *end, char *to, size_t *length) {
    for (*length = 0; *at < end && **at != ',' && **at != '}'; ++*at)
        if (*length < NAME_MOST)
            to[(*length)++] = **at;
    while (*length > 0 && to[*length - 1] == ' ')
        --*length;
    return *at < end;
}

static bool take_scalar(const char **at, const char *end, char *to, size_t *length) {
    skip_blanks(at, end);
    if (*at < end && (**at == '\'' || **at == '"'))
        return take_quoted(at, end, to, length);
    return take_plain(at, end, to, length);
}

static bool read_number(const char *text, size_t length, uint64_t *value) {
    char digits[32], *end;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    *value = strtoull(digits, &end, 0);
    return *end == '\0' && digits[0] != '-';
}

static bool is_key(const char *key, size_t length, const char *name) {
    return strlen(name) == length && memcmp(key, name, length) == 0;
}

/* One "key: value". Keys that say nothing of functions are passed over. */
static bool take_pair(struct sled *sled, const char **at, const char *end) {
    char value[NAME_MOST];
    size_t length;
    skip_blanks(at, end);
    const char *key = *at;
    while (*at < end && **at != ':')
        ++*at;
    const size_t key_length = (size_t)(*at - key);
    if (*at == end)
        return false;
    ++*at;
    if (!take_scalar(at, end, value, &length))
        return false;
    if (is_key(key, key_length, "id"))
        return sled->has_id = read_number(value, length, &sled->id);
    if (is_key(key, key_length, "function"))
        return sled->has_function = read_number(value, length, &sled->function);
    if (is_key(key, key_length, "function-name")) {
        memcpy(sled->name, value, length);
        sled->name_length = length;
        sled->has_name = length > 0;
    }
    return true;
}

static bool take_sled(struct sled *sled, const char *at, const char *end) {
    *sled = (struct sled){.has_id = false};
    while (at < end && *at != '{')
        at++;
    for (at++; at < end;) {
        if (!take_pair(sled, &at, end))
            return false;
        skip_blanks(&at, end);
        if (at < end && *at == '}')
            return sled->has_id && sled->has_function;
        if (at == end || *at++ != ',')
            return false;
    }
    return false;
}

static bool is_mark(const char *line, const char *end, const char *mark) {
    return end - line >= 3 && memcmp(line, mark, 3) == 0;
}

static enum symbol_result read_line(struct xray_map *map, struct sled *sled, const char *line, size_t length) {
    const char *end = line + length;
    skip_blanks(&line, end);
    if (line == end || *line == '#' || is_mark(line, end, "---") || is_mark(line, end, "..."))
        return SYMBOL_FOUND;
    if (*line != '-' || !take_sled(sled, line, end))
        return SYMBOL_DAMAGED;
    return xray_map_add(map, sled->id, sled->function, sled->has_name ? sled->name : NULL, sled->name_length);
}

enum symbol_result xray_map_read_yaml(struct xray_map *map, int fd) {
    struct line_reader lines;
    struct sled *sled = mem_alloc(map->memory, 1, sizeof *sled);
    const char *line;
    size_t length;
    if (!sled)
        return SYMBOL_NO_MEMORY;
    enum symbol_result result =
        lseek(fd, 0, SEEK_SET) < 0 ? SYMBOL_IO : line_reader_start(&lines, fd, YAML_BYTES_MOST, map->memory);
    if (result == SYMBOL_FOUND) {
        while (result == SYMBOL_FOUND && (result = line_reader_next(&lines, &line, &length)) == SYMBOL_FOUND)
            result = read_line(map, sled, line, length);
        line_reader_end(&lines);
    }
    mem_free(map->memory, sled, 1, sizeof *sled);
    if (result == SYMBOL_DAMAGED && map->count == 0)
        return SYMBOL_NOT_ELF; /* neither that nor a map */
    map->has_names = true;
    return result == SYMBOL_NO_MATCH && map->count > 0 ? SYMBOL_FOUND : result;
}
