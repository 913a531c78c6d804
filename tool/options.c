/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses options. Each word of the command line is an operand, a long option or a group of letters; each option found
 * is passed to set_option with its argument. Operands are moved to the front of the list, which is safe because there
 * are never more operands than words read so far.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nearest.h"
#include "options.h"
#include "outcome.h"

struct words {
    char **next;     /* the next word to read */
    char **operands; /* position of the next operand */
    bool wants_help;
};

static bool refuse_option(const struct parse *parse, const struct opt *row, const char *what) {
    complain_as(parse->program, "--%s %s; see %s -h", row->name, what, parse->program);
    return false;
}

/* Parses a decimal number, or a hexadecimal number with 0x. */
static bool parse_integer(const char *text, size_t length, uint64_t *value) {
    const bool is_hex = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = is_hex ? 16 : 10;
    size_t i = is_hex ? 2 : 0;
    for (*value = 0; i < length; i++) {
        static const char digits[] = "0123456789abcdef";
        const char lower = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] + 32) : text[i];
        const char *const digit = memchr(digits, lower, base);
        if (!digit || __builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, (uint64_t)(digit - digits), value))
            return false;
    }
    return length > 0;
}

/* Seconds with at most nine decimals, to nanoseconds. */
static bool parse_seconds(const char *text, size_t length, uint64_t *value) {
    const char *const point = memchr(text, '.', length);
    const size_t whole = point ? (size_t)(point - text) : length;
    uint64_t fraction = 0;
    if (whole > 1 && text[1] == 'x')
        return false;
    const size_t digits = point ? length - whole - 1 : 0;
    if (digits > 9 || !parse_integer(text, whole, value) || (point && !parse_integer(point + 1, digits, &fraction)))
        return false;
    for (size_t i = digits; i < 9; i++)
        fraction *= 10;
    return !__builtin_mul_overflow(*value, (uint64_t)1000000000, value) &&
           !__builtin_add_overflow(*value, fraction, value);
}

/* "A-B", "A-", "-B", or "A,B" as perf writes times. */
static bool parse_range(const char *text, bool is_time, struct range *range) {
    bool (*const number)(const char *, size_t, uint64_t *) = is_time ? parse_seconds : parse_integer;
    const char *const between = strpbrk(text, "-,");
    *range = (struct range){0, 0};
    if (!between || !(between > text || between[1]))
        return false;
    if (between > text && !number(text, (size_t)(between - text), &range->from))
        return false;
    return !between[1] || (number(between + 1, strlen(between + 1), &range->to) && range->from < range->to);
}

/* Index of the word in "text|json|csv"; UINT_MAX if it is not among them. */
static unsigned choice_of(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (unsigned i = 0;; i++) {
        const size_t here = strcspn(words, "|");
        if (here == length && memcmp(words, word, length) == 0)
            return i;
        if (!words[here])
            return UINT_MAX;
        words += here + 1;
    }
}

/* For options with a JSON lines format, returns "jsonl" for "json" and "json" for "jsonl". Otherwise returns `word`. */
static const char *other_word(const struct opt *row, const char *word) {
    const bool is_json = strcmp(word, "json") == 0;
    if (row->kind != OPT_LINES || !(is_json || strcmp(word, "jsonl") == 0))
        return word;
    return is_json ? "jsonl" : "json";
}

static bool set_choice(const struct parse *parse, const struct opt *row, unsigned *value, const char *word) {
    char what[256];
    *value = choice_of(row->arg, word);
    if (*value == UINT_MAX)
        *value = choice_of(row->arg, other_word(row, word));
    if (*value != UINT_MAX)
        return true;
    snprintf(what, sizeof what, "is one of %s, not '%.60s'", row->arg, word);
    return refuse_option(parse, row, what);
}

static bool set_range(const struct parse *parse, const struct opt *row, struct range *value, const char *word) {
    char what[256];
    if (parse_range(word, row->kind == OPT_TIMES, value))
        return true;
    const size_t between = strcspn(word, "-,");
    if (value->from > value->to && value->to) /* both numbers were parsed */
        snprintf(what, sizeof what, "is A-B with A before B: in '%.60s' %.30s is before %.*s", word, word + between + 1,
                 (int)(between < 30 ? between : 30), word);
    else
        snprintf(what, sizeof what, "is %s, A before B, not '%.60s'",
                 row->kind == OPT_TIMES ? "A-B, A- or -B in seconds, as 12.5-13" : "A-B, A- or -B in bytes", word);
    return refuse_option(parse, row, what);
}

