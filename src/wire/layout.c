/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of layouts, expanded to descriptors, and queries that need only a descriptor and no data. */
#include "wire/layout.h"

#include "wire/expand_tables.h"

#include <perfray/record_structs.h>
#include <perfray/trace.h>

#define LAYOUT(id, name, doc)                                                                                          \
    static const struct field *fields_##name(void) {                                                                   \
        typedef struct pfr_rec_##name self __attribute__((unused));                                                    \
        static const struct field fields[] = {
#define F(kind, name, when, extra, show, doc)                                                                          \
    {#name, doc, offsetof(self, name), X_##kind(extra), K_##kind, SHOW_##show, when},
#define END                                                                                                            \
    { .name = NULL }                                                                                                   \
    }                                                                                                                  \
    ;                                                                                                                  \
    return fields;                                                                                                     \
    }
#include "wire/layouts.def"

static const struct layout layouts[] = {
    {.name = NULL},
#define LAYOUT(id, name, doc) {id, #name, doc, fields_##name, sizeof(struct pfr_rec_##name)},
#define F(...)
#define END
#include "wire/layouts.def"
};

const struct layout *layout_at(uint64_t number) {
    return number > L_NONE && number < LAYOUTS ? &layouts[number] : NULL;
}

static unsigned find_from(unsigned first, enum layout_table table, uint64_t value) {
    for (unsigned i = first; i < LAYOUTS; i++)
        if (value < 0xffffffu && layouts[i].id == LAYOUT_ID(table, value))
            return i;
    return L_NONE;
}

unsigned layout_find(enum layout_table table, uint64_t value) {
    return find_from(L_NONE + 1, table, value);
}

/* A table indexed by type, because layout_of_type runs for each record that is not a sample. Layouts that are not perf
   records get the indices from TYPES on, which no lookup reads. */
#define TYPES 256u
#define IS_TYPE(id) ((id) >> 24 == TABLE_PERF_RECORD && ((id)&0xffffffu) < TYPES)
static const uint8_t layouts_by_type[] = {
#define LAYOUT(id, name, doc) [IS_TYPE(id) ? (id) & (TYPES - 1) : TYPES + L_##name] = IS_TYPE(id) ? L_##name : L_NONE,
#define F(...)
#define END
#include "wire/layouts.def"
};
_Static_assert(LAYOUTS < 256, "a layout's number is one byte");

/* The layouts of XRay trace records come last, so the search for them begins at L_xray_header. */
unsigned layout_of_type(const struct pfr_context *c, uint32_t type) {
    if (!c->trace)
        return type < TYPES ? layouts_by_type[type] : layout_find(TABLE_PERF_RECORD, type);
    return type >= PFR_TRACE_TYPES ? find_from(L_xray_header, TABLE_TRACE_RECORD, type - PFR_TRACE_TYPES) : L_NONE;
}

unsigned layout_named(const char *name) {
    for (unsigned i = L_NONE + 1; i < LAYOUTS; i++)
        if (strcmp(layouts[i].name, name) == 0)
            return i;
    return L_NONE;
}

