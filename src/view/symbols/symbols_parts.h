/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SYMBOLS_PARTS_H
#define PFR_VIEW_SYMBOLS_PARTS_H
/*
 * The verb symbols, one file for each step:
 *
 *     symbols.c          a profile of addresses to a row for each object
 *     symbols_mend.c     why a row's addresses have no names, and the command that mends it
 *     symbols_write.c    as text and as JSON
 */
#include "base/text/public_output.h"
#include "model/names/missing_names.h"
#include "model/profile/result/profile.h"

#include <perfray/symbols.h>

/* Addresses that were met, each as often as it was. */
struct symbols_sums {
    uint64_t samples;   /* sampled addresses alone */
    uint64_t addresses; /* and those of call chains */
    uint64_t named, lined;
};

struct symbols_row {
    uint32_t object; /* NO_OBJECT: in none */
    struct symbols_sums sums;
};

struct symbols {
    const pfr_symbols_options *options;
    pfr_reader *reader;
    struct memory *memory;
    struct profile *profile;
    struct symbols_row *rows; /* the most addresses first */
    size_t nr_rows;
    struct symbols_sums all;
    char release[256]; /* of the recorded kernel; "": not told */
};

#define SYMBOLS_COMMAND_ROOM (4 * DEBUG_PATH_ROOM + 512)

/* What is wrong with names, or with lines. */
struct symbols_fault {
    bool any; /* false: nothing */
    enum object_fault fault;
    char why[2 * BUILD_ID_MOST + 160 + DEBUG_MISSED_ROOM]; /* a sentence without its end */
    char command[SYMBOLS_COMMAND_ROOM];                    /* for sh; "": there is none */
    char advice[240]; /* what to do where no command does it; "": nothing can be done */
};

struct symbols_faults {
    struct build_id id;
    struct symbols_fault names, lines, inlined;
};

#endif
