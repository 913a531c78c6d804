/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a SAMPLE as printed by `perf report -D`, in perf's order, which differs from the order of the bytes. */
#include "view/dump/dump_perf.h"
#include "view/words/sample_text.h"

#include "wire/names.h"
#include "wire/record_bits.h"
#include "view/dump/dump_walk.h"

#define BRANCH_EXTENDED 15u
#define CHAIN_USER ((uint64_t)-512) /* PERF_CONTEXT_USER */
#define HAS(bit) has_bit(types, bit)

enum sample_bit {
    TID = 1,
    READ = 4,
    CHAIN,
    PERIOD = 8,
    BRANCHES = 11,
    REGS_USER,
    STACK_USER,
    WEIGHT,
    DATA_SRC,
    TRANSACTION = 17,
    REGS_INTR,
    PHYS_ADDR,
    DATA_PAGE = 22,
    CODE_PAGE,
    WEIGHT_STRUCT
};

/* Hexadecimal with 0x, also for zero. */
static void say_0x(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    out_write(d->out, "0x", 2);
    out_hex(d->out, value, 1);
}

static void say_address(struct dump *d, const char *before, uint64_t value) {
    out_text(d->out, before);
    out_hex(d->out, value, 16);
}

static void say_entry(struct dump *d, uint64_t number, uint64_t address) {
    say(d, "..... ");
    out_u64_wide(d->out, number, 2);
    say_address(d, ": ", address);
}

static void say_chain_entry(struct dump *d, uint64_t number, uint64_t address) {
    say_entry(d, number, address);
    end_line(d);
}

static uint64_t find_user(const pfr_u64s *chain) {
    uint64_t i = 0;
    while (i < chain->count && pfr_u64s_at(chain, i) != CHAIN_USER)
        i++;
    return i;
}

/* A call stack from LBR continues the kernel's callchain: kernel frames, the newest branch target, then the branch
 * sources. */
static void branch_chain(struct dump *d, const struct pfr_rec_sample *s) {
    const uint64_t kernel = find_user(&s->chain);
    struct pfr_rec_branch_entry e;
    if (kernel == s->chain.count || s->branch.nr == 0)
        return;
    say_u(d, "... LBR call chain: nr:", kernel + 1 + s->branch.nr + 1);
    end_line(d);
    uint64_t number = 0;
    for (; number <= kernel; number++)
        say_chain_entry(d, number, pfr_u64s_at(&s->chain, number));
    pfr_items_iter it = pfr_items_begin(&s->branch.entries);
    for (bool first = true; pfr_items_next(&it, &e, sizeof e, NULL) == PFR_OK; first = false) {
        if (first)
            say_chain_entry(d, number++, e.to);
        say_chain_entry(d, number++, e.from);
    }
}

static void chain_lines(struct dump *d, const struct pfr_rec_sample *s) {
    if (has_bit(d->context.word[WORD_BRANCH], BRANCH_BIT_CALL_STACK))
        branch_chain(d, s);
    say_u(d, "... FP chain: nr:", s->chain.count);
    end_line(d);
    for (uint64_t i = 0; i < s->chain.count; i++)
        say_chain_entry(d, i, pfr_u64s_at(&s->chain, i));
}

/* Branch types from 15 on are in new_type. */
static const char *branch_type(const struct pfr_rec_branch_entry *e) {
    if (e->type == BRANCH_EXTENDED)
        return name_of(SHOW_BRANCH_NEW_TYPE, e->new_type);
    return e->type ? name_of(SHOW_BRANCH_TYPE, e->type) : NULL;
}

static void branch_line(struct dump *d, uint64_t number, const struct pfr_rec_branch_entry *e) {
    const char letters[] = {
        ' ', e->mispred ? 'M' : ' ', e->predicted ? 'P' : ' ', e->abort ? 'A' : ' ', e->in_tx ? 'T' : ' ', ' ', 0};
    const char *type = branch_type(e);
    say_entry(d, number, e->from);
    say_address(d, " -> ", e->to);
    say_u(d, " ", e->cycles);
    say(d, " cycles");
    say(d, letters);
    out_hex(d->out, e->reserved, 1);
    say(d, " ");
    say(d, type ? type : "");
    end_line(d);
}

