/* SPDX-License-Identifier: Apache-2.0 */
/* The notes in traces of the runtime (file/xray/recorder_notes.h). tests/support/recorder_files.py makes the traces. */
#include "file/xray/recorder_notes.h"

#include "file/xray/xray.h"
#include "test.h"
#include "xray_files.h"

#include <stdlib.h>

#define ROOM 65536u

static uint8_t bytes[ROOM];

static size_t load(const char *name) {
    char path[RECORDED_PATH], relative[64];
    snprintf(relative, sizeof relative, "../recorder/%s", name);
    FILE *file = fopen(recorded_path(path, relative), "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return size;
}

struct notes_result {
    pfr_status status;
    size_t functions, objects, calls, holes;
    uint64_t address;
    char name[432];
};

static void count_records(pfr_reader *r, struct notes_result *result) {
    pfr_record rec;
    pfr_status st;
    pfr_error err;
    while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END) {
        result->holes += st != PFR_OK;
        result->calls += st == PFR_OK && rec.type == PFR_TRACE_FUNCTION;
    }
}

/* The bytes are in a separate block, so that sanitizers detect reads beyond them. */
static struct notes_result read_notes(size_t size, uint64_t limit) {
    struct notes_result result = {.status = PFR_ERR_FORMAT};
    struct recorder_notes notes;
    struct memory memory;
    pfr_error err;
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    pfr_reader *r = pfr_open_bytes(copy, size, NULL, &err);
    memory_init(&memory, NULL, limit);
    if (r) {
        result.status = recorder_notes_read(r, &memory, &notes, &err);
        result.functions = notes.nr_functions;
        result.objects = notes.nr_objects;
        if (notes.nr_functions > 1)
            result.address = notes.functions[1].address;
        if (notes.nr_objects > 1)
            snprintf(result.name, sizeof result.name, "%s", notes.objects[1].path);
        for (size_t i = 0; i < notes.nr_objects; i++)
            assert_true(strlen(notes.objects[i].path) < sizeof notes.objects[i].path &&
                        notes.objects[i].build_id_size <= sizeof notes.objects[i].build_id);
        recorder_notes_free(&notes, &memory);
        count_records(r, &result);
    }
    pfr_close(r);
    free(copy);
    return result;
}

TEST(notes_are_read_from_unfinished_and_finished_traces) {
    static const struct {
        const char *name;
        size_t calls;
    } files[] = {{"lying.xray", 15}, {"ring.xray", 324}, {"finished.xray", 15}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct notes_result result = read_notes(load(files[i].name), 0);
        assert_int_equal(result.status, PFR_OK);
        assert_true(result.functions >= 4 && result.objects >= 2);
        assert_int_equal(result.address, 0x401100);
        assert_string_equal(result.name, "read\x1b[31m \"all\"\xe2\x80\xae;<b>");
        assert_int_equal(result.calls, files[i].calls);
        assert_int_equal(result.holes, 0);
    }
}

/* The numbers in the file are little-endian. */
static uint64_t little(uint64_t number) {
    return SWAP_OF_LITTLE ? __builtin_bswap64(number) : number;
}

/* A trace that was finished in place, also by a process that was killed before it truncated the file; and a truncated
 * trace whose control block does not say so. */
TEST(notes_of_settled_and_truncated_traces_are_read) {
    const size_t size = load("lying.xray");
    struct rtf_control c;
    memcpy(&c, bytes + RTF_CONTROL_AT, sizeof c);
    const uint64_t used = little(c.next_slot);
    const size_t end = (size_t)(little(c.slots_at) + used * little(c.slot_size));
    assert_true(used < little(c.nr_slots) && end < size);
    const struct notes_result cut = read_notes(end, 0);
    c.note.kind = SWAP_OF_LITTLE ? __builtin_bswap32(RTF_SETTLED) : RTF_SETTLED;
    c.nr_slots = c.next_slot;
    memcpy(bytes + RTF_CONTROL_AT, &c, sizeof c);
    memset(bytes + end, 0, RTF_EXTENTS);
    bytes[end] = 0x0f;
    const struct notes_result uncut = read_notes(size, 0), settled = read_notes(end + RTF_EXTENTS, 0);
    assert_true(cut.functions >= 4 && uncut.functions == cut.functions && settled.functions == cut.functions);
    assert_string_equal(cut.name, settled.name);
    assert_int_equal(uncut.calls, 15);
    assert_int_equal(settled.calls, 15);
    assert_int_equal(uncut.holes + settled.holes, 0);
}

TEST(notes_of_every_prefix_are_read) {
    static const char *const names[] = {"lying.xray", "finished.xray"};
    for (size_t i = 0; i < 2; i++) {
        const size_t size = load(names[i]);
        for (size_t length = 0; length < size; length += length < 4600 || length + 40 > size ? 1 : 31) {
            const struct notes_result result = read_notes(length, 0);
            assert_true(result.status == PFR_OK || result.status < 0);
        }
    }
}

TEST(notes_with_every_byte_changed_are_read) {
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    const size_t size = load("finished.xray");
    for (size_t at = 0; at < size; at += at < 400 || at > 2700 ? 1 : 11)
        for (size_t i = 0; i < sizeof changes; i++) {
            bytes[at] ^= changes[i];
            const struct notes_result result = read_notes(size, 0);
            assert_true(result.status == PFR_OK || result.status < 0);
            bytes[at] ^= changes[i];
        }
}

TEST(a_forged_control_block_is_ignored) {
    static const uint8_t changes[] = {0x01, 0x40, 0xff};
    const size_t size = load("lying.xray");
    for (size_t at = 32; at < 300; at++)
        for (size_t i = 0; i < sizeof changes; i++) {
            bytes[at] ^= changes[i];
            const struct notes_result result = read_notes(size, 0);
            assert_true(result.status == PFR_OK || result.status < 0);
            bytes[at] ^= changes[i];
        }
}

TEST(notes_beyond_the_limit_of_memory_are_an_error) {
    const size_t size = load("lying.xray");
    assert_int_equal(read_notes(size, 512).status, PFR_ERR_LIMIT);
}

TEST(traces_of_other_recorders_have_no_notes) {
    FILE *file;
    char path[RECORDED_PATH];
    file = fopen(recorded_path(path, "../xray/fdr-v5.xray"), "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const struct notes_result result = read_notes(size, 0);
    assert_int_equal(result.status, PFR_OK);
    assert_int_equal(result.functions + result.objects, 0);
}
