/* SPDX-License-Identifier: Apache-2.0 */
/* See tracepoint_shape.h: the lines of a format, its fields, and the verdict. */
#include "model/tracepoint/tracepoint_shape.h"

#include "base/memory/fail.h"
#include "model/tracepoint/tracepoint_grammar.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_plain_type(const char *type) {
    const char *brackets = strchr(type, '[');
    for (const char *at = type; *at && at != brackets; at++)
        if (!is_letter(*at) && !is_digit(*at) && *at != ' ' && *at != '*')
            return false;
    if (!is_letter(*type))
        return false;
    if (!brackets)
        return true;
    const char *at = brackets + 1;
    while (is_letter(*at) || is_digit(*at))
        at++;
    return at[0] == ']' && at[1] == '\0';
}

static bool is_number_size(uint32_t size) {
    return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool is_plain_field(const struct format_field *f) {
    if (f->size > TRACE_PLACE_MOST || f->offset > TRACE_PLACE_MOST - f->size || !is_plain_type(f->type))
        return false;
    if (f->data_loc || f->rel_loc)
        return f->size == 4;
    if (f->is_array)
        return f->elements == 0 || (f->elements <= f->size && f->size % f->elements == 0);
    return is_number_size(f->size);
}

/* The library finds the event of a record by its first two bytes, so the first field must be the type. */
static bool begins_with_type(const struct event_format *format) {
    const struct format_field *f = format->fields;
    return format->field_count > 0 && strcmp(f->name, "common_type") == 0 && f->offset == 0 && f->size == 2;
}

static uint32_t bytes_of(const struct event_format *format) {
    uint32_t most = 0;
    for (size_t i = 0; i < format->field_count; i++)
        if (most < format->fields[i].offset + format->fields[i].size)
            most = format->fields[i].offset + format->fields[i].size;
    return most;
}

/* Checks all fields. Few of them may overlap, because overlapping bytes are printed repeatedly. */
static bool has_plain_fields(const struct event_format *format) {
    if (format->field_count > TRACE_FIELDS_MOST || !begins_with_type(format))
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < format->field_count; i++) {
        if (!is_plain_field(&format->fields[i]))
            return false;
        sum += format->fields[i].size;
    }
    return sum <= (uint64_t)TRACE_OVERLAP_MOST * bytes_of(format);
}

/* Brackets must follow the name, except in dynamic arrays: libtraceevent leaks memory for "int[2] x". */
static bool has_brackets_behind(const char *line, size_t size) {
    const char *end = memchr(line, ';', size), *open = end ? memchr(line, '[', (size_t)(end - line)) : NULL;
    return !open || end[-1] == ']' || memmem(line, (size_t)(end - line), "_loc ", 5);
}

/* Whether the lines are in the order that the kernel uses, and no line is of an unknown kind. */
static bool has_plain_lines(const char *text, size_t length, const struct event_format *format) {
    static const char *const starts[] = {"name: ", "ID: ", "format:\n"};
    size_t at = 0, fields = 0;
    if (memchr(text, '\0', length))
        return false;
    for (unsigned line = 0; at < length; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t size = end ? (size_t)(end - text) - at + 1 : length - at;
        const char *start = line < 3 ? starts[line] : "\tfield:";
        const bool blank = size == 1, print = size >= 11 && memcmp(text + at, "print fmt: ", 11) == 0;
        if (line >= 3 && print)
            return fields == format->field_count;
        if (!(line >= 3 && blank) && (size < strlen(start) || memcmp(text + at, start, strlen(start)) != 0))
            return false;
        if (line >= 3 && !has_brackets_behind(text + at, size))
            return false;
        fields += line >= 3 && !blank;
        at += size;
    }
    return false;
}

static bool is_plain_name(const char *name) {
    const char *at = name;
    while (is_letter(*at) || is_digit(*at) || *at == '-' || *at == '.')
        at++;
    return at > name && *at == '\0';
}

pfr_status tracepoint_shape_read(const char *text, size_t length, const char *system, struct arena *arena,
                                 struct tracepoint_shape *shape, pfr_error *err) {
    *shape = (struct tracepoint_shape){.verdict = TRACE_NEVER};
    const pfr_status status = text_format_source.read(text, length, system, arena, &shape->format, err);
    if (status == PFR_ERR_MEMORY || (status == PFR_ERR_LIMIT && arena->memory->failed))
        return status;
    if (status < 0) {
        shape->format = (struct event_format){.system = ""};
        return PFR_OK;
    }
    if (!is_plain_name(shape->format.name) || !has_plain_fields(&shape->format))
        return PFR_OK;
    shape->bytes = bytes_of(&shape->format);
    if (has_plain_lines(text, length, &shape->format))
        shape->verdict = tracepoint_print_judge(&shape->format);
    return PFR_OK;
}
