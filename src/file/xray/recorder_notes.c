/* SPDX-License-Identifier: Apache-2.0 */
/* See recorder_notes.h. */
#include "file/xray/recorder_notes.h"

#include "file/xray/xray.h"
#include "file/xray/xray_slice.h"

#include <string.h>

#define SLOT_LEAST 4096u
#define SLOT_MOST ((uint64_t)1 << 28)
#define FIRST_ROOM 64u

static const bool host_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/* Offset of a note in its buffer. The preamble depends on the version: version 1 has no extents, versions 1 and 2 no
   process. */
static size_t note_at(const pfr_reader *r) {
    const unsigned version = r->trace->version;
    return RTF_NOTE - (version < 3 ? FDR_METADATA : 0) - (version < 2 ? FDR_METADATA : 0);
}

/* --- Notes keep the byte order of the recorder's machine, even in a converted trace. All recorders are little-endian.
 */

static void own32(uint32_t *at, size_t count) {
    for (size_t i = 0; i < count && !host_little; i++)
        at[i] = __builtin_bswap32(at[i]);
}

static void own64(uint64_t *at, size_t count) {
    for (size_t i = 0; i < count && !host_little; i++)
        at[i] = __builtin_bswap64(at[i]);
}

static void own_note(struct rtf_note *n) {
    own32(&n->kind, 1);
    own32(&n->first, 1);
    own64(&n->size, 1);
}

static void own_control(struct rtf_control *c) {
    own_note(&c->note);
    own64(&c->slot_size, 1);
    own64(&c->nr_slots, 1);
    own64(&c->slots_at, 1);
    own64(&c->start_tsc, 1);
    own64(&c->start_ns, 1);
    own64(&c->leader_start, 1);
    own32(&c->leader, 1);
    own32(&c->keep_last, 1);
    own32(&c->is_tsc, 1);
    own32(&c->full, 1);
    own64(&c->next_slot, 1);
    own64(&c->slots_taken, 1);
    own32(&c->next_function, 1);
    own32(&c->next_object, 1);
    own64(c->lost, RTF_LOSSES);
    own64(c->spares, RTF_SPARES);
    own32(c->function_slots, RTF_FUNCTION_SLOTS);
    own32(c->object_slots, RTF_OBJECT_SLOTS);
    own32(&c->spaces, 1);
    own32(&c->threshold, 1);
}

static void own_function(struct rtf_function *f) {
    own64(&f->address, 1);
    own32(&f->object, 1);
}

static void own_object(struct rtf_object *o) {
    own32(&o->kind, 1);
    own32(&o->pid, 1);
    own64(&o->base, 1);
    own64(&o->start, 1);
    own64(&o->end, 1);
    own64(&o->from, 1);
    own64(&o->until, 1);
}

/* Bytes of the payload of the note in this buffer. */
static uint64_t payload_of(const pfr_reader *r, const uint8_t *buffer) {
    uint32_t size;
    memcpy(&size, buffer + note_at(r) - FDR_METADATA + 1, sizeof size);
    return r->context.swap ? __builtin_bswap32(size) : size;
}

static bool take_control(const pfr_reader *r, const uint8_t *bytes, size_t have, struct rtf_control *c) {
    const size_t at = note_at(r);
    if (have < at + sizeof *c || payload_of(r, bytes) < sizeof *c)
        return false; /* bytes after a shorter event are records, not a control block */
    memcpy(c, bytes + at, sizeof *c);
    own_control(c);
    return memcmp(c->note.magic, RTF_MAGIC, RTF_MAGIC_SIZE) == 0;
}

static uint64_t buffer_size(const pfr_reader *r, uint64_t payload) {
    return r->trace->version == 1 ? r->header.buffer_size : note_at(r) + payload;
}

static bool is_in_slots(const struct rtf_control *c) {
    return c->note.kind == RTF_RUNNING || c->note.kind == RTF_SETTLED;
}

/* Whether the slots fill the file up to its end. This is possible even if the control block marks the trace as settled:
   the process may have been killed before it cut the file. */
static bool slots_fill(const struct rtf_control *c, uint64_t size) {
    if (c->slot_size < SLOT_LEAST || size < RTF_EXTENTS || c->slots_at > size - RTF_EXTENTS)
        return false;
    const uint64_t room = size - RTF_EXTENTS - c->slots_at, slots = room / c->slot_size;
    return slots * c->slot_size == room && (c->note.kind == RTF_RUNNING ? c->nr_slots == slots : c->nr_slots <= slots);
}

