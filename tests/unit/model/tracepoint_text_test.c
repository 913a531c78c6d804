/* SPDX-License-Identifier: Apache-2.0 */
/* The text of tracepoint samples. perf 6.1 printed the expected texts for the same format and record, except for
 * damaged ones. */
#include "../base/failing_alloc.h"
#include "trace_builder.h"

#include <dirent.h>

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
        struct tracepoint_case c;
        open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = rows[i].print, .big = big, .pipe = big});
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

/* libtraceevent would print `c` as numbers from the first unprintable value on, in later records as well. */
TEST(what_a_field_is_printed_as_depends_on_its_own_value) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = FIELD("char c[8]", 24, 8, 0), .print = "broken"});
    expect_text(&c, &record, "[FAILED TO PARSE] c=cee");
    record.bytes[25] = 1;
    expect_text(&c, &record, "[FAILED TO PARSE] c=ARRAY[63, 01, 65, 00, 00, 00, 00, 00]");
    record.bytes[25] = 'a';
    expect_text(&c, &record, "[FAILED TO PARSE] c=cae");
    close_trace(&c);
    free(record.bytes);
}

TEST(formats_of_kernels_big_endian) {
    check_rows(understood, sizeof understood / sizeof *understood - 4, true);
}

/* Print formats outside of perfray's own grammar, which libtraceevent formats in a child process. For formats of real
 * kernels, the text equals perf's. */
static const struct row apart[] = {
    {"\"%.*s\", 2, REC->c", "ce"},
    {"\"%s\", __print_array(REC->e, 2, 4)", "1 2"},
    {"\"%pM %pI4\", REC->e, REC->e", "INVALIDMAC INVALIDIPv4"},
    {"\"%d %d\", REC->a, REC->a, REC->b", "-5 -5"},
};

/* The child process needs a filter of system calls, which the emulated big-endian machine of the tests does not have.
 * Besides, libtraceevent 1.7 does not swap elements of arrays and addresses of texts (docs/differences.md). */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(unknown_forms_are_printed_apart) {
    check_rows(apart, sizeof apart / sizeof *apart, false);
}
#endif

/* Each of these formats ends the child process that runs libtraceevent, keeps it busy, or fills its memory. */
static const struct row hostile[] = {
    {"\"%d\", REC->a / 0", AS_FIELDS},
    {"\"%d\", REC->a % REC->e[0] - 1", AS_FIELDS},
    {"\"%-", AS_FIELDS},
    {"\"%99999999d\", REC->a", AS_FIELDS},
    {"\"%*d\", 99999999, REC->a", AS_FIELDS},
    {"\"%s\", __print_array(REC->e, 99999999, 4)", AS_FIELDS},
    {"\"%s\", __print_hex(REC->e, REC->b * 9999)", AS_FIELDS},
};

TEST(hostile_formats_give_the_fields) {
    check_rows(hostile, sizeof hostile / sizeof *hostile, false);
}

static char *repeated(const char *front, const char *unit, unsigned count, const char *middle, const char *back) {
    char *text = malloc(strlen(front) + strlen(middle) + count * (strlen(unit) + strlen(back)) + 1), *at = text;
    assert_non_null(text);
    at = stpcpy(at, front);
    for (unsigned i = 0; i < count; i++)
        at = stpcpy(at, unit);
    at = stpcpy(at, middle);
    for (unsigned i = 0; i < count; i++)
        at = stpcpy(at, back);
    return text;
}

