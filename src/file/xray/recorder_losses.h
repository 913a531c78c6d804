/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDER_LOSSES_H
#define PFR_FILE_RECORDER_LOSSES_H
/* What the runtime dropped and why, as the control block of its trace tells it: pfr_get_trace_loss. */
#include "wire/recorder_file.h"

#include <perfray/reader.h>

#define RECORDER_SENTENCE 200u

struct recorder_losses {
    uint64_t lost[RTF_LOSSES];
    uint32_t depth; /* calls within so many others were left out; 0: none */
    bool is_full;
    bool no_tids; /* gettid was refused to some threads */
    char sentence[RECORDER_SENTENCE];
};

void recorder_losses_learn(pfr_reader *r, const struct rtf_control *control);

/* Tells each loss as a sentence. */
void recorder_losses_tell(pfr_reader *r, void (*note)(void *context, const char *sentence), void *context);

#endif
