/* SPDX-License-Identifier: Apache-2.0 */
/* A file is written completely or not at all, and never through a link. */
#include "../test.h"

#include "base/io/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char folder[40], path[60];
    struct memory memory;
};

static void begin_place(struct place *p) {
    strcpy(p->folder, "/tmp/perfray-whole-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/made", p->folder);
    memory_init(&p->memory, NULL, 0);
}

/* Removes the file and the folder; checks that the folder contains nothing else, and that no memory is in use. */
static void end_place(struct place *p) {
    unlink(p->path);
    assert_int_equal(rmdir(p->folder), 0);
    assert_int_equal(p->memory.used, 0);
}

static pfr_status write_file(struct place *p, const char *text, bool is_whole) {
    struct whole_file file;
    struct output out;
    pfr_error err;
    ASSERT_OK(whole_file_open(&file, p->path, &p->memory, &out, &err), err);
    out_text(&out, text);
    return whole_file_close(&file, &out, is_whole, &err);
}

static void assert_content(const char *path, const char *text) {
    char bytes[64] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, bytes, sizeof bytes - 1), (ssize_t)strlen(text));
    close(fd);
    assert_string_equal(bytes, text);
}

TEST(whole_file_takes_its_name_at_the_end) {
    struct place p;
    struct stat st;
    begin_place(&p);
    assert_int_equal(write_file(&p, "one", true), PFR_OK);
    assert_int_equal(write_file(&p, "two", true), PFR_OK);
    assert_content(p.path, "two");
    assert_int_equal(stat(p.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    end_place(&p);
}

TEST(whole_file_removes_incomplete_files) {
    struct place p;
    begin_place(&p);
    assert_int_equal(write_file(&p, "one", false), PFR_OK);
    assert_int_equal(access(p.path, F_OK), -1);
    assert_int_equal(write_file(&p, "old", true), PFR_OK);
    assert_int_equal(write_file(&p, "new", false), PFR_OK);
    assert_content(p.path, "old");
    end_place(&p);
}

TEST(whole_file_writes_into_a_device_and_leaves_it) {
    struct place p;
    struct stat st;
    pfr_error err;
    begin_place(&p);
    assert_int_equal(whole_file_may_be("/dev/null", &err), PFR_ERR_USAGE);
    assert_int_equal(whole_file_may_go_to("/dev/null", &err), PFR_OK);
    assert_int_equal(whole_file_may_go_to(p.folder, &err), PFR_ERR_USAGE);
    for (unsigned whole = 0; whole < 2; whole++) {
        strcpy(p.path, "/dev/null");
        assert_int_equal(write_file(&p, "text", whole), PFR_OK);
        assert_int_equal(lstat("/dev/null", &st), 0);
        assert_true(S_ISCHR(st.st_mode));
    }
    strcpy(p.path, "/dev/full");
    assert_int_equal(write_file(&p, "text", true), PFR_ERR_IO);
    snprintf(p.path, sizeof p.path, "%s/made", p.folder);
    end_place(&p);
}

TEST(whole_file_does_not_follow_a_link_at_its_temporary_name) {
    struct place p;
    struct whole_file file;
    struct output out;
    pfr_error err;
    char first[80], victim[60];
    begin_place(&p);
    snprintf(first, sizeof first, "%s.%ld.new", p.path, (long)getpid());
    snprintf(victim, sizeof victim, "%s/victim", p.folder);
    assert_int_equal(symlink(victim, first), 0);
    assert_int_equal(whole_file_open(&file, p.path, &p.memory, &out, &err), PFR_ERR_IO);
    assert_int_equal(access(victim, F_OK), -1);
    assert_int_equal(unlink(first), 0);
    end_place(&p);
}

TEST(whole_file_replaces_only_regular_files) {
    struct place p;
    pfr_error err;
    begin_place(&p);
    assert_int_equal(whole_file_may_be(p.path, &err), PFR_OK);
    assert_int_equal(whole_file_may_be("/dev/null", &err), PFR_ERR_USAGE);
    assert_int_equal(whole_file_may_be(p.folder, &err), PFR_ERR_USAGE);
    assert_int_equal(symlink("/nowhere", p.path), 0);
    assert_int_equal(whole_file_may_be(p.path, &err), PFR_ERR_USAGE);
    end_place(&p);
}
