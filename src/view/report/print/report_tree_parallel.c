/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the call trees of lines as text. The data of the trees no longer change, so threads format batches of trees in
 * parallel while earlier lines are written. If the text of a tree does not fit into memory, the tree is written
 * directly when its turn comes.
 *
 * Indentation makes the text of a deep tree grow with the square of its depth. Therefore all trees share one output
 * limit (--limit trees=BYTES); the cut is at the same place for any number of threads.
 */
#include "view/report/fields/report_common.h"
#include "view/report/print/report_tree.h"
#include "view/report/print/report_tree_print.h"
#include "view/report/rows/report_tree_roots.h"
#include "view/report/print/report_tree_parallel.h"

#include "base/memory/fail.h"
#include "base/threads/workers.h"
#include "base/memory/sizes.h"

#include <string.h>

#define BATCH ((uint32_t)sizes.report_trees)
#define BATCHES_EACH 3u /* batches per thread */
#define MEMBER_NS 20u   /* approximate time per node at which a tree begins */

struct tree_batch {
    uint32_t from, end; /* range of indexes in `rows` */
    pfr_output text;
    size_t ends[SIZE_MOST_report_trees]; /* end of each tree in `text` */
    bool good;
};

struct trees_ahead {
    struct report *r;
    const struct lines *lines;
    uint32_t *rows; /* rows that have trees, in the order of lines */
    uint32_t nr_rows, given, printed;
    size_t rows_room;
    struct workers *workers;   /* NULL: single-threaded */
    struct report_tree *trees; /* one per thread; [0] belongs to the calling thread */
    struct tree_batch *batches;
    pfr_output text; /* buffer for trees that the caller formats */
    unsigned threads;
    size_t slots;
};

static uint32_t row_of_line(const struct trees_ahead *t, uint32_t line) {
    return t->lines->rows[(size_t)line * t->lines->members];
}

static bool has_tree(const struct trees_ahead *t, uint32_t row) {
    return row != NO_ROW && row_has_tree(t->r, row);
}

/* --- by several threads --- */

static void make_batch(void *context, unsigned worker, size_t slot) {
    struct trees_ahead *t = context;
    struct tree_batch *b = &t->batches[slot];
    pfr_status st = PFR_OK;
    out_clear(&b->text.out);
    for (uint32_t i = b->from; i < b->end && st >= 0; i++) {
        st = tree_print(t->r, &t->trees[worker], t->rows[i], t->r->trees.budget.text, &b->text, NULL);
        out_bytes(&b->text.out, &b->ends[i - b->from]);
    }
    b->good = st >= 0 && b->text.out.status >= 0;
}

static void give_batches(struct trees_ahead *t) {
    size_t slot;
    while (t->given < t->nr_rows && workers_free_slot(t->workers, &slot)) {
        const uint32_t left = t->nr_rows - t->given, count = left < BATCH ? left : BATCH;
        t->batches[slot].from = t->given;
        t->batches[slot].end = t->given += count;
        workers_give(t->workers);
    }
}

/* Releases the workers' memory, for use by the caller. */
static void end_workers(struct trees_ahead *t) {
    struct memory *memory = t->r->memory;
    workers_close(t->workers);
    t->workers = NULL;
    for (size_t i = 0; t->batches && i < t->slots; i++)
        out_close(&t->batches[i].text.out, NULL);
    mem_free(memory, t->batches, t->slots, sizeof *t->batches);
    t->batches = NULL;
    for (unsigned i = 1; t->trees && i < t->threads; i++)
        tree_free(t->r, &t->trees[i]);
}

static void say_cut(struct trees_ahead *t, struct output *out) {
    t->r->trees.budget.left = 0;
    t->r->trees.budget.cut++;
    out_text(out, "            [limit]\n\n");
}

static void write_text(struct trees_ahead *t, const char *text, size_t length, struct output *out) {
    uint64_t *const left = &t->r->trees.budget.left;
    if (length <= *left) {
        out_write(out, text, length);
        *left -= length;
        return;
    }
    const char *const line = memrchr(text, '\n', (size_t)*left);
    out_write(out, text, line ? (size_t)(line + 1 - text) : 0);
    say_cut(t, out);
}

/* Writes the next tree from its batch. Returns false if the batch could not be made. */
static bool print_made(struct trees_ahead *t, pfr_output *to) {
    size_t slot, whole;
    give_batches(t);
    if (!workers_oldest(t->workers, true, &slot))
        return false;
    const struct tree_batch *b = &t->batches[slot];
    const uint32_t at = t->printed - b->from;
    if (!b->good)
        return false;
    const size_t begin = at ? b->ends[at - 1] : 0, length = b->ends[at] - begin;
    const char *text = out_bytes(&b->text.out, &whole);
    if (length)
        write_text(t, text + begin, length, &to->out);
    if (++t->printed == b->end)
        workers_retire(t->workers);
    return true;
}

/* --- all trees --- */

