/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces a sample to the requested values. Values at fixed offsets are read without decoding. */
#include "model/profile/count/profile_pick.h"
#include "model/profile/result/running_threads.h"

#include "wire/layout_length.h"
#include "wire/record_bits.h"

#define READ_ID (1ull << 2)

/* Keys whose values come from fixed offsets. */
#define FIXED_KEYS                                                                                                     \
    (PROFILE_BIT(PROFILE_COMM) | PROFILE_BIT(PROFILE_PID) | PROFILE_BIT(PROFILE_TID) | PROFILE_BIT(PROFILE_CPU) |      \
     PROFILE_BIT(PROFILE_TIME) | PROFILE_BIT(PROFILE_PERIOD) | PROFILE_BIT(PROFILE_PARALLELISM))

/* Offset in the record of a member of 8 (or 4) bytes; 0: not recorded. false: the offset is not fixed. */
static bool find_place(const struct event *e, uint64_t bit, size_t member, bool narrow, uint32_t *place) {
    *place = 0;
    if (!(e->public.attr.sample_type & bit))
        return true;
    if (!(narrow ? layout_place_u32 : layout_place)(layout_at(L_sample), &e->context, (uint16_t)member, place))
        return *place = 0, false;
    *place += RECORD_HEADER;
    return true;
}

#define PLACE(bit, member, narrow, place) find_place(e, bit, offsetof(struct pfr_rec_sample, member), narrow, place)

void pick_learn(struct pick_places *p, const pfr_reader *reader, uint32_t event,
                const struct profile_request *request) {
    const struct event *e = &reader->events.list[event];
    *p = (struct pick_places){.sample_type = e->public.attr.sample_type, .period = e->public.attr.sample_period};
    p->fixed = PLACE(PFR_SAMPLE_IP, ip, false, &p->ip) && PLACE(PFR_SAMPLE_TID, pid, true, &p->pid) &&
               PLACE(PFR_SAMPLE_TIME, time, false, &p->time) && PLACE(PFR_SAMPLE_CPU, cpu, true, &p->cpu) &&
               PLACE(PFR_SAMPLE_PERIOD, period, false, &p->period_at);
    if (request_has_chains(request))
        p->fixed = PLACE(PFR_SAMPLE_CALLCHAIN, nr_chain, false, &p->chain) && p->fixed;
    p->makes = request_has_chains(request) && chain_is_made(&e->public);
    p->stitches = request_has_chains(request) && request->stitched && chain_has_calls(&e->public);
    p->reads = p->sample_type & PFR_SAMPLE_READ && e->public.attr.read_format & READ_ID;
    p->fixed = p->fixed && !p->reads && !p->makes && !(request->keys & ~FIXED_KEYS) &&
               request->counted != PROFILE_BRANCHES && e->length.known;
}

void pick_decoded(const struct pick_places *p, const struct pfr_rec_sample *s, struct picked *out) {
    const uint64_t type = p->sample_type;
    out->pid = type & PFR_SAMPLE_TID ? s->pid : NOT_RECORDED;
    out->tid = type & PFR_SAMPLE_TID ? s->tid : NOT_RECORDED;
    out->cpu = type & PFR_SAMPLE_CPU ? s->cpu : NOT_RECORDED;
    out->ip = s->ip;
    out->time = type & PFR_SAMPLE_TIME ? s->time : UINT64_MAX;
    out->period = type & PFR_SAMPLE_PERIOD ? s->period : p->period;
    out->chain = s->chain;
    out->made = out->uncut = out->grown = out->bare = false;
    out->whole = s;
}

typedef uint64_t value_fn(const struct profile_request *w, const struct pick_places *p, const struct picked *s);

static uint64_t pid_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->pid;
}

static uint64_t tid_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->tid;
}

static uint64_t cpu_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->cpu;
}

static uint64_t time_slot(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)p;
    return w->time_quantum > 1 ? s->time - s->time % w->time_quantum : s->time;
}

static uint64_t period_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->period;
}

