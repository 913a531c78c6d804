/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes (elf(5)): three words, a name and a descriptor, each padded to 4 bytes, or to 8 in a section aligned to 8. They
 * are read piece by piece. Any number of sections may refer to the same bytes, so the number of notes read per object
 * is limited.
 */
#include <elf.h>
#include <string.h>
#include "symbol/elf/elf_object.h"
#include "base/io/exact_io.h"

#define RUN_MOST ((uint64_t)1 << 20) /* bytes of one section or segment of notes */
#define NOTES_MOST ((size_t)1 << 16) /* notes read per object */
#define NAME_BYTES 4u                /* "GNU" and its NUL */

struct notes {
    const struct elf_object *object;
    uint64_t at, end, align;
};

static bool is_build_id(const struct elf_note *note, const uint8_t *name) {
    return note->type == NT_GNU_BUILD_ID && note->name_size == NAME_BYTES && memcmp(name, "GNU", NAME_BYTES) == 0 &&
           note->size > 0 && note->size <= BUILD_ID_MOST;
}

static uint64_t fill_up(uint64_t size, uint64_t align) {
    return (size + align - 1) & ~(align - 1);
}

/* Reads the next note; false at the end. *text: offset of its descriptor. */
static bool next_note(struct notes *n, struct elf_note *note, uint8_t name[NAME_BYTES], uint64_t *text) {
    uint8_t bytes[16];
    const size_t head = elf_note_bytes(n->object->form);
    const uint64_t left = n->end - n->at;
    if (left < head || !read_exactly(n->object->fd, bytes, left < sizeof bytes ? head : sizeof bytes, n->at))
        return false;
    elf_note_load(bytes, n->object->form, note);
    const uint64_t before = fill_up(head + (uint64_t)note->name_size, n->align);
    if (before > left || note->size > left - before)
        return false;
    memset(name, 0, NAME_BYTES);
    if (left >= sizeof bytes)
        memcpy(name, bytes + head, NAME_BYTES);
    *text = n->at + before;
    const uint64_t whole = fill_up(before + note->size, n->align);
    n->at = whole < left ? n->at + whole : n->end;
    return true;
}

/* Copies the build-id if it is among these notes. */
static bool find_build_id(struct notes n, size_t *seen, struct build_id *id) {
    struct elf_note note;
    uint8_t name[NAME_BYTES];
    uint64_t text;
    for (; *seen < NOTES_MOST && next_note(&n, &note, name, &text); ++*seen)
        if (is_build_id(&note, name) && read_exactly(n.object->fd, id->bytes, note.size, text)) {
            id->size = note.size;
            return true;
        }
    return false;
}

/* Returns the notes at this place; empty if the place is outside the file or the notes are too large. */
static struct notes run_of(const struct elf_object *object, uint64_t offset, uint64_t size, uint64_t align) {
    if (size > RUN_MOST || offset > object->file_size || size > object->file_size - offset)
        size = offset = 0;
    return (struct notes){object, offset, offset + size, align == 8 ? 8 : 4};
}

static bool find_in_sections(const struct elf_object *object, size_t *seen, struct build_id *id) {
    for (size_t i = 1; i < object->section_count; i++) {
        const struct elf_section *s = &object->sections[i];
        if (s->type == SHT_NOTE && find_build_id(run_of(object, s->offset, s->size, s->align), seen, id))
            return true;
    }
    return false;
}

static bool find_in_segments(const struct elf_object *object, size_t *seen, struct build_id *id) {
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct elf_segment *s = &object->segments[i];
        if (s->type == PT_NOTE && find_build_id(run_of(object, s->offset, s->size, s->align), seen, id))
            return true;
    }
    return false;
}

void elf_read_build_id(struct elf_object *object, struct build_id *id) {
    size_t seen = 0;
    id->size = 0;
    if (!find_in_sections(object, &seen, id))
        find_in_segments(object, &seen, id);
}
