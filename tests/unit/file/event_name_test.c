/* SPDX-License-Identifier: Apache-2.0 */
/* Unrecorded event names, reconstructed from the attr: a table of attrs and the names that perf 6.1 shows. */
#include "recorded_files.h"
#include "recording_builder.h"

enum { X_USER = 1 << 4, X_KERNEL = 1 << 5, X_HV = 1 << 6, PRECISE = 1 << 15, X_HOST = 1 << 19, X_GUEST = 1 << 20 };

static const struct row {
    uint32_t type, bp_type;
    uint64_t config, flags, config1;
    const char *name;
} rows[] = {
    {0, 0, 0, X_GUEST, 0, "cycles"},
    {0, 0, 1, X_GUEST, 0, "instructions"},
    {0, 0, 4, X_GUEST, 0, "branches"},
    {0, 0, 9, X_GUEST, 0, "ref-cycles"},
    {0, 0, 77, X_GUEST, 0, "unknown-hardware"},
    {1, 0, 0, 0, 0, "cpu-clock:HG"},
    {1, 0, 0, X_GUEST, 0, "cpu-clock"},
    {1, 0, 0, X_KERNEL | X_HV, 0, "cpu-clock:u"},
    {1, 0, 0, X_KERNEL | X_HV | X_GUEST, 0, "cpu-clock:uH"},
    {1, 0, 0, X_USER | X_GUEST, 0, "cpu-clock:khH"},
    {1, 0, 0, X_USER | X_KERNEL | X_HV, 0, "cpu-clock"},
    {1, 0, 0, X_HOST, 0, "cpu-clock:G"},
    {1, 0, 2, X_GUEST, 0, "page-faults"},
    {1, 0, 11, X_GUEST, 0, "cgroup-switches"},
    {1, 0, 99, X_GUEST, 0, "unknown-software"},
    {0, 0, 0, 2 * PRECISE | X_GUEST, 0, "cycles:ppH"},
    {0, 0, 0, 3 * PRECISE | X_KERNEL | X_HV | X_GUEST, 0, "cycles:upppH"},
    {0, 0, 0, 2 * PRECISE, 0, "cycles:pp"},
    {3, 0, 0x00000, X_GUEST, 0, "L1-dcache-loads"},
    {3, 0, 0x10000, X_GUEST, 0, "L1-dcache-load-misses"},
    {3, 0, 0x00103, X_GUEST, 0, "dTLB-stores"},
    {3, 0, 0x10206, X_GUEST, 0, "node-prefetch-misses"},
    {3, 0, 0x000ff, X_GUEST, 0, "unknown-ext-hardware-cache-type"},
    {4, 0, 0x1a2, X_GUEST, 0, "raw 0x1a2"},
    {5, 3, 0, X_GUEST, 0x404060, "mem:0x404060:rw"},
    {5, 4, 0, X_GUEST, 0x1000, "mem:0x1000:x"},
    {2, 0, 42, 0, 0, "unknown tracepoint"},
    {9, 0, 42, 0, 0, "unknown attr type: 9"},
};

static uint64_t mirror(uint64_t flags) {
    uint64_t mirrored = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        if (bit != 16) /* precise_ip is two bits wide: its value is not changed */
            mirrored |= (flags >> bit & 1) << (63 - bit);
    const uint64_t precise = flags >> 15 & 3;
    return (mirrored & ~(3ull << 47)) | precise << 47;
}

static void put_row(struct builder *b, const struct row *row) {
    put_head(b, 64, 0, 8 + BUILT_ATTR);
    put_number(b, row->type, 4);
    put_number(b, BUILT_ATTR, 4);
    put_number(b, row->config, 8);
    put_room(b, 24);
    put_number(b, b->big ? mirror(row->flags) : row->flags, 8);
    put_number(b, 0, 4);
    put_number(b, row->bp_type, 4);
    put_number(b, row->config1, 8);
}

