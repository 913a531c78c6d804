/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cache of symbol names by address. Callchains repeat the same few thousand frames millions of times. So the text after
 * an address is formatted once per address and space, and copied as long as mappings have not changed (script_epoch);
 * after a change, the address is looked up again. There is one table per form of names; equal texts are stored once.
 */
#include "view/script/script_frames.h"
#include "view/script/script_address_cache.h"
#include "view/script/script_address_text.h"

#include "base/memory/fail.h"
#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define TEXT_MOST ((size_t)60 << 10) /* maximum bytes of one text; must fit into an output's buffer */
#define TEXTS_MOST (1u << 18)        /* maximum number of distinct texts; beyond that, the cache is cleared */
#define UNKNOWN "[unknown]"
#define ADDRESS_WIDTH 16u
#define NOT_KEPT                                                                                                       \
    UINT32_MAX /* epoch of an entry that is looked up again for each sample, because its place may change (is_passing) \
                */

/* One address in one space. 32 bytes, so that two entries share a cache line. */
struct script_frame_slot {
    uint64_t address, offset; /* address in the process; offset in the object */
    const uint8_t *text;
    uint32_t space, epoch; /* epoch 0: empty */
};

void frames_init(struct frames *f, struct memory *memory, bool raw_names) {
    *f = (struct frames){.memory = memory, .scratch.raw_names = raw_names};
    intern_init(&f->texts, memory);
    out_open_memory(&f->scratch.out, memory);
}

static void free_tables(struct frames *f) {
    near_free(f);
    ranges_free(f);
    for (size_t i = 0; i < NAME_FORMS; i++) {
        struct frame_table *t = &f->tables[i];
        mem_free(f->memory, t->slots, t->slots ? t->slot_count : 0, sizeof *t->slots);
        *t = (struct frame_table){0};
    }
}

void frames_reset(struct frames *f) {
    free_tables(f);
    intern_free(&f->texts);
    intern_init(&f->texts, f->memory);
}

void frames_free(struct frames *f) {
    free_tables(f);
    out_close(&f->scratch.out, NULL);
    intern_free(&f->texts);
}

static inline uint64_t address_hash(const struct frame_table *t, uint64_t address, uint32_t space) {
    uint64_t h = (address ^ t->seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ space) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static struct script_frame_slot *find_slot(const struct frame_table *t, uint64_t address, uint32_t space) {
    for (uint64_t i = address_hash(t, address, space);; i++) {
        struct script_frame_slot *slot = &t->slots[i & (t->slot_count - 1)];
        if (!slot->epoch || (slot->address == address && slot->space == space))
            return slot;
    }
}

/* Doubles the number of slots and moves the entries. */
static bool grow(struct frames *f, struct frame_table *t) {
    struct frame_table more = {.slot_count = t->slots ? t->slot_count * 2 : FIRST_SLOTS, .used = t->used};
    more.slots = mem_zeroed(f->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return false;
    more.seed = table_seed(more.slot_count);
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].epoch)
            *find_slot(&more, t->slots[i].address, t->slots[i].space) = t->slots[i];
    mem_free(f->memory, t->slots, t->slot_count, sizeof *t->slots);
    *t = more;
    return true;
}

/* Path to print for the kernel and its modules; "" if not available. */
static const char *kernel_path(const struct script *s, const struct object *o) {
    if (!s->shared->options->kernel_paths || o->kind != OBJECT_KERNEL || s->shared->naming.kallsyms ||
        !s->shared->naming.vmlinux)
        return "";
    return s->shared->naming.vmlinux;
}

