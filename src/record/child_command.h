/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_CHILD_COMMAND_H
#define PFR_RECORD_CHILD_COMMAND_H
/* What other files use of command.c, which says how it works. */
#include "record/rings/recorder_parts.h"

pfr_status command_start(pfr_recorder *r, pfr_error *err);
pfr_status command_go(pfr_recorder *r, pfr_error *err);

/* Whether it has ended; its status is kept where there is one. */
bool command_ended(struct recorder_command *command);
void command_end(struct recorder_command *command);

#endif