static pfr_status list_rows(struct trees_ahead *t, pfr_error *err) {
    t->rows_room = t->lines->shown;
    t->rows = mem_alloc(t->r->memory, t->rows_room, sizeof *t->rows);
    if (!t->rows)
        return mem_fail(t->r->memory, err, "tree");
    for (uint32_t i = 0; i < t->lines->shown; i++) {
        const uint32_t row = row_of_line(t, t->lines->order[i]);
        if (has_tree(t, row))
            t->rows[t->nr_rows++] = row;
    }
    return PFR_OK;
}

static unsigned count_threads(const struct trees_ahead *t) {
    const uint32_t *begin = t->r->trees.walk.begin;
    uint64_t members = 0;
    for (uint32_t i = 0; i < t->nr_rows; i++)
        members += begin[t->rows[i] + 1] - begin[t->rows[i]];
    const size_t bytes =
        t->r->trees.path_segments.count * sizeof(uint32_t) + t->r->profile->nr_frames * 2 * sizeof(uint32_t);
    return report_jobs(t->r, members * MEMBER_NS, (t->nr_rows + BATCH - 1) / BATCH, bytes);
}

/* If workers cannot be started, the caller formats all trees. */
static void begin_workers(struct trees_ahead *t) {
    struct memory *memory = t->r->memory;
    t->slots = (size_t)t->threads * BATCHES_EACH;
    t->batches = mem_zeroed(memory, t->slots, sizeof *t->batches);
    for (size_t i = 0; t->batches && i < t->slots; i++) {
        out_open_memory(&t->batches[i].text.out, memory);
        t->batches[i].text.raw_names = t->text.raw_names;
        t->batches[i].text.columns = t->text.columns;
    }
    if (t->batches && workers_open(&t->workers, memory, t->threads, t->slots, make_batch, t, NULL) >= 0)
        give_batches(t);
}

static pfr_status open_trees(struct trees_ahead *t, const pfr_output *to, pfr_error *err) {
    struct memory *memory = t->r->memory;
    if (t->r->trees.of_rows)
        PFR_TRY(list_rows(t, err));
    t->threads = count_threads(t);
    t->trees = mem_zeroed(memory, t->threads, sizeof *t->trees);
    if (!t->trees)
        return mem_fail(memory, err, "tree");
    out_open_memory(&t->text.out, memory);
    t->text.raw_names = to->raw_names;
    t->text.columns = t->r->options->format == PFR_REPORT_TEXT && t->r->chain.mode != CHAIN_FOLDED ? to->columns : 0;
    if (t->threads > 1)
        begin_workers(t);
    return PFR_OK;
}

pfr_status trees_open(struct trees_ahead **trees, struct report *r, const struct lines *lines, const pfr_output *to,
                      pfr_error *err) {
    struct trees_ahead *t = *trees = mem_zeroed(r->memory, 1, sizeof *t);
    if (!t)
        return mem_fail(r->memory, err, "tree");
    t->r = r;
    t->lines = lines;
    return open_trees(t, to, err);
}

/* Formats the tree in memory; if that fails, writes it directly. */
static pfr_status print_own(struct trees_ahead *t, uint32_t row, pfr_output *to, pfr_error *err) {
    struct report *const r = t->r;
    size_t length;
    out_clear(&t->text.out);
    PFR_TRY(tree_print(r, &t->trees[0], row, r->trees.budget.text, &t->text, err));
    if (t->text.out.status >= 0) {
        const char *text = out_bytes(&t->text.out, &length);
        if (length)
            write_text(t, text, length, &to->out);
        return PFR_OK;
    }
    const uint64_t before = out_written(&to->out);
    PFR_TRY(tree_print(r, &t->trees[0], row, r->trees.budget.left, to, err));
    const uint64_t written = out_written(&to->out) - before;
    if (written > r->trees.budget.left)
        say_cut(t, &to->out);
    else
        r->trees.budget.left -= written;
    return PFR_OK;
}

pfr_status trees_print(struct trees_ahead *t, uint32_t line, pfr_output *to, pfr_error *err) {
    const uint32_t row = row_of_line(t, line);
    if (!has_tree(t, row))
        return PFR_OK;
    if (t->r->trees.budget.left == 0) {
        say_cut(t, &to->out);
        return PFR_OK;
    }
    if (t->workers && print_made(t, to))
        return PFR_OK;
    if (t->workers)
        end_workers(t);
    return print_own(t, row, to, err);
}

void trees_close(struct trees_ahead *t) {
    if (!t)
        return;
    struct memory *memory = t->r->memory;
    end_workers(t);
    out_close(&t->text.out, NULL);
    if (t->trees)
        tree_free(t->r, &t->trees[0]);
    mem_free(memory, t->trees, t->threads, sizeof *t->trees);
    mem_free(memory, t->rows, t->rows_room, sizeof *t->rows);
    mem_free(memory, t, 1, sizeof *t);
}
