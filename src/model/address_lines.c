/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of addresses: see address_lines.h. */
#include "model/address_lines.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 1024

static bool try_lines(struct address_names *n, struct named_object *o, const struct symbol_object *at) {
    return debug_lines_open(at, n->memory, &o->lines) == SYMBOL_FOUND;
}

/* By build-id below a folder; symfs as in struct symbol_object. */
static bool try_kept(struct address_names *n, struct named_object *o, const char *symfs, const char *folder,
                     const char *rest) {
    char path[PATH_ROOM];
    size_t size;
    const uint8_t *id = o->source->build_id(o->handle, &size);
    const struct symbol_object at = {
        .kind = SYMBOL_USER, .path = path, .symfs = symfs, .build_id = id, .build_id_size = size};
    return build_id_path(path, sizeof path, folder, id, size, rest) && try_lines(n, o, &at);
}

/* The object that is open has this build-id: its debugging information must have the same. */
static bool try_own(struct address_names *n, struct named_object *o, const struct object *what) {
    size_t size;
    const uint8_t *id = o->source->build_id(o->handle, &size);
    const struct symbol_object own = {.kind = SYMBOL_USER,
                                      .path = intern_chars(&n->state->names, what->path),
                                      .symfs = n->options.symfs,
                                      .build_id = id,
                                      .build_id_size = size};
    return try_lines(n, o, &own);
}

static void open_lines(struct address_names *n, struct named_object *o, const struct object *what) {
    char folder[PATH_ROOM];
    const char *home = getenv("HOME");
    o->lines_asked = true;
    if (try_own(n, o, what) || try_kept(n, o, n->options.symfs, "/usr/lib/debug", ".debug") || !home ||
        strlen(home) + sizeof "/.debug" > sizeof folder)
        return;
    memcpy(stpcpy(folder, home), "/.debug", sizeof "/.debug");
    try_kept(n, o, NULL, folder, "/elf");
}

static void find_line(struct named_object *o, struct address_line *line) {
    struct source_frames frames;
    if (!o->lines || debug_lines_find(o->lines, line->address, &frames) != SYMBOL_FOUND)
        return;
    line->file = frames.at[0].file;
    line->line = frames.at[0].line;
}

pfr_status address_line_at(struct address_names *n, const struct place *place, uint64_t address,
                           struct address_line *line, pfr_error *err) {
    struct address_name name;
    *line = (struct address_line){.address = place->offset};
    if (place->object == NO_OBJECT || n->options.none || n->state->objects.at[place->object].kind != OBJECT_FILE)
        return PFR_OK;
    PFR_TRY(address_names_find(n, place->object, address, place->offset, &name, err)); /* which opens the object */
    struct named_object *o = &n->objects[place->object];
    line->has_names = o->handle != NULL;
    if (!o->handle)
        return PFR_OK;
    const struct symbol_segments segments = o->source->segments(o->handle);
    if (segments.count && !segments_to_address(segments, place->offset, &line->address))
        return PFR_OK;
    n->memory->failed = PFR_OK;
    if (!o->lines_asked)
        open_lines(n, o, &n->state->objects.at[place->object]);
    find_line(o, line);
    return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "lines") : PFR_OK;
}
