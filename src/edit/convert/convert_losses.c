/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of a conversion: every pass counts them, but each is reported once. */
#include "edit/convert/convert_losses.h"

void conversion_lost(struct conversion *c, const pfr_error *hole) {
    c->counts.lost++;
    if (hole->offset != PFR_NO_OFFSET)
        c->counts.lost_bytes += hole->length;
    if (!c->writer || c->counts.lost <= c->losses_reported) /* already reported by an earlier pass */
        return;
    c->losses_reported = c->counts.lost;
    if (c->options->hole)
        c->options->hole(c->options->context, hole);
}
