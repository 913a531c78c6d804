/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instrumentation maps: objects of each class and byte order, each version of sleds, with and without relocations;
 * YAML; and the binaries of the corpus, compared with the output of llvm-xray.
 */
#include "elf_builder.h"
#include "scratch_file.h"
#include "symbol/xray/xray_map.h"

#include "../base/failing_alloc.h"
#include <dirent.h>

/* The contents of the section of a generated object: three functions, the second of which has two sleds. */
static const uint64_t functions[] = {0x1000, 0x1100, 0x1100, 0x1200};

enum { SLEDS = 4, MAP_ADDRESS = 0x2003, RELOCATED = 1, SYMBOLS_IN = 2 };

struct map_recipe {
    bool wide, big, has_addend, odd_size;
    uint16_t type;     /* ET_DYN, ET_REL */
    unsigned versions; /* version of entry n: versions / 10^n % 10 */
    unsigned how;      /* RELOCATED: words are 0 and have relocations; SYMBOLS_IN: relocations use a symbol and half the
                          addend */
};

static uint64_t map_begin(const struct map_recipe *m) {
    return m->type == ET_REL ? 0 : MAP_ADDRESS;
}

static unsigned version_of(const struct map_recipe *m, unsigned entry) {
    unsigned versions = m->versions;
    for (; entry > 0; entry--)
        versions /= 10;
    return versions % 10;
}

/* Writes the word at `place`, which refers to `target`. */
static void put_target(struct elf_bytes *out, const struct map_recipe *m, unsigned version, uint64_t target,
                       uint64_t place) {
    if (m->how & RELOCATED)
        target = !m->has_addend ? (m->how & SYMBOLS_IN ? target - 0x800 : target) : 0;
    else if (version == 2)
        target -= place;
    put_word(out, target);
}

static void put_entries(struct elf_bytes *out, const struct map_recipe *m) {
    const unsigned word = m->wide ? 8 : 4;
    for (unsigned i = 0; i < SLEDS; i++) {
        const uint64_t entry = map_begin(m) + 4ull * word * i;
        const unsigned version = version_of(m, i);
        put_target(out, m, version, functions[i] + 7, entry);
        put_target(out, m, version, functions[i], entry + word);
        const uint8_t rest[24] = {i == 2, 1, (uint8_t)version};
        put_raw(out, rest, 2 * word);
    }
    if (m->odd_size)
        put_number(out, 0, 1);
}

static void put_relocations(struct elf_bytes *out, const struct map_recipe *m) {
    const unsigned word = m->wide ? 8 : 4;
    const uint64_t symbol = m->how & SYMBOLS_IN ? 1 : 0;
    for (unsigned i = 0; i < SLEDS && m->how & RELOCATED; i++) {
        put_word(out, map_begin(m) + 4ull * word * i + word);
        put_word(out, m->wide ? symbol << 32 | 8 : symbol << 8 | 8);
        if (m->has_addend)
            put_word(out, functions[i] - (symbol ? 0x800 : 0));
    }
}

struct placed {
    uint32_t name, type;
    uint64_t address, offset, size, entry_size;
    uint32_t link, info;
};

static void put_placed(struct elf_bytes *out, const struct placed *p) {
    put_number(out, p->name, 4);
    put_number(out, p->type, 4);
    put_word(out, 0);
    put_word(out, p->address);
    put_word(out, p->offset);
    put_word(out, p->size);
    put_number(out, p->link, 4);
    put_number(out, p->info, 4);
    put_word(out, 1);
    put_word(out, p->entry_size);
}

