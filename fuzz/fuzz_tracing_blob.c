/* SPDX-License-Identifier: Apache-2.0 */
/* The tracing data of a recording, and the text of each of its formats. All views must be inside the bytes. */
#include "file/read/tracing_blob.h"
#include "fuzz.h"
#include "model/tracepoint/tracepoint_formats.h"

struct range {
    const uint8_t *start, *end;
};

static void check_text(const struct range *in, const pfr_text *text) {
    const uint8_t *at = (const uint8_t *)text->at;
    LAW(!at || (at >= in->start && at <= in->end && text->length <= (size_t)(in->end - at)),
        "a text of %u bytes outside", text->length);
}

static void check_rest(const struct range *in, struct tracing_blob *blob) {
    struct tracing_rest rest;
    pfr_error err;
    const pfr_status s = blob_rest(blob, &rest, &err);
    LAW(s == PFR_OK || err.text[0], "%s without a word", pfr_status_name(s));
    const pfr_bytes *parts[] = {&rest.kallsyms, &rest.printk, &rest.cmdlines};
    for (size_t i = 0; i < 3; i++)
        LAW(!parts[i]->at || (parts[i]->at >= in->start && parts[i]->length <= (uint64_t)(in->end - parts[i]->at)),
            "part %zu lies outside", i);
}

static void read_text(const struct tracing_format *f) {
    struct memory memory;
    struct arena arena;
    struct event_format format;
    pfr_error err;
    memory_init(&memory, NULL, fuzz_limits.memory);
    arena_init(&arena, &memory);
    const pfr_status s = text_format_source.read(f->text.at, f->text.length, "fuzz", &arena, &format, &err);
    LAW(s == PFR_OK || err.text[0], "%s without a word", pfr_status_name(s));
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const struct range all = {bytes, bytes + length};
    struct tracing_blob blob;
    struct tracing_format f;
    pfr_error err;
    pfr_status s = blob_open(&blob, bytes, length, 0, &err);
    for (size_t formats = 0; s == PFR_OK && (s = blob_next(&blob, &f, &err)) == PFR_OK; formats++) {
        LAW(formats < length, "more formats than bytes");
        check_text(&all, &f.system);
        check_text(&all, &f.name);
        check_text(&all, &f.text);
        read_text(&f);
    }
    for (size_t formats = 0; s == PFR_END && blob_next_ftrace(&blob, &f, &err) == PFR_OK; formats++) {
        LAW(formats < length, "more formats than bytes");
        check_text(&all, &f.text);
    }
    if (s == PFR_END)
        check_rest(&all, &blob);
    if (s < 0)
        fuzz_check_error(&err, s, length);
    return 0;
}
