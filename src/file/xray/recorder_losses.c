/* SPDX-License-Identifier: Apache-2.0 */
/* See recorder_losses.h. */
#include "file/xray/recorder_losses.h"

#include "file/xray/xray.h"

#include <inttypes.h>
#include <perfray/trace.h>
#include <stdio.h>

#define ONE(text) text, text

/* Causes in the order in which their advice helps most. RTF_FULL counts losses until recording stops. If recording did
   not stop, the losses are those of threads that found no free buffer. */
static const struct cause {
    const char *name;
    enum rtf_loss why;
    bool when_full; /* for RTF_FULL: the text for a recording that stopped */
    const char *one, *more;
} causes[] = {
    {"full", RTF_FULL, true,
     ONE("the trace was full, and recording stopped (enlarge it with --size, or keep the end with --last)")},
    {"buffers", RTF_FULL, false,
     "enter or exit is missing: more threads than buffers wrote at the same time (enlarge --size)",
     "enters and exits are missing: more threads than buffers wrote at the same time (enlarge --size)"},
    {"handler", RTF_BUSY, false,
     "enter or exit is missing: a signal handler, or a context that it switched to, had interrupted the recorder",
     "enters and exits are missing: signal handlers, or contexts that they switched to, had interrupted the recorder"},
    {"functions", RTF_TABLE, false, "enter or exit is missing: its function did not fit in the recorder's table",
     "enters and exits are missing: their functions did not fit in the recorder's table"},
    {"too-large", RTF_TOO_LARGE, false,
     "event is missing: larger than a buffer, or typed in a trace version without typed events",
     "events are missing: larger than a buffer, or typed in a trace version without typed events"},
    {"sled", RTF_SLED, false, "place of an event could not be patched: its events are missing",
     "places of events could not be patched: their events are missing"},
};

static uint64_t saturating_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void recorder_losses_learn(pfr_reader *r, const struct rtf_control *control) {
    struct recorder_losses *const l = &r->trace->losses;
    uint64_t sum = 0;
    for (unsigned why = 0; why < RTF_LOSSES; why++) {
        l->lost[why] = control->lost[why];
        sum = why == RTF_SLED ? sum : saturating_add(sum, control->lost[why]);
    }
    l->is_full = control->full != 0;
    l->no_tids = control->spaces & RTF_NO_TIDS;
    l->depth = control->spaces >> RTF_DEPTH_AT;
    if (r->whole) /* only the reader of the whole recording adds the losses to its quality */
        return;
    r->damage.quality.lost_calls = sum;
    r->damage.quality.recorder_full = l->is_full;
}

static bool is_loss(const struct recorder_losses *l, const struct cause *c) {
    if (c->why == RTF_FULL)
        return c->when_full ? l->is_full : !l->is_full && l->lost[RTF_FULL];
    return l->lost[c->why] > 0;
}

static void describe_cause(struct recorder_losses *l, const struct cause *c, pfr_trace_loss *loss) {
    *loss = (pfr_trace_loss){.cause = c->name, .count = l->lost[c->why], .sentence = l->sentence};
    if (c->when_full)
        snprintf(l->sentence, sizeof l->sentence, "%s", c->one);
    else
        snprintf(l->sentence, sizeof l->sentence, "%" PRIu64 " %s", loss->count, loss->count == 1 ? c->one : c->more);
}

static bool describe_depth(struct recorder_losses *l, pfr_trace_loss *loss) {
    if (!l->depth)
        return false;
    *loss = (pfr_trace_loss){.cause = "depth", .sentence = l->sentence};
    snprintf(l->sentence, sizeof l->sentence,
             "calls nested in %u or more others were left out as requested; their time is counted in their callers",
             l->depth);
    return true;
}

static bool describe_no_tids(struct recorder_losses *l, pfr_trace_loss *loss) {
    if (!l->no_tids)
        return false;
    *loss = (pfr_trace_loss){.cause = "threads", .sentence = l->sentence};
    snprintf(
        l->sentence, sizeof l->sentence,
        "thread IDs are not recorded: the system refused gettid(2) to the program, as seccomp filters do; negative "
        "numbers stand for these threads");
    return true;
}

bool pfr_get_trace_loss(pfr_reader *reader, uint32_t index, pfr_trace_loss *loss) {
    if (!reader->trace)
        return false;
    struct recorder_losses *const l = &reader->trace->losses;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (is_loss(l, &causes[i]) && index-- == 0)
            return describe_cause(l, &causes[i], loss), true;
    if (l->no_tids && index-- == 0)
        return describe_no_tids(l, loss);
    return index == 0 && describe_depth(l, loss);
}

void recorder_losses_note(pfr_reader *r, void (*note)(void *context, const char *sentence), void *context) {
    pfr_trace_loss loss;
    for (uint32_t i = 0; note && pfr_get_trace_loss(r, i, &loss); i++)
        note(context, loss.sentence);
}
