/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that stand in the sample itself, in perf's widths:
 *
 *             work   215/215   [001] U      1636.972560:    1001001 cpu-clock:
 *     comm         pid/tid     cpu   misc   time            period  event
 */
#include "view/script_parts.h"

#include "view/sample_words.h"

#define COMM_WIDTH 16u
#define ADDRESS_WIDTH 16u
#define FLAGS_WIDTH 24u
#define NS_PER_SECOND 1000000000u
#define BPF_OUTPUT 10u

/* The call chain below it lets perf print the name without padding. */
void print_comm(struct script *s, const struct moment *m) {
    out_text_wide(s->out, m->thread->comm, m->thread->comm_length, m->event->chains ? 0 : COMM_WIDTH);
    out_char(s->out, ' ');
}

void print_pid(struct script *s, const struct moment *m) {
    out_i64_wide(s->out, (int32_t)m->pid, 5);
    out_char(s->out, ' ');
}

void print_tid(struct script *s, const struct moment *m) {
    out_i64_wide(s->out, (int32_t)m->tid, 5);
    out_char(s->out, ' ');
}

void print_pid_tid(struct script *s, const struct moment *m) {
    out_i64_wide(s->out, (int32_t)m->pid, 5);
    out_char(s->out, '/');
    out_i64_left(s->out, (int32_t)m->tid, 5);
    out_char(s->out, ' ');
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

void print_time(struct script *s, const struct moment *m) {
    char digits[9];
    uint64_t rest = m->time % NS_PER_SECOND;
    const size_t shown = s->options->nanoseconds ? 9 : 6;
    for (size_t i = 9; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    out_u64_wide(s->out, m->time / NS_PER_SECOND, 5);
    out_char(s->out, '.');
    out_write(s->out, digits, shown);
    out_write(s->out, ": ", 2);
}

void print_period(struct script *s, const struct moment *m) {
    out_u64_wide(s->out, m->period, 10);
    out_char(s->out, ' ');
}

void print_event(struct script *s, const struct moment *m) {
    out_write(s->out, m->event->label, m->event->label_length);
}

/* Only decoders of instruction traces know any. */
void print_flags(struct script *s, const struct moment *m) {
    (void)m;
    out_pad(s->out, FLAGS_WIDTH);
}

static void write_address(struct script *s, uint64_t address) {
    out_hex_wide(s->out, address, ADDRESS_WIDTH);
}

void print_trace(struct script *s, const struct moment *m) {
    (void)s, (void)m;
}

/* As wide as the widest before it. */
void print_data_src(struct script *s, const struct moment *m) {
    write_address(s, m->sample->data_src);
    out_char(s->out, ' ');
    const uint64_t before = out_written(s->out);
    words_data_src(s->to, m->sample->data_src);
    const uint64_t width = out_written(s->out) - before;
    if (width > s->source_width)
        s->source_width = width;
    out_pad(s->out, (size_t)(s->source_width - width));
}

void print_weight(struct script *s, const struct moment *m) {
    const bool whole = SAMPLE_HAS(m->event->sample_type, S_WEIGHT);
    out_u64_wide(s->out, whole ? m->sample->weight : m->sample->weight_struct & UINT32_MAX, 16);
}

void print_ins_lat(struct script *s, const struct moment *m) {
    out_u64_wide(s->out, m->sample->weight_struct >> 32 & UINT16_MAX, 16);
}

void print_retire_lat(struct script *s, const struct moment *m) {
    out_u64_wide(s->out, m->sample->weight_struct >> 48, 16);
}

void print_iregs(struct script *s, const struct moment *m) {
    words_regs(s->to, s->arch, m->event->event->attr.sample_regs_intr, &m->sample->regs_intr.regs,
               m->sample->regs_intr.abi);
}

void print_uregs(struct script *s, const struct moment *m) {
    words_regs(s->to, s->arch, m->event->event->attr.sample_regs_user, &m->sample->regs_user.regs,
               m->sample->regs_user.abi);
}

void print_bpf_output(struct script *s, const struct moment *m) {
    if (m->event->event->attr.config == BPF_OUTPUT && SAMPLE_HAS(m->event->sample_type, S_RAW))
        words_bpf_output(s->to, m->sample->raw.data.at, m->sample->raw.data.length);
}

void print_phys_addr(struct script *s, const struct moment *m) {
    write_address(s, m->sample->phys_addr);
}

/* 4096 is 4K: divided as long as more than one of the next unit is left. */
static void write_page_size(struct script *s, uint64_t size) {
    unsigned unit = 0;
    if (size == 0) {
        out_write(s->out, " N/A", 4);
        return;
    }
    for (; size / 1024 >= 1 && unit < 3; unit++)
        size /= 1024;
    out_char(s->out, ' ');
    out_u64(s->out, size);
    out_char(s->out, "BKMG"[unit]);
}

void print_data_page_size(struct script *s, const struct moment *m) {
    write_page_size(s, m->sample->data_page_size);
}

void print_code_page_size(struct script *s, const struct moment *m) {
    write_page_size(s, m->sample->code_page_size);
}

void print_cgroup(struct script *s, const struct moment *m) {
    out_char(s->out, ' ');
    out_u64(s->out, m->sample->cgroup);
}

/* Letters for the bits of header.misc that mean something for a record of this type. */
static char misc_letter(uint32_t type, uint16_t misc) {
    static const struct {
        uint32_t type;
        uint16_t bit;
        char letter;
    } letters[] = {
        {1, 1u << 13, 'M'}, {10, 1u << 13, 'M'}, {3, 1u << 13, 'E'}, {14, 1u << 13, 'S'}, {15, 1u << 13, 'S'}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].type == type && (misc & letters[i].bit))
            return letters[i].letter;
    return 0;
}

void print_misc(struct script *s, const struct moment *m) {
    static const char modes[8] = {0, 'K', 'U', 'H', 'G', 'g', 0, 0};
    const uint16_t misc = m->rec->misc;
    char text[8];
    size_t length = 0;
    const char letter = misc_letter(m->rec->type, misc);
    if (modes[misc & 7])
        text[length++] = modes[misc & 7];
    if (letter)
        text[length++] = letter;
    if (letter == 'S' && (misc & 1u << 14))
        text[length++] = 'p';
    out_write(s->out, text, length);
    out_pad(s->out, 6 - length);
}
