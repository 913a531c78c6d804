/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See sample_text.h. The texts are those of perf 6.1; they were compared for every value of every field, with
 * recordings made byte by byte. The names are in src/wire/names.def.
 */
#include "view/words/sample_text.h"

#include "base/text/public_output.h"
#include "wire/layout.h"
#include "wire/names.h"
#include "wire/record_bits.h"

#include <string.h>

#define COLUMNS 16u
#define BRANCH_EXTENDED 15u
#define MISC_COLUMNS 6u
#define FLAGS_COLUMNS 24u
#define X86_VECTORS 32u

/* One hexadecimal digit per 4 bits, at least one. */
static unsigned hex_digits(uint64_t value) {
    return value ? (67u - (unsigned)__builtin_clzll(value)) / 4u : 1u;
}

static void hex_columns(struct output *out, uint64_t value) {
    out_pad(out, COLUMNS - hex_digits(value));
    out_hex(out, value, 1);
}

/* --- data_src --- */

/* A text that is being built. As in perf, its end is dropped if it does not fit. */
struct text_word {
    char text[99];
    size_t length;
};

static void add(struct text_word *w, const char *text) {
    const size_t length = strlen(text), room = sizeof w->text - w->length, take = length < room ? length : room;
    memcpy(w->text + w->length, text, take);
    w->length += take;
}

static uint64_t bits(uint64_t word, unsigned first, unsigned width) {
    return word >> first & ((1ull << width) - 1);
}

static void add_or(struct text_word *w, bool *any, const char *text) {
    if (*any)
        add(w, " or ");
    add(w, text);
    *any = true;
}

/* Adds the names of all set bits, separated by "or". */
static void add_names(struct text_word *w, unsigned set, uint64_t value, bool *any) {
    for (const struct name *n = name_set_of(set)->names; n->text; n++)
        if (value >> n->value & 1)
            add_or(w, any, n->text);
}

/* The name of the first set bit, or `none`. */
static const char *first_name(unsigned set, uint64_t value, const char *none) {
    for (const struct name *n = name_set_of(set)->names; n->text; n++)
        if (value >> n->value & 1)
            return n->text;
    return none;
}

/* In lvl and tlb, bit 1 means hit, and bit 2 means miss. */
static void add_hit_miss(struct text_word *w, uint64_t value) {
    if (value & 2)
        add(w, " hit");
    if (value & 4)
        add(w, " miss");
}

/* If `hops` is not 0, perf ignores the names of the bits of lvl. Values of hops without a name in perf 6.1 are printed
 * as "(null)". */
static void add_level(struct text_word *w, uint64_t source) {
    const uint64_t lvl = bits(source, 5, 14), number = bits(source, 33, 4), hops = bits(source, 43, 3);
    const size_t before = w->length;
    bool any = false;
    add(w, bits(source, 37, 1) ? "Remote " : "");
    if (hops) {
        const char *name = name_of(SHOW_MEM_HOPS, hops);
        add(w, name ? name : "(null)");
        add(w, " ");
    } else {
        add_names(w, SHOW_MEM_LVL, lvl, &any);
    }
    if (number)
        add_or(w, &any, name_of(SHOW_MEM_LVL_NUM, number));
    if (w->length == before)
        add(w, "N/A");
    add_hit_miss(w, lvl);
}

static void add_set(struct text_word *w, unsigned set, uint64_t value) {
    bool any = false;
    add_names(w, set, value, &any);
    if (!any)
        add(w, "N/A");
}

/* Adds the name of each set bit, with a blank before it. Adds only " N/A" if bit 0 (N/A) or no bit is set. */
static void add_blocks(struct text_word *w, uint64_t value) {
    if (value == 0 || value & 1) {
        add(w, " N/A");
        return;
    }
    for (unsigned bit = 1; bit < 3; bit++)
        if (value >> bit & 1) {
            add(w, " ");
            add(w, name_of(SHOW_MEM_BLK, bit));
        }
}

static void add_hex_columns(struct text_word *w, uint64_t value) {
    for (unsigned i = 0; i < COLUMNS; i++) {
        const unsigned digit = COLUMNS - 1 - i;
        const bool blank = value >> 4 * digit == 0 && digit > 0;
        w->text[w->length++] = blank ? ' ' : "0123456789abcdef"[value >> 4 * digit & 15];
    }
}

static void make_data_src(struct text_word *w, uint64_t source) {
    w->length = 0;
    add_hex_columns(w, source);
    add(w, " |OP ");
    add(w, first_name(SHOW_MEM_OP, bits(source, 0, 5), "No"));
    add(w, "|LVL ");
    add_level(w, source);
    add(w, "|SNP ");
    add_set(w, SHOW_MEM_SNOOP, bits(source, 19, 5) | bits(source, 38, 2) << 5);
    add(w, "|TLB ");
    add_set(w, SHOW_MEM_TLB, bits(source, 26, 7));
    add_hit_miss(w, bits(source, 26, 7));
    add(w, "|LCK ");
    add(w, first_name(SHOW_MEM_LOCK, bits(source, 24, 2), "No"));
    add(w, "|BLK ");
    add_blocks(w, bits(source, 40, 3));
}

