/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_MASS_PRINTERS_H
#define PFR_TESTS_MASS_PRINTERS_H
/* The printers of the library that mass_mutants.c runs. */
#include "fuzz_drawn.h"

#include <perfray/perfray.h>

/* What a printer is asked and said beside its output. */
struct said {
    struct drawn *drawn;    /* which options it takes */
    bool anything, is_json; /* is_json: options made it so */
    char bad[16];           /* from the first sentence that is not fit to be shown */
};

/* Notes a sentence of the library; `context` is a struct said. */
void hear(void *context, const pfr_error *err);

enum subject { OF_ALL, OF_SAMPLES, OF_TRACES };

struct printer {
    const char *name;
    enum subject subject; /* of others it is not asked */
    bool is_json, tells_all,
        is_binary; /* tells_all: to `said` or by its status; else the reader counted what was wrong */
    pfr_status (*print)(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err);
};

extern const struct printer printers[];
extern const size_t printer_count;

#endif
