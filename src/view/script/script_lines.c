/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints lines of records other than samples:
 *
 *     work   215/215    1636.972560: PERF_RECORD_COMM exec: work:215/215
 *
 * The start of the line is printed like that of a sample of the same event; the text after the record's name is that of
 * perf's dump.
 */
#include "view/dump/dump_perf.h"
#include "view/script/script_lines.h"
#include "view/script/script_filter.h"
#include "view/script/script_json.h"
#include "view/script/script_out_of_order.h"
#include "view/script/script_threads.h"

#include "base/memory/fail.h"
#include "wire/names.h"
#include "view/dump/dump_walk.h"

/* Sets the process and thread that the line is about. */
typedef void line_subject(const void *body, struct moment *m);

static void subject_mmap(const void *body, struct moment *m) {
    const struct pfr_rec_mmap *b = body;
    m->pid = b->pid, m->tid = b->tid;
}

static void subject_mmap2(const void *body, struct moment *m) {
    const struct pfr_rec_mmap2 *b = body;
    m->pid = b->pid, m->tid = b->tid;
}

static void subject_comm(const void *body, struct moment *m) {
    const struct pfr_rec_comm *b = body;
    m->pid = b->pid, m->tid = b->tid;
}

static void subject_fork(const void *body, struct moment *m) {
    const struct pfr_rec_fork *b = body;
    m->pid = b->pid, m->tid = b->tid;
}

static void subject_namespaces(const void *body, struct moment *m) {
    const struct pfr_rec_namespaces *b = body;
    m->pid = b->pid, m->tid = b->tid;
}

static void lost_line(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_lost *lost = body;
    (void)rec;
    say_u(d, " lost ", lost->lost);
    end_line(d);
}

static const struct {
    uint32_t show;
    line_subject *subject; /* NULL: the thread in the sample_id */
    perf_lines *line;
} rows[] = {
    [PFR_RECORD_MMAP] = {PFR_SCRIPT_MAPS, subject_mmap, perf_mmap},
    [PFR_RECORD_LOST] = {PFR_SCRIPT_LOSSES, NULL, lost_line},
    [PFR_RECORD_COMM] = {PFR_SCRIPT_TASKS, subject_comm, perf_comm},
    [PFR_RECORD_EXIT] = {PFR_SCRIPT_TASKS, subject_fork, perf_fork},
    [PFR_RECORD_FORK] = {PFR_SCRIPT_TASKS, subject_fork, perf_fork},
    [PFR_RECORD_MMAP2] = {PFR_SCRIPT_MAPS, subject_mmap2, perf_mmap2},
    [PFR_RECORD_SWITCH] = {PFR_SCRIPT_SWITCHES, NULL, perf_switch},
    [PFR_RECORD_SWITCH_CPU_WIDE] = {PFR_SCRIPT_SWITCHES, NULL, perf_switch_cpu_wide},
    [PFR_RECORD_NAMESPACES] = {PFR_SCRIPT_NAMESPACES, subject_namespaces, perf_namespaces},
    [PFR_RECORD_KSYMBOL] = {PFR_SCRIPT_BPF, NULL, perf_ksymbol},
    [PFR_RECORD_BPF_EVENT] = {PFR_SCRIPT_BPF, NULL, perf_bpf_event},
    [PFR_RECORD_CGROUP] = {PFR_SCRIPT_CGROUPS, NULL, perf_cgroup},
    [PFR_RECORD_TEXT_POKE] = {PFR_SCRIPT_POKES, NULL, perf_text_poke},
    [PFR_RECORD_FINISHED_ROUND] = {PFR_SCRIPT_ROUNDS, NULL, NULL},
};

bool script_line_wanted(const struct script *s, uint32_t type) {
    return type < sizeof rows / sizeof *rows && (rows[type].show & s->shared->options->show);
}

pfr_status script_lines_make(struct script *s, pfr_error *err) {
    if (s->shared->options->show == 0 && !s->shared->options->dump)
        return PFR_OK;
    s->lines = mem_zeroed(s->memory, 1, sizeof *s->lines);
    if (!s->lines)
        return mem_fail(s->memory, err, "script");
    s->lines->reader = s->shared->reader;
    s->lines->to = s->to;
    s->lines->out = s->out;
    if (script_is_json(s)) {
        s->lines->to = &s->json_text;
        s->lines->out = &s->json_text.out;
        s->lines->form = &dump_json_form;
    }
    s->lines->is_script = true;
    s->lines->unsorted = s->shared->options->unsorted && !(s->shared->options->show & PFR_SCRIPT_ROUNDS);
    s->lines->options = (pfr_dump_options){.format = PFR_DUMP_PERF, .hex = true, .name = s->shared->options->name};
    return dump_tables_make(s->lines, err);
}

void script_lines_free(struct script *s) {
    if (s->lines)
        dump_tables_free(s->lines);
    mem_free(s->memory, s->lines, s->lines ? 1 : 0, sizeof *s->lines);
}

/* The printed name is the one that the described thread has once the record has taken effect; the printed pid and tid
 * come from the record's sample_id. */
static struct script_thread *find_thread(struct script *s, struct moment *m, uint32_t type) {
    struct moment subject = *m;
    if (rows[type].subject)
        rows[type].subject(&s->lines->body, &subject);
    subject.key.inner++;
    if (s->caches.disorder.is_on)
        script_disorder_turn(s, &subject.key);
    else
        s->caches.epoch++;
    return script_thread_of(s, m->rec, m->guest, subject.pid, subject.tid, &subject.key);
}

static void write_begin(struct script *s, const struct moment *m) {
    for (script_printer *const *print = m->event->begin; *print; print++)
        (*print)(s, m);
}

static void describe(struct script *s, struct moment *m) {
    struct pfr_rec_sample_id id = {0};
    if (pfr_decode_id(m->rec, &id, NULL) == PFR_OK) {
        m->guest = guests_of_id(&s->shared->state->guests, id.identifier ? id.identifier : id.id);
        m->pid = id.pid, m->tid = id.tid, m->cpu = id.cpu, m->time = id.time;
        return;
    }
    if (rows[m->rec->type].subject)
        rows[m->rec->type].subject(&s->lines->body, m);
}

void script_line(struct script *s, const pfr_record *rec, struct record_key key) {
    const char *name = name_of(SHOW_RECORD, rec->type);
    const unsigned layout = layout_find(TABLE_PERF_RECORD, rec->type);
    struct moment m = {.rec = rec, .key = key, .misc = rec->misc};
    if (rows[rec->type].line) {
        if (s->shared->nr_events == 0 || pfr_decode(rec, &s->lines->body, layout_at(layout)->size, NULL) != PFR_OK)
            return;
        m.event = &s->shared->events[rec->event >= 0 && (uint32_t)rec->event < s->shared->nr_events ? rec->event : 0];
        describe(s, &m);
        m.thread = find_thread(s, &m, rec->type);
        if (!m.thread || !script_wants_cpu(s, &m))
            return;
    }
    if (script_is_json(s)) {
        script_json_line(s, &m);
        return;
    }
    if (m.thread)
        write_begin(s, &m);
    out_text(s->out, "PERF_RECORD_");
    out_text(s->out, name ? name : "UNKNOWN");
    s->lines->context = *rec->context;
    if (rows[rec->type].line)
        rows[rec->type].line(s->lines, rec, &s->lines->body);
    else
        out_char(s->out, '\n');
}
