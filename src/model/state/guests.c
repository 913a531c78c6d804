/* SPDX-License-Identifier: Apache-2.0 */
/* Guests and the numbers of their threads: see guests.h. */
#include "model/state/guests.h"

#include "base/memory/fail.h"

#define FIRST_NUMBER 0x80000000u /* above any tid */
#define NOBODY UINT32_MAX

void guests_init(struct guests *g, struct memory *memory) {
    u64_map_init(&g->of_id, memory);
    u64_map_init(&g->numbers, memory);
    u64_map_init(&g->tids, memory);
    g->any = false;
}

void guests_free(struct guests *g) {
    u64_map_free(&g->of_id);
    u64_map_free(&g->numbers);
    u64_map_free(&g->tids);
}

pfr_status guests_learn(struct guests *g, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_id_index index;
    struct pfr_rec_id_index_entry entry;
    struct pfr_rec_id_index_guest guest;
    if (pfr_decode(rec, &index, sizeof index, NULL) != PFR_OK)
        return PFR_OK;
    pfr_items_iter ids = pfr_items_begin(&index.entries), machines = pfr_items_begin(&index.guests);
    while (pfr_items_next(&ids, &entry, sizeof entry, NULL) == PFR_OK &&
           pfr_items_next(&machines, &guest, sizeof guest, NULL) == PFR_OK) {
        if ((uint32_t)guest.machine_pid == 0)
            continue;
        g->any = true;
        PFR_TRY(
            u64_map_put(&g->of_id, entry.id, (guest.machine_pid & UINT32_MAX) << 32 | (guest.vcpu & UINT32_MAX), err));
    }
    return PFR_OK;
}

struct guest guests_of_id(const struct guests *g, uint64_t id) {
    uint64_t found;
    if (!g->any || !u64_map_get(&g->of_id, id, &found))
        return (struct guest){0};
    return (struct guest){.machine_pid = (uint32_t)(found >> 32), .vcpu = (uint32_t)found};
}

bool guests_have(const struct guests *g, uint16_t misc) {
    const unsigned mode = misc & PFR_CPUMODE_MASK;
    return g->any && (mode == PFR_CPUMODE_GUEST_KERNEL || mode == PFR_CPUMODE_GUEST_USER);
}

pfr_status guests_number(struct guests *g, uint32_t machine_pid, uint32_t tid, uint32_t *number, pfr_error *err) {
    const uint64_t key = (uint64_t)machine_pid << 32 | tid;
    uint64_t known;
    *number = tid;
    if (tid == NOBODY)
        return PFR_OK;
    if (!u64_map_get(&g->numbers, key, &known)) {
        known = FIRST_NUMBER + u64_map_count(&g->numbers);
        PFR_TRY(u64_map_put(&g->tids, known, tid, err));
        PFR_TRY(u64_map_put(&g->numbers, key, known, err));
    }
    *number = (uint32_t)known;
    return PFR_OK;
}

uint32_t guests_tid(const struct guests *g, uint32_t number) {
    uint64_t tid;
    return number >= FIRST_NUMBER && g->any && u64_map_get(&g->tids, number, &tid) ? (uint32_t)tid : number;
}
