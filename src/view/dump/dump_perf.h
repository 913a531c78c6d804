/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_PERF_H
#define PFR_VIEW_DUMP_PERF_H
/*
 * Shared by the files that print perf's lines: one function per layout for the text after the record's name, and
 * helpers for its parts.
 *
 *     dump_perf.c         the start of each line, and the table of functions by layout
 *     dump_perf_sample.c  SAMPLE
 *     dump_perf_state.c   threads, mappings, code
 *     dump_perf_count.c   counts, CPUs, losses
 *     dump_perf_aux.c     AUX area
 */
#include "view/dump/dump_form.h"

#include <perfray/record_structs.h>

/* Writes the rest of the record's line with its newline, and any further lines. `body` is the struct of the layout. */
typedef void perf_lines(struct dump *d, const pfr_record *rec, const void *body);

perf_lines perf_sample;

perf_lines perf_comm, perf_fork, perf_switch, perf_switch_cpu_wide, perf_namespaces, perf_cgroup;
perf_lines perf_mmap, perf_mmap2, perf_ksymbol, perf_bpf_event, perf_text_poke;

perf_lines perf_lost, perf_lost_samples, perf_read, perf_thread_map, perf_cpu_map;
perf_lines perf_stat_config, perf_stat, perf_stat_round, perf_event_update;

perf_lines perf_aux, perf_itrace_start, perf_aux_output_hw_id, perf_id_index, perf_time_conv;
perf_lines perf_auxtrace_info, perf_auxtrace, perf_auxtrace_error;

static inline void say(struct dump *d, const char *text) {
    out_text(d->out, text);
}

static inline void say_u(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    out_u64(d->out, value);
}

static inline void say_d(struct dump *d, const char *before, uint32_t value) {
    out_text(d->out, before);
    out_i64(d->out, (int32_t)value);
}

/* Hexadecimal with 0x, but 0 for zero. */
static inline void say_x(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    if (value)
        out_write(d->out, "0x", 2);
    out_hex(d->out, value, 1);
}

static inline void say_name(struct dump *d, const char *before, const pfr_text *name) {
    out_text(d->out, before);
    print_name(d->to, name->at, name->length);
}

static inline void end_line(struct dump *d) {
    out_char(d->out, '\n');
}

/* dump_perf.c */
pfr_status dump_perf_record(struct dump *d, const pfr_record *rec, pfr_error *err);

#endif
