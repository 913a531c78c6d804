/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common Trace Format 1.8 (diamon.org/ctf): a folder with a text file `metadata` and a binary file for each stream. All
 * samples form one stream in time order, with an event class for each perf event. The calls of each thread form a
 * stream of their own, ordered by start, with one class that includes the duration.
 *
 * Readers report losses from the context of each packet; the context has the number of events discarded so far. A
 * packet therefore ends at each lost record.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "export/binary/folder.h"
#include "export/rows/packed.h"
#include "export/rows/row_sinks.h"

#include <stdlib.h>

#define MAGIC 0xC1FC1FC1u
#define PACKET_BYTES ((size_t)256 << 10)
#define PACKET_HEAD ((size_t)4 + 4 + 8 * 5) /* magic, stream; begin, end, content, packet, discarded */
#define CALL_CLASS 0u

struct loss {
    uint64_t time, count;
};

struct ctf {
    struct output events; /* of the current packet */
    uint64_t first, last; /* times of the current packet */
    uint64_t discarded;
    struct loss *losses; /* sorted by time */
    size_t nr_losses, losses_room, at;
    struct output *to;
    uint32_t streams;
    bool has_begun;
};

/* --- Bytes, little-endian. */

static void put(struct output *to, uint64_t number, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    out_write(to, bytes, size);
}

/* A string ends with NUL; the escaped form contains no NUL. */
static void put_string(struct output *to, struct intern_text text) {
    out_escaped(to, text.bytes, text.length);
    out_char(to, 0);
}

/* --- Metadata. */

static const char *const metadata_head = "/* CTF 1.8 */\n"
                                         "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
                                         "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
                                         "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
                                         "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
                                         "trace {\n  major = 1;\n  minor = 8;\n  byte_order = le;\n"
                                         "  packet.header := struct { u32 magic; u32 stream_id; };\n};\n"
                                         "env {\n  tracer_name = \"perfray\";\n};\n";
static const char *const metadata_stream =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.recorded.value; } := time_t;\n"
    "stream {\n  id = 0;\n"
    "  event.header := struct { u32 id; time_t timestamp; };\n"
    "  packet.context := struct { time_t timestamp_begin; time_t timestamp_end; u64 content_size; u64 packet_size; "
    "u64 events_discarded; };\n};\n";
static const char *const call_fields = "u64 dur; s64 self; u32 pid; u32 tid; u32 depth; string function; ";
static const char *const sample_fields = "u32 pid; u32 tid; string comm; u32 cpu; u64 weight; u32 nr_frames; "
                                         "string callchain[nr_frames]; ";

/* Writes a text inside quotes: backslashes and quotes are escaped. */
static void put_quoted(struct output *to, const char *text) {
    struct output plain;
    out_open_memory(&plain, to->memory);
    out_escaped(&plain, text, strlen(text));
    for (size_t i = 0; i < plain.used; i++) {
        if (plain.buffer[i] == '"' || plain.buffer[i] == '\\')
            out_char(to, '\\');
        out_char(to, plain.buffer[i]);
    }
    if (out_close(&plain, NULL) < 0)
        to->status = to->status < 0 ? to->status : PFR_ERR_MEMORY;
}

static void put_class(struct output *to, uint32_t id, const char *name, const char *fields) {
    out_text(to, "event {\n  id = ");
    out_u64(to, id);
    out_text(to, ";\n  name = \"");
    put_quoted(to, name[0] ? name : "event");
    out_text(to, "\";\n  stream_id = 0;\n  fields := struct { ");
    out_text(to, fields);
    out_text(to, "};\n};\n");
}

static pfr_status put_metadata(struct rows *r, pfr_error *err) {
    struct ctf *c = r->state;
    (void)err;
    out_text(c->to, metadata_head);
    out_text(c->to, "clock {\n  name = recorded;\n  freq = 1000000000;\n  description = \"");
    put_quoted(c->to, rows_meta(r, "clock"));
    out_text(c->to, "\";\n};\n");
    out_text(c->to, metadata_stream);
    if (r->is_traced)
        put_class(c->to, CALL_CLASS, "call", call_fields);
    for (uint32_t id = 1; !r->is_traced && id <= pfr_model_count(r->model, PFR_TABLE_EVENT); id++)
        put_class(c->to, id, rows_event_name(r, id), sample_fields);
    return PFR_OK;
}

