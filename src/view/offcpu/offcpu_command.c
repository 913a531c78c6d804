/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the process of the recorded command. A recorder starts its command in a child that has a name of its own until
 * it executes the command: "perf-exec" or "perfray-exec". The first such child that executes a program is the command.
 * Recordings of running processes have none.
 */
#include "view/offcpu/offcpu_command.h"

#include "wire/record_bits.h"

static bool is_waiting_child(pfr_text comm) {
    static const char *const names[] = {"perf-exec", "perfray-exec"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (comm.length == strlen(names[i]) && memcmp(comm.at, names[i], comm.length) == 0)
            return true;
    return false;
}

static void note_waiting(struct offcpu_command *c, uint32_t tid) {
    if (c->nr_waiting < sizeof c->waiting / sizeof *c->waiting)
        c->waiting[c->nr_waiting++] = tid;
}

static bool has_waited(const struct offcpu_command *c, uint32_t tid) {
    for (unsigned i = 0; i < c->nr_waiting; i++)
        if (c->waiting[i] == tid)
            return true;
    return false;
}

void offcpu_command_note(struct offcpu *o, const pfr_record *rec) {
    struct offcpu_command *c = &o->command;
    struct pfr_rec_sample_id id = {.time = PFR_NO_TIME};
    struct pfr_rec_comm body;
    if (c->process || rec->type != PFR_RECORD_COMM || pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return;
    if (is_waiting_child(body.comm))
        note_waiting(c, body.tid);
    if (!has_bit(rec->misc, MISC_BIT_13) || !has_waited(c, body.tid))
        return;
    if (rec->tail && pfr_decode_id(rec, &id, NULL) != PFR_OK)
        id.time = PFR_NO_TIME;
    const uint32_t thread = thread_index_find(&o->index, body.tid, id.time);
    const pfr_model_thread *row = pfr_model_get_thread(o->model, thread);
    c->process = row ? row->process : 0;
}

enum { ASKED = 1, DESCENDS = 2 };

static uint32_t parent_of(const struct offcpu *o, uint32_t process) {
    const pfr_model_process *row = pfr_model_get_process(o->model, process);
    return row ? row->parent : 0;
}

/* `known` has what is known of each process, so that long lines of descent are walked once. In a damaged recording they
   can be circles. */
static bool descends(const struct offcpu *o, uint8_t *known, uint32_t process) {
    uint32_t at = process;
    for (; at && !known[at]; at = parent_of(o, at))
        known[at] = ASKED;
    const uint8_t answer = at ? known[at] : ASKED;
    for (at = process; at && known[at] != answer; at = parent_of(o, at))
        known[at] = answer;
    return answer == DESCENDS;
}

pfr_status offcpu_command_mark(struct offcpu *o, pfr_error *err) {
    const size_t room = (size_t)pfr_model_count(o->model, PFR_TABLE_PROCESS) + 1;
    uint8_t *known = mem_zeroed(o->memory, room, 1);
    if (!known)
        return mem_fail(o->memory, err, "processes");
    known[o->command.process] = DESCENDS;
    for (size_t i = 0; o->command.process && i < o->nr_threads; i++) {
        struct offcpu_thread *t = &o->threads[i];
        const pfr_model_thread *row = pfr_model_get_thread(o->model, t->id);
        t->is_commands = row && !t->cgroup && descends(o, known, row->process);
        o->command.count += t->is_commands && t->is_wanted;
    }
    mem_free(o->memory, known, room, 1);
    return PFR_OK;
}