void words_data_src(pfr_output *out, uint64_t source, size_t *widest) {
    struct text_word w;
    make_data_src(&w, source);
    if (*widest < w.length)
        *widest = w.length;
    out_write(&out->out, w.text, w.length);
    out_pad(&out->out, *widest - w.length);
}

static void make_part(struct text_word *w, uint64_t source, enum words_memory part) {
    w->length = 0;
    if (part == WORDS_LEVEL)
        add_level(w, source);
    else if (part == WORDS_SNOOP)
        add_set(w, SHOW_MEM_SNOOP, bits(source, 19, 5) | bits(source, 38, 2) << 5);
    else if (part == WORDS_LOCK)
        add(w, first_name(SHOW_MEM_LOCK, bits(source, 24, 2), "No"));
    else if (part == WORDS_BLOCK)
        add_blocks(w, bits(source, 40, 3));
    if (part != WORDS_TLB)
        return;
    add_set(w, SHOW_MEM_TLB, bits(source, 26, 7));
    add_hit_miss(w, bits(source, 26, 7));
}

void words_memory(pfr_output *out, uint64_t source, enum words_memory part) {
    struct text_word w;
    make_part(&w, source, part);
    out_write(&out->out, w.text, w.length);
}

/* --- branches --- */

/* As in perf 6.1, a value of new_type without a name is printed as "(null)". */
static const char *branch_kind(const struct pfr_rec_branch_entry *e) {
    const char *name = "";
    if (e->type == BRANCH_EXTENDED)
        name = name_of(SHOW_BRANCH_NEW_TYPE, e->new_type);
    else if (e->type)
        name = name_of(SHOW_BRANCH_TYPE, e->type);
    return name ? name : "(null)";
}

void words_branch_flags(pfr_output *to, const struct pfr_rec_branch_entry *e) {
    struct output *out = &to->out;
    const char letters[] = {
        '/', e->predicted ? 'P' : e->mispred ? 'M' : '-', '/', e->in_tx ? 'X' : '-', '/', e->abort ? 'A' : '-', '/'};
    out_write(out, letters, sizeof letters);
    out_u64(out, e->cycles);
    out_char(out, '/');
    out_text(out, branch_kind(e));
}

/* --- registers --- */

struct machine {
    const char *prefix; /* prefix of the feature ARCH */
    unsigned set;
};

/* As perf 6.1 on x86, assumes x86 if the recording does not name its machine. riscv64 has names here, although perf 6.1
 * only accepts "riscv". */
static const struct machine machines[] = {
    {"x86", SHOW_REGS_X86},   {"i386", SHOW_REGS_X86},      {"i486", SHOW_REGS_X86},        {"i586", SHOW_REGS_X86},
    {"i686", SHOW_REGS_X86},  {"aarch64", SHOW_REGS_ARM64}, {"arm64", SHOW_REGS_ARM64},     {"arm", SHOW_REGS_ARM},
    {"s390", SHOW_REGS_S390}, {"ppc", SHOW_REGS_POWERPC},   {"powerpc", SHOW_REGS_POWERPC}, {"riscv", SHOW_REGS_RISCV},
    {"mips", SHOW_REGS_MIPS}, {"csky", SHOW_REGS_CSKY},
};

unsigned words_register_set(const char *arch, size_t length) {
    if (length == 0)
        return SHOW_REGS_X86;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const size_t prefix = strlen(machines[i].prefix);
        if (prefix <= length && memcmp(machines[i].prefix, arch, prefix) == 0)
            return machines[i].set;
    }
    return SHOW_REGS_NONE;
}

/* A vector register has two bits, for its low and high half. */
const char *words_register_name(unsigned set, unsigned bit) {
    const char *name = name_of(set, set == SHOW_REGS_X86 && bit >= X86_VECTORS ? bit & ~1u : bit);
    return name ? name : "unknown";
}

void words_regs(pfr_output *to, const char *arch, uint64_t mask, const pfr_u64s *values, uint64_t abi) {
    struct output *out = &to->out;
    const unsigned set = words_register_set(arch, arch ? strlen(arch) : 0);
    if (abi == 0)
        return;
    out_text(out, " ABI:");
    out_u64(out, abi);
    out_char(out, ' ');
    for (uint64_t i = 0, left = mask; i < values->count && left; i++, left &= left - 1) {
        const char *name = words_register_name(set, (unsigned)__builtin_ctzll(left));
        const size_t length = strlen(name);
        out_pad(out, length < 5 ? 5 - length : 0);
        out_write(out, name, length);
        out_text(out, ":0x");
        out_hex(out, pfr_u64s_at(values, i), 1);
        out_char(out, ' ');
    }
}

