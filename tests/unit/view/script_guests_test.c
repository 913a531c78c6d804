/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests: if an ID_INDEX names a guest, its records and samples have separate threads and memory. perf 6.1 printed the
 * same text for the same records.
 */
#include "../file/recording_builder.h"

#include <perfray/script.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_ROOM 4096
#define HOST FIRST_ID
#define GUEST (FIRST_ID + 1)
enum { USER = 2, GUEST_KERNEL = 4, GUEST_USER = 5 };

static void put_id_index(struct builder *b, uint64_t machine_pid) {
    put_head(b, 69, 0, 16 + 2 * 32 + 2 * 16);
    put_number(b, 2, 8);
    for (unsigned i = 0; i < 2; i++) {
        put_number(b, FIRST_ID + i, 8);
        put_room(b, 24);
    }
    put_room(b, 16);
    put_number(b, machine_pid, 8);
    put_number(b, 3, 8);
}

static void put_comm_in(struct builder *b, unsigned mode, const char *name, uint64_t id) {
    const size_t at = b->length;
    put_comm(b, 12, name, id);
    set_number(b, b->bytes + at + 4, mode, 2);
}

static void put_sample_in(struct builder *b, unsigned mode, uint64_t ip, uint64_t id) {
    const size_t at = b->length;
    put_sample(b, ip, id);
    set_number(b, b->bytes + at + 4, mode, 2);
}

static void put_map_in(struct builder *b, uint16_t mode, const char *name, uint64_t id) {
    put_head(b, 1, mode, 8 + 32 + 16 + 24);
    put_number(b, 12, 4);
    put_number(b, 12, 4);
    put_number(b, 0x1000, 8);
    put_number(b, 0x1000, 8);
    put_number(b, 0, 8);
    memcpy(put_room(b, 16), name, strlen(name));
    put_number(b, 12, 4);
    put_number(b, 12, 4);
    put_number(b, 1500, 8);
    put_number(b, id, 8);
}

static void build(struct builder *b, bool big, uint64_t machine_pid) {
    *b = (struct builder){.big = big};
    begin_file(b, &(struct plan){.header_size = 104, .events = 2});
    put_id_index(b, machine_pid);
    put_comm_in(b, 0, "host", HOST);
    put_comm_in(b, GUEST_USER, "guest", GUEST);
    put_map_in(b, GUEST_USER, "/bin/guest", GUEST);
    put_map_in(b, USER, "/bin/host", HOST);
    put_sample_in(b, USER, 0x1010, HOST);
    put_sample_in(b, GUEST_USER, 0x1020, GUEST);
    put_sample_in(b, GUEST_KERNEL, 0x1030, GUEST);
    put_sample_in(b, USER, 0x1040, GUEST);
    put_sample_in(b, GUEST_USER, 0x1050, HOST);
    end_file(b);
}

static void keep_note(void *context, const char *sentence) {
    char *kept = context;
    assert_int_equal(kept[0], '\0');
    snprintf(kept, TEXT_ROOM, "%s", sentence);
}

static void expect_text(const struct builder *b, const pfr_script_options *options, const char *wanted) {
    char text[TEXT_ROOM];
    pfr_error err = {0};
    const int fd = memfd_create("out", MFD_CLOEXEC);
    assert_true(fd >= 0);
    pfr_reader *reader = open_built(b, &err);
    pfr_output *out = pfr_output_open(fd, false, &err);
    assert_non_null(out);
    if (pfr_script_print(reader, options, out, &err) != PFR_OK)
        fail_msg("%s", err.text);
    assert_int_equal(pfr_output_close(out, NULL), PFR_OK);
    pfr_close(reader);
    const ssize_t length = pread(fd, text, TEXT_ROOM - 1, 0);
    assert_true(length >= 0);
    text[length] = '\0';
    close(fd);
    assert_string_equal(text, wanted);
}

TEST(a_guest_has_threads_and_memory_of_its_own) {
    static const char *const fields[] = {"machine_pid,vcpu,comm,tid,ip,sym,dso", NULL};
    const pfr_script_options options = {.size = sizeof options, .fields = fields};
    for (int big = 0; big < 2; big++) {
        struct builder b;
        build(&b, big, 777);
        expect_text(&b, &options,
                    "            host    12              1010 [unknown] (/bin/host)\n"
                    "VM:  777 VCPU:003            guest    12              1020 [unknown] (/bin/guest)\n"
                    "VM:  777 VCPU:003            guest    12              1030 [unknown] ([unknown])\n"
                    "VM:  777 VCPU:003             host    12              1040 [unknown] (/bin/host)\n"
                    "             :12    12              1050 [unknown] ([unknown])\n");
        free(b.bytes);
    }
}

TEST(without_one_in_the_index_its_samples_are_left_out) {
    static const char *const fields[] = {"machine_pid,vcpu,comm,tid,ip", NULL};
    char note[TEXT_ROOM] = "";
    const pfr_script_options options = {.size = sizeof options, .fields = fields, .note = keep_note, .context = note};
    struct builder b;
    build(&b, false, 0);
    expect_text(&b, &options,
                "           guest    12              1010\n"
                "           guest    12              1040\n");
    assert_string_equal(note, "3 samples of guests are left out: the recording does not say which guests");
    free(b.bytes);
}

TEST(guests_as_json) {
    static const char *const fields[] = {"machine_pid,vcpu,comm,misc", NULL};
    const pfr_script_options options = {.size = sizeof options, .format = PFR_SCRIPT_JSON, .fields = fields};
    struct builder b;
    build(&b, false, 777);
    expect_text(&b, &options,
                "{\"type\":\"head\",\"version\":1}\n"
                "{\"type\":\"sample\",\"comm\":\"host\",\"misc\":\"U\"}\n"
                "{\"type\":\"sample\",\"machine_pid\":777,\"vcpu\":3,\"comm\":\"guest\",\"misc\":\"KGg\"}\n"
                "{\"type\":\"sample\",\"machine_pid\":777,\"vcpu\":3,\"comm\":\"guest\",\"misc\":\"G\"}\n"
                "{\"type\":\"sample\",\"machine_pid\":777,\"vcpu\":3,\"comm\":\"host\",\"misc\":\"U\"}\n"
                "{\"type\":\"sample\",\"comm\":\":12\",\"misc\":\"KGg\"}\n");
    free(b.bytes);
}
