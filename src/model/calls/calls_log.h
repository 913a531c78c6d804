/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_LOG_H
#define PFR_MODEL_CALLS_LOG_H
/* Interface of calls_log.c, which describes how it works. */
#include "model/calls/calls_parts.h"

pfr_status calls_of_basic_log(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                              pfr_error *err);
pfr_status calls_of_profile(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                            pfr_error *err);

#endif
