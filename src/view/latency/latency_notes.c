/* SPDX-License-Identifier: Apache-2.0 */
/* Writes facts that readers of the numbers must know, one sentence each. They are printed above the table, and in JSON.
   See latency_parts.h. */
#include "view/latency/latency_notes.h"

#include <inttypes.h>
#include <stdio.h>

const char *latency_kind(const struct latency *l) {
    static const char *const kinds[] = {[PFR_PERF_DATA] = "",
                                        [PFR_XRAY_FDR] = "XRay flight-recorder trace",
                                        [PFR_XRAY_BASIC] = "XRay basic log",
                                        [PFR_XRAY_PROFILE] = "XRay profile"};
    return l->reader->stored ? "stored calls" : kinds[l->reader->header.format];
}

const char *latency_unit(const struct latency *l) {
    return l->frequency ? "ns" : "ticks";
}

typedef bool note_fn(const struct latency *l, char *text);

static bool note_clock(const struct latency *l, char *text) {
    snprintf(text, LATENCY_NOTE_ROOM, "the clock frequency is unknown: times are ticks");
    return l->costs.totals.frequency == 0;
}

/* Writes the sentence `one` for a count of 1, `more` for larger counts. */
static bool note_count(uint64_t count, const char *one, const char *more, char *text) {
    snprintf(text, LATENCY_NOTE_ROOM, "%" PRIu64 " %s", count, count == 1 ? one : more);
    return count > 0;
}

static bool note_open(const struct latency *l, char *text) {
    return note_count(l->costs.totals.open, "unfinished call: its callees are counted, but not its own time",
                      "unfinished calls: their callees are counted, but not their own time", text);
}

static bool note_lone(const struct latency *l, char *text) {
    return note_count(l->costs.totals.lone, "unmatched exit", "unmatched exits", text);
}

static bool note_backward(const struct latency *l, char *text) {
    return note_count(l->costs.totals.backward, "call without a duration: the clock stepped back",
                      "calls without a duration: the clock stepped back", text);
}

static bool note_deduced(const struct latency *l, char *text) {
    uint64_t count = 0;
    for (size_t i = 0; i < l->nr_rows; i++)
        count += l->rows[i].cost->deduced;
    return note_count(count, "unfinished call: it counts as ended by the enclosing call",
                      "unfinished calls: they count as ended by the enclosing calls", text);
}

static bool note_untimed(const struct latency *l, char *text) {
    return note_count(l->costs.totals.untimed, "enter or exit without a time; its buffer's time starts at 0",
                      "enters and exits without a time; their buffers' time starts at 0", text);
}

static bool note_left_out(const struct latency *l, char *text) {
    return note_count(l->costs.left_out, "call left out by --tid, --time or --min-duration",
                      "calls left out by --tid, --time or --min-duration", text);
}

static bool note_too_deep(const struct latency *l, char *text) {
    return note_count(l->costs.totals.too_deep, "call is counted in its caller: too many were open at once",
                      "calls are counted in their callers: too many were open at once", text);
}

static bool note_limit(const struct latency *l, char *text) {
    return note_count(l->costs.totals.limited, "call in [limit]: its path had no room (limit memory)",
                      "calls in [limit]: their paths had no room (limit memory)", text);
}

static bool note_objectless(const struct latency *l, char *text) {
    return note_count(
        l->names.objectless,
        "function has no line: its object is missing or has no symbols (give it with -m; YAML has no lines)",
        "functions have no line: their object is missing or has no symbols (give it with -m; YAML has no lines)", text);
}

static bool note_lineless(const struct latency *l, char *text) {
    return note_count(l->names.lineless, "function has no line: no debugging information covers it",
                      "functions have no line: no debugging information covers it", text);
}

static bool note_holes(const struct latency *l, char *text) {
    snprintf(text, LATENCY_NOTE_ROOM, "parts of the trace could not be used; calls in them are not counted");
    return l->costs.totals.lossy;
}

static bool note_sums(const struct latency *l, char *text) {
    snprintf(text, LATENCY_NOTE_ROOM, "a profile contains only sums: latencies of single calls are unknown");
    return l->costs.totals.sums;
}

static bool note_sketch(const struct latency *l, char *text) {
    snprintf(text, LATENCY_NOTE_ROOM,
             "~: percentiles from a log-linear sketch, with an error of at most %.2f %% (%" PRIu64
             " of %zu rows have more than "
             "%" PRIu32 " calls); the others are exact",
             SPREAD_ERROR * 100, l->sketched, l->shown, l->costs.distributions.most);
    return l->sketched > 0;
}

static bool note_threshold(const struct latency *l, char *text) {
    _Static_assert(LATENCY_NOTE_ROOM >= CALLS_SENTENCE_MOST, "a sentence is a note");
    return calls_describe_threshold(l->reader, &l->costs.totals, latency_unit(l), text);
}

static note_fn *const notes[] = {note_clock,    note_sums,       note_open,     note_lone,     note_backward,
                                 note_deduced,  note_untimed,    note_limit,    note_too_deep, note_holes,
                                 note_left_out, note_objectless, note_lineless, note_sketch,   note_threshold};

bool latency_note(const struct latency *l, unsigned number, char text[LATENCY_NOTE_ROOM]) {
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i](l, text) && number-- == 0)
            return true;
    pfr_trace_loss loss;
    if (!pfr_get_trace_loss(l->reader, number, &loss))
        return false;
    snprintf(text, LATENCY_NOTE_ROOM, "%s", loss.sentence);
    return true;
}
