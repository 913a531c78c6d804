/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See script_stat.h. A place is an (event, thread, cpu). Only places for which a STAT arrived have a stored count, but
 * at the end of a round all threads and cpus of each event are printed. After the limit on lines without a STAT
 * (SCRIPT_STAT_IDLE_MOST), only places with a STAT in the round are printed, in the same order.
 */
#include "view/stat/script_stat.h"

#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "base/text/json.h"
#include "base/text/public_output.h"
#include "view/words/cpu_map.h"

#include <stdlib.h>

#define STAT_TYPES 79u /* record types 0 to 78 */
#define CPUS_MOST 65536u
#define THREADS_MOST 65536u
#define AGGR_MODE 0u
#define UPDATE_CPUS 3u
/* Modes whose counts perf 6.1 prints unchanged; see STAT_CONFIG in the format reference. */
#define MODE_GLOBAL 1u
#define MODE_UNSET 6u
#define MODE_LAST 7u

struct count {
    uint64_t val, ena, run;
};

struct stat_script_cell {
    uint32_t event, thread, cpu; /* indexes of event, thread and cpu */
    uint64_t round;              /* round of the cell's last STAT */
    struct count now, before;
};

struct stat_cpus {
    int32_t *at;
    size_t count, room;
};

struct script_stat {
    pfr_reader *reader;
    struct memory *memory;
    uint64_t *threads;
    size_t nr_threads, threads_room;
    struct stat_cpus cpus;
    struct stat_cpus *own; /* cpus by event; count 0: the event uses `cpus` */
    size_t nr_own;
    struct u64_map places; /* packed place (place_of) -> index in `cells` */
    struct stat_script_cell *cells;
    size_t nr_cells, cells_room;
    uint64_t *fresh; /* indexes of the cells for which a STAT arrived in this round */
    size_t nr_fresh, fresh_room;
    uint64_t rows;        /* number of lines in a round */
    uint32_t rows_events; /* number of events that `rows` was computed for; 0: not computed yet */
    uint64_t round, idle;
    uint32_t mode;
    bool have_threads, have_cpus, said_header, as_json;
};

struct stat_taking {
    struct script_stat *s;
    const pfr_record *rec;
    pfr_output *out;
    pfr_error *err;
};

pfr_status script_stat_open(struct script_stat **stat, pfr_reader *reader, struct memory *memory, pfr_error *err) {
    struct script_stat *s = mem_zeroed(memory, 1, sizeof *s);
    *stat = s;
    if (!s)
        return mem_fail(memory, err, "stat");
    s->reader = reader;
    s->memory = memory;
    s->round = 1;
    u64_map_init(&s->places, memory);
    return PFR_OK;
}

static void free_cpus(struct script_stat *s, struct stat_cpus *c) {
    mem_free(s->memory, c->at, c->room, sizeof *c->at);
}

void script_stat_close(struct script_stat *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->nr_own; i++)
        free_cpus(s, &s->own[i]);
    mem_free(s->memory, s->own, s->nr_own, sizeof *s->own);
    free_cpus(s, &s->cpus);
    mem_free(s->memory, s->threads, s->threads_room, sizeof *s->threads);
    mem_free(s->memory, s->cells, s->cells_room, sizeof *s->cells);
    mem_free(s->memory, s->fresh, s->fresh_room, sizeof *s->fresh);
    u64_map_free(&s->places);
    mem_free(s->memory, s, 1, sizeof *s);
}

/* --- maps --- */

/* Destination for the cpus of a map. */
struct adding {
    struct script_stat *s;
    struct stat_cpus *to;
    pfr_error *err;
};

static pfr_status add_cpu(void *context, int64_t cpu) {
    const struct adding *a = context;
    struct stat_cpus *c = a->to;
    if (c->count == CPUS_MOST || cpu >= CPUS_MOST)
        return PFR_OK;
    int32_t *grown = mem_grow(a->s->memory, c->at, c->count, &c->room, 16, sizeof *grown);
    if (!grown)
        return mem_fail(a->s->memory, a->err, "cpus");
    c->at = grown;
    c->at[c->count++] = (int32_t)cpu;
    return PFR_OK;
}

