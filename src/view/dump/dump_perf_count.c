/* SPDX-License-Identifier: Apache-2.0 */
/* perf's lines for counting: counts of events, their threads and CPUs, display settings, and losses. */
#include "view/dump/dump_perf.h"

#include "view/words/cpu_map.h"

#include "wire/record_bits.h"
#include "view/dump/dump_decode.h"

void perf_lost(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_lost *lost = body;
    (void)rec;
    say_u(d, ": id:", lost->id);
    say_u(d, ": lost:", lost->lost);
    end_line(d);
}

void perf_lost_samples(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_lost_samples *lost = body;
    const uint64_t types = rec->context->word[WORD_SAMPLE];
    struct pfr_rec_sample_id id = {0};
    const bool has = dump_decode_id(rec, &id, NULL) == PFR_OK;
    say_u(d, ": id:",
          has && has_bit(types, SAMPLE_BIT_IDENTIFIER) ? id.identifier
          : has && has_bit(types, SAMPLE_BIT_ID)       ? id.id
                                                       : UINT64_MAX);
    say_u(d, ": lost samples :", lost->lost);
    end_line(d);
}

/* The value; for a group, the value of its first member. */
static struct pfr_rec_read_entry first_value(const struct pfr_rec_read_value *values) {
    struct pfr_rec_read_entry e = {.value = values->value, .id = values->id, .lost = values->lost};
    pfr_items_iter it = pfr_items_begin(&values->values);
    if (values->values.count > 0)
        pfr_items_next(&it, &e, sizeof e, NULL);
    return e;
}

void perf_read(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_read *r = body;
    const struct pfr_rec_read_entry e = first_value(&r->values);
    const pfr_event *event = rec->event >= 0 ? pfr_get_event(d->reader, (uint32_t)rec->event) : NULL;
    const char *name = event ? event->name : "";
    const struct {
        const char *label;
        uint64_t value;
    } more[] = {{"... time enabled : ", r->values.time_enabled},
                {"... time running : ", r->values.time_running},
                {"... id           : ", e.id},
                {NULL, 0}, /* GROUP */
                {"... lost         : ", e.lost}};
    say_d(d, ": ", r->pid);
    say_d(d, " ", r->tid);
    say(d, " ");
    print_name(d->to, name, strlen(name));
    say_u(d, " ", e.value);
    end_line(d);
    for (unsigned bit = 0; bit < sizeof more / sizeof *more; bit++) {
        if (!more[bit].label || !has_bit(rec->context->word[WORD_READ], bit))
            continue;
        say_u(d, more[bit].label, more[bit].value);
        end_line(d);
    }
}

void perf_thread_map(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_thread_map *map = body;
    struct pfr_rec_thread_map_entry e;
    pfr_items_iter it = pfr_items_begin(&map->entries);
    (void)rec;
    say_u(d, " nr: ", map->nr);
    const char *before = map->nr > 1 ? " threads: " : " thread: ";
    for (; pfr_items_next(&it, &e, sizeof e, NULL) == PFR_OK; before = ", ")
        say_d(d, before, (uint32_t)e.pid);
    end_line(d);
}

/* A list of cpus as ranges: "0-1,4". */
struct perf_cpu_list {
    struct dump *d;
    int64_t first, last;
    bool open, filled;
};

static void end_range(struct perf_cpu_list *list) {
    if (!list->open)
        return;
    say(list->d, list->filled ? "," : "");
    out_i64(list->d->out, list->first);
    if (list->last != list->first) {
        say(list->d, "-");
        out_i64(list->d->out, list->last);
    }
    list->filled = true;
    list->open = false;
}

static pfr_status add_cpu(void *context, int64_t cpu) {
    struct perf_cpu_list *list = context;
    if (list->open && cpu == list->last + 1) {
        list->last = cpu;
        return PFR_OK;
    }
    end_range(list);
    list->first = list->last = cpu;
    list->open = true;
    return PFR_OK;
}

static void say_cpus(struct dump *d, const struct pfr_rec_cpu_map_data *data) {
    struct perf_cpu_list list = {.d = d};
    cpu_map_each(data, add_cpu, &list);
    end_range(&list);
}

void perf_cpu_map(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_cpu_map *map = body;
    (void)rec;
    say(d, ": ");
    say_cpus(d, &map->data);
    end_line(d);
}

void perf_stat_config(struct dump *d, const pfr_record *rec, const void *body) {
    static const struct {
        uint64_t tag;
        const char *label;
    } lines[] = {{0, "... aggr_mode "}, {2, "... scale     "}, {1, "... interval  "}};
    const struct pfr_rec_stat_config *config = body;
    struct pfr_rec_stat_config_term term;
    (void)rec;
    end_line(d);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        uint64_t value = 0;
        pfr_items_iter it = pfr_items_begin(&config->data);
        while (pfr_items_next(&it, &term, sizeof term, NULL) == PFR_OK)
            if (term.tag == lines[i].tag)
                value = term.val;
        say_u(d, lines[i].label, value);
        end_line(d);
    }
}

void perf_stat(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_stat *stat = body;
    (void)rec;
    say_u(d, "\n... id ", stat->id);
    say_d(d, ", cpu ", stat->cpu);
    say_u(d, ", thread ", stat->thread);
    say_u(d, "\n... value ", stat->val);
    say_u(d, ", enabled ", stat->ena);
    say_u(d, ", running ", stat->run);
    end_line(d);
}

void perf_stat_round(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_stat_round *round = body;
    (void)rec;
    say_u(d, "\n... time ", round->time);
    say(d, round->type ? ", type FINAL\n" : ", type INTERVAL\n");
}

void perf_event_update(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_event_update *update = body;
    union dump_body *data = d->part;
    double scale;
    (void)rec;
    say_u(d, "\n... id:    ", update->id);
    end_line(d);
    struct items_walk walk = items_start(&update->data);
    if (items_next(&update->data, &walk, data, NULL) != PFR_OK)
        return;
    memcpy(&scale, &data->event_update_scale_.scale, sizeof scale);
    if (update->data.of == L_event_update_unit)
        say_name(d, "... unit:  ", &data->event_update_unit_.unit);
    else if (update->data.of == L_event_update_name)
        say_name(d, "... name:  ", &data->event_update_name_.event_name);
    else if (update->data.of == L_event_update_scale)
        say(d, "... scale: "), out_f64(d->out, scale, 6);
    else
        say(d, "... "), say_cpus(d, &data->event_update_cpus_.cpus);
    end_line(d);
}