/* --- BPF output --- */

#define BPF_LINE 8u
#define BPF_LABEL "      BPF output:"
#define BPF_BLANK "                 "

/* perf prints the upper half of Latin-1 unchanged, which is not valid UTF-8. perfray does so only if the output has raw
 * names. */
static bool is_shown(const pfr_output *out, uint8_t byte) {
    return (byte >= 0x20 && byte < 0x7f) || (byte >= 0xa0 && out->raw_names);
}

static void bpf_line(pfr_output *to, const uint8_t *raw, size_t from, size_t count) {
    struct output *out = &to->out;
    out_text(out, from ? BPF_BLANK : BPF_LABEL);
    out_char(out, ' ');
    out_hex(out, from, 4);
    out_char(out, ':');
    for (size_t i = 0; i < BPF_LINE; i++) {
        out_char(out, ' ');
        if (i < count)
            out_hex(out, raw[from + i], 2);
        else
            out_pad(out, 2);
    }
    out_pad(out, 2);
    for (size_t i = 0; i < BPF_LINE; i++)
        out_char(out, i >= count ? ' ' : is_shown(to, raw[from + i]) ? (char)raw[from + i] : '.');
    out_char(out, '\n');
}

static bool is_printable(uint8_t byte) {
    return (byte >= 0x20 && byte < 0x7f) || byte >= 0xa0;
}

/* Whether the bytes are printable text followed by NULs; *length is the length of the text. */
static bool is_text(const uint8_t *raw, size_t size, size_t *length) {
    size_t at = 0;
    while (at < size && is_printable(raw[at]))
        at++;
    *length = at;
    while (at < size && raw[at] == 0)
        at++;
    return at == size && *length < size;
}

void words_bpf_output(pfr_output *to, const uint8_t *raw, size_t length) {
    size_t text;
    out_char(&to->out, '\n');
    for (size_t at = 0; at < length; at += BPF_LINE)
        bpf_line(to, raw, at, length - at < BPF_LINE ? length - at : BPF_LINE);
    if (!is_text(raw, length, &text))
        return;
    out_text(&to->out, "      BPF string: \"");
    print_name(to, raw, text);
    out_text(&to->out, "\"\n");
}

/* --- numbers --- */

/* Uses the largest unit up to G that fits into the size at least twice. */
void words_page_size(pfr_output *to, uint64_t size) {
    unsigned unit = 0;
    out_char(&to->out, ' ');
    if (size == 0) {
        out_text(&to->out, "N/A");
        return;
    }
    for (; size / 1024 > 1 && unit < 3; unit++)
        size /= 1024;
    out_u64(&to->out, size);
    out_char(&to->out, "BKMG"[unit]);
}

void words_weight(pfr_output *out, uint64_t weight) {
    out_u64_wide(&out->out, weight, COLUMNS);
}

void words_ins_lat(pfr_output *out, uint64_t weight_struct) {
    words_weight(out, weight_second(weight_struct));
}

void words_retire_lat(pfr_output *out, uint64_t weight_struct) {
    words_weight(out, weight_third(weight_struct));
}

void words_phys_addr(pfr_output *out, uint64_t address) {
    hex_columns(&out->out, address);
}

void words_flags(pfr_output *out) {
    out_pad(&out->out, FLAGS_COLUMNS);
}

/* --- misc --- */

/* The meaning of bits 13 and 14 depends on the record type. */
struct misc_letters {
    uint32_t type;
    const char *bit13, *bit14; /* bit 14 is shown only after bit 13 */
};

static const struct misc_letters misc_letters[] = {
    {1, "M", ""}, {3, "E", ""}, {10, "M", ""}, {14, "S", "p"}, {15, "S", "p"},
};

/* perf tests the mode with masks, so the hypervisor (mode 3) is printed as KUH. */
static void add_mode(struct text_word *w, unsigned mode) {
    static const struct {
        unsigned bits;
        const char *letter;
    } modes[] = {{1, "K"}, {2, "U"}, {3, "H"}, {4, "G"}, {5, "g"}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if ((mode & modes[i].bits) == modes[i].bits)
            add(w, modes[i].letter);
}

void words_misc(pfr_output *out, uint32_t type, uint16_t misc) {
    struct text_word w = {.length = 0};
    add_mode(&w, cpumode_of(misc));
    for (size_t i = 0; i < sizeof misc_letters / sizeof *misc_letters; i++) {
        if (misc_letters[i].type != type || !has_bit(misc, MISC_BIT_13))
            continue;
        add(&w, misc_letters[i].bit13);
        if (has_bit(misc, MISC_BIT_14))
            add(&w, misc_letters[i].bit14);
    }
    out_write(&out->out, w.text, w.length);
    out_pad(&out->out, MISC_COLUMNS - w.length);
}
