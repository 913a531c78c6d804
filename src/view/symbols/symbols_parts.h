/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SYMBOLS_PARTS_H
#define PFR_VIEW_SYMBOLS_PARTS_H
/*
 * The command symbols, one file per step:
 *
 *     symbols.c          sums a profile of addresses by object
 *     symbols_mend.c     finds out why addresses have no names, and the command that fixes it
 *     symbols_write.c    prints text and JSON
 */
#include "base/text/public_output.h"
#include "model/names/missing_names.h"
#include "model/profile/result/profile.h"

#include <perfray/symbols.h>

/* Numbers of addresses. An address counts each time it occurs. */
struct symbols_sums {
    uint64_t samples;   /* sampled addresses only */
    uint64_t addresses; /* sampled addresses and those of callchains */
    uint64_t named, lined;
};

struct symbols_row {
    uint32_t object; /* NO_OBJECT: addresses outside any object */
    struct symbols_sums sums;
};

struct symbols {
    const pfr_symbols_options *options;
    pfr_reader *reader;
    struct memory *memory;
    struct profile *profile;
    struct symbols_row *rows; /* sorted by number of addresses, descending */
    size_t nr_rows;
    struct symbols_sums all;
};

#define SYMBOLS_COMMAND_ROOM (4 * DEBUG_PATH_ROOM + 512)

/* A problem with names or with lines. */
struct symbols_fault {
    bool any; /* false: no problem */
    enum object_fault fault;
    char why[2 * BUILD_ID_MOST + 160 + DEBUG_MISSED_ROOM]; /* a sentence without its period */
    char command[SYMBOLS_COMMAND_ROOM]; /* a command for sh that fixes the problem; "": no such command */
    char advice[240];                   /* advice if no command can fix the problem; "": nothing can be done */
};

struct symbols_faults {
    struct build_id id;
    struct symbols_fault names, lines, inlined;
};

#endif
