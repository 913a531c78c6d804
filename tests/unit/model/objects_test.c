/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: which mappings belong to the same object, the names of objects, and build-ids given by path. */
#include "test.h"

#include <string.h>
#include "model/state/objects.h"

struct scene {
    struct memory memory;
    struct intern_table names;
    struct objects objects;
};

static void begin_scene(struct scene *s) {
    memory_init(&s->memory, NULL, 0);
    intern_init(&s->names, &s->memory);
    objects_init(&s->objects, &s->memory, &s->names);
}

static void end_scene(struct scene *s) {
    objects_free(&s->objects);
    intern_free(&s->names);
    assert_int_equal(s->memory.used, 0);
}

static pfr_text text_of(const char *text) {
    return (pfr_text){.at = text, .length = (uint32_t)strlen(text)};
}

static uint32_t map_object(struct scene *s, const char *path, uint32_t pid, bool kernel, const char *build_id) {
    const pfr_text text = text_of(path);
    uint32_t object;
    pfr_error err;
    ASSERT_OK(objects_of_map(&s->objects, &text, pid, kernel ? MAP_OF_KERNEL : MAP_OF_CODE, (const uint8_t *)build_id,
                             (unsigned)strlen(build_id), &object, &err),
              err);
    return object;
}

static void expect_name(struct scene *s, const char *path, bool kernel, unsigned kind, const char *name) {
    const uint32_t object = map_object(s, path, 33, kernel, "");
    const struct object *o = &s->objects.at[object];
    assert_string_equal(intern_chars(&s->names, o->short_name), name);
    assert_string_equal(intern_chars(&s->names, o->path), path);
    assert_int_equal(o->kind, kind);
}

TEST(objects_are_called_as_in_reports) {
    struct scene s;
    begin_scene(&s);
    expect_name(&s, "/usr/lib/libc.so.6", false, OBJECT_FILE, "libc.so.6");
    expect_name(&s, "relative", false, OBJECT_OTHER, "relative");
    expect_name(&s, "", false, OBJECT_OTHER, "");
    expect_name(&s, "[heap]", false, OBJECT_ANONYMOUS, "[JIT] tid 33");
    expect_name(&s, "[vdso]", false, OBJECT_VDSO, "[vdso]");
    expect_name(&s, "//anon", false, OBJECT_ANONYMOUS, "[JIT] tid 33");
    expect_name(&s, "/dev/zero (deleted)", false, OBJECT_ANONYMOUS, "[JIT] tid 33");
    expect_name(&s, "/lib/modules/a-b.ko.xz", true, OBJECT_MODULE, "[a_b]");
    expect_name(&s, "[bpf]", true, OBJECT_MODULE, "[bpf]");
    expect_name(&s, "[kernel.kallsyms]_text", true, OBJECT_KERNEL, "[kernel.kallsyms]");
    expect_name(&s, "[guest.kernel.kallsyms]", true, OBJECT_KERNEL, "[guest.kernel.kallsyms]");
    end_scene(&s);
}

#define DRAWS 4000u

struct drawn {
    const char *path, *build_id;
    uint32_t pid, object;
    enum map_use use;
    bool in_no_file;
};

static bool are_one_object(const struct drawn *a, const struct drawn *b) {
    const bool a_anonymous = a->in_no_file && a->use == MAP_OF_CODE;
    const bool b_anonymous = b->in_no_file && b->use == MAP_OF_CODE;
    return strcmp(a->path, b->path) == 0 && strcmp(a->build_id, b->build_id) == 0 &&
           (a->use == MAP_OF_KERNEL) == (b->use == MAP_OF_KERNEL) && a_anonymous == b_anonymous &&
           (!a_anonymous || a->pid == b->pid);
}

/* Objects are found again, no matter what was mapped in between; some paths have the same end. */
TEST(objects_are_found_again) {
    static const char *const paths[] = {
        "/a/libx.so.6", "/b/libx.so.6", "/longer/libx.so.6", "//anon", "[heap]", "", "x"};
    static const char *const ids[] = {"", "aaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaab", "aaaa"};
    static struct drawn drawn[DRAWS];
    uint32_t seed = 1;
    struct scene s;
    begin_scene(&s);
    for (size_t i = 0; i < DRAWS; i++) {
        const uint32_t r = (seed = seed * 1664525u + 1013904223u) >> 8;
        struct drawn *d = &drawn[i];
        *d = (struct drawn){.path = paths[r % 7],
                            .build_id = ids[r / 7 % 4],
                            .pid = 1 + r / 28 % 3,
                            .use = (enum map_use)(r / 84 % 3),
                            .in_no_file = r % 7 == 3 || r % 7 == 4};
        const pfr_text text = text_of(d->path);
        pfr_error err;
        ASSERT_OK(objects_of_map(&s.objects, &text, d->pid, d->use, (const uint8_t *)d->build_id,
                                 (unsigned)strlen(d->build_id), &d->object, &err),
                  err);
        for (size_t k = i > 300 ? i - 300 : 0; k < i; k++)
            assert_int_equal(drawn[k].object == d->object, are_one_object(&drawn[k], d));
    }
    end_scene(&s);
}

/* Names longer than the buffer for generated names are not truncated. */
TEST(objects_keep_long_names) {
    char path[4096];
    struct scene s;
    begin_scene(&s);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    expect_name(&s, path, false, OBJECT_OTHER, path);
    memcpy(path + sizeof path - 4, ".ko", 3);
    expect_name(&s, path, true, OBJECT_MODULE, path);
    end_scene(&s);
}

