/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf's own lines, as `perf report -D` of perf 6.1 prints them, without the hex lines and without what perf looks up:
 *
 *     0x278@perf.data [0x28]: event: 3
 *
 *     1370893614509 0x278 [0x28]: PERF_RECORD_COMM exec: work:8/8
 *
 * What stands behind the name of a record is a matter of the record: one function each, in one table by layout. A
 * function writes the rest of the line with its newline, and further lines.
 */
#include "dump_form.h"

#include "base/text.h"
#include "wire/names.h"

#include <perfray/record_structs.h>

#define MISC_EXEC 0x2000u     /* COMM */
#define MISC_DATA 0x2000u     /* MMAP */
#define MISC_OUT 0x2000u      /* SWITCH */
#define MISC_PREEMPT 0x4000u  /* SWITCH */
#define MISC_BUILD_ID 0x4000u /* MMAP2 */
#define PIPE_HEADER 16u       /* perf counts a stream's offsets from its first record */
#define FIRST_USER_RECORD 64u

typedef void perf_lines(struct dump *d, const pfr_record *rec, const void *body);

void dump_perf_hex(struct output *out, uint64_t value) {
    if (value)
        out_write(out, "0x", 2);
    out_hex(out, value, 1);
}

static void say(struct dump *d, const char *text) {
    out_text(d->out, text);
}

static void say_u(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    out_u64(d->out, value);
}

static void say_d(struct dump *d, const char *before, uint32_t value) {
    out_text(d->out, before);
    out_i64(d->out, (int32_t)value);
}

static void say_x(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    dump_perf_hex(d->out, value);
}

static void say_name(struct dump *d, const char *before, const pfr_text *name) {
    out_text(d->out, before);
    print_name(d->to, name->at, name->length);
}

static void end_line(struct dump *d) {
    out_char(d->out, '\n');
}

static void name_only(struct dump *d, const pfr_record *rec, const void *body) {
    (void)rec, (void)body;
    end_line(d);
}

static void say_range(struct dump *d, uint32_t pid, uint32_t tid, uint64_t addr, uint64_t len, uint64_t pgoff) {
    say_d(d, " ", pid);
    say_d(d, "/", tid);
    say_x(d, ": [", addr);
    say_x(d, "(", len);
    say_x(d, ") @ ", pgoff);
}

static void mmap_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_mmap *m = body;
    say_range(d, m->pid, m->tid, m->addr, m->len, m->pgoff);
    say_name(d, rec->misc & MISC_DATA ? "]: r " : "]: x ", &m->filename);
    end_line(d);
}

static void say_prot(struct dump *d, uint32_t prot, uint32_t flags) {
    const char letters[] = {prot & 1 ? 'r' : '-', prot & 2 ? 'w' : '-', prot & 4 ? 'x' : '-', flags & 1 ? 's' : 'p', 0};
    say(d, "]: ");
    say(d, letters);
}

static void mmap2_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void lost_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_lost *lost = body;
    (void)rec;
    say_u(d, ": id:", lost->id);
    say_u(d, ": lost:", lost->lost);
    end_line(d);
}

static void comm_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_comm *c = body;
    say_name(d, rec->misc & MISC_EXEC ? " exec: " : ": ", &c->comm);
    say_d(d, ":", c->pid);
    say_d(d, "/", c->tid);
    end_line(d);
}

/* EXIT and FORK are the same layout under two names. */
static void fork_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_fork *f = body;
    (void)rec;
    say_d(d, "(", f->pid);
    say_d(d, ":", f->tid);
    say_d(d, "):(", f->ppid);
    say_d(d, ":", f->ptid);
    say(d, ")\n");
}

/* Of a group its first member. */
static struct pfr_rec_read_entry first_value(const struct pfr_rec_read_value *values) {
    struct pfr_rec_read_entry e = {.value = values->value, .id = values->id, .lost = values->lost};
    pfr_items_iter it = pfr_items_begin(&values->values);
    if (values->values.count > 0)
        pfr_items_next(&it, &e, sizeof e, NULL);
    return e;
}

