/* SPDX-License-Identifier: Apache-2.0 */
/* perf's lines for records that AUX area traces need: where the data are, which thread or CPU they belong to, and how
   the trace's clock relates to perf's. */
#include "view/dump/dump_perf.h"

#include "base/text/text.h"
#include "wire/names.h"
#include "wire/record_bits.h"

void perf_aux(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_aux *aux = body;
    (void)rec;
    say_x(d, " offset: ", aux->aux_offset);
    say_x(d, " size: ", aux->aux_size);
    say_x(d, " flags: ", aux->flags);
    say(d, has_bit(aux->flags, AUX_BIT_TRUNCATED) ? " [T" : " [");
    say(d, has_bit(aux->flags, AUX_BIT_OVERWRITE) ? "O" : "");
    say(d, has_bit(aux->flags, AUX_BIT_PARTIAL) ? "P]\n" : "]\n");
}

void perf_itrace_start(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_itrace_start *start = body;
    (void)rec;
    say_u(d, " pid: ", start->pid);
    say_u(d, " tid: ", start->tid);
    end_line(d);
}

void perf_aux_output_hw_id(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_aux_output_hw_id *h = body;
    (void)rec;
    say_x(d, " hw_id: ", h->hw_id);
    end_line(d);
}

void perf_id_index(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_id_index *x = body;
    struct pfr_rec_id_index_entry e;
    struct pfr_rec_id_index_guest g;
    pfr_items_iter it = pfr_items_begin(&x->entries), guests = pfr_items_begin(&x->guests);
    (void)rec;
    say_u(d, " nr: ", x->nr);
    end_line(d);
    while (pfr_items_next(&it, &e, sizeof e, NULL) == PFR_OK) {
        say_u(d, " ... id: ", e.id);
        say_u(d, "  idx: ", e.idx);
        say_d(d, "  cpu: ", (uint32_t)e.cpu);
        say_d(d, "  tid: ", (uint32_t)e.tid);
        if (x->guests.count > 0 && pfr_items_next(&guests, &g, sizeof g, NULL) == PFR_OK) {
            say_d(d, "  machine_pid: ", (uint32_t)g.machine_pid);
            say_d(d, "  vcpu: ", (uint32_t)g.vcpu);
        }
        end_line(d);
    }
}

void perf_auxtrace_info(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_auxtrace_info *info = body;
    (void)rec;
    say_u(d, " type: ", info->type);
    end_line(d);
}

void perf_auxtrace(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_auxtrace *a = body;
    (void)rec;
    say_x(d, " size: ", a->size);
    say_x(d, "  offset: ", a->offset);
    say_x(d, "  ref: ", a->reference);
    say_u(d, "  idx: ", a->idx);
    say_d(d, "  tid: ", a->tid);
    say_d(d, "  cpu: ", a->cpu);
    end_line(d);
}

/* Time 0 is printed without decimals: the old form of the record has no time. */
static void say_seconds(struct dump *d, uint64_t time) {
    if (time)
        out_time(d->out, time, 9);
    else
        say(d, "0");
}

void perf_auxtrace_error(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_auxtrace_error *e = body;
    const char *kind = name_of(SHOW_AUXTRACE_ERROR, e->type);
    (void)rec;
    say(d, kind ? " instruction trace" : " unknown");
    say_u(d, " error type ", e->type);
    say(d, " time ");
    say_seconds(d, e->time);
    if (e->machine_pid) {
        say_d(d, " machine_pid ", e->machine_pid);
        say_d(d, " vcpu ", e->vcpu);
    }
    say_d(d, " cpu ", e->cpu);
    say_d(d, " pid ", e->pid);
    say_d(d, " tid ", e->tid);
    say_x(d, " ip ", e->ip);
    say_u(d, " code ", e->code);
    say_name(d, ": ", e->fmt < 2 ? &e->msg : &e->msg64);
    end_line(d);
}

void perf_time_conv(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_time_conv *t = body;
    say_u(d, "\n... Time Shift      ", t->time_shift);
    say_u(d, "\n... Time Muliplier  ", t->time_mult);
    say_u(d, "\n... Time Zero       ", t->time_zero);
    end_line(d);
    if (rec->size <= 8 + 3 * 8) /* newer records (Linux 5.10) have more fields */
        return;
    say_u(d, "... Time Cycles     ", t->time_cycles);
    say_x(d, "\n... Time Mask       ", t->time_mask);
    say_d(d, "\n... Cap Time Zero   ", t->cap_user_time_zero);
    say_d(d, "\n... Cap Time Short  ", t->cap_user_time_short);
    end_line(d);
}
