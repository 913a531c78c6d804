/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_GUESTS_H
#define PFR_MODEL_GUESTS_H
/*
 * Guests: virtual machines inside the recorded machine. An ID_INDEX record lists the ids that belong to guests (`perf
 * inject --guest-data` writes it). If such a record names a guest, records and samples with guest cpumodes belong to
 * the guest of their id; otherwise to a single nameless guest. Threads of guests share the table of the host's threads,
 * under numbers that no host thread has.
 */
#include "base/tables/hashmap.h"
#include <perfray/record.h>

struct guests {
    struct u64_map of_id;   /* event id -> pid of the guest process on the host << 32 | its virtual cpu */
    struct u64_map numbers; /* process of the guest << 32 | tid -> number of that thread */
    struct u64_map tids;    /* the inverse of `numbers` */
    bool any;
};

/* Guest of a record, by its id; machine_pid 0: not a guest's record. */
struct guest {
    uint32_t machine_pid, vcpu;
};

void guests_init(struct guests *guests, struct memory *memory);
void guests_free(struct guests *guests);

/* Learns the guests of an ID_INDEX. */
pfr_status guests_learn(struct guests *guests, const pfr_record *rec, pfr_error *err);

struct guest guests_of_id(const struct guests *guests, uint64_t id);

/* Whether guests are distinguished, and a record with this misc belongs to a guest. */
bool guests_have(const struct guests *guests, uint16_t misc);

/* Number of a guest's thread in struct threads; tid -1 remains -1. */
pfr_status guests_number(struct guests *guests, uint32_t machine_pid, uint32_t tid, uint32_t *number, pfr_error *err);

/* The tid of a guest thread with this number; any other number is a tid, and is returned. */
uint32_t guests_tid(const struct guests *guests, uint32_t number);

#endif
