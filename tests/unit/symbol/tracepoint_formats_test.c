/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of tracepoint formats: each form of declaration, old kernels, damage. */
#include <string.h>
#include "model/tracepoint/tracepoint_formats.h"
#include "test.h"
#include "base/failing_alloc.h"

static const char *const sample = "name: sample_event\n"
                                  "ID: 365\n"
                                  "format:\n"
                                  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                                  "\n"
                                  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                  "\tfield:unsigned long addrs[4];\toffset:24;\tsize:32;\tsigned:0;\n"
                                  "\tfield:__data_loc char[] filename;\toffset:56;\tsize:4;\tsigned:0;\n"
                                  "\tfield:__rel_loc u32[] words;\toffset:60;\tsize:4;\tsigned:0;\n"
                                  "\tfield:const char * text;\toffset:64;\tsize:8;\tsigned:0;\n"
                                  "\tfield:char symbolic[TASK_COMM_LEN];\toffset:72;\tsize:16;\n"
                                  "\n"
                                  "print fmt: \"%s %d\", REC->comm,\n REC->common_pid\n";

static pfr_status read_sample(const char *text, size_t length, struct memory *memory, struct arena *arena,
                              struct event_format *format, pfr_error *err) {
    arena_init(arena, memory);
    return text_format_source.read(text, length, "samples", arena, format, err);
}

static void assert_field(const struct event_format *format, const char *name, const char *type, uint32_t offset,
                         uint32_t size, uint32_t elements) {
    const struct format_field *field = find_format_field(format, name);
    assert_non_null(field);
    assert_string_equal(field->type, type);
    assert_int_equal(field->offset, offset);
    assert_int_equal(field->size, size);
    assert_int_equal(field->elements, elements);
}

TEST(tracepoint_format_fields) {
    struct memory memory;
    struct arena arena;
    struct event_format format;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(read_sample(sample, strlen(sample), &memory, &arena, &format, &err), err);
    assert_string_equal(format.system, "samples");
    assert_string_equal(format.name, "sample_event");
    assert_string_equal(format.print_fmt, "\"%s %d\", REC->comm,\n REC->common_pid");
    assert_int_equal(format.id, 365);
    assert_int_equal(format.field_count, 8);
    assert_field(&format, "common_type", "unsigned short", 0, 2, 0);
    assert_field(&format, "comm", "char[16]", 8, 16, 16);
    assert_field(&format, "addrs", "unsigned long[4]", 24, 32, 4);
    assert_field(&format, "filename", "__data_loc char[]", 56, 4, 0);
    assert_field(&format, "words", "__rel_loc u32[]", 60, 4, 0);
    assert_field(&format, "text", "const char *", 64, 8, 0);
    assert_field(&format, "symbolic", "char[TASK_COMM_LEN]", 72, 16, 0);
    assert_null(find_format_field(&format, "nothing"));
    arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

TEST(tracepoint_format_kinds_of_fields) {
    struct memory memory;
    struct arena arena;
    struct event_format format;
    memory_init(&memory, NULL, 0);
    assert_int_equal(read_sample(sample, strlen(sample), &memory, &arena, &format, NULL), PFR_OK);
    const struct format_field *f = format.fields;
    assert_true(f[0].is_common && f[1].is_common && !f[2].is_common);
    assert_true(f[1].is_signed && !f[0].is_signed && !f[7].is_signed);
    assert_true(f[2].is_array && f[2].is_string && !f[2].data_loc);
    assert_true(f[3].is_array && !f[3].is_string);
    assert_true(f[4].data_loc && f[4].is_string && !f[4].rel_loc);
    assert_true(f[5].rel_loc && !f[5].is_string && !f[5].data_loc);
    assert_true(f[6].is_pointer && !f[6].is_string && !f[6].is_array);
    assert_true(f[7].is_string);
    arena_free(&arena);
}

static void assert_refused(const char *text, pfr_status status) {
    struct memory memory;
    struct arena arena;
    struct event_format format;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_STATUS(read_sample(text, strlen(text), &memory, &arena, &format, &err), status, err);
    assert_true(err.offset <= strlen(text));
    arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

TEST(tracepoint_format_damage_is_refused) {
    assert_refused("", PFR_ERR_DAMAGE);
    assert_refused("name: x\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: y\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 4294967296\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:int;\toffset:0;\tsize:4;\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:;\toffset:0;\tsize:4;\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:int a[];\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:[3];\toffset:0;\tsize:4;\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:int ];\toffset:0;\tsize:4;\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:int a;\toffset:-1;\tsize:4;\n", PFR_ERR_DAMAGE);
    assert_refused("name: x\nID: 1\n\tfield:int a;\toffset:4294967295;\tsize:4;\n", PFR_ERR_DAMAGE);
}

TEST(tracepoint_format_takes_every_truncation) {
    for (size_t length = 0; length < strlen(sample); length++) {
        struct memory memory;
        struct arena arena;
        struct event_format format;
        pfr_error err = {.offset = 0};
        char *copy = malloc(length ? length : 1);
        assert_non_null(copy);
        memcpy(copy, sample, length);
        memory_init(&memory, NULL, 0);
        read_sample(copy, length, &memory, &arena, &format, &err);
        assert_true(err.offset <= length);
        arena_free(&arena);
        free(copy);
    }
}

TEST(tracepoint_format_every_allocation_fails_once) {
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        struct memory memory;
        struct arena arena;
        struct event_format format;
        pfr_error err;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const pfr_status status = read_sample(sample, strlen(sample), &memory, &arena, &format, &err);
        arena_free(&arena);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (!failing.has_failed)
            break;
    }
}
