/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_BPF_PROGRAMS_H
#define PFR_RECORD_BPF_PROGRAMS_H
/* What other files use of bpf_programs.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* Records and features of those that are there; features of those that came since */
pfr_status bpf_put_all(pfr_recorder *r, pfr_error *err);
pfr_status bpf_put_late(pfr_recorder *r, pfr_error *err);
void bpf_forget(pfr_recorder *r);

#endif
