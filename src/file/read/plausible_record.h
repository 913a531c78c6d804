/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_PLAUSIBLE_RECORD_H
#define PFR_FILE_PLAUSIBLE_RECORD_H
/* How plausible the bytes of one record are. plausible_record.c describes how this is judged. */
#include "file/read/recording.h"

/* How plausible it is that some bytes are a record. Before the check, the members of its pfr_record from type to
   context must be filled. */
enum plausibility {
    PLAUSIBILITY_NONE, /* the body does not match the type */
    PLAUSIBILITY_WEAK, /* cannot be decided: unknown type, or a sample of no event */
    PLAUSIBILITY_ODD,  /* the body matches, and bytes follow it */
    PLAUSIBILITY_FULL, /* the body matches and fills the record */
    PLAUSIBILITY_FIRM  /* the length is exactly what type and content require: unlikely for garbage */
};

void plausibility_learn(pfr_reader *r); /* Call it at open, and when the first event is known. */
enum plausibility plausibility_of(const pfr_reader *r, const pfr_record *rec);

/* Judges without decoding the body; false: only plausibility_of can decide. */
bool plausibility_at_once(const pfr_reader *r, const pfr_record *rec, enum plausibility *plausibility);

/* Fills *why with the reason for PLAUSIBILITY_NONE. */
void implausible_because(const pfr_record *rec, pfr_error *why);

#endif