const struct field *field_named(const struct layout *l, const char *name) {
    for (const struct field *f = l->fields(); f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

uint64_t field_integer(const struct field *f, const void *rec) {
    const uint8_t *at = (const uint8_t *)rec + f->at;
    switch (f->kind) {
    case K_U8:
    case K_W8:
        return *at;
    case K_U16:
        return load_u16(at, false);
    case K_U32:
    case K_W32:
    case K_BITS:
        return load_u32(at, false);
    case K_U64:
    case K_W64:
        return load_u64(at, false);
    default:
        return 0;
    }
}

void field_set_integer(const struct field *f, void *rec, uint64_t v) {
    uint8_t *at = (uint8_t *)rec + f->at;
    const uint16_t half = (uint16_t)v;
    const uint32_t word = (uint32_t)v;
    switch (f->kind) {
    case K_U8:
    case K_W8:
        *at = (uint8_t)v;
        break;
    case K_U16:
        memcpy(at, &half, sizeof half);
        break;
    case K_U32:
    case K_W32:
    case K_BITS:
        memcpy(at, &word, sizeof word);
        break;
    case K_U64:
    case K_W64:
        memcpy(at, &v, sizeof v);
        break;
    default:
        break;
    }
}

/* The integer member at an offset, found by searching the list: presence and counts refer to earlier members by
   offset. */
static uint64_t member_at(const struct field *fields, uint64_t at, const void *rec) {
    for (const struct field *f = fields; f->name; f++)
        if (f->at == at)
            return field_integer(f, rec);
    return 0;
}

/* Only the first field of a list is at offset 0, so the start of the list can be found from any field. */
static uint64_t earlier_member(const struct field *f, uint64_t at, const void *rec) {
    const struct field *first = f;
    while (first->at > 0)
        first--;
    return member_at(first, at, rec);
}

uint64_t field_count(const struct field *f, const struct pfr_context *c, const void *rec) {
    const unsigned extra = f->extra;
    if (extra & COUNT_FROM_WORD) {
        const uint64_t word = c->word[extra & 0xffu];
        return extra & COUNT_IN_BITS ? (uint64_t)__builtin_popcountll(word) : word;
    }
    const uint64_t value = earlier_member(f, extra & ~COUNT_IN_BITS, rec);
    return extra & COUNT_IN_BITS ? value / 64 + (value % 64 != 0) : value;
}

bool field_present(const struct field *f, const struct pfr_context *c, const void *rec, uint64_t left) {
    const struct presence *p = &f->when;
    const uint64_t word = c->word[p->word];
    switch ((enum presence_test)p->test) {
    case TEST_ALWAYS:
        return true;
    case TEST_BITS:
        return (word & p->set) == p->set && (word & p->clear) == 0;
    case TEST_ROOM:
        return left >= p->set;
    case TEST_ROOM_WORD:
        return word > 0 && left / p->set >= word;
    case TEST_AT_LEAST:
        return earlier_member(f, p->clear, rec) >= p->set;
    case TEST_BELOW:
        return earlier_member(f, p->clear, rec) < p->set;
    case TEST_WORD_AT_LEAST:
        return word >= p->set;
    case TEST_WORD_IN:
        return word >= p->set && word <= p->clear;
    }
    return false;
}

uint64_t bits_of(uint64_t word, unsigned width, unsigned pack, bool mirrored) {
    const unsigned first = pack >> 8, bits = pack & 0xffu;
    const unsigned shift = mirrored ? width - first - bits : first;
    return word >> shift & ((1ull << bits) - 1);
}

uint64_t bits_into(uint64_t word, unsigned width, unsigned pack, bool mirrored, uint64_t v) {
    const unsigned first = pack >> 8, bits = pack & 0xffu;
    const unsigned shift = mirrored ? width - first - bits : first;
    const uint64_t mask = ((1ull << bits) - 1) << shift;
    return (word & ~mask) | (v << shift & mask);
}

bool field_by_context(const struct field *f) {
    static const uint8_t by_context = 1 << TEST_ALWAYS | 1 << TEST_BITS | 1 << TEST_WORD_AT_LEAST | 1 << TEST_WORD_IN;
    return by_context >> f->when.test & 1;
}

unsigned field_width(const struct field *f) {
    static const uint8_t widths[K_KINDS] = {
        [K_U8] = 1, [K_U16] = 2, [K_U32] = 4, [K_U64] = 8, [K_W8] = 1, [K_W32] = 4, [K_W64] = 8};
    return widths[f->kind];
}

bool field_fixed_size(const struct field *f, const struct pfr_context *c, uint64_t *size) {
    *size = field_width(f);
    if (*size || f->kind == K_BITS)
        return true;
    if (f->kind == K_RAW || (f->kind == K_TEXT && f->extra < EXTRA_TO_NUL)) {
        *size = f->extra;
        return true;
    }
    if (f->kind == K_SUB)
        *size = layout_fixed_size(layout_at(f->of), c);
    else if (f->kind == K_A64 && f->extra != COUNT_TO_END && (f->extra & COUNT_FROM_WORD))
        *size = 8 * field_count(f, c, NULL);
    else
        return false;
    return *size > 0;
}

uint64_t layout_fixed_size(const struct layout *l, const struct pfr_context *c) {
    uint64_t sum = 0, size;
    for (const struct field *f = l->fields(); f->name; f++) {
        if (!field_by_context(f))
            return 0;
        if (!field_present(f, c, NULL, 0))
            continue;
        if ((f->kind == K_U16 || f->kind == K_U32) && f->extra == EXTRA_SCOPE)
            return 0;
        if (!field_fixed_size(f, c, &size))
            return 0;
        sum += size;
    }
    return sum;
}

uint64_t layout_least_size(const struct layout *l, const struct pfr_context *c) {
    uint64_t sum = 0, size;
    for (const struct field *f = l->fields(); f->name; f++) {
        if (!field_by_context(f) || !field_present(f, c, NULL, 0))
            continue;
        if (f->kind == K_STR32)
            sum += 4;
        else if (f->kind == K_SUB)
            sum += layout_least_size(layout_at(f->of), c);
        else if (f->kind == K_TEXT && f->extra >= EXTRA_TO_NUL)
            sum += 1;
        else if (field_fixed_size(f, c, &size))
            sum += size;
    }
    return sum;
}
