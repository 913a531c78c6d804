/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each worker that reads a chunk has paths of its own. Its sums are not delivered to the sink, but added to the sums of
 * the first worker's paths. Only the first worker delivers sums, so that the sink handles each path once. For whole
 * paths this is required: in all chunks but the first, paths begin with a base (calls_pending.c), whose meaning is only
 * known at the end of the previous chunk.
 */
#include "model/calls/calls_join.h"
#include "model/calls/calls_gather.h"
#include "model/calls/calls_pair.h"
#include "model/calls/calls_pending.h"

bool join_takes_sums(const struct calls_request *request) {
    return request->gather == CALLS_SUMMED && request->reach < 2;
}

/* Paths that consist of one function are the same in all chunks. Longer paths may include a caller that was open before
   the chunk, so they can be joined only as sums. */
bool join_can_be(const struct calls_request *request) {
    return request->reach == 1 || join_takes_sums(request);
}

pfr_status join_begin(struct calls_worker_state *from, pfr_error *err) {
    if (from->bases == 0)
        return PFR_OK;
    from->base_is = mem_zeroed(&from->memory, from->bases, sizeof *from->base_is);
    return from->base_is ? PFR_OK : mem_fail(&from->memory, err, "paths");
}

void join_free(struct calls_worker_state *from) {
    mem_free(&from->memory, from->base_is, from->base_is ? from->bases : 0, sizeof *from->base_is);
    from->base_is = NULL;
}

/* Converts a path of `from`, whose parent is joined[parent] in `to`. If `from` is the first worker itself, only paths
   below a base change. */
static pfr_status join_path(struct calls_worker_state *to, const struct calls_worker_state *from, uint32_t path,
                            uint32_t *joined, pfr_error *err) {
    const struct call_path one = from->paths.at[path];
    uint32_t base;
    if (pending_is_base(one.function, &base))
        joined[path] = from->base_is[base];
    else if (to == from && joined[one.parent] == one.parent)
        joined[path] = path;
    else
        return worker_child(to, joined[one.parent], one.function, &joined[path], err);
    return PFR_OK;
}

/* Adds the sums of converted paths to the new paths. If `from` is `to`, the sums of the old paths become zero. The
   path that results from a conversion is never itself converted, so no sum is moved twice. */
static void move_sums(struct calls_worker_state *to, struct calls_worker_state *from, const uint32_t *joined) {
    const uint32_t count = from->gathered.nr_touched;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t path = from->gathered.touched[i];
        const struct path_sum sum = from->gathered.sums[path];
        if (to == from && joined[path] == path)
            continue;
        from->gathered.sums[path] = (struct path_sum){0, 0};
        gather_sum(to, joined[path], &sum);
    }
    from->gathered.nr_touched = to == from ? from->gathered.nr_touched : 0;
}

/* Paths are converted in ascending order, because parents have smaller numbers. The meaning of bases must be known. */
static pfr_status join_paths(struct calls_worker_state *to, struct calls_worker_state *from, uint32_t count,
                             uint32_t *joined, pfr_error *err) {
    joined[PATH_ROOT] = PATH_ROOT;
    joined[PATH_LIMIT] = PATH_LIMIT;
    for (uint32_t path = PATH_LIMIT + 1; path < count; path++)
        PFR_TRY(join_path(to, from, path, joined, err));
    if (to->totals.limited)
        return PFR_END;
    move_sums(to, from, joined);
    return PFR_OK;
}

pfr_status join_sums(struct calls_worker_state *to, struct calls_worker_state *from, pfr_error *err) {
    const uint32_t count = from->paths.count;
    if (to == from && from->bases == 0)
        return PFR_OK;
    uint32_t *joined = mem_alloc(&from->memory, count, sizeof *joined);
    const pfr_status st = joined ? join_paths(to, from, count, joined, err) : mem_fail(&from->memory, err, "paths");
    mem_free(&from->memory, joined, joined ? count : 0, sizeof *joined);
    return st;
}
