/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints recordings of `perf stat record` like `perf stat report`: one line per event with the sum over all CPUs and
 * threads, or one line per core, thread and so on if recorded that way (report_stat_place.h); and metrics computed from
 * pairs of events.
 *
 *                  54.59 msec cpu-clock                        #    0.259 CPUs utilized
 *                     56      page-faults                      #    1.025 K/sec
 *
 * With -I, prints such a block for each interval, with the counts of the interval.
 */
#include "view/stat/report_stat.h"
#include "view/stat/report_stat_place.h"

#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "base/text/public_output.h"
#include "file/read/recording.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPES = 5, TAG_AGGR_MODE = 0, TAG_INTERVAL = 1 };
enum { ROUND_FINAL = 1, TYPE_SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 };
#define NS_PER_SECOND 1000000000u
#define NAME_WIDTH 25
#define METRIC_WIDTH 23u
#define MISSING_WIDTH 35u
#define UNIT_WIDTH 4u
#define UNSUPPORTED_MOST 65536u /* maximum number of lines for events without counts */
#define UNIT_MOST 40u

struct stat_key {
    uint32_t event, cpu, thread;
};

struct stat_count {
    uint64_t value, enabled, running;
};

struct stat_cell {
    struct stat_count now, before;
};

/* Sum and number of the values of clock events over all rounds, for their mean. */
struct stat_clock {
    double sum;
    uint64_t count;
};

struct stat_table {
    pfr_reader *reader;
    struct memory *memory;
    struct output *out;
    pfr_output *to;
    struct intern_table keys; /* struct stat_key -> cell */
    struct stat_cell *cells;
    uint32_t *order;           /* cells sorted by event, CPU, thread */
    struct intern_table spots; /* struct stat_place -> clock */
    struct stat_clock *clocks; /* there is room for one clock per cell */
    struct stat_places places;
    size_t room, order_room, clocks_room;
    bool *seen; /* by event: a count of this event was recorded */
    size_t nr_seen;
    uint64_t mode, interval, elapsed;
    bool lossy, headed;
};

typedef pfr_status stat_taker(struct stat_table *t, const pfr_record *rec, pfr_error *err);

/* --- records --- */

static pfr_status take_config(struct stat_table *t, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_stat_config body;
    struct pfr_rec_stat_config_term term;
    (void)err;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&body.data);
    while (pfr_items_next(&it, &term, sizeof term, NULL) == PFR_OK)
        if (term.tag == TAG_AGGR_MODE)
            t->mode = term.val;
        else if (term.tag == TAG_INTERVAL)
            t->interval = term.val;
    return PFR_OK;
}

static pfr_status take_threads(struct stat_table *t, const pfr_record *rec, pfr_error *err) {
    return stat_places_threads(&t->places, rec, t->memory, err);
}

static struct stat_key key_at(const struct stat_table *t, uint32_t cell) {
    struct stat_key key;
    memcpy(&key, intern_get(&t->keys, cell).bytes, sizeof key);
    return key;
}

static pfr_status make_cell(struct stat_table *t, uint32_t cell, pfr_error *err) {
    void *cells = mem_grow(t->memory, t->cells, cell, &t->room, 16, sizeof *t->cells);
    t->cells = cells ? cells : t->cells;
    void *order = mem_grow(t->memory, t->order, cell, &t->order_room, 16, sizeof *t->order);
    t->order = order ? order : t->order;
    void *clocks = mem_grow(t->memory, t->clocks, cell, &t->clocks_room, 16, sizeof *t->clocks);
    t->clocks = clocks ? clocks : t->clocks;
    if (!cells || !order || !clocks)
        return mem_fail(t->memory, err, "stat");
    t->cells[cell] = (struct stat_cell){0};
    t->clocks[cell] = (struct stat_clock){0};
    t->order[cell] = cell;
    return PFR_OK;
}

/* The events of a stream are known when its first count arrives. */
static pfr_status make_seen(struct stat_table *t, pfr_error *err) {
    const size_t events = pfr_event_count(t->reader);
    if (t->nr_seen)
        return PFR_OK;
    t->seen = mem_zeroed(t->memory, events, sizeof *t->seen);
    if (!t->seen)
        return mem_fail(t->memory, err, "stat");
    t->nr_seen = events;
    return PFR_OK;
}

