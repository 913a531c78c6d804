/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the tracing data, in both byte orders, and truncated at every byte. */
#include "file/read/tracing_blob.h"
#include "recording_builder.h"

static const char event[] = "name: ev\nID: 300\nformat:\n\nprint fmt: \"x\"\n";
static const char own[] = "name: function\nID: 1\nformat:\n\nprint fmt: \"y\"\n";

static void put_sized(struct builder *b, const char *text, unsigned width) {
    put_number(b, strlen(text), width);
    put_bytes(b, text, strlen(text));
}

static void put_blob(struct builder *b, const char *version) {
    put_bytes(b, "\x17\x08\x44tracing", 10);
    put_bytes(b, version, 4);
    put_number(b, b->big, 1);
    put_number(b, 8, 1);
    put_number(b, 4096, 4);
    put_bytes(b, "header_page", 12);
    put_sized(b, "page", 8);
    put_bytes(b, "header_event", 13);
    put_sized(b, "event", 8);
    put_number(b, 1, 4);
    put_sized(b, own, 8);
    put_number(b, 1, 4);
    put_bytes(b, "sys", 4);
    put_number(b, 1, 4);
    put_sized(b, event, 8);
    put_sized(b, "ffffffff81000000 T _stext\n", 4);
    put_sized(b, "0x10 : \"text\"\n", 4);
    if (strcmp(version, "0.6") >= 0)
        put_sized(b, "7 seven\n", 8);
}

static void expect_bytes(const pfr_bytes *bytes, const char *text) {
    assert_int_equal(bytes->length, strlen(text));
    if (bytes->length)
        assert_memory_equal(bytes->at, text, bytes->length);
}

static void check_parts(bool big, const char *version) {
    struct builder b = {.big = big};
    struct tracing_blob blob;
    struct tracing_format f;
    struct tracing_rest rest;
    pfr_error err;
    put_blob(&b, version);
    ASSERT_OK(blob_open(&blob, b.bytes, b.length, 0, &err), err);
    ASSERT_OK(blob_next_ftrace(&blob, &f, &err), err);
    assert_int_equal(f.id, 1);
    assert_memory_equal(f.system.at, "ftrace", 7);
    ASSERT_STATUS(blob_next_ftrace(&blob, &f, &err), PFR_END, err);
    ASSERT_OK(blob_next(&blob, &f, &err), err);
    assert_int_equal(f.id, 300);
    assert_memory_equal(f.name.at, "ev", 2);
    ASSERT_STATUS(blob_next(&blob, &f, &err), PFR_END, err);
    ASSERT_OK(blob_rest(&blob, &rest, &err), err);
    expect_bytes(&rest.kallsyms, "ffffffff81000000 T _stext\n");
    expect_bytes(&rest.printk, "0x10 : \"text\"\n");
    expect_bytes(&rest.cmdlines, strcmp(version, "0.6") >= 0 ? "7 seven\n" : "");
    free(b.bytes);
}

TEST(the_parts_of_tracing_data) {
    check_parts(false, "0.6");
    check_parts(true, "0.6");
    check_parts(false, "0.5");
}

/* Every prefix ends with one error; no prefix gives all parts. */
TEST(tracing_data_cut_anywhere) {
    struct builder b = {0};
    put_blob(&b, "0.6");
    for (size_t length = 0; length < b.length; length++) {
        struct tracing_blob blob;
        struct tracing_format f;
        struct tracing_rest rest;
        pfr_error err = {.text = ""};
        pfr_status s = blob_open(&blob, b.bytes, length, 0, &err);
        while (s == PFR_OK && (s = blob_next(&blob, &f, &err)) == PFR_OK)
            ;
        if (s == PFR_END)
            s = blob_rest(&blob, &rest, &err);
        assert_int_equal(s, PFR_ERR_DAMAGE);
        assert_true(err.text[0] && err.offset <= length);
    }
    free(b.bytes);
}
