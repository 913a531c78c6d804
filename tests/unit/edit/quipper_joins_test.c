/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which mappings quipper merges, and which mappings it treats as parts of a file. Each rule is tested with a list
 * of mappings that fulfils the rule, and with one that does not. */
#include "edit/quipper/quipper_merged_maps.h"

#include "../test.h"
#include "base/memory/memory.h"

#include <stdio.h>
#include <string.h>

#define MOST 6u
#define READ 1u
#define WRITE 2u
#define EXECUTE 4u
#define SHARED 1u
#define PRIVATE 2u

struct map {
    uint64_t start, len, pgoff;
    const char *name;
    uint32_t prot, flags, pid, ino;
    uint64_t time;
    uint8_t type; /* 0: MMAP2 */
};

struct expected {
    uint64_t start, len, pgoff;
    const char *name;
    uint32_t size, ino;
};

static uint32_t size_of(const struct map *m) {
    return 64 + (uint32_t)(strlen(m->name) / 8 + 1) * 8;
}

static void fill(const struct map *m, pfr_record *rec, union any_layout *body) {
    const pfr_text name = {m->name, (uint32_t)strlen(m->name), 0};
    memset(body, 0, sizeof *body);
    *rec = (pfr_record){.type = m->type ? m->type : 10, .misc = 2, .size = size_of(m)};
    if (rec->type == PFR_RECORD_MMAP)
        body->as_mmap =
            (struct pfr_rec_mmap){.pid = m->pid, .addr = m->start, .len = m->len, .pgoff = m->pgoff, .filename = name};
    else
        body->as_mmap2 = (struct pfr_rec_mmap2){.pid = m->pid,
                                                .addr = m->start,
                                                .len = m->len,
                                                .pgoff = m->pgoff,
                                                .ino = m->ino,
                                                .prot = m->prot,
                                                .flags = m->flags,
                                                .filename = name};
}

/* Checks the result for the mappings up to the one without a name. */
static void check(const char *rule, const struct map *maps, const struct expected *expected) {
    struct memory memory;
    struct quipper_joins j;
    pfr_record rec;
    union any_layout body;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    quipper_joins_init(&j, &memory);
    for (const struct map *m = maps; m->name; m++) {
        fill(m, &rec, &body);
        ASSERT_OK(quipper_joins_note(&j, &rec, &body, m->time, &err), err);
    }
    ASSERT_OK(quipper_joins_settle(&j, true, &err), err);
    for (const struct map *m = maps; m->name; m++) {
        const struct quipper_join *join = quipper_joins_next(&j);
        uint32_t size = size_of(m);
        assert_non_null(join);
        if (join->joined)
            continue;
        fill(m, &rec, &body);
        quipper_joins_apply(&j, join, &body, &size);
        const pfr_text *name = rec.type == PFR_RECORD_MMAP ? &body.as_mmap.filename : &body.as_mmap2.filename;
        if (!expected->name || body.as_mmap.addr != expected->start || body.as_mmap.len != expected->len ||
            body.as_mmap.pgoff != expected->pgoff || size != (expected->size ? expected->size : size_of(m)) ||
            name->length != strlen(expected->name) || memcmp(name->at, expected->name, name->length) != 0 ||
            (rec.type == PFR_RECORD_MMAP2 && body.as_mmap2.ino != expected->ino))
            fail_msg("%s: %#jx, %#jx long, at %#jx of %.*s, %u bytes", rule, (uintmax_t)body.as_mmap.addr,
                     (uintmax_t)body.as_mmap.len, (uintmax_t)body.as_mmap.pgoff, (int)name->length, name->at, size);
        expected++;
    }
    assert_null(expected->name);
    assert_null(quipper_joins_next(&j));
    quipper_joins_free(&j);
    assert_int_equal(memory.used, 0);
}

static void check_apart(const char *rule, const struct map *maps) {
    struct expected expected[MOST + 1] = {{.name = NULL}};
    for (size_t i = 0; i < MOST && maps[i].name; i++)
        expected[i] = (struct expected){maps[i].start, maps[i].len, maps[i].pgoff, maps[i].name, 0, maps[i].ino};
    check(rule, maps, expected);
}

#define DATA .prot = READ | WRITE, .flags = PRIVATE, .pid = 7
#define CODE .prot = READ | EXECUTE, .flags = PRIVATE, .pid = 7

