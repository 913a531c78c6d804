/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte of flags, the length of a record, the record, and the text of a format, which is put into generated tracing
 * data. For any input, the record is printed twice with the same result, and all memory is freed. Flags: bit 0
 * big-endian, bit 1 long of 4 bytes, bit 2 the text already begins with the fields, bits 3 to 7 all set: use a child
 * process.
 */
#include "base/text/public_output.h"
#include "fuzz.h"
#include "model/tracepoint/tracepoint_text.h"

#include <stdio.h>
#include <stdlib.h>

enum { ID = 300, CHILDREN = 31 };

struct made {
    uint8_t *bytes;
    size_t length;
    bool big;
};

static const char fields[] = "name: ev\nID: 300\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
                             "\tfield:__data_loc char[] d;\toffset:12;\tsize:4;\tsigned:0;\n"
                             "\tfield:unsigned long b;\toffset:16;\tsize:8;\tsigned:0;\n"
                             "\tfield:char c[8];\toffset:24;\tsize:8;\tsigned:0;\n"
                             "\tfield:int e[4];\toffset:32;\tsize:16;\tsigned:1;\n"
                             "\tfield:__rel_loc u16[] f;\toffset:48;\tsize:4;\tsigned:0;\n"
                             "\tfield:const char * p;\toffset:56;\tsize:8;\tsigned:0;\n"
                             "\nprint fmt: ";
static const char strings[] = "0x1000 : \"a string\\n\"\n0xffffffff81000010 : \"other\"\n";

static void put(struct made *m, const void *bytes, size_t length) {
    memcpy(m->bytes + m->length, bytes, length);
    m->length += length;
}

static void put_number(struct made *m, uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        m->bytes[m->length + (m->big ? width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
    m->length += width;
}

static void make(struct made *m, const uint8_t *format, size_t length, uint8_t flags) {
    const size_t before = flags & 4 ? sizeof fields - 1 : 0;
    m->bytes = malloc(length + 1024 + sizeof fields);
    LAW(m->bytes, "out of memory");
    put(m, "\x17\x08\x44tracing0.6", 14);
    put_number(m, m->big, 1);
    put_number(m, flags & 2 ? 4 : 8, 1);
    put_number(m, 4096, 4);
    put(m, "header_page\0\0\0\0\0\0\0\0\0header_event\0\0\0\0\0\0\0\0", 12 + 8 + 13 + 8);
    put_number(m, 0, 4);
    put_number(m, 1, 4);
    put(m, "fuzz", 5);
    put_number(m, 1, 4);
    put_number(m, before + length, 8);
    put(m, fields, before);
    put(m, format, length);
    put_number(m, 0, 4);
    put_number(m, sizeof strings - 1, 4);
    put(m, strings, sizeof strings - 1);
    put_number(m, 0, 8);
}

static void write_text(struct tracepoint_text *text, const uint8_t *record, size_t length, pfr_output *to) {
    pfr_error err = {.text = ""};
    const pfr_status s = tracepoint_text_write(text, ID, record, length, 0, to, &err);
    LAW(s == PFR_OK || ((s == PFR_ERR_MEMORY || s == PFR_ERR_LIMIT) && err.text[0]), "%s without a word",
        pfr_status_name(s));
}

static void check(const struct made *m, const uint8_t *record, size_t length, bool children) {
    pfr_output to = {0};
    struct tracepoint_text *text;
    struct memory memory;
    pfr_error err;
    memory_init(&memory, NULL, fuzz_limits.memory);
    memory_init(&to.memory, NULL, 0);
    out_open_memory(&to.out, &to.memory);
    const pfr_status s = tracepoint_text_open_blob(&text, (pfr_bytes){m->bytes, m->length}, &memory, &err);
    LAW(s == PFR_OK ? text != NULL : err.text[0], "%s, but nothing", pfr_status_name(s));
    if (text && !children)
        tracepoint_text_no_children(text);
    size_t first = 0, both = 0;
    if (text) {
        write_text(text, record, length, &to);
        out_bytes(&to.out, &first);
        write_text(text, record, length, &to);
    }
    const char *bytes = out_bytes(&to.out, &both);
    LAW(both == 2 * first && (first == 0 || memcmp(bytes, bytes + first, first) == 0), "%zu and %zu bytes", first,
        both - first);
    out_close(&to.out, NULL);
    tracepoint_text_close(text);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length < 2 || length - 2 < bytes[1])
        return 0;
    const uint8_t flags = bytes[0];
    const size_t record = bytes[1];
    struct made m = {.big = flags & 1};
    uint8_t *copy = malloc(record + 1); /* at the end of an allocation of its size */
    LAW(copy, "out of memory");
    memcpy(copy, bytes + 2, record);
    make(&m, bytes + 2 + record, length - 2 - record, flags);
    check(&m, copy, record, flags >> 3 == CHILDREN);
    free(copy);
    free(m.bytes);
    return 0;
}
