/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_MERGED_MAPS_H
#define PFR_EDIT_QUIPPER_MERGED_MAPS_H
/*
 * How quipper changes the mappings of a recording before it writes them:
 *
 *  huge pages  Unnamed memory that fills a gap between mappings of one file is written as the
 *              missing part of the file: programs that copy their code to huge pages leave
 *              such memory.
 *  joins       A mapping that starts where the previous mapping of its process ends is merged
 *              with that mapping if it continues the same file or is anonymous memory after it.
 *
 * Both depend on later mappings, so all mappings are noted before the first is written:
 *
 *  quipper_joins_note(&joins, &rec, &body, time, &err);           each, in file order
 *  quipper_joins_settle(&joins, sorted, &err);
 *  const struct quipper_join *join = quipper_joins_next(&joins);  each, in output order
 */
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "wire/any_layout.h"

#include <perfray/record.h>

struct quipper_join {
    uint64_t time, start, len, pgoff;
    uint64_t ino, ino_generation;
    uint32_t pid, prot, flags, maj, min;
    uint32_t name; /* number in quipper_joins.names */
    uint32_t next; /* next mapping of the process, while huge pages are searched */
    uint8_t type;
    uint8_t kind;          /* JOIN_* flags, from the name */
    uint8_t build_id_size; /* size of an MMAP2's build-id */
    bool has_build_id;
    bool joined;         /* merged into an earlier mapping: not written */
    bool changed, moved; /* changed: differs from its record; moved: the mapped file differs, too */
    uint8_t build_id[20];
};

struct quipper_joins {
    struct memory *memory;
    struct intern_table names;
    struct quipper_join *at;
    uint32_t *order; /* indexes in output order */
    size_t count, room, returned;
};

void quipper_joins_init(struct quipper_joins *j, struct memory *memory);
void quipper_joins_free(struct quipper_joins *j);
/* Notes a decoded mapping; time 0: unknown. */
pfr_status quipper_joins_note(struct quipper_joins *j, const pfr_record *rec, const union any_layout *body,
                              uint64_t time, pfr_error *err);
/* Merges the noted mappings. The output is in time order if `sorted`, otherwise in the order of the calls. */
pfr_status quipper_joins_settle(struct quipper_joins *j, bool sorted, pfr_error *err);
/* The next mapping in output order; NULL at the end. */
const struct quipper_join *quipper_joins_next(struct quipper_joins *j);
/* Changes a decoded record to what quipper writes; *size is the record's size, and is updated. Views in the record are
   valid until quipper_joins_free. */
void quipper_joins_apply(const struct quipper_joins *j, const struct quipper_join *join, union any_layout *body,
                         uint32_t *size);

#endif
