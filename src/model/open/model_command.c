/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the process of the recorded command. A recorder starts its command in a child that has a name of its own until
 * it executes the command: "perf-exec" or "perfray-exec". The first such child that executes a program is the command.
 * Recordings of running processes have none.
 */
#include "model/open/model_command.h"

static bool is_waiting_child(struct intern_text comm) {
    static const char *const names[] = {"perf-exec", "perfray-exec"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (comm.length == strlen(names[i]) && memcmp(comm.bytes, names[i], comm.length) == 0)
            return true;
    return false;
}

/* A thread gets a new address space in the record that also gives it the name of the program. */
static bool executes(const struct generation *g, const struct record_key *key) {
    const size_t at = changes_before(&g->spaces, *key);
    return at < g->spaces.count && !key_before(key, &g->spaces.at[at].key);
}

/* Returns the key of the record with which a waiting child executed its command; NULL: the thread
   is no such child. */
static const struct record_key *start_of_command(const struct state *state, const struct generation *g) {
    bool waits = false;
    for (uint32_t i = 0; i < g->names.count; i++) {
        const struct change *name = &g->names.at[i];
        if (waits && executes(g, &name->key))
            return &name->key;
        waits |= is_waiting_child(intern_get(&state->names, name->value));
    }
    return NULL;
}

static uint32_t process_of_generation(const pfr_model *m, uint32_t generation) {
    for (uint32_t id = 1; id <= m->thread_keys.count; id++) {
        struct thread_key key;
        memcpy(&key, intern_get(&m->thread_keys, id - 1).bytes, sizeof key);
        if (key.generation == generation)
            return pfr_model_get_thread(m, id)->process;
    }
    return 0;
}

uint32_t model_command_process(const pfr_model *m) {
    const struct record_key *first = NULL;
    uint32_t command = NO_GENERATION;
    if (!m->profile || m->reader->trace)
        return 0;
    const struct state *state = &m->profile->state;
    for (uint32_t g = 0; g < state->threads.count; g++) {
        const struct record_key *start = start_of_command(state, &state->threads.at[g]);
        if (!start || (first && key_before(first, start)))
            continue;
        first = start;
        command = g;
    }
    return command == NO_GENERATION ? 0 : process_of_generation(m, command);
}

/* --- Descendants. */

enum { UNKNOWN = 0, DESCENDS = 1, OTHER = 2, ASKED = 3 };

static uint32_t parent_of(const pfr_model *m, uint32_t process) {
    const pfr_model_process *row = pfr_model_get_process(m, process);
    return row ? row->parent : 0;
}

/* `known` has the answer for each process, so that long chains of ancestors are walked only once.
   In a damaged recording such a chain can be a cycle; the walk ends at a process that is ASKED. */
static void settle(const pfr_model *m, uint8_t *known, uint32_t process) {
    uint32_t at = process;
    for (; at && known[at] == UNKNOWN; at = parent_of(m, at))
        known[at] = ASKED;
    const uint8_t answer = at && known[at] == DESCENDS ? DESCENDS : OTHER;
    for (at = process; at && known[at] == ASKED; at = parent_of(m, at))
        known[at] = answer;
}

static size_t room_of(const pfr_model *m) {
    return (size_t)pfr_model_count(m, PFR_TABLE_PROCESS) + 1;
}

pfr_status model_command_marks(const pfr_model *m, struct memory *memory, uint8_t **marks, pfr_error *err) {
    const uint32_t command = model_command_process(m);
    *marks = NULL;
    if (!command)
        return PFR_OK;
    uint8_t *known = mem_zeroed(memory, room_of(m), 1);
    if (!known)
        return mem_fail(memory, err, "processes");
    known[command] = DESCENDS;
    for (uint32_t id = 1; id < room_of(m); id++)
        settle(m, known, id);
    for (uint32_t id = 0; id < room_of(m); id++)
        known[id] = known[id] == DESCENDS;
    *marks = known;
    return PFR_OK;
}

void model_command_free(const pfr_model *m, struct memory *memory, uint8_t *marks) {
    mem_free(memory, marks, marks ? room_of(m) : 0, 1);
}
