/* SPDX-License-Identifier: Apache-2.0 */
/* Code of jitdumps in the address spaces of a recording: with time stamps, with the CPU's time stamp counter, and with
   meaningless times. */
#include "../symbol/jit_dump_builder.h"
#include "../symbol/scratch_file.h"
#include "state_builder.h"

#include "base/failing_alloc.h"

/* A process whose dump, with the bytes in `b`, was mapped at time 10. */
struct made {
    struct memory memory;
    struct intern_table names;
    struct objects objects;
    struct spaces spaces;
    struct jit jit;
    uint32_t dump, space, child;
};

static pfr_status begin_made_within(struct made *m, const pfr_alloc *alloc, uint64_t limit, const char *path,
                                    const struct jit_clock *clock, pfr_error *err) {
    static const struct jit_request request = {.read = true, .grows = true};
    const struct record_key fork = {150, 1, 0};
    const pfr_text name = {.at = path, .length = (uint32_t)strlen(path)};
    *m = (struct made){.dump = NO_OBJECT};
    memory_init(&m->memory, alloc, limit);
    intern_init(&m->names, &m->memory);
    objects_init(&m->objects, &m->memory, &m->names);
    spaces_init(&m->spaces, &m->memory);
    jit_init(&m->jit, &m->memory, &request);
    m->jit.timed = true;
    m->jit.clock = *clock;
    PFR_TRY(spaces_new(&m->spaces, NO_SPACE, KEY_FIRST, &m->space, err));
    PFR_TRY(spaces_new(&m->spaces, m->space, fork, &m->child, err));
    PFR_TRY(objects_of_map(&m->objects, &name, 7, MAP_OF_CODE, NULL, 0, &m->dump, err));
    const struct jit_map map = {.object = m->dump, .space = m->space, .since = {10, 1000, 0}};
    return jit_meet(&m->jit, &m->objects, path, &m->spaces, &map, err);
}

static pfr_status begin_made(struct made *m, const pfr_alloc *alloc, const char *path, const struct jit_clock *clock,
                             pfr_error *err) {
    return begin_made_within(m, alloc, 0, path, clock, err);
}

static void end_made(struct made *m) {
    jit_free(&m->jit);
    spaces_free(&m->spaces);
    objects_free(&m->objects);
    intern_free(&m->names);
    assert_int_equal(m->memory.used, 0);
}

/* The code at an address; "-": no generated code. */
static const char *made_at(const struct made *m, uint32_t space, uint64_t address, uint64_t time) {
    const struct jit_dump *d = jit_dump_of(&m->jit, m->dump);
    struct record_key since;
    const struct map *map = space_find_code(&m->spaces, space, address, (struct record_key){time, 5000, 0}, &since);
    if (!map || map->object == NO_OBJECT)
        return "-";
    assert_int_equal(map->object, m->dump);
    return intern_chars(&d->names, jit_dump_code(d, address - map->start + map->pgoff)->name);
}

static void make_moves(struct builder *b, uint64_t flags) {
    begin_dump(b, flags);
    put_load(b, 100, 0x1000, 16, 5, "first");
    put_move(b, 200, 0x1000, 0x2000, 16, 5);
    put_load(b, 300, 0x1008, 16, 6, "second");
}

static void write_moves(struct scratch_file *scratch, uint64_t flags) {
    struct builder b = {0};
    make_moves(&b, flags);
    scratch_make(scratch);
    scratch_write(scratch, b.bytes, b.length);
    free(b.bytes);
}

TEST(jit_code_is_found_at_the_timestamp) {
    static const struct jit_clock monotonic = {.monotonic = true};
    struct scratch_file scratch;
    struct made m;
    pfr_error err;
    write_moves(&scratch, 0);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, &monotonic, &err), err);
    assert_int_equal(m.objects.at[m.dump].kind, OBJECT_JITDUMP);
    assert_false(m.jit.misplaced);
    assert_string_equal(made_at(&m, m.space, 0x1000, 99), "-");
    assert_string_equal(made_at(&m, m.space, 0x1000, 100), "first");
    assert_string_equal(made_at(&m, m.space, 0x100f, 199), "first");
    assert_string_equal(made_at(&m, m.space, 0x2000, 199), "-");
    assert_string_equal(made_at(&m, m.space, 0x1000, 200), "-");
    assert_string_equal(made_at(&m, m.space, 0x200f, 250), "first");
    assert_string_equal(made_at(&m, m.space, 0x2010, 250), "-");
    assert_string_equal(made_at(&m, m.space, 0x1007, 300), "-");
    assert_string_equal(made_at(&m, m.space, 0x1008, 300), "second");
    /* A child has the code that existed when it was forked. */
    assert_string_equal(made_at(&m, m.child, 0x1000, 250), "first");
    assert_string_equal(made_at(&m, m.child, 0x2000, 250), "-");
    ASSERT_OK(spaces_seal(&m.spaces, &err), err);
    assert_string_equal(made_at(&m, m.space, 0x1000, 150), "first");
    end_made(&m);
    scratch_remove(&scratch);
}

