/* SPDX-License-Identifier: Apache-2.0 */
/* Small printers shared by all parts of `info`: see info_output.h. */
#include <perfray/trace.h>
#include <stdarg.h>
#include <stdio.h>
#include "view/info/info_output.h"
#include "wire/layout.h"
#include "wire/names.h"

void say(pfr_output *to, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0)
        out_write(&to->out, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void say_view(pfr_output *to, const pfr_text *text) {
    print_name(to, text->at, text->length);
}

void say_name(pfr_output *to, const char *name) {
    print_name(to, name, strlen(name));
}

static size_t missing_to(size_t width, size_t length) {
    return length < width ? width - length : 0;
}

void say_view_left(pfr_output *to, const pfr_text *text, size_t width) {
    say_view(to, text);
    out_pad(&to->out, missing_to(width, text->length));
}

void say_view_right(pfr_output *to, const pfr_text *text, size_t width) {
    out_pad(&to->out, missing_to(width, text->length));
    say_view(to, text);
}

void say_f64(pfr_output *to, double value, unsigned digits, size_t width) {
    struct output number;
    size_t length;
    out_open_memory(&number, &to->memory);
    out_f64(&number, value, digits);
    const char *text = out_bytes(&number, &length);
    out_pad(&to->out, missing_to(width, length));
    out_write(&to->out, text, length);
    out_close(&number, NULL);
}

static bool is_set(const pfr_u64s *words, uint64_t bit) {
    return pfr_u64s_at(words, bit / 64) >> bit % 64 & 1;
}

static uint64_t end_of_run(const pfr_u64s *words, uint64_t from, uint64_t count) {
    while (from < count && is_set(words, from))
        from++;
    return from;
}

void say_bit_ranges(pfr_output *to, const pfr_u64s *words, uint64_t count) {
    const char *comma = "";
    for (uint64_t bit = 0; bit < count; bit++) {
        const uint64_t end = end_of_run(words, bit, count);
        if (end == bit)
            continue;
        say(to, end == bit + 1 ? "%s%" PRIu64 : "%s%" PRIu64 "-%" PRIu64, comma, bit, end - 1);
        comma = ",";
        bit = end;
    }
}

void say_bytes_unit(pfr_output *to, uint64_t bytes) {
    unsigned unit = 0;
    for (; bytes / 1024 > 1 && unit < 3; unit++)
        bytes /= 1024;
    say(to, "%" PRIu64 "%c", bytes, "BKMG"[unit]);
}

const char *record_type_name(uint32_t type, char room[TYPE_NAME_ROOM]) {
    const char *name =
        type < PFR_TRACE_TYPES ? name_of(SHOW_RECORD, type) : name_of(SHOW_TRACE_RECORD, type - PFR_TRACE_TYPES);
    if (name)
        return name;
    snprintf(room, TYPE_NAME_ROOM, "TYPE%" PRIu32, type);
    return room;
}
