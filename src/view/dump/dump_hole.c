/* SPDX-License-Identifier: Apache-2.0 */
/* Shows unreadable ranges between records, in each form. */
#include "view/dump/dump_hole.h"

void dump_report_hole(struct dump *d, const pfr_error *hole) {
    if (d->quiet)
        return;
    d->reported++;
    if (d->options.hole)
        d->options.hole(d->options.hole_context, hole);
}
