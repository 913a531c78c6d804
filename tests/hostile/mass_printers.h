/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_MASS_PRINTERS_H
#define PFR_TESTS_MASS_PRINTERS_H
/* The printers of the library that mass_mutants.c runs. */
#include "fuzz_drawn.h"

#include <perfray/perfray.h>

/* The input of a printer, and its messages. */
struct said {
    struct drawn *drawn;    /* selects the options */
    bool anything, is_json; /* is_json: the options select JSON */
    char bad[16];           /* from the first sentence that is not safe to show */
};

/* Records a sentence of the library; `context` is a struct said. */
void hear(void *context, const pfr_error *err);

enum subject { OF_ALL, OF_SAMPLES, OF_TRACES };

struct printer {
    const char *name;
    enum subject subject;                            /* not called for other formats */
    bool is_json, compare_rebuilt_record, is_binary; /* compare_rebuilt_record: reports all damage to `said` or in its
                                                        status; otherwise the reader counted it */
    pfr_status (*print)(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err);
};

extern const struct printer printers[];
extern const size_t printer_count;

#endif
