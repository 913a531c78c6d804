/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_ADDRESS_LINES_H
#define PFR_MODEL_ADDRESS_LINES_H
/*
 * Which line of which file the addresses of a recording are of, by the debugging information of their objects: in the
 * object itself, in the copy that perf keeps, or in the file that was taken out of it (address_names.h says where these
 * are); of the kernel, in the object that was named for it. It is opened when the first line of an object is asked for.
 */
#include "model/names/address_names.h"

struct address_line {
    const char *file; /* its path; lives until address_names_free; NULL: not known */
    uint32_t line;    /* 0: not known */
    bool has_names;   /* the object, or what was taken out of it, has symbols */
    uint64_t address; /* as the object's own headers count; that in the file where it could not be opened */
};

/* Errors: no memory. */
pfr_status address_line_at(struct address_names *names, const struct place *place, uint64_t address,
                           struct address_line *line, pfr_error *err);

#define INLINED_MOST 64u /* calls in one another; what is further out is left out */

/* An inlined function, and where in its file the address is, or the call of the one before it. */
struct inlined_call {
    const char *function; /* as people write it; lives until address_names_free */
    uint32_t length;
    const char *file;
    uint32_t line;
};

/* What was inlined at an address, innermost first, into a function that is not among them: `at` is where in it. */
struct address_calls {
    struct address_line at;
    uint32_t count;
    struct inlined_call inlined[INLINED_MOST];
};

/* The calls at an address; none where the debugging information does not name them. Errors: no memory. */
pfr_status address_calls_at(struct address_names *names, const struct place *place, uint64_t address,
                            struct address_calls *calls, pfr_error *err);

#endif
