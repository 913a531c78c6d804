/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a trace: see recorder_pack.h. Numbers from the file are checked before use, because the trace is not
   trusted. */
#include "wire/recorder_pack.h"

#include <string.h>

#define SLOT_LEAST 4096u
#define SLOT_MOST ((uint64_t)1 << 28)
#define EXTENTS_BYTE 0x0f
#define FREQUENCY_AT 8

static bool is_sane(const struct rtf_control *c, uint64_t size) {
    if (memcmp(c->note.magic, RTF_MAGIC, RTF_MAGIC_SIZE) != 0 || c->note.kind != RTF_RUNNING)
        return false;
    if (c->slot_size < SLOT_LEAST || c->slot_size > SLOT_MOST || c->nr_slots == 0 || c->nr_slots > UINT32_MAX)
        return false;
    const uint64_t owners = RTF_CONTROL_AT + sizeof *c + c->nr_slots * sizeof(uint32_t);
    return c->slots_at >= owners && c->slots_at <= size && c->nr_slots <= (size - c->slots_at) / c->slot_size;
}

enum rtf_packed rtf_pack_check(struct rtf_pack *p) {
    if (p->size < RTF_CONTROL_AT + sizeof p->control)
        return RTF_NOT_OURS;
    if (!p->read(p->context, RTF_CONTROL_AT, &p->control, sizeof p->control))
        return RTF_NO_READ;
    return is_sane(&p->control, p->size) ? RTF_PACKED : RTF_NOT_OURS;
}

static enum rtf_packed copy(struct rtf_pack *p, uint64_t at, uint64_t size) {
    while (size) {
        const size_t piece = size < p->room_size ? (size_t)size : p->room_size;
        if (!p->read(p->context, at, p->room, piece))
            return RTF_NO_READ;
        if (!p->write(p->context, p->room, piece))
            return RTF_NO_WRITE;
        at += piece;
        size -= piece;
    }
    return RTF_PACKED;
}

static void set_sizes(uint8_t *buffer, uint64_t size) {
    const uint64_t extents = size - RTF_EXTENTS;
    const uint32_t event = (uint32_t)(size - RTF_NOTE);
    memcpy(buffer + 1, &extents, sizeof extents);
    memcpy(buffer + RTF_PREAMBLE + 1, &event, sizeof event);
}

/* Reads the first `entries` bytes of a note's list. */
static enum rtf_packed copy_note(struct rtf_pack *p, uint64_t at, uint64_t entries) {
    uint8_t head[RTF_NOTE + sizeof(struct rtf_note)];
    struct rtf_note note;
    if (!p->read(p->context, at, head, sizeof head))
        return RTF_NO_READ;
    memcpy(&note, head + RTF_NOTE, sizeof note);
    note.size = sizeof head + entries;
    memcpy(head + RTF_NOTE, &note, sizeof note);
    set_sizes(head, note.size);
    if (!p->write(p->context, head, sizeof head))
        return RTF_NO_WRITE;
    return copy(p, at + sizeof head, entries);
}

static enum rtf_packed copy_head(struct rtf_pack *p) {
    uint8_t head[RTF_CONTROL_AT];
    struct rtf_control c = p->control;
    if (!p->read(p->context, 0, head, sizeof head))
        return RTF_NO_READ;
    if (p->frequency)
        memcpy(head + FREQUENCY_AT, &p->frequency, sizeof p->frequency);
    c.note.kind = RTF_FINISHED;
    c.note.size = RTF_NOTE + sizeof c;
    set_sizes(head + RTF_HEADER, c.note.size);
    return p->write(p->context, head, sizeof head) && p->write(p->context, &c, sizeof c) ? RTF_PACKED : RTF_NO_WRITE;
}

static uint64_t slot_at(const struct rtf_pack *p, uint64_t slot) {
    return p->control.slots_at + slot * p->control.slot_size;
}

static enum rtf_packed copy_list(struct rtf_pack *p, const uint32_t *slots, uint32_t most, uint64_t count,
                                 uint64_t size) {
    const uint64_t per = rtf_entries_in(p->control.slot_size, size);
    for (uint32_t i = 0; i < most && count; i++) {
        const uint64_t here = count < per ? count : per;
        enum rtf_packed result = RTF_PACKED;
        count -= here;
        if (slots[i] && slots[i] <= p->control.nr_slots)
            result = copy_note(p, slot_at(p, slots[i] - 1), here * size);
        if (result != RTF_PACKED)
            return result;
    }
    return RTF_PACKED;
}