/* libtraceevent 1.7 dereferences a null pointer for the length of a relative location. */
TEST(the_length_of_a_relative_place) {
    struct tracepoint_case c;
    struct builder record = {0};
    put_common(&record, TRACE_ID);
    put_number(&record, 0 | 4 << 16, 4);
    put_bytes(&record, "rel", 4);
    open_trace(&c, &(struct tracepoint_plan){.fields = FIELD("__rel_loc char[] r", 8, 4, 0),
                                             .print = "\"%d\", __get_rel_dynamic_array_len(r)"});
    expect_text(&c, &record, "[FAILED TO PARSE] r=rel");
    close_trace(&c);
    open_trace(&c, &(struct tracepoint_plan){.fields = FIELD("__rel_loc char[] r", 8, 4, 0),
                                             .print = "\"%s\", __get_rel_str(r)"});
    expect_text(&c, &record, "rel");
    set_number(&record, record.bytes + 8, 1 | 4 << 16, 4);
    expect_text(&c, &record, "");
    close_trace(&c);
    free(record.bytes);
}

TEST(deep_formats_end_nothing) {
    char *deep[] = {repeated("\"%d\", ", "(", 60000, "1", ")"), repeated("\"%d\", ", "(", 30000, "1", ")"),
                    repeated("\"%d\", 1", " + 1", 30000, "", ""), repeated("\"%d\", ", "1 ? ", 30000, "1", " : 1")};
    struct builder record;
    put_record(&record, false);
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        struct tracepoint_case c;
        pfr_error err;
        open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = deep[i]});
        ASSERT_OK(tracepoint_text_write(c.text, TRACE_ID, record.bytes, record.length, 0, &c.out, &err), err);
        close_trace(&c);
        free(deep[i]);
    }
    free(record.bytes);
}

TEST(places_outside_of_the_record_are_empty) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = "\"%s|%s\", __get_str(d), __get_bitmask(f)"});
    expect_text(&c, &record, "dynstr|00000002,00000001");
    set_number(&record, record.bytes + 32, 8000 | 7 << 16, 4);
    expect_text(&c, &record, "|00000002,00000001");
    set_number(&record, record.bytes + 32, 64 | 6 << 16, 4);
    record.bytes[70] = 'X'; /* no NUL: extends to the end of the record */
    set_number(&record, record.bytes + 52, 71 | 9u << 16, 4);
    expect_text(&c, &record, "dynstrX\1|");
    close_trace(&c);
    free(record.bytes);
}

TEST(short_records_are_marked) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = "\"%d\", REC->a"});
    record.length = 63;
    expect_text(&c, &record, "[63 of 64 bytes]");
    record.length = 0;
    expect_text(&c, &record, "[0 of 64 bytes]");
    record.length = 64;
    expect_text(&c, &record, "-5");
    close_trace(&c);
    free(record.bytes);
}

TEST(fields_outside_of_any_record_are_never_read) {
    static const char *const odd[] = {
        FIELD("int a", 4294967290, 4, 1),
        FIELD("int a", 8, 4294967295, 1),
        FIELD("int a[99999999]", 8, 4, 1),
        FIELD("int", 8, 4, 1),
        "\tfield:int a;\n",
        FIELD("int a", -8, 4, 1),
    };
    struct builder record;
    put_record(&record, false);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct tracepoint_case c;
        pfr_error err;
        open_trace(&c, &(struct tracepoint_plan){.fields = odd[i], .print = "\"%d\", REC->a"});
        ASSERT_OK(tracepoint_text_write(c.text, TRACE_ID, record.bytes, record.length, 0, &c.out, &err), err);
        close_trace(&c);
    }
    free(record.bytes);
}

TEST(the_record_says_which_format) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = "\"%d\", REC->a"});
    set_number(&record, record.bytes, 999, 2); /* no such format: uses that of the event */
    expect_text(&c, &record, "-5");
    pfr_error err;
    ASSERT_OK(tracepoint_text_write(c.text, 998, record.bytes, record.length, 0, &c.out, &err), err);
    assert_int_equal(c.out.out.used, 0);
    close_trace(&c);
    free(record.bytes);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
TEST(printk_texts_stand_for_addresses) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(
        &c,
        &(struct tracepoint_plan){
            .fields = fields,
            .print = "\"%s\", REC->p",
            .printk =
                "junk\n0xffffffff81000010 : \"hello %d\\n\"\n0x : \"\"\n:\n0x10 : \"a\"\n0x11 : \"\\n\"\n0x12 : \n"});
    expect_text(&c, &record, "hello %d");
    close_trace(&c);
    free(record.bytes);
}
#endif

