/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_LATENCIES_H
#define PFR_EXPORT_PAGE_LATENCIES_H
/* Latencies of all finished calls of a page by function, those that the page omits included: the numbers of perfray
   latency. */
#include "export/page/page_pair.h"
#include "export/page/page_tables.h"
#include "model/open/model_latencies.h"

struct page_latency {
    struct model_latency calls;
    uint32_t func;
    uint8_t side; /* enum page_side */
};

struct page_latencies {
    struct memory *memory;
    struct page_latency *at;
    size_t count, room;
};

/* Adds the calls of one side. `symbols` has the symbol of the page's model for each symbol of `model`, by id; NULL: it
   is the page's model. Errors: MEMORY, LIMIT, and those of reading calls. page_latencies_free must always be called
   afterwards. */
pfr_status page_latencies_add(struct page_latencies *latencies, const struct page_tables *tables,
                              const pfr_model *model, const uint32_t *symbols, enum page_side side, pfr_error *err);
void page_latencies_free(struct page_latencies *latencies);

#endif
