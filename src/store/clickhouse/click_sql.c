/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a statement of the user on each shard separately. If there are several shards, the first column is the shard, so
 * that a sum of one shard is not taken for that of all. The statement is sent with GET, for which servers refuse all
 * changes.
 *
 * The answer is TabSeparatedWithNamesAndTypes: one line per row; the first has the names, the second the types. In
 * values, \N is NULL, and \b \f \r \n \t \0 \' \\ have the same meaning as in C.
 */
#include "store/clickhouse/click_parts.h"

#include <string.h>

#define SQL_COLUMNS_MOST 256u

struct sql_answer {
    struct store_handle *handle;
    struct arena arena;
    const char *names[SQL_COLUMNS_MOST];
    unsigned count;
    store_sql_row *row;
    void *context;
};

static char unescaped(char c) {
    static const char letters[] = "bfrnt0", bytes[] = "\b\f\r\n\t\0";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? bytes[at - letters] : c;
}

/* Decodes a value; NULL for \N. The text is in the arena. */
static bool take_value(struct arena *arena, const char *at, size_t length, struct store_text **value) {
    *value = NULL;
    if (length == 2 && at[0] == '\\' && at[1] == 'N')
        return true;
    struct store_text *text = arena_zeroed(arena, 1, sizeof *text);
    char *bytes = arena_zeroed(arena, length + 1, 1);
    if (!text || !bytes)
        return false;
    for (size_t i = 0; i < length; i++)
        bytes[text->length++] = at[i] == '\\' && i + 1 < length ? unescaped(at[++i]) : at[i];
    text->bytes = bytes;
    *value = text;
    return true;
}

/* Takes the values of one line. DAMAGE: the answer is not a table. */
static pfr_status take_line(struct sql_answer *answer, const char *at, size_t length,
                            struct store_text *values[SQL_COLUMNS_MOST], unsigned *count, pfr_error *err) {
    const char *end = at + length;
    for (*count = 0; *count < SQL_COLUMNS_MOST;) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        if (!take_value(&answer->arena, at, (size_t)((tab ? tab : end) - at), &values[(*count)++]))
            return mem_fail(answer->handle->memory, err, "store");
        if (!tab)
            return PFR_OK;
        at = tab + 1;
    }
    return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "store", "the answer has more than %u columns",
                    SQL_COLUMNS_MOST);
}

static const char *text_of(const struct store_text *value) {
    return value ? value->bytes : "";
}

/* Takes the first line, which must be the same for all shards. */
static pfr_status take_names(struct sql_answer *answer, struct store_text *const *values, unsigned count,
                             unsigned server, pfr_error *err) {
    const unsigned added = answer->handle->nr_servers > 1;
    if (!server) {
        if (count + added > SQL_COLUMNS_MOST)
            return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "store", "the answer has more than %u columns",
                            SQL_COLUMNS_MOST - 1);
        answer->names[0] = "shard";
        for (unsigned i = 0; i < count; i++)
            answer->names[i + added] = text_of(values[i]);
        answer->count = count + added;
        return answer->row(answer->context, answer->count, NULL, answer->names, err);
    }
    bool same = count + added == answer->count;
    for (unsigned i = 0; same && i < count; i++)
        same = strcmp(answer->names[i + added], text_of(values[i])) == 0;
    return same ? PFR_OK
                : pfr_fail(err, PFR_ERR_DAMAGE, PFR_NO_OFFSET, 0, "store", "%s: answers with other columns than %s",
                           http_host(answer->handle->http, server), http_host(answer->handle->http, 0));
}

static pfr_status hand_row(struct sql_answer *answer, struct store_text *const *values, unsigned count, unsigned server,
                           pfr_error *err) {
    const char *host = http_host(answer->handle->http, server);
    const struct store_text shard = {host, strlen(host)};
    const struct store_text *all[SQL_COLUMNS_MOST + 1] = {&shard};
    const unsigned added = answer->handle->nr_servers > 1;
    if (count + added != answer->count)
        return pfr_fail(err, PFR_ERR_DAMAGE, PFR_NO_OFFSET, 0, "store",
                        "%s: a row of the answer has %u columns, not %u", host, count, answer->count - added);
    for (unsigned i = 0; i < count; i++)
        all[i + added] = values[i];
    return answer->row(answer->context, answer->count, all, answer->names, err);
}

static pfr_status take_answer(struct sql_answer *answer, unsigned server, pfr_error *err) {
    const struct http_answer *from = http_answer(answer->handle->http, server);
    const char *at = (const char *)from->bytes, *end = at + from->length, *newline;
    struct store_text *values[SQL_COLUMNS_MOST];
    unsigned count;
    for (unsigned line = 0; at < end; line++, at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return pfr_fail(err, PFR_ERR_DAMAGE, PFR_NO_OFFSET, 0, "store", "%s: the answer is cut, or no table",
                            http_host(answer->handle->http, server));
        PFR_TRY(take_line(answer, at, (size_t)(newline - at), values, &count, err));
        if (line == 0)
            PFR_TRY(take_names(answer, values, count, server, err));
        else if (line > 1) /* line 1 has the types */
            PFR_TRY(hand_row(answer, values, count, server, err));
    }
    return PFR_OK;
}

pfr_status click_sql(struct store_handle *handle, const char *statement, store_sql_row *row, void *context,
                     pfr_error *err) {
    struct sql_answer answer = {.handle = handle, .row = row, .context = context};
    pfr_status st = PFR_OK;
    arena_init(&answer.arena, handle->memory);
    for (unsigned server = 0; server < handle->nr_servers && st >= 0; server++) {
        st = http_read_only(handle->http, server, handle->database, statement, err);
        if (st >= 0)
            st = take_answer(&answer, server, err);
    }
    arena_free(&answer.arena);
    return st;
}
