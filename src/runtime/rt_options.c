/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses PERFRAY_RT, or, if that is not set, XRAY_OPTIONS and XRAY_FDR_OPTIONS as LLVM's runtime understands them:
 * key=value pairs separated by blanks, ':' or ','. A value in '' or "" may contain separators.
 *
 *  PERFRAY_RT="file=trace-%p.xray size=64M keep=last"
 */
#include "runtime/rt_options.h"
#include "runtime/rt_pool.h"

#define SIZE_LAST (16u << 20)
#define SIZE_FIRST (1u << 30)
#define LLVM_SLOT_SIZE 16384u
#define LLVM_SLOTS 100u

struct option_piece {
    const char *at;
    size_t length;
};

/* --- Values. */

RT_PLAIN static bool is_word(const struct option_piece *p, const char *word) {
    return p->length == rt_length(word) && rt_same(p->at, word, p->length);
}

/* Reads a size, for example 16384, 64k, 16M, 1G. */
RT_PLAIN static bool read_size(const struct option_piece *p, uint64_t *to) {
    uint64_t value = 0;
    size_t i = 0;
    for (; i < p->length && p->at[i] >= '0' && p->at[i] <= '9' && value < (uint64_t)1 << 50; i++)
        value = value * 10 + (uint64_t)(p->at[i] - '0');
    if (i == 0 || i + 1 < p->length)
        return false;
    const char unit = i < p->length ? p->at[i] | 0x20 : 0;
    *to = value << (unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0);
    return !unit || unit == 'k' || unit == 'm' || unit == 'g';
}

/* Reads a time, for example 500ns, 5us, 1ms, 2s; a number without a unit counts unit_ns. */
RT_PLAIN static bool read_time(const struct option_piece *p, uint64_t unit_ns, uint64_t *to) {
    static const struct {
        const char *word;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    struct option_piece digits = {p->at, 0};
    while (digits.length < p->length && p->at[digits.length] >= '0' && p->at[digits.length] <= '9')
        digits.length++;
    const struct option_piece unit = {p->at + digits.length, p->length - digits.length};
    if (!read_size(&digits, to) || *to > (uint64_t)1 << 33)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units && unit.length; i++)
        if (is_word(&unit, units[i].word))
            return *to *= units[i].ns, true;
    *to *= unit_ns;
    return unit.length == 0;
}

RT_PLAIN static bool read_number(const struct option_piece *p, uint32_t *to) {
    uint64_t value;
    if (!read_size(p, &value) || value > UINT32_MAX)
        return false;
    *to = (uint32_t)value;
    return true;
}

/* Adds patterns, which are separated by '|'. */
RT_PLAIN static bool add_patterns(struct rt_options *o, enum rt_filter_kind kind, const struct option_piece *p) {
    struct rt_patterns *to = &o->patterns[kind];
    for (size_t at = 0; at < p->length;) {
        size_t length = 0;
        while (at + length < p->length && p->at[at + length] != '|')
            length++;
        if (to->count == RT_PATTERNS || length + 1 > sizeof o->words - o->words_used)
            return false;
        char *word = o->words + o->words_used;
        rt_copy(word, p->at + at, length);
        word[length] = 0;
        to->at[to->count++] = word;
        o->words_used += length + 1;
        at += length + 1;
    }
    return true;
}

/* --- File name: %p is replaced by the process id. */

RT_PLAIN static bool add_text(char *to, size_t *used, const char *text, size_t length) {
    if (length >= RT_PATH - *used)
        return false;
    rt_copy(to + *used, text, length);
    *used += length;
    to[*used] = 0;
    return true;
}

RT_PLAIN static bool add_pid(char *to, size_t *used) {
    char digits[12];
    size_t at = sizeof digits;
    uint32_t pid = rt.pid;
    do
        digits[--at] = (char)('0' + pid % 10);
    while (pid /= 10);
    return add_text(to, used, digits + at, sizeof digits - at);
}

