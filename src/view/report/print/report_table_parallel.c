/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures and writes lines of a table on several threads; no line depends on another one. All lines are measured in
 * parallel. If no call trees come between lines, batches of lines are formatted in parallel while earlier batches are
 * written. If a thread runs out of memory, the caller does the work by itself.
 */
#include "view/report/print/report_text_cache.h"
#include "view/report/fields/report_common.h"
#include "view/report/print/report_table.h"

#include "base/threads/thread_pool.h"
#include "base/memory/fail.h"
#include "base/threads/workers.h"
#include "base/memory/sizes.h"

#define LINE_NS 800u       /* approximate time to measure and write one line */
#define HAND_BYTES 300000u /* approximate memory of one thread, batches included */
#define BATCH ((uint32_t)sizes.report_lines)
#define BATCHES_EACH 3u /* batches per thread */

struct table_hand {
    struct report_texts texts;
    size_t width[FIELDS_MOST];
};

struct table_batch {
    uint32_t from, end;
    struct output text;
    bool good;
};

struct table_hands {
    const struct table *table;
    struct table_hand *at; /* one per thread; [0] belongs to the calling thread */
    unsigned count;
    size_t room;
    struct table_batch *batches;
    size_t slots;
};

/* --- hands --- */

static pfr_status open_hand(struct table_hands *h, pfr_error *err) {
    struct table_hand *hand = &h->at[h->count];
    const pfr_status st = report_texts_open(&hand->texts, h->table->r, err);
    if (st < 0)
        report_texts_close(&hand->texts);
    else
        h->count++;
    return st;
}

pfr_status table_hands_open(struct table_hands **hands, const struct table *t, pfr_error *err) {
    const uint32_t shown = t->lines->shown, batches = shown / BATCH + 1;
    struct memory *memory = t->r->memory;
    struct table_hands *h = *hands = mem_zeroed(memory, 1, sizeof *h);
    if (!h)
        return mem_fail(memory, err, "report");
    h->table = t;
    h->room = t->r->trees.of_rows ? 1 : report_jobs(t->r, (uint64_t)shown * LINE_NS, batches, HAND_BYTES);
    h->at = mem_zeroed(memory, h->room, sizeof *h->at);
    if (!h->at)
        return mem_fail(memory, err, "report");
    PFR_TRY(open_hand(h, err));
    while (h->count < h->room && open_hand(h, NULL) >= 0)
        ;
    return PFR_OK;
}

void table_hands_close(struct table_hands *h) {
    if (!h)
        return;
    struct memory *memory = h->table->r->memory;
    for (unsigned i = 0; i < h->count; i++)
        report_texts_close(&h->at[i].texts);
    mem_free(memory, h->at, h->at ? h->room : 0, sizeof *h->at);
    mem_free(memory, h, 1, sizeof *h);
}

struct report_texts *table_own_texts(struct table_hands *h) {
    return &h->at[0].texts;
}

/* --- width --- */

static bool measure_some(void *context, unsigned worker, size_t task) {
    struct table_hands *h = context;
    struct table_hand *hand = &h->at[worker];
    const uint32_t from = (uint32_t)task * BATCH, left = h->table->lines->shown - from;
    for (uint32_t i = 0; i < BATCH && i < left; i++)
        table_measure_line(h->table, &hand->texts, from + i, hand->width);
    return hand->texts.cell.out.status >= 0;
}

static bool have_all(const struct table_hands *h) {
    for (unsigned i = 0; i < h->count; i++)
        if (h->at[i].texts.cell.out.status < 0)
            return false;
    return true;
}

/* Releases the texts of the other threads, after an allocation failed. */
static void go_on_alone(struct table_hands *h) {
    while (h->count > 1)
        report_texts_close(&h->at[--h->count].texts);
}

void table_measure(struct table_hands *h, size_t *width) {
    const size_t tasks = (h->table->lines->shown + BATCH - 1) / BATCH;
    if (h->table->separator)
        return;
    thread_pool_run(h->count, tasks, measure_some, h);
    if (!have_all(h)) {
        go_on_alone(h);
        thread_pool_run(1, tasks, measure_some, h);
    }
    for (unsigned i = 0; i < h->count; i++)
        for (unsigned c = 0; c < h->table->r->chosen.nr_columns; c++)
            width[c] = h->at[i].width[c] > width[c] ? h->at[i].width[c] : width[c];
}

/* --- lines --- */

static void write_batch(void *context, unsigned worker, size_t slot) {
    struct table_hands *h = context;
    struct table_batch *b = &h->batches[slot];
    struct report_texts *texts = &h->at[worker].texts;
    out_clear(&b->text);
    for (uint32_t i = b->from; i < b->end; i++)
        table_write_line(h->table, texts, i, &b->text);
    b->good = texts->cell.out.status >= 0 && b->text.status >= 0;
}

static uint32_t give_batches(struct table_hands *h, struct workers *workers, uint32_t given) {
    const uint32_t shown = h->table->lines->shown;
    size_t slot;
    while (given < shown && workers_free_slot(workers, &slot)) {
        h->batches[slot].from = given;
        given += shown - given < BATCH ? shown - given : BATCH;
        h->batches[slot].end = given;
        workers_give(workers);
    }
    return given;
}

static uint32_t write_batches(struct table_hands *h, struct workers *workers, pfr_output *to) {
    uint32_t given = 0, written = 0;
    size_t slot, length;
    while (!pfr_output_failed(to)) {
        given = give_batches(h, workers, given);
        if (!workers_oldest(workers, true, &slot) || !h->batches[slot].good)
            break;
        const char *text = out_bytes(&h->batches[slot].text, &length);
        out_write(&to->out, text, length);
        written = h->batches[slot].end;
        workers_retire(workers);
    }
    return written;
}

uint32_t table_write_ahead(struct table_hands *h, pfr_output *to) {
    struct memory *memory = h->table->r->memory;
    struct workers *workers = NULL;
    uint32_t written = 0;
    if (h->count < 2)
        return 0;
    h->slots = (size_t)h->count * BATCHES_EACH;
    h->batches = mem_zeroed(memory, h->slots, sizeof *h->batches);
    for (size_t i = 0; h->batches && i < h->slots; i++)
        out_open_memory(&h->batches[i].text, memory);
    if (h->batches && workers_open(&workers, memory, h->count, h->slots, write_batch, h, NULL) >= 0)
        written = write_batches(h, workers, to);
    workers_close(workers);
    for (size_t i = 0; h->batches && i < h->slots; i++)
        out_close(&h->batches[i].text, NULL);
    mem_free(memory, h->batches, h->batches ? h->slots : 0, sizeof *h->batches);
    return written;
}
