/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the descriptors in file order, so that a field is generated after those it depends on. Members that
 * later fields refer to (counts, choices, comparisons) get small values; all others any value.
 */
#include "wire/layout_random.h"

#include "wire/any_layout.h"
#include "wire/layout_write.h"
#include "wire/names.h"

struct invention {
    struct random_numbers *random;
    const struct layout *layout;
    const struct pfr_context *context;
    struct arena *arena;
    uint8_t *rec;
    bool cut; /* all later fields that depend on room are absent */
    pfr_error *err;
};

enum { MOST_PARTS = 4, LONGEST_TEXT = 24, MOST_BITS = 200 };

/* splitmix64 (public domain). */
uint64_t random_u64(struct random_numbers *random) {
    uint64_t v = random->state += 0x9e3779b97f4a7c15u;
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

uint64_t random_below(struct random_numbers *random, uint64_t below) {
    return below ? random_u64(random) % below : 0;
}

static bool one_in(struct random_numbers *random, uint64_t n) {
    return random_below(random, n) == 0;
}

/* A subset of the bits of `all`: empty, full, sparse, or half of them. */
static uint64_t random_mask(struct random_numbers *random, uint64_t all) {
    switch (random_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return all;
    case 2:
    case 3:
        return all & random_u64(random) & random_u64(random) & random_u64(random);
    default:
        return all & random_u64(random);
    }
}

static uint64_t random_variant(struct random_numbers *random, const struct layout *l) {
    static const uint16_t name_sizes[] = {16, 128, 256, 512};
    return l == layout_at(L_bpf_metadata) ? name_sizes[random_below(random, 4)] : random_below(random, 2);
}

static bool is_trace_layout(const struct layout *l) {
    return l->id >> 24 == TABLE_TRACE_RECORD;
}

struct pfr_context random_context(struct random_numbers *random, const struct layout *l, bool swap, bool mirrored) {
    struct pfr_context c = {.swap = swap, .mirrored = mirrored};
    c.word[WORD_SAMPLE] = random_mask(random, names_bits(SHOW_SAMPLE_TYPE));
    c.word[WORD_READ] = random_mask(random, names_bits(SHOW_READ_FORMAT));
    c.word[WORD_BRANCH] = random_mask(random, names_bits(SHOW_BRANCH_SAMPLE));
    c.word[WORD_REGS_USER] = random_u64(random) & random_u64(random) & random_u64(random) & random_u64(random);
    c.word[WORD_REGS_INTR] = random_u64(random) & random_u64(random) & random_u64(random) & random_u64(random);
    c.word[WORD_MISC] = random_below(random, 1u << 16);
    c.word[WORD_CPUS] = random_below(random, 7);
    c.word[WORD_VARIANT] = random_variant(random, l);
    c.word[WORD_VERSION] = (is_trace_layout(l) ? 1 : 14) + random_below(random, 5);
    return c;
}

static void *member(const struct invention *v, const struct field *f) {
    return v->rec + f->at;
}

static pfr_status no_memory(const struct invention *v, const struct field *f) {
    return pfr_fail(v->err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, f->name, "no memory for a random %s.%s", v->layout->name,
                    f->name);
}

/* How later fields depend on a member. */
struct use {
    bool counts, counts_bits, compared;
    unsigned table; /* table from which the member selects a layout; TABLES: it selects no layout */
};

static void note_use(struct use *use, const struct field *member, const struct field *later) {
    const bool by_member = !(later->extra & COUNT_FROM_WORD);
    const bool lists = later->kind == K_BYTES || later->kind == K_A64 || later->kind == K_ARRAY;
    if (lists && by_member && (later->extra & ~COUNT_IN_BITS) == member->at) {
        use->counts = true;
        use->counts_bits |= (later->extra & COUNT_IN_BITS) != 0;
    }
    if (later->kind == K_CHOICE && later->extra == member->at)
        use->table = later->of;
    if ((later->when.test == TEST_AT_LEAST || later->when.test == TEST_BELOW) && later->when.clear == member->at)
        use->compared = true;
}

static struct use use_of(const struct field *member) {
    struct use use = {.table = TABLES};
    for (const struct field *later = member + 1; later->name; later++)
        note_use(&use, member, later);
    return use;
}

/* A random value that has a layout in the table; sometimes a value without a layout. */
static uint64_t pick_from(struct random_numbers *random, unsigned table) {
    uint64_t values[LAYOUTS], count = 0;
    for (unsigned i = L_NONE + 1; i < LAYOUTS; i++)
        if (layout_at(i)->id >> 24 == table && table != TABLE_PART)
            values[count++] = LAYOUT_VALUE(layout_at(i)->id);
    return count == 0 || one_in(random, 16) ? 99 : values[random_below(random, count)];
}

static uint64_t any_integer(struct random_numbers *random) {
    const uint64_t v = random_u64(random);
    switch (random_below(random, 4)) {
    case 0:
        return v & 0xff;
    case 1:
        return v & 0xffffffffu;
    default:
        return v;
    }
}

static bool depends_on_room(const struct field *f) {
    return f->when.test == TEST_ROOM || f->when.test == TEST_ROOM_WORD;
}

static void invent_integer(struct invention *v, const struct field *f) {
    const struct use use = use_of(f);
    uint64_t value = any_integer(v->random);
    if (f->extra == EXTRA_SCOPE && !field_is_word(f))
        value = 0; /* filled in when the size of the layout is known */
    else if (use.table != TABLES)
        value = pick_from(v->random, use.table);
    else if (use.counts)
        value = random_below(v->random, use.counts_bits ? MOST_BITS : MOST_PARTS);
    else if (use.compared)
        value = random_below(v->random, MOST_PARTS);
    if (depends_on_room(f) && (value & 0xff) == 0)
        value |= 1; /* presence is recognised by the value being nonzero */
    field_set_integer(f, v->rec, value);
}

static void invent_bits(struct invention *v, const struct field *f) {
    const unsigned width = f->extra & 0xffu;
    field_set_integer(f, v->rec, random_u64(v->random) & ((1ull << width) - 1));
}

static pfr_status invent_bytes(struct invention *v, const struct field *f, uint64_t length) {
    uint8_t *at = arena_take(v->arena, length, 1);
    if (!at)
        return no_memory(v, f);
    for (uint64_t i = 0; i < length; i++)
        at[i] = (uint8_t)random_u64(v->random);
    *(pfr_bytes *)member(v, f) = (pfr_bytes){at, length};
    return PFR_OK;
}

static pfr_status invent_u64s(struct invention *v, const struct field *f, uint64_t count) {
    uint8_t *at = arena_take(v->arena, count * 8, 1);
    if (!at)
        return no_memory(v, f);
    for (uint64_t i = 0; i < count * 8; i++)
        at[i] = (uint8_t)random_u64(v->random);
    *(pfr_u64s *)member(v, f) = (pfr_u64s){at, count, v->context->swap};
    return PFR_OK;
}

/* Room after the text: a NUL and padding, or, one time in eight, no room. */
static uint64_t random_room(struct invention *v, const struct field *f, uint64_t length) {
    if (f->kind == K_TEXT && f->extra < EXTRA_TO_NUL)
        return f->extra;
    if (f->kind == K_TEXT && f->extra == EXTRA_TO_NUL)
        return length + 1;
    return length > 0 && one_in(v->random, 8) ? length : length + 1 + random_below(v->random, 16);
}

static pfr_status invent_text(struct invention *v, const struct field *f) {
    uint64_t length = random_below(v->random, LONGEST_TEXT);
    const uint64_t room = random_room(v, f, length);
    if (length > room)
        length = room;
    char *at = arena_take(v->arena, length + 1, 1);
    if (!at)
        return no_memory(v, f);
    for (uint64_t i = 0; i < length; i++)
        at[i] = (char)(33 + random_below(v->random, 94));
    *(pfr_text *)member(v, f) = (pfr_text){at, (uint32_t)length, (uint32_t)room};
    return PFR_OK;
}

static pfr_status invent_layout(struct random_numbers *random, const struct layout *l, const struct pfr_context *c,
                                struct arena *arena, void *rec, pfr_error *err);

/* Appends the bytes of one random part to `view`; the old copy stays in the arena. */
static pfr_status append_part(struct invention *v, const struct field *f, unsigned of, pfr_items *view) {
    const struct layout *part = layout_at(of);
    struct writing size = writing_nowhere();
    union any_layout rec;
    PFR_TRY(invent_layout(v->random, part, v->context, v->arena, &rec, v->err));
    PFR_TRY(layout_write(part, v->context, &rec, &size, v->err));
    uint8_t *bytes = arena_take(v->arena, view->length + size.used, 1);
    if (!bytes)
        return no_memory(v, f);
    if (view->length)
        memcpy(bytes, view->at, view->length);
    struct writing to = writing_into(bytes + view->length, size.used);
    PFR_TRY(layout_write(part, v->context, &rec, &to, v->err));
    view->at = bytes;
    view->length += to.used;
    view->count++;
    return PFR_OK;
}

/* A list may end with a part of zeros. Parts before it must not be all zeros, so one bit is set. */
static pfr_status invent_end(struct invention *v, const struct field *f, pfr_items *view) {
    const uint64_t size = layout_fixed_size(layout_at(f->of), v->context);
    uint8_t *bytes = arena_zeroed(v->arena, view->length + size, 1);
    if (!bytes)
        return no_memory(v, f);
    if (view->length)
        memcpy(bytes, view->at, view->length);
    for (uint64_t at = 0; at < view->length; at += size)
        bytes[at] |= 1;
    view->at = bytes;
    view->length += size;
    return PFR_OK;
}

static uint64_t random_count(const struct invention *v, const struct field *f) {
    const bool open = f->kind == K_WHILE || f->extra == COUNT_TO_ZERO;
    return open ? random_below(v->random, MOST_PARTS) : field_count(f, v->context, v->rec);
}

static pfr_status invent_items(struct invention *v, const struct field *f) {
    const uint64_t count = random_count(v, f);
    pfr_items view = {arena_take(v->arena, 1, 1), 0, 0, v->context, f->of};
    if (!view.at)
        return no_memory(v, f);
    while (view.count < count)
        PFR_TRY(append_part(v, f, f->of, &view));
    if (f->extra == COUNT_TO_ZERO)
        PFR_TRY(invent_end(v, f, &view));
    *(pfr_items *)member(v, f) = view;
    return PFR_OK;
}

static pfr_status invent_choice(struct invention *v, const struct field *f) {
    const unsigned of = layout_find((enum layout_table)f->of, field_count(f, v->context, v->rec));
    pfr_items view = {NULL, 0, 0, v->context, of};
    pfr_bytes unknown;
    if (of == L_NONE) {
        PFR_TRY(invent_bytes(v, f, random_below(v->random, LONGEST_TEXT)));
        unknown = *(const pfr_bytes *)member(v, f);
        view.at = unknown.at;
        view.length = unknown.length;
        view.count = 1;
    } else {
        PFR_TRY(append_part(v, f, of, &view));
    }
    *(pfr_items *)member(v, f) = view;
    return PFR_OK;
}

static bool all_zero(const uint8_t *at, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (at[i])
            return false;
    return true;
}

static pfr_status invent_part(struct invention *v, const struct field *f) {
    const struct layout *part = layout_at(f->of);
    do
        PFR_TRY(invent_layout(v->random, part, v->context, v->arena, member(v, f), v->err));
    while (depends_on_room(f) && all_zero(member(v, f), part->size));
    return PFR_OK;
}

static pfr_status invent_field(struct invention *v, const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_U8:
    case K_U16:
    case K_U32:
    case K_U64:
    case K_W8:
    case K_W32:
    case K_W64:
        invent_integer(v, f);
        return PFR_OK;
    case K_BITS:
        invent_bits(v, f);
        return PFR_OK;
    case K_TEXT:
    case K_STR32:
        return invent_text(v, f);
    case K_RAW:
        return invent_bytes(v, f, f->extra);
    case K_BYTES:
        return invent_bytes(v, f, field_count(f, v->context, v->rec));
    case K_REST:
        return invent_bytes(v, f, 1 + random_below(v->random, LONGEST_TEXT));
    case K_A64:
        return invent_u64s(
            v, f, f->extra == COUNT_TO_END ? random_below(v->random, MOST_PARTS) : field_count(f, v->context, v->rec));
    case K_SUB:
        return invent_part(v, f);
    case K_ARRAY:
    case K_WHILE:
        return invent_items(v, f);
    case K_CHOICE:
        return invent_choice(v, f);
    case K_PAD: /* filled by the writer */
        return PFR_OK;
    case K_KINDS:
        break;
    }
    return PFR_ERR_USAGE;
}

