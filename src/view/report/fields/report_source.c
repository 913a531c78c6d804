/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort keys srcline and srcfile: the base name of the source file, and the line. As in perf, an address without
 * line information is shown as "??:0" if the object was read; otherwise as symbol+offset, or as the offset in the
 * object.
 */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN_LINE "??:0"
#define PLACE_ROOM 64u /* for the suffix after a name */

/* A sampled frame has the line of its address; a frame in a callchain has the line of its function. */
static const struct profile_line *line_of(const struct report *r, uint32_t frame) {
    const struct frame_lines *lines = &r->profile->lines[frame & ~NODE_APART];
    return frame & NODE_APART ? &lines->sampled : &lines->own;
}

/* perf does not look up lines in the kernel's own objects. */
static bool was_read(const struct report *r, uint32_t frame) {
    const struct profile_frame *f = report_frame(r, frame);
    return f->object != NO_OBJECT && r->profile->state.objects.at[f->object].kind == OBJECT_FILE &&
           r->profile->lines[frame & ~NODE_APART].has_names;
}

static const char *shown_path(const struct report *r, const char *path) {
    const char *slash = r->options->full_paths ? NULL : strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns NO_TEXT if memory runs out; rows_find then sees the error in cell.out. */
static uint64_t intern_cell(struct report *r, const char *name, size_t length, const char *behind) {
    struct profile *p = r->profile;
    const size_t more = strlen(behind);
    uint32_t text = NO_TEXT;
    pfr_status st = PFR_OK;
    char *joined = mem_alloc(p->memory, length + more + 1, 1);
    if (joined) {
        memcpy(joined, name, length);
        memcpy(joined + length, behind, more + 1);
        st = intern_put(&p->texts, joined, length + more, &text, NULL);
    } else
        st = mem_fail(p->memory, NULL, "report");
    mem_free(p->memory, joined, length + more + 1, 1);
    if (st < 0 && r->cell.out.status >= 0)
        r->cell.out.status = st;
    return st < 0 ? NO_TEXT : text;
}

/* Interns `name` with a suffix. `name` may be an interned text itself, which interning can move; intern_cell copies it
   first. */
static uint64_t join_cell(struct report *r, struct intern_text name, const char *behind) {
    return intern_cell(r, (const char *)name.bytes, name.length, behind);
}

static uint64_t place_without_line(struct report *r, const struct profile_frame *f, bool was_read) {
    char behind[PLACE_ROOM];
    if (f->object == NO_OBJECT || was_read)
        return intern_cell(r, UNKNOWN_LINE, strlen(UNKNOWN_LINE), "");
    if (f->text != NO_TEXT) {
        snprintf(behind, sizeof behind, "+%" PRIu64, f->address - f->start);
        return join_cell(r, intern_get(&r->profile->texts, f->text), behind);
    }
    snprintf(behind, sizeof behind, "[%" PRIx64 "]", f->address);
    const uint32_t name = r->profile->state.objects.at[f->object].short_name;
    return join_cell(r, intern_get(&r->profile->state.names, name), behind);
}

uint64_t identity_of_line(struct report *r, const struct cell_key *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    char behind[PLACE_ROOM];
    if (!f)
        return intern_cell(r, UNKNOWN_LINE, strlen(UNKNOWN_LINE), "");
    const struct profile_line *line = line_of(r, spot->frame);
    if (line->file == NO_TEXT)
        return place_without_line(r, f, was_read(r, spot->frame));
    const char *name = shown_path(r, intern_chars(&r->profile->texts, line->file));
    snprintf(behind, sizeof behind, ":%" PRIu32, line->line);
    return intern_cell(r, name, strlen(name), behind);
}

uint64_t identity_of_source_file(struct report *r, const struct cell_key *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    const uint32_t file = f ? line_of(r, spot->frame)->file : NO_TEXT;
    const char *name = file == NO_TEXT ? "" : shown_path(r, intern_chars(&r->profile->texts, file));
    return intern_cell(r, name, strlen(name), "");
}

void cell_line(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    write_text_cell(r, id, to, "");
}
