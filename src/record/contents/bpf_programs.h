/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_BPF_PROGRAMS_H
#define PFR_RECORD_BPF_PROGRAMS_H
/* BPF programs: see bpf_programs.c. */
#include "record/rings/recorder_parts.h"

/* bpf_put_all writes records and features of all loaded programs. bpf_put_late adds programs that were loaded since
   then to the features. */
pfr_status bpf_put_all(pfr_recorder *r, pfr_error *err);
pfr_status bpf_put_late(pfr_recorder *r, pfr_error *err);
void bpf_forget(pfr_recorder *r);

#endif