static pfr_status take_count(struct stat_table *t, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_stat body;
    uint32_t cell;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    const int32_t event = pfr_event_of_id(t->reader, body.id);
    if (event < 0)
        return PFR_OK;
    PFR_TRY(make_seen(t, err));
    const struct stat_key key = {(uint32_t)event, body.cpu, body.thread};
    const uint32_t before = t->keys.count;
    PFR_TRY(intern_put(&t->keys, &key, sizeof key, &cell, err));
    if (cell == before)
        PFR_TRY(make_cell(t, cell, err));
    t->cells[cell].now = (struct stat_count){body.val, body.ena, body.run};
    if ((size_t)event < t->nr_seen)
        t->seen[event] = true;
    return PFR_OK;
}

/* --- lines --- */

struct stat_line {
    const pfr_event *event;
    uint32_t number; /* number of the event */
    struct stat_place place;
    uint32_t cpus;
    struct stat_count count;
    struct stat_clock clock;
    uint64_t time;
};

static bool is_clock(const pfr_event *event) {
    return event->attr.type == TYPE_SOFTWARE && (event->attr.config == CPU_CLOCK || event->attr.config == TASK_CLOCK);
}

/* The scale comes from the file, so a number can have more than three hundred digits. */
static void write_double(const struct stat_table *t, int width, int decimals, double value) {
    char text[400];
    const int length = snprintf(text, sizeof text, "%*.*f", width, decimals, value);
    out_write(t->out, text, length > 0 && (size_t)length < sizeof text ? (size_t)length : 0);
}

static void write_metric(const struct stat_table *t, double value, const char *unit) {
    out_text(t->out, "        # ");
    write_double(t, 8, 3, value);
    out_char(t->out, ' ');
    out_text(t->out, unit);
    out_pad(t->out, METRIC_WIDTH - strlen(unit));
}

static void write_rate(const struct stat_table *t, double per_second) {
    static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
    unsigned unit = 0;
    for (; per_second >= 1000 && unit < 3; unit++)
        per_second /= 1000;
    write_metric(t, per_second, units[unit]);
}

static bool is_missing(const struct stat_line *line) {
    return line->count.enabled == 0 || line->count.running == 0;
}

/* Writes the metric: CPU utilization for clocks, otherwise the rate relative to the mean clock time. */
static void write_metric_column(const struct stat_table *t, const struct stat_line *line) {
    const double mean = line->clock.count ? line->clock.sum / (double)line->clock.count : 0;
    if (is_missing(line)) {
        out_pad(t->out, MISSING_WIDTH);
        return;
    }
    if (is_clock(line->event) && !t->interval && t->elapsed)
        write_metric(t, (double)line->count.value / (double)t->elapsed, "CPUs utilized");
    else if (!is_clock(line->event) && mean > 0)
        write_rate(t, (double)line->count.value * NS_PER_SECOND / mean);
    else
        out_pad(t->out, 19 + METRIC_WIDTH);
}

/* Extrapolates a count from the time in which its counter was running to the time in which it was enabled
   (multiplexing). */
static double scaled(const struct stat_line *line) {
    const struct stat_count *c = &line->count;
    const double share = c->running && c->running < c->enabled ? (double)c->enabled / (double)c->running : 1;
    return (double)c->value * share * line->event->scale;
}

static void write_value(const struct stat_table *t, const struct stat_line *line) {
    const char *unit = line->event->unit ? line->event->unit : "";
    const size_t length = strnlen(unit, UNIT_MOST);
    if (is_missing(line))
        out_text(t->out, t->seen[line->number] ? "     <not counted>" : "   <not supported>");
    else
        write_double(t, 18, line->event->scale != 1 ? 2 : 0, scaled(line));
    out_char(t->out, ' ');
    print_name(t->to, unit, length);
    out_pad(t->out, (length < UNIT_WIDTH ? UNIT_WIDTH - length : 0) + 1);
}

static void write_line(const struct stat_table *t, const struct stat_line *line) {
    char text[64];
    int length = 0;
    if (t->interval)
        length = snprintf(text, sizeof text, "%6" PRIu64 ".%09" PRIu64 " ", line->time / NS_PER_SECOND,
                          line->time % NS_PER_SECOND);
    out_write(t->out, text, length > 0 ? (size_t)length : 0);
    stat_place_write(&t->places, &line->place, line->cpus, t->to);
    write_value(t, line);
    const size_t name = strlen(line->event->name);
    print_name(t->to, line->event->name, name);
    out_pad(t->out, name < NAME_WIDTH ? NAME_WIDTH - name : 0);
    write_metric_column(t, line);
    if (line->count.running < line->count.enabled && line->count.running) {
        length = snprintf(text, sizeof text, "  (%.2f%%)",
                          100.0 * (double)line->count.running / (double)line->count.enabled);
        out_write(t->out, text, length > 0 ? (size_t)length : 0);
    }
    out_char(t->out, '\n');
}