static void read_lines(struct dump *d, const pfr_record *rec, const void *body) {
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
        if (!more[bit].label || !(rec->context->word[WORD_READ] >> bit & 1))
            continue;
        say_u(d, more[bit].label, more[bit].value);
        end_line(d);
    }
}

static void aux_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_aux *aux = body;
    (void)rec;
    say_x(d, " offset: ", aux->aux_offset);
    say_x(d, " size: ", aux->aux_size);
    say_x(d, " flags: ", aux->flags);
    say(d, aux->flags & 1 ? " [T" : " [");
    say(d, aux->flags & 2 ? "O" : "");
    say(d, aux->flags & 4 ? "P]\n" : "]\n");
}

static void itrace_start_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_itrace_start *start = body;
    (void)rec;
    say_u(d, " pid: ", start->pid);
    say_u(d, " tid: ", start->tid);
    end_line(d);
}

static void lost_samples_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_lost_samples *lost = body;
    const uint64_t types = rec->context->word[WORD_SAMPLE];
    struct pfr_rec_sample_id id = {0};
    const bool has = dump_decode_id(rec, &id, NULL) == PFR_OK;
    say_u(d, ": id:", has && types >> 16 & 1 ? id.identifier : has && types >> 6 & 1 ? id.id : UINT64_MAX);
    say_u(d, ": lost samples :", lost->lost);
    end_line(d);
}

static void switch_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void switch_cpu_wide_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_switch_cpu_wide *s = body;
    const bool out = rec->misc & MISC_OUT;
    say(d, !out ? " IN         " : rec->misc & MISC_PREEMPT ? " OUT preempt" : " OUT        ");
    say(d, out ? "  next pid/tid: " : "  prev pid/tid: ");
    say_padded(d, (int32_t)s->next_prev_pid, 5, true);
    say(d, "/");
    say_padded(d, (int32_t)s->next_prev_tid, 5, false);
    end_line(d);
}

static void namespaces_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void ksymbol_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void bpf_event_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_bpf_event *b = body;
    (void)rec;
    say_u(d, " type ", b->type);
    say_u(d, ", flags ", b->flags);
    say_u(d, ", id ", b->id);
    end_line(d);
}

static void cgroup_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_cgroup *c = body;
    (void)rec;
    say_u(d, " cgroup: ", c->id);
    say_name(d, " ", &c->path);
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

static void text_poke_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void hw_id_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_aux_output_hw_id *h = body;
    (void)rec;
    say_x(d, " hw_id: ", h->hw_id);
    end_line(d);
}

static void sample_lines(struct dump *d, const pfr_record *rec, const void *body) {
    dump_perf_sample(d, rec, body);
}

static void id_index_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void auxtrace_info_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_auxtrace_info *info = body;
    (void)rec;
    say_u(d, " type: ", info->type);
    end_line(d);
}

static void auxtrace_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

/* Zero has no decimals: the old form of the record has no time. */
static void say_seconds(struct dump *d, uint64_t time) {
    if (time)
        out_time(d->out, time, 9);
    else
        say(d, "0");
}

