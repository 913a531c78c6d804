/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_QUOTE_H
#define PFR_STORE_QUOTE_H
/*
 * Values in queries to ClickHouse. Texts come from recordings and users, so the server must not parse any of their
 * bytes as SQL. Version 18.16 has no bound parameters ({name:String} came with 19.14). So every text becomes
 * unhex('...'), whose digits cannot end a literal under any escaping rules. Servers evaluate unhex() to a constant
 * before they use an index.
 * quote_text is the only function that puts a text into a query.
 */
#include "base/io/output.h"

/* An expression of type String with these bytes. */
void quote_text(struct output *query, const void *bytes, size_t length);

/* toUInt64(...), toInt64(...): without the conversion, ClickHouse may choose a narrower type. */
void quote_u64(struct output *query, uint64_t value);
void quote_i64(struct output *query, int64_t value);

/* Whether `name` is allowed as the name of a database: a letter or _, then letters, digits and _, at most 64
   characters. Names of tables and columns are chosen by the program. */
bool is_database_name(const char *name);

#endif
