/* SPDX-License-Identifier: Apache-2.0 */
/* Converts traces to every version and byte order: the number of calls stays the same, and damage is repaired. */
#include "../file/recorded_files.h"
#include "../file/xray_files.h"
#include "made_file.h"

#include <perfray/trace.h>
#include <string.h>

static uint64_t count_calls(pfr_reader *r) {
    return count_type(r, PFR_TRACE_FUNCTION) + count_type(r, PFR_TRACE_BASIC_FUNCTION);
}

static void check_form(struct made_file *m, const char *path, pfr_edit_trace form, pfr_order order) {
    pfr_error err = {.text = ""};
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    const uint64_t calls = count_calls(r);
    ASSERT_OK(pfr_rewind(r, &err), err);
    unlink(m->path);
    const pfr_edit_options how = {.size = sizeof how, .path = m->path, .order = order, .trace = form};
    const pfr_status s = pfr_convert(r, &how, &m->counts, &err);
    assert_true(s == PFR_OK || (s == PFR_HOLE && m->counts.lost > 0)); /* the version cannot express some events */
    pfr_reader *made = pfr_open(m->path, NULL, &err);
    assert_non_null(made);
    assert_int_equal(count_calls(made), calls);
    assert_int_equal(pfr_get_header(made)->version, form == PFR_EDIT_TRACE_BASIC ? 3 : form);
    assert_int_equal(pfr_get_header(made)->big_endian, order == PFR_ORDER_BIG);
    pfr_close(made);
    pfr_close(r);
}

static void check_forms(const char *path, void *context) {
    if (strstr(path, "/profile"))
        return;
    for (unsigned form = PFR_EDIT_TRACE_FDR_1; form <= PFR_EDIT_TRACE_BASIC; form++) {
        check_form(context, path, (pfr_edit_trace)form, PFR_ORDER_LITTLE);
        check_form(context, path, (pfr_edit_trace)form, PFR_ORDER_BIG);
    }
}

TEST(calls_are_kept_in_every_version_and_byte_order) {
    struct made_file m;
    made_open(&m);
    assert_int_equal(each_trace(check_forms, &m), 23);
    made_close(&m);
}

/* A record of a basic log: kind, cpu, action, function, ticks, tid, pid; little-endian. */
static void put_basic(uint8_t *to, uint32_t function, uint8_t tsc) {
    memset(to, 0, 32);
    memcpy(to + 4, &function, sizeof function);
    to[8] = tsc;
    to[16] = to[20] = 7;
}

static void check_large_function(struct made_file *m, pfr_edit_trace form, uint64_t lost) {
    static const uint32_t functions[] = {1, 0x0fffffff, 0x50000000, 2};
    uint8_t bytes[32 + sizeof functions / sizeof *functions * 32] = {3, 0, 0, 0, 3};
    pfr_error err = {.text = ""};
    bytes[9] = 1; /* 256 ticks a second */
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        put_basic(bytes + 32 + 32 * i, functions[i], (uint8_t)(10 + i));
    pfr_reader *r = pfr_open_bytes(bytes, sizeof bytes, NULL, &err);
    assert_non_null(r);
    unlink(m->path);
    const pfr_edit_options how = {.size = sizeof how, .path = m->path, .trace = form};
    assert_int_equal(pfr_convert(r, &how, &m->counts, &err), lost ? PFR_HOLE : PFR_OK);
    assert_int_equal(m->counts.lost, lost);
    pfr_close(r);
    r = pfr_open(m->path, NULL, &err);
    assert_non_null(r);
    assert_int_equal(count_calls(r), sizeof functions / sizeof *functions - lost);
    pfr_close(r);
}

/* Records of flight-recorder traces have 28 bits for the function. */
TEST(calls_of_functions_that_do_not_fit_are_lost) {
    struct made_file m;
    made_open(&m);
    check_large_function(&m, PFR_EDIT_TRACE_BASIC, 0);
    for (unsigned form = PFR_EDIT_TRACE_FDR_1; form < PFR_EDIT_TRACE_BASIC; form++)
        check_large_function(&m, (pfr_edit_trace)form, 1);
    made_close(&m);
}