static void auxtrace_error_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void thread_map_lines(struct dump *d, const pfr_record *rec, const void *body) {
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
struct cpu_list {
    struct dump *d;
    int64_t first, last;
    bool open, filled;
};

static void end_range(struct cpu_list *list) {
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

static void add_cpu(struct cpu_list *list, int64_t cpu) {
    if (list->open && cpu == list->last + 1) {
        list->last = cpu;
        return;
    }
    end_range(list);
    list->first = list->last = cpu;
    list->open = true;
}

static void add_bits(struct cpu_list *list, int64_t from, uint64_t word) {
    for (; word; word &= word - 1)
        add_cpu(list, from + __builtin_ctzll(word));
}

static void add_mask(struct cpu_list *list, const pfr_items *mask) {
    union {
        struct pfr_rec_cpu_mask_4 small;
        struct pfr_rec_cpu_mask_8 large;
    } m;
    const bool large = mask->of == L_cpu_mask_8;
    pfr_items_iter it = pfr_items_begin(mask);
    if (pfr_items_next(&it, &m, large ? sizeof m.large : sizeof m.small, NULL) != PFR_OK)
        return;
    struct pfr_rec_mask_u32 half;
    struct pfr_rec_mask_u64 word;
    it = pfr_items_begin(large ? &m.large.words : &m.small.words);
    for (int64_t cpu = 0; large && pfr_items_next(&it, &word, sizeof word, NULL) == PFR_OK; cpu += 64)
        add_bits(list, cpu, word.mask);
    for (int64_t cpu = 0; !large && pfr_items_next(&it, &half, sizeof half, NULL) == PFR_OK; cpu += 32)
        add_bits(list, cpu, half.mask);
}

static void add_cpus(struct cpu_list *list, const struct pfr_rec_cpu_map_cpus *map) {
    struct pfr_rec_cpu_u16 cpu;
    pfr_items_iter it = pfr_items_begin(&map->cpus);
    while (pfr_items_next(&it, &cpu, sizeof cpu, NULL) == PFR_OK)
        add_cpu(list, cpu.cpu == UINT16_MAX ? -1 : cpu.cpu);
}

static void say_cpus(struct dump *d, const struct pfr_rec_cpu_map_data *data) {
    struct cpu_list list = {.d = d};
    union {
        struct pfr_rec_cpu_map_cpus cpus;
        struct pfr_rec_cpu_map_mask mask;
        struct pfr_rec_cpu_map_range range;
    } map;
    pfr_items_iter it = pfr_items_begin(&data->map);
    if (data->map.of == L_cpu_map_cpus && pfr_items_next(&it, &map, sizeof map.cpus, NULL) == PFR_OK)
        add_cpus(&list, &map.cpus);
    if (data->map.of == L_cpu_map_mask && pfr_items_next(&it, &map, sizeof map.mask, NULL) == PFR_OK)
        add_mask(&list, &map.mask.mask);
    if (data->map.of == L_cpu_map_range && pfr_items_next(&it, &map, sizeof map.range, NULL) == PFR_OK) {
        if (map.range.any_cpu)
            add_cpu(&list, -1);
        for (int64_t cpu = map.range.start_cpu; cpu <= map.range.end_cpu; cpu++)
            add_cpu(&list, cpu);
    }
    end_range(&list);
}

static void cpu_map_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_cpu_map *map = body;
    (void)rec;
    say(d, ": ");
    say_cpus(d, &map->data);
    end_line(d);
}

static void stat_config_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void stat_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void stat_round_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_stat_round *round = body;
    (void)rec;
    say_u(d, "\n... time ", round->time);
    say(d, round->type ? ", type FINAL\n" : ", type INTERVAL\n");
}