/* Sections: 1 xray_instr_map, 2 its relocations, 3 symbols, 4 names. */
static void put_map_sections(struct elf_bytes *out, const struct map_recipe *m, const uint64_t at[5]) {
    const uint64_t reloc = (m->wide ? 8u : 4u) * (m->has_addend ? 3u : 2u);
    const struct placed sections[] = {
        {0, 0, 0, 0, 0, 0, 0, 0},
        {1, SHT_PROGBITS, map_begin(m), at[0], at[1] - at[0], 0, 0, 0},
        {16, m->has_addend ? SHT_RELA : SHT_REL, 0, at[1], at[2] - at[1], reloc, 3, 1},
        {22, SHT_SYMTAB, 0, at[2], at[3] - at[2], m->wide ? 24 : 16, 4, 1},
        {30, SHT_STRTAB, 0, at[3], at[4] - at[3], 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_placed(out, &sections[i]);
}

static void build_map(struct elf_bytes *out, const struct map_recipe *m) {
    static const char names[] = "\0xray_instr_map\0.rela\0.symtab\0.strtab";
    const struct elf_recipe recipe = {.wide = m->wide, .big = m->big, .type = m->type, .machine = EM_X86_64};
    const struct built_symbol none = {.section = 0}, base = {.value = 0x800, .section = 1};
    uint64_t at[5];
    *out = (struct elf_bytes){.wide = m->wide, .big = m->big};
    put_zeros_to(out, 0x100);
    at[0] = out->length;
    put_entries(out, m);
    at[1] = out->length;
    put_relocations(out, m);
    at[2] = out->length;
    put_symbol(out, &none, 0);
    put_symbol(out, &base, 0);
    at[3] = out->length;
    put_raw(out, names, sizeof names);
    at[4] = out->length;
    put_zeros_to(out, (out->length + 7) / 8 * 8);
    const size_t table = out->length;
    put_map_sections(out, m, at);
    const size_t length = out->length;
    out->length = 0;
    put_header(out, &recipe, table);
    out->at[m->wide ? 56 : 44] = out->at[(m->wide ? 56 : 44) + 1] = 0; /* no segments */
    out->at[(m->wide ? 60 : 48) + m->big] = 5;
    out->at[(m->wide ? 62 : 50) + m->big] = 4;
    out->length = length;
}

static void check_map(const struct map_recipe *m) {
    struct memory memory;
    struct xray_map map;
    struct elf_bytes object;
    struct scratch_file scratch;
    build_map(&object, m);
    scratch_make(&scratch);
    scratch_write(&scratch, object.at, object.length);
    memory_init(&memory, NULL, UINT64_MAX);
    assert_result_is(xray_map_open(&map, scratch.path, &memory), SYMBOL_FOUND);
    assert_int_equal(map.count, 3);
    for (uint32_t id = 1; id <= 3; id++) {
        const struct xray_function *f = xray_map_find(&map, id);
        assert_non_null(f);
        assert_int_equal(f->address, 0xf00 + 0x100 * id);
        assert_int_equal(f->sleds, id == 2 ? 2 : 1);
        assert_null(f->name);
    }
    assert_null(xray_map_find(&map, 0));
    assert_null(xray_map_find(&map, 4));
    xray_map_close(&map);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(ids_are_the_ordinals_of_functions_in_every_version_class_and_order) {
    static const unsigned versions[] = {0, 1111, 2222, 2101};
    for (unsigned form = 0; form < 4; form++)
        for (size_t v = 0; v < sizeof versions / sizeof *versions; v++)
            check_map(&(struct map_recipe){
                .wide = form & 1, .big = form & 2, .type = ET_DYN, .versions = versions[v], .has_addend = true});
}

TEST(relocations_say_addresses_in_shared_and_relocatable_objects) {
    for (unsigned form = 0; form < 16; form++)
        for (unsigned version = 0; version <= 2222; version += 1111)
            check_map(&(struct map_recipe){.wide = form & 1,
                                           .big = form & 2,
                                           .type = form & 4 ? ET_REL : ET_DYN,
                                           .versions = version,
                                           .has_addend = version == 2222 || form & 1,
                                           .how = RELOCATED | (form & 8 ? SYMBOLS_IN : 0)});
}

static void expect_result(const void *bytes, size_t length, enum symbol_result expected) {
    struct memory memory;
    struct xray_map map;
    struct scratch_file scratch;
    scratch_make(&scratch);
    scratch_write(&scratch, bytes, length);
    memory_init(&memory, NULL, 64 << 20);
    assert_result_is(xray_map_open(&map, scratch.path, &memory), expected);
    xray_map_close(&map);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(maps_that_cannot_be_are_refused) {
    struct elf_bytes object;
    build_map(&object, &(struct map_recipe){.wide = true, .type = ET_DYN, .versions = 3, .has_addend = true});
    expect_result(object.at, object.length, SYMBOL_DAMAGED);
    build_map(&object, &(struct map_recipe){.wide = true, .type = ET_DYN, .odd_size = true, .has_addend = true});
    expect_result(object.at, object.length, SYMBOL_DAMAGED);
    build_map(&object, &(struct map_recipe){.wide = true, .type = ET_DYN, .has_addend = true});
    memcpy(memmem(object.at, object.length, "xray_instr_map", 14), "xray_other_map", 14);
    expect_result(object.at, object.length, SYMBOL_NO_MATCH);
    expect_result("no map", 6, SYMBOL_NOT_ELF);
    expect_result("", 0, SYMBOL_NO_MATCH);
}

TEST(every_prefix_of_an_object_is_read_or_refused) {
    struct elf_bytes object;
    struct memory memory;
    struct xray_map map;
    struct scratch_file scratch;
    build_map(&object, &(struct map_recipe){.wide = true, .type = ET_DYN, .how = RELOCATED, .has_addend = true});
    scratch_make(&scratch);
    for (size_t length = 0; length < object.length; length += 3) {
        scratch_write(&scratch, object.at, length);
        memory_init(&memory, NULL, UINT64_MAX);
        xray_map_open(&map, scratch.path, &memory);
        xray_map_close(&map);
        assert_int_equal(memory.used, 0);
    }
    scratch_remove(&scratch);
}

/* --- YAML. */

static const char yaml[] =
    "---\n"
    "- { id: 1, address: 0x23660, function: 0x23660, kind: function-enter, always-instrument: true, function-name: "
    "'main::$_0::operator()(int, ''x'') const', version: 2 }\n"
    "- { id: 1, address: 0x2366E, function: 0x23660, kind: function-exit, always-instrument: true, function-name: "
    "other, version: 2 }\n"
    "- { id: 3, address: 0x236E0, function: 0x236E0, kind: function-enter, always-instrument: true, function-name: "
    "\"a \\\"b\\\" \\x1b\\u00e9\\0\\_\\U0001F600\\\\\", version: 2 }\n"
    "...\n";

TEST(a_map_in_yaml_has_names) {
    struct memory memory;
    struct xray_map map;
    struct scratch_file scratch;
    scratch_make(&scratch);
    scratch_write(&scratch, yaml, sizeof yaml - 1);
    memory_init(&memory, NULL, UINT64_MAX);
    assert_result_is(xray_map_open(&map, scratch.path, &memory), SYMBOL_FOUND);
    assert_true(map.has_names);
    assert_int_equal(xray_map_find(&map, 1)->address, 0x23660);
    assert_int_equal(xray_map_find(&map, 1)->sleds, 2);
    assert_string_equal(xray_map_find(&map, 1)->name, "main::$_0::operator()(int, 'x') const");
    assert_null(xray_map_find(&map, 2));
    assert_string_equal(xray_map_find(&map, 3)->name, "a \"b\" \x1b\xc3\xa9");
    xray_map_close(&map);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

/* Large ids need no memory for all smaller ids. */
TEST(a_map_of_far_ids_is_small) {
    static const char far[] = "- { id: 268435456, function: 0x10 }\n- { id: 1, function: 0x20 }\n"
                              "- { id: 2, function: 0x30 }\n- { id: 268435456, function: 0x10 }\n";
    struct memory memory;
    struct xray_map map;
    struct scratch_file scratch;
    scratch_make(&scratch);
    scratch_write(&scratch, far, sizeof far - 1);
    memory_init(&memory, NULL, 1 << 20);
    assert_result_is(xray_map_open(&map, scratch.path, &memory), SYMBOL_FOUND);
    assert_int_equal(xray_map_find(&map, 1u << 28)->address, 0x10);
    assert_int_equal(xray_map_find(&map, 1u << 28)->sleds, 2);
    assert_int_equal(xray_map_find(&map, 1)->address, 0x20);
    assert_int_equal(xray_map_find(&map, 2)->address, 0x30);
    assert_null(xray_map_find(&map, 3));
    assert_null(xray_map_find(&map, (1u << 28) - 1));
    assert_int_equal(map.count, 1 << 28);
    xray_map_close(&map);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(yaml_that_is_no_map_is_refused) {
    static const struct {
        const char *text;
        enum symbol_result result;
    } cases[] = {
        {"- { id: 1, function: 0x10 }\n- { id: 2 }\n", SYMBOL_DAMAGED},
        {"- { id: 1, function: 0x10 }\n- { id: 2, function: 0x20\n", SYMBOL_DAMAGED},
        {"- { id: 1, function: 0x10, function-name: 'a }\n", SYMBOL_NOT_ELF},
        {"- { id: 1, function: 0x10 }\n- { id: 0, function: 0x20 }\n", SYMBOL_DAMAGED},
        {"- { id: 1, function: 0x10 }\n- { id: -1, function: 0x20 }\n", SYMBOL_DAMAGED},
        {"- { id: 300000000, function: 0x10 }\n", SYMBOL_LIMIT},
        {"---\n...\n", SYMBOL_NO_MATCH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_result(cases[i].text, strlen(cases[i].text), cases[i].result);
}

TEST(every_allocation_of_reading_a_map_fails_once) {
    struct elf_bytes object;
    struct scratch_file scratch;
    struct failing_alloc failing;
    build_map(&object, &(struct map_recipe){.wide = true, .type = ET_DYN, .how = RELOCATED, .has_addend = true});
    scratch_make(&scratch);
    for (unsigned text = 0; text < 2; text++) {
        scratch_write(&scratch, text ? (const void *)yaml : object.at, text ? sizeof yaml - 1 : object.length);
        for (long n = 1;; n++) {
            struct memory memory;
            struct xray_map map;
            failing_alloc_begin(&failing, n);
            memory_init(&memory, &failing.alloc, UINT64_MAX);
            const enum symbol_result result = xray_map_open(&map, scratch.path, &memory);
            xray_map_close(&map);
            assert_int_equal(failing.blocks, 0);
            assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
            if (!failing.has_failed)
                break;
        }
    }
    scratch_remove(&scratch);
}

/* --- The corpus. */

static void compare_maps(const char *object, const char *text) {
    struct memory memory;
    struct xray_map of_object, of_text;
    memory_init(&memory, NULL, UINT64_MAX);
    assert_result_is(xray_map_open(&of_object, object, &memory), SYMBOL_FOUND);
    assert_result_is(xray_map_open(&of_text, text, &memory), SYMBOL_FOUND);
    assert_true(of_text.count > 0 && of_object.count == of_text.count);
    for (uint32_t id = 1; id <= of_text.count; id++) {
        const struct xray_function *a = xray_map_find(&of_object, id), *b = xray_map_find(&of_text, id);
        if (!a || !b || a->address != b->address || a->sleds != b->sleds || !b->name)
            fail_msg("%s: function %u", object, id);
    }
    xray_map_close(&of_object);
    xray_map_close(&of_text);
    assert_int_equal(memory.used, 0);
}

TEST(maps_of_binaries_equal_what_llvm_xray_extracts) {
    const char *corpus = getenv("PERFRAY_CORPUS");
    char folder[512], object[1024], text[1024];
    unsigned count = 0;
    snprintf(folder, sizeof folder, "%.400s/xray/bin", corpus ? corpus : "");
    DIR *dir = corpus ? opendir(folder) : NULL;
    if (!dir)
        skip();
    for (const struct dirent *e; (e = readdir(dir));) {
        snprintf(object, sizeof object, "%s/%.200s", folder, e->d_name);
        snprintf(text, sizeof text, "%.400s/xray/out/%.200s.extract.yaml", corpus, e->d_name);
        if (e->d_name[0] == '.' || access(text, R_OK) != 0)
            continue;
        compare_maps(object, text);
        count++;
    }
    closedir(dir);
    assert_int_equal(count, 17);
}
