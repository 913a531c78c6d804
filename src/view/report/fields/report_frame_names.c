/* SPDX-License-Identifier: Apache-2.0 */
/* Names, objects and sizes of the symbol of a frame. */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_cells.h"
#include "base/memory/fail.h"
#include "base/tables/hash_seed.h"
#include <string.h>

uint64_t frame_object_name(const struct profile *p, uint32_t frame) {
    const uint32_t object = p->frames[frame & ~NODE_APART].object;
    return object == NO_OBJECT ? NO_TEXT : p->state.objects.at[object].short_name;
}

uint64_t frame_symbol_size(const struct profile *p, uint32_t frame) {
    const struct profile_frame *f = &p->frames[frame & ~NODE_APART];
    return f->text != NO_TEXT ? f->size : UINT64_MAX;
}

uint64_t symbol_number(struct report *r, uint32_t frame) {
    const uint32_t number = frame & ~NODE_APART;
    if (!report_frame(r, frame))
        return NO_FRAME;
    const uint32_t form = frame_form(r->profile, frame);
    return r->symbol_of[form ? r->profile->nr_frames + number : number] | form;
}
