/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_ADDRESS_LINES_H
#define PFR_MODEL_ADDRESS_LINES_H
/*
 * Source lines of addresses, from the debugging information of their objects: in the object itself, in the copy that
 * perf keeps, or in the separate debug file (address_names.h lists the places); for the kernel, in the given vmlinux.
 * Debugging information is opened when the first line of an object is requested.
 */
#include "model/names/address_names.h"

struct address_line {
    const char *file;          /* its path; valid until address_names_free; NULL: unknown */
    uint32_t line;             /* 0: unknown */
    const char *function_file; /* the same in the function of the symbol, into which others may be inlined here */
    uint32_t function_line;
    bool has_names;   /* the object, or its separate debug file, has symbols */
    uint64_t address; /* address as in the object's symbol table; the offset in the file if the object could not be
                         opened */
};

/* Fails only for lack of memory. */
pfr_status address_line_at(struct address_names *names, const struct place *place, uint64_t address,
                           struct address_line *line, pfr_error *err);

#define INLINED_MOST 64u /* maximum number of nested calls; further outer calls are left out */

/* An inlined function, and a line in that function: the line of the address, or the line of the call to the next inner
   function, which is the previous element. */
struct inlined_call {
    const char *function; /* demangled; valid until address_names_free */
    uint32_t length;
    const char *file;
    uint32_t line;
};

/* The functions inlined at an address, innermost first. The function that contains all of them is not listed; `at` is
   the line in that function. */
struct address_calls {
    struct address_line at;
    uint32_t count;
    struct inlined_call inlined[INLINED_MOST];
};

/* Finds the calls inlined at an address. count 0: no inlined calls are known. Fails only for lack of memory. */
pfr_status address_calls_at(struct address_names *names, const struct place *place, uint64_t address,
                            struct address_calls *calls, pfr_error *err);

#endif