static void branch_lines(struct dump *d, const struct pfr_rec_sample *s) {
    const bool stack = has_bit(d->context.word[WORD_BRANCH], BRANCH_BIT_CALL_STACK);
    struct pfr_rec_branch_entry e;
    pfr_items_iter it = pfr_items_begin(&s->branch.entries);
    say_u(d, stack ? "... branch callstack: nr:" : "... branch stack: nr:", s->branch.nr + stack);
    end_line(d);
    for (uint64_t i = 0; pfr_items_next(&it, &e, sizeof e, NULL) == PFR_OK; i++) {
        if (!stack) {
            branch_line(d, i, &e);
            continue;
        }
        if (i == 0)
            say_chain_entry(d, 0, e.to);
        say_chain_entry(d, i + 1, e.from);
    }
}

static unsigned find_registers(struct dump *d) {
    const pfr_feature *feature = pfr_find_feature(d->reader, 6, NULL);
    struct pfr_rec_feature_arch arch = {0};
    if (feature && pfr_decode_feature(d->reader, feature, &arch, sizeof arch, NULL) != PFR_OK)
        arch.arch.length = 0;
    return words_register_set(arch.arch.at, arch.arch.length);
}

static void say_register(struct dump *d, unsigned set, unsigned bit) {
    const char *name = words_register_name(set, bit);
    const size_t width = strlen(name);
    out_text(d->out, name);
    if (width < 5)
        out_pad(d->out, 5 - width);
}

static void register_lines(struct dump *d, const char *title, uint64_t mask, uint64_t abi, const pfr_u64s *regs) {
    static const char *const abis[] = {"none", "32-bit", "64-bit"};
    if (abi == 0)
        return;
    const unsigned set = find_registers(d);
    say_0x(d, title, mask);
    say(d, " ABI ");
    say(d, abi < sizeof abis / sizeof *abis ? abis[abi] : "unknown");
    end_line(d);
    for (uint64_t i = 0, left = mask; i < regs->count && left; i++, left &= left - 1) {
        say(d, ".... ");
        say_register(d, set, (unsigned)__builtin_ctzll(left));
        say(d, " 0x");
        out_hex(d->out, pfr_u64s_at(regs, i), 16);
        end_line(d);
    }
}

/* A form without output. It finds the field stack_user and remembers its bytes, because perf prints the position of the
 * size of the user stack. */
static void find_begin(struct dump *d, const struct dump_key *key) {
    d->filled = key && strcmp(key->name, "stack_user") == 0;
}

static void find_end(struct dump *d) {
    d->filled = false;
}

static void find_array(struct dump *d, const struct dump_key *key, uint64_t count) {
    (void)d, (void)key, (void)count;
}

static void find_integer(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value) {
    (void)key, (void)f, (void)value;
    if (d->filled)
        d->found = d->spot.at;
    d->filled = false;
}

static void find_text(struct dump *d, const struct dump_key *key, const void *at, size_t length) {
    (void)d, (void)key, (void)at, (void)length;
}

static void find_bytes(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length) {
    (void)d, (void)key, (void)at, (void)length;
}

static void find_numbers(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers) {
    (void)d, (void)key, (void)f, (void)numbers;
}

static const struct dump_form stack_finder = {
    .begin_part = find_begin,
    .end_part = find_end,
    .begin_array = find_array,
    .end_array = find_end,
    .integer = find_integer,
    .text = find_text,
    .bytes = find_bytes,
    .numbers = find_numbers,
};

static uint64_t find_stack(struct dump *d, const pfr_record *rec, const struct pfr_rec_sample *s) {
    const struct dump_form *form = d->form;
    d->form = &stack_finder;
    d->found = rec->bytes;
    d->filled = false;
    dump_fields(d, L_sample, &d->context, s, rec->bytes + 8, rec->bytes + rec->size);
    d->form = form;
    return (uint64_t)(d->found - rec->bytes);
}

static void stack_line(struct dump *d, const pfr_record *rec, const struct pfr_rec_sample *s) {
    say_u(d, "... ustack: size ", s->stack_user.dyn_size);
    say_0x(d, ", offset ", find_stack(d, rec, s));
    end_line(d);
}