/* The object's name as in perf. A module listed in the table of build ids is shown by path. */
void script_write_object_name(struct script *s, uint32_t object, pfr_output *to) {
    if (object == NO_OBJECT) {
        out_text(&to->out, UNKNOWN);
        return;
    }
    const struct object *o = &s->shared->state->objects.at[object];
    if (o->kind == OBJECT_ANONYMOUS) {
        out_text(&to->out, "/tmp/perf-");
        out_i64(&to->out, (int32_t)o->pid);
        out_text(&to->out, ".map");
        return;
    }
    const char *const own = kernel_path(s, o);
    if (*own) {
        print_name(to, own, strlen(own));
        return;
    }
    const bool is_short =
        o->kind == OBJECT_KERNEL || (o->kind == OBJECT_MODULE && !o->listed && !s->shared->options->kernel_paths);
    const struct intern_text name = intern_get(&s->shared->state->names, is_short ? o->short_name : o->path);
    print_name(to, name.bytes, name.length);
}

void script_name_at(struct script *s, const struct place *place, uint64_t address, struct address_name *name) {
    *name = (struct address_name){.behind = 1};
    if (s->current.unnamed)
        return;
    pthread_mutex_lock(&s->shared->names->lock);
    const pfr_status st = address_names_at(&s->shared->names->all, place, address, name, s->err);
    pthread_mutex_unlock(&s->shared->names->lock);
    script_fail(s, st);
}

uint32_t script_kernel_at(struct script *s, uint64_t address) {
    uint32_t object;
    if (s->current.unnamed)
        return NO_OBJECT;
    pthread_mutex_lock(&s->shared->names->lock);
    const pfr_status st = address_names_kernel(&s->shared->names->all, address, &object, s->err);
    pthread_mutex_unlock(&s->shared->names->lock);
    script_fail(s, st);
    return object;
}

