/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF expressions as bytes, including invalid ones. */
#include "symbol/unwind/unwind_expression.h"
#include "test.h"

static bool read_ten_more(void *context, uint64_t address, unsigned size, uint64_t *value) {
    (void)context, (void)size;
    *value = address + 10;
    return address != 0xbad;
}

static bool run(const uint8_t *bytes, size_t length, uint64_t *value) {
    static const uint64_t registers[17] = {[7] = 0x1000, [16] = 0x4010};
    const struct unwind_view view = {.registers = registers,
                                     .known = 1u << 7 | 1u << 16,
                                     .read = read_ten_more,
                                     .address_size = 8,
                                     .swap = SWAP_OF_LITTLE};
    return unwind_evaluate(bytes, length, &view, NULL, value);
}

static void gives(const char *bytes, size_t length, uint64_t wanted) {
    uint64_t value = 0;
    assert_true(run((const uint8_t *)bytes, length, &value));
    assert_int_equal(value, wanted);
}

static void gives_nothing(const char *bytes, size_t length) {
    uint64_t value;
    assert_false(run((const uint8_t *)bytes, length, &value));
}
#define GIVES(bytes, wanted) gives(bytes, sizeof bytes - 1, wanted)
#define NOTHING(bytes) gives_nothing(bytes, sizeof bytes - 1)

TEST(unwind_expression_of_procedure_linkage_tables) {
    /* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
    GIVES("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 0x1008);
}

TEST(unwind_expression_operations) {
    GIVES("\x77\xa0\x01\x06", 0x1000 + 160 + 10);
    GIVES("\x09\xff", UINT64_MAX);
    GIVES("\x08\xff", 255);
    GIVES("\x0b\xfe\xff", (uint64_t)-2);
    GIVES("\x10\x80\x01", 128);
    GIVES("\x11\x7f", UINT64_MAX);
    GIVES("\x38\x33\x1b", 2);
    GIVES("\x38\x33\x1d", 2);
    GIVES("\x38\x33\x1c", 5);
    GIVES("\x31\x32\x33\x17\x1c", (uint64_t)-1);
    GIVES("\x35\x23\x05", 10);
    GIVES("\x31\x28\x01\x00\x00\x35", 5);
    GIVES("\x92\x07\x04", 0x1004);
}

TEST(unwind_expression_that_makes_no_sense) {
    NOTHING("");
    NOTHING("\x22");                     /* needs two values */
    NOTHING("\x30\x30\x1b");             /* division by zero */
    NOTHING("\x70\x00");                 /* this register has no value */
    NOTHING("\x2f\xfd\xff");             /* jumps to itself forever */
    NOTHING("\x2f\x00\x10");             /* jumps beyond the end */
    NOTHING("\x0a\xad\x0b\x06");         /* this memory is not readable */
    NOTHING("\x0e\x01");                 /* truncated */
    NOTHING("\x30\x12\x12\x2f\xfb\xff"); /* the stack grows in each iteration */
    NOTHING("\x50");                     /* a register location, which is not a value */
}
