/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_THREADS_H
#define PFR_MODEL_OPEN_MODEL_THREADS_H
/* Interface of model_threads.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Finds the thread of a sample and the name of the thread. `made` is a buffer for a generated
   name. */
void thread_look(const struct state *state, const struct profile_row *row, struct thread_view *view,
                 struct thread_key *key, struct intern_text *comm, char made[16]);

/* Makes the rows of threads, processes and comms: first those in model->thread_keys and model->comms, which are in the
   order of samples, then those without samples. */
pfr_status model_make_threads(struct pfr_model *m, pfr_error *err);

/* Adds the row of a thread of which only the tid is known: in the process that has it as pid, or in one of its own.
   process_of: pid -> process id. */
pfr_status model_add_thread(struct pfr_model *m, uint32_t tid, struct u64_map *process_of, uint32_t *id,
                            pfr_error *err);

#endif
