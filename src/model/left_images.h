/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_LEFT_IMAGES_H
#define PFR_MODEL_LEFT_IMAGES_H
/* The images that threads left by exec, which count until the thread is seen in user mode. */
#include "model/state.h"

/* When that is, of each, when all state is known: reads the recording once more where anything depends on it. */
pfr_status left_images_settle(struct state *state, pfr_reader *reader, pfr_error *err);
/* A thread was in user mode in this space (NO_SPACE is fine) at that key. */
void left_images_meet(struct state *state, uint32_t space, struct key key);

#endif
