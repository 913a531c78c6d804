/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature TRACING_DATA: the formats of the recorded tracepoints, copied from tracefs. The format is that of trace.dat
 * 0.6 (trace-cmd, trace.dat.5); file/read/tracing_blob.c reads it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/contents/tracing_data.h"
#include "record/contents/machine_feature.h"
#include "wire/feature_bits.h"

#define FORMAT_MOST ((size_t)64 << 10)

struct blob_writing {
    pfr_recorder *r;
    struct output *to;
    char *text; /* FORMAT_MOST bytes */
};

/* Writes the size and text of a tracefs file; size 0 if the file is missing. The last newline, which kernel_text
 * removes, is added again. */
static void put_file(const struct blob_writing *b, const char *path) {
    const ssize_t length = kernel_text(b->text, FORMAT_MOST - 1, b->r->kernel->tracing, "%s", path);
    size_t used = length > 0 ? (size_t)length : 0;
    if (used)
        b->text[used++] = '\n';
    feature_u64(b->to, used);
    out_write(b->to, b->text, used);
}

static const struct typed_event *event_at(const struct blob_writing *b, size_t i) {
    return &b->r->events.at[i];
}

static bool same_point(const struct typed_event *a, const struct typed_event *b) {
    return a->system && b->system && strcmp(a->system, b->system) == 0 && strcmp(a->point, b->point) == 0;
}

/* is_first_of_system: whether event i is the first event of its system. is_first_of_point: of its tracepoint in
 * `system`. */
static bool is_first_of_system(const struct blob_writing *b, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (event_at(b, j)->system && strcmp(event_at(b, j)->system, event_at(b, i)->system) == 0)
            return false;
    return true;
}

static bool is_first_of_point(const struct blob_writing *b, size_t i, const char *system) {
    if (!event_at(b, i)->system || strcmp(event_at(b, i)->system, system) != 0)
        return false;
    for (size_t j = 0; j < i; j++)
        if (same_point(event_at(b, j), event_at(b, i)))
            return false;
    return true;
}

static void put_system(const struct blob_writing *b, const char *system) {
    uint32_t count = 0;
    for (size_t i = 0; i < b->r->events.count; i++)
        count += is_first_of_point(b, i, system);
    out_write(b->to, system, strlen(system) + 1);
    feature_u32(b->to, count);
    for (size_t i = 0; i < b->r->events.count; i++)
        if (is_first_of_point(b, i, system)) {
            char path[600];
            snprintf(path, sizeof path, "events/%s/%s/format", system, event_at(b, i)->point);
            put_file(b, path);
        }
}

static uint32_t count_systems(const struct blob_writing *b) {
    uint32_t count = 0;
    for (size_t i = 0; i < b->r->events.count; i++)
        count += event_at(b, i)->system && is_first_of_system(b, i);
    return count;
}

static void put_blob(const struct blob_writing *b) {
    static const char head[] = "\x17\x08\x44tracing0.6"; /* includes the NUL */
    const uint16_t probe = 1;
    const uint8_t order_and_long[] = {*(const uint8_t *)&probe ? 0 : 1, sizeof(long)};
    out_write(b->to, head, sizeof head);
    out_write(b->to, order_and_long, sizeof order_and_long);
    feature_u32(b->to, (uint32_t)sysconf(_SC_PAGESIZE));
    out_write(b->to, "header_page", 12);
    put_file(b, "events/header_page");
    out_write(b->to, "header_event", 13);
    put_file(b, "events/header_event");
    feature_u32(b->to, 0); /* formats of ftrace's own events */
    feature_u32(b->to, count_systems(b));
    for (size_t i = 0; i < b->r->events.count; i++)
        if (event_at(b, i)->system && is_first_of_system(b, i))
            put_system(b, event_at(b, i)->system);
    feature_u32(b->to, 0); /* kallsyms */
    feature_u32(b->to, 0); /* printk formats */
    feature_u64(b->to, 0); /* names of tasks */
}

static pfr_status keep(pfr_recorder *r, struct output *payload, pfr_error *err) {
    const char *const bytes = out_bytes(payload, &r->file.tracing_blob_size);
    if (payload->status >= 0)
        r->file.tracing_blob = arena_copy(&r->events.arena, bytes, r->file.tracing_blob_size, 8);
    return r->file.tracing_blob ? PFR_OK : mem_fail(&r->memory, err, "tracepoint formats");
}

pfr_status tracing_blob_put(pfr_recorder *r, pfr_error *err) {
    if (!r->file.tracing_blob)
        return PFR_OK;
    return pfr_writer_feature(r->file.writer, BIT_TRACING_DATA, r->file.tracing_blob, r->file.tracing_blob_size, err);
}

pfr_status tracing_blob_read(pfr_recorder *r, pfr_error *err) {
    struct output payload;
    struct blob_writing b = {.r = r, .to = &payload};
    if (count_systems(&b) == 0)
        return PFR_OK;
    b.text = mem_alloc(&r->memory, 1, FORMAT_MOST);
    if (!b.text)
        return mem_fail(&r->memory, err, "tracepoint formats");
    out_open_memory(&payload, &r->memory);
    put_blob(&b);
    const pfr_status status = keep(r, &payload, err);
    out_close(&payload, NULL);
    mem_free(&r->memory, b.text, 1, FORMAT_MOST);
    return status;
}