static const char *name_it(void *context, uint64_t address, uint64_t *start, const char **module) {
    assert_int_equal(address, 0xffffffff81000010);
    *start = address - 0x10;
    *module = NULL;
    return context;
}

TEST(symbol_names_come_from_the_callback) {
    struct tracepoint_case c;
    struct builder record;
    char name[] = "start_kernel";
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = "\"%ps %pS\", REC->p, REC->p"});
    tracepoint_text_names(c.text, name_it, name);
    expect_text(&c, &record, "start_kernel start_kernel+0x10");
    tracepoint_text_names(c.text, NULL, NULL);
    expect_text(&c, &record, "0xffffffff81000010 0xffffffff81000010");
    close_trace(&c);
    free(record.bytes);
}

TEST(streams_and_old_versions) {
    struct builder record;
    put_record(&record, false);
    const struct tracepoint_plan plans[] = {
        {.fields = fields, .print = "\"%d\", REC->a", .pipe = true},
        {.fields = fields, .print = "\"%d\", REC->a", .version = "0.5"},
        {.fields = fields, .print = "\"%d\", REC->a", .long_size = 4},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct tracepoint_case c;
        open_trace(&c, &plans[i]);
        expect_text(&c, &record, "-5");
        close_trace(&c);
    }
    free(record.bytes);
}

TEST(no_tracing_data_no_text) {
    struct builder b = {0};
    struct memory memory;
    struct tracepoint_text *text;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    begin_pipe(&b, 1);
    pfr_reader *r = open_built(&b, &err);
    ASSERT_OK(tracepoint_text_open(&text, r, &memory, &err), err);
    assert_null(text);
    const pfr_bytes broken_blob = {(const uint8_t *)"\x17\x08\x44trac", 7};
    ASSERT_OK(tracepoint_text_open_blob(&text, broken_blob, &memory, &err), err);
    assert_null(text);
    tracepoint_text_close(NULL);
    pfr_close(r);
    free(b.bytes);
}

TEST(names_from_records_are_escaped) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    memcpy(record.bytes + 24, "\033[2J", 5);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = "\"%s\", REC->c"});
    c.out.raw_names = false;
    expect_text(&c, &record, "\\x1b[2J");
    close_trace(&c);
    free(record.bytes);
}

TEST(without_children_the_fields_are_given) {
    struct tracepoint_case c;
    struct builder record;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = apart[0].print});
    tracepoint_text_no_children(c.text);
    expect_text(&c, &record, AS_FIELDS);
    close_trace(&c);
    free(record.bytes);
}

static pfr_status write_once(const struct tracepoint_case *c, const struct failing_alloc *failing,
                             const struct builder *record, pfr_error *err) {
    struct memory memory;
    struct tracepoint_text *text;
    pfr_output out = {.raw_names = true};
    memory_init(&memory, &failing->alloc, 0);
    memory_init(&out.memory, NULL, 0);
    out_open_memory(&out.out, &out.memory);
    pfr_status status = tracepoint_text_open(&text, c->reader, &memory, err);
    if (status == PFR_OK)
        status = tracepoint_text_write(text, TRACE_ID, record->bytes, record->length, 0, &out, err);
    if (status == PFR_OK)
        tracepoint_text_close(text);
    else if (text)
        tracepoint_text_close(text);
    out_close(&out.out, NULL);
    assert_int_equal(memory.used, 0);
    return status;
}

static void fail_each(const char *print) {
    struct failing_alloc failing = {.has_failed = true};
    struct builder record;
    struct tracepoint_case c;
    put_record(&record, false);
    open_trace(&c, &(struct tracepoint_plan){.fields = fields, .print = print});
    for (long n = 1; failing.has_failed; n++) {
        pfr_error err;
        failing_alloc_begin(&failing, n);
        const pfr_status status = write_once(&c, &failing, &record, &err);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        assert_int_equal(failing.blocks, 0);
    }
    close_trace(&c);
    free(record.bytes);
}

