/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_FILES_H
#define PFR_VIEW_SCRIPT_FILES_H
/* Interface of script_files.c; that file describes how it works. */
#include "view/script/script_parts.h"

pfr_status script_files_make(struct script *s, pfr_error *err);
struct script_file *script_file_begin(struct script *s, const struct script_event *event, pfr_output **before);
void script_file_end(struct script *s, struct script_file *file, pfr_output *before);
pfr_status script_files_finish(struct script *s, bool are_whole, pfr_error *err);

#endif
