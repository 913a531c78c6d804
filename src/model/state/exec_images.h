/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_EXEC_IMAGES_H
#define PFR_MODEL_EXEC_IMAGES_H
/* The images that an exec replaced. They remain valid until the thread is seen in user mode. */
#include "model/state/state.h"

/* Call it when the state is built: determines until when each replaced image applies. Reads the recording once more if
   the result depends on it. */
pfr_status left_images_settle(struct state *state, pfr_reader *reader, pfr_error *err);
/* Does the same in a state that is learnt while records are read. Call it for each sample before the sample is
   resolved. */
void left_images_hear(struct state *state, const pfr_record *rec, struct record_key key);

#endif