/* The members of pfr_limits. A size may end in K, M or G. */
static const struct limit {
    const char *name;
    size_t offset;
    uint64_t most;
    bool is_size;
} limits[] = {
    {"memory", offsetof(pfr_limits, memory), UINT64_MAX, true},
    {"window", offsetof(pfr_limits, window), UINT64_MAX, true},
    {"string", offsetof(pfr_limits, string), UINT64_MAX, true},
    {"records", offsetof(pfr_limits, records), UINT64_MAX, false},
    {"depth", offsetof(pfr_limits, depth), UINT32_MAX, false},
    {"zstd_output_per_record", offsetof(pfr_limits, zstd_output_per_record), UINT64_MAX, true},
    {"ratio", offsetof(pfr_limits, ratio), UINT64_MAX, false},
    {"chunk", offsetof(pfr_limits, chunk), UINT64_MAX, true},
    {"trees", offsetof(pfr_limits, trees), UINT64_MAX, true},
};

static const struct limit *find_limit(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (strncmp(limits[i].name, name, length) == 0 && !limits[i].name[length])
            return &limits[i];
    return NULL;
}

/* 1 to `most`: 0 means "not given" in pfr_limits. */
static bool parse_limit(const struct limit *limit, const char *text, uint64_t *value) {
    static const char units[] = "KMG";
    const size_t length = strlen(text);
    const char *const unit = limit->is_size && length > 1 ? strchr(units, text[length - 1]) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!parse_integer(text, length - (unit != NULL), value) || *value == 0 || *value > limit->most >> shift)
        return false;
    *value <<= shift;
    return true;
}

static bool set_limit(const struct parse *parse, const struct opt *row, pfr_limits *values, const char *word) {
    char what[256];
    uint64_t value;
    const size_t length = strcspn(word, "=");
    const struct limit *const limit = word[length] ? find_limit(word, length) : NULL;
    if (!limit)
        snprintf(what, sizeof what, "is NAME=VALUE, with a name that perfray(1) lists, not '%.60s'", word);
    else if (!parse_limit(limit, word + length + 1, &value))
        snprintf(what, sizeof what, "%s= is a number above 0%s, not '%.60s'", limit->name,
                 limit->is_size ? ", optionally with the suffix K, M or G" : "", word + length + 1);
    else if (limit->most == UINT32_MAX)
        return *(uint32_t *)((char *)values + limit->offset) = (uint32_t)value, true;
    else
        return *(uint64_t *)((char *)values + limit->offset) = value, true;
    return refuse_option(parse, row, what);
}

static bool set_size(const struct parse *parse, const struct opt *row, uint64_t *value, const char *word) {
    static const struct limit size = {.most = UINT64_MAX, .is_size = true};
    char what[256];
    if (parse_limit(&size, word, value))
        return true;
    snprintf(what, sizeof what, "is a size above 0, such as 64M, not '%.60s'", word);
    return refuse_option(parse, row, what);
}

static bool set_percent(const struct parse *parse, const struct opt *row, double *value, const char *word) {
    char what[256], *end;
    *value = strtod(word, &end);
    if (end != word && (!*end || strcmp(end, "%") == 0) && *value >= 0 && *value <= 100)
        return true;
    snprintf(what, sizeof what, "is a number from 0 to 100, not '%.60s'", word);
    return refuse_option(parse, row, what);
}

static bool set_decimal(const struct parse *parse, const struct opt *row, double *value, const char *word) {
    char what[256], *end;
    *value = strtod(word, &end);
    if (end != word && !*end && *value >= 0 && *value <= 1e9)
        return true;
    snprintf(what, sizeof what, "is a number, 0 or more, not '%.60s'", word);
    return refuse_option(parse, row, what);
}

static bool add_word(const struct parse *parse, const struct opt *row, struct word_list *list, const char *word) {
    if (list->count == WORD_LIST_MOST)
        return refuse_option(parse, row, "is given too many times");
    list->at[list->count++] = word;
    list->at[list->count] = NULL;
    return true;
}

static bool add_with(const struct parse *parse, const struct opt *row, struct pair_list *list, const char *word) {
    if (list->words.count == 0)
        return refuse_option(parse, row, "must follow the option to which it applies");
    list->with[list->words.count - 1] = word;
    return true;
}