/* Once a field that depends on room is absent, or a field took all remaining bytes, all later fields are absent. */
static bool is_invented(struct invention *v, const struct field *f) {
    if (!depends_on_room(f)) {
        const bool present = field_present(f, v->context, v->rec, 0);
        v->cut = v->cut || (present && f->kind == K_REST);
        return present;
    }
    v->cut = v->cut || one_in(v->random, 8);
    return !v->cut && (f->when.test == TEST_ROOM || v->context->word[f->when.word] > 0);
}

/* Sets the member that holds the layout's size by measuring the written bytes. */
static pfr_status measure_scope(struct invention *v) {
    struct writing size = writing_nowhere();
    for (const struct field *f = v->layout->fields(); f->name; f++) {
        if (f->extra != EXTRA_SCOPE || (f->kind != K_U16 && f->kind != K_U32))
            continue;
        PFR_TRY(layout_write(v->layout, v->context, v->rec, &size, v->err));
        field_set_integer(f, v->rec,
                          v->layout == layout_at(L_attr) && size.used == 64 && one_in(v->random, 2) ? 0 : size.used);
    }
    return PFR_OK;
}

static pfr_status invent_layout(struct random_numbers *random, const struct layout *l, const struct pfr_context *c,
                                struct arena *arena, void *rec, pfr_error *err) {
    struct invention v = {random, l, c, arena, rec, false, err};
    memset(rec, 0, l->size);
    for (const struct field *f = l->fields(); f->name; f++)
        if (is_invented(&v, f))
            PFR_TRY(invent_field(&v, f));
    return measure_scope(&v);
}

pfr_status layout_random(struct random_numbers *random, const struct layout *l, const struct pfr_context *c,
                         struct arena *arena, void *rec, pfr_error *err) {
    return invent_layout(random, l, c, arena, rec, err);
}
