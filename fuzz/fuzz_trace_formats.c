/* SPDX-License-Identifier: Apache-2.0 */
/* The text of one tracepoint format. Its fields must be found by name, and their properties must be consistent. */
#include "fuzz.h"
#include "model/tracepoint/tracepoint_formats.h"

static void check_field(const struct event_format *format, const struct format_field *f) {
    LAW(f->name && *f->name && f->type && *f->type, "a field of %s without a name or a type", format->name);
    const struct format_field *found = find_format_field(format, f->name);
    LAW(found && found <= f && strcmp(found->name, f->name) == 0, "%s is not found", f->name);
    LAW(f->offset <= UINT32_MAX - f->size, "%s ends past 4 GiB", f->name);
    LAW(f->is_array || !(f->is_string || f->elements), "%s %s", f->type, f->name);
    LAW(!(f->is_array && f->is_pointer) && !(f->data_loc && f->rel_loc), "%s %s is two things", f->type, f->name);
}

static void check_format(const struct event_format *format) {
    LAW(strcmp(format->system, "fuzz") == 0 && *format->name && format->print_fmt, "the format is not whole");
    LAW(format->field_count <= FORMAT_FIELDS_MOST, "%zu fields", format->field_count);
    for (size_t i = 0; i < format->field_count; i++)
        check_field(format, &format->fields[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct memory memory;
    struct arena arena;
    struct event_format format;
    pfr_error err;
    memory_init(&memory, NULL, fuzz_limits.memory);
    arena_init(&arena, &memory);
    const pfr_status s = text_format_source.read((const char *)bytes, length, "fuzz", &arena, &format, &err);
    if (s == PFR_OK)
        check_format(&format);
    else
        fuzz_check_error(&err, s, length);
    arena_free(&arena);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
    return 0;
}
