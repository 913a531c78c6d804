/* SPDX-License-Identifier: Apache-2.0 */
/* Reports unreadable ranges between samples. */
#include "view/script/script_hole.h"

void script_report_hole(struct script *s, const pfr_error *hole) {
    s->lossy = true;
    if (s->hole)
        s->hole(s->context, hole);
}