static void weight_line(struct dump *d, const struct pfr_rec_sample *s, bool parts) {
    say_u(d, "... weight: ", parts ? weight_itself(s->weight_struct) : s->weight);
    if (parts) {
        say_0x(d, ",", weight_second(s->weight_struct));
        say_0x(d, ",", weight_third(s->weight_struct));
    }
    end_line(d);
}

/* Prints 4096 as 4K: uses the largest unit that fits into the size at least twice. */
static void page_line(struct dump *d, const char *label, uint64_t size) {
    unsigned unit = 0;
    say(d, label);
    if (size == 0) {
        say(d, "N/A\n");
        return;
    }
    for (; size / 1024 > 1 && unit < 3; unit++)
        size /= 1024;
    out_u64(d->out, size);
    out_char(d->out, "BKMG"[unit]);
    end_line(d);
}

static void say_read(struct dump *d, uint64_t id, uint64_t value, uint64_t lost) {
    say_address(d, "..... id ", id);
    say_address(d, ", value ", value);
    if (has_bit(d->context.word[WORD_READ], READ_BIT_LOST))
        say_u(d, ", lost ", lost);
    end_line(d);
}

static void read_lines(struct dump *d, const struct pfr_rec_read_value *r) {
    const uint64_t format = d->context.word[WORD_READ];
    struct pfr_rec_read_entry e;
    say(d, "... sample_read:\n");
    if (format & 1)
        say_address(d, "...... time enabled ", r->time_enabled), end_line(d);
    if (format & 2)
        say_address(d, "...... time running ", r->time_running), end_line(d);
    if (!(format & 8)) {
        say_read(d, r->id, r->value, r->lost);
        return;
    }
    say_u(d, ".... group nr ", r->nr);
    end_line(d);
    pfr_items_iter it = pfr_items_begin(&r->values);
    while (pfr_items_next(&it, &e, sizeof e, NULL) == PFR_OK)
        say_read(d, e.id, e.value, e.lost);
}

static void first_line(struct dump *d, const pfr_record *rec, const struct pfr_rec_sample *s, uint64_t types) {
    const pfr_event *event = pfr_get_event(d->reader, (uint32_t)rec->event);
    say_0x(d, "(IP, ", rec->misc);
    say(d, "): ");
    out_i64(d->out, HAS(TID) ? (int32_t)s->pid : -1);
    say(d, "/");
    out_i64(d->out, HAS(TID) ? (int32_t)s->tid : -1);
    say_x(d, ": ", s->ip);
    say_u(d, " period: ", HAS(PERIOD) ? s->period : event->attr.sample_period);
    say_x(d, " addr: ", s->addr);
    end_line(d);
}

static void memory_lines(struct dump *d, const struct pfr_rec_sample *s, uint64_t types) {
    if (HAS(WEIGHT) || HAS(WEIGHT_STRUCT))
        weight_line(d, s, !HAS(WEIGHT));
    if (HAS(DATA_SRC))
        say_0x(d, " . data_src: ", s->data_src), end_line(d);
    if (HAS(PHYS_ADDR))
        say_0x(d, " .. phys_addr: ", s->phys_addr), end_line(d);
    if (HAS(DATA_PAGE))
        page_line(d, " .. data page size: ", s->data_page_size);
    if (HAS(CODE_PAGE))
        page_line(d, " .. code page size: ", s->code_page_size);
}

void perf_sample(struct dump *d, const pfr_record *rec, const void *body) {
    const struct pfr_rec_sample *s = body;
    const uint64_t types = d->context.word[WORD_SAMPLE];
    first_line(d, rec, s, types);
    if (HAS(CHAIN))
        chain_lines(d, s);
    if (HAS(BRANCHES))
        branch_lines(d, s);
    if (HAS(REGS_USER))
        register_lines(d, "... user regs: mask ", d->context.word[WORD_REGS_USER], s->regs_user.abi,
                       &s->regs_user.regs);
    if (HAS(REGS_INTR))
        register_lines(d, "... intr regs: mask ", d->context.word[WORD_REGS_INTR], s->regs_intr.abi,
                       &s->regs_intr.regs);
    if (HAS(STACK_USER))
        stack_line(d, rec, s);
    memory_lines(d, s, types);
    if (HAS(TRANSACTION)) {
        say(d, "... transaction: ");
        out_hex(d->out, s->transaction, 1);
        end_line(d);
    }
    if (HAS(READ))
        read_lines(d, &s->read);
}