/* End of the slots according to the control block; 0: its numbers make no sense. */
static uint64_t end_of_slots(const struct rtf_control *c) {
    const bool makes_sense = c->slot_size >= SLOT_LEAST && c->slot_size <= SLOT_MOST && c->nr_slots <= UINT32_MAX &&
                             c->slots_at >= RTF_CONTROL_AT + sizeof *c && c->slots_at <= UINT32_MAX;
    return makes_sense ? c->slots_at + c->nr_slots * c->slot_size : 0;
}

uint64_t recorder_missing(const pfr_reader *r, uint64_t end) {
    return end < r->trace->slots_reported ? r->trace->slots_reported - end : 0;
}

/* A cut or damaged trace is read like one without slots. */
void recorder_learn(pfr_reader *r, const uint8_t *bytes, size_t have) {
    struct rtf_control c;
    const uint64_t size = input_size(&r->parts[0].in);
    r->trace->slot_size = 0;
    r->trace->threshold = 0;
    r->trace->slots_reported = 0;
    r->trace->losses = (struct recorder_losses){0};
    if (!take_control(r, bytes, have, &c))
        return;
    r->trace->threshold = c.threshold;
    recorder_losses_learn(r, &c);
    r->trace->slots_reported = is_in_slots(&c) ? end_of_slots(&c) : 0;
    if (!is_in_slots(&c) || r->context.swap == host_little || r->trace->version < 3 || !slots_fill(&c, size))
        return;
    r->trace->slots_at = c.slots_at;
    r->trace->slot_size = c.slot_size;
    r->trace->slots_end = size - RTF_EXTENTS;
}

bool recorder_threshold(const pfr_reader *r, uint64_t *ns) {
    *ns = r->trace && r->trace->threshold ? r->trace->threshold - 1 : 0;
    return r->trace && r->trace->threshold;
}

bool recorder_room_ends(const pfr_reader *r, uint64_t at, uint64_t *next) {
    const struct xray_trace *t = r->trace;
    if (t->slot_size == 0 || at < t->slots_at || at >= t->slots_end)
        return false;
    *next = at + t->slot_size - (at - t->slots_at) % t->slot_size;
    return true;
}

/* --- Notes. */

static pfr_status add_functions(struct recorder_notes *n, struct memory *memory, const uint8_t *at, size_t count,
                                pfr_error *err) {
    for (size_t i = 0; i < count; i++, at += sizeof *n->functions) {
        if (n->nr_functions == n->functions_room) {
            void *grown =
                mem_grow(memory, n->functions, n->nr_functions, &n->functions_room, FIRST_ROOM, sizeof *n->functions);
            if (!grown)
                return mem_fail(memory, err, "functions");
            n->functions = grown;
        }
        memcpy(&n->functions[n->nr_functions], at, sizeof *n->functions);
        own_function(&n->functions[n->nr_functions++]);
    }
    return PFR_OK;
}

static pfr_status add_objects(struct recorder_notes *n, struct memory *memory, const uint8_t *at, size_t count,
                              pfr_error *err) {
    for (size_t i = 0; i < count; i++, at += sizeof *n->objects) {
        if (n->nr_objects == n->objects_room) {
            void *grown = mem_grow(memory, n->objects, n->nr_objects, &n->objects_room, FIRST_ROOM, sizeof *n->objects);
            if (!grown)
                return mem_fail(memory, err, "objects");
            n->objects = grown;
        }
        struct rtf_object *o = &n->objects[n->nr_objects++];
        memcpy(o, at, sizeof *o);
        own_object(o);
        o->path[sizeof o->path - 1] = 0;
        if (o->build_id_size > sizeof o->build_id)
            o->build_id_size = 0;
    }
    return PFR_OK;
}

