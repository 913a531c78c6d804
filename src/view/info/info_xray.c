/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the overview specific to XRay traces: format, clock, threads. Records and quality are printed as for any
 * recording. */
#include "view/info/info_xray.h"

#include "base/memory/fail.h"
#include "base/text/text.h"
#include "file/xray/recorder_losses.h"
#include "file/xray/xray_calls.h"
#include "file/xray/xray_clock.h"
#include "view/info/info_overview.h"
#include "view/info/info_parts.h"

void xray_facts_init(struct xray_facts *facts, pfr_reader *reader, struct memory *memory) {
    *facts =
        (struct xray_facts){.memory = memory, .reader = reader, .at = pfr_get_trace_point(reader), .first = UINT64_MAX};
    u64_map_init(&facts->by_id, memory);
}

void xray_facts_free(struct xray_facts *facts) {
    u64_map_free(&facts->by_id);
    mem_free(facts->memory, facts->threads, facts->room, sizeof *facts->threads);
}

static pfr_status add_thread(struct xray_facts *facts, pfr_error *err) {
    struct xray_thread *grown =
        mem_grow(facts->memory, facts->threads, facts->nr_threads, &facts->room, 16, sizeof *grown);
    if (!grown)
        return mem_fail(facts->memory, err, "threads");
    facts->threads = grown;
    facts->threads[facts->nr_threads++] = (struct xray_thread){
        .pid = facts->at->pid, .tid = facts->at->tid, .has_pid = facts->at->has_pid, .first = UINT64_MAX};
    return PFR_OK;
}

/* Finds the thread of the current record, usually that of the previous record. */
static pfr_status find_thread(struct xray_facts *facts, struct xray_thread **thread, pfr_error *err) {
    const uint64_t key = (uint64_t)(uint32_t)facts->at->pid << 32 | (uint32_t)facts->at->tid;
    bool is_new;
    if (!facts->last_thread || facts->last_key != key) {
        const uint64_t *index = u64_map_at(&facts->by_id, key, facts->nr_threads, &is_new);
        if (!index)
            return mem_fail(facts->memory, err, "threads");
        const uint64_t at = *index;
        if (is_new)
            PFR_TRY(add_thread(facts, err));
        facts->last_thread = &facts->threads[at];
        facts->last_key = key;
    }
    *thread = facts->last_thread;
    return PFR_OK;
}

static void note_time(struct xray_facts *facts, struct xray_thread *thread) {
    const uint64_t tsc = facts->at->tsc;
    if (!facts->at->timed)
        return;
    thread->first = tsc < thread->first ? tsc : thread->first;
    thread->last = tsc > thread->last ? tsc : thread->last;
    facts->first = tsc < facts->first ? tsc : facts->first;
    facts->last = tsc > facts->last ? tsc : facts->last;
}

/* Returns the thread's counter for a record type; NULL for types that do not describe the thread's activity. */
static uint64_t *count_in(struct xray_thread *thread, uint32_t type) {
    if (type == PFR_TRACE_FUNCTION || type == PFR_TRACE_BASIC_FUNCTION)
        return &thread->calls;
    if (type == PFR_TRACE_CUSTOM_EVENT || type == PFR_TRACE_TYPED_EVENT)
        return &thread->events;
    return type == PFR_TRACE_PROFILE_PATH ? &thread->paths : NULL;
}

/* Counts the function records that directly follow each other (a run). Times do not decrease within a run, so only its
   first and its last time are noted. */
static uint64_t count_run(struct xray_facts *facts, struct xray_thread *thread) {
    struct xray_call calls[256];
    uint64_t run = 0;
    for (size_t count; (count = xray_take_calls(facts->reader, calls, sizeof calls / sizeof *calls)) > 0;)
        run += count;
    thread->calls += run;
    if (run)
        note_time(facts, thread);
    return run;
}

pfr_status xray_facts_count(struct xray_facts *facts, const pfr_record *rec, uint64_t *more, pfr_error *err) {
    struct xray_thread nobody, *thread = NULL;
    *more = 0;
    if (!facts->at || !count_in(&nobody, rec->type))
        return PFR_OK;
    PFR_TRY(find_thread(facts, &thread, err));
    ++*count_in(thread, rec->type);
    thread->buffers += thread->buffer != facts->at->buffer;
    thread->buffer = facts->at->buffer;
    note_time(facts, thread);
    if (rec->type == PFR_TRACE_FUNCTION)
        *more = count_run(facts, thread);
    return PFR_OK;
}

/* --- Text. */

