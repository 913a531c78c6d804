/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of thread states: the timeline's intervals, and the sums of all intervals. */
#include "export/page/page_wait_columns.h"

static uint64_t count_threads(const struct page_data *d) {
    return d->nr_threads;
}

/* --- Intervals. */

static uint64_t count_intervals(const struct page_data *d) {
    return d->intervals.count;
}
static uint64_t thread_intervals(const struct page_data *d, uint64_t i) {
    return d->intervals_of[i];
}
/* Bit 3: the interval is open. */
static uint64_t interval_kind(const struct page_data *d, uint64_t i) {
    return d->intervals.at[i].kind | (uint64_t)d->intervals.at[i].open << 3;
}
static uint64_t interval_duration(const struct page_data *d, uint64_t i) {
    return d->intervals.at[i].duration / d->interval_slot;
}
static uint64_t interval_gap(const struct page_data *d, uint64_t i) {
    const struct page_interval *at = &d->intervals.at[i];
    const uint64_t slot = (at->start - d->begin) / d->interval_slot;
    return i && at[-1].thread == at->thread ? slot - (at[-1].start - d->begin) / d->interval_slot : slot;
}
static uint64_t interval_wait(const struct page_data *d, uint64_t i) {
    return page_waits_row(&d->waits, d->intervals.at[i].wait);
}

/* --- Waits: times in ns. */

static uint64_t count_waits(const struct page_data *d) {
    return d->waits.count;
}
static uint64_t wait_thread(const struct page_data *d, uint64_t i) {
    return d->number_of[d->waits.at[i].thread];
}
static uint64_t wait_state(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].state;
}
static uint64_t wait_reason(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].reason;
}
static uint64_t wait_func(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].func;
}
static uint64_t wait_waker(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].waker ? (uint64_t)d->number_of[d->waits.at[i].waker] + 1 : 0;
}
static uint64_t wait_by(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].by;
}

static uint64_t wait_line(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].line;
}
static uint64_t wait_condition(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].is_condition;
}
static uint64_t wait_in_library(const struct page_data *d, uint64_t i) {
    return d->waits.at[i].in_library;
}

/* Limits a number to the bits of a column; only damaged clocks give larger sums. */
static uint64_t limited(uint64_t ns) {
    const uint64_t most = ((uint64_t)1 << PAGE_NUMBER_BITS) - 1;
    return ns < most ? ns : most;
}
static uint64_t wait_ns(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].ns);
}
static uint64_t wait_open(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].open);
}
static uint64_t wait_stacked(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].stacked);
}
static uint64_t wait_library(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].library);
}
static uint64_t wait_count(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].count);
}
static uint64_t wait_longest(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].longest);
}
static uint64_t wait_start(const struct page_data *d, uint64_t i) {
    return limited(d->waits.at[i].start - d->begin);
}

const struct page_column page_wait_columns[PAGE_WAIT_COLUMNS] = {
    {"thread.intervals", count_threads, thread_intervals},
    {"interval.kind", count_intervals, interval_kind},
    {"interval.duration", count_intervals, interval_duration},
    {"interval.gap", count_intervals, interval_gap},
    {"interval.wait", count_intervals, interval_wait},
    {"wait.thread", count_waits, wait_thread},
    {"wait.state", count_waits, wait_state},
    {"wait.reason", count_waits, wait_reason},
    {"wait.func", count_waits, wait_func},
    {"wait.waker", count_waits, wait_waker},
    {"wait.by", count_waits, wait_by},
    {"wait.line", count_waits, wait_line},
    {"wait.condition", count_waits, wait_condition},
    {"wait.in_library", count_waits, wait_in_library},
    {"wait.ns", count_waits, wait_ns},
    {"wait.open", count_waits, wait_open},
    {"wait.stacked", count_waits, wait_stacked},
    {"wait.library", count_waits, wait_library},
    {"wait.count", count_waits, wait_count},
    {"wait.longest", count_waits, wait_longest},
    {"wait.start", count_waits, wait_start},
};
