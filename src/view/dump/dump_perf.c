/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines as printed by `perf report -D` of perf 6.1, without the hex lines and without anything that perf looks up:
 *
 *     0x278@perf.data [0x28]: event: 3
 *
 *     1370893614509 0x278 [0x28]: PERF_RECORD_COMM exec: work:8/8
 *
 * Each record type has a function that writes the text after its name, in one table by layout. `perf report` does not
 * process some records, and marks them by ": unhandled!" in a line of its own or after the name:
 *
 *     -1 -1 0x278 [0x10]: PERF_RECORD_CPU_MAP: 0-1
 *     : unhandled!
 */
#include "view/dump/dump_perf.h"

#include "wire/names.h"
#include "wire/record_bits.h"
#include "view/dump/dump_decode.h"
#include "view/dump/dump_hole.h"

#define PIPE_HEADER 16u /* perf counts offsets in a stream from its first record */
#define FIRST_USER_RECORD 64u

static bool is_stream(const struct dump *d) {
    return pfr_get_header(d->reader)->container == PFR_PIPE;
}

static void name_only(struct dump *d, const pfr_record *rec, const void *body) {
    (void)rec, (void)body;
    end_line(d);
}

static void unhandled(struct dump *d, const pfr_record *rec, const void *body) {
    (void)rec, (void)body;
    say(d, ": unhandled!\n");
}

/* FINISHED_ROUND limits the sorting of records. perf does not sort a file if its first event has times in samples only.
 */
static void finished_round(struct dump *d, const pfr_record *rec, const void *body) {
    perf_lines *lines = !d->unsorted && (is_stream(d) || d->events.stamped) ? name_only : unhandled;
    lines(d, rec, body);
}

/* perf does not print COMPRESSED and COMPRESSED2, only their contents. */
static void no_lines(struct dump *d, const pfr_record *rec, const void *body) {
    (void)d, (void)rec, (void)body;
}

/* perf script prints only the name of these records, without a newline. */
static void no_end(struct dump *d, const pfr_record *rec, const void *body) {
    (void)d, (void)rec, (void)body;
}

static void read_unhandled(struct dump *d, const pfr_record *rec, const void *body) {
    perf_read(d, rec, body);
    unhandled(d, rec, body);
}

/* Layouts without an entry print only their name. */
static const struct {
    perf_lines *lines, *more;
    perf_lines *in_script; /* used for perf script, instead of `lines` and `more`; NULL: as for perf report */
} rows[LAYOUTS] = {
    [L_mmap] = {perf_mmap, NULL, NULL},
    [L_lost] = {perf_lost, NULL, NULL},
    [L_comm] = {perf_comm, NULL, NULL},
    [L_exit] = {perf_fork, NULL, NULL},
    [L_throttle] = {unhandled, NULL, no_end},
    [L_unthrottle] = {unhandled, NULL, no_end},
    [L_fork] = {perf_fork, NULL, NULL},
    [L_read] = {perf_read, NULL, read_unhandled},
    [L_sample] = {perf_sample, NULL, NULL},
    [L_mmap2] = {perf_mmap2, NULL, NULL},
    [L_aux] = {perf_aux, NULL, NULL},
    [L_itrace_start] = {perf_itrace_start, NULL, NULL},
    [L_lost_samples] = {perf_lost_samples, NULL, NULL},
    [L_switch] = {perf_switch, NULL, NULL},
    [L_switch_cpu_wide] = {perf_switch_cpu_wide, NULL, NULL},
    [L_namespaces] = {perf_namespaces, NULL, NULL},
    [L_ksymbol] = {perf_ksymbol, NULL, NULL},
    [L_bpf_event] = {perf_bpf_event, NULL, NULL},
    [L_cgroup] = {perf_cgroup, NULL, NULL},
    [L_text_poke] = {perf_text_poke, NULL, NULL},
    [L_aux_output_hw_id] = {perf_aux_output_hw_id, NULL, NULL},
    [L_finished_round] = {finished_round, NULL, NULL},
    [L_id_index] = {perf_id_index, NULL, NULL},
    [L_auxtrace_info] = {perf_auxtrace_info, NULL, NULL},
    [L_auxtrace] = {perf_auxtrace, NULL, NULL},
    [L_auxtrace_error] = {perf_auxtrace_error, NULL, NULL},
    [L_thread_map] = {perf_thread_map, unhandled, perf_thread_map},
    [L_cpu_map] = {perf_cpu_map, unhandled, perf_cpu_map},
    [L_stat_config] = {perf_stat_config, unhandled, no_end},
    [L_stat] = {perf_stat, unhandled, no_end},
    [L_stat_round] = {perf_stat_round, unhandled, no_end},
    [L_event_update] = {perf_event_update, NULL, NULL},
    [L_time_conv] = {perf_time_conv, unhandled, NULL},
    [L_compressed] = {no_lines, NULL, NULL},
    [L_finished_init] = {unhandled, NULL, NULL},
    [L_compressed2] = {no_lines, NULL, NULL},
    [L_header_event_type] = {NULL, NULL, no_end},
    [L_header_tracing_data] = {NULL, NULL, no_end},
    [L_header_build_id] = {NULL, NULL, no_end},
    [L_header_attr] = {NULL, NULL, no_end},
    [L_header_feature] = {NULL, NULL, no_end},
};

