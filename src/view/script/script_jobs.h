/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_JOBS_H
#define PFR_VIEW_SCRIPT_JOBS_H
/* Interface of script_jobs.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* script_jobs returns the number of printing threads; script_take_all_by prints all records with `jobs` threads. */
unsigned script_jobs(const struct script *s);
pfr_status script_take_all_by(struct script *s, unsigned jobs, pfr_error *err);

#endif
