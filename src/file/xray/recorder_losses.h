/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDER_LOSSES_H
#define PFR_FILE_RECORDER_LOSSES_H
/* Losses of the runtime, by reason, as the control block of its trace counts them: pfr_get_trace_loss. */
#include "wire/recorder_file.h"

#include <perfray/reader.h>

#define RECORDER_SENTENCE 200u

struct recorder_losses {
    uint64_t lost[RTF_LOSSES];
    uint32_t depth; /* calls nested deeper than this were left out; 0: no limit */
    bool is_full;
    bool no_tids; /* gettid failed in some threads */
    char sentence[RECORDER_SENTENCE];
};

void recorder_losses_learn(pfr_reader *r, const struct rtf_control *control);

/* Passes a sentence about each loss to `note`. */
void recorder_losses_note(pfr_reader *r, void (*note)(void *context, const char *sentence), void *context);

#endif
