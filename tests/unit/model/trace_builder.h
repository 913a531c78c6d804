/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_TRACE_BUILDER_H
#define PFR_TESTS_TRACE_BUILDER_H
/*
 * Builds tracing data in memory, in either byte order, and a recording with it as its only feature.
 *
 *     struct tracepoint_plan plan = {.print = "\"a=%d\", REC->a",
 *                                    .fields = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"};
 *     struct tracepoint_case c;
 *     open_trace(&c, &plan);
 *     expect_text(&c, record, length, "a=1");
 *     close_trace(&c);
 */
#include "../file/recording_builder.h"
#include "base/text/public_output.h"
#include "model/tracepoint/tracepoint_text.h"

#include <stdio.h>

struct tracepoint_plan {
    const char *fields, *print; /* for event 300 of system "sys" */
    const char *format;         /* the whole text of the format, instead of `fields` and `print` */
    const char *printk, *version;
    bool big, pipe;
    unsigned long_size; /* size of a long in bytes; 0: 8 */
};

struct tracepoint_case {
    struct builder b;
    struct memory memory;
    pfr_reader *reader;
    struct tracepoint_text *text;
    pfr_output out;
};

#define COMMON_FIELDS                                                                                                  \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                             \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                             \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                     \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

enum { TRACE_ID = 300 };

static inline char *format_of(const struct tracepoint_plan *plan) {
    char *text = NULL;
    const int length = plan->format ? asprintf(&text, "%s", plan->format)
                                    : asprintf(&text, "name: ev\nID: %d\nformat:\n" COMMON_FIELDS "%s\nprint fmt: %s\n",
                                               TRACE_ID, plan->fields, plan->print);
    assert_true(length > 0);
    return text;
}

static inline void put_blob_text(struct builder *b, const char *text, unsigned width) {
    put_number(b, strlen(text), width);
    put_bytes(b, text, strlen(text));
}

static inline void put_header_page(struct builder *b, unsigned long_size) {
    char page[200];
    snprintf(page, sizeof page,
             "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
             "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
             "\tfield: char data;\toffset:%u;\tsize:4080;\tsigned:1;\n",
             long_size, 8 + long_size);
    put_bytes(b, "header_page", 12);
    put_blob_text(b, page, 8);
    put_bytes(b, "header_event", 13);
    put_blob_text(b, "", 8);
}

static inline void put_blob(struct builder *b, const struct tracepoint_plan *plan) {
    const unsigned long_size = plan->long_size ? plan->long_size : 8;
    char *format = format_of(plan);
    put_bytes(b, "\x17\x08\x44tracing", 10);
    put_bytes(b, plan->version ? plan->version : "0.6", 4);
    put_number(b, b->big, 1);
    put_number(b, long_size, 1);
    put_number(b, 4096, 4);
    put_header_page(b, long_size);
    put_number(b, 0, 4);
    put_number(b, 1, 4);
    put_bytes(b, "sys", 4);
    put_number(b, 1, 4);
    put_blob_text(b, format, 8);
    put_number(b, 0, 4);
    put_blob_text(b, plan->printk ? plan->printk : "", 4);
    if (!plan->version)
        put_number(b, 0, 8);
    free(format);
}

/* Opens tracing data as a feature of a file, or after a record of a stream, which is then read. */
static inline void put_recording(struct builder *b, const struct tracepoint_plan *plan) {
    struct builder blob = {.big = plan->big};
    b->big = plan->big;
    put_blob(&blob, plan);
    if (plan->pipe) {
        begin_pipe(b, 1);
        put_head(b, 66, 0, 12);
        put_number(b, (blob.length + 7) / 8 * 8, 4);
        put_bytes(b, blob.bytes, blob.length);
        put_room(b, (8 - blob.length % 8) % 8);
    } else {
        begin_file(b, &(struct plan){.header_size = 104, .events = 1, .features = 1 << 1});
        put_comm(b, 1, "one", 0);
        end_file(b);
        put_section(b, b->length + 16, blob.length);
        put_bytes(b, blob.bytes, blob.length);
    }
    free(blob.bytes);
}

static inline void open_trace(struct tracepoint_case *c, const struct tracepoint_plan *plan) {
    pfr_error err = {.status = PFR_OK};
    memset(c, 0, sizeof *c);
    put_recording(&c->b, plan);
    c->reader = open_built(&c->b, NULL);
    read_through(c->reader);
    memory_init(&c->memory, NULL, 0);
    out_open_memory(&c->out.out, &c->memory);
    c->out.raw_names = true;
    ASSERT_OK(tracepoint_text_open(&c->text, c->reader, &c->memory, &err), err);
}

static inline void close_trace(struct tracepoint_case *c) {
    tracepoint_text_close(c->text);
    assert_int_equal(out_close(&c->out.out, NULL), PFR_OK);
    assert_int_equal(c->memory.used, 0);
    pfr_close(c->reader);
    free(c->b.bytes);
}

static inline void expect_text(struct tracepoint_case *c, const struct builder *record, const char *text) {
    pfr_error err;
    size_t length;
    assert_non_null(c->text);
    ASSERT_OK(tracepoint_text_write(c->text, TRACE_ID, record->bytes, record->length, 1, &c->out, &err), err);
    const char *bytes = out_bytes(&c->out.out, &length);
    if (length != strlen(text) || (length && memcmp(bytes, text, length) != 0))
        fail_msg("\"%.*s\" instead of \"%s\"", (int)length, length ? bytes : "", text);
    out_clear(&c->out.out);
}

static inline void put_common(struct builder *record, unsigned id) {
    put_number(record, id, 2);
    put_number(record, 0, 2);
    put_number(record, 10, 4);
}

#endif