TEST(jit_code_with_timestamps_of_the_cpu_counter) {
    static const struct jit_clock counter = {.known = true, .shift = 1, .multiplier = 4, .zero = 1000};
    struct scratch_file scratch;
    struct made m;
    pfr_error err;
    write_moves(&scratch, 1);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, &counter, &err), err);
    assert_false(m.jit.misplaced);
    assert_string_equal(made_at(&m, m.space, 0x1000, 1199), "-");
    assert_string_equal(made_at(&m, m.space, 0x1000, 1200), "first");
    assert_string_equal(made_at(&m, m.space, 0x2000, 1400), "first");
    end_made(&m);
    scratch_remove(&scratch);
}

static void take_note(void *context, const char *sentence) {
    snprintf(context, TEXT_ROOM, "%s", sentence);
}

TEST(jit_code_of_another_clock_is_found_where_it_was_last) {
    static const struct jit_clock unknown;
    char notes[TEXT_ROOM] = "";
    struct scratch_file scratch;
    struct made m;
    pfr_error err;
    write_moves(&scratch, 0);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, &unknown, &err), err);
    assert_true(m.jit.misplaced);
    assert_string_equal(made_at(&m, m.space, 0x1008, 9), "-");
    assert_string_equal(made_at(&m, m.space, 0x1008, 11), "second");
    assert_string_equal(made_at(&m, m.space, 0x2000, 11), "first");
    jit_note(&m.jit, &m.objects, take_note, notes);
    assert_non_null(strstr(notes, "-k mono"));
    end_made(&m);
    scratch_remove(&scratch);
}

TEST(jit_code_of_a_growing_dump) {
    static const struct jit_clock monotonic = {.monotonic = true};
    struct scratch_file scratch;
    struct builder b = {0};
    struct made m;
    pfr_error err;
    make_moves(&b, 0);
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, DUMP_HEADER + 3);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, &monotonic, &err), err);
    assert_string_equal(made_at(&m, m.space, 0x2000, 250), "-");
    scratch_write(&scratch, b.bytes, b.length);
    ASSERT_OK(jit_catch_up(&m.jit, &m.spaces, &err), err);
    assert_string_equal(made_at(&m, m.space, 0x2000, 250), "first");
    end_made(&m);
    scratch_remove(&scratch);
    free(b.bytes);
}

static void meet_again(struct made *m, const struct scratch_file *scratch, uint32_t space, uint64_t time) {
    const struct jit_map map = {.object = m->dump, .space = space, .since = {time, 1000 + time, 0}};
    pfr_error err;
    ASSERT_OK(jit_meet(&m->jit, &m->objects, scratch->path, &m->spaces, &map, &err), err);
}

/* If a dump is mapped repeatedly, by its process or by others, each mapping costs little memory: the code is stored
   once. */
static void map_often(const struct jit_clock *clock) {
    enum { PROCESSES = 200, AGAIN = 3 };
    struct scratch_file scratch;
    struct made m;
    uint32_t space = NO_SPACE;
    pfr_error err;
    write_moves(&scratch, 0);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, clock, &err), err);
    const size_t before = m.spaces.count;
    for (unsigned i = 0; i < PROCESSES; i++) {
        ASSERT_OK(spaces_new(&m.spaces, NO_SPACE, KEY_FIRST, &space, &err), err);
        for (unsigned again = 0; again < AGAIN; again++)
            meet_again(&m, &scratch, space, 20 + again);
    }
    assert_int_equal(m.spaces.count, before + PROCESSES);
    assert_int_equal(m.spaces.nr_codes, 1 + PROCESSES);
    ASSERT_OK(spaces_seal(&m.spaces, &err), err);
    assert_string_equal(made_at(&m, space, 0x200f, 250), "first");
    assert_string_equal(made_at(&m, space, 0x1008, 300), "second");
    assert_string_equal(made_at(&m, space, 0x1008, 19), "-");
    end_made(&m);
    scratch_remove(&scratch);
}

TEST(jit_code_is_stored_once_for_all_processes_that_map_it) {
    static const struct jit_clock monotonic = {.monotonic = true}, unknown;
    map_often(&monotonic);
    map_often(&unknown);
}

/* Another dump in the same address space. */
static void meet_other(struct made *m, const struct scratch_file *scratch, unsigned number) {
    char path[200];
    pfr_error err;
    uint32_t object = NO_OBJECT;
    snprintf(path, sizeof path, "%s/jit-%u.dump", scratch->folder, number);
    assert_int_equal(link(scratch->path, path), 0);
    const pfr_text name = {.at = path, .length = (uint32_t)strlen(path)};
    ASSERT_OK(objects_of_map(&m->objects, &name, 7, MAP_OF_CODE, NULL, 0, &object, &err), err);
    const struct jit_map map = {.object = object, .space = m->space, .since = {10, 2000, 0}};
    ASSERT_OK(jit_meet(&m->jit, &m->objects, path, &m->spaces, &map, &err), err);
    unlink(path);
}

