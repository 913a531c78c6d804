/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_CHECK_H
#define PFR_WIRE_LAYOUT_CHECK_H
/*
 * Checks the inside of one record, feature or part, as far as its table can tell. Allocates no memory and stores no
 * findings: each finding is passed to a callback.
 *
 *    rule               severity
 *    does-not-fit       DEFECT  the bytes cannot be read as the layout; the error's text says where
 *    other-byte-order   DEFECT  the bytes fit in the other byte order (follows does-not-fit)
 *    text-without-nul   ODD     text that fills its field
 *    bytes-after-end    ODD     bytes, not all zero, after the last field
 *    zeros-after-end    NOTE    8 zeros or more after the last field; fewer are padding
 *    reserved-not-zero  NOTE    reserved bytes or bits are set: a newer writer, or garbage
 *    padding-not-zero   NOTE    bytes after a text's NUL, or padding, are set: some writers leave garbage there
 */
#include "wire/layout.h"

enum check_severity { CHECK_NOTE, CHECK_ODD, CHECK_DEFECT };

struct check_finding {
    uint64_t offset, length; /* bytes of the input */
    const char *rule;        /* one of the above, static */
    enum check_severity severity;
    const struct layout *layout;
    const struct field *field; /* NULL: the whole layout */
    const pfr_error *error;    /* error of does-not-fit, else NULL */
};

typedef void check_report(void *context, const struct check_finding *finding);

/* `offset` is that of `bytes` in the input. Returns the number of findings. */
uint64_t layout_check(const struct layout *l, const struct pfr_context *c, const void *bytes, uint64_t length,
                      uint64_t offset, check_report *report, void *context);

#endif
