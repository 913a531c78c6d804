/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the output of `llvm-xray extract`, one line per sled:
 *
 *  - { id: 1, address: 0x233A0, function: 0x233A0, kind: function-enter, always-instrument: true,
 *      function-name: 'shapes::area(int) const', version: 2 }
 *
 * Only this subset of YAML is supported: each line is one flow mapping with plain or quoted scalars. Other lines must
 * be document markers or comments.
 */
#include "symbol/table/regular_file.h"
#include "symbol/xray/xray_map.h"

#include <ctype.h>
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

/* Encodes a character as UTF-8. */
static void put_code(uint32_t code, char *to, size_t *length) {
    const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    if (*length + more >= NAME_MOST)
        return;
    to[(*length)++] = (char)(lead[more] | (code >> 6 * more & (more ? 0x3fu >> more : 0x7fu)));
    for (unsigned i = more; i-- > 0;)
        to[(*length)++] = (char)(0x80 | (code >> 6 * i & 0x3f));
}

/* Takes up to `digits` hexadecimal digits. */
static uint32_t take_digits(const char **at, const char *end, unsigned digits) {
    uint32_t value = 0;
    for (; digits > 0 && *at < end && isxdigit((unsigned char)**at); digits--, ++*at) {
        const char c = **at;
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/* Takes an escape sequence after its backslash, in double quotes; unknown letters are kept as they are. */
static void take_escape(const char **at, const char *end, char *to, size_t *length) {
    static const struct {
        char letter;
        uint8_t digits;
        uint16_t code;
    } escapes[] = {{'0', 0, 0},      {'a', 0, 7},  {'b', 0, 8},  {'t', 0, 9},    {'n', 0, 10},   {'v', 0, 11},
                   {'f', 0, 12},     {'r', 0, 13}, {'e', 0, 27}, {'N', 0, 0x85}, {'_', 0, 0xa0}, {'L', 0, 0x2028},
                   {'P', 0, 0x2029}, {'x', 2, 0},  {'u', 4, 0},  {'U', 8, 0}};
    const char letter = *(*at)++;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (escapes[i].letter == letter) {
            const uint32_t code = escapes[i].digits ? take_digits(at, end, escapes[i].digits) : escapes[i].code;
            put_code(code > 0x10ffff ? 0xfffd : code, to, length);
            return;
        }
    if (*length < NAME_MOST)
        to[(*length)++] = letter;
}

/* Takes a quoted scalar without its quotes, truncated to NAME_MOST. In single quotes '' is one quote; in double quotes
   \ begins an escape sequence. */
static bool take_quoted(const char **at, const char *end, char *to, size_t *length) {
    const char quote = *(*at)++;
    for (*length = 0; *at < end;) {
        if (**at == quote && !(quote == '\'' && *at + 1 < end && (*at)[1] == '\''))
            return ++*at, true;
        const bool escapes = quote == '"' && **at == '\\';
        *at += escapes || **at == quote;
        if (escapes && *at < end)
            take_escape(at, end, to, length);
        else if (*at < end && *length < NAME_MOST)
            to[(*length)++] = *(*at)++;
        else
            *at += *at < end;
    }
    return false;
}

/* Takes a plain scalar up to a comma or brace, which plain scalars cannot contain. */
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

/* Takes one "key: value"; keys that are not needed are skipped. */
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
        return SYMBOL_NOT_ELF; /* neither an object nor a YAML map */
    map->has_names = true;
    return result == SYMBOL_NO_MATCH && map->count > 0 ? SYMBOL_FOUND : result;
}
