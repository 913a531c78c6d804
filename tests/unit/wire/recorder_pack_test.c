/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the contents of slots into a trace without slots (wire/recorder_pack.h). tests/support/recorder_files.py makes
   the inputs. */
#include "wire/recorder_pack.h"

/* Traces are packed on the machine that recorded them, which is never big-endian. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 65536u

struct scene {
    uint8_t bytes[ROOM], made[4 * ROOM], room[512];
    size_t size, made_size, reads, writes, fail_read, fail_write;
    struct rtf_pack pack;
};

static size_t load(const char *name, uint8_t *to) {
    char path[512];
    const char *fixtures = getenv("FIXTURES");
    assert_non_null(fixtures);
    snprintf(path, sizeof path, "%s/recorder/%s", fixtures, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(to, 1, ROOM, file);
    fclose(file);
    return size;
}

static bool read_at(void *context, uint64_t at, void *to, size_t size) {
    struct scene *s = context;
    if (++s->reads == s->fail_read)
        return false;
    assert_true(at <= s->size && size <= s->size - at);
    memcpy(to, s->bytes + at, size);
    return true;
}

static bool write_out(void *context, const void *bytes, size_t size) {
    struct scene *s = context;
    if (++s->writes == s->fail_write)
        return false;
    assert_true(size <= sizeof s->made - s->made_size);
    memcpy(s->made + s->made_size, bytes, size);
    s->made_size += size;
    return true;
}

static enum rtf_packed pack(struct scene *s) {
    s->made_size = s->reads = s->writes = 0;
    s->pack = (struct rtf_pack){.read = read_at,
                                .write = write_out,
                                .context = s,
                                .size = s->size,
                                .room = s->room,
                                .room_size = sizeof s->room};
    return rtf_pack_run(&s->pack);
}

static struct scene scene;

TEST(traces_of_killed_programs_are_packed) {
    static uint8_t expected[ROOM];
    const size_t size = load("finished.xray", expected);
    scene = (struct scene){0};
    scene.size = load("lying.xray", scene.bytes);
    assert_int_equal(pack(&scene), RTF_PACKED);
    assert_int_equal(scene.made_size, size);
    assert_memory_equal(scene.made, expected, size);
}

TEST(a_ring_is_packed_from_its_oldest_slot_on) {
    scene = (struct scene){0};
    scene.size = load("ring.xray", scene.bytes);
    assert_int_equal(pack(&scene), RTF_PACKED);
    /* the times of the buffers, from their NewCPUId */
    uint64_t tsc[4];
    const size_t each = 80 + 81 * 8;
    for (size_t i = 0; i < 4; i++)
        memcpy(&tsc[i], scene.made + scene.made_size - (4 - i) * each + 67, 8);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(tsc[i], 40000 + 10000 * i);
}

TEST(the_frequency_is_the_one_given) {
    uint64_t frequency;
    scene = (struct scene){0};
    scene.size = load("lying.xray", scene.bytes);
    scene.pack = (struct rtf_pack){.read = read_at,
                                   .write = write_out,
                                   .context = &scene,
                                   .size = scene.size,
                                   .room = scene.room,
                                   .room_size = sizeof scene.room,
                                   .frequency = 12345};
    assert_int_equal(rtf_pack_run(&scene.pack), RTF_PACKED);
    memcpy(&frequency, scene.made + 8, sizeof frequency);
    assert_int_equal(frequency, 12345);
}

TEST(the_recorded_data_are_measured) {
    struct rtf_use use;
    scene = (struct scene){0};
    scene.size = load("lying.xray", scene.bytes);
    assert_int_equal(pack(&scene), RTF_PACKED);
    assert_int_equal(rtf_pack_measure(&scene.pack, &use), RTF_PACKED);
    assert_int_equal(use.slots, scene.pack.control.next_slot);
    assert_true(use.records >= 15 * 8 && use.bytes > use.records && use.bytes <= scene.made_size);
    const size_t reads = scene.reads;
    scene.reads = 0;
    for (scene.fail_read = 1; scene.fail_read < 4 && scene.fail_read <= reads; scene.fail_read++, scene.reads = 0)
        assert_int_equal(rtf_pack_measure(&scene.pack, &use), RTF_NO_READ);
}

TEST(every_read_and_write_of_packing_fails_once) {
    scene = (struct scene){0};
    scene.size = load("lying.xray", scene.bytes);
    assert_int_equal(pack(&scene), RTF_PACKED);
    const size_t reads = scene.reads, writes = scene.writes;
    assert_true(reads > 15 && writes > 10);
    for (scene.fail_read = 1; scene.fail_read <= reads; scene.fail_read++)
        assert_int_equal(pack(&scene), RTF_NO_READ);
    scene.fail_read = 0;
    for (scene.fail_write = 1; scene.fail_write <= writes; scene.fail_write++)
        assert_int_equal(pack(&scene), RTF_NO_WRITE);
}

/* read_at checks that nothing outside of the file is read; write_out checks that the output is not longer than the
   input. */
TEST(forged_traces_are_refused) {
    static const char *const names[] = {"lying.xray", "ring.xray"};
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    for (size_t n = 0; n < 2; n++) {
        scene = (struct scene){0};
        scene.size = load(names[n], scene.bytes);
        for (size_t at = 0; at < scene.size; at += at < 600 ? 1 : 13)
            for (size_t i = 0; i < sizeof changes; i++) {
                scene.bytes[at] ^= changes[i];
                const enum rtf_packed result = pack(&scene);
                assert_true(result == RTF_PACKED || result == RTF_NOT_OURS);
                scene.bytes[at] ^= changes[i];
            }
    }
}

TEST(a_cut_or_finished_trace_is_not_packed) {
    scene = (struct scene){0};
    const size_t size = load("lying.xray", scene.bytes);
    for (scene.size = 0; scene.size < size - RTF_EXTENTS; scene.size += scene.size < 4096 ? 1 : 97)
        assert_int_equal(pack(&scene), RTF_NOT_OURS);
    scene.size = load("finished.xray", scene.bytes);
    assert_int_equal(pack(&scene), RTF_NOT_OURS);
}

#endif