TEST(a_trace_truncated_anywhere_is_repaired) {
    char path[RECORDED_PATH];
    struct made_file m;
    size_t length;
    uint8_t *bytes = load_whole(recorded_path(path, "../xray/fdr-v5.xray"), &length);
    made_open(&m);
    for (size_t end = 40; end < length; end += 7) {
        pfr_error err = {.text = ""};
        pfr_reader *r = pfr_open_bytes(bytes, end, NULL, &err);
        assert_non_null(r);
        unlink(m.path);
        const pfr_edit_options how = {.size = sizeof how, .path = m.path};
        assert_true(pfr_recover(r, &how, NULL, &err) >= 0);
        pfr_reader *made = pfr_open(m.path, NULL, &err);
        assert_non_null(made);
        count_calls(made); /* fails at a hole */
        pfr_close(made);
        pfr_close(r);
    }
    made_close(&m);
    free(bytes);
}

/* --- Arguments of one call. */

#define ARGUMENTS 40u

static uint8_t *put_record(uint8_t *at, unsigned kind, uint64_t first) {
    memset(at, 0, 16);
    at[0] = (uint8_t)(kind << 1 | 1);
    for (size_t i = 0; i < 8; i++)
        at[1 + i] = (uint8_t)(first >> 8 * i);
    return at + 16;
}

/* A trace of version 3 with one buffer of the size in the header: a call with more arguments than fit into a buffer of
 * version 1. */
static size_t put_trace_of_arguments(uint8_t *to) {
    static const uint8_t header[32] = {3, 0, 1, [8] = 0x40, 0x42, 0x0f, [17] = 1};
    uint8_t *at = to + sizeof header, *const extents = at;
    memcpy(to, header, sizeof header);
    at = put_record(at, 7, 0);
    at = put_record(at, 0, 101);
    at = put_record(at, 4, 1);
    at = put_record(at, 9, 7);
    at = put_record(at, 2, 1000 << 16);
    const uint8_t call[8] = {1u << 4};
    memcpy(at, call, sizeof call);
    at += sizeof call;
    for (unsigned i = 0; i < ARGUMENTS; i++)
        at = put_record(at, 6, i);
    put_record(extents, 7, (uint64_t)(at - extents) - 16);
    return (size_t)(at - to);
}

TEST(arguments_outside_of_buffers_are_reported) {
    uint8_t bytes[1024];
    struct made_file m;
    pfr_error err = {.text = ""};
    made_open(&m);
    pfr_reader *r = pfr_open_bytes(bytes, put_trace_of_arguments(bytes), NULL, &err);
    assert_non_null(r);
    assert_int_equal(count_type(r, PFR_TRACE_CALL_ARGUMENT), ARGUMENTS);
    ASSERT_OK(pfr_rewind(r, &err), err);
    const pfr_edit_options how = {.size = sizeof how, .path = m.path, .trace = PFR_EDIT_TRACE_FDR_1};
    ASSERT_STATUS(pfr_convert(r, &how, &m.counts, &err), PFR_HOLE, err);
    pfr_reader *made = pfr_open(m.path, NULL, &err);
    assert_non_null(made);
    const uint64_t kept = count_type(made, PFR_TRACE_CALL_ARGUMENT);
    assert_int_equal(pfr_get_header(made)->buffer_size, 256);
    assert_int_equal(kept + m.counts.lost, ARGUMENTS);
    assert_true(kept > 8);
    pfr_close(made);
    pfr_close(r);
    made_close(&m);
}

TEST(profiles_and_other_forms_are_refused) {
    char path[RECORDED_PATH];
    struct made_file m;
    pfr_error err = {.text = ""};
    made_open(&m);
    pfr_reader *r = pfr_open(recorded_path(path, "../xray/profile.xray"), NULL, &err);
    assert_null(made_from(&m, r, false, (pfr_edit_options){.level = 0}, PFR_ERR_USAGE));
    pfr_close(r);
    r = pfr_open(recorded_path(path, "../xray/fdr-v3.xray"), NULL, &err);
    assert_null(made_from(&m, r, true, (pfr_edit_options){.attr_size = 64}, PFR_ERR_USAGE));
    assert_null(made_from(&m, r, true, (pfr_edit_options){.to_form = true, .container = PFR_PIPE}, PFR_ERR_USAGE));
    pfr_close(r);
    made_close(&m);
}