/* --- Packets. */

static void end_packet(struct ctf *c) {
    const uint64_t bits = (PACKET_HEAD + c->events.used) * 8;
    if (!c->events.used)
        return;
    put(c->to, MAGIC, 4);
    put(c->to, 0, 4);
    put(c->to, c->first, 8);
    put(c->to, c->last, 8);
    put(c->to, bits, 8);
    put(c->to, bits, 8);
    put(c->to, c->discarded, 8);
    out_write(c->to, c->events.buffer, c->events.used);
    out_clear(&c->events);
}

/* Ends the packet if records were lost up to this time, so that the packet's context counts the lost records. */
static pfr_status begin_event(struct rows *r, uint32_t id, uint64_t time, pfr_error *err) {
    struct ctf *c = r->state;
    bool is_lost = false;
    for (; c->at < c->nr_losses && c->losses[c->at].time <= time; c->at++) {
        if (!is_lost)
            end_packet(c);
        is_lost = true;
        c->discarded += c->losses[c->at].count;
    }
    if (c->events.used >= PACKET_BYTES)
        end_packet(c);
    if (!c->events.used)
        c->first = time;
    c->last = time;
    put(&c->events, id, 4);
    put(&c->events, time, 8);
    if (c->events.status < 0)
        return mem_fail(r->memory, err, "export");
    return c->to->status < 0 ? out_flush(c->to, err) : PFR_OK;
}

/* Losses after the last event are reported in an empty packet. */
static void end_stream(struct ctf *c) {
    end_packet(c);
    if (c->at == c->nr_losses || !c->last)
        return;
    for (; c->at < c->nr_losses; c->at++) {
        c->discarded += c->losses[c->at].count;
        c->last =
            c->losses[c->at].time > c->last && c->losses[c->at].time != PFR_NO_TIME ? c->losses[c->at].time : c->last;
    }
    put(c->to, MAGIC, 4);
    put(c->to, 0, 4);
    put(c->to, c->last, 8);
    put(c->to, c->last, 8);
    put(c->to, PACKET_HEAD * 8, 8);
    put(c->to, PACKET_HEAD * 8, 8);
    put(c->to, c->discarded, 8);
}

static int earlier_first(const void *a, const void *b) {
    const struct loss *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static pfr_status find_losses(struct rows *r, struct ctf *c, pfr_error *err) {
    const pfr_mark *mark;
    for (uint64_t i = 0; (mark = pfr_model_mark(r->model, i)); i++) {
        struct loss *grown = mem_grow(r->memory, c->losses, c->nr_losses, &c->losses_room, 64, sizeof *grown);
        if (!grown)
            return mem_fail(r->memory, err, "export");
        c->losses = grown;
        if (mark->kind == PFR_MARK_LOST || mark->kind == PFR_MARK_LOST_SAMPLES)
            c->losses[c->nr_losses++] = (struct loss){mark->time, mark->count};
    }
    if (c->nr_losses)
        qsort(c->losses, c->nr_losses, sizeof *c->losses, earlier_first);
    return PFR_OK;
}

/* --- Events. */

/* Writes the callchain, innermost frame first. */
static void put_chain(struct rows *r, uint32_t stack) {
    struct ctf *c = r->state;
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    uint32_t depth = 0;
    for (uint32_t id = stack; id; id = stacks[id].parent)
        depth++;
    put(&c->events, depth, 4);
    for (uint32_t id = stack; id; id = stacks[id].parent)
        put_string(&c->events, rows_symbol(r, stacks[id].symbol));
}

static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct ctf *c = r->state;
    const uint64_t time = s->time == PFR_NO_TIME ? c->last : s->time;
    PFR_TRY(begin_event(r, s->event, time, err));
    put(&c->events, rows_pid(r, s->thread), 4);
    put(&c->events, rows_tid(r, s->thread), 4);
    put_string(&c->events, rows_comm(r, s->comm));
    put(&c->events, s->cpu, 4);
    put(&c->events, s->weight, 8);
    put_chain(r, s->stack);
    return PFR_OK;
}