static int by_number(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Adds the cpus in ascending order, as in perf, so that a cpu can be found by bisection. */
static pfr_status add_cpus(struct script_stat *s, struct stat_cpus *c, const struct pfr_rec_cpu_map_data *data,
                           pfr_error *err) {
    PFR_TRY(cpu_map_each(data, add_cpu, &(struct adding){s, c, err}));
    if (c->count)
        qsort(c->at, c->count, sizeof *c->at, by_number);
    return PFR_OK;
}

static pfr_status on_cpu_map(struct stat_taking *t) {
    struct pfr_rec_cpu_map body;
    if (t->s->have_cpus || pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    t->s->have_cpus = true;
    return add_cpus(t->s, &t->s->cpus, &body.data, t->err);
}

static pfr_status on_thread_map(struct stat_taking *t) {
    struct script_stat *s = t->s;
    struct pfr_rec_thread_map body;
    struct pfr_rec_thread_map_entry entry;
    if (s->have_threads || pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    s->have_threads = true;
    pfr_items_iter it = pfr_items_begin(&body.entries);
    while (s->nr_threads < THREADS_MOST && pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        uint64_t *grown = mem_grow(s->memory, s->threads, s->nr_threads, &s->threads_room, 16, sizeof *grown);
        if (!grown)
            return mem_fail(s->memory, t->err, "threads");
        s->threads = grown;
        s->threads[s->nr_threads++] = entry.pid;
    }
    return PFR_OK;
}

static pfr_status make_own(struct script_stat *s, pfr_error *err) {
    const size_t count = pfr_event_count(s->reader);
    if (s->nr_own >= count)
        return PFR_OK;
    struct stat_cpus *own = mem_resize(s->memory, s->own, s->nr_own, count, sizeof *own);
    if (!own)
        return mem_fail(s->memory, err, "cpus");
    memset(own + s->nr_own, 0, (count - s->nr_own) * sizeof *own);
    s->own = own;
    s->nr_own = count;
    return PFR_OK;
}

static pfr_status on_event_update(struct stat_taking *t) {
    struct script_stat *s = t->s;
    struct pfr_rec_event_update body;
    struct pfr_rec_event_update_cpus cpus;
    if ((s->have_cpus && s->have_threads) || pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    const int32_t event = pfr_event_of_id(s->reader, body.id);
    pfr_items_iter it = pfr_items_begin(&body.data);
    if (body.type != UPDATE_CPUS || event < 0 || pfr_items_next(&it, &cpus, sizeof cpus, NULL) != PFR_OK)
        return PFR_OK;
    PFR_TRY(make_own(s, t->err));
    s->own[event].count = 0;
    return add_cpus(s, &s->own[event], &cpus.cpus, t->err);
}

static pfr_status on_config(struct stat_taking *t) {
    struct pfr_rec_stat_config body;
    struct pfr_rec_stat_config_term term;
    if (pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    t->s->mode = 0;
    pfr_items_iter it = pfr_items_begin(&body.data);
    while (pfr_items_next(&it, &term, sizeof term, NULL) == PFR_OK)
        if (term.tag == AGGR_MODE)
            t->s->mode = (uint32_t)term.val;
    return PFR_OK;
}

/* --- counts --- */

static const struct stat_cpus *cpus_of(const struct script_stat *s, uint32_t event) {
    return event < s->nr_own && s->own[event].count ? &s->own[event] : &s->cpus;
}

static bool find_cpu(const struct stat_cpus *c, int32_t cpu, uint32_t *index) {
    const int32_t *at = c->count ? bsearch(&cpu, c->at, c->count, sizeof *c->at, by_number) : NULL;
    *index = at ? (uint32_t)(at - c->at) : 0;
    return at != NULL;
}

/* Packs a place into one number: 32 bits for the event, 16 each for thread and cpu. */
static uint64_t place_of(uint32_t event, uint32_t thread, uint32_t cpu) {
    return (uint64_t)event << 32 | thread << 16 | cpu;
}

static pfr_status find_cell(struct script_stat *s, uint32_t event, uint32_t thread, uint32_t cpu,
                            struct stat_script_cell **cell, pfr_error *err) {
    bool is_new;
    const uint64_t *index = u64_map_at(&s->places, place_of(event, thread, cpu), s->nr_cells, &is_new);
    if (!index)
        return mem_fail(s->memory, err, "counts");
    const uint64_t at = *index;
    if (is_new) {
        struct stat_script_cell *grown = mem_grow(s->memory, s->cells, s->nr_cells, &s->cells_room, 64, sizeof *grown);
        if (!grown)
            return mem_fail(s->memory, err, "counts");
        s->cells = grown;
        s->cells[s->nr_cells++] = (struct stat_script_cell){.event = event, .thread = thread, .cpu = cpu};
    }
    *cell = &s->cells[at];
    return PFR_OK;
}

static pfr_status note_fresh(struct script_stat *s, struct stat_script_cell *cell, pfr_error *err) {
    if (cell->round == s->round)
        return PFR_OK;
    uint64_t *grown = mem_grow(s->memory, s->fresh, s->nr_fresh, &s->fresh_room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(s->memory, err, "counts");
    s->fresh = grown;
    s->fresh[s->nr_fresh++] = (uint64_t)(cell - s->cells);
    cell->round = s->round;
    return PFR_OK;
}

static pfr_status on_stat(struct stat_taking *t) {
    struct script_stat *s = t->s;
    struct pfr_rec_stat body;
    struct stat_script_cell *cell = NULL;
    uint32_t cpu;
    if (pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK) /* the reader reports the damage */
        return PFR_OK;
    const int32_t event = pfr_event_of_id(s->reader, body.id);
    if (event < 0)
        return pfr_fail(t->err, PFR_HOLE, t->rec->offset, t->rec->size, "stat.id",
                        "a count that belongs to no event: id %ju", (uintmax_t)body.id);
    if (body.thread >= s->nr_threads || !find_cpu(cpus_of(s, (uint32_t)event), (int32_t)body.cpu, &cpu))
        return pfr_fail(t->err, PFR_HOLE, t->rec->offset, t->rec->size, "stat.cpu",
                        "a count of CPU %d and thread %u, which CPU_MAP or THREAD_MAP lack", (int32_t)body.cpu,
                        body.thread);
    PFR_TRY(find_cell(s, (uint32_t)event, body.thread, cpu, &cell, t->err));
    cell->now = (struct count){body.val, body.ena, body.run};
    return note_fresh(s, cell, t->err);
}

/* --- a round --- */

void script_stat_as_json(struct script_stat *s) {
    s->as_json = true;
}

static void say_header(struct script_stat *s, struct output *out) {
    if (!s->said_header && !s->as_json)
        out_text(out, "CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n");
    s->said_header = true;
}

static void say_signed(struct output *out, int64_t value, size_t width) {
    if (value < 0) {
        char digits[24];
        const size_t length = format_u64(digits, 0 - (uint64_t)value);
        out_pad(out, length + 1 < width ? width - length - 1 : 0);
        out_char(out, '-');
        out_write(out, digits, length);
        return;
    }
    out_u64_wide(out, (uint64_t)value, width);
}

static void say_count(struct output *out, uint64_t value) {
    out_char(out, ' ');
    out_u64_wide(out, value, 15);
}

struct stat_row {
    const char *event;
    int32_t cpu;
    uint64_t thread, time;
    struct count count;
};

static void say_row(pfr_output *to, const struct stat_row *row) {
    struct output *out = &to->out;
    say_signed(out, row->cpu, 3);
    out_char(out, ' ');
    say_signed(out, (int32_t)row->thread, 8);
    say_count(out, row->count.val);
    say_count(out, row->count.ena);
    say_count(out, row->count.run);
    say_count(out, row->time);
    out_char(out, ' ');
    print_name(to, row->event, strlen(row->event));
    out_char(out, '\n');
}

static void say_json(pfr_output *to, const struct stat_row *row) {
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"value", row->count.val}, {"enabled", row->count.ena}, {"running", row->count.run}, {"time", row->time}};
    struct json j = json_on(&to->out, JSON_LINE);
    json_begin_object(&j);
    json_key(&j, "type");
    json_text(&j, "count");
    json_key(&j, "event");
    json_text(&j, row->event);
    json_key(&j, "cpu");
    json_i64(&j, row->cpu);
    json_key(&j, "tid");
    json_i64(&j, (int32_t)row->thread);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_key(&j, numbers[i].key);
        json_u64(&j, numbers[i].value);
    }
    json_end_object(&j);
    json_end_line(&j);
}

/* The count that perf prints for a cell at the end of a round. */
static struct count count_of(const struct script_stat *s, const struct stat_script_cell *c) {
    const bool whole = s->mode == MODE_GLOBAL || s->mode == MODE_UNSET || s->mode > MODE_LAST;
    if (whole)
        return c->now;
    return (struct count){c->now.val - c->before.val, c->now.ena - c->before.ena, c->now.run - c->before.run};
}

static void say_cell(struct script_stat *s, const struct stat_script_cell *c, uint64_t time, pfr_output *out) {
    const struct stat_row row = {pfr_get_event(s->reader, c->event)->name, cpus_of(s, c->event)->at[c->cpu],
                                 s->threads[c->thread], time, count_of(s, c)};
    (s->as_json ? say_json : say_row)(out, &row);
}

/* Prints all threads and cpus of an event. */
static void say_event(struct script_stat *s, uint32_t event, uint64_t time, pfr_output *out) {
    const struct stat_cpus *cpus = cpus_of(s, event);
    for (uint32_t thread = 0; thread < s->nr_threads; thread++) {
        for (uint32_t cpu = 0; cpu < cpus->count; cpu++) {
            const struct stat_script_cell none = {.event = event, .thread = thread, .cpu = cpu};
            uint64_t index;
            const bool known = u64_map_get(&s->places, place_of(event, thread, cpu), &index);
            const struct stat_script_cell *c = known ? &s->cells[index] : &none;
            s->idle += c->round != s->round;
            say_cell(s, c, time, out);
        }
    }
}

static int by_place(const void *left, const void *right) {
    const struct stat_script_cell *const *a = left, *const *b = right;
    const uint64_t x = place_of((*a)->event, (*a)->thread, (*a)->cpu);
    const uint64_t y = place_of((*b)->event, (*b)->thread, (*b)->cpu);
    return (x > y) - (x < y);
}

/* Prints only the counts that arrived in this round. */
static pfr_status say_fresh(struct script_stat *s, uint64_t time, pfr_output *out, pfr_error *err) {
    if (s->nr_fresh == 0)
        return PFR_OK;
    const struct stat_script_cell **cells = mem_alloc(s->memory, s->nr_fresh, sizeof *cells);
    if (!cells)
        return mem_fail(s->memory, err, "counts");
    for (size_t i = 0; i < s->nr_fresh; i++)
        cells[i] = &s->cells[s->fresh[i]];
    qsort(cells, s->nr_fresh, sizeof *cells, by_place);
    for (size_t i = 0; i < s->nr_fresh; i++)
        say_cell(s, cells[i], time, out);
    mem_free(s->memory, cells, s->nr_fresh, sizeof *cells);
    return PFR_OK;
}

static uint64_t rows_of_round(struct script_stat *s) {
    const uint32_t events = pfr_event_count(s->reader);
    if (s->rows_events == events)
        return s->rows;
    s->rows_events = events;
    s->rows = 0;
    for (uint32_t event = 0; event < events; event++)
        s->rows += cpus_of(s, event)->count * (uint64_t)s->nr_threads;
    return s->rows;
}

static pfr_status say_round(struct script_stat *s, uint64_t time, pfr_output *out, pfr_error *err) {
    if (rows_of_round(s) - s->nr_fresh > SCRIPT_STAT_IDLE_MOST - s->idle)
        return say_fresh(s, time, out, err);
    for (uint32_t event = 0; s->rows && event < s->rows_events; event++)
        say_event(s, event, time, out);
    return PFR_OK;
}

static pfr_status on_round(struct stat_taking *t) {
    struct script_stat *s = t->s;
    struct pfr_rec_stat_round body;
    if (pfr_decode(t->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    say_header(s, &t->out->out);
    if (s->have_cpus && s->have_threads)
        PFR_TRY(say_round(s, body.time, t->out, t->err));
    for (size_t i = 0; i < s->nr_fresh; i++)
        s->cells[s->fresh[i]].before = s->cells[s->fresh[i]].now;
    s->nr_fresh = 0;
    s->round++;
    return PFR_OK;
}

typedef pfr_status take_fn(struct stat_taking *t);

static take_fn *const takers[STAT_TYPES] = {
    [PFR_RECORD_THREAD_MAP] = on_thread_map, [PFR_RECORD_CPU_MAP] = on_cpu_map,
    [PFR_RECORD_STAT_CONFIG] = on_config,    [PFR_RECORD_STAT] = on_stat,
    [PFR_RECORD_STAT_ROUND] = on_round,      [PFR_RECORD_EVENT_UPDATE] = on_event_update,
};

pfr_status script_stat_take(struct script_stat *s, const pfr_record *rec, pfr_output *out, pfr_error *err) {
    struct stat_taking t = {s, rec, out, err};
    if (rec->type >= STAT_TYPES || !takers[rec->type])
        return PFR_OK;
    return takers[rec->type](&t);
}