RT_PLAIN static bool set_file(struct rt_options *o, const struct option_piece *p) {
    size_t used = 0;
    for (size_t i = 0; i < p->length; i++) {
        const bool is_pid = p->at[i] == '%' && i + 1 < p->length && p->at[i + 1] == 'p';
        if (!(is_pid ? add_pid(o->file, &used) : add_text(o->file, &used, p->at + i, 1)))
            return false;
        i += is_pid;
    }
    return used > 0;
}

/* --- Keys. */

RT_PLAIN static bool set_keep(struct rt_options *o, const struct option_piece *p) {
    o->keep_first = is_word(p, "first");
    return o->keep_first || is_word(p, "last");
}
RT_PLAIN static bool set_clock(struct rt_options *o, const struct option_piece *p) {
    o->clock = is_word(p, "mono");
    return o->clock || is_word(p, "tsc");
}
RT_PLAIN static bool set_size(struct rt_options *o, const struct option_piece *p) {
    o->size_asked = true;
    return read_size(p, &o->size);
}
RT_PLAIN static bool set_buffer(struct rt_options *o, const struct option_piece *p) {
    return read_size(p, &o->slot_size) && o->slot_size <= (uint64_t)1 << 28;
}
RT_PLAIN static bool set_threshold(struct rt_options *o, const struct option_piece *p) {
    return read_time(p, 1000, &o->threshold_ns);
}
RT_PLAIN static bool set_depth(struct rt_options *o, const struct option_piece *p) {
    return read_number(p, &o->depth);
}
RT_PLAIN static bool set_leader(struct rt_options *o, const struct option_piece *p) {
    return read_number(p, &o->leader);
}
RT_PLAIN static bool set_include(struct rt_options *o, const struct option_piece *p) {
    return add_patterns(o, RT_INCLUDE, p);
}
RT_PLAIN static bool set_exclude(struct rt_options *o, const struct option_piece *p) {
    return add_patterns(o, RT_EXCLUDE, p);
}
RT_PLAIN static bool set_filter(struct rt_options *o, const struct option_piece *p) {
    return add_patterns(o, RT_FOCUS_ON, p);
}
RT_PLAIN static bool set_notrace(struct rt_options *o, const struct option_piece *p) {
    return add_patterns(o, RT_NOTRACE, p);
}

/* Versions 1 and 2 have a different buffer format; `perfray convert` converts a finished trace to these versions. */
RT_PLAIN static bool set_version(struct rt_options *o, const struct option_piece *p) {
    return read_number(p, &o->version) && o->version >= 3 && o->version <= 5;
}
RT_PLAIN static bool set_argument(struct rt_options *o, const struct option_piece *p) {
    return add_patterns(o, RT_WITH_ARGUMENT, p);
}

struct option_key {
    const char *name;
    bool (*set)(struct rt_options *o, const struct option_piece *value);
};

static const struct option_key keys[] = {
    {"file", set_file},       {"size", set_size},           {"buffer", set_buffer},
    {"keep", set_keep},       {"threshold", set_threshold}, {"depth", set_depth},
    {"include", set_include}, {"exclude", set_exclude},     {"filter", set_filter},
    {"notrace", set_notrace}, {"argument", set_argument},   {"clock", set_clock},
    {"version", set_version}, {"leader", set_leader},       {NULL, NULL},
};

RT_PLAIN static bool is_between(char c) {
    return c == ' ' || c == ':' || c == ',' || c == '\t' || c == '\n';
}

/* Parses one key=value; *at moves past it. */
RT_PLAIN static void next_pair(const char **at, struct option_piece *name, struct option_piece *value) {
    const char *p = *at;
    *name = (struct option_piece){p, 0};
    while (*p && *p != '=' && !is_between(*p))
        p++;
    name->length = (size_t)(p - name->at);
    *value = (struct option_piece){p, 0};
    if (*p == '=') {
        p++;
        const char quote = *p == '\'' || *p == '"' ? *p++ : 0;
        *value = (struct option_piece){p, 0};
        while (*p && (quote ? *p != quote : !is_between(*p)))
            p++;
        value->length = (size_t)(p - value->at);
        p += quote && *p;
    }
    *at = p;
}

RT_PLAIN static bool set_one(struct rt_options *o, const struct option_key *list, const struct option_piece *name,
                             const struct option_piece *value) {
    for (; list->name; list++)
        if (is_word(name, list->name))
            return list->set(o, value);
    return false;
}

