/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of tracepoint samples. Expected texts were printed by perf 6.1 for the same format and record, but for those
 * that break it.
 */
#include "trace_builder.h"

#define FIELD(declaration, offset, size, is_signed)                                                                    \
    "\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

static const char fields[] = FIELD("int a", 8, 4, 1) FIELD("unsigned long b", 16, 8, 0) FIELD("char c[8]", 24, 8, 0)
    FIELD("__data_loc char[] d", 32, 4, 0) FIELD("int e[4]", 36, 16, 1) FIELD("__data_loc int[] f", 52, 4, 0)
        FIELD("void * p", 56, 8, 0);

#define AS_FIELDS                                                                                                      \
    "[FAILED TO PARSE] a=-5 b=0x4d c=cee d=dynstr e=ARRAY[01, 00, 00, 00, 02, 00, 00, 00, fd, ff, ff, ff, 04, 00, "    \
    "00, 00] f=ARRAY[01, 00, 00, 00, 02, 00, 00, 00] p=0xffffffff81000010"

static void put_record(struct builder *r, bool big) {
    static const int e[] = {1, 2, -3, 4};
    *r = (struct builder){.big = big};
    put_common(r, TRACE_ID);
    put_number(r, (uint64_t)-5, 4);
    put_number(r, 0, 4);
    put_number(r, 77, 8);
    put_bytes(r, "cee\0\0\0\0", 8);
    put_number(r, 64 | 7 << 16, 4);
    for (unsigned i = 0; i < 4; i++)
        put_number(r, (uint64_t)e[i], 4);
    put_number(r, 71 | 8 << 16, 4);
    put_number(r, 0xffffffff81000010, 8);
    put_bytes(r, "dynstr", 7);
    put_number(r, 1, 4);
    put_number(r, 2, 4);
}

struct row {
    const char *print, *text;
};

static void check_rows(const struct row *rows, size_t count, bool big) {
    struct builder record;
    put_record(&record, big);
    for (size_t i = 0; i < count; i++) {
        struct trace_case c;
        open_trace(&c, &(struct trace_plan){.fields = fields, .print = rows[i].print, .big = big});
        expect_text(&c, &record, rows[i].text);
        expect_text(&c, &record, rows[i].text);
        close_trace(&c);
    }
    free(record.bytes);
}

static const struct row understood[] = {
    {"\"a=%d b=%lu c=%s d=%s\", REC->a, REC->b, REC->c, __get_str(d)", "a=-5 b=77 c=cee d=dynstr"},
    {"\"plain\"", "plain"},
    {"\"a\" \"b %d\" , REC->a", "ab -5"},
    {"\"%s\", __print_flags(REC->a, \"|\", { 1, \"A\"}, {2, \"B\"})", "A|B|0xfffffff8"},
    {"\"%s\", __print_symbolic(REC->e[0], { 1, \"A\"}, {2, \"B\"})", "A"},
    {"\"%d %d\", REC->e[1], REC->e[2]", "2 -3"},
    {"\"%p %ps %pS\", REC->p, REC->p, REC->p", "0xffffffff81000010 0xffffffff81000010 0xffffffff81000010"},
    {"\"%.3s|%-10s|%5d|%05d|%x\", REC->c, REC->c, REC->a, REC->a, REC->a", "cee|cee       |   -5|-0005|fffffffb"},
    {"\"%llx %hx %hhx %zd\", REC->a, REC->a, REC->a, REC->b", "fffffffb fffb fb 77"},
    {"\"%s\", REC->a ? \"yes\" : \"no\"", "yes"},
    {"\"%d\", __get_dynamic_array_len(f)", "8"},
    {"\"%lu\", (unsigned long)(REC->b) >> 2", "19"},
    {"\"%d\", REC->common_pid", "10"},
    {"\"%s\", __get_bitmask(f)", "00000002,00000001"},
    {"\"%d\", REC->b / 2", "38"},
    {"\"line\\n\\\"x\\\"\"", "line\n\"x\""},
};

TEST(formats_of_kernels_little_endian) {
    check_rows(understood, sizeof understood / sizeof *understood, false);
}

static const struct row broken[] = {
    {"broken", AS_FIELDS},
    {"", AS_FIELDS},
    {"\"%d %d\", REC->a", AS_FIELDS},
    {"\"%d\", nofunc(REC->a)", AS_FIELDS},
    {"\"%d\", REC->a +", AS_FIELDS},
    {"\"%d\", (REC->a", AS_FIELDS},
    {"\"%s %s\", REC->c", AS_FIELDS},
};

TEST(broken_formats_give_the_fields) {
    check_rows(broken, sizeof broken / sizeof *broken, false);
}
