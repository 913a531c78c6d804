/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/layout_length.h"

static bool find_place(const struct layout *l, const struct pfr_context *c, uint16_t at, enum field_kind kind,
                       uint32_t *place) {
    uint64_t size;
    *place = 0;
    for (const struct field *f = l->fields(); f->name; f++) {
        if (!field_by_context(f))
            return false;
        if (!field_present(f, c, NULL, 0))
            continue;
        if (f->at == at && f->kind == kind)
            return true;
        if (!field_fixed_size(f, c, &size))
            return false;
        *place += (uint32_t)size;
    }
    return false;
}

bool layout_place(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place) {
    return find_place(l, c, at, K_U64, place);
}

bool layout_place_u32(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place) {
    return find_place(l, c, at, K_U32, place);
}

static bool is_last(const struct field *f) {
    return !f[1].name;
}

/* Whether the layout is a 32-bit count followed by that many bytes. */
static bool is_sized_bytes(const struct layout *l) {
    const struct field *const f = l->fields();
    return f[0].name && f[1].name && !f[2].name && f[0].kind == K_U32 && f[1].kind == K_BYTES &&
           f[0].when.test == TEST_ALWAYS && f[1].when.test == TEST_ALWAYS && f[1].extra == f[0].at;
}

/* Adds to the rule the one field whose length the content decides; false if no rule covers its kind. */
static bool add_variable(const struct layout *l, const struct pfr_context *c, const struct field *f,
                         struct length_rule *rule) {
    if (rule->counted || rule->text || rule->sized)
        return false;
    if (f->kind == K_SUB && is_sized_bytes(layout_at(f->of))) {
        rule->count_at = rule->fixed;
        rule->fixed += 4;
        return rule->sized = true;
    }
    if (f->kind == K_TEXT && f->extra == COUNT_TO_END && is_last(f))
        return rule->text = true;
    if (f->kind != K_A64 || f->extra >= COUNT_IN_BITS)
        return false;
    return rule->counted = layout_place(l, c, f->extra, &rule->count_at);
}

struct length_rule layout_length(const struct layout *l, const struct pfr_context *c) {
    static const struct length_rule unknown = {0, 0, false, false, false, false};
    struct length_rule rule = {.known = true};
    uint64_t size;
    for (const struct field *f = l->fields(); f->name; f++) {
        if (!field_by_context(f) || (f->kind == K_U32 && f->extra == EXTRA_SCOPE))
            return unknown;
        if (!field_present(f, c, NULL, 0))
            continue;
        if (field_fixed_size(f, c, &size))
            rule.fixed += (uint32_t)size;
        else if (!add_variable(l, c, f, &rule))
            return unknown;
    }
    return rule;
}
