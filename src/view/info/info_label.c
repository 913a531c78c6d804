/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of the overview. */
#include "view/info/info_parts.h"

void overview_label(pfr_output *to, const char *label) {
    say(to, "%-14s", label);
}
