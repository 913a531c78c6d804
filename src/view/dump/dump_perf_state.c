/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's lines for threads and their code: names, forks, switches, namespaces and cgroups; mappings, and code that the
 * kernel created or changed.
 */
#include "view/dump/dump_perf.h"

#include "base/text/text.h"

#include "wire/record_bits.h"

#define MISC_EXEC 0x2000u     /* COMM */
#define MISC_DATA 0x2000u     /* MMAP */
#define MISC_OUT 0x2000u      /* SWITCH */
#define MISC_PREEMPT 0x4000u  /* SWITCH */
#define MISC_BUILD_ID 0x4000u /* MMAP2 */

void perf_comm(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_comm *c = body;
    say_name(d, rec->misc & MISC_EXEC ? " exec: " : ": ", &c->comm);
    say_d(d, ":", c->pid);
    say_d(d, "/", c->tid);
    end_line(d);
}

/* EXIT and FORK have the same layout and only differ in the name. */
void perf_fork(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_fork *f = body;
    (void)rec;
    say_d(d, "(", f->pid);
    say_d(d, ":", f->tid);
    say_d(d, "):(", f->ppid);
    say_d(d, ":", f->ptid);
    say(d, ")\n");
}

void perf_switch(struct dump *d, const pfr_record *rec, const void *body) {
    (void)body;
    say(d, !(rec->misc & MISC_OUT) ? " IN         \n" : rec->misc & MISC_PREEMPT ? " OUT preempt\n" : " OUT        \n");
}

static void say_padded(struct dump *d, int32_t value, size_t width, bool right) {
    char digits[24];
    const uint64_t absolute = value < 0 ? 0 - (uint64_t)(int64_t)value : (uint64_t)value;
    size_t length = 0;
    if (value < 0)
        digits[length++] = '-';
    length += format_u64(digits + length, absolute);
    if (right && length < width)
        out_pad(d->out, width - length);
    out_write(d->out, digits, length);
    if (!right && length < width)
        out_pad(d->out, width - length);
}

void perf_switch_cpu_wide(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_switch_cpu_wide *s = body;
    const bool out = rec->misc & MISC_OUT;
    say(d, !out ? " IN         " : rec->misc & MISC_PREEMPT ? " OUT preempt" : " OUT        ");
    say(d, out ? "  next pid/tid: " : "  prev pid/tid: ");
    say_padded(d, (int32_t)s->next_prev_pid, 5, true);
    say(d, "/");
    say_padded(d, (int32_t)s->next_prev_tid, 5, false);
    end_line(d);
}

void perf_namespaces(struct dump *d, const pfr_record *rec, const void *body) {
    static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    const struct pfr_rec_namespaces *n = body;
    struct pfr_rec_link_info link;
    pfr_items_iter it = pfr_items_begin(&n->link_info);
    (void)rec;
    say_d(d, " ", n->pid);
    say_d(d, "/", n->tid);
    say_u(d, " - nr_namespaces: ", n->nr_namespaces);
    say(d, "\n\t\t[");
    for (unsigned i = 0; pfr_items_next(&it, &link, sizeof link, NULL) == PFR_OK; i++) {
        say(d, i > 0 && i % 4 == 0 ? "\n\t\t " : "");
        say_u(d, "", i);
        say(d, "/");
        say(d, i < sizeof names / sizeof *names ? names[i] : "unknown");
        say_u(d, ": ", link.dev);
        say_x(d, "/", link.ino);
        say(d, it.left > 0 ? ", " : "");
    }
    say(d, "]\n");
}

void perf_cgroup(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_cgroup *c = body;
    (void)rec;
    say_u(d, " cgroup: ", c->id);
    say_name(d, " ", &c->path);
    end_line(d);
}

static void say_range(struct dump *d, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len, uint64_t pgoff) {
    say_d(d, " ", pid);
    say_d(d, "/", tid);
    say_x(d, ": [", addr);
    say_x(d, "(", len);
    say_x(d, ") @ ", pgoff);
}

void perf_mmap(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_mmap *m = body;
    say_range(d, m->pid, m->tid, m->addr, m->len, m->pgoff);
    say_name(d, rec->misc & MISC_DATA ? "]: r " : "]: x ", &m->filename);
    end_line(d);
}

static void say_prot(struct dump *d, uint32_t prot, uint32_t flags) {
    const char letters[] = {has_bit(prot, PROT_BIT_READ) ? 'r' : '-', has_bit(prot, PROT_BIT_WRITE) ? 'w' : '-',
                            has_bit(prot, PROT_BIT_EXEC) ? 'x' : '-', has_bit(flags, MAP_BIT_SHARED) ? 's' : 'p', 0};
    say(d, "]: ");
    say(d, letters);
}

void perf_mmap2(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_mmap2 *m = body;
    say_range(d, m->pid, m->tid, m->addr, m->len, m->pgoff);
    if (rec->misc & MISC_BUILD_ID) {
        say(d, " <");
        out_hex_bytes(d->out, m->build_id.at, m->build_id_size < 20 ? m->build_id_size : 20);
        say(d, ">");
    } else {
        say(d, " ");
        out_hex(d->out, m->maj, 2);
        say(d, ":");
        out_hex(d->out, m->min, 2);
        say_u(d, " ", m->ino);
        say_u(d, " ", m->ino_generation);
    }
    say_prot(d, m->prot, m->flags);
    say_name(d, " ", &m->filename);
    end_line(d);
}

void perf_ksymbol(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_ksymbol *k = body;
    (void)rec;
    say(d, " addr ");
    out_hex(d->out, k->addr, 1);
    say_u(d, " len ", k->len);
    say_u(d, " type ", k->ksym_type);
    say(d, " flags 0x");
    out_hex(d->out, k->flags, 1);
    say_name(d, " name ", &k->name);
    end_line(d);
}

void perf_bpf_event(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_bpf_event *b = body;
    (void)rec;
    say_u(d, " type ", b->type);
    say_u(d, ", flags ", b->flags);
    say_u(d, ", id ", b->id);
    end_line(d);
}

static void code_lines(struct dump *d, const char *title, const pfr_bytes *code) {
    for (uint64_t i = 0; i < code->length; i++) {
        say(d, i % 16 ? "" : title);
        out_char(d->out, ' ');
        out_hex(d->out, code->at[i], 2);
        say(d, i % 16 == 15 || i + 1 == code->length ? "\n" : "");
    }
}

void perf_text_poke(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_text_poke *t = body;
    (void)rec;
    say(d, " ");
    out_hex(d->out, t->addr, 1);
    say_u(d, "  old len ", t->old_len);
    say_u(d, " new len ", t->new_len);
    end_line(d);
    code_lines(d, "            Old bytes:", &t->old_bytes);
    code_lines(d, "            New bytes:", &t->new_bytes);
}
