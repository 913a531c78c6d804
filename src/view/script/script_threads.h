/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_THREADS_H
#define PFR_VIEW_SCRIPT_THREADS_H
/* Interface of script_threads.c; that file describes how it works. */
#include "view/script/script_parts.h"

#define SCRIPT_THREADS 1024u

pfr_status script_threads_make(struct script *s, pfr_error *err);
void script_threads_free(struct script *s);

/* Returns the thread's name and space at this key, valid until the next call; NULL: the error is in s->failed. */
struct script_thread *script_thread_renew(struct script *s, uint32_t pid, uint32_t tid, const struct record_key *key);

static inline struct script_thread *script_thread(struct script *s, uint32_t pid, uint32_t tid,
                                                  const struct record_key *key) {
    struct script_thread *t = &s->caches.threads[tid % SCRIPT_THREADS];
    return t->epoch == s->caches.epoch && t->tid == tid && t->pid == pid ? t : script_thread_renew(s, pid, tid, key);
}

/* Returns the thread that a record with these ids is about; for a guest's record, the guest's thread. */
struct script_thread *script_thread_of(struct script *s, const pfr_record *rec, struct guest guest, uint32_t pid,
                                       uint32_t tid, const struct record_key *key);

#endif
