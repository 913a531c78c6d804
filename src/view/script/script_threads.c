/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names and address spaces of threads at the time of a record. Consecutive samples often belong to the same
 * thread, so results are cached until a record may have changed them (s->epoch). The cache is direct-mapped by tid: a
 * new tid overwrites the old one in its slot.
 */
#include "view/script/script_threads.h"

#include "base/memory/fail.h"

#include <stdio.h>

pfr_status script_threads_make(struct script *s, pfr_error *err) {
    u64_map_init(&s->caches.comms, s->memory);
    s->caches.threads = mem_zeroed(s->memory, SCRIPT_THREADS, sizeof *s->caches.threads);
    return s->caches.threads ? PFR_OK : mem_fail(s->memory, err, "script");
}

void script_threads_free(struct script *s) {
    mem_free(s->memory, s->caches.threads, SCRIPT_THREADS, sizeof *s->caches.threads);
    u64_map_free(&s->caches.comms);
}

/* Returns a name in printed form: interned text is used in place; a name that must be escaped is copied once. */
static const char *shown_name(struct script *s, uint32_t name) {
    const struct intern_text text = intern_get(&s->shared->state->names, name);
    pfr_output shown = {.raw_names = s->shared->raw_names};
    bool is_new;
    size_t length;
    if (shown.raw_names)
        return (const char *)text.bytes;
    uint64_t *kept = u64_map_at(&s->caches.comms, name, 0, &is_new);
    if (!kept || *kept)
        return kept ? (const char *)(uintptr_t)*kept : NULL;
    out_open_memory(&shown.out, s->memory);
    print_name(&shown, text.bytes, text.length);
    const char *bytes = out_bytes(&shown.out, &length);
    const char *made = shown.out.status < 0 ? NULL : arena_text(&s->caches.arena, bytes ? bytes : "", length);
    out_close(&shown.out, NULL);
    *kept = (uint64_t)(uintptr_t)made;
    return made;
}

static void fill_thread(struct script *s, struct script_thread *t, const struct record_key *key) {
    const uint32_t name = thread_name_at(&s->shared->state->threads, t->tid, *key, false);
    t->space = thread_space_at(&s->shared->state->threads, t->pid, t->tid, *key);
    t->comm = t->made;
    if (name != NO_NAME)
        t->comm = shown_name(s, name);
    else if (guests_tid(&s->shared->state->guests, t->tid) == 0)
        t->comm = "swapper";
    else
        snprintf(t->made, sizeof t->made, ":%d", (int)guests_tid(&s->shared->state->guests, t->tid));
    if (t->comm)
        t->comm_length = (uint32_t)strlen(t->comm);
    else
        script_fail(s, mem_fail(s->memory, s->err, "names of threads"));
}

struct script_thread *script_thread_renew(struct script *s, uint32_t pid, uint32_t tid, const struct record_key *key) {
    struct script_thread *t = &s->caches.threads[tid % SCRIPT_THREADS];
    *t = (struct script_thread){.tid = tid, .pid = pid, .epoch = s->caches.epoch};
    fill_thread(s, t, key);
    if (t->comm)
        return t;
    t->epoch = 0;
    return NULL;
}

struct script_thread *script_thread_of(struct script *s, const pfr_record *rec, struct guest guest, uint32_t pid,
                                       uint32_t tid, const struct record_key *key) {
    struct guests *guests = &s->shared->state->guests;
    if (guests_have(guests, rec->misc)) {
        script_fail(s, guests_number(guests, guest.machine_pid, pid, &pid, s->err));
        script_fail(s, guests_number(guests, guest.machine_pid, tid, &tid, s->err));
    }
    return s->failed < 0 ? NULL : script_thread(s, pid, tid, key);
}
