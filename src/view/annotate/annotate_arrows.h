/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_ARROWS_H
#define PFR_VIEW_ANNOTATE_ARROWS_H
/* Arrows of jumps beside the rows. */
#include "view/annotate/annotate_rows.h"

#define ARROW_LANES 6u

struct arrows {
    uint8_t *inside; /* by row: lanes that a jump goes through, starts or ends in */
    struct arrow {
        uint32_t from, to; /* indexes of rows */
        uint8_t lane;      /* ARROW_LANES: no lane was free */
    } * at;
    size_t count, room, rows;
    uint32_t *first_end, *ends; /* by row: index of its first arrow in `ends`; with one more entry at the end */
    unsigned lanes;             /* number of lanes in use */
};

pfr_status arrows_make(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err);
/* Draws 2 * lanes + 1 columns beside row `index`. */
void arrows_draw(const struct arrows *arrows, size_t index, struct output *out);
/* Whether a later row jumps back to this one: it is the first instruction of a loop. */
bool arrows_loop(const struct arrows *arrows, size_t index);
void arrows_free(struct annotate *a, struct arrows *arrows);

#endif
