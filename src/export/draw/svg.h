/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_DRAW_SVG_H
#define PFR_EXPORT_DRAW_SVG_H
/*
 * A flame graph as one SVG file (w3.org/TR/SVG2): boxes with their names, a style and a script that are the same in
 * every picture, and nothing from elsewhere. Each box is a small svg of its own, which cuts off what does not fit into
 * it, with its place in percent of the whole, so that the script widens boxes without any knowledge of pixels.
 *
 * The head (title, search) and the foot (details, legend) are groups after the boxes: the script keeps them at the
 * edges of the window while the boxes scroll.
 *
 * What comes from the recording or from the user is text between tags, and goes through out_markup.
 */
#include "export/draw/geometry.h"
#include "export/sink.h"

struct picture {
    const struct exporting *e;
    const struct geometry *geometry;
    const char *title, *subtitle; /* plain: they are escaped here */
    uint32_t width;               /* pixels */
    bool fixed;                   /* as wide also in a window that is not */
    bool upward;                  /* the whole is at the bottom */
};

/* Returns how many boxes are not drawn because the room of the output is used up. */
uint64_t svg_write(const struct picture *picture, struct output *to);

/* 1,234,567 */
void svg_number(struct output *to, uint64_t value);
/* A count, a duration or a sum of periods with its unit: "1,024 samples", "12.3 ms", "4.56 G cycles". */
void svg_counted(const struct exporting *e, uint64_t number, struct output *to);

#endif
