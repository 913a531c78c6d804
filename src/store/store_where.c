/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recursive descent parser. From the weakest operator: `or`, `and`, `not`; then tests and parentheses. Nodes are in
 * an array of fixed size. DEPTH_MOST bounds the depth of the recursion.
 */
#include "store/store_where.h"

#include "store/store_where_time.h"

#include <ctype.h>
#include <string.h>

struct parser {
    struct where *w;
    const char *text, *at;
    uint64_t now;
    unsigned depth;
};

#define DEPTH_MOST 64u
#define WORD_ROOM 1024u

static const char *const names[] = {
    [WHERE_SERVICE] = "service", [WHERE_VERSION] = "version", [WHERE_HOST] = "host", [WHERE_UPLOAD] = "upload",
    [WHERE_KIND] = "kind",       [WHERE_EVENT] = "event",     [WHERE_COMM] = "comm", [WHERE_TIME] = "time"};
#define NAMES (sizeof names / sizeof *names)

static pfr_status refuse(const struct parser *p, const char *at, const char *what, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, (uint64_t)(at - p->text), 0, "where", "%s at byte %zu of the expression: %.60s",
                    what, (size_t)(at - p->text), *at ? at : "(its end)");
}

static void skip_blanks(struct parser *p) {
    p->at += strspn(p->at, " \t\n");
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || strchr("_.:/+-*?[]@%,", c);
}

/* A bare word: letters, digits and some signs. */
static size_t word_length(const char *at) {
    size_t length = 0;
    while (at[length] && is_word(at[length]))
        length++;
    return length;
}

