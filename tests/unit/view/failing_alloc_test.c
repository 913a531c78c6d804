/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of complete commands: every allocation of info, dump, report, symbols, latency, script, export, flame, verify,
 * convert and recover fails once, with recordings of each kind. Then the command reports the failure (PFR_ERR_MEMORY, a
 * message, no partial table), and no block, descriptor or file is leaked. If a command can continue without the
 * allocation, the output must be the same as without the failure.
 */
#include "failing_runs.h"

static void fail_all(const char *name) {
    struct scene scene;
    char path[RECORDED_PATH];
    begin_scene(&scene);
    fail_each_verb(&scene, recorded_path(path, name));
    end_scene(&scene);
}

TEST(every_allocation_of_a_verb_fails_once_file) {
    fail_all("cpu-clock.data");
}

TEST(every_allocation_of_a_verb_fails_once_addresses) {
    fail_all("addresses.data");
}

TEST(every_allocation_of_a_verb_fails_once_group) {
    fail_all("group.data");
}

TEST(every_allocation_of_a_verb_fails_once_build_ids) {
    fail_all("buildid-mmap.data");
}

TEST(every_allocation_of_a_verb_fails_once_bpf_program) {
    fail_all("bpf-program.data");
}

TEST(every_allocation_of_a_verb_fails_once_tracepoints) {
    fail_all("tracepoints.data");
}

TEST(every_allocation_of_a_verb_fails_once_pipe) {
    fail_all("pipe-tracepoints.data");
}

TEST(every_allocation_of_a_verb_fails_once_compressed) {
    fail_all("zstd.data");
}

TEST(every_allocation_of_a_verb_fails_once_counts) {
    fail_all("stat.data");
}

TEST(every_allocation_of_a_verb_fails_once_folder) {
    fail_all("threads-zstd.data");
}

TEST(every_allocation_of_a_verb_fails_once_symbols) {
    fail_all("demo.data");
}

static void fail_all_built(const struct builder *b) {
    struct scene scene;
    char path[64];
    begin_scene(&scene);
    snprintf(path, sizeof path, "%s/built", scene.folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, b->bytes, b->length) == (ssize_t)b->length);
    close(fd);
    fail_each_verb(&scene, path);
    unlink(path);
    end_scene(&scene);
    free(b->bytes);
}

TEST(every_allocation_of_a_verb_fails_once_other_byte_order) {
    struct builder b = {.big = true};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    put_comm(&b, 12, "twelve", FIRST_ID);
    put_sample(&b, 0x1000, FIRST_ID + 1);
    put_sample(&b, 0x2000, FIRST_ID);
    end_file(&b);
    fail_all_built(&b);
}

static void put_auxtrace(struct builder *b, uint32_t idx) {
    put_head(b, 71, 0, 48);
    put_number(b, 8, 8);
    put_room(b, 16);
    put_number(b, idx, 4);
    put_number(b, 7, 4);
    put_room(b, 8);
    put_bytes(b, "auxdata-", 8);
}

/* The recording has more AUX buffers than the initial table can hold. */
TEST(every_allocation_of_a_verb_fails_once_aux_data) {
    struct builder b = {.big = true};
    begin_pipe(&b, 1);
    put_comm(&b, 12, "twelve", 0);
    for (uint32_t idx = 0; idx < 20; idx++)
        put_auxtrace(&b, idx);
    put_sample(&b, 0x1000, 0);
    fail_all_built(&b);
}
