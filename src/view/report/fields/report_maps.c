/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort key dso_size: the size of the map that contains a frame. The profile does not record in which process a
 * frame was first seen, so the largest of several maps at the same place is used. The kernel's size is that of its
 * text, as recorded. Maps are split into pieces that do not overlap, so that lookups can bisect them.
 */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_maps.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"

#include <stdlib.h>
#include <string.h>

/* A map; `from` is in the units of profile_frame.address. */
struct mapped {
    uint64_t from, size, object;
};

static bool is_file(const struct report *r, uint32_t object) {
    const uint8_t kind = r->profile->state.objects.at[object].kind;
    return kind == OBJECT_FILE || kind == OBJECT_VDSO || kind == OBJECT_OTHER;
}

static pfr_status put_map(struct report *r, const struct map *map, pfr_error *err) {
    uint32_t number;
    if (map->object == NO_OBJECT || map->object >= r->profile->state.objects.keys.count)
        return PFR_OK;
    const struct mapped one = {.from = is_file(r, map->object) ? map->pgoff : map->start,
                               .size = map->last - map->start + 1,
                               .object = map->object};
    return intern_put(&r->mapped.names, &one, sizeof one, &number, err);
}

static pfr_status put_maps(struct report *r, const struct map *maps, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++)
        PFR_TRY(put_map(r, &maps[i], err));
    return PFR_OK;
}

static pfr_status put_all_maps(struct report *r, pfr_error *err) {
    const struct spaces *all = &r->profile->state.spaces;
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->at[i].nr_runs; k++)
            PFR_TRY(put_maps(r, all->at[i].runs[k].maps, all->at[i].runs[k].count, err));
        PFR_TRY(put_maps(r, all->at[i].newest, all->at[i].nr_newest, err));
    }
    return PFR_OK;
}

/* The kernel's piece covers all addresses. */
static struct report_map piece_of(const struct report *r, uint32_t number) {
    struct mapped one;
    memcpy(&one, intern_get(&r->mapped.names, number).bytes, sizeof one);
    struct report_map piece = {
        .object = one.object, .from = one.from, .last = one.from + one.size - 1, .size = one.size};
    if (r->profile->state.objects.at[one.object].kind == OBJECT_KERNEL)
        piece.from = 0, piece.last = UINT64_MAX;
    if (piece.last < piece.from)
        piece.last = UINT64_MAX;
    return piece;
}

static int by_place(const void *a, const void *b) {
    const struct report_map *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* Adds the next map, in order of start address, to `count` pieces that do not overlap; returns the new number of
 * pieces. A map that is at least as large as the piece it overlaps does not end before the piece; it replaces the piece
 * from the start of the map on. If the map is smaller, only its part after the end of the piece is kept. */
static size_t lay_over(struct report_map *pieces, size_t count, struct report_map map) {
    struct report_map *top = NULL;
    while (count && pieces[count - 1].object == map.object) {
        top = &pieces[count - 1];
        if (top->size > map.size || top->from < map.from)
            break;
        count--;
        top = NULL;
    }
    if (top && top->last >= map.from && top->size <= map.size)
        top->last = map.from - 1;
    else if (top && top->last >= map.last)
        return count;
    else if (top && top->last >= map.from)
        map.from = top->last + 1;
    pieces[count] = map;
    return count + 1;
}

pfr_status report_learn_maps(struct report *r, pfr_error *err) {
    PFR_TRY(put_all_maps(r, err));
    const size_t most = r->mapped.names.count;
    r->mapped.pieces = mem_alloc(r->memory, most, sizeof *r->mapped.pieces);
    if (!r->mapped.pieces)
        return mem_fail(r->memory, err, "maps");
    for (uint32_t i = 0; i < most; i++)
        r->mapped.pieces[i] = piece_of(r, i);
    if (most)
        qsort(r->mapped.pieces, most, sizeof *r->mapped.pieces, by_place);
    for (size_t i = 0; i < most; i++)
        r->mapped.count = lay_over(r->mapped.pieces, r->mapped.count, r->mapped.pieces[i]);
    return PFR_OK;
}

void report_free_maps(struct report *r) {
    mem_free(r->memory, r->mapped.pieces, r->mapped.names.count, sizeof *r->mapped.pieces);
    intern_free(&r->mapped.names);
}

/* Returns 0 if nothing is mapped at the frame. */
static uint64_t size_at(const struct report *r, const struct profile_frame *f) {
    size_t from = 0, to = r->mapped.count; /* the piece is before `to` */
    while (from < to) {
        const size_t half = from + (to - from) / 2;
        const struct report_map *piece = &r->mapped.pieces[half];
        if (piece->object < f->object || (piece->object == f->object && piece->from <= f->address))
            from = half + 1;
        else
            to = half;
    }
    const struct report_map *piece = from ? &r->mapped.pieces[from - 1] : NULL;
    return piece && piece->object == f->object && f->address <= piece->last ? piece->size : 0;
}

uint64_t identity_of_dso_size(struct report *r, const struct cell_key *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    const uint64_t size = f && f->object != NO_OBJECT ? size_at(r, f) : 0;
    return size ? size : UINT64_MAX;
}
