/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_GUESTS_H
#define PFR_MODEL_GUESTS_H
/*
 * Machines inside the recorded one. An ID_INDEX says which ids belong to a guest (`perf inject --guest-data` writes
 * it); with one that names a guest, records and samples of guest cpumodes are those of the guest that their id belongs
 * to, or of one guest without a name. Threads of guests live among those of the host under numbers that no thread has.
 */
#include "base/tables/hashmap.h"
#include <perfray/record.h>

struct guests {
    struct u64_map of_id;   /* id of a counter -> process of the guest << 32 | its cpu */
    struct u64_map numbers; /* process of the guest << 32 | tid -> the number of that thread */
    struct u64_map tids;    /* back */
    bool any;
};

/* What a record's id says of it; machine_pid 0: it is none of a guest. */
struct guest {
    uint32_t machine_pid, vcpu;
};

void guests_init(struct guests *guests, struct memory *memory);
void guests_free(struct guests *guests);

/* Takes in an ID_INDEX. */
pfr_status guests_learn(struct guests *guests, const pfr_record *rec, pfr_error *err);

struct guest guests_of_id(const struct guests *guests, uint64_t id);

/* Whether a record of this misc is a guest's, and guests are told apart. */
bool guests_have(const struct guests *guests, uint16_t misc);

/* The number of a guest's thread, for struct threads; -1 stays nobody. */
pfr_status guests_number(struct guests *guests, uint32_t machine_pid, uint32_t tid, uint32_t *number, pfr_error *err);

/* The tid behind a number; other tids stand for themselves. */
uint32_t guests_tid(const struct guests *guests, uint32_t number);

#endif
