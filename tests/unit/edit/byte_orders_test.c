/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples with one field, for each bit of sample_type, as a big-endian machine records them. The bytes are given here.
 * Converted to this machine's byte order, they must equal the bytes of the same values on this machine, and vice versa.
 */
#include "../test.h"

#include <perfray/perfray.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BODY_MOST 64u

static const uint64_t words[] = {0x0102030405060708u, 0x1112131415161718u};
static const uint8_t raw[] = {1, 2, 3, 4};
#define WORD "0102030405060708"
#define SECOND "1112131415161718"
#define ONE "0000000000000001"
#define TWO "0000000000000002"

/* The bytes after the header of a sample with only this bit. */
static const struct {
    unsigned bit;
    const char *body;
} bodies[] = {
    {0, WORD},                                /* IP */
    {1, "0102030411121314"},                  /* TID: two 32-bit numbers */
    {2, WORD},                                /* TIME */
    {3, WORD},                                /* ADDR */
    {4, WORD},                                /* READ */
    {5, TWO WORD SECOND},                     /* CALLCHAIN */
    {6, WORD},                                /* ID */
    {7, "0102030400000000"},                  /* CPU: a 32-bit number and padding */
    {8, WORD},                                /* PERIOD */
    {9, WORD},                                /* STREAM_ID */
    {10, "0000000401020304"},                 /* RAW: bytes */
    {11, ONE WORD SECOND "8000000000000000"}, /* BRANCH_STACK: bit fields begin at the highest bit */
    {12, TWO WORD SECOND},                    /* REGS_USER */
    {13, "0000000000000004"
         "01020304"
         "0000000000000003"}, /* STACK_USER: bytes, and how many of them are valid */
    {14, WORD},               /* WEIGHT */
    {15, WORD},               /* DATA_SRC */
    {16, WORD},               /* IDENTIFIER */
    {17, WORD},               /* TRANSACTION */
    {18, ONE WORD},           /* REGS_INTR */
    {19, WORD},               /* PHYS_ADDR */
    {20, "0000000000000004"
         "01020304"}, /* AUX: bytes */
    {21, WORD},       /* CGROUP */
    {22, WORD},       /* DATA_PAGE_SIZE */
    {23, WORD},       /* CODE_PAGE_SIZE */
    {24, WORD},       /* WEIGHT_STRUCT */
};

static struct pfr_rec_sample make_sample(uint8_t branch[24]) {
    struct pfr_rec_sample s = {.identifier = words[0],
                               .ip = words[0],
                               .pid = 0x01020304,
                               .tid = 0x11121314,
                               .time = words[0],
                               .addr = words[0],
                               .id = words[0],
                               .stream_id = words[0],
                               .cpu = 0x01020304,
                               .period = words[0],
                               .weight = words[0],
                               .weight_struct = words[0],
                               .data_src = words[0],
                               .transaction = words[0],
                               .phys_addr = words[0],
                               .cgroup = words[0],
                               .data_page_size = words[0],
                               .code_page_size = words[0]};
    const uint64_t mispredicted = SWAP_OF_LITTLE ? 1ull << 63 : 1; /* the first bit in this machine's bit order */
    s.read.value = words[0];
    s.chain = (pfr_u64s){(const uint8_t *)words, 2, 0};
    s.raw.data = s.aux.data = (pfr_bytes){raw, sizeof raw};
    s.stack_user.data = s.raw.data;
    s.stack_user.dyn_size = 3;
    s.regs_user.abi = 2;
    s.regs_user.regs = s.chain;
    s.regs_intr.abi = 1;
    s.regs_intr.regs = (pfr_u64s){(const uint8_t *)words, 1, 0};
    memcpy(branch, words, sizeof words);
    memcpy(branch + 16, &mispredicted, sizeof mispredicted);
    return s;
}

/* A recording with that sample; the branch entry is in this machine's format. */
static void write_recording(const char *path, unsigned bit) {
    const struct pfr_rec_attr attr = {
        .type = 1, .size = 112, .sample_type = 1ull << bit, .sample_regs_user = 3, .sample_regs_intr = 1};
    uint8_t branch[24];
    struct pfr_rec_sample sample = make_sample(branch);
    pfr_error err;
    pfr_writer *w = pfr_writer_open(path, NULL, &err);
    assert_non_null(w);
    ASSERT_OK(pfr_writer_event(w, &attr, NULL, 0, &err), err);
    if (bit != 11) {
        ASSERT_OK(pfr_writer_put(w, 0, 9, 2, &sample, sizeof sample, NULL, &err), err);
    } else {
        const struct {
            uint32_t type;
            uint16_t misc, size;
            uint64_t nr;
            uint8_t entry[24];
        } record = {9, 2, 40, 1, {0}};
        uint8_t bytes[40];
        memcpy(bytes, &record, sizeof bytes);
        memcpy(bytes + 16, branch, sizeof branch);
        ASSERT_OK(pfr_writer_raw(w, bytes, sizeof bytes, NULL, 0, &err), err);
    }
    ASSERT_OK(pfr_writer_finish(w, &err), err);
    pfr_writer_close(w);
}

static void convert(const char *from, const char *to, pfr_order order) {
    const pfr_edit_options options = {.size = sizeof options, .path = to, .order = order};
    pfr_error err;
    pfr_reader *r = pfr_open(from, NULL, &err);
    assert_non_null(r);
    ASSERT_OK(pfr_convert(r, &options, NULL, &err), err);
    pfr_close(r);
}

/* The body of the only record. */
static size_t body_of(const char *path, uint8_t body[BODY_MOST]) {
    pfr_error err;
    pfr_record rec;
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    ASSERT_OK(pfr_next(r, &rec, &err), err);
    const size_t length = rec.size - 8;
    assert_true(length <= BODY_MOST);
    memcpy(body, rec.bytes + 8, length);
    pfr_close(r);
    return length;
}

static void show(char text[2 * BODY_MOST + 1], const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

TEST(every_field_of_a_sample_is_right_in_the_other_byte_order) {
    char folder[] = "/tmp/perfray-orders-XXXXXX", here[64], big[64], back[64];
    assert_non_null(mkdtemp(folder));
    snprintf(here, sizeof here, "%s/here", folder);
    snprintf(big, sizeof big, "%s/big", folder);
    snprintf(back, sizeof back, "%s/back", folder);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        uint8_t first[BODY_MOST], again[BODY_MOST];
        char text[2 * BODY_MOST + 1] = "";
        write_recording(here, bodies[i].bit);
        convert(here, big, PFR_ORDER_BIG);
        show(text, again, body_of(big, again));
        assert_string_equal(text, bodies[i].body);
        convert(big, back, SWAP_OF_LITTLE ? PFR_ORDER_BIG : PFR_ORDER_LITTLE);
        const size_t length = body_of(here, first);
        assert_int_equal(body_of(back, again), length);
        assert_memory_equal(again, first, length);
    }
    unlink(here);
    unlink(big);
    unlink(back);
    assert_int_equal(rmdir(folder), 0);
}
