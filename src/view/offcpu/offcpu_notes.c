/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about facts that readers of the numbers must know: see offcpu_parts.h. */
#include "view/offcpu/offcpu_notes.h"

#include <inttypes.h>
#include <stdio.h>

typedef bool note_fn(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]);

static bool note_source(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    const struct sched_walk *w = &o->walk;
    snprintf(text, OFFCPU_NOTE_ROOM, "%s%s, %s: %" PRIu64 " switches, %" PRIu64 " wake-ups in %.3f s",
             w->switches               ? "sched_switch"
             : w->away                 ? "sched_switch without raw bytes"
             : w->stacks && w->samples ? "SWITCH records and context-switches samples"
                                       : "SWITCH records",
             w->wakings ? " and sched_waking" : "", w->wide ? "all threads" : "threads of the recorded processes",
             w->counts.switches, w->counts.wakings, (double)(w->end - w->begin) / 1e9);
    return true;
}

static bool note_sampled(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    snprintf(text, OFFCPU_NOTE_ROOM, "%s",
             "switches or wake-ups were sampled, so some are missing: states and times below are partly wrong (record "
             "every one: --off-cpu, or -c 1)");
    return o->walk.sampled;
}

static bool note_wakers(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    snprintf(text, OFFCPU_NOTE_ROOM,
             "without sched:sched_waking wakers are unknown, and the time from a wake-up until the thread runs counts "
             "as blocked");
    return !o->walk.wakings;
}

static bool note_away(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    snprintf(text, OFFCPU_NOTE_ROOM, "%s",
             "a wait ends at the next sample of its thread, later than its real end; preempted threads count as "
             "blocked, because the recording does not distinguish them");
    return o->walk.away;
}

static bool note_records(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    const bool stacks = o->walk.stacks && o->walk.samples;
    snprintf(text, OFFCPU_NOTE_ROOM, "%s",
             stacks
                 ? "reasons come from the call chains of context-switches samples"
                 : "the recording has only times; reasons need samples of context-switches or of sched:sched_switch");
    return !o->walk.switches && !o->walk.away;
}

static bool note_narrow(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    const bool both = o->walk.switches && o->walk.records;
    snprintf(text, OFFCPU_NOTE_ROOM,
             "the recording has only events of the recorded processes: %swake-ups by other threads and by the kernel "
             "are missing "
             "(record system-wide, -a)",
             both ? "" : "the time when a thread got a CPU is known only if it followed another recorded thread; ");
    return o->walk.switches && !o->walk.wide;
}

static bool note_wide(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    snprintf(text, OFFCPU_NOTE_ROOM, "%s",
             o->nr_commands
                 ? "the recording has the threads of the whole machine; those of the recorded command come first; "
                   "-t NAME or --pid PID selects those of one program"
                 : "the recording has the threads of the whole machine; -t NAME or --pid PID selects "
                   "those of one program");
    return o->walk.wide && !o->options->threads && !o->options->pids;
}

static bool note_lost(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    const struct sched_counts *c = &o->walk.counts;
    char most[64] = "";
    if (c->most_contradictions)
        snprintf(most, sizeof most, ", %" PRIu64 " of them on CPU %" PRIu32, c->most_contradictions, c->most_cpu);
    snprintf(text, OFFCPU_NOTE_ROOM,
             "%" PRIu64 " intervals (%.3f s of all threads) are unknown: %" PRIu64 " LOST records, %" PRIu64
             " events that contradict earlier ones%s",
             c->unknown, (double)c->unknown_ns / 1e9, c->losses, c->contradictions, most);
    return c->unknown || c->contradictions;
}

/* The kernel sometimes drops events of a CPU's idle task without counting them as lost. A filter of the recorder has
   the same effect. */
static bool note_idle(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    const struct sched_idle_gap *gap = &o->walk.counts.idle_gap;
    char cpus[OFFCPU_NOTE_ROOM / 4] = "";
    for (uint32_t i = 0, at = 0; i < gap->count && i < SCHED_CPUS_NAMED; i++)
        at += (uint32_t)snprintf(cpus + at, sizeof cpus - at, "%s%" PRIu32, i ? ", " : "", gap->cpus[i]);
    snprintf(text, OFFCPU_NOTE_ROOM,
             "on CPU%s %s%s events of the idle task are missing (%" PRIu64 " switches to it, %" PRIu64
             " from it; the kernel dropped them, or a filter excludes them): so are threads that took the CPU from it",
             gap->count == 1 ? "" : "s", cpus, gap->count > SCHED_CPUS_NAMED ? ", ..." : "", gap->to_idle,
             gap->from_idle);
    return gap->count > 0;
}

static bool note_stacks(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    bool chains = false;
    for (uint32_t i = 0; i < pfr_event_count(o->reader); i++)
        chains |= (pfr_get_event(o->reader, i)->attr.sample_type & PFR_SAMPLE_CALLCHAIN) != 0;
    snprintf(text, OFFCPU_NOTE_ROOM, "%s",
             o->no_numbers ? "samples of this recording read counters, so stacks cannot be assigned to waits"
                           : "the recording has no call chains (-g): reasons of waits are unknown");
    return o->no_numbers || !chains;
}

static bool note_library(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    uint64_t all = 0, library = 0;
    for (uint32_t i = 0; i < o->sums.count; i++) {
        const struct offcpu_key key = o->sums.rows[i].key;
        const bool counts = key.state == OFFCPU_BLOCKED && key.stack;
        all += counts ? o->sums.rows[i].sum.ns : 0;
        library += counts && o->stacks[key.stack].facts.in_library ? o->sums.rows[i].sum.ns : 0;
    }
    return wait_library_note(all, library, wait_stacks_are_copies(o->model), text);
}

static bool note_late(const struct offcpu *o, char text[OFFCPU_NOTE_ROOM]) {
    snprintf(text, OFFCPU_NOTE_ROOM,
             "%" PRIu64 " records are older than a FINISHED_ROUND record allows; they count at their own time",
             o->walk.counts.late);
    return o->walk.counts.late > 0;
}

static note_fn *const notes[] = {note_source, note_sampled, note_wakers, note_away,   note_records, note_narrow,
                                 note_wide,   note_lost,    note_idle,   note_stacks, note_library, note_late};

bool offcpu_note(const struct offcpu *o, unsigned number, char text[OFFCPU_NOTE_ROOM]) {
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i](o, text) && number-- == 0)
            return true;
    return false;
}
