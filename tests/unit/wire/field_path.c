/* SPDX-License-Identifier: Apache-2.0 */
#include "field_path.h"

#include "wire/any_layout.h"

#include <stdlib.h>

static uint64_t unmirrored_word(const struct field *f, const void *rec) {
    const unsigned width = 8 * field_width(f);
    uint64_t word = 0;
    if (f[1].kind != K_BITS)
        return field_integer(f, rec);
    for (const struct field *bits = f + 1; bits->name && bits->kind == K_BITS; bits++)
        word = bits_into(word, width, bits->extra, false, field_integer(bits, rec));
    return word;
}

static bool integer_value(const struct field *f, const void *rec, struct found_value *value) {
    const unsigned width = f->kind == K_BITS ? 4 : field_width(f);
    *value = (struct found_value){FOUND_INTEGER, field_is_word(f) ? unmirrored_word(f, rec) : field_integer(f, rec),
                                  (uint8_t)width, NULL, 0};
    return true;
}

/* Decodes the element of a view, and finds the rest of the path in this element. */
static bool value_of_item(const pfr_items *items, uint64_t index, const char *path, struct found_value *value) {
    struct items_walk walk = items_start(items);
    union any_layout part;
    if (!layout_at(items->of)) {
        *value = (struct found_value){FOUND_BYTES, 0, 0, items->at, items->length};
        return *path == '\0';
    }
    for (uint64_t i = 0; i <= index; i++)
        if (items_next(items, &walk, &part, NULL) != PFR_OK)
            return false;
    return find_value(layout_at(items->of), &part, path, value);
}

static bool value_of_field(const struct field *f, const void *rec, uint64_t index, const char *path,
                           struct found_value *value) {
    const void *at = (const uint8_t *)rec + f->at;
    switch ((enum field_kind)f->kind) {
    case K_TEXT:
    case K_STR32:
        *value = (struct found_value){FOUND_TEXT, 0, 0, ((const pfr_text *)at)->at, ((const pfr_text *)at)->length};
        return *path == '\0';
    case K_RAW:
    case K_BYTES:
    case K_REST:
    case K_PAD:
        *value = (struct found_value){FOUND_BYTES, 0, 0, ((const pfr_bytes *)at)->at, ((const pfr_bytes *)at)->length};
        return *path == '\0';
    case K_A64:
        *value = (struct found_value){FOUND_INTEGER, pfr_u64s_at(at, index), 8, NULL, 0};
        return *path == '\0' && index < ((const pfr_u64s *)at)->count;
    case K_SUB:
        return find_value(layout_at(f->of), at, path, value);
    case K_ARRAY:
    case K_WHILE:
    case K_CHOICE:
        return value_of_item(at, index, path, value);
    default:
        return *path == '\0' && integer_value(f, rec, value);
    }
}

/* A name that the layout does not have can be in one of its nested layouts: attr.disabled is attr.flags.disabled. */
static bool find_inside(const struct layout *l, const void *rec, const char *path, struct found_value *value) {
    for (const struct field *f = l->fields(); f->name && *path; f++)
        if ((f->kind == K_SUB || f->kind == K_CHOICE) && value_of_field(f, rec, 0, path, value))
            return true;
    return false;
}

bool find_value(const struct layout *l, const void *rec, const char *path, struct found_value *value) {
    const struct field *f = l->fields();
    const size_t length = strcspn(path, ".[");
    char *rest = (char *)(uintptr_t)path + length;
    uint64_t index = 0;
    if (length > 0)
        while (f->name && (strlen(f->name) != length || memcmp(f->name, path, length) != 0))
            f++;
    if (!f->name)
        return find_inside(l, rec, path, value);
    if (*rest == '[')
        index = strtoull(rest + 1, &rest, 10);
    rest += *rest == ']';
    rest += *rest == '.';
    return value_of_field(f, rec, index, rest, value);
}
