/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_DRAWN_H
#define PERFRAY_FUZZ_DRAWN_H
/*
 * Option sets drawn from a number: what a printer does with a recording depends on its options, and faults hide where
 * two of them meet. The same number draws the same set, 0 hardly any option; a command with the same options is told,
 * so that what was found can be done again by hand. Objects are looked for below a folder that is not there: which
 * files this machine has must not decide what a run does.
 */
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/report.h>
#include <perfray/script.h>

struct drawn {
    uint64_t number;           /* what is left of it */
    pfr_symbol_options naming; /* of the drawn options, which point to it */
    char words[400];           /* " --sort=comm -G": the options for a command */
};

/* Neighbours draw sets that have nothing in common. */
uint64_t drawn_distribution(uint64_t number);

pfr_report_options drawn_report(struct drawn *d);
pfr_script_options drawn_script(struct drawn *d);
pfr_selection drawn_selection(struct drawn *d);
/* Beside the selection, which has its own number. */
pfr_export_options drawn_export(struct drawn *d);
pfr_flame_options drawn_flame(struct drawn *d);

#endif
