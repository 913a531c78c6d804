/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_LATENCY_WEIGHTS_H
#define PFR_MODEL_LATENCY_WEIGHTS_H
/* The number of threads that ran at each time of a recording, from thread states. */
#include "model/profile/result/running_threads.h"

#include <perfray/reader.h>

/* Reads the recording once and rewinds it; a stream must have been spooled. PFR_ERR_USAGE: the recording does not show
   when threads ran. running_threads_free is allowed after a failure. */
pfr_status running_threads_learn(struct running_threads *running, pfr_reader *reader, pfr_error *err);

#endif
