/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of a page: see page_latencies.h. */
#include "export/page/page_latencies.h"

#include "base/memory/fail.h"

#include <perfray/spans.h>

void page_latencies_free(struct page_latencies *l) {
    if (l->memory)
        mem_free(l->memory, l->at, l->room, sizeof *l->at);
}

static pfr_status keep_called(struct page_latencies *l, const struct model_latency *of_func, uint32_t nr_funcs,
                              enum page_side side, pfr_error *err) {
    for (uint32_t func = 0; func < nr_funcs; func++) {
        if (!of_func[func].count)
            continue;
        void *grown = mem_grow(l->memory, l->at, l->count, &l->room, 256, sizeof *l->at);
        if (!grown)
            return mem_fail(l->memory, err, "latencies");
        l->at = grown;
        l->at[l->count++] = (struct page_latency){of_func[func], func, (uint8_t)side};
    }
    return PFR_OK;
}

/* Sets func_of for the symbols of a side. */
static void find_funcs(const struct page_tables *t, const uint32_t *symbols, size_t count, uint32_t *func_of) {
    for (size_t id = 0; id < count; id++)
        func_of[id] = t->func_of_symbol[symbols ? symbols[id] : id];
}

pfr_status page_latencies_add(struct page_latencies *l, const struct page_tables *t, const pfr_model *model,
                              const uint32_t *symbols, enum page_side side, pfr_error *err) {
    const size_t nr_symbols = (size_t)pfr_model_count(model, PFR_TABLE_SYMBOL) + 1, nr_funcs = t->nr_funcs;
    l->memory = t->memory;
    if (!pfr_model_call_count(model))
        return PFR_OK;
    uint32_t *func_of = mem_alloc(l->memory, nr_symbols, sizeof *func_of);
    struct model_latency *of_func = mem_zeroed(l->memory, nr_funcs, sizeof *of_func);
    pfr_status st = func_of && of_func ? PFR_OK : mem_fail(l->memory, err, "latencies");
    if (st >= 0) {
        find_funcs(t, symbols, nr_symbols, func_of);
        st = model_latencies(model, func_of, (uint32_t)nr_funcs, of_func, err);
    }
    if (st >= 0)
        st = keep_called(l, of_func, (uint32_t)nr_funcs, side, err);
    mem_free(l->memory, func_of, func_of ? nr_symbols : 0, sizeof *func_of);
    mem_free(l->memory, of_func, of_func ? nr_funcs : 0, sizeof *of_func);
    return st;
}