/* Reads the note in the buffer at `at`; *size 0: there is no note, or it does not continue the earlier notes. */
static pfr_status take_note(pfr_reader *r, struct memory *memory, struct recorder_notes *n, uint64_t at, uint64_t *size,
                            pfr_error *err) {
    const size_t begin = note_at(r);
    const uint8_t *bytes;
    struct rtf_note note;
    size_t have;
    *size = 0;
    PFR_TRY(input_window(&r->parts[0].in, at, begin + sizeof note, &bytes, &have, err));
    if (have < begin + sizeof note)
        return PFR_OK;
    memcpy(&note, bytes + begin, sizeof note);
    own_note(&note);
    const uint64_t payload = payload_of(r, bytes);
    const bool functions = note.kind == RTF_FUNCTIONS, objects = note.kind == RTF_OBJECTS;
    const size_t known = functions ? n->nr_functions : n->nr_objects;
    if (memcmp(note.magic, RTF_MAGIC, RTF_MAGIC_SIZE) != 0 || (!functions && !objects) || note.first != known + 1 ||
        payload < sizeof note || payload > r->limits.chunk - begin)
        return PFR_OK;
    PFR_TRY(input_window(&r->parts[0].in, at, begin + (size_t)payload, &bytes, &have, err));
    if (have < begin + payload)
        return PFR_OK;
    *size = buffer_size(r, payload);
    const size_t entries = (size_t)payload - RTF_ENTRIES;
    bytes += begin + RTF_ENTRIES;
    return functions ? add_functions(n, memory, bytes, entries / sizeof(struct rtf_function), err)
                     : add_objects(n, memory, bytes, entries / sizeof(struct rtf_object), err);
}

static pfr_status read_slots(pfr_reader *r, struct memory *memory, struct recorder_notes *n,
                             const struct rtf_control *c, const uint32_t *slots, size_t most, pfr_error *err) {
    uint64_t size = 1;
    for (size_t i = 0; i < most && slots[i] && size && slots[i] <= c->nr_slots; i++)
        PFR_TRY(take_note(r, memory, n, c->slots_at + (slots[i] - 1) * c->slot_size, &size, err));
    return PFR_OK;
}

static pfr_status read_lists(pfr_reader *r, struct memory *memory, struct recorder_notes *n,
                             const struct rtf_control *c, pfr_error *err) {
    if (c->slot_size < SLOT_LEAST || c->slot_size > SLOT_MOST || c->slots_at > input_size(&r->parts[0].in))
        return PFR_OK;
    PFR_TRY(read_slots(r, memory, n, c, c->function_slots, RTF_FUNCTION_SLOTS, err));
    return read_slots(r, memory, n, c, c->object_slots, RTF_OBJECT_SLOTS, err);
}

/* Searches all buffers for notes, for a trace with slots that was cut, or copied by a tool that does not know slots. In
   a ring, a later list may come before an earlier one, so there are two passes. */
static pfr_status look_for_notes(pfr_reader *r, struct memory *memory, struct recorder_notes *n, pfr_error *err) {
    for (unsigned pass = 0; pass < 2; pass++) {
        struct xray_buffer b;
        uint64_t at = TRACE_FIRST_BUFFER, size;
        pfr_status st;
        for (; (st = xray_buffer_at(r, at, &b, err)) == PFR_OK; at = b.next)
            PFR_TRY(take_note(r, memory, n, at, &size, err));
        if (st < 0)
            return st;
    }
    return PFR_OK;
}

static pfr_status read_all(pfr_reader *r, struct memory *memory, struct recorder_notes *n, pfr_error *err) {
    const uint8_t *bytes;
    struct rtf_control c;
    size_t have;
    PFR_TRY(input_window(&r->parts[0].in, RTF_HEADER, RTF_NOTE + sizeof c, &bytes, &have, err));
    if (!take_control(r, bytes, have, &c))
        return PFR_OK;
    uint64_t at = RTF_HEADER + buffer_size(r, payload_of(r, bytes)), size = 1;
    recorder_learn(r, bytes, have);
    if (c.note.kind == RTF_FINISHED && at > RTF_HEADER)
        for (; size && at < input_size(&r->parts[0].in); at += size)
            PFR_TRY(take_note(r, memory, n, at, &size, err));
    if (c.note.kind == RTF_COPIED)
        return look_for_notes(r, memory, n, err);
    if (!is_in_slots(&c))
        return PFR_OK;
    PFR_TRY(read_lists(r, memory, n, &c, err));
    return r->trace->slot_size ? PFR_OK : look_for_notes(r, memory, n, err);
}

pfr_status recorder_notes_read(pfr_reader *r, struct memory *memory, struct recorder_notes *n, pfr_error *err) {
    *n = (struct recorder_notes){0};
    return r->trace && input_seekable(&r->parts[0].in) ? read_all(r, memory, n, err) : PFR_OK;
}

void recorder_notes_free(struct recorder_notes *n, struct memory *memory) {
    mem_free(memory, n->functions, n->functions_room, sizeof *n->functions);
    mem_free(memory, n->objects, n->objects_room, sizeof *n->objects);
    *n = (struct recorder_notes){0};
}
