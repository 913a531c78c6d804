/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_COMMAND_H
#define PFR_MODEL_OPEN_MODEL_COMMAND_H
/* Interface of model_command.c, which describes how it works. */
#include "model/open/model_parts.h"

/* Returns the id of the recorded command's process; 0: not known. */
uint32_t model_command_process(const pfr_model *m);

/* Makes an array by process id, with a 1 for each process of the recorded command and its descendants. `*marks` is NULL
   if the command is not known. Free it with model_command_free. Errors: MEMORY. */
pfr_status model_command_marks(const pfr_model *m, struct memory *memory, uint8_t **marks, pfr_error *err);
void model_command_free(const pfr_model *m, struct memory *memory, uint8_t *marks);

#endif