static bool is_listed(const struct rtf_pack *p, uint64_t slot) {
    const struct rtf_control *c = &p->control;
    for (uint32_t i = 0; i < RTF_FUNCTION_SLOTS && c->function_slots[i]; i++)
        if (c->function_slots[i] == slot + 1)
            return true;
    for (uint32_t i = 0; i < RTF_OBJECT_SLOTS && c->object_slots[i]; i++)
        if (c->object_slots[i] == slot + 1)
            return true;
    return false;
}

/* Reads the header of the slot's buffer at *at and the length of its extents; sets *at to slot_size if no buffer
   follows. */
static enum rtf_packed next_buffer(struct rtf_pack *p, uint64_t slot, uint64_t *at, uint8_t *head, uint64_t *extents) {
    const uint64_t size = p->control.slot_size;
    *extents = 0;
    if (size - *at < RTF_EXTENTS) {
        *at = size;
        return RTF_PACKED;
    }
    if (!p->read(p->context, slot_at(p, slot) + *at, head, RTF_EXTENTS))
        return RTF_NO_READ;
    memcpy(extents, head + 1, sizeof *extents);
    if (head[0] != EXTENTS_BYTE || *extents > size - *at - RTF_EXTENTS)
        *at = size;
    return RTF_PACKED;
}

static enum rtf_packed copy_slot(struct rtf_pack *p, uint64_t slot) {
    uint8_t head[RTF_EXTENTS];
    uint64_t at = 0, extents;
    for (;; at += RTF_EXTENTS + extents) {
        enum rtf_packed result = next_buffer(p, slot, &at, head, &extents);
        if (result != RTF_PACKED || at == p->control.slot_size)
            return result;
        /* a thread may still be writing: use the value that was copied */
        if (extents && !p->write(p->context, head, sizeof head))
            return RTF_NO_WRITE;
        result = copy(p, slot_at(p, slot) + at + RTF_EXTENTS, extents);
        if (result != RTF_PACKED)
            return result;
    }
}

static enum rtf_packed measure_slot(struct rtf_pack *p, uint64_t slot, struct rtf_use *use) {
    const uint64_t least = RTF_PREAMBLE - RTF_EXTENTS;
    uint8_t head[RTF_EXTENTS];
    uint64_t at = 0, extents;
    for (;; at += RTF_EXTENTS + extents) {
        const enum rtf_packed result = next_buffer(p, slot, &at, head, &extents);
        if (result != RTF_PACKED || at == p->control.slot_size)
            return result;
        use->bytes += RTF_EXTENTS + extents;
        use->records += extents > least ? extents - least : 0;
    }
}

enum rtf_packed rtf_pack_measure(struct rtf_pack *p, struct rtf_use *use) {
    const struct rtf_control *c = &p->control;
    enum rtf_packed result = RTF_PACKED;
    *use = (struct rtf_use){.slots = c->next_slot < c->nr_slots ? c->next_slot : c->nr_slots};
    for (uint64_t i = 0; i < use->slots && result == RTF_PACKED; i++)
        if (!is_listed(p, i))
            result = measure_slot(p, i, use);
    use->bytes += c->next_function * sizeof(struct rtf_function) + c->next_object * sizeof(struct rtf_object);
    return result;
}

enum rtf_packed rtf_pack_run(struct rtf_pack *p) {
    const struct rtf_control *c = &p->control;
    enum rtf_packed result = rtf_pack_check(p);
    if (result == RTF_PACKED)
        result = copy_head(p);
    if (result == RTF_PACKED)
        result = copy_list(p, c->function_slots, RTF_FUNCTION_SLOTS, c->next_function, sizeof(struct rtf_function));
    if (result == RTF_PACKED)
        result = copy_list(p, c->object_slots, RTF_OBJECT_SLOTS, c->next_object, sizeof(struct rtf_object));
    const bool wrapped = c->next_slot > c->nr_slots;
    const uint64_t count = wrapped ? c->nr_slots : c->next_slot, first = wrapped ? c->next_slot % c->nr_slots : 0;
    for (uint64_t i = 0; i < count && result == RTF_PACKED; i++)
        if (!is_listed(p, (first + i) % c->nr_slots))
            result = copy_slot(p, (first + i) % c->nr_slots);
    return result;
}