/* Updates perf's knowledge about the events; in a stream, this knowledge changes after the line of each attr. */
static void learn_events(struct dump *d) {
    struct dump_events *known = &d->events;
    const uint32_t limit = d->is_script && is_stream(d) ? known->printed : UINT32_MAX;
    for (; known->count < pfr_event_count(d->reader) && known->count < limit; known->count++) {
        const pfr_event *event = pfr_get_event(d->reader, known->count);
        known->sample_types |= event->attr.sample_type;
        if (known->count == 0)
            known->stamped = event->attr.flags.sample_id_all;
    }
}

/* Writes CPU and time if any event has them. A value that this record lacks is printed as all ones; in user records
   both are 0. */
static void say_stamp(struct dump *d, const pfr_record *rec, const struct pfr_rec_sample *sample) {
    struct pfr_rec_sample_id id = {0};
    const uint64_t own = rec->context->word[WORD_SAMPLE], all = d->events.sample_types;
    const bool user = rec->type >= FIRST_USER_RECORD;
    const bool has = sample || dump_decode_id(rec, &id, NULL) == PFR_OK;
    if (!sample && !d->events.stamped) {
        say(d, "-1 -1 ");
        return;
    }
    if (sample)
        id = (struct pfr_rec_sample_id){.cpu = sample->cpu, .time = sample->time};
    if (has_bit(all, SAMPLE_BIT_CPU)) {
        out_u64(d->out, user ? 0 : has && has_bit(own, SAMPLE_BIT_CPU) ? id.cpu : UINT32_MAX);
        say(d, " ");
    }
    if (has_bit(all, SAMPLE_BIT_TIME)) {
        out_u64(d->out, user ? 0 : has && has_bit(own, SAMPLE_BIT_TIME) ? id.time : UINT64_MAX);
        say(d, " ");
    }
}

#define BYTES_A_LINE 16u

/* Writes one line of bytes: ".  0010:  00 61 ..  .a" */
static void say_some_bytes(struct dump *d, const pfr_record *rec, uint32_t from) {
    const uint32_t count = rec->size - from < BYTES_A_LINE ? rec->size - from : BYTES_A_LINE;
    say(d, ".  ");
    out_hex(d->out, from, 4);
    say(d, ": ");
    for (uint32_t i = 0; i < BYTES_A_LINE; i++) {
        out_char(d->out, ' ');
        if (i < count)
            out_hex(d->out, rec->bytes[from + i], 2);
        else
            say(d, "  ");
    }
    say(d, "  ");
    for (uint32_t i = 0; i < count; i++)
        out_char(d->out, rec->bytes[from + i] >= ' ' && rec->bytes[from + i] < 0x7f ? (char)rec->bytes[from + i] : '.');
    out_pad(d->out, BYTES_A_LINE - count);
    end_line(d);
}

static void say_bytes(struct dump *d, const pfr_record *rec) {
    say_u(d, ".\n. ... raw event: size ", rec->size);
    say(d, " bytes\n");
    for (uint32_t from = 0; from < rec->size; from += BYTES_A_LINE)
        say_some_bytes(d, rec, from);
}

static void say_place(struct dump *d, const pfr_record *rec, uint64_t offset) {
    const pfr_header *h = pfr_get_header(d->reader);
    const char *name = h->container == PFR_PIPE ? "pipe" : d->options.name ? d->options.name : "";
    say_x(d, "\n", offset);
    say(d, "@");
    print_name(d->to, name, strlen(name));
    if (h->container == PFR_DIRECTORY)
        say(d, "/data");
    if (h->container == PFR_DIRECTORY && rec->part > 0)
        say_u(d, ".", rec->part - 1);
    say_x(d, " [", rec->size);
    say_d(d, "]: event: ", rec->type);
    say(d, "\n");
    if (d->options.hex)
        say_bytes(d, rec);
    say(d, "\n");
}

static void say_frame(struct dump *d, const pfr_record *rec, const struct pfr_rec_sample *sample) {
    const uint64_t offset = is_stream(d) && rec->offset >= PIPE_HEADER ? rec->offset - PIPE_HEADER : rec->offset;
    const char *name = name_of(SHOW_RECORD, rec->type);
    say_place(d, rec, offset);
    say_stamp(d, rec, sample);
    say_x(d, "", offset);
    say_x(d, " [", rec->size);
    say(d, "]: PERF_RECORD_");
    say(d, name ? name : "UNKNOWN");
}

/* Returns false if only the name can be printed. */
static bool decodes(struct dump *d, const pfr_record *rec, unsigned layout) {
    struct cursor in;
    pfr_error err;
    if (!layout) {
        d->counts.unknown++;
        return false;
    }
    if (dump_decode(d, rec, layout, &in, &err) == PFR_OK)
        return true;
    d->counts.damaged++;
    dump_report_hole(d, &err);
    return false;
}

pfr_status dump_perf_record(struct dump *d, const pfr_record *rec, pfr_error *error) {
    const unsigned layout = dump_layout_of(d, rec->type);
    (void)error;
    if (rows[layout].lines == no_lines)
        return PFR_OK;
    const bool fits = decodes(d, rec, layout);
    perf_lines *lines = fits && rows[layout].lines ? rows[layout].lines : name_only;
    if (d->is_script && rows[layout].in_script && (fits || rows[layout].in_script == no_end))
        lines = rows[layout].in_script;
    if (!is_stream(d))
        learn_events(d);
    say_frame(d, rec, fits && layout == L_sample ? &d->body.sample_ : NULL);
    lines(d, rec, &d->body);
    if (fits && rows[layout].more && !(d->is_script && rows[layout].in_script))
        rows[layout].more(d, rec, &d->body);
    d->events.printed += layout == L_header_attr;
    learn_events(d);
    return PFR_OK;
}
