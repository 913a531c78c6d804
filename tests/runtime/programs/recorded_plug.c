/* SPDX-License-Identifier: Apache-2.0 */
/* Built twice, as plug_a and plug_b: the objects differ only in the name of their function and in the number of its
 * recursive calls. */
#include "recorded_account.h"

CALLED void PLUG(struct account *to, long count) {
    __atomic_fetch_add(&to->edges[NOBODY][PLUG_WHO], 1, __ATOMIC_RELAXED);
    if (count > 0)
        PLUG(to, count - PLUG_STEP);
}