RT_PLAIN static bool read_all(struct rt_options *o, const struct option_key *list, const char *text,
                              const char **wrong) {
    struct option_piece name, value;
    for (;;) {
        while (is_between(*text))
            text++;
        if (!*text)
            return true;
        *wrong = text;
        next_pair(&text, &name, &value);
        if (!set_one(o, list, &name, &value))
            return false;
    }
}

/* Sets defaults. */
RT_PLAIN static void fill_in(struct rt_options *o) {
    static const struct option_piece usual = {"perfray-%p.xray", 15};
    if (!o->size)
        o->size = o->keep_first ? SIZE_FIRST : SIZE_LAST;
    if (!o->file[0])
        set_file(o, &usual);
}

RT_PLAIN bool rt_options_parse(struct rt_options *o, const char *text, const char **wrong) {
    rt_zero(o, sizeof *o);
    const bool understood = read_all(o, keys, text, wrong);
    fill_in(o);
    return understood;
}

/* --- LLVM's variables. Unknown keys are skipped, because they may be for other modes. */

RT_PLAIN static bool set_premain(struct rt_options *o, const struct option_piece *p) {
    o->wanted = is_word(p, "true") || is_word(p, "1") || is_word(p, "yes");
    return true;
}
RT_PLAIN static bool set_slots(struct rt_options *o, const struct option_piece *p) {
    uint64_t count;
    if (!read_size(p, &count) || count > UINT32_MAX)
        return false;
    o->size = count; /* a number of buffers until read_llvm multiplies it by the buffer size */
    return true;
}
static const struct option_key xray_keys[] = {
    {"patch_premain", set_premain}, {"xray_logfile_base", set_file}, {NULL, NULL}};
static const struct option_key fdr_keys[] = {{"buffer_size", set_buffer},
                                             {"buffer_max", set_slots},
                                             {"func_duration_threshold_us", set_threshold},
                                             {NULL, NULL}};

RT_PLAIN static void read_known(struct rt_options *o, const struct option_key *list, const char *text) {
    struct option_piece name, value;
    for (;;) {
        while (is_between(*text))
            text++;
        if (!*text)
            return;
        next_pair(&text, &name, &value);
        set_one(o, list, &name, &value);
    }
}

RT_PLAIN static const char *variable(char *const *environment, const char *name) {
    const size_t length = rt_length(name);
    for (; *environment; environment++)
        if (rt_same(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* The file name, made as by LLVM's runtime: base, program, '.', and here the process id. */
RT_PLAIN static void name_like_llvm(struct rt_options *o, const char *program) {
    size_t used = rt_length(o->file);
    const char *last = program;
    for (const char *p = program; *p; p++)
        if (*p == '/')
            last = p + 1;
    if (used == 0)
        add_text(o->file, &used, "xray-log.", 9);
    add_text(o->file, &used, last, rt_length(last));
    add_text(o->file, &used, ".", 1);
    add_pid(o->file, &used);
}

RT_PLAIN static void read_llvm(struct rt_options *o, const char *general, const char *fdr, const char *program) {
    o->slot_size = LLVM_SLOT_SIZE;
    o->size = LLVM_SLOTS;
    o->threshold_ns = 5000;
    if (general)
        read_known(o, xray_keys, general);
    if (fdr)
        read_known(o, fdr_keys, fdr);
    o->size *= o->slot_size;
    name_like_llvm(o, program);
}

RT_PLAIN void rt_options_read(struct rt_options *o, char *const *environment, const char *program) {
    const char *own = variable(environment, "PERFRAY_RT"), *wrong = "";
    const char *general = variable(environment, "XRAY_OPTIONS"), *fdr = variable(environment, "XRAY_FDR_OPTIONS");
    rt_zero(o, sizeof *o);
    if (own) {
        o->wanted = rt_options_parse(o, own, &wrong);
        if (!o->wanted)
            rt_say("nothing is recorded: PERFRAY_RT is invalid from here on", wrong);
    } else if (general || fdr) {
        read_llvm(o, general, fdr, program);
    }
    fill_in(o);
}
