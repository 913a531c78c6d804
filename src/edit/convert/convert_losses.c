/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of a conversion: counted, and reported once. */
#include "edit/convert/convert_losses.h"

/* bytes of an attr that tell how samples are read */

void conversion_lost(struct conversion *c, const pfr_error *hole) {
    c->counts.lost++;
    if (hole->offset != PFR_NO_OFFSET)
        c->counts.lost_bytes += hole->length;
    if (!c->writer || c->counts.lost <= c->told) /* by a pass before this one */
        return;
    c->told = c->counts.lost;
    if (c->options->hole)
        c->options->hole(c->options->context, hole);
}
