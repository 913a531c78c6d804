/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_DRAWN_H
#define PERFRAY_FUZZ_DRAWN_H
/*
 * Option sets derived from a number, because the behaviour of a printer depends on its options, and some faults occur
 * only with combinations. Equal numbers give equal option sets; 0 gives hardly any option. The set is also returned as
 * command-line options, to reproduce a finding by hand. Objects are searched for below a nonexistent directory, because
 * the files of this machine must not influence a run.
 */
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/report.h>
#include <perfray/script.h>

struct drawn {
    uint64_t number;           /* the remaining number */
    pfr_symbol_options naming; /* referenced by the options */
    char words[400];           /* " --sort=comm -G": the options of a command */
};

/* Mixes a number, so that consecutive numbers give option sets that have nothing in common. */
uint64_t drawn_distribution(uint64_t number);

pfr_report_options drawn_report(struct drawn *d);
pfr_script_options drawn_script(struct drawn *d);
pfr_selection drawn_selection(struct drawn *d);
/* Separate from the selection, which has its own number. */
pfr_export_options drawn_export(struct drawn *d);
pfr_flame_options drawn_flame(struct drawn *d);

#endif
