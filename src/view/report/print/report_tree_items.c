/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the nodes from which a call tree grows. */
#include "base/memory/fail.h"
#include "view/report/print/report_tree_growth.h"

pfr_status tree_make_room(struct report *r, struct tree_items *list, size_t last, pfr_error *err) {
    void *grown = mem_grow(r->memory, list->at, last, &list->room, 256, sizeof *list->at);
    if (!grown)
        return mem_fail(r->memory, err, "tree");
    list->at = grown;
    return PFR_OK;
}

pfr_status tree_push_item(struct report *r, struct tree_items *list, struct tree_item item, pfr_error *err) {
    PFR_TRY(tree_make_room(r, list, list->count, err));
    list->at[list->count++] = item;
    return PFR_OK;
}
