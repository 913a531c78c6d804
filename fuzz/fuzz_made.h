/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_MADE_H
#define PERFRAY_FUZZ_MADE_H
/* Makes a recording from another recording, and checks the laws of the output: see fuzz_made.c. */
#include "fuzz.h"

#include <perfray/edit.h>

/* Runs pfr_recover or pfr_convert with these options, except their path, which is set here. No file is left on disk. */
pfr_status fuzz_make(pfr_reader *reader, const pfr_edit_options *how, bool recover, pfr_error *err);

#endif