void script_write_symbol(struct script *s, const struct place *place, uint64_t address, bool offset, pfr_output *to) {
    struct address_name name;
    script_name_at(s, place, address, &name);
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

void script_line_at(struct script *s, const struct place *place, uint64_t address, struct address_line *line) {
    *line = (struct address_line){.address = place->offset};
    if (s->current.unnamed)
        return;
    pthread_mutex_lock(&s->shared->names->lock);
    const pfr_status st = address_line_at(&s->shared->names->all, place, address, line, s->err);
    pthread_mutex_unlock(&s->shared->names->lock);
    script_fail(s, st);
}

void script_calls_at(struct script *s, const struct place *place, uint64_t address, struct address_calls *calls) {
    calls->at = (struct address_line){.address = place->offset};
    calls->count = 0;
    if (s->current.unnamed)
        return;
    pthread_mutex_lock(&s->shared->names->lock);
    const pfr_status st = address_calls_at(&s->shared->names->all, place, address, calls, s->err);
    pthread_mutex_unlock(&s->shared->names->lock);
    script_fail(s, st);
}

/* Objects for which perf does not open a file. */
static bool is_in_no_file(const struct object *o) {
    return o->kind == OBJECT_KERNEL || o->kind == OBJECT_VDSO || o->kind == OBJECT_ANONYMOUS;
}

static void write_file_line(const char *file, uint32_t line, pfr_output *to) {
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    out_text(&to->out, "\n  ");
    print_name(to, name, strlen(name));
    out_char(&to->out, ':');
    out_u64(&to->out, line);
}

/* Writes the source line below the frame, as perf does: base name of the file, and line. Without line information, perf
 * prints object and address if the object has no symbols or perf does not open a file for it, and nothing otherwise. */
static void write_line(struct script *s, const struct place *place, const struct address_line *line, pfr_output *to) {
    const struct object *o = &s->shared->state->objects.at[place->object];
    if (line->file)
        write_file_line(line->file, line->line, to);
    if (line->file || (line->has_names && !is_in_no_file(o)))
        return;
    const struct intern_text name = intern_get(&s->shared->state->names, o->short_name);
    out_text(&to->out, "\n  ");
    print_name(to, name.bytes, name.length);
    out_char(&to->out, '[');
    out_hex(&to->out, line->address, 1);
    out_char(&to->out, ']');
}

/* Inlined functions are printed as separate frames, all with the address of the frame; the function that contains them
   is printed last. As in perf, the inlined functions are printed without object and offset. */
static void write_inlined(struct script *s, const struct place *place, uint64_t address, unsigned form,
                          struct address_line *line, pfr_output *to) {
    struct address_calls calls = {0};
    const uint8_t kind = s->shared->state->objects.at[place->object].kind;
    script_calls_at(s, place, address, &calls);
    for (uint32_t i = 0; i < calls.count; i++) {
        const struct inlined_call *call = &calls.inlined[i];
        out_char(&to->out, ' ');
        print_name(to, call->function, call->length);
        out_text(&to->out, " (inlined)");
        if ((form & NAME_LINE) && call->file)
            write_file_line(call->file, call->line, to);
        out_text(&to->out, "\n\t");
        out_hex_wide(&to->out, kind == OBJECT_FILE ? place->offset : address, ADDRESS_WIDTH);
    }
    *line = calls.at;
}

void script_write_names(struct script *s, const struct place *place, uint64_t address, unsigned form, pfr_output *to) {
    struct address_line line = {0};
    const bool has_lines = place->map && place->object != NO_OBJECT;
    if (has_lines && (form & NAME_INLINED))
        write_inlined(s, place, address, form, &line, to);
    else if (has_lines && (form & NAME_LINE))
        script_line_at(s, place, address, &line);
    if (form & NAME_SYM) {
        out_char(&to->out, ' ');
        script_write_symbol(s, place, address, form & NAME_OFFSET, to);
    }
    if (form & NAME_DSO) {
        out_char(&to->out, ' ');
        script_write_object(s, place->object, to);
    }
    if (has_lines && (form & NAME_LINE))
        write_line(s, place, &line, to);
}

void script_write_object(struct script *s, uint32_t object, pfr_output *to) {
    out_char(&to->out, '(');
    script_write_object_name(s, object, to);
    out_char(&to->out, ')');
}

/* Formats the names of a place and interns the text. */
const uint8_t *script_frame_text(struct script *s, const struct place *place, uint64_t address, unsigned form) {
    struct frames *f = &s->caches.frames;
    struct output *out = &f->scratch.out;
    const uint32_t object = place->ksymbol ? place->ksymbol->object : place->object;
    struct frame_text head = {.object = object};
    uint32_t text = 0;
    out_clear(out);
    out_write(out, &head, sizeof head);
    script_write_names(s, place, address, form, &f->scratch);
    if (out->status < 0) {
        script_fail(s, mem_fail(f->memory, s->err, "frames"));
        return NULL;
    }
    const size_t length = out->used - sizeof head;
    head.length = (uint32_t)(length < TEXT_MOST ? length : TEXT_MOST);
    memcpy(out->buffer, &head, sizeof head);
    script_fail(s, intern_put(&f->texts, out->buffer, sizeof head + head.length, &text, s->err));
    return s->failed < 0 ? NULL : intern_get(&f->texts, text).bytes;
}

/* Adds a slot for a new address; NULL if memory runs out. The cache is cleared at a fixed size, so its memory is
 * bounded. */
static struct script_frame_slot *take_slot(struct script *s, struct frame_table *t, uint64_t address, uint32_t space) {
    struct frames *f = &s->caches.frames;
    if (f->texts.count >= TEXTS_MOST || t->used >= sizes.script_cache) {
        frames_reset(f);
    }
    if (t->used >= t->slot_count / 4 * 3 && !grow(f, t)) {
        script_fail(s, mem_fail(f->memory, s->err, "frames"));
        return NULL;
    }
    struct script_frame_slot *slot = find_slot(t, address, space);
    *slot = (struct script_frame_slot){.address = address, .space = space};
    t->used++;
    return slot;
}

void script_place(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, struct place *place) {
    state_place_in(s->shared->state, cpumode, m->thread->space, address, m->key, place);
    if (!place->map && cpumode == SCRIPT_KERNEL)
        place->object = script_kernel_at(s, address);
}

/* Looks up an address again; formats its text if the address is new, or now in another object or at another offset. */
static void renew(struct script *s, const struct moment *m, struct script_frame_slot *slot, unsigned cpumode,
                  unsigned form) {
    struct place place;
    script_place(s, m, cpumode, slot->address, &place);
    const uint32_t object = place.ksymbol ? place.ksymbol->object : place.object;
    slot->epoch = place.is_passing ? NOT_KEPT : script_epoch(s, cpumode);
    if (slot->text && frame_text_at(slot->text).object == object && slot->offset == place.offset)
        return;
    slot->offset = place.offset;
    slot->text = script_frame_text(s, &place, slot->address, form);
}

/* Returns the up-to-date slot of an address. NULL: out of memory, with the error in s->failed. */
static struct script_frame_slot *frame_of(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                                          unsigned form) {
    struct frame_table *t = &s->caches.frames.tables[form];
    const uint32_t space = script_space(m, cpumode);
    struct script_frame_slot *slot = t->slots ? find_slot(t, address, space) : NULL;
    if (slot && slot->epoch == script_epoch(s, cpumode))
        return slot;
    if (!slot || !slot->epoch)
        slot = take_slot(s, t, address, space);
    if (slot)
        renew(s, m, slot, cpumode, form);
    return slot && slot->text ? slot : NULL;
}

/* The slot where a search begins; the address may be in one behind it. */
static const struct script_frame_slot *slot_of_hash(const struct frame_table *t, uint64_t hash) {
    return &t->slots[hash & (t->slot_count - 1)];
}

/* Guesses the space from the address without reading the chain's context markers. Kernel addresses are in the upper
 * half on most machines. */
uint64_t script_expect_frame(const struct script *s, const struct moment *m, uint64_t address, unsigned form) {
    const struct frame_table *t = &s->caches.frames.tables[form];
    const uint64_t hash = address_hash(t, address, script_space(m, address >> 63 ? SCRIPT_KERNEL : SCRIPT_USER));
    if (t->slots)
        __builtin_prefetch(slot_of_hash(t, hash));
    return hash;
}

void script_expect_text(const struct script *s, uint64_t hash, unsigned form) {
    const struct frame_table *t = &s->caches.frames.tables[form];
    const uint8_t *const text = t->slots ? slot_of_hash(t, hash)->text : NULL;
    if (text)
        __builtin_prefetch(text);
}

/* NULL: no text, or an error in s->failed. */
static const uint8_t *text_of(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                              unsigned form) {
    const uint8_t *text = form & (NAME_OFFSET | NAME_LINE) ? NULL : script_range_text(s, m, cpumode, address, form);
    if (text || s->failed < 0)
        return text;
    const struct script_frame_slot *slot = frame_of(s, m, cpumode, address, form);
    return slot ? slot->text : NULL;
}

void script_write_frame(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form) {
    const uint8_t *const text = form ? text_of(s, m, cpumode, address, form) : NULL;
    const uint32_t length = text ? frame_text_at(text).length : 0;
    if (!out_room(s->out, ADDRESS_WIDTH + length))
        return;
    char *const to = s->out->buffer + s->out->used;
    format_hex_16(to, address);
    if (length)
        memcpy(to + ADDRESS_WIDTH, text + sizeof(struct frame_text), length);
    s->out->used += ADDRESS_WIDTH + length;
}

/* As in perf, callchains show a user address as its offset in the object; other fields show the address itself. */
void script_write_chain_frame(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                              unsigned form) {
    const struct script_frame_slot *slot = frame_of(s, m, cpumode, address, form);
    if (!slot || s->failed < 0)
        return;
    const uint32_t length = frame_text_at(slot->text).length;
    if (!out_room(s->out, length + 2 + ADDRESS_WIDTH))
        return;
    char *to = s->out->buffer + s->out->used;
    *to++ = '\t';
    format_hex_16(to, cpumode == SCRIPT_USER ? slot->offset : address);
    memcpy(to + ADDRESS_WIDTH, slot->text + sizeof(struct frame_text), length);
    to[ADDRESS_WIDTH + length] = '\n';
    s->out->used += length + 2 + ADDRESS_WIDTH;
}
