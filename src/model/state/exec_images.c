/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines how long the image that an exec replaced remains valid. An exec removes the old maps, and its record is
 * written while the thread is still in the kernel. Samples from then until the thread returns to user mode have the
 * caller of execve in their chain, which is an address of the old image. Only a sample in user mode shows that the
 * thread has returned. So if the recording has chains and execs, another pass over the samples finds the first
 * user-mode sample of each image. The pass ends early if the rounds guarantee that no older sample follows: most
 * programs are executed once, at the start, so only a round or two are read. See docs/state.md, rule 17.
 */
#include "model/state/exec_images.h"

#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "file/read/header_walk.h"

#define SEVERAL UINT32_MAX
#define KERNEL_TYPES 64u /* record types from here on belong to the recorder; such records are not in order of time */

struct looking {
    struct state *state;
    pfr_reader *reader;
    struct u64_map tids; /* tid that ever was in a space begun by an exec -> the replaced image, or SEVERAL */
    bool in_rounds;      /* records after the end of a round are never older than the limit of `rounds` */
    struct rounds rounds;
    size_t met; /* number of first images in spaces.left that are known to end before the limit of `rounds` */
};

/* Offset of pid and tid in samples of the event; 0: they have none. */
static uint32_t place_of_ids(const pfr_event *event) {
    const uint64_t type = event->attr.sample_type;
    return type & PFR_SAMPLE_TID ? 8u + (type & PFR_SAMPLE_IDENTIFIER ? 8 : 0) + (type & PFR_SAMPLE_IP ? 8 : 0) : 0;
}

static bool has_chains(pfr_reader *reader) {
    for (uint32_t i = 0; i < pfr_event_count(reader); i++)
        if (pfr_get_event(reader, i)->attr.sample_type & PFR_SAMPLE_CALLCHAIN)
            return true;
    return false;
}

/* Notes that a thread was in user mode in this space at that key; `space` may be NO_SPACE. */
static void meet(struct state *s, uint32_t space, struct record_key key) {
    const uint32_t number = space == NO_SPACE ? NO_SPACE : s->spaces.at[space].left;
    if (number != NO_SPACE && key_before(&key, &s->spaces.left[number].until))
        s->spaces.left[number].until = key;
}

/* Finds the image that the thread, or its process, replaced; SEVERAL: there are several such images. false: there is
   none. A tid that only samples mention belongs, in each sample, to the process of that sample (rule 4). */
static bool image_of(const struct looking *l, uint32_t pid, uint32_t tid, uint64_t *image) {
    uint64_t of_process;
    if (!u64_map_get(&l->tids, tid, image))
        return u64_map_get(&l->tids, pid, image);
    if (pid != tid && u64_map_get(&l->tids, pid, &of_process) && of_process != *image)
        *image = SEVERAL;
    return true;
}

/* Handles a sample. Most threads have one replaced image and soon return to user mode, so later samples are skipped
   quickly. */
static void look_at(const struct looking *l, const pfr_record *rec, uint32_t ids, uint64_t time) {
    const bool swap = rec->context->swap;
    uint64_t image;
    if ((rec->misc & PFR_CPUMODE_MASK) != PFR_CPUMODE_USER || rec->size < ids + 8u)
        return;
    const uint32_t pid = load_u32(rec->bytes + ids, swap), tid = load_u32(rec->bytes + ids + 4, swap);
    if (!image_of(l, pid, tid, &image))
        return;
    const struct record_key key = state_key(l->state, rec, time == NO_TIME ? KEY_TIME_AFTER_ALL : time);
    if (image == SEVERAL || key_before(&key, &l->state->spaces.left[image].until))
        meet(l->state, thread_space_at(&l->state->threads, pid, tid, key), key);
}

void left_images_hear(struct state *s, const pfr_record *rec, struct record_key key) {
    if (s->spaces.nr_left == 0 || rec->type != PFR_RECORD_SAMPLE || rec->event < 0 ||
        (rec->misc & PFR_CPUMODE_MASK) != PFR_CPUMODE_USER)
        return;
    const uint32_t ids = place_of_ids(pfr_get_event(s->reader, (uint32_t)rec->event));
    if (ids == 0 || rec->size < ids + 8u)
        return;
    const uint32_t pid = load_u32(rec->bytes + ids, rec->context->swap);
    const uint32_t tid = load_u32(rec->bytes + ids + 4, rec->context->swap);
    meet(s, thread_space_at(&s->threads, pid, tid, key), key);
}

