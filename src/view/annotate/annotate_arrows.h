/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_ARROWS_H
#define PFR_VIEW_ANNOTATE_ARROWS_H
/* Arrows beside the rows, for jumps. The vertical lines of arrows are in columns, called lanes; lane 0 is next to the
   code. */
#include "view/annotate/annotate_rows.h"

#define ARROW_LANES 6u

struct arrows {
    uint8_t *inside; /* by row: bit mask of the lanes in use, by arrows that pass, start or end here */
    struct arrow {
        uint32_t from, to; /* indexes of rows */
        uint8_t lane;      /* ARROW_LANES: no lane was free */
    } * at;
    size_t count, room, rows;
    uint32_t *first_end, *ends; /* ends: the arrows at each row; first_end: by row (and one more), index in `ends` */
    unsigned lanes;             /* number of lanes in use */
};

pfr_status arrows_make(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err);
/* Draws the arrows beside row `index`, in 2 * lanes + 1 columns. */
void arrows_draw(const struct arrows *arrows, size_t index, struct output *out);
/* Whether a later row jumps back to row `index`, which is then the first instruction of a loop. */
bool arrows_loop(const struct arrows *arrows, size_t index);
void arrows_free(struct annotate *a, struct arrows *arrows);

#endif
