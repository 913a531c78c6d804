/* SPDX-License-Identifier: Apache-2.0 */
/* Expands fdr_follow.def. */
#include "wire/fdr_follow.h"

#include "wire/layout.h"

struct fdr_next {
    uint8_t layout, from, to;
};

#define AFTER(record) static const struct fdr_next after_##record[] = {
#define NEXT(record, from, to) {L_##record, from, to},
#define END                                                                                                            \
    { 0, 0, 0 }                                                                                                        \
    }                                                                                                                  \
    ;
#include "wire/fdr_follow.def"
#undef AFTER
#undef NEXT
#undef END

enum { L_begin = L_NONE };

static const struct {
    uint8_t after;
    const struct fdr_next *next;
} lists[] = {
#define AFTER(record) {L_##record, after_##record},
#define NEXT(...)
#define END
#include "wire/fdr_follow.def"
#undef AFTER
#undef NEXT
#undef END
};

static unsigned value_of(unsigned layout) {
    return layout == L_begin ? FDR_BEGIN : LAYOUT_VALUE(layout_at(layout)->id);
}

uint32_t fdr_may_follow(unsigned version, unsigned after) {
    uint32_t may = 0;
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (value_of(lists[i].after) == after)
            for (const struct fdr_next *n = lists[i].next; n->layout; n++)
                if (version >= n->from && version <= n->to)
                    may |= 1u << value_of(n->layout);
    return may;
}
