/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_JSON_H
#define PFR_BASE_JSON_H
/*
 * A streaming JSON writer on an output. It writes commas, quotes and indentation; the caller must give every key a
 * value and end every container, which is asserted. Two shapes: pretty (2 blanks per level) and one line. Failures are
 * those of the output, which keeps them.
 *
 *    struct json json = json_on(out, JSON_LINE);
 *    json_begin_object(&json);
 *    json_key(&json, "type");
 *    json_u64(&json, 9);
 *    json_end_object(&json);
 *    json_end_line(&json);
 */
#include "base/io/output.h"

#define JSON_DEPTH 64 /* the deepest nesting of containers */

enum json_shape { JSON_LINE, JSON_PRETTY };

struct json {
    struct output *out;
    uint64_t objects; /* bit d: the container at depth d is an object */
    unsigned depth;
    bool pretty;
    bool filled;  /* the current container has a member: a comma comes next */
    bool has_key; /* a key was written and its value is due */
};

struct json json_on(struct output *out, enum json_shape shape);

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);

/* A key from the program's own source: letters, digits and plain punctuation, written unescaped. */
void json_key(struct json *json, const char *key);

/* A string of any bytes, in the escaped form of escape.h; json_text stops at the NUL. */
void json_string(struct json *json, const void *bytes, size_t length);
void json_text(struct json *json, const char *text);

void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);

/* The string "0x1f": for addresses and masks, which lose bits as JSON numbers. */
void json_hex(struct json *json, uint64_t value);

/* A string of two hexadecimal digits per byte: for build-ids and raw bytes. */
void json_hex_bytes(struct json *json, const void *bytes, size_t length);

/* The shortest number that reads back to the same value; null for NaN and infinities. */
void json_f64(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* A value that is already JSON. */
void json_made(struct json *json, const char *value, size_t length);

/* Ends a document with a newline, and asserts that the document is complete. Another document may follow (JSON
   lines). */
void json_end_line(struct json *json);

#endif
