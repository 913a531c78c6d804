/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERSION_H
#define PFR_EDIT_CONVERSION_H
/*
 * Converts one recording into another, record by record. Most records are copied unchanged. Each type of record that
 * concerns the container (events and features of a stream, COMPRESSED, FINISHED_ROUND, AUXTRACE) has a function in the
 * table in convert_record_types.c.
 *
 * Some facts are known only at the end: a record may be older than a round already written, or a compressed record may
 * prove damaged. The pass then restarts with `without_rounds` or `pack_anew` set. That is safe because inputs can be
 * read again and a file gets its name only when it is complete. Standard output cannot be taken back, so for streams a
 * dry pass without output comes first.
 *
 *  conversion.c            the passes, the loop over records
 *  convert_record_types.c  records of special meaning
 *  convert_features.c      features before and after the records
 *  convert_check.c         reads back what recover wrote
 *  repair_features.c       features that recover rebuilds
 */
#include "file/write/recording_writer.h"
#include "file/read/header_walk.h"

#include <perfray/edit.h>

#define REFUSED_MOST 8u

/* A written record that readers refuse. `number` is its index among the records of a pass that omits no record of the
 * list; records that the conversion makes for the container (conversion_counts) are not counted. */
struct refused {
    uint64_t number;
    bool reported;
};

struct conversion {
    pfr_reader *reader;
    pfr_writer *writer; /* NULL during the dry pass before a stream */
    const pfr_edit_options *options;
    bool recover;

    pfr_container to;
    bool same_order;     /* input and output have the same byte order: bytes can be copied */
    bool verbatim;       /* stream to stream: records about events and features are copied where they are */
    bool keeps_packed;   /* COMPRESSED records are copied; the records inside them are not written */
    bool without_rounds; /* write no FINISHED_ROUND; set by a pass that restarts for this reason */
    bool pack_anew;      /* COMPRESSED cannot be copied, because of damage or another byte order */
    bool was_packed;     /* COMPRESSED records were seen */
    bool again;          /* this pass must restart */

    struct rounds rounds;
    bool rounds_written;
    uint32_t events_given; /* number of events already given to the writer */
    uint8_t *packed;       /* a COMPRESSED record not yet known to be intact; packed_length 0: no such record */
    size_t packed_length;
    uint8_t *mended;        /* copy of a record with a corrected id */
    pfr_record waiting;     /* record whose payload starts at payload_at; size 0 if no record waits */
    uint8_t *waiting_bytes; /* bytes of `waiting` */
    uint64_t payload_at;
    uint64_t first_time, last_time;       /* times of samples; 0 if there were no samples */
    bool given[FEATURES];                 /* features already given to the writer */
    int trial;                            /* descriptor of a temporary file written instead of the output, or -1 */
    struct refused refused[REFUSED_MOST]; /* records to omit, sorted by number */
    uint32_t nr_refused, refused_met;     /* refused_met: how many entries of the list this pass has reached */
    uint64_t written;                     /* records written in this pass, except those made for the container */
    bool only_sure;                       /* omit every record that is plausible only because of its neighbours */
    uint64_t losses_reported;             /* losses reported so far, so that restarts do not repeat them */
    uint64_t holes;                       /* holes returned by the reader in this pass */
    pfr_edit_counts counts;
};

/* conversion.c: one pass that writes to `writer` and closes it. `writer` may be NULL because opening it failed; then
 * *err already has the error, and its status is returned. */
pfr_status conversion_pass(struct conversion *c, pfr_writer *writer, pfr_error *err);
/* conversion.c: options for opening the output, with the reader's allocator. */
pfr_write_options conversion_how(const struct conversion *c);

#endif
