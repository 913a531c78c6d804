/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_MERGED_MAPS_H
#define PFR_EDIT_QUIPPER_MERGED_MAPS_H
/*
 * What quipper makes of the mappings of a recording before it tells them:
 *
 *     huge pages   memory without a name that fills a gap between mappings of one file, as programs leave that copy
 * their code to huge pages, is told as that part of the file joins        a mapping that goes on where the one before
 * it of its process ends, in the file or as anonymous memory behind it, is one with it
 *
 * Both look at mappings that come later, so all are noted before the first is told:
 *
 *     quipper_joins_note(&joins, &rec, &body, time, &err);    each, as they come
 *     quipper_joins_settle(&joins, sorted, &err);
 *     const struct quipper_join *join = quipper_joins_next(&joins);    each, in the order in which they are told
 */
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "wire/any_layout.h"

#include <perfray/record.h>

struct quipper_join {
    uint64_t time, start, len, pgoff;
    uint64_t ino, ino_generation;
    uint32_t pid, prot, flags, maj, min;
    uint32_t name; /* in names */
    uint32_t next; /* of the same process, while huge pages are looked for */
    uint8_t type;
    uint8_t kind;          /* what its name says: JOIN_* */
    uint8_t build_id_size; /* of MMAP2 */
    bool has_build_id;
    bool joined;         /* one with an earlier mapping: not told */
    bool changed, moved; /* against its record: at all; also in what it is a mapping of */
    uint8_t build_id[20];
};

struct quipper_joins {
    struct memory *memory;
    struct intern_table names;
    struct quipper_join *at;
    uint32_t *order; /* in which they are told */
    size_t count, room, told;
};

void quipper_joins_init(struct quipper_joins *j, struct memory *memory);
void quipper_joins_free(struct quipper_joins *j);
/* A mapping, decoded; time 0: it has none. */
pfr_status quipper_joins_note(struct quipper_joins *j, const pfr_record *rec, const union any_layout *body,
                              uint64_t time, pfr_error *err);
/* `sorted`: they are told in the order of time, else as they came. */
pfr_status quipper_joins_settle(struct quipper_joins *j, bool sorted, pfr_error *err);
/* NULL: no more were noted. */
const struct quipper_join *quipper_joins_next(struct quipper_joins *j);
/* The decoded record as it is told; *size: of the record. Views live until quipper_joins_free. */
void quipper_joins_apply(const struct quipper_joins *j, const struct quipper_join *join, union any_layout *body,
                         uint32_t *size);

#endif