static void event_update_lines(struct dump *d, const pfr_record *rec, const void *body) {
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

static void time_conv_lines(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_time_conv *t = body;
    say_u(d, "\n... Time Shift      ", t->time_shift);
    say_u(d, "\n... Time Muliplier  ", t->time_mult);
    say_u(d, "\n... Time Zero       ", t->time_zero);
    end_line(d);
    if (rec->size <= 8 + 3 * 8) /* from Linux 5.10 on there is more */
        return;
    say_u(d, "... Time Cycles     ", t->time_cycles);
    say_x(d, "\n... Time Mask       ", t->time_mask);
    say_d(d, "\n... Cap Time Zero   ", t->cap_user_time_zero);
    say_d(d, "\n... Cap Time Short  ", t->cap_user_time_short);
    end_line(d);
}

/* COMPRESSED and COMPRESSED2 are not printed by perf; what was in them is. */
static void no_lines(struct dump *d, const pfr_record *rec, const void *body) {
    (void)d, (void)rec, (void)body;
}

static perf_lines *const lines_of[LAYOUTS] = {
    [L_mmap] = mmap_lines,
    [L_lost] = lost_lines,
    [L_comm] = comm_lines,
    [L_exit] = fork_lines,
    [L_fork] = fork_lines,
    [L_read] = read_lines,
    [L_sample] = sample_lines,
    [L_mmap2] = mmap2_lines,
    [L_aux] = aux_lines,
    [L_itrace_start] = itrace_start_lines,
    [L_lost_samples] = lost_samples_lines,
    [L_switch] = switch_lines,
    [L_switch_cpu_wide] = switch_cpu_wide_lines,
    [L_namespaces] = namespaces_lines,
    [L_ksymbol] = ksymbol_lines,
    [L_bpf_event] = bpf_event_lines,
    [L_cgroup] = cgroup_lines,
    [L_text_poke] = text_poke_lines,
    [L_aux_output_hw_id] = hw_id_lines,
    [L_id_index] = id_index_lines,
    [L_auxtrace_info] = auxtrace_info_lines,
    [L_auxtrace] = auxtrace_lines,
    [L_auxtrace_error] = auxtrace_error_lines,
    [L_thread_map] = thread_map_lines,
    [L_cpu_map] = cpu_map_lines,
    [L_stat_config] = stat_config_lines,
    [L_stat] = stat_lines,
    [L_stat_round] = stat_round_lines,
    [L_event_update] = event_update_lines,
    [L_time_conv] = time_conv_lines,
    [L_compressed] = no_lines,
    [L_compressed2] = no_lines,
};

/* What perf knows of the events; in a stream it changes with each one, after that record was printed. */
static void learn_events(struct dump *d) {
    struct dump_events *known = &d->events;
    for (; known->count < pfr_event_count(d->reader); known->count++) {
        const pfr_event *event = pfr_get_event(d->reader, known->count);
        known->sample_types |= event->attr.sample_type;
        if (known->count == 0)
            known->stamped = event->attr.flags.sample_id_all;
    }
}

/* cpu and time as far as any event has them; what this record lacks is all ones; user records say 0. */
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
    if (all >> 7 & 1) {
        out_u64(d->out, user ? 0 : has && own >> 7 & 1 ? id.cpu : UINT32_MAX);
        say(d, " ");
    }
    if (all >> 2 & 1) {
        out_u64(d->out, user ? 0 : has && own >> 2 & 1 ? id.time : UINT64_MAX);
        say(d, " ");
    }
}

static void say_place(struct dump *d, const pfr_record *rec, uint64_t offset) {
    const pfr_header *h = pfr_get_header(d->reader);
    say_x(d, "\n", offset);
    say(d, "@");
    say(d, h->container == PFR_PIPE ? "pipe" : d->options.name ? d->options.name : "");
    if (h->container == PFR_DIRECTORY)
        say(d, "/data");
    if (h->container == PFR_DIRECTORY && rec->part > 0)
        say_u(d, ".", rec->part - 1);
    say_x(d, " [", rec->size);
    say_d(d, "]: event: ", rec->type);
    say(d, "\n\n");
}

pfr_status dump_perf_record(struct dump *d, const pfr_record *rec, pfr_error *error) {
    const unsigned layout = dump_layout_of(d, rec->type);
    perf_lines *lines = lines_of[layout] ? lines_of[layout] : name_only;
    const bool pipe = pfr_get_header(d->reader)->container == PFR_PIPE;
    const uint64_t offset = pipe && rec->offset >= PIPE_HEADER ? rec->offset - PIPE_HEADER : rec->offset;
    const char *name = name_of(SHOW_RECORD, rec->type);
    struct cursor in;
    pfr_error err;
    (void)error;
    if (lines == no_lines)
        return PFR_OK;
    const bool fits = layout && dump_decode(d, rec, layout, &in, &err) == PFR_OK;
    if (!layout)
        d->counts.unknown++;
    if (layout && !fits) {
        d->counts.damaged++;
        dump_tell_hole(d, &err);
        lines = name_only;
    }
    if (!pipe)
        learn_events(d);
    say_place(d, rec, offset);
    say_stamp(d, rec, fits && layout == L_sample ? &d->body.sample_ : NULL);
    say_x(d, "", offset);
    say_x(d, " [", rec->size);
    say(d, "]: PERF_RECORD_");
    say(d, name ? name : "UNKNOWN");
    lines(d, rec, &d->body);
    learn_events(d);
    return PFR_OK;
}
