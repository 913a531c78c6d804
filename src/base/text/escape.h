/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_ESCAPE_H
#define PFR_BASE_ESCAPE_H
/* The escaped form of names (escape_bytes.h) as text, JSON strings and CSV fields. */
#include "base/io/output.h"
#include "base/memory/escape_bytes.h"

/* The escaped form as text. */
void out_escaped(struct output *out, const void *bytes, size_t length);

/* The escaped form as text of HTML or XML, or in a quoted attribute. U+FFFE and U+FFFF, which XML does not allow,
   become U+FFFD. */
void out_markup(struct output *out, const void *bytes, size_t length);

/* The escaped form inside a JSON string, quotes included. */
void out_json_string(struct output *out, const void *bytes, size_t length);

/* The escaped form as a CSV field, always quoted; ' is put before a field that a spreadsheet would take for a
   formula. */
void out_csv_field(struct output *out, const void *bytes, size_t length);
/* As out_csv_field, for text that is already escaped. */
void out_csv_escaped(struct output *out, const char *text, size_t length);

#endif
