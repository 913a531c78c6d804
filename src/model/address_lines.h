/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_ADDRESS_LINES_H
#define PFR_MODEL_ADDRESS_LINES_H
/*
 * Which line of which file the addresses of a recording are of, by the debugging information of their objects: in the
 * object itself, in the copy that perf keeps, or in the file that was taken out of it (address_names.h says where these
 * are). It is opened when the first line of an object is asked for.
 */
#include "model/address_names.h"

struct address_line {
    const char *file; /* its path; lives until address_names_free or address_names_forget; NULL: not known */
    uint32_t line;    /* 0: not known */
    bool has_names;   /* the object, or what was taken out of it, has symbols */
    uint64_t address; /* as the object's own headers count; that in the file where it could not be opened */
};

/* Errors: no memory. */
pfr_status address_line_at(struct address_names *names, const struct place *place, uint64_t address,
                           struct address_line *line, pfr_error *err);

#endif