/* Takes the word if the next word is equal to it. */
static bool take_word(struct parser *p, const char *word) {
    skip_blanks(p);
    const size_t length = word_length(p->at);
    if (length != strlen(word) || strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static pfr_status add_node(struct parser *p, const struct where_node *node, uint16_t *at, pfr_error *err) {
    if (p->w->count == WHERE_NODES)
        return refuse(p, p->at, "more than 128 tests and operators", err);
    *at = (uint16_t)p->w->count;
    p->w->nodes[p->w->count++] = *node;
    return PFR_OK;
}

/* --- A test. */

static pfr_status read_name(struct parser *p, enum where_name *name, pfr_error *err) {
    skip_blanks(p);
    const size_t length = word_length(p->at);
    for (size_t i = 0; i < NAMES; i++)
        if (strlen(names[i]) == length && memcmp(names[i], p->at, length) == 0) {
            p->at += length;
            *name = (enum where_name)i;
            return PFR_OK;
        }
    return refuse(p, p->at, "expected service, version, host, upload, kind, event, comm or time", err);
}

static pfr_status read_op(struct parser *p, enum where_name name, enum where_op *op, bool *negated, pfr_error *err) {
    static const struct {
        const char *text;
        enum where_op op;
        bool negated, of_time;
    } ops[] = {{"!=", WHERE_EQUAL, true, false},      {"!~", WHERE_GLOB, true, false},
               {"<=", WHERE_LESS_EQUAL, false, true}, {">=", WHERE_GREATER_EQUAL, false, true},
               {"=", WHERE_EQUAL, false, false},      {"~", WHERE_GLOB, false, false},
               {"<", WHERE_LESS, false, true},        {">", WHERE_GREATER, false, true}};
    skip_blanks(p);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const size_t length = strlen(ops[i].text);
        if (strncmp(p->at, ops[i].text, length) != 0)
            continue;
        if (ops[i].of_time != (name == WHERE_TIME))
            break;
        p->at += length;
        *op = ops[i].op;
        *negated = ops[i].negated;
        return PFR_OK;
    }
    return refuse(p, p->at, name == WHERE_TIME ? "expected < <= > or >= (of time)" : "expected = != ~ or !~", err);
}

/* Reads a bare word, or a quoted text, in which \ escapes the quote and itself. */
static pfr_status read_value(struct parser *p, char to[WORD_ROOM], pfr_error *err) {
    skip_blanks(p);
    const char *const start = p->at;
    const char quote = *p->at == '"' || *p->at == '\'' ? *p->at++ : '\0';
    size_t used = 0;
    while (*p->at && (quote ? *p->at != quote : is_word(*p->at))) {
        if (quote && *p->at == '\\' && (p->at[1] == quote || p->at[1] == '\\'))
            p->at++;
        if (used == WORD_ROOM - 1)
            return refuse(p, start, "a value of more than 1023 bytes", err);
        to[used++] = *p->at++;
    }
    to[used] = '\0';
    if (quote && *p->at != quote)
        return refuse(p, start, "a quote without its end", err);
    p->at += quote != '\0';
    return quote || used ? PFR_OK : refuse(p, start, "expected a value", err);
}

static pfr_status keep_text(struct parser *p, const char *text, uint16_t *at, pfr_error *err) {
    struct where *w = p->w;
    const size_t size = strlen(text) + 1;
    if (size > sizeof w->texts - w->used)
        return refuse(p, p->at, "values of more than 4 KB", err);
    memcpy(w->texts + w->used, text, size);
    *at = (uint16_t)w->used;
    w->used += size;
    return PFR_OK;
}

static pfr_status read_test(struct parser *p, uint16_t *at, pfr_error *err) {
    struct where_node node = {.kind = WHERE_TEST};
    char value[WORD_ROOM];
    bool negated = false;
    PFR_TRY(read_name(p, &node.name, err));
    PFR_TRY(read_op(p, node.name, &node.op, &negated, err));
    skip_blanks(p);
    const char *const start = p->at;
    PFR_TRY(read_value(p, value, err));
    if (node.name == WHERE_TIME && !where_time_read(value, p->now, &node.time))
        return refuse(p, start, "expected a time: -1d, \"2026-11-28 12:00\", today, @SECONDS", err);
    PFR_TRY(keep_text(p, value, &node.text, err));
    PFR_TRY(add_node(p, &node, at, err));
    return negated ? add_node(p, &(struct where_node){.kind = WHERE_NOT, .left = *at}, at, err) : PFR_OK;
}

/* --- Operators. */

static pfr_status read_or(struct parser *p, uint16_t *at, pfr_error *err);

static pfr_status read_group(struct parser *p, uint16_t *at, pfr_error *err) {
    p->at++;
    PFR_TRY(read_or(p, at, err));
    skip_blanks(p);
    if (*p->at != ')')
        return refuse(p, p->at, "expected )", err);
    p->at++;
    return PFR_OK;
}

static pfr_status read_not(struct parser *p, uint16_t *at, pfr_error *err) {
    bool negated = false;
    while (take_word(p, "not"))
        negated = !negated;
    PFR_TRY(*p->at == '(' ? read_group(p, at, err) : read_test(p, at, err));
    return negated ? add_node(p, &(struct where_node){.kind = WHERE_NOT, .left = *at}, at, err) : PFR_OK;
}

static pfr_status read_and(struct parser *p, uint16_t *at, pfr_error *err) {
    struct where_node node = {.kind = WHERE_AND};
    PFR_TRY(read_not(p, at, err));
    while (take_word(p, "and")) {
        node.left = *at;
        PFR_TRY(read_not(p, &node.right, err));
        PFR_TRY(add_node(p, &node, at, err));
    }
    return PFR_OK;
}

static pfr_status read_or(struct parser *p, uint16_t *at, pfr_error *err) {
    struct where_node node = {.kind = WHERE_OR};
    if (++p->depth > DEPTH_MOST)
        return refuse(p, p->at, "parentheses more than 64 deep", err);
    PFR_TRY(read_and(p, at, err));
    while (take_word(p, "or")) {
        node.left = *at;
        PFR_TRY(read_and(p, &node.right, err));
        PFR_TRY(add_node(p, &node, at, err));
    }
    p->depth--;
    return PFR_OK;
}

pfr_status where_parse(struct where *w, const char *text, uint64_t now, pfr_error *err) {
    struct parser p = {.w = w, .text = text ? text : "", .at = text ? text : "", .now = now};
    uint16_t root;
    *w = (struct where){0};
    skip_blanks(&p);
    w->all = !*p.at;
    if (w->all)
        return PFR_OK;
    PFR_TRY(read_or(&p, &root, err));
    skip_blanks(&p);
    if (*p.at)
        return refuse(&p, p.at, "expected and, or, or the end", err);
    w->root = root;
    return PFR_OK;
}
