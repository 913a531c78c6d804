/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_PRINT_H
#define PERFRAY_FUZZ_PRINT_H
/*
 * Runs a printer of the library on a recording and asserts the laws of its output: the same bytes twice; well-formed
 * UTF-8 without control characters except newline and tab, unless the format is binary; valid JSON if the format is
 * JSON.
 */
#include "base/text/public_output.h"
#include "fuzz.h"

enum text_kind { TEXT_PLAIN, TEXT_JSON, TEXT_JSON_LINES, TEXT_BINARY };

struct printing {
    pfr_open_options open;
    enum text_kind kind;
    const void *options; /* for print */
    pfr_status (*print)(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err);
};

void fuzz_print(const struct printing *how, const uint8_t *bytes, size_t length);

/* fuzz_text.c: returns the length of the longest prefix of the text that obeys the law (the whole length if there is no
 * violation). */
size_t shown_length(const char *text, size_t length);
/* Whether the text is one JSON value (RFC 8259); surrounding blanks are allowed. */
bool is_json(const char *text, size_t length);

#endif
