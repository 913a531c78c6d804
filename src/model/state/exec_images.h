/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_EXEC_IMAGES_H
#define PFR_MODEL_EXEC_IMAGES_H
/* The images that threads left by exec, which count until the thread is seen in user mode. */
#include "model/state/state.h"

/* When that is, of each, when all state is known: reads the recording once more where anything depends on it. */
pfr_status left_images_settle(struct state *state, pfr_reader *reader, pfr_error *err);
/* The same of a state that is learnt: each sample when it is given, before it is looked at. */
void left_images_hear(struct state *state, const pfr_record *rec, struct record_key key);

#endif
