/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_REPORT_BUILDER_H
#define PFR_TESTS_REPORT_BUILDER_H
/* Builds recordings of one process for tests of the report: mappings, stacks, and options without symbol lookup. */
#include "../file/recording_builder.h"

#include <perfray/report.h>

#include <sys/mman.h>
#include <unistd.h>

#define CHAIN_BITS (1 << 0 | 1 << 1 | 1 << 2 | 1 << 5) /* IP, TID, TIME, CALLCHAIN */
#define USER ((uint64_t)-512)
#define MAIN 0x401000u
#define TWICE 0x402000u
#define LEAF 0x403000u

static inline void put_map(struct builder *b, uint32_t tid, uint64_t start, uint64_t length, const char *name) {
    const size_t text = (strlen(name) + 8) / 8 * 8;
    put_head(b, 1, 2, 8 + 32 + text + 16);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, start, 8);
    put_number(b, length, 8);
    put_number(b, start, 8);
    memcpy(put_room(b, text), name, strlen(name));
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, 1000, 8);
}

/* Innermost first; the first entry is the sampled address. */
static inline void put_chain(struct builder *b, uint32_t tid, const uint64_t *chain, uint64_t count) {
    put_head(b, 9, 2, 8 + 24 + 8 + 8 * (count + 1));
    put_number(b, chain[0], 8);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, 2000, 8);
    put_number(b, count + 1, 8);
    put_number(b, USER, 8);
    for (uint64_t i = 0; i < count; i++)
        put_number(b, chain[i], 8);
}

static const pfr_symbol_options no_symbols = {.size = sizeof no_symbols, .no_symbols = true};

static inline pfr_report_options plain(void) {
    return (pfr_report_options){.size = sizeof(pfr_report_options), .naming = &no_symbols, .jobs = 1};
}

#endif