static void say_kind(pfr_output *to, const pfr_header *header) {
    static const char *const kinds[] = {[PFR_PERF_DATA] = "",
                                        [PFR_XRAY_FDR] = "XRay flight-recorder trace",
                                        [PFR_XRAY_BASIC] = "XRay basic log",
                                        [PFR_XRAY_PROFILE] = "XRay profile"};
    overview_label(to, "format");
    say(to, header->format == PFR_XRAY_PROFILE ? "%s, version %#x, %s-endian%s\n" : "%s, version %u, %s-endian%s\n",
        kinds[header->format], header->version, header->big_endian ? "big" : "little",
        header->low_bits_first ? " integers, bit-fields as of little-endian writers" : "");
}

static void say_clock(pfr_output *to, const pfr_header *header) {
    overview_label(to, "clock");
    if (header->cycle_frequency)
        say(to, "%" PRIu64 " ticks a second", header->cycle_frequency);
    else
        say(to, "of unknown frequency: times are in ticks");
    if (header->format != PFR_XRAY_PROFILE)
        say(to, "%s%s", header->constant_tsc ? ", constant" : "", header->nonstop_tsc ? ", does not stop" : "");
    say(to, "\n");
}

static void say_buffers(pfr_output *to, const pfr_header *header, const struct xray_facts *facts) {
    if (header->format == PFR_XRAY_BASIC)
        return;
    overview_label(to, header->format == PFR_XRAY_PROFILE ? "blocks" : "buffers");
    say(to, "%" PRIu64, facts->at->buffer);
    if (header->format == PFR_XRAY_FDR)
        say(to, ", configured with %" PRIu64 " bytes each", header->buffer_size);
    say(to, "\n");
}

/* Prints the clock that applies to the times below this line and to the times that other commands print. */
static void say_times(pfr_output *to, const pfr_header *header, const struct xray_clock *clock) {
    if (header->format == PFR_XRAY_PROFILE || clock->frequency == 0)
        return;
    overview_label(to, "times");
    if (!clock->has_pair) {
        say(to, "ticks / frequency: the trace has no usable pair of ticks and CLOCK_MONOTONIC\n");
        return;
    }
    const uint64_t distance = clock->offset < 0 ? -(uint64_t)clock->offset : (uint64_t)clock->offset;
    say(to, "CLOCK_MONOTONIC, ticks / frequency %s ", clock->offset < 0 ? "-" : "+");
    out_time(&to->out, distance, 9);
    say(to, " s");
    if (clock->latest > clock->offset) {
        say(to, "; clock pairs differ by up to ");
        out_time(&to->out, (uint64_t)clock->latest - (uint64_t)clock->offset, 9);
        say(to, " s, the least offset is used");
    }
    say(to, "\n");
}

/* Prints facts from the header of a profile. */
static void say_written(pfr_output *to, const pfr_header *header) {
    if (header->format != PFR_XRAY_PROFILE)
        return;
    overview_label(to, "process");
    say(to, "%" PRIi64 "\n", (int64_t)header->profile_pid);
    overview_label(to, "written at");
    out_time(&to->out, header->profile_time, 9);
    say(to, " s\n");
}

/* Prints seconds if the frequency is known, otherwise ticks. */
static void say_ticks(pfr_output *to, uint64_t ticks, uint64_t frequency) {
    if (frequency == 0) {
        say(to, "%" PRIu64 " ticks", ticks);
        return;
    }
    const unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / frequency;
    out_time(&to->out, ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns, 9);
    say(to, " s");
}

/* `what` contains the singular, a NUL, and the plural. */
static void say_counted(pfr_output *to, uint64_t count, const char *what) {
    if (count)
        say(to, ", %" PRIu64 " %s", count, count == 1 ? what : what + strlen(what) + 1);
}

static void say_moment_of(pfr_output *to, uint64_t ticks, const struct xray_clock *clock) {
    if (clock->frequency == 0) {
        say_ticks(to, ticks, 0);
        return;
    }
    out_time(&to->out, xray_clock_ns(clock, ticks), 9);
    say(to, " s");
}

static void say_thread(pfr_output *to, const struct xray_thread *thread, const struct xray_clock *clock) {
    say(to, "  ");
    if (thread->has_pid)
        say(to, "%" PRIi32 "/", thread->pid);
    say(to, "%" PRIi32, thread->tid);
    say_counted(to, thread->calls, "entry or exit\0entries and exits");
    say_counted(to, thread->events, "event\0events");
    say_counted(to, thread->paths, "path\0paths");
    if (thread->buffer)
        say_counted(to, thread->buffers, thread->paths ? "block\0blocks" : "buffer\0buffers");
    if (thread->first <= thread->last) {
        say(to, ", ");
        say_ticks(to, thread->last - thread->first, clock->frequency);
        say(to, " from ");
        say_moment_of(to, thread->first, clock);
    }
    say(to, "\n");
}