static pfr_status put_samples(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = put_sample, .in_time_order = true};
    struct ctf *c = r->state;
    PFR_TRY(rows_walk(r, &visit, err));
    end_stream(c);
    return PFR_OK;
}

static pfr_status put_call(struct rows *r, const struct row_call *call, uint32_t thread, pfr_error *err) {
    struct ctf *c = r->state;
    const uint64_t time = call->start > c->last ? call->start : c->last;
    PFR_TRY(begin_event(r, CALL_CLASS, time, err));
    put(&c->events, call->duration, 8);
    put(&c->events, (uint64_t)call->self, 8);
    put(&c->events, rows_pid(r, thread), 4);
    put(&c->events, rows_tid(r, thread), 4);
    put(&c->events, call->depth, 4);
    put_string(&c->events, rows_symbol(r, call->symbol));
    return PFR_OK;
}

/* --- Files. */

static pfr_status write_file(struct rows *r, const char *name, pfr_status (*write)(struct rows *r, pfr_error *err),
                             pfr_error *err) {
    struct ctf *c = r->state;
    struct packed_file file;
    struct output path;
    out_open_memory(&path, r->memory);
    folder_path(&path, r->options->path, name);
    pfr_status st = path.status < 0 ? mem_fail(r->memory, err, "export") : whole_file_may_be(path.buffer, err);
    if (st >= 0)
        st = packed_open(&file, path.buffer, false, r->memory, err);
    if (st >= 0) {
        c->to = file.out;
        st = write(r, err);
        const pfr_status closed = packed_close(&file, st >= 0, st < 0 ? NULL : err);
        st = st < 0 ? st : closed;
    }
    out_close(&path, NULL);
    return st;
}

static pfr_status put_thread_file(struct rows *r, pfr_error *err) {
    struct ctf *c = r->state;
    struct row_calls *calls = r->walking;
    const struct row_call *call;
    c->first = c->last = 0;
    c->discarded = 0;
    c->at = c->nr_losses;
    pfr_status st = row_calls_begin(calls, err);
    while (st >= 0 && (st = row_calls_next(calls, &call, err)) == PFR_OK)
        st = put_call(r, call, calls->thread, err);
    end_packet(c);
    return st < 0 ? st : PFR_OK;
}

static pfr_status put_thread(struct rows *r, struct row_calls *calls, pfr_error *err) {
    struct ctf *c = r->state;
    char name[40] = "thread_";
    PFR_TRY(row_calls_by_start(calls, err));
    r->walking = calls;
    name[7 + format_u64(name + 7, ++c->streams)] = 0;
    return write_file(r, name, put_thread_file, err);
}

static pfr_status write_ctf(struct rows *r, pfr_error *err) {
    struct ctf *c = r->state;
    out_open_memory(&c->events, r->memory);
    c->has_begun = true;
    PFR_TRY(folder_make(r->options->path, err));
    PFR_TRY(write_file(r, "metadata", put_metadata, err));
    PFR_TRY(find_losses(r, c, err));
    if (!r->is_traced)
        return write_file(r, "samples", put_samples, err);
    return rows_each_thread(r, put_thread, err);
}

static void clear(struct rows *r) {
    struct ctf *c = r->state;
    if (c->has_begun)
        out_close(&c->events, NULL);
    mem_free(r->memory, c->losses, c->losses_room, sizeof *c->losses);
}

const struct row_sink sink_ctf = {
    .format = {.name = "ctf",
               .suffix = ".ctf",
               .about = "folder in the Common Trace Format 1.8",
               .binary = true,
               .folder = true,
               .reader = "babeltrace2, Trace Compass",
               .losses = "objects, addresses"},
    .state_size = sizeof(struct ctf),
    .write = write_ctf,
    .clear = clear,
};
