/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERSION_H
#define PFR_EDIT_CONVERSION_H
/*
 * One recording into another, record by record. Most are handed on as they are; those that say something about the
 * container (events and features of a stream, COMPRESSED, FINISHED_ROUND, AUXTRACE) have a function each, in one table
 * (convert_record_types.c).
 *
 * What can only be known at the end (a record late against its rounds, a compressed record that cannot be taken over as
 * it is) makes the whole begin anew with `without_rounds` or `pack_anew` set: inputs can be read again, and nothing has
 * its name before it is whole. Standard output cannot be taken back: there the input is walked once before.
 *
 *     conversion.c          the passes, the loop over records
 *     convert_record_types.c    records of special meaning
 *     convert_features.c features before and behind the records
 *     convert_check.c    whether readers take what recover wrote
 *     repair_features.c        what recover makes anew
 */
#include "file/write/recording_writer.h"
#include "file/read/header_walk.h"

#include <perfray/edit.h>

#define REFUSED_MOST 8u

/* A record that was written and that readers refuse: the how many-th of all that were, without those that are made for
   the container (conversion_counts). */
struct refused {
    uint64_t number;
    bool told;
};

struct conversion {
    pfr_reader *reader;
    pfr_writer *writer; /* NULL: the walk before a stream is written */
    const pfr_edit_options *options;
    bool recover;

    pfr_container to;
    bool same_order;     /* bytes can be handed on */
    bool verbatim;       /* records of a stream about events and features stand in the output as in the input */
    bool keeps_packed;   /* COMPRESSED records are taken over, what is inside is not */
    bool without_rounds; /* set by a pass that failed for it */
    bool pack_anew;      /* likewise: damaged, or another byte order */
    bool was_packed;     /* likewise: COMPRESSED records came */
    bool again;          /* this pass is void: begin anew */

    struct rounds rounds;
    bool rounds_written;
    uint32_t events_given; /* to the writer */
    uint8_t *packed;       /* a COMPRESSED record that is not yet known to be good; packed_length 0: none */
    size_t packed_length;
    uint8_t *mended;        /* room for one record */
    pfr_record waiting;     /* one whose payload is at payload_at, if it is one; size 0: none */
    uint8_t *waiting_bytes; /* of it */
    uint64_t payload_at;
    uint64_t first_time, last_time;       /* of samples; 0: none */
    bool given[FEATURES];                 /* to the writer */
    int trial;                            /* temporary file that is written instead of the output; -1: none */
    struct refused refused[REFUSED_MOST]; /* by number: they are left out */
    uint32_t nr_refused, refused_met;     /* in this pass */
    uint64_t written;                     /* records of this pass, as refused.number counts them */
    bool only_sure;                       /* all are left out that only what surrounds them makes believable */
    uint64_t told;                        /* losses */
    uint64_t holes;                       /* that the reader gave */
    pfr_edit_counts counts;
};

/* conversion.c: a pass that writes; *pfr_writer is closed by it. */
pfr_status conversion_pass(struct conversion *c, pfr_writer *writer, pfr_error *err);
/* conversion.c: how the output is written. */
pfr_write_options conversion_how(const struct conversion *c);

#endif
