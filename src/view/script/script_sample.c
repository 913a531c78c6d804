/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields stored in the sample itself, in perf's column widths:
 *
 *             work   215/215   [001] U      1636.972560:    1001001 cpu-clock:
 *     comm         pid/tid     cpu   misc   time            period  event
 */
#include "view/script/script_sample.h"
#include "view/script/script_threads.h"

#include "view/words/sample_text.h"

#include "wire/record_bits.h"

#include <time.h>

#define COMM_WIDTH 16u
#define SECOND_WIDTH 5u
#define NS_PER_SECOND 1000000000u
#define BPF_OUTPUT 10u

/* For guests: the process that runs the guest, and its virtual CPU. */
void print_machine_pid(struct script *s, const struct moment *m) {
    if (m->guest.machine_pid == 0)
        return;
    out_text(s->out, "VM:");
    out_i64_wide(s->out, (int32_t)m->guest.machine_pid, 5);
    out_char(s->out, ' ');
}

void print_vcpu(struct script *s, const struct moment *m) {
    if (m->guest.machine_pid == 0)
        return;
    out_text(s->out, "VCPU:");
    out_fill(s->out, '0', m->guest.vcpu < 10 ? 2 : m->guest.vcpu < 100 ? 1 : 0);
    out_u64(s->out, m->guest.vcpu);
    out_char(s->out, ' ');
}

/* As in perf, the name is not padded if a callchain follows. */
static void write_comm(struct output *out, const struct moment *m) {
    out_text_wide(out, m->thread->comm, m->thread->comm_length, m->event->chains ? 0 : COMM_WIDTH);
    out_char(out, ' ');
}

static void write_ids(struct output *out, const struct moment *m) {
    const unsigned form = m->event->who_form;
    if (form & WHO_PID)
        out_i64_wide(out, (int32_t)m->pid, 5);
    if ((form & WHO_PID) && (form & WHO_TID)) {
        out_char(out, '/');
        out_i64_left(out, (int32_t)m->tid, 5);
    } else if (form & WHO_TID) {
        out_i64_wide(out, (int32_t)m->tid, 5);
    }
    if (form & (WHO_PID | WHO_TID))
        out_char(out, ' ');
}

static void write_who(struct output *out, const struct moment *m) {
    if (m->event->who_form & WHO_COMM)
        write_comm(out, m);
    write_ids(out, m);
}

/* The formatted start of the line is cached with the thread if it fits. Lines of other records can combine the name of
 * one thread with the ids of another, so the ids are compared. */
void print_who(struct script *s, const struct moment *m) {
    struct script_thread *t = m->thread;
    if (t->who_form == m->event->who_form && t->tid == m->tid && t->pid == m->pid && out_room(s->out, sizeof t->who)) {
        memcpy(s->out->buffer + s->out->used, t->who, sizeof t->who);
        s->out->used += t->who_length;
        return;
    }
    const uint64_t before = out_written(s->out);
    write_who(s->out, m);
    const uint64_t length = out_written(s->out) - before;
    if (length == 0 || length > sizeof t->who || length > s->out->used || t->tid != m->tid || t->pid != m->pid)
        return;
    memcpy(t->who, s->out->buffer + s->out->used - length, length);
    t->who_length = (uint8_t)length;
    t->who_form = m->event->who_form;
}

void print_cpu(struct script *s, const struct moment *m) {
    const int32_t cpu = (int32_t)m->cpu;
    out_char(s->out, '[');
    if (cpu < 0)
        out_char(s->out, '-');
    const uint64_t number = cpu < 0 ? 0 - (uint64_t)(int64_t)cpu : (uint64_t)cpu;
    out_fill(s->out, '0', number < 10 ? (cpu < 0 ? 1 : 2) : number < 100 && cpu >= 0 ? 1 : 0);
    out_u64(s->out, number);
    out_write(s->out, "] ", 2);
}

#define FRACTION_MOST 9u
/* Writes the digits after the decimal point, at most FRACTION_MOST; returns their number. */
static size_t format_fraction(const struct script *s, char *to, uint32_t nanoseconds) {
    const size_t digits = s->shared->options->nanoseconds ? FRACTION_MOST : 6;
    format_digits(to, s->shared->options->nanoseconds ? nanoseconds : nanoseconds / 1000, digits);
    return digits;
}

/* Returns the time as recorded, or relative to the first or the previous printed time. Time 0 means no time and is not
 * used as origin. */
static uint64_t printed_time(struct script *s, uint64_t time) {
    if (s->shared->options->clock == PFR_SCRIPT_AS_RECORDED)
        return time;
    const uint64_t zero = s->sequence.clock_zero ? s->sequence.clock_zero : time;
    if (!s->sequence.clock_zero || s->shared->options->clock == PFR_SCRIPT_SINCE_PREVIOUS)
        s->sequence.clock_zero = time;
    return time - zero;
}

static void write_whole(struct script_second *kept, uint64_t second) {
    char digits[20];
    const size_t length = format_u64(digits, second), blanks = length < SECOND_WIDTH ? SECOND_WIDTH - length : 0;
    memset(kept->text, ' ', SECOND_WIDTH);
    memcpy(kept->text + blanks, digits, length);
    kept->text[blanks + length] = '.';
    kept->length = blanks + length + 1;
    kept->from = second * NS_PER_SECOND;
}

