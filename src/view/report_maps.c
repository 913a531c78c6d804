/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort key dso_size: how large the map is that a frame is in. Which process a frame was met in first is not told,
 * so of several maps of one place the largest counts; that of the kernel is its text, as recorded.
 */
#include "view/report_cells.h"

#include "base/fail.h"

#include <string.h>

/* Places are what frames of the object have as `address`. */
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
    return intern_put(&r->maps, &one, sizeof one, &number, err);
}

static pfr_status put_maps(struct report *r, const struct map *maps, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++)
        PFR_TRY(put_map(r, &maps[i], err));
    return PFR_OK;
}

pfr_status report_learn_maps(struct report *r, pfr_error *err) {
    const struct spaces *all = &r->profile->state.spaces;
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->at[i].nr_runs; k++)
            PFR_TRY(put_maps(r, all->at[i].runs[k].maps, all->at[i].runs[k].count, err));
        PFR_TRY(put_maps(r, all->at[i].newest, all->at[i].nr_newest, err));
    }
    return PFR_OK;
}

/* 0: nothing is mapped there. */
static uint64_t size_at(const struct report *r, const struct profile_frame *f) {
    const bool anywhere = r->profile->state.objects.at[f->object].kind == OBJECT_KERNEL;
    uint64_t size = 0;
    for (uint32_t i = 0; i < r->maps.count; i++) {
        struct mapped one;
        memcpy(&one, intern_get(&r->maps, i).bytes, sizeof one);
        if (one.object == f->object && one.size > size && (anywhere || f->address - one.from < one.size))
            size = one.size;
    }
    return size;
}

uint64_t identity_of_dso_size(struct report *r, const struct spot *spot) {
    const struct profile_frame *f = report_frame(r, spot->frame);
    const uint64_t size = f && f->object != NO_OBJECT ? size_at(r, f) : 0;
    return size ? size : UINT64_MAX;
}
