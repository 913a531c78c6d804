/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of an address. Chains repeat the same few thousand frames by the million: a frame's whole text is made once
 * for an address in a space, and copied as long as no map came or went (s->epoch); then it is only looked up anew.
 */
#include "view/script_parts.h"

#include "base/fail.h"

#define FIRST_SLOTS ((size_t)4096)
#define TEXT_MOST ((size_t)24 << 20) /* bytes of texts, then all are made anew */
#define UNKNOWN "[unknown]"
#define CPUMODE_KERNEL 1u
#define CPUMODE_USER 2u

pfr_status frames_init(struct frames *f, struct memory *memory, bool raw_names, pfr_error *err) {
    *f = (struct frames){.memory = memory, .slot_count = FIRST_SLOTS};
    arena_init(&f->texts, memory);
    f->scratch.raw_names = raw_names;
    out_open_memory(&f->scratch.out, memory);
    f->slots = mem_zeroed(memory, FIRST_SLOTS, sizeof *f->slots);
    f->seed = (uint64_t)(uintptr_t)f->slots;
    return f->slots ? PFR_OK : mem_fail(memory, err, "frames");
}

void frames_free(struct frames *f) {
    mem_free(f->memory, f->slots, f->slots ? f->slot_count : 0, sizeof *f->slots);
    out_close(&f->scratch.out, NULL);
    arena_free(&f->texts);
}

static size_t slot_of(const struct frames *f, uint64_t address, uint64_t who) {
    uint64_t h = (address ^ f->seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ who) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32) & (f->slot_count - 1);
}

static struct frame_slot *find_slot(const struct frames *f, uint64_t address, uint64_t who) {
    size_t i = slot_of(f, address, who);
    while (f->slots[i].epoch && !(f->slots[i].address == address && f->slots[i].who == who))
        i = (i + 1) & (f->slot_count - 1);
    return &f->slots[i];
}

/* Twice as many slots, the old ones moved. */
static bool grow(struct frames *f) {
    struct frames more = *f;
    more.slot_count = f->slot_count * 2;
    more.slots = mem_zeroed(f->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].epoch)
            *find_slot(&more, f->slots[i].address, f->slots[i].who) = f->slots[i];
    mem_free(f->memory, f->slots, f->slot_count, sizeof *f->slots);
    *f = more;
    return true;
}

static void forget_all(struct frames *f) {
    memset(f->slots, 0, f->slot_count * sizeof *f->slots);
    arena_free(&f->texts);
    f->used = 0;
    f->bytes = 0;
}

/* What perf calls the object. A module that the table of build-ids lists goes by its path. */
static void write_object(struct script *s, uint32_t object, pfr_output *to) {
    if (object == NO_OBJECT) {
        out_text(&to->out, UNKNOWN);
        return;
    }
    const struct object *o = &s->state->objects.at[object];
    if (o->kind == OBJECT_ANONYMOUS) {
        out_text(&to->out, "/tmp/perf-");
        out_i64(&to->out, (int32_t)o->pid);
        out_text(&to->out, ".map");
        return;
    }
    const bool is_short = o->kind == OBJECT_KERNEL || (o->kind == OBJECT_MODULE && !o->listed);
    const struct intern_text name = intern_get(&s->state->names, is_short ? o->short_name : o->path);
    print_name(to, name.bytes, name.length);
}

void script_write_symbol(struct script *s, const struct place *place, uint64_t address, bool offset, pfr_output *to) {
    struct address_name name;
    script_fail(s, address_names_find(&s->names, place->object, address, place->offset, &name, s->err));
    if (!name.text) {
        out_text(&to->out, UNKNOWN);
        return;
    }
    print_name(to, name.text, name.length);
    if (!offset)
        return;
    out_write(&to->out, "+0x", 3);
    out_hex(&to->out, name.ahead, 1);
}

void script_write_names(struct script *s, const struct place *place, uint64_t address, unsigned form, pfr_output *to) {
    if (form & NAME_SYM) {
        out_char(&to->out, ' ');
        script_write_symbol(s, place, address, form & NAME_OFFSET, to);
    }
    if (form & NAME_DSO) {
        out_char(&to->out, ' ');
        script_write_object(s, place->object, to);
    }
}

void script_write_object(struct script *s, uint32_t object, pfr_output *to) {
    out_char(&to->out, '(');
    write_object(s, object, to);
    out_char(&to->out, ')');
}

/* In a chain perf prints where in the object a user address is, elsewhere the address itself. */
static void make_text(struct script *s, const struct place *place, unsigned cpumode, uint64_t address, unsigned form) {
    struct output *out = &s->frames.scratch.out;
    out_clear(out);
    if (form & NAME_CHAIN)
        out_char(out, '\t');
    out_hex_wide(out, form & NAME_CHAIN && cpumode == CPUMODE_USER ? place->offset : address, 16);
    script_write_names(s, place, address, form, &s->frames.scratch);
    if (form & NAME_CHAIN)
        out_char(out, '\n');
}

static void keep_text(struct script *s, struct frame_slot *slot) {
    struct frames *f = &s->frames;
    size_t length;
    const char *bytes = out_bytes(&f->scratch.out, &length);
    slot->text = f->scratch.out.status < 0 ? NULL : arena_copy(&f->texts, bytes, length, 1);
    slot->length = (uint32_t)length;
    f->bytes += length;
    if (!slot->text) {
        slot->length = 0;
        slot->epoch = 0;
        script_fail(s, mem_fail(f->memory, s->err, "frames"));
    }
}

/* The slot of an address, new or known; NULL: no memory. */
static struct frame_slot *take_slot(struct script *s, uint64_t address, uint64_t who) {
    struct frames *f = &s->frames;
    struct frame_slot *slot = find_slot(f, address, who);
    if (slot->epoch)
        return slot;
    if (f->bytes > TEXT_MOST)
        forget_all(f);
    if (f->used >= f->slot_count / 4 * 3 && !grow(f)) {
        script_fail(s, mem_fail(f->memory, s->err, "frames"));
        return NULL;
    }
    slot = find_slot(f, address, who);
    *slot = (struct frame_slot){.address = address, .who = who};
    return slot;
}

static void renew(struct script *s, const struct moment *m, struct frame_slot *slot, unsigned cpumode, unsigned form) {
    struct place place;
    const bool known = slot->epoch != 0;
    state_place_in(s->state, cpumode, m->thread->space, slot->address, m->key, &place);
    slot->epoch = s->epoch;
    if (known && slot->map == place.map)
        return;
    if (!known)
        s->frames.used++;
    if (!place.map && cpumode == CPUMODE_KERNEL)
        script_fail(s, address_names_kernel(&s->names, slot->address, &place.object, s->err));
    slot->map = place.map;
    make_text(s, &place, cpumode, slot->address, form);
    keep_text(s, slot);
}

void script_write_frame(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form) {
    const uint64_t space = cpumode == CPUMODE_USER ? m->thread->space : UINT32_MAX;
    const uint64_t who = space << 32 | cpumode << 8 | form;
    struct frame_slot *slot = find_slot(&s->frames, address, who);
    if (slot->epoch != s->epoch) {
        slot = take_slot(s, address, who);
        if (!slot)
            return;
        renew(s, m, slot, cpumode, form);
    }
    out_write(s->out, slot->text, slot->length);
}