TEST(jit_code_of_too_many_dumps_in_one_process_is_reported) {
    static const struct jit_clock monotonic = {.monotonic = true};
    char notes[TEXT_ROOM] = "";
    struct scratch_file scratch;
    struct made m;
    pfr_error err;
    write_moves(&scratch, 0);
    ASSERT_OK(begin_made(&m, NULL, scratch.path, &monotonic, &err), err);
    for (unsigned i = 1; i < SPACE_CODES_MOST; i++)
        meet_other(&m, &scratch, i);
    jit_note(&m.jit, &m.objects, take_note, notes);
    assert_string_equal(notes, "");
    meet_other(&m, &scratch, SPACE_CODES_MOST);
    jit_note(&m.jit, &m.objects, take_note, notes);
    assert_non_null(strstr(notes, "1 mappings of jitdumps were ignored"));
    end_made(&m);
    scratch_remove(&scratch);
}

enum { LOADS = 5000, SMALL_MEMORY = 1 << 20 };

/* The loads of the dump need more than all memory: it loses names, and leaves half of the memory for everything
   else. */
TEST(jit_code_beyond_the_memory_limit_loses_names) {
    static const struct jit_clock monotonic = {.monotonic = true};
    char notes[TEXT_ROOM] = "";
    struct scratch_file scratch;
    struct builder b = {0};
    struct made m;
    pfr_error err;
    begin_dump(&b, 0);
    for (uint64_t i = 0; i < LOADS; i++)
        put_load(&b, 100 + i, 0x1000 + 32 * i, 16, i, "made");
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    free(b.bytes);
    ASSERT_OK(begin_made_within(&m, NULL, SMALL_MEMORY, scratch.path, &monotonic, &err), err);
    assert_true(m.memory.used < SMALL_MEMORY / 2);
    assert_string_equal(made_at(&m, m.space, 0x1000, 100000), "made");
    assert_string_equal(made_at(&m, m.space, 0x1000 + 32 * (LOADS - 1), 100000), "-");
    jit_note(&m.jit, &m.objects, take_note, notes);
    assert_non_null(strstr(notes, "later code has no names"));
    end_made(&m);
    scratch_remove(&scratch);
}

TEST(jit_code_every_allocation_fails_once) {
    static const struct jit_clock monotonic = {.monotonic = true};
    struct scratch_file scratch;
    struct failing_alloc failing;
    write_moves(&scratch, 0);
    for (long n = 1;; n++) {
        struct made m;
        pfr_error err;
        failing_alloc_begin(&failing, n);
        const pfr_status st = begin_made(&m, &failing.alloc, scratch.path, &monotonic, &err);
        end_made(&m);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (!failing.has_failed)
            break;
    }
    scratch_remove(&scratch);
}

/* The place of a sample as text: "made" in the dump, otherwise the path of the mapping. */
static void find_made_in(struct record_builder *s, bool read, const char *dump, const char *expected) {
    const struct state_watch watch = {.jit = {.read = read}};
    struct memory memory;
    struct state state;
    struct found found = {.places = ""};
    pfr_error err;
    pfr_reader *reader = open_built(&s->b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build_watched(&state, reader, &memory, &watch, &err), err);
    find_samples(&state, reader, &found);
    for (char *at; (at = strstr(found.places, dump));)
        memmove(at, at + strlen(dump) - 4, strlen(at + strlen(dump) - 4) + 1); /* the remaining text is "dump" */
    assert_string_equal(found.places, expected);
    state_free(&state);
    pfr_close(reader);
}

/* Anonymous memory that is mapped again does not hide the generated code there; a file that is mapped later does. */
TEST(jit_code_and_the_maps_around_it) {
    struct scratch_file scratch;
    struct record_builder s;
    char dump[128];
    write_moves(&scratch, 0);
    snprintf(dump, sizeof dump, "%s/jit-7.dump", scratch.folder);
    assert_int_equal(rename(scratch.path, dump), 0);
    begin_records(&s, TIMED);
    add_mmap(&s, 2, 7, 7, 0x1000, 0x2000, "//anon", 10);
    add_mmap(&s, 2, 7, 7, 0x100000, 0x1000, dump, 20);
    add_mmap(&s, 2, 7, 7, 0x1000, 0x2000, "//anon", 30);
    add_sample(&s, 2, 7, 7, 0x2008, 40);
    add_sample(&s, 2, 7, 7, 0x2018, 41);
    add_sample(&s, 2, 7, 7, 0x2008, 15);
    add_mmap(&s, 2, 7, 7, 0x2000, 0x1000, "/lib", 50);
    add_sample(&s, 2, 7, 7, 0x2008, 60);
    add_sample(&s, 2, 7, 7, 0x1008, 60);
    end_file(&s.b);
    find_made_in(&s, true, dump, "dump //anon //anon /lib dump");
    find_made_in(&s, false, dump, "//anon //anon //anon /lib //anon");
    free(s.b.bytes);
    unlink(dump);
    scratch_remove(&scratch);
}