/* --- tables --- */

static uint64_t grown(const struct stat_table *t, uint32_t cell) {
    return t->cells[cell].now.value - t->cells[cell].before.value;
}

static struct stat_place place_at(const struct stat_table *t, uint32_t cell) {
    const struct stat_key key = key_at(t, cell);
    return stat_place_of(&t->places, key.cpu, key.thread);
}

/* In mode STAT_THREAD, threads of an event are sorted by count, largest first. */
static int by_place(const struct stat_table *t, uint32_t a, uint32_t b) {
    const struct stat_place x = place_at(t, a), y = place_at(t, b);
    const uint64_t p = grown(t, a), q = grown(t, b);
    if (t->mode == STAT_THREAD && p != q)
        return p > q ? -1 : 1;
    return stat_place_compare(&x, &y);
}

static int by_key(const void *a, const void *b, void *context) {
    const struct stat_table *t = context;
    const uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    const struct stat_key x = key_at(t, p), y = key_at(t, q);
    const int events = (x.event > y.event) - (x.event < y.event), places = by_place(t, p, q);
    const bool groups = stat_mode_groups(t->mode);
    if (events || places)
        return groups ? (places ? places : events) : (events ? events : places);
    if (x.cpu != y.cpu)
        return (int32_t)x.cpu < (int32_t)y.cpu ? -1 : 1;
    return (x.thread > y.thread) - (x.thread < y.thread);
}

/* As in perf, if one CPU of a group did not count at all, the group has no count. */
static void add_count(const struct stat_table *t, struct stat_line *line, const struct stat_cell *cell, bool *bad) {
    struct stat_count *to = &line->count;
    const struct stat_count more = {cell->now.value - cell->before.value, cell->now.enabled - cell->before.enabled,
                                    cell->now.running - cell->before.running};
    if (*bad)
        return;
    line->cpus++;
    *bad = stat_mode_groups(t->mode) && (!more.enabled || !more.running);
    to->value += *bad ? 0 : more.value;
    to->enabled = *bad ? 0 : to->enabled + more.enabled;
    to->running = *bad ? 0 : to->running + more.running;
}

/* Sums the cells of one line (same event and place) from `at` on. Returns the index of the next line's first cell. */
static uint32_t take_line(const struct stat_table *t, uint32_t at, struct stat_line *line) {
    const struct stat_key first = key_at(t, t->order[at]);
    bool bad = false;
    *line = (struct stat_line){
        .event = pfr_get_event(t->reader, first.event), .number = first.event, .place = place_at(t, t->order[at])};
    for (; at < t->keys.count; at++) {
        const struct stat_key key = key_at(t, t->order[at]);
        const struct stat_place place = place_at(t, t->order[at]);
        if (key.event != first.event || stat_place_compare(&place, &line->place) != 0)
            break;
        add_count(t, line, &t->cells[t->order[at]], &bad);
    }
    return at;
}

/* `clocks` cannot overflow: there are at most as many places as cells. */
static pfr_status clock_of(struct stat_table *t, const struct stat_place *place, struct stat_clock **clock,
                           pfr_error *err) {
    uint32_t number;
    PFR_TRY(intern_put(&t->spots, place, sizeof *place, &number, err));
    *clock = &t->clocks[number];
    return PFR_OK;
}

static pfr_status run_clocks(struct stat_table *t, pfr_error *err) {
    struct stat_line line;
    struct stat_clock *clock;
    for (uint32_t at = 0; at < t->keys.count;) {
        at = take_line(t, at, &line);
        if (!is_clock(line.event))
            continue;
        PFR_TRY(clock_of(t, &line.place, &clock, err));
        clock->sum += (double)line.count.value;
        clock->count++;
    }
    return PFR_OK;
}

/* Events without recorded counts were not supported. They are listed without a value, at each place of the first event.
 */
static pfr_status add_unsupported(struct stat_table *t, pfr_error *err) {
    const uint32_t count = t->keys.count;
    for (uint32_t event = 0; event < t->nr_seen && event < pfr_event_count(t->reader); event++)
        for (uint32_t i = 0; i < count && !t->seen[event] && t->keys.count < count + UNSUPPORTED_MOST; i++) {
            struct stat_key key = key_at(t, i);
            if (key.event != key_at(t, 0).event)
                continue;
            key.event = event;
            uint32_t cell;
            const uint32_t before = t->keys.count;
            PFR_TRY(intern_put(&t->keys, &key, sizeof key, &cell, err));
            if (cell == before)
                PFR_TRY(make_cell(t, cell, err));
        }
    return PFR_OK;
}