static uint64_t parallelism_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)p;
    return w->running ? running_threads_at(w->running, s->time) : 0;
}

static uint64_t weight_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w;
    return p->sample_type & PFR_SAMPLE_WEIGHT ? s->whole->weight : weight_itself(s->whole->weight_struct);
}

static uint64_t ins_lat_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return weight_second(s->whole->weight_struct);
}

static uint64_t stage_cycles_of(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return weight_third(s->whole->weight_struct);
}

static uint64_t branch_from(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->branch ? s->branch->from : 0;
}

static uint64_t branch_to(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    (void)w, (void)p;
    return s->branch ? s->branch->to : 0;
}

/* The flags of the branch, assembled from its members, because the bits of the recorded word depend on the byte order
   of the file. */
static uint64_t branch_flags(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {
    const struct pfr_rec_branch_entry *b = s->branch;
    (void)w, (void)p;
    if (!b)
        return 0;
    return (b->mispred ? PROFILE_MISPREDICTED : 0) | (b->predicted ? PROFILE_PREDICTED : 0) |
           (b->in_tx ? PROFILE_IN_TX : 0) | (b->abort ? PROFILE_ABORT : 0) |
           (uint64_t)b->cycles << PROFILE_CYCLES_SHIFT;
}

#define MEMBER(function, member)                                                                                       \
    static uint64_t function(const struct profile_request *w, const struct pick_places *p, const struct picked *s) {   \
        (void)w, (void)p;                                                                                              \
        return s->whole->member;                                                                                       \
    }
MEMBER(cgroup_of, cgroup)
MEMBER(transaction_of, transaction)
MEMBER(data_src_of, data_src)
MEMBER(phys_addr_of, phys_addr)
MEMBER(data_page_size_of, data_page_size)
MEMBER(code_page_size_of, code_page_size)
MEMBER(addr_of, addr)
#undef MEMBER

/* The value of each key. The counter itself handles the names of threads and the texts of tracepoints. */
static value_fn *const values[PROFILE_KEYS] = {
    [PROFILE_PID] = pid_of,
    [PROFILE_TID] = tid_of,
    [PROFILE_CPU] = cpu_of,
    [PROFILE_CGROUP] = cgroup_of,
    [PROFILE_CGROUP_ID] = cgroup_of,
    [PROFILE_TIME] = time_slot,
    [PROFILE_PERIOD] = period_of,
    [PROFILE_WEIGHT] = weight_of,
    [PROFILE_INS_LAT] = ins_lat_of,
    [PROFILE_STAGE_CYCLES] = stage_cycles_of,
    [PROFILE_TRANSACTION] = transaction_of,
    [PROFILE_DATA_SRC] = data_src_of,
    [PROFILE_PHYS_ADDR] = phys_addr_of,
    [PROFILE_DATA_PAGE_SIZE] = data_page_size_of,
    [PROFILE_CODE_PAGE_SIZE] = code_page_size_of,
    [PROFILE_ADDR] = addr_of,
    [PROFILE_FROM] = branch_from,
    [PROFILE_TO] = branch_to,
    [PROFILE_BRANCH_FLAGS] = branch_flags,
    [PROFILE_PARALLELISM] = parallelism_of,
};

uint64_t pick_value(const struct profile_request *request, const struct pick_places *places,
                    const struct picked *picked, enum profile_key key) {
    return values[key] ? values[key](request, places, picked) : 0;
}

enum profile_kind profile_kind_of(enum profile_key key) {
    static const uint8_t kinds[PROFILE_KEYS] = {
        [PROFILE_COMM] = PROFILE_TEXT,  [PROFILE_CGROUP] = PROFILE_TEXT, [PROFILE_TRACE] = PROFILE_TEXT,
        [PROFILE_ADDR] = PROFILE_PLACE, [PROFILE_FROM] = PROFILE_PLACE,  [PROFILE_TO] = PROFILE_PLACE,
    };
    return (enum profile_kind)kinds[key];
}
