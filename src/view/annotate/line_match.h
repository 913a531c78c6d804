/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LINE_MATCH_H
#define PFR_VIEW_LINE_MATCH_H
/*
 * Pairs the lines of an edited text with those of the earlier version by their contents (white space at the ends of a
 * line does not count). Lines that occur exactly once in both texts are anchors. The longest run of anchors in the same
 * order is kept, and the gaps between them are matched in the same way. The remaining lines may have moved: those that
 * occur exactly once among the remaining lines of both texts are paired, together with their equal neighbours.
 *
 *     struct line_match match;
 *     line_match_make(&match, base, nr_base, changed, nr_changed, memory, err);
 *     match.changed_of[12 - 1]      the number of line 12 in the changed text; 0: it is gone
 */
#include "base/memory/fail.h"
#include "base/tables/intern.h"

struct line_match {
    struct memory *memory;
    uint32_t *changed_of, *base_of; /* [line - 1]: the number in the other text; 0: gone or new */
    uint32_t *place_of; /* as changed_of; for a line that is gone, the nearest earlier line that is not gone */
    size_t nr_base, nr_changed;
};

/* Lines are NUL-terminated. Errors: MEMORY, LIMIT. line_match_free must be called after every outcome. */
pfr_status line_match_make(struct line_match *match, const char *const *base, size_t nr_base,
                           const char *const *changed, size_t nr_changed, struct memory *memory, pfr_error *err);
void line_match_free(struct line_match *match);

#endif