TEST(names_are_rebuilt_as_perf_does) {
    const unsigned count = sizeof rows / sizeof *rows;
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        begin_pipe(&b, 0);
        for (unsigned i = 0; i < count; i++)
            put_row(&b, &rows[i]);
        pfr_reader *r = open_built(&b, NULL);
        assert_int_equal(read_through(r).records, count);
        for (unsigned i = 0; i < count; i++) {
            const pfr_event *event = pfr_get_event(r, i);
            assert_string_equal(event->name, rows[i].name);
            assert_false(event->named);
        }
        assert_null(pfr_get_event(r, count));
        pfr_close(r);
        free(b.bytes);
    }
}

static void put_update(struct builder *b, uint64_t kind, uint64_t id, const char *text) {
    const size_t room = (strlen(text) + 8) / 8 * 8;
    put_head(b, 78, 0, 24 + room);
    put_number(b, kind, 8);
    put_number(b, id, 8);
    memcpy(put_room(b, room), text, strlen(text));
}

TEST(event_update_sets_name_and_unit) {
    struct builder b = {0};
    begin_pipe(&b, 2);
    put_update(&b, 2, FIRST_ID + 1, "my event");
    put_update(&b, 0, FIRST_ID + 1, "Joules");
    put_update(&b, 2, 9999, "nobody's");
    pfr_reader *r = open_built(&b, NULL);
    assert_int_equal(read_through(r).records, 5);
    assert_string_equal(pfr_get_event(r, 1)->name, "my event");
    assert_string_equal(pfr_get_event(r, 1)->unit, "Joules");
    assert_true(pfr_get_event(r, 1)->named);
    assert_string_equal(pfr_get_event(r, 0)->name, "cpu-clock:HG");
    assert_null(pfr_get_event(r, 0)->unit);
    pfr_close(r);
    free(b.bytes);
}

static void expect_names(const char *file, const char *const *names) {
    char path[RECORDED_PATH];
    pfr_error err;
    pfr_reader *r = pfr_open(recorded_path(path, file), NULL, &err);
    assert_non_null(r);
    read_through(r);
    for (unsigned i = 0; names[i]; i++) {
        assert_non_null(pfr_get_event(r, i));
        assert_string_equal(pfr_get_event(r, i)->name, names[i]);
    }
    pfr_close(r);
}

TEST(recorded_names_are_those_of_perf_evlist) {
    expect_names("cpu-clock.data", (const char *const[]){"cpu-clock", NULL});
    expect_names("two-events.data", (const char *const[]){"cpu-clock", "page-faults", NULL});
    expect_names("breakpoint.data", (const char *const[]){"mem:0x0000000000404060:w", NULL});
    expect_names("tracepoints.data", (const char *const[]){"raw_syscalls:sys_exit", "sched:sched_process_fork",
                                                           "sched:sched_process_exec", NULL});
    expect_names("pipe-tracepoints.data",
                 (const char *const[]){"sched:sched_process_fork", "sched:sched_process_exit", NULL});
}

/* sched:NAME with this number of letters. */
static void expect_tracepoint(bool big, unsigned letters, bool is_named) {
    char name[300] = {0}, format[400], expected[400];
    struct builder b = {.big = big};
    memset(name, 'n', letters);
    snprintf(format, sizeof format, "name: %s\nID: 6\n", name);
    snprintf(expected, sizeof expected, "sched:%s", name);
    begin_pipe(&b, 1);
    set_number(&b, b.bytes + b.data + 8, 2, 4);
    set_number(&b, b.bytes + b.data + 8 + 8, 6, 8);
    put_tracing_data(&b, "sched", format);
    put_sample(&b, 1, 0);
    pfr_reader *r = open_built(&b, NULL);
    const struct tally t = read_through(r);
    assert_int_equal(t.samples, 1);
    assert_int_equal(t.holes, 0);
    assert_string_equal(pfr_get_event(r, 0)->name, is_named ? expected : "unknown tracepoint");
    pfr_close(r);
    free(b.bytes);
}

TEST(a_tracepoint_has_the_name_of_its_format_unless_that_is_none) {
    for (unsigned big = 0; big < 2; big++) {
        expect_tracepoint(big, 6, true);
        expect_tracepoint(big, 280, true);
        expect_tracepoint(big, 0, false);
    }
}
