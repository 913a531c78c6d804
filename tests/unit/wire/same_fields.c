/* SPDX-License-Identifier: Apache-2.0 */
#include "same_fields.h"

#include "wire/any_layout.h"

static bool same_text(const pfr_text *a, const pfr_text *b) {
    return a->length == b->length && a->room == b->room && (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
}

static bool same_bytes(const pfr_bytes *a, const pfr_bytes *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
}

static bool same_u64s(const pfr_u64s *a, const pfr_u64s *b) {
    for (uint64_t i = 0; i < a->count && i < b->count; i++)
        if (pfr_u64s_at(a, i) != pfr_u64s_at(b, i))
            return false;
    return a->count == b->count;
}

static bool same_items(const pfr_items *a, const pfr_items *b) {
    struct items_walk walk_a = items_start(a), walk_b = items_start(b);
    union any_layout part_a, part_b;
    if (a->count == 0 && b->count == 0)
        return true;
    if (a->of != b->of || a->count != b->count || a->length != b->length)
        return false;
    if (!layout_at(a->of))
        return a->length == 0 || memcmp(a->at, b->at, a->length) == 0;
    for (;;) {
        const pfr_status s = items_next(a, &walk_a, &part_a, NULL);
        if (s != items_next(b, &walk_b, &part_b, NULL))
            return false;
        if (s != PFR_OK)
            return s == PFR_END;
        if (first_difference(layout_at(a->of), &part_a, &part_b))
            return false;
    }
}

static bool same_field(const struct field *f, const void *a, const void *b) {
    const void *at_a = (const uint8_t *)a + f->at, *at_b = (const uint8_t *)b + f->at;
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_U16:
    case K_U32:
    case K_U64:
    case K_BITS:
        return field_integer(f, a) == field_integer(f, b);
    case K_W8:
    case K_W32: /* its bit fields are compared */
    case K_W64:
    case K_PAD:
        return true;
    case K_TEXT:
    case K_STR32:
        return same_text(at_a, at_b);
    case K_RAW:
    case K_BYTES:
    case K_REST:
        return same_bytes(at_a, at_b);
    case K_A64:
        return same_u64s(at_a, at_b);
    case K_SUB:
        return first_difference(layout_at(f->of), at_a, at_b) == NULL;
    case K_ARRAY:
    case K_WHILE:
    case K_CHOICE:
        return same_items(at_a, at_b);
    case K_KINDS:
        break;
    }
    return false;
}

const char *first_difference(const struct layout *l, const void *a, const void *b) {
    for (const struct field *f = l->fields(); f->name; f++)
        if (!same_field(f, a, b))
            return f->name;
    return NULL;
}
