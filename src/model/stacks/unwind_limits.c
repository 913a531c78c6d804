/* SPDX-License-Identifier: Apache-2.0 */
/* Memory shares of unwind tables, and reports about their limits: see unwind_limits.h. */
#include "model/stacks/unwind_limits.h"

#include "base/memory/fail.h"

#include <inttypes.h>

#define OBJECT_PART 2u /* 1 / OBJECT_PART of the limit is for one object */
#define SPARE_PART 4u  /* 1 / SPARE_PART of the limit is left for everything else, including names (name_limits.h) */

void unwind_share_all(struct memory *share, struct memory *memory) {
    memory_share(share, memory);
    share->spare = memory->limit / SPARE_PART;
}

void unwind_share_object(struct memory *share, struct memory *all) {
    memory_share(share, all);
    share->limit = all->limit / OBJECT_PART;
}

bool unwind_limits_report(const struct unwind_limits *limits, const uint64_t stacks[UNWIND_LIMITS],
                          void (*on_hole)(void *context, const pfr_error *hole), void *context) {
    static const char *const why[UNWIND_LIMITS] = {
        [UNWIND_LIMIT_MEMORY] = "no room for tables (limit memory)",
        [UNWIND_LIMIT_WORK] = "tables need more work than their size justifies",
    };
    char text[LIMITED_TEXT_ROOM];
    bool any = false;
    for (unsigned i = UNWIND_LIMIT_NONE + 1; i < UNWIND_LIMITS; i++) {
        pfr_error hole;
        if (stacks[i] == 0)
            continue;
        pfr_fail(&hole, PFR_HOLE, PFR_NO_OFFSET, 0, "memory", "%" PRIu64 " stack%s in %s: %s", stacks[i],
                 stacks[i] == 1 ? " ends" : "s end", limited_objects_text(&limits->at[i], "in", text), why[i]);
        on_hole(context, &hole);
        any = true;
    }
    return any;
}
