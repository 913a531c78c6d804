/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for fields of samples: perf 6.1 printed every expected text for a recording with that value. */
#include "test.h"
#include "base/text/public_output.h"
#include "view/words/sample_text.h"

#include <string.h>

struct sheet {
    pfr_output out;
    struct memory memory;
};

static void begin(struct sheet *s) {
    memset(s, 0, sizeof *s);
    memory_init(&s->memory, NULL, 0);
    out_open_memory(&s->out.out, &s->memory);
    s->out.raw_names = true;
}

static void expect(struct sheet *s, const char *text) {
    size_t length;
    const char *bytes = out_bytes(&s->out.out, &length);
    if (length != strlen(text) || (length && memcmp(bytes, text, length) != 0))
        fail_msg("\"%.*s\" instead of \"%s\"", (int)length, length ? bytes : "", text);
    out_clear(&s->out.out);
}

static void end(struct sheet *s) {
    assert_int_equal(out_close(&s->out.out, NULL), PFR_OK);
    assert_int_equal(s->memory.used, 0);
}

TEST(data_src_is_printed_as_perf_prints_it) {
    static const struct {
        uint64_t value;
        const char *text;
    } rows[] = {
        {0x1e05080021, "      1e05080021 |OP N/A|LVL N/A or N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
        {0x11868100242,
         "     11868100242 |OP LOAD|LVL LFB/MAB or LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
        {0xc0, "              c0 |OP No|LVL N/A hit miss|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x2000000000, "      2000000000 |OP No|LVL Remote |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x82000000140, "     82000000140 |OP No|LVL Remote core, same node  hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x280000000000, "    280000000000 |OP No|LVL (null) |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x3000000, "         3000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
        {0x2000000, "         2000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK Yes|BLK  N/A"},
        {0x60000000000, "     60000000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr"},
        {0x50000000000, "     50000000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0xc000000000, "      c000000000 |OP No|LVL N/A|SNP Fwd or Peer|TLB N/A|LCK No|BLK  N/A"},
        {0x1fc000000,
         "       1fc000000 |OP No|LVL N/A|SNP N/A|TLB N/A or L1 or L2 or Walker or Fault hit miss|LCK No|BLK "},
    };
    struct sheet s;
    begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t widest = 0;
        words_data_src(&s.out, rows[i].value, &widest);
        expect(&s, rows[i].text);
        assert_int_equal(widest, strlen(rows[i].text));
    }
    end(&s);
}

TEST(data_src_is_as_wide_as_the_widest_before) {
    struct sheet s;
    size_t widest = 0;
    begin(&s);
    words_data_src(&s.out, 0x80, &widest);
    expect(&s, "              80 |OP No|LVL N/A miss|SNP N/A|TLB N/A|LCK No|BLK  N/A");
    words_data_src(&s.out, 0, &widest);
    expect(&s, "               0 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A     ");
    end(&s);
}

TEST(branches_are_printed_as_perf_prints_them) {
    static const struct {
        struct pfr_rec_branch_entry entry;
        const char *text;
    } rows[] = {
        {{.mispred = 1}, "/M/-/-/0/"},
        {{.mispred = 1, .predicted = 1}, "/P/-/-/0/"},
        {{.in_tx = 1, .cycles = 65535}, "/-/X/-/65535/"},
        {{.abort = 1, .type = 4}, "/-/-/A/0/CALL"},
        {{.type = 14, .spec = 3, .priv = 2}, "/-/-/-/0/NO_TX"},
        {{.type = 15, .new_type = 2}, "/-/-/-/0/FAULT_INST"},
        {{.type = 15, .new_type = 8}, "/-/-/-/0/(null)"},
    };
    struct sheet s;
    begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        words_branch_flags(&s.out, &rows[i].entry);
        expect(&s, rows[i].text);
    }
    end(&s);
}

TEST(registers_by_machine) {
    static const uint8_t words[] = {1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    const pfr_u64s three = {words, 3, SWAP_OF_LITTLE}, two = {words, 2, SWAP_OF_LITTLE};
    static const struct {
        const char *arch;
        uint64_t mask;
        const char *text;
    } rows[] = {
        {"x86_64", 1 | 1 << 9 | 1ull << 35, " ABI:2    AX:0x1 FLAGS:0xffff  XMM1:0x3 "},
        {"i686", 1 << 23 | 3 << 24, " ABI:2   R15:0x1 unknown:0xffff unknown:0x3 "},
        {NULL, 7, " ABI:2    AX:0x1    BX:0xffff    CX:0x3 "},
        {"aarch64", 1 | 1ull << 32 | 1ull << 46, " ABI:2    x0:0x1    pc:0xffff    vg:0x3 "},
        {"armv7l", 1 | 1 << 15 | 1 << 16, " ABI:2    r0:0x1    pc:0xffff unknown:0x3 "},
        {"s390x", 1 | 1 << 16 | 1ull << 32, " ABI:2    R0:0x1   FP0:0xffff  MASK:0x3 "},
        {"ppc64le", 1ull << 34 | 1ull << 58 | 1ull << 59, " ABI:2 orig_r3:0x1  siar:0xffff unknown:0x3 "},
        {"riscv", 1 | 1 << 8 | 1u << 31, " ABI:2    pc:0x1    s0:0xffff    t6:0x3 "},
        {"mips64", 1 | 1 << 26 | 1u << 31, " ABI:2    PC:0x1 unknown:0xffff   $31:0x3 "},
        {"csky", 1 | 2 | 1 << 10, " ABI:2 unknown:0x1    lr:0xffff regs0:0x3 "},
        {"loongarch64", 7, " ABI:2 unknown:0x1 unknown:0xffff unknown:0x3 "},
    };
    struct sheet s;
    begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        words_regs(&s.out, rows[i].arch, rows[i].mask, &three, 2);
        expect(&s, rows[i].text);
    }
    words_regs(&s.out, "x86_64", 7, &two, 1);
    expect(&s, " ABI:1    AX:0x1    BX:0xffff ");
    words_regs(&s.out, "x86_64", 7, &three, 0);
    expect(&s, "");
    end(&s);
}

static void bpf(struct sheet *s, const void *bytes, size_t length, const char *text) {
    words_bpf_output(&s->out, bytes, length);
    expect(s, text);
}

TEST(bpf_output_as_perf_shows_it) {
    struct sheet s;
    begin(&s);
    bpf(&s, "\x1e%,3:AHOV]dk", 12,
        "\n      BPF output: 0000: 1e 25 2c 33 3a 41 48 4f  .%,3:AHO\n"
        "                  0008: 56 5d 64 6b              V]dk    \n");
    bpf(&s, "hello\0\0\0\0\0\0", 12,
        "\n      BPF output: 0000: 68 65 6c 6c 6f 00 00 00  hello...\n"
        "                  0008: 00 00 00 00              ....    \n"
        "      BPF string: \"hello\"\n");
    bpf(&s, "\0\0\0", 4, "\n      BPF output: 0000: 00 00 00 00              ....    \n      BPF string: \"\"\n");
    bpf(&s, "a\x7f\0", 4, "\n      BPF output: 0000: 61 7f 00 00              a...    \n");
    bpf(&s, "abc\0a\0\0", 8, "\n      BPF output: 0000: 61 62 63 00 61 00 00 00  abc.a...\n");
    bpf(&s, "\xe9\x80\0", 4, "\n      BPF output: 0000: e9 80 00 00              \xe9...    \n");
    bpf(&s, "\xe9\0\0", 4,
        "\n      BPF output: 0000: e9 00 00 00              \xe9...    \n      BPF string: \"\xe9\"\n");
    s.out.raw_names = false;
    bpf(&s, "\xe9\0\0", 4,
        "\n      BPF output: 0000: e9 00 00 00              ....    \n      BPF string: \"\\xe9\"\n");
    bpf(&s, NULL, 0, "\n");
    end(&s);
}

TEST(page_sizes_use_a_unit_from_two_on) {
    static const struct {
        uint64_t size;
        const char *text;
    } rows[] = {{0, " N/A"},
                {1025, " 1025B"},
                {4096, " 4K"},
                {(1 << 20) + 1, " 1024K"},
                {2 << 20, " 2M"},
                {1 << 30, " 1024M"},
                {1ull << 31, " 2G"},
                {65537, " 64K"},
                {1ull << 40, " 1024G"},
                {UINT64_MAX, " 17179869183G"}};
    struct sheet s;
    begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        words_page_size(&s.out, rows[i].size);
        expect(&s, rows[i].text);
    }
    end(&s);
}

TEST(numbers_in_columns) {
    struct sheet s;
    begin(&s);
    words_weight(&s.out, 123456);
    expect(&s, "          123456");
    words_weight(&s.out, UINT64_MAX);
    expect(&s, "18446744073709551615");
    words_ins_lat(&s.out, 0x7000500000003);
    expect(&s, "               5");
    words_retire_lat(&s.out, 0x7000500000003);
    expect(&s, "               7");
    words_phys_addr(&s.out, 0);
    expect(&s, "               0");
    words_phys_addr(&s.out, 0x1e240);
    expect(&s, "           1e240");
    words_phys_addr(&s.out, UINT64_MAX);
    expect(&s, "ffffffffffffffff");
    words_flags(&s.out);
    expect(&s, "                        ");
    end(&s);
}

TEST(misc_by_type) {
    static const struct {
        uint32_t type;
        uint16_t misc;
        const char *text;
    } rows[] = {
        {9, 0, "      "},       {9, 2, "U     "},       {9, 3, "KUH   "},       {9, 5, "KGg   "},
        {9, 0x6002, "U     "},  {3, 0x2000, "E     "},  {7, 0x2002, "U     "},  {1, 0x2002, "UM    "},
        {10, 0x2002, "UM    "}, {14, 0x6002, "USp   "}, {15, 0x2000, "S     "}, {14, 0x4000, "      "},
    };
    struct sheet s;
    begin(&s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        words_misc(&s.out, rows[i].type, rows[i].misc);
        expect(&s, rows[i].text);
    }
    end(&s);
}
