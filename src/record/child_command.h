/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_CHILD_COMMAND_H
#define PFR_RECORD_CHILD_COMMAND_H
/* The command that is recorded: see command.c. */
#include "record/rings/recorder_parts.h"

pfr_status command_start(pfr_recorder *r, pfr_error *err);
pfr_status command_go(pfr_recorder *r, pfr_error *err);

/* Whether the command has ended. Its status is stored, unless another part of the program has waited for it. */
bool command_ended(struct recorder_command *command);
void command_end(struct recorder_command *command);

#endif
