/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_PLAUSIBLE_RECORD_H
#define PFR_FILE_PLAUSIBLE_RECORD_H
/* What other files use of plausible_record.c, which says how it works. */
#include "file/read/recording.h"

/* How far the bytes of a record (type to context are filled) look like one. */
enum plausibility {
    PLAUSIBILITY_NONE, /* they do not hold what their type says */
    PLAUSIBILITY_WEAK, /* nothing tells: unknown type, or a sample of no event */
    PLAUSIBILITY_ODD,  /* they hold it, and something behind */
    PLAUSIBILITY_FULL, /* they hold it, and nothing else */
    PLAUSIBILITY_FIRM  /* they are as long as they must be: garbage would hardly be */
};

void plausibility_learn(pfr_reader *r); /* at open, and when the first event is known */
enum plausibility plausibility_of(const pfr_reader *r, const pfr_record *rec);

/* false: only a look at the whole body tells. */
bool plausibility_at_once(const pfr_reader *r, const pfr_record *rec, enum plausibility *plausibility);

/* Why belief is NONE. */
void implausible_because(const pfr_record *rec, pfr_error *why);

#endif
