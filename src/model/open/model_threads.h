/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_THREADS_H
#define PFR_MODEL_OPEN_MODEL_THREADS_H
/* Interface of model_threads.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Whose the sample is, and what the thread was called: `name` has room for 16 bytes of a made one. */
void thread_look(const struct state *state, const struct profile_row *row, struct thread_view *view,
                 struct thread_key *key, struct intern_text *comm, char made[16]);

/* The rows of threads and comms, which model->thread_keys and model->comms have in the order of samples; and of those
   that no sample names. */
pfr_status model_make_threads(struct pfr_model *m, pfr_error *err);

#endif