TEST(objects_are_one_per_path_and_build_id) {
    struct scene s;
    begin_scene(&s);
    const uint32_t a = map_object(&s, "/lib/a", 1, false, "");
    assert_int_equal(map_object(&s, "/lib/a", 2, false, ""), a);
    assert_int_not_equal(map_object(&s, "/lib/b", 1, false, ""), a);
    assert_int_not_equal(map_object(&s, "/lib/a", 1, true, ""), a);
    const uint32_t known = map_object(&s, "/lib/a", 1, false, "\1\2\3\4");
    assert_int_not_equal(known, a);
    assert_int_equal(map_object(&s, "/lib/a", 7, false, "\1\2\3\4"), known);
    assert_int_equal(s.objects.at[known].build_id_size, 4);
    assert_memory_equal(s.objects.at[known].build_id, "\1\2\3\4", 4);
    end_scene(&s);
}

TEST(objects_of_anonymous_memory_without_code_are_memory) {
    struct scene s;
    const pfr_text text = text_of("//anon");
    uint32_t data, again;
    pfr_error err;
    begin_scene(&s);
    const uint32_t code = map_object(&s, "//anon", 7, false, "");
    ASSERT_OK(objects_of_map(&s.objects, &text, 7, MAP_OF_DATA, NULL, 0, &data, &err), err);
    ASSERT_OK(objects_of_map(&s.objects, &text, 8, MAP_OF_DATA, NULL, 0, &again, &err), err);
    assert_int_equal(s.objects.at[code].kind, OBJECT_ANONYMOUS);
    assert_int_equal(s.objects.at[data].kind, OBJECT_MEMORY);
    assert_int_equal(again, data);
    end_scene(&s);
}

TEST(objects_of_anonymous_memory_are_one_per_process) {
    struct scene s;
    begin_scene(&s);
    const uint32_t seven = map_object(&s, "//anon", 7, false, ""), eight = map_object(&s, "//anon", 8, false, "");
    assert_int_not_equal(seven, eight);
    assert_int_equal(map_object(&s, "//anon", 7, false, ""), seven);
    assert_string_equal(intern_chars(&s.names, s.objects.at[eight].short_name), "[JIT] tid 8");
    end_scene(&s);
}

/* Bytes beyond the maximum length of a build-id are dropped. */
TEST(objects_cut_long_build_ids) {
    struct scene s;
    begin_scene(&s);
    const uint32_t o = map_object(&s, "/lib/a", 7, false, "abcdefghijklmnopqrstuvwxyz");
    assert_int_equal(s.objects.at[o].build_id_size, BUILD_ID_ROOM);
    assert_memory_equal(s.objects.at[o].build_id, "abcdefghijklmnopqrst", BUILD_ID_ROOM);
    end_scene(&s);
}

static void learn(struct scene *s, uint16_t misc, const char *path, const char *id, uint8_t length) {
    uint8_t bytes[24] = {0};
    pfr_error err;
    memcpy(bytes, id, strlen(id));
    const struct pfr_rec_build_id_entry entry = {
        .misc = misc, .build_id = {.at = bytes, .length = BUILD_ID_ROOM}, .length = length, .filename = text_of(path)};
    ASSERT_OK(objects_learn(&s->objects, &entry, &err), err);
}

TEST(objects_learn_build_ids_by_path) {
    enum { USER = 2, SIZED = 0x8000 };
    struct scene s;
    begin_scene(&s);
    const uint32_t a = map_object(&s, "/lib/a", 7, false, ""), b = map_object(&s, "/lib/b", 7, false, ""),
                   own = map_object(&s, "/lib/b", 7, false, "own"), c = map_object(&s, "/lib/c", 7, false, "");
    learn(&s, USER | SIZED, "/lib/a", "12345", 5);
    learn(&s, USER, "/lib/b", "123456789", 0);
    learn(&s, USER | SIZED, "/lib", "1", 255);
    assert_int_equal(s.objects.at[a].build_id_size, 5);
    assert_memory_equal(s.objects.at[a].build_id, "12345", 5);
    assert_int_equal(s.objects.at[b].build_id_size, 12);
    assert_memory_equal(s.objects.at[b].build_id, "123456789\0\0\0", 12);
    assert_int_equal(s.objects.at[own].build_id_size, 3);
    assert_int_equal(s.objects.at[c].build_id_size, 0);
    learn(&s, USER | SIZED, "/lib/d", "first", 5);
    learn(&s, USER | SIZED, "/lib/d", "again", 5);
    const uint32_t d = map_object(&s, "/lib/d", 7, false, "");
    assert_int_equal(s.objects.at[d].build_id_size, 5);
    assert_memory_equal(s.objects.at[d].build_id, "first", 5);
    end_scene(&s);
}

TEST(objects_learn_what_the_kernel_is_called) {
    enum { KERNEL = 1 };
    struct scene s;
    begin_scene(&s);
    const uint32_t kernel = map_object(&s, "[kernel.kallsyms]_text", UINT32_MAX, true, ""),
                   module = map_object(&s, "/lib/modules/m.ko", UINT32_MAX, true, "");
    learn(&s, KERNEL, "/lib/modules/m.ko", "modl", 0);
    assert_int_equal(s.objects.at[kernel].build_id_size, 0);
    learn(&s, KERNEL, "/boot/vmlinux", "kern", 0);
    assert_memory_equal(s.objects.at[kernel].build_id, "kern", 4);
    assert_memory_equal(s.objects.at[module].build_id, "modl", 4);
    assert_string_equal(intern_chars(&s.names, s.objects.at[kernel].short_name), "[kernel.vmlinux]");
    assert_string_equal(intern_chars(&s.names, s.objects.at[module].short_name), "[m]");
    end_scene(&s);
}
