/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions for queries: hexadecimal integers, regular expressions, percentiles.
 *
 *     hex(X)             an integer as "0x" and its digits (as unsigned); other values as in SQLite's hex
 *     X REGEXP PATTERN   POSIX extended regular expressions
 *     percentile(X, P)   the least value V so that at least P percent of the values are <= V; NULL for no values
 */
#include "sql/sql_functions.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hex_bytes(sqlite3_context *to, const uint8_t *at, int length) {
    static const char digits[] = "0123456789ABCDEF";
    char *text = sqlite3_malloc64((sqlite3_uint64)length * 2 + 1);
    if (!text) {
        sqlite3_result_error_nomem(to);
        return;
    }
    for (int i = 0; i < length; i++) {
        text[2 * i] = digits[at[i] >> 4];
        text[2 * i + 1] = digits[at[i] & 15];
    }
    sqlite3_result_text64(to, text, (sqlite3_uint64)length * 2, sqlite3_free, SQLITE_UTF8);
}

static void hex(sqlite3_context *to, int count, sqlite3_value **values) {
    char text[24];
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_INTEGER) {
        const int length = snprintf(text, sizeof text, "0x%llx", (unsigned long long)sqlite3_value_int64(values[0]));
        sqlite3_result_text(to, text, length, SQLITE_TRANSIENT);
        return;
    }
    const uint8_t *at = sqlite3_value_blob(values[0]);
    hex_bytes(to, at, sqlite3_value_bytes(values[0]));
}

/* --- regexp */

static void free_pattern(void *pattern) {
    regfree(pattern);
    sqlite3_free(pattern);
}

static regex_t *compile(sqlite3_context *to, const char *text) {
    char why[128];
    regex_t *pattern = sqlite3_malloc64(sizeof *pattern);
    if (!pattern) {
        sqlite3_result_error_nomem(to);
        return NULL;
    }
    const int failed = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);
    if (!failed)
        return pattern;
    regerror(failed, pattern, why, sizeof why);
    sqlite3_result_error(to, why, -1);
    sqlite3_free(pattern);
    return NULL;
}

/* SQLite calls regexp(Y, X) for X REGEXP Y. If the pattern is constant, the compiled pattern is kept with the
   statement. */
static void regexp(sqlite3_context *to, int count, sqlite3_value **values) {
    const char *text = (const char *)sqlite3_value_text(values[0]);
    const char *subject = (const char *)sqlite3_value_text(values[1]);
    regex_t *pattern = sqlite3_get_auxdata(to, 0);
    const bool is_new = !pattern;
    (void)count;
    if (!text || !subject)
        return;
    if (is_new && !(pattern = compile(to, text)))
        return;
    sqlite3_result_int(to, regexec(pattern, subject, 0, NULL, 0) == 0);
    if (is_new)
        sqlite3_set_auxdata(to, 0, pattern, free_pattern); /* SQLite frees the pattern at once if it cannot keep it */
}

/* --- percentile */

/* Values in order of arrival. As long as all values are integers, they are kept exactly. */
struct percentile {
    struct number {
        double real;
        sqlite3_int64 integer;
    } * at;
    sqlite3_int64 count, room;
    double percent;
    bool is_real, failed;
};

static bool grow(struct percentile *p) {
    if (p->count < p->room)
        return true;
    const sqlite3_int64 room = p->room ? p->room * 2 : 64;
    struct number *at = sqlite3_realloc64(p->at, (sqlite3_uint64)room * sizeof *at);
    if (!at)
        return false;
    p->at = at;
    p->room = room;
    return true;
}

static bool take_percent(sqlite3_context *to, struct percentile *p, sqlite3_value *value) {
    const double percent = sqlite3_value_double(value);
    const bool is_number =
        sqlite3_value_numeric_type(value) == SQLITE_INTEGER || sqlite3_value_numeric_type(value) == SQLITE_FLOAT;
    if (!is_number || !(percent >= 0 && percent <= 100) || (p->count && percent != p->percent)) {
        sqlite3_result_error(to, "percentile(X, P): P is a number from 0 to 100, the same for all rows", -1);
        p->failed = true;
        return false;
    }
    p->percent = percent;
    return true;
}

static void percentile_step(sqlite3_context *to, int count, sqlite3_value **values) {
    struct percentile *p = sqlite3_aggregate_context(to, sizeof *p);
    const int type = sqlite3_value_numeric_type(values[0]);
    (void)count;
    if (!p || p->failed || type == SQLITE_NULL || !take_percent(to, p, values[1]))
        return;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        sqlite3_result_error(to, "percentile(X, P): X is not a number", -1);
        p->failed = true;
    } else if (!grow(p)) {
        sqlite3_result_error_nomem(to);
        p->failed = true;
    } else {
        p->is_real |= type == SQLITE_FLOAT;
        p->at[p->count++] = (struct number){sqlite3_value_double(values[0]), sqlite3_value_int64(values[0])};
    }
}

static int compare_integers(const void *a, const void *b) {
    const struct number *one = a, *other = b;
    return (one->integer > other->integer) - (one->integer < other->integer);
}

static int compare_reals(const void *a, const void *b) {
    const struct number *one = a, *other = b;
    return (one->real > other->real) - (one->real < other->real);
}

/* The rank is rounded up, after subtracting the rounding error of the product. */
static sqlite3_int64 rank_of(const struct percentile *p) {
    const double exact = p->percent * (double)p->count / 100, nearly = exact - 1e-9;
    sqlite3_int64 rank = nearly <= 0 ? 0 : (sqlite3_int64)nearly;
    return rank < p->count ? rank : p->count - 1;
}

static void percentile_final(sqlite3_context *to) {
    struct percentile *p = sqlite3_aggregate_context(to, 0);
    if (!p)
        return;
    if (!p->failed && p->count) {
        qsort(p->at, (size_t)p->count, sizeof *p->at, p->is_real ? compare_reals : compare_integers);
        const struct number *found = &p->at[rank_of(p)];
        if (p->is_real)
            sqlite3_result_double(to, found->real);
        else
            sqlite3_result_int64(to, found->integer);
    }
    sqlite3_free(p->at);
}

int sql_functions_register(sqlite3 *db) {
    const int how = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = sqlite3_create_function_v2(db, "hex", 1, how, NULL, hex, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "regexp", 2, how, NULL, regexp, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code =
            sqlite3_create_function_v2(db, "percentile", 2, how, NULL, NULL, percentile_step, percentile_final, NULL);
    return code;
}
