/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_DRAW_SVG_H
#define PFR_EXPORT_DRAW_SVG_H
/*
 * A flame graph as a self-contained SVG file (w3.org/TR/SVG2): boxes with their names, and a style and a script that
 * are the same in every file. Each box is a nested svg element, which clips its text. Positions are in percent of the
 * whole, so that the script can widen boxes without computing pixels.
 *
 * The head (title, search) and the foot (details, legend) are groups after the boxes; the script keeps them at the
 * edges of the window while the boxes scroll.
 *
 * Texts from the recording or the user occur only between tags, escaped by out_markup.
 */
#include "export/draw/geometry.h"
#include "export/sink.h"

struct picture {
    const struct exporting *e;
    const struct geometry *geometry;
    const char *title, *subtitle; /* unescaped */
    uint32_t width;               /* pixels */
    bool fixed;                   /* keep the width in narrower or wider windows */
    bool upward;                  /* draw the box of the whole at the bottom */
};

/* Returns the number of boxes omitted because the output reached its limit. */
uint64_t svg_write(const struct picture *picture, struct output *to);

/* Writes a number with separators: "1,234,567". */
void svg_number(struct output *to, uint64_t value);
/* Writes a count, a duration or a sum of periods with its unit: "1,024 samples", "12.3 ms", "4.56 G cycles". */
void svg_counted(const struct exporting *e, uint64_t number, struct output *to);

#endif