static bool set_number(const struct parse *parse, const struct opt *row, uint32_t *value, const char *word) {
    char what[256];
    uint64_t number;
    const bool counts = row->kind == OPT_COUNT, is_number = parse_integer(word, strlen(word), &number);
    if (is_number && number <= UINT32_MAX && number >= counts)
        return *value = (uint32_t)number, true;
    const bool is_large = *word && strspn(word, "0123456789") == strlen(word) && (!is_number || number);
    snprintf(what, sizeof what, "is a number%s%s, not '%.60s'", counts && !is_large ? ", 1 or more" : "",
             is_large ? " up to 4294967295" : "", word);
    return refuse_option(parse, row, what);
}

static bool set_option(const struct parse *parse, const struct opt_set *set, const struct opt *row, char *word,
                       struct words *words) {
    void *const member = (char *)set->values + row->offset;
    switch (row->kind) {
    case OPT_FLAG:
    case OPT_CLEAR:
        *(bool *)member = row->kind == OPT_FLAG;
        return true;
    case OPT_STRING:
    case OPT_LAST:
    case OPT_ATTACHED:
        *(const char **)member = word;
        return true;
    case OPT_WORDS:
        return add_word(parse, row, member, word);
    case OPT_PAIR:
        return add_word(parse, row, &((struct pair_list *)member)->words, word);
    case OPT_WITH:
        return add_with(parse, row, member, word);
    case OPT_NUMBER:
    case OPT_COUNT:
        return set_number(parse, row, member, word);
    case OPT_SIZE:
        return set_size(parse, row, member, word);
    case OPT_CHOICE:
    case OPT_LINES:
        return set_choice(parse, row, member, word);
    case OPT_RANGE:
    case OPT_TIMES:
        return set_range(parse, row, member, word);
    case OPT_LIMIT:
        return set_limit(parse, row, member, word);
    case OPT_PERCENT:
        return set_percent(parse, row, member, word);
    case OPT_DECIMAL:
        return set_decimal(parse, row, member, word);
    case OPT_FILE:
        *words->operands++ = word;
        return true;
    case OPT_HELP:
        words->wants_help = true;
        return true;
    case OPT_HABIT:
    case OPT_HEADING:
    case OPT_REFUSED:
        break;
    }
    return true;
}

struct found {
    const struct opt_set *set;
    const struct opt *row; /* NULL: not found */
};

static struct found find_name(const struct parse *parse, const char *name, size_t length) {
    for (size_t i = 0; i < parse->nr_sets; i++)
        for (const struct opt *row = parse->sets[i].rows; row->name; row++)
            if (row->kind != OPT_HEADING && strncmp(row->name, name, length) == 0 && !row->name[length])
                return (struct found){&parse->sets[i], row};
    return (struct found){0};
}

/* A unique prefix of a shown option's name is accepted. *other is another option with this prefix, or NULL. */
static struct found find_start(const struct parse *parse, const char *name, size_t length, const char **other) {
    struct found found = {0};
    *other = NULL;
    for (size_t i = 0; i < parse->nr_sets; i++)
        for (const struct opt *row = parse->sets[i].rows; row->name; row++) {
            if (!row->help || strncmp(row->name, name, length) != 0)
                continue;
            if (found.row)
                *other = row->name;
            else
                found = (struct found){&parse->sets[i], row};
        }
    return found;
}

static struct found find_letter(const struct parse *parse, char letter) {
    for (size_t i = 0; i < parse->nr_sets; i++)
        for (const struct opt *row = parse->sets[i].rows; row->name; row++)
            if (row->letter == letter)
                return (struct found){&parse->sets[i], row};
    return (struct found){0};
}

static bool refuse_unknown(const struct parse *parse, const char *typed, const char *name) {
    struct nearest best = {.distance = UINT_MAX};
    for (size_t i = 0; name && i < parse->nr_sets; i++)
        for (const struct opt *row = parse->sets[i].rows; row->name; row++)
            if (row->help)
                nearest_offer(&best, name, row->name);
    const char *const meant = name ? nearest_word(&best, name) : NULL;
    complain_as(parse->program, "there is no option %s%s%s%s; see %s -h", typed, meant ? " (did you mean --" : "",
                meant ? meant : "", meant ? "?)" : "", parse->program);
    return false;
}

static bool refuse_short(const struct parse *parse, const char *typed, const char *one, const char *other) {
    complain_as(parse->program, "%s may be --%s or --%s; see %s -h", typed, one, other, parse->program);
    return false;
}