/* Whether the end of every image is known and earlier than all records that can follow. For these records, the limit of
   `rounds` holds only if the recording has one part and the pass over the state counted no late records. */
static bool all_met(struct looking *l) {
    const struct spaces *spaces = &l->state->spaces;
    while (l->met < spaces->nr_left && spaces->left[l->met].until.time < l->rounds.limit)
        l->met++;
    return l->met == spaces->nr_left;
}

static bool ends_round(struct looking *l, const pfr_record *rec) {
    if (rec->type < KERNEL_TYPES)
        rounds_note(&l->rounds, time_of(l->reader, rec));
    if (rec->type != PFR_RECORD_FINISHED_ROUND)
        return false;
    rounds_end(&l->rounds);
    return true;
}

/* Handles the samples that follow in the read buffer, without a pfr_next for each. */
static void look_at_run(struct looking *l, const pfr_record *first, uint32_t ids) {
    struct sample_run run;
    pfr_record rec = *first;
    if (!walk_run(l->reader, first->event, false, &run))
        return;
    const bool swap = first->context->swap;
    rec.offset = l->reader->cursor.at;
    for (const uint8_t *at = run.bytes; at < run.bytes + run.length; at += rec.size, rec.offset += rec.size) {
        rec.bytes = at;
        rec.misc = load_u16(at + 4, swap);
        rec.size = load_u16(at + 6, swap);
        const uint64_t time = run.time_at ? load_u64(at + run.time_at, swap) : NO_TIME;
        rounds_note(&l->rounds, time);
        look_at(l, &rec, ids, time);
    }
    walk_past(l->reader, run.length, run.count);
}

/* Handles the records that follow a sample in the read buffer. Only samples matter: the pass over the state has handled
   the other records. */
static void look_on(struct looking *l, const pfr_record *first, uint32_t ids) {
    if (first->inside)
        return;
    do
        look_at_run(l, first, ids);
    while (walk_others(l->reader, first->event) > 0);
}

static pfr_status look(struct looking *l, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(l->reader, &rec, err)) >= 0 && st != PFR_END) {
        if (st == PFR_OK && ends_round(l, &rec) && l->in_rounds && all_met(l))
            break;
        const uint32_t ids = st == PFR_OK && rec.type == PFR_RECORD_SAMPLE && rec.event >= 0
                                 ? place_of_ids(pfr_get_event(l->reader, (uint32_t)rec.event))
                                 : 0;
        if (ids == 0)
            continue;
        look_at(l, &rec, ids, time_of(l->reader, &rec));
        look_on(l, &rec, ids);
    }
    return st < 0 ? st : PFR_OK;
}

static pfr_status learn_tids(struct looking *l, pfr_error *err) {
    const struct spaces *spaces = &l->state->spaces;
    for (size_t i = 0; i < spaces->nr_left_tids; i++) {
        const struct left_tid *const left = &spaces->left_tids[i];
        uint64_t *image = u64_map_at(&l->tids, left->tid, left->image, NULL);
        if (!image)
            return mem_fail(l->state->memory, err, "address spaces");
        if (*image != left->image)
            *image = SEVERAL;
    }
    return PFR_OK;
}

pfr_status left_images_settle(struct state *s, pfr_reader *reader, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct looking l = {.state = s, .reader = reader, .in_rounds = s->timed && s->late == 0 && reader->nr_parts == 1};
    if (s->spaces.nr_left == 0 || !has_chains(reader) || !input_seekable(&reader->parts[0].in))
        return PFR_OK;
    for (size_t i = 0; i < s->spaces.nr_left; i++)
        s->spaces.left[i].until = KEY_LAST;
    u64_map_init(&l.tids, s->memory);
    const pfr_quality of_all = reader->damage.quality; /* this pass may end early, so its counts are discarded */
    pfr_status st = learn_tids(&l, err);
    if (st >= 0)
        st = pfr_rewind(reader, err);
    if (st >= 0)
        st = look(&l, err);
    if (st >= 0)
        reader->damage.quality = of_all;
    u64_map_free(&l.tids);
    return st;
}