static void say_threads(pfr_output *to, const struct xray_facts *facts, const struct xray_clock *clock) {
    overview_label(to, "threads");
    say(to, "%zu\n", facts->nr_threads);
    for (size_t i = 0; i < facts->nr_threads; i++)
        say_thread(to, &facts->threads[i], clock);
}

static void say_span(pfr_output *to, const struct xray_facts *facts, const struct xray_clock *clock) {
    if (facts->first > facts->last)
        return;
    overview_label(to, "from");
    say_moment_of(to, facts->first, clock);
    say(to, " to ");
    say_moment_of(to, facts->last, clock);
    say(to, ", ");
    say_ticks(to, facts->last - facts->first, clock->frequency);
    say(to, " in all\n");
}

static void say_loss(void *to, const char *sentence) {
    overview_label(to, "not recorded");
    say(to, "%s\n", sentence);
}

void overview_trace(const struct info *info) {
    const pfr_header *header = pfr_get_header(info->reader);
    const struct xray_facts *facts = &info->facts.traced;
    const struct xray_clock clock = xray_clock_of(info->reader);
    say_kind(info->to, header);
    say_clock(info->to, header);
    say_times(info->to, header, &clock);
    say_buffers(info->to, header, facts);
    say_written(info->to, header);
    say_span(info->to, facts, &clock);
    say_threads(info->to, facts, &clock);
    recorder_losses_note(info->reader, say_loss, info->to);
}

/* --- JSON. */

static void json_number(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_u64(json, value);
}

static void json_signed(struct json *json, const char *key, int64_t value) {
    json_key(json, key);
    json_i64(json, value);
}

static void json_thread(struct json *json, const struct xray_thread *thread) {
    json_begin_object(json);
    if (thread->has_pid)
        json_signed(json, "pid", thread->pid);
    json_signed(json, "tid", thread->tid);
    json_number(json, "calls", thread->calls);
    json_number(json, "events", thread->events);
    json_number(json, "paths", thread->paths);
    json_number(json, "buffers", thread->buffer ? thread->buffers : 0);
    if (thread->first <= thread->last) {
        json_number(json, "first_tsc", thread->first);
        json_number(json, "last_tsc", thread->last);
    }
    json_end_object(json);
}

static void json_threads(struct json *json, const struct xray_facts *facts) {
    json_key(json, "threads");
    json_begin_array(json);
    for (size_t i = 0; i < facts->nr_threads; i++)
        json_thread(json, &facts->threads[i]);
    json_end_array(json);
}

static void json_losses(struct json *json, pfr_reader *reader) {
    pfr_trace_loss loss;
    json_key(json, "losses");
    json_begin_array(json);
    for (uint32_t i = 0; pfr_get_trace_loss(reader, i, &loss); i++) {
        json_begin_object(json);
        json_key(json, "cause");
        json_text(json, loss.cause);
        json_number(json, "count", loss.count);
        json_key(json, "sentence");
        json_text(json, loss.sentence);
        json_end_object(json);
    }
    json_end_array(json);
}

/* A profile contains sums of durations, but no timestamps. */
static void json_clock(struct json *json, const pfr_reader *reader) {
    const struct xray_clock clock = xray_clock_of(reader);
    if (pfr_get_header(reader)->format == PFR_XRAY_PROFILE)
        return;
    json_key(json, "clock");
    json_text(json, xray_clock_name(&clock));
    if (!clock.has_pair)
        return;
    json_signed(json, "clock_offset", clock.offset);
    json_number(json, "clock_spread", (uint64_t)clock.latest - (uint64_t)clock.offset);
}

void json_trace(struct json *json, const struct info *info) {
    static const char *const kinds[] = {[PFR_PERF_DATA] = "",
                                        [PFR_XRAY_FDR] = "xray-fdr",
                                        [PFR_XRAY_BASIC] = "xray-basic",
                                        [PFR_XRAY_PROFILE] = "xray-profile"};
    const pfr_header *header = pfr_get_header(info->reader);
    json_key(json, "trace");
    json_begin_object(json);
    json_key(json, "format");
    json_text(json, kinds[header->format]);
    json_number(json, "cycle_frequency", header->cycle_frequency);
    json_key(json, "constant_tsc");
    json_bool(json, header->constant_tsc);
    json_key(json, "nonstop_tsc");
    json_bool(json, header->nonstop_tsc);
    json_clock(json, info->reader);
    json_number(json, "buffer_size", header->buffer_size);
    json_number(json, "buffers", info->facts.traced.at->buffer);
    json_threads(json, &info->facts.traced);
    json_losses(json, info->reader);
    json_end_object(json);
}