static pfr_status write_table(struct stat_table *t, uint64_t time, pfr_error *err) {
    struct stat_line line;
    struct stat_clock *clock;
    if (t->interval && !t->headed)
        out_text(t->out, stat_place_heading(t->mode));
    t->headed = true;
    PFR_TRY(stat_places_learn(&t->places, t->reader, t->mode, t->memory, err));
    PFR_TRY(add_unsupported(t, err));
    if (t->keys.count > 1)
        qsort_r(t->order, t->keys.count, sizeof *t->order, by_key, t);
    PFR_TRY(run_clocks(t, err));
    for (uint32_t at = 0; at < t->keys.count;) {
        at = take_line(t, at, &line);
        PFR_TRY(clock_of(t, &line.place, &clock, err));
        line.clock = *clock;
        line.time = time;
        write_line(t, &line);
    }
    for (uint32_t i = 0; i < t->keys.count; i++)
        t->cells[i].before = t->cells[i].now;
    return PFR_OK;
}

static pfr_status take_round(struct stat_table *t, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_stat_round body;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    if (body.type == ROUND_FINAL)
        t->elapsed = body.time;
    return t->interval ? write_table(t, body.time, err) : PFR_OK;
}

static pfr_status write_command(const struct stat_table *t, pfr_error *err) {
    struct pfr_rec_feature_cmdline body;
    struct pfr_rec_string word;
    pfr_error why = {.status = PFR_OK};
    const pfr_feature *f = pfr_find_feature(t->reader, BIT_CMDLINE, &why);
    if (!f && why.status < 0)
        return pfr_fail(err, why.status, why.offset, why.length, why.where, "%s", why.text);
    out_text(t->out, "\n Performance counter stats for '");
    if (f && pfr_decode_feature(t->reader, f, &body, sizeof body, NULL) == PFR_OK) {
        pfr_items_iter it = pfr_items_begin(&body.words);
        for (bool any = false; pfr_items_next(&it, &word, sizeof word, NULL) == PFR_OK; any = true) {
            out_text(t->out, any ? " " : "");
            print_name(t->to, word.text.at, strnlen(word.text.at, word.text.length));
        }
    }
    out_text(t->out, "':\n\n");
    return PFR_OK;
}

static void write_elapsed(const struct stat_table *t) {
    char text[64];
    const int length =
        snprintf(text, sizeof text, "\n%18.9f seconds time elapsed\n\n", (double)t->elapsed / NS_PER_SECOND);
    out_write(t->out, text, length > 0 ? (size_t)length : 0);
}

static pfr_status read_all(struct stat_table *t, pfr_error *err) {
    static stat_taker *const takers[TYPES] = {take_threads, NULL, take_config, take_count, take_round};
    pfr_error own, *e = err ? err : &own;
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(t->reader, &rec, e)) >= 0 && st != PFR_END) {
        t->lossy = t->lossy || st == PFR_HOLE;
        if (st == PFR_OK && rec.type >= PFR_RECORD_THREAD_MAP && rec.type < PFR_RECORD_THREAD_MAP + TYPES &&
            takers[rec.type - PFR_RECORD_THREAD_MAP])
            PFR_TRY(takers[rec.type - PFR_RECORD_THREAD_MAP](t, &rec, err));
    }
    return st < 0 ? st : PFR_OK;
}

bool report_is_stat(const pfr_reader *reader) {
    return pfr_get_header(reader)->features[0] >> BIT_STAT & 1;
}

pfr_status report_stat_print(pfr_reader *reader, pfr_output *out, pfr_error *err) {
    struct stat_table t = {.reader = reader, .memory = &reader->memory, .to = out, .out = &out->out, .mode = STAT_ALL};
    intern_init(&t.keys, t.memory);
    intern_init(&t.spots, t.memory);
    pfr_status st = read_all(&t, err);
    if (st >= 0 && !t.interval)
        st = write_command(&t, err);
    if (st >= 0 && !t.interval)
        st = write_table(&t, t.elapsed, err);
    if (st >= 0 && !t.interval)
        write_elapsed(&t);
    mem_free(t.memory, t.seen, t.nr_seen, sizeof *t.seen);
    mem_free(t.memory, t.cells, t.room, sizeof *t.cells);
    mem_free(t.memory, t.order, t.order_room, sizeof *t.order);
    mem_free(t.memory, t.clocks, t.clocks_room, sizeof *t.clocks);
    intern_free(&t.keys);
    intern_free(&t.spots);
    stat_places_free(&t.places);
    return st < 0 ? st : t.lossy ? PFR_HOLE : PFR_OK;
}
