/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_WHERE_H
#define PFR_STORE_STORE_WHERE_H
/*
 * Expressions that select rows of a store (the grammar is in perfray/store.h). They are evaluated here, in the same way
 * for all engines; an engine gets only the uploads and the time range that can match, as bound parameters.
 *
 *     where_parse(&w, text, now, &err);
 *     where_of_upload(&w, &upload)           WHERE_NO: none of its rows can match; WHERE_YES: all of them match
 *     where_times(&w, &first, &last);        no row outside this range can match
 *     where_of_row(&w, &upload, time, event, comm)
 */
#include "store/store_parts.h"

#define WHERE_NODES 128u

enum where_value { WHERE_NO, WHERE_YES, WHERE_DEPENDS };

enum where_name {
    WHERE_SERVICE,
    WHERE_VERSION,
    WHERE_HOST,
    WHERE_UPLOAD,
    WHERE_KIND,
    WHERE_EVENT,
    WHERE_COMM,
    WHERE_TIME
};
enum where_op { WHERE_EQUAL, WHERE_GLOB, WHERE_LESS, WHERE_LESS_EQUAL, WHERE_GREATER, WHERE_GREATER_EQUAL };
enum where_kind { WHERE_TEST, WHERE_NOT, WHERE_AND, WHERE_OR };

struct where_node {
    enum where_kind kind;
    enum where_name name;
    enum where_op op;
    uint16_t left, right; /* operands */
    uint16_t text;        /* offset in `texts` */
    uint64_t time;
};

struct where {
    struct where_node nodes[WHERE_NODES];
    uint32_t count, root;
    bool all; /* no expression: everything matches */
    char texts[4096];
    size_t used;
};

/* If `text` is NULL or blank, everything matches. USAGE: err->offset is the position in the text. */
pfr_status where_parse(struct where *w, const char *text, uint64_t now, pfr_error *err);
bool where_names(const struct where *w, enum where_name name);
enum where_value where_of_upload(const struct where *w, const struct store_upload *u);
void where_times(const struct where *w, uint64_t *first, uint64_t *last);
/* The service to which all uploads that can match belong; NULL: uploads of several services can match. */
const char *where_service(const struct where *w);
/* Whether each test on times has the same result for all slots of one day of the upload. Then the sums of a day can be
   selected by the time of any of its slots. */
bool where_is_daily(const struct where *w, const struct store_upload *u);
bool where_of_row(const struct where *w, const struct store_upload *u, uint64_t time, const char *event,
                  const char *comm);

#endif