TEST(every_allocation_of_ours_fails_once) {
    fail_each("\"%d\", REC->a");
    fail_each("\"%.*s\", 2, REC->c");
    fail_each("\"%d\", REC->a / 0");
}

/* --- the references: F.trace.txt beside the recording F; each line has comm, pid, time and "event: text" --- */

struct reference {
    char *text;
    unsigned compared;
};

/* Removes from the reference the first line that contains `time` and ends with `end`. Returns false if there is no such
 * line. */
static bool strike(struct reference *reference, const char *time, const char *end, size_t length) {
    for (char *at = reference->text; (at = strstr(at, time)); at++) {
        char *stop = strchr(at, '\n');
        const size_t rest = (size_t)(stop - at);
        if (rest >= length && memcmp(stop - length, end, length) == 0 && stop[-(ptrdiff_t)length - 1] == ' ') {
            memset(at, '#', rest);
            reference->compared++;
            return true;
        }
    }
    return false;
}

static void compare_sample(struct tracepoint_text *of, const pfr_event *event, const struct pfr_rec_sample *s,
                           struct reference *reference) {
    struct memory memory;
    pfr_output out = {.raw_names = true};
    char time[40];
    size_t length;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out.out, &memory);
    const pfr_bytes raw = s->raw.data;
    ASSERT_OK(tracepoint_text_write(of, event->attr.config, raw.at, raw.length, s->cpu, &out, &err), err);
    const char *text = out_bytes(&out.out, &length);
    snprintf(time, sizeof time, "%ju.%06ju:", (uintmax_t)(s->time / 1000000000), (uintmax_t)(s->time / 1000 % 1000000));
    if (!strike(reference, time, text, length))
        fail_msg("%s is no line of the reference: %.*s", time, (int)length, text);
    out_close(&out.out, NULL);
}

static void compare_recording(const char *path, struct reference *reference) {
    struct tracepoint_text *trace = NULL;
    struct memory memory;
    struct pfr_rec_sample s;
    pfr_record rec;
    pfr_error err;
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    memory_init(&memory, NULL, 0);
    for (pfr_status st; (st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END;) {
        const pfr_event *event = st == PFR_OK && rec.event >= 0 ? pfr_get_event(r, (uint32_t)rec.event) : NULL;
        if (rec.type != PFR_RECORD_SAMPLE || !event || event->attr.type != PFR_ATTR_TYPE_TRACEPOINT ||
            pfr_decode(&rec, &s, sizeof s, &err) != PFR_OK)
            continue;
        if (!trace)
            ASSERT_OK(tracepoint_text_open(&trace, r, &memory, &err), err);
        assert_non_null(trace);
        compare_sample(trace, event, &s, reference);
    }
    tracepoint_text_close(trace);
    pfr_close(r);
}

/* Returns the whole file, NUL-terminated; the caller frees it. */
static char *load_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const size_t length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(length + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, length, file), length);
    fclose(file);
    return text;
}

TEST(texts_of_the_corpus) {
    static const char *const folders[] = {"recorded", "other"};
    const char *corpus = getenv("PERFRAY_CORPUS");
    unsigned compared = 0;
    if (!corpus)
        skip();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char folder[512], path[1024];
        snprintf(folder, sizeof folder, "%s/perf/%s", corpus, folders[i]);
        DIR *dir = opendir(folder);
        assert_non_null(dir);
        for (struct dirent *e; (e = readdir(dir));) {
            const char *suffix = strstr(e->d_name, ".trace.txt");
            if (!suffix || suffix[10]) /* only recordings that are not compressed */
                continue;
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            struct reference reference = {load_text(path), 0};
            path[strlen(path) - 10] = '\0';
            compare_recording(path, &reference);
            free(reference.text);
            compared += reference.compared;
        }
        closedir(dir);
    }
    assert_in_range(compared, 1000, 100000);
}