void print_time(struct script *s, const struct moment *m) {
    struct script_second *kept = &s->caches.second;
    const uint64_t time = printed_time(s, m->time);
    if (kept->length == 0 || time < kept->from || time - kept->from >= NS_PER_SECOND)
        write_whole(kept, time / NS_PER_SECOND);
    if (!out_room(s->out, sizeof kept->text + FRACTION_MOST + 2))
        return;
    char *to = s->out->buffer + s->out->used;
    memcpy(to, kept->text, sizeof kept->text);
    const size_t length = kept->length + format_fraction(s, to + kept->length, (uint32_t)(time - kept->from));
    memcpy(to + length, ": ", 2);
    s->out->used += length + 2;
}

/* Writes a second of wall-clock time; the caller caches the text, because many samples fall into one second. */
static void write_second(struct script_day *day, int64_t second) {
    const time_t at = (time_t)second;
    struct tm local;
    day->second = second;
    day->length = localtime_r(&at, &local) ? strftime(day->text, sizeof day->text, "%Y-%m-%d %H:%M:%S", &local) : 0;
}

void print_tod(struct script *s, const struct moment *m) {
    struct script_day *day = &s->caches.day;
    const uint64_t time = m->time + s->shared->wall.ahead;
    const int64_t second = (int64_t)(time / NS_PER_SECOND);
    if (day->length == 0 || day->second != second)
        write_second(day, second);
    out_write(s->out, day->text, day->length);
    out_char(s->out, '.');
    char digits[FRACTION_MOST];
    out_write(s->out, digits, format_fraction(s, digits, (uint32_t)(time % NS_PER_SECOND)));
    out_char(s->out, ' ');
}

void print_period(struct script *s, const struct moment *m) {
    out_u64_wide(s->out, m->period, 10);
    out_char(s->out, ' ');
}

void print_event(struct script *s, const struct moment *m) {
    out_pad(s->out, s->shared->labels.width - m->event->name_length);
    out_write(s->out, m->event->label, m->event->label_length);
}

void print_flags(struct script *s, const struct moment *m) {
    (void)m;
    words_flags(s->to);
}

/* Prints the text of a tracepoint, if the recording has its format. */
void print_trace(struct script *s, const struct moment *m) {
    const pfr_bytes *raw = &m->sample->raw.data;
    if (!s->sequence.trace && !s->sequence.no_trace) {
        script_fail(s, tracepoint_text_open(&s->sequence.trace, s->shared->reader, s->memory, s->err));
        s->sequence.no_trace = !s->sequence.trace;
    }
    if (s->sequence.trace && SAMPLE_HAS(m->event->sample_type, S_RAW))
        script_fail(s, tracepoint_text_write(s->sequence.trace, m->event->event->attr.config, raw->at, raw->length,
                                             m->cpu, s->to, s->err));
}

void print_data_src(struct script *s, const struct moment *m) {
    words_data_src(s->to, m->sample->data_src, &s->sequence.source_width);
}

void print_weight(struct script *s, const struct moment *m) {
    const bool whole = SAMPLE_HAS(m->event->sample_type, S_WEIGHT);
    words_weight(s->to, whole ? m->sample->weight : weight_itself(m->sample->weight_struct));
}

void print_ins_lat(struct script *s, const struct moment *m) {
    words_ins_lat(s->to, m->sample->weight_struct);
}

void print_retire_lat(struct script *s, const struct moment *m) {
    words_retire_lat(s->to, m->sample->weight_struct);
}

void print_iregs(struct script *s, const struct moment *m) {
    words_regs(s->to, s->shared->arch, m->event->event->attr.sample_regs_intr, &m->sample->regs_intr.regs,
               m->sample->regs_intr.abi);
}

void print_uregs(struct script *s, const struct moment *m) {
    words_regs(s->to, s->shared->arch, m->event->event->attr.sample_regs_user, &m->sample->regs_user.regs,
               m->sample->regs_user.abi);
}

void print_bpf_output(struct script *s, const struct moment *m) {
    if (m->event->event->attr.config == BPF_OUTPUT && SAMPLE_HAS(m->event->sample_type, S_RAW))
        words_bpf_output(s->to, m->sample->raw.data.at, m->sample->raw.data.length);
}

void print_phys_addr(struct script *s, const struct moment *m) {
    words_phys_addr(s->to, m->sample->phys_addr);
}

void print_data_page_size(struct script *s, const struct moment *m) {
    words_page_size(s->to, m->sample->data_page_size);
}

void print_code_page_size(struct script *s, const struct moment *m) {
    words_page_size(s->to, m->sample->code_page_size);
}

void print_cgroup(struct script *s, const struct moment *m) {
    const uint32_t path = state_cgroup(s->shared->state, m->sample->cgroup, m->key);
    out_char(s->out, ' ');
    if (path == NO_VALUE) {
        out_text(s->out, "unknown");
        return;
    }
    const struct intern_text text = intern_get(&s->shared->state->names, path);
    print_name(s->to, text.bytes, text.length);
}

void print_misc(struct script *s, const struct moment *m) {
    words_misc(s->to, m->rec->type, m->misc);
}