TEST(quipper_joins_data_and_the_anonymous_memory_after_it) {
    static const struct map maps[] = {
        {0x1000, 0x1000, 0x500, "/a", DATA, .ino = 3}, {0x2000, 0x3000, 0, "//anon", DATA}, {.name = NULL}};
    static const struct expected expected[] = {{0x1000, 0x4000, 0x500, "/a", 0, 3}, {.name = NULL}};
    static const struct map apart[][3] = {
        {{0x1000, 0x1000, 0x500, "/a", CODE}, {0x2000, 0x3000, 0, "//anon", CODE}, {.name = NULL}},
        {{0x1000, 0x1000, 0x500, "/a", DATA}, {0x2001, 0x3000, 0, "//anon", DATA}, {.name = NULL}},
        {{0x1000, 0x1000, 0x500, "/a", DATA}, {0x2000, 0x3000, 0, "/b", DATA}, {.name = NULL}},
        {{0x1000, 0x1000, 0, "//anon", DATA}, {0x2000, 0x3000, 0, "//anon", DATA}, {.name = NULL}},
        {{0x1000, 0x1000, 0x500, "/dev/a", DATA}, {0x2000, 0x3000, 0, "//anon", DATA}, {.name = NULL}},
        {{0x1000, 0x1000, 0x500, "/a", .prot = READ, .flags = SHARED, .pid = 7},
         {0x2000, 0x3000, 0, "//anon", .prot = READ, .flags = PRIVATE, .pid = 7},
         {.name = NULL}},
        {{0x1000, 0x1000, 0x500, "/a", DATA},
         {0x2000, 0x3000, 0, "//anon", .prot = READ | WRITE, .flags = PRIVATE, .pid = 8},
         {.name = NULL}},
    };
    check("data", maps, expected);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        check_apart("apart", apart[i]);
}

TEST(quipper_joins_parts_of_a_file) {
    static const struct map maps[] = {
        {0x1000, 0x1000, 0, "/a", CODE, .time = 5},      {0x9000, 0x1000, 0, "/b", READ, PRIVATE, 8, .time = 6},
        {0x2000, 0x1000, 0x1000, "/a", CODE, .time = 7}, {0x3000, 0x1000, 0x2000, "/a", CODE, .time = 8},
        {0x4000, 0x1000, 0x9000, "/a", CODE, .time = 9}, {.name = NULL}};
    static const struct expected expected[] = {{0x1000, 0x3000, 0, "/a", 0, 0},
                                               {0x9000, 0x1000, 0, "/b", 0, 0},
                                               {0x4000, 0x1000, 0x9000, "/a", 0, 0},
                                               {.name = NULL}};
    check("file", maps, expected);
}

/* Mappings of programs that copy their code to huge pages: anonymous memory between two parts of a file mapping. */
TEST(quipper_joins_huge_pages) {
    static const struct map filled[] = {{0x1000, 0x1000, 0, "/program", CODE, .ino = 3},
                                        {0x2000, 0x2000, 0, "//anon", CODE},
                                        {0x4000, 0x2000, 0, "//anon", CODE},
                                        {0x6000, 0x1000, 0x5000, "/program", CODE, .ino = 3},
                                        {.name = NULL}};
    static const struct expected one[] = {{0x1000, 0x6000, 0, "/program", 0, 3}, {.name = NULL}};
    static const struct map front[] = {{0x2000, 0x2000, 0, "//anon", CODE, .type = 1},
                                       {0x4000, 0x1000, 0x2000, "/a/longer/name", CODE, .type = 1},
                                       {.name = NULL}};
    static const struct expected front_expected[] = {{0x2000, 0x3000, 0, "/a/longer/name", 80, 0}, {.name = NULL}};
    static const struct map apart[][4] = {
        {{0x1000, 0x1000, 0, "/a", CODE}, /* the second part has another file offset */
         {0x2000, 0x2000, 0, "//anon", CODE},
         {0x4000, 0x1000, 0x4000, "/a", CODE},
         {.name = NULL}},
        {{0x1000, 0x1000, 0, "/a", CODE, .time = 5}, /* mapped after the recording began */
         {0x2000, 0x2000, 0, "//anon", CODE, .time = 6},
         {0x4000, 0x1000, 0x3000, "/a", CODE, .time = 7},
         {.name = NULL}},
        {{0x1000, 0x1000, 0, "/a", CODE}, /* addresses are missing */
         {0x2000, 0x1000, 0, "//anon", CODE},
         {0x4000, 0x1000, 0x3000, "/a", CODE},
         {.name = NULL}},
    };
    check("filled", filled, one);
    check("front", front, front_expected);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        check_apart("apart", apart[i]);
}

TEST(quipper_joins_files_of_huge_pages) {
    static const struct map maps[] = {{0x1000, 0x1000, 0x1000, "/huge/a.buildid_12", CODE, .type = 1},
                                      {0x2000, 0x1000, 0x2000, "/program", CODE, .type = 1},
                                      {.name = NULL}};
    static const struct expected expected[] = {{0x1000, 0x2000, 0x1000, "/program", 80, 0}, {.name = NULL}};
    static const struct map apart[] = {{0x1000, 0x1000, 0x1000, "/huge.buildid_12/a", CODE, .type = 1},
                                       {0x2000, 0x1000, 0x2000, "/program", CODE, .type = 1},
                                       {.name = NULL}};
    check("build-id", maps, expected);
    check_apart("not of the last part of the path", apart);
}
