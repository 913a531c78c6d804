/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort key dcacheline: data addresses grouped by cache line. A cache line of file-backed memory is the same in
 * every process that maps the file. Memory that belongs to no file is separate in each process. Accesses by the kernel
 * are separate from those by the program.
 */
#include "view/report/fields/report_cache_lines.h"
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"

#include <string.h>

#define LINE_BYTES 64u

struct cache_line {
    uint64_t address; /* of the line's first byte: an offset in the object; if the object is unknown, an address in the
                         process */
    uint32_t object;  /* NO_OBJECT: unknown */
    uint32_t pid;     /* the process, if the memory belongs to no file; else 0 */
    uint64_t mode;
};

static bool is_private(const struct report *r, uint32_t object) {
    const uint8_t kind = object == NO_OBJECT ? OBJECT_FILE : r->profile->state.objects.at[object].kind;
    return kind == OBJECT_ANONYMOUS || kind == OBJECT_MEMORY || kind == OBJECT_VDSO || kind == OBJECT_OTHER;
}

static struct cache_line line_of(const struct report *r, const struct cell_key *spot,
                                 const struct profile_place *place) {
    const struct profile_frame *data = report_frame(r, place->frame), *code = report_frame(r, spot->frame);
    const uint32_t object = data ? data->object : NO_OBJECT;
    const uint64_t address = object == NO_OBJECT ? place->address : data->address;
    const uint64_t pid = profile_value(r->profile, spot->group, PROFILE_PID);
    return (struct cache_line){.address = address - address % LINE_BYTES,
                               .object = object,
                               .pid = is_private(r, object) ? (uint32_t)pid : 0,
                               .mode = code ? code->cpumode : 0};
}

/* A cache line is shown with the lowest address accessed in it, because the order of accesses is not kept. */
static bool is_less(const struct report *r, uint32_t frame, uint32_t other) {
    const struct profile_frame *f = report_frame(r, frame), *g = report_frame(r, other);
    return f && (!g || f->address < g->address);
}

static pfr_status put_line(struct report *r, const struct cache_line *line, uint32_t frame, uint32_t *number,
                           pfr_error *err) {
    struct cache_lines *all = &r->cache_lines;
    const uint32_t before = all->keys.count;
    uint32_t *grown = mem_grow(r->memory, all->frames, before, &all->room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(r->memory, err, "report");
    all->frames = grown;
    PFR_TRY(intern_put(&all->keys, line, sizeof *line, number, err));
    if (*number == before || is_less(r, frame, grown[*number]))
        grown[*number] = frame;
    return PFR_OK;
}

/* If memory runs out, stores the error in r->cell.out; rows_find checks it and ends the report. */
uint64_t identity_of_cache_line(struct report *r, const struct cell_key *spot) {
    const struct profile_place *place = &r->profile->places[profile_value(r->profile, spot->group, PROFILE_ADDR)];
    const struct cache_line line = line_of(r, spot, place);
    uint32_t number = 0;
    const pfr_status st = put_line(r, &line, place->frame, &number, NULL);
    if (st < 0 && r->cell.out.status >= 0)
        r->cell.out.status = st;
    return number;
}

static struct cache_line line_at(const struct report *r, uint64_t id) {
    struct cache_line line = {0};
    if (id < r->cache_lines.keys.count)
        memcpy(&line, intern_get(&r->cache_lines.keys, (uint32_t)id).bytes, sizeof line);
    return line;
}

int collate_cache_lines(const struct report *r, uint64_t a, uint64_t b) {
    const struct cache_line x = line_at(r, a), y = line_at(r, b);
    if (x.mode != y.mode)
        return x.mode < y.mode ? -1 : 1;
    if (x.address != y.address)
        return x.address < y.address ? -1 : 1;
    return x.pid != y.pid ? (x.pid < y.pid ? -1 : 1) : (x.object > y.object) - (x.object < y.object);
}

void cell_cache_line(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct cache_line line = line_at(r, id);
    const struct profile_frame *f = id < r->cache_lines.keys.count ? report_frame(r, r->cache_lines.frames[id]) : NULL;
    write_level(&to->out, line.object == NO_OBJECT ? 'X' : row->level);
    if (f && f->text != NO_TEXT)
        write_text_cell(r, f->text, to, "");
    else
        write_address_cell(line.address, &to->out);
}

void cache_lines_free(struct report *r) {
    mem_free(r->memory, r->cache_lines.frames, r->cache_lines.room, sizeof *r->cache_lines.frames);
    intern_free(&r->cache_lines.keys);
}
