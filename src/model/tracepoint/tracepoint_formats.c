/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format files, read line by line (Documentation/trace/events.rst in the kernel's tree):
 *
 *     name: sched_switch
 *     ID: 316
 *     format:
 *         field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *
 *         field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *         field:__data_loc char[] filename;	offset:24;	size:4;	signed:0;
 *
 *     print fmt: "%s", REC->prev_comm
 *
 * The name of a field is the last word of its declaration before any brackets. The print format may continue over
 * several lines; it is at the end of the text. Old kernels leave out `signed`. Lines of unknown kinds are skipped. The
 * text ends at a NUL, if there is one.
 */
#include <string.h>
#include "base/memory/fail.h"
#include "model/tracepoint/tracepoint_formats.h"

struct text_span {
    const char *at, *end;
};

struct format_reader {
    struct arena *arena;
    struct event_format *format;
    struct format_field *fields;
    size_t capacity;
    struct text_span rest;
    const char *start;
    bool saw_id, saw_blank;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t span_length(struct text_span span) {
    return (size_t)(span.end - span.at);
}

static struct text_span trim(struct text_span span) {
    while (span.at < span.end && is_blank(*span.at))
        span.at++;
    while (span.at < span.end && is_blank(span.end[-1]))
        span.end--;
    return span;
}

/* Takes the text before `stop`, and removes `stop` as well. If `stop` is missing, takes everything. */
static struct text_span take_until(struct text_span *rest, char stop) {
    const char *found = rest->at < rest->end ? memchr(rest->at, stop, span_length(*rest)) : NULL;
    const struct text_span taken = {rest->at, found ? found : rest->end};
    rest->at = found ? found + 1 : rest->end;
    return taken;
}

static bool take_word(struct text_span *span, const char *word) {
    const size_t length = strlen(word);
    if (span_length(*span) < length || memcmp(span->at, word, length) != 0)
        return false;
    span->at += length;
    return true;
}

/* Reads the whole span as a decimal number; false: not a number, or more than 32 bits. */
static bool read_number(struct text_span span, uint32_t *value) {
    span = trim(span);
    uint64_t sum = 0;
    for (const char *at = span.at; at < span.end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        sum = sum * 10 + (uint64_t)(*at - '0');
        if (sum > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)sum;
    return span.at < span.end;
}

static pfr_status damage(const struct format_reader *reader, struct text_span span, const char *what, pfr_error *err) {
    const uint64_t offset = (uint64_t)(span.at - reader->start);
    return pfr_fail(err, PFR_ERR_DAMAGE, offset, span_length(span), "format.field", "%s at byte %ju of the format text",
                    what, (uintmax_t)offset);
}

static pfr_status no_memory(const struct format_reader *reader, pfr_error *err) {
    return mem_fail(reader->arena->memory, err, "format.field");
}

/* Joins type and brackets without the blanks between them. */
static const char *join_type(struct format_reader *reader, struct text_span type, struct text_span brackets) {
    const size_t first = span_length(type), second = span_length(brackets);
    char *joined = arena_take(reader->arena, first + second + 1, 1);
    if (!joined)
        return NULL;
    memcpy(joined, type.at, first);
    if (second)
        memcpy(joined + first, brackets.at, second);
    joined[first + second] = '\0';
    return joined;
}

static bool ends_with_char(struct text_span type) {
    static const char word[] = "char";
    const size_t length = sizeof word - 1;
    if (span_length(type) < length || memcmp(type.end - length, word, length) != 0)
        return false;
    return span_length(type) == length || !is_word(type.end[-(ptrdiff_t)length - 1]);
}

/* Derives properties of a field from its type. `type` excludes brackets; `brackets` are those after the type or the
   name. */
static void note_type(struct format_field *field, struct text_span type, struct text_span brackets) {
    struct text_span start = type;
    field->data_loc = take_word(&start, "__data_loc ");
    field->rel_loc = !field->data_loc && take_word(&start, "__rel_loc ");
    field->is_array = span_length(brackets) > 0;
    field->is_pointer = !field->is_array && type.at < type.end && type.end[-1] == '*';
    field->is_string = field->is_array && ends_with_char(type);
    struct text_span inside = {brackets.at + 1, brackets.end - 1};
    if (!field->is_array || !read_number(inside, &field->elements))
        field->elements = 0;
}

/* Removes "[...]" from the end of a declaration, and returns it. */
static struct text_span take_brackets(struct text_span *declaration) {
    struct text_span none = {declaration->end, declaration->end};
    if (declaration->at == declaration->end || declaration->end[-1] != ']')
        return none;
    const char *open = memchr(declaration->at, '[', span_length(*declaration));
    if (!open)
        return none;
    const struct text_span brackets = {open, declaration->end};
    declaration->end = open;
    *declaration = trim(*declaration);
    return brackets;
}

/* Reads a declaration: "unsigned long addrs[4]", "char * name", "__data_loc char[] filename". */
static pfr_status read_declaration(struct format_reader *reader, struct text_span declaration,
                                   struct format_field *field, pfr_error *err) {
    const struct text_span whole = declaration = trim(declaration);
    struct text_span brackets = take_brackets(&declaration);
    const char *name = declaration.end;
    while (name > declaration.at && is_word(name[-1]))
        name--;
    struct text_span type = trim((struct text_span){declaration.at, name});
    if (name == declaration.end || span_length(type) == 0)
        return damage(reader, whole, "a field without a type or a name", err);
    if (span_length(brackets) == 0)
        brackets = take_brackets(&type);
    note_type(field, type, brackets);
    field->name = arena_text(reader->arena, name, (size_t)(declaration.end - name));
    field->type = join_type(reader, type, brackets);
    return field->name && field->type ? PFR_OK : no_memory(reader, err);
}

/* Reads the place of a field: "offset:8;	size:16;	signed:0;". */
static pfr_status read_place(struct format_reader *reader, struct text_span rest, struct format_field *field,
                             pfr_error *err) {
    const struct text_span whole = rest;
    uint32_t is_signed = 0;
    bool saw_offset = false, saw_size = false, readable = true;
    while (rest.at < rest.end) {
        struct text_span part = trim(take_until(&rest, ';'));
        if (take_word(&part, "offset:"))
            saw_offset = read_number(part, &field->offset);
        else if (take_word(&part, "size:"))
            saw_size = read_number(part, &field->size);
        else if (take_word(&part, "signed:"))
            readable = read_number(part, &is_signed);
    }
    if (!saw_offset || !saw_size || !readable)
        return damage(reader, whole, "a field without offset or size", err);
    if (field->size > UINT32_MAX - field->offset)
        return damage(reader, whole, "a field that ends past 4 GiB", err);
    field->is_signed = is_signed != 0;
    return PFR_OK;
}

static struct format_field *add_field(struct format_reader *reader) {
    const size_t count = reader->format->field_count;
    if (count == reader->capacity) {
        const size_t wanted = reader->capacity ? reader->capacity * 2 : 16;
        struct format_field *grown = arena_zeroed(reader->arena, wanted, sizeof *grown);
        if (!grown)
            return NULL;
        if (count)
            memcpy(grown, reader->fields, count * sizeof *grown);
        reader->fields = grown;
        reader->capacity = wanted;
    }
    reader->format->field_count++;
    return &reader->fields[count];
}

static pfr_status read_field(struct format_reader *reader, struct text_span line, pfr_error *err) {
    if (reader->format->field_count >= FORMAT_FIELDS_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, (uint64_t)(line.at - reader->start), 0, "format.fields",
                        "more than %u fields in a format", FORMAT_FIELDS_MOST);
    struct format_field *field = add_field(reader);
    if (!field)
        return no_memory(reader, err);
    const struct text_span declaration = take_until(&line, ';');
    PFR_TRY(read_declaration(reader, declaration, field, err));
    PFR_TRY(read_place(reader, line, field, err));
    field->is_common = !reader->saw_blank;
    return PFR_OK;
}

static pfr_status read_text(struct format_reader *reader, struct text_span value, const char **text, pfr_error *err) {
    value = trim(value);
    *text = arena_text(reader->arena, value.at, span_length(value));
    return *text ? PFR_OK : no_memory(reader, err);
}

/* The text after "print fmt:", without the newlines at its end. */
static pfr_status read_print_fmt(struct format_reader *reader, struct text_span line, pfr_error *err) {
    struct text_span value = {line.at, reader->rest.end};
    while (value.end > value.at && value.end[-1] == '\n')
        value.end--;
    reader->rest.at = reader->rest.end;
    return read_text(reader, value, &reader->format->print_fmt, err);
}

static pfr_status read_line(struct format_reader *reader, struct text_span line, pfr_error *err) {
    line = trim(line);
    if (span_length(line) == 0) {
        reader->saw_blank |= reader->format->field_count > 0;
        return PFR_OK;
    }
    if (take_word(&line, "field:"))
        return read_field(reader, line, err);
    if (take_word(&line, "print fmt:"))
        return read_print_fmt(reader, line, err);
    if (take_word(&line, "name:"))
        return read_text(reader, line, &reader->format->name, err);
    if (!take_word(&line, "ID:"))
        return PFR_OK;
    reader->saw_id = read_number(line, &reader->format->id);
    return reader->saw_id ? PFR_OK : damage(reader, line, "an ID that is not a number", err);
}

static pfr_status read_format_text(const char *text, size_t length, const char *system, struct arena *arena,
                                   struct event_format *format, pfr_error *err) {
    if (length > FORMAT_BYTES_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, 0, length, "format.text", "a format of %zu bytes (limit %zu)", length,
                        FORMAT_BYTES_MOST);
    length = strnlen(text, length);
    *format = (struct event_format){.name = "", .print_fmt = ""};
    struct format_reader reader = {.arena = arena, .format = format, .rest = {text, text + length}, .start = text};
    const struct text_span system_text = {system, system + strlen(system)};
    PFR_TRY(read_text(&reader, system_text, &format->system, err));
    while (reader.rest.at < reader.rest.end)
        PFR_TRY(read_line(&reader, take_until(&reader.rest, '\n'), err));
    format->fields = reader.fields;
    if (reader.saw_id && *format->name)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_DAMAGE, 0, length, "format.text", "a format without a name or an ID");
}

const struct format_source text_format_source = {"text", read_format_text};

const struct format_field *find_format_field(const struct event_format *format, const char *name) {
    for (size_t i = 0; i < format->field_count; i++)
        if (strcmp(format->fields[i].name, name) == 0)
            return &format->fields[i];
    return NULL;
}