static bool refuse_missing(const struct parse *parse, const struct opt *row) {
    char what[256];
    const bool is_plural = row->arg[strlen(row->arg) - 1] == 'S';
    const char *const article = is_plural ? "" : strchr("AEIOU", *row->arg) ? "an " : "a ";
    if (strchr(row->arg, '|'))
        snprintf(what, sizeof what, "needs one of %s", row->arg);
    else
        snprintf(what, sizeof what, "needs %s%s", article, row->arg);
    return refuse_option(parse, row, what);
}

/* Whether the option has no argument: OPT_ATTACHED never takes the next word, OPT_LAST only if it fits. */
static bool is_left_out(const struct parse *parse, const struct opt *row, const char *next) {
    if (row->kind != OPT_LAST)
        return row->kind == OPT_ATTACHED;
    return !next || next[0] == '-' || (parse->takes && !parse->takes(row, next));
}

/* words->next is the word after the option. `attached` is the argument in the same word, or NULL. */
static bool take_option(const struct parse *parse, const struct found *found, char *attached, struct words *words) {
    static char nothing[] = "";
    char *word = attached;
    if (found->row->kind == OPT_REFUSED)
        return refuse_option(parse, found->row, found->row->arg);
    if (!word && is_left_out(parse, found->row, *words->next))
        word = nothing;
    if (found->row->arg && !word) {
        word = *words->next;
        if (!word)
            return refuse_missing(parse, found->row);
        words->next++;
    }
    return set_option(parse, found->set, found->row, word, words);
}

static bool take_long(const struct parse *parse, char *word, struct words *words) {
    const size_t length = strcspn(word + 2, "=");
    char *const attached = word[2 + length] ? word + 3 + length : NULL;
    const char *other = NULL;
    struct found found = find_name(parse, word + 2, length);
    if (!found.row)
        found = find_start(parse, word + 2, length, &other);
    if (!found.row || other)
        word[2 + length] = '\0';
    if (!found.row)
        return refuse_unknown(parse, word, word + 2);
    if (other)
        return refuse_short(parse, word, found.row->name, other);
    if (attached && !found.row->arg)
        return refuse_option(parse, found.row, "takes no argument");
    return take_option(parse, &found, attached, words);
}

/* Whether the word is the name, or the name followed by =, - or _ (options of other tools can have longer names). */
static bool begins_with_name(const char *word, const char *name) {
    while (*name && (*word == *name || (*word == '_' && *name == '-'))) {
        word++;
        name++;
    }
    return !*name && (!*word || strchr("=-_", *word));
}

#define NAME_LEAST 4u /* shorter words may be groups of letters */

/* Detects a long name after a single dash, as some tools use it. As letters it would have another meaning: -output
 * would be the output file "utput". */
static bool is_name_behind_one_dash(const struct parse *parse, const char *word, const char **name) {
    for (size_t i = 0; i < parse->nr_sets; i++)
        for (const struct opt *row = parse->sets[i].rows; row->name; row++)
            if (strlen(row->name) >= NAME_LEAST && begins_with_name(word + 1, row->name)) {
                *name = row->name;
                return true;
            }
    return false;
}

static bool refuse_one_dash(const struct parse *parse, const char *word, const char *name) {
    complain_as(parse->program, "%s is a group of one-letter options; a long option has two dashes: --%s; see %s -h",
                word, name, parse->program);
    return false;
}

static bool take_letters(const struct parse *parse, char *word, struct words *words) {
    const char *name;
    if (is_name_behind_one_dash(parse, word, &name))
        return refuse_one_dash(parse, word, name);
    for (char *at = word + 1; *at && !words->wants_help; at++) {
        const struct found found = find_letter(parse, *at);
        if (!found.row)
            return refuse_unknown(parse, (char[]){'-', *at, '\0'}, NULL);
        char *const attached = found.row->arg && at[1] ? at + 1 : NULL;
        if (!take_option(parse, &found, attached, words))
            return false;
        if (attached)
            break;
    }
    return true;
}

static void take_rest(struct words *words) {
    while (*words->next)
        *words->operands++ = *words->next++;
}

bool options_parse(const struct parse *parse, char **argv, struct operands *operands) {
    struct words words = {.next = argv, .operands = argv};
    while (*words.next && !words.wants_help) {
        char *const word = *words.next++;
        if (strcmp(word, "--") == 0) {
            take_rest(&words);
        } else if (word[0] != '-' || !word[1]) {
            *words.operands++ = word;
            if (parse->stop_at_operand)
                take_rest(&words);
        } else if (!(word[1] == '-' ? take_long : take_letters)(parse, word, &words)) {
            return false;
        }
    }
    *operands = (struct operands){argv, (size_t)(words.operands - argv), words.wants_help};
    return true;
}
