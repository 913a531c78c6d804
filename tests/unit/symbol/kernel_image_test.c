/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of kernel symbols gives the same results as the list, and a changed byte is detected. */
#include "symbol/kernel/kernel_image.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include "scratch_file.h"
#include "base/failing_alloc.h"

#define BASE UINT64_C(0xffffffff81000000)
#define STEP 0x40u
#define SYMBOLS 200u
#define MODULE UINT64_C(0xffffffffc0401000)

/* Writes kernel symbols whose names contain this letter, two of them at the same address, and symbols of a module. The
 * symbols after them are not sorted. */
static void write_list(const struct scratch_file *scratch, char letter) {
    static char text[SYMBOLS * 64];
    size_t length = 0;
    for (unsigned i = 0; i < SYMBOLS; i++)
        length += (size_t)sprintf(text + length, "%016" PRIx64 " %c %c_function_%u\n", BASE + (i - (i == 150)) * STEP,
                                  i % 9 == 8 ? 'r' : 't', i < 128 ? 'a' : letter, i);
    length += (size_t)sprintf(text + length, "%016" PRIx64 " T far_away\n", BASE + (UINT64_C(64) << 20));
    length += (size_t)sprintf(text + length, "%016" PRIx64 " t %c_write\t[ext4]\n", MODULE + 0x80, letter);
    length += (size_t)sprintf(text + length, "%016" PRIx64 " t %c_read\t[ext4]\n", MODULE, letter);
    scratch_write(scratch, text, length);
}

static struct symbol_handle *open_list(const struct scratch_file *scratch, const char *cache, struct memory *memory) {
    struct symbol_handle *handle;
    const struct symbol_object object = {.kind = SYMBOL_KERNEL, .path = scratch->path, .cache = cache};
    assert_result_is(kallsyms_symbol_source.open(&object, memory, &handle), SYMBOL_FOUND);
    return handle;
}

static void folder_of(const struct scratch_file *scratch, char folder[96]) {
    snprintf(folder, 96, "%s/cache", scratch->folder);
}

/* Returns the path of the only cache file, if there is one. */
static bool kept_file(const char *folder, char path[512]) {
    DIR *list = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (strstr(entry->d_name, ".kernel")) {
            snprintf(path, 512, "%s/%s", folder, entry->d_name);
            found = true;
        }
    if (list)
        closedir(list);
    return found;
}

static void remove_all(const struct scratch_file *scratch, const char *folder) {
    char path[512];
    while (kept_file(folder, path))
        unlink(path);
    snprintf(path, sizeof path, "%s/lock", folder);
    unlink(path);
    rmdir(folder);
    scratch_remove(scratch);
}

static const char *name_of(const struct scratch_file *scratch, const char *cache, uint64_t address, char to[64]) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct symbol_handle *handle = open_list(scratch, cache, &memory);
    snprintf(to, 64, "%s", name_at(&kallsyms_symbol_source, handle, address));
    kallsyms_symbol_source.close(handle);
    assert_int_equal(memory.used, 0);
    return to;
}

static void assert_same_answer(struct symbol_handle *plain, struct symbol_handle *kept, uint64_t address) {
    struct symbol a = {0}, b = {0};
    const enum symbol_result result = kallsyms_symbol_source.find(plain, address, &a);
    assert_result_is(kallsyms_symbol_source.find(kept, address, &b), result);
    assert_int_equal(a.start, b.start);
    assert_int_equal(a.size, b.size);
    assert_int_equal(a.from, b.from);
    assert_int_equal(a.end, b.end);
    if (result == SYMBOL_FOUND)
        assert_string_equal(a.name, b.name);
}

/* Compares the results at the start and in the middle of each symbol, and at addresses before and after all symbols. */
static void assert_same_answers(const struct scratch_file *scratch, const char *cache) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct symbol_handle *plain = open_list(scratch, NULL, &memory), *kept = open_list(scratch, cache, &memory);
    for (uint64_t address = BASE; address <= BASE + (SYMBOLS + 1) * STEP; address += STEP / 2)
        assert_same_answer(plain, kept, address);
    assert_same_answer(plain, kept, BASE - STEP);
    kallsyms_symbol_source.close(plain);
    kallsyms_symbol_source.close(kept);
    assert_int_equal(memory.used, 0);
}

/* A list with an equal beginning is assumed to be from the same kernel; only tests can change the rest. */
TEST(kept_kernel_symbols_answer_without_the_list) {
    struct scratch_file scratch;
    char folder[96], path[512], name[64];
    scratch_make(&scratch);
    folder_of(&scratch, folder);
    write_list(&scratch, 'b');
    assert_string_equal(name_of(&scratch, folder, BASE + 140 * STEP, name), "b_function_140");
    assert_true(kept_file(folder, path));
    assert_same_answers(&scratch, folder);
    write_list(&scratch, 'c');
    assert_string_equal(name_of(&scratch, NULL, BASE + 140 * STEP, name), "c_function_140");
    assert_string_equal(name_of(&scratch, folder, BASE + 140 * STEP, name), "b_function_140");
    assert_string_equal(name_of(&scratch, folder, BASE + 149 * STEP, name), "b_function_150");
    assert_string_equal(name_of(&scratch, folder, MODULE + 4, name), "c_read");
    assert_string_equal(name_of(&scratch, folder, BASE + 199 * STEP + 4, name),
                        "c_function_199"); /* the next symbol is far away */
    assert_string_equal(name_of(&scratch, folder, BASE + (UINT64_C(64) << 20), name), "far_away");
    remove_all(&scratch, folder);
}

TEST(kept_kernel_symbols_are_of_one_list) {
    struct scratch_file scratch;
    char folder[96], path[512], name[64];
    static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t foo\n";
    scratch_make(&scratch);
    folder_of(&scratch, folder);
    scratch_write(&scratch, hidden, sizeof hidden - 1);
    assert_string_equal(name_of(&scratch, folder, BASE, name), symbol_result_text(SYMBOL_HIDDEN));
    assert_false(kept_file(folder, path));
    write_list(&scratch, 'b');
    name_of(&scratch, folder, BASE, name);
    assert_true(kept_file(folder, path));
    scratch_write(&scratch, hidden, sizeof hidden - 1);
    assert_string_equal(name_of(&scratch, folder, BASE, name), symbol_result_text(SYMBOL_HIDDEN));
    remove_all(&scratch, folder);
}

static size_t read_file(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    const size_t length = file ? fread(bytes, 1, room, file) : 0;
    if (file)
        fclose(file);
    return length;
}

static void write_file(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(bytes, 1, length, file);
    fclose(file);
}

TEST(truncated_or_changed_kernel_symbol_files_are_refused) {
    static char whole[SYMBOLS * 64], bytes[SYMBOLS * 64];
    struct scratch_file scratch;
    char folder[96], path[512], name[64];
    scratch_make(&scratch);
    folder_of(&scratch, folder);
    write_list(&scratch, 'b');
    name_of(&scratch, folder, BASE, name);
    assert_true(kept_file(folder, path));
    const size_t length = read_file(path, whole, sizeof whole);
    for (size_t i = 0; i < length; i += i < 128 ? 5 : 61) {
        memcpy(bytes, whole, length);
        bytes[i] ^= 0x21;
        write_file(path, bytes, length);
        assert_same_answers(&scratch, folder);
        assert_int_equal(read_file(path, bytes, sizeof bytes), length);
        assert_memory_equal(bytes, whole, length); /* written again */
        write_file(path, whole, i);
        assert_same_answers(&scratch, folder);
    }
    remove_all(&scratch, folder);
}

TEST(kept_kernel_symbols_every_allocation_fails_once) {
    struct scratch_file scratch;
    struct failing_alloc failing;
    char folder[96];
    bool has_failed = true;
    scratch_make(&scratch);
    folder_of(&scratch, folder);
    write_list(&scratch, 'b');
    for (long n = 1; has_failed; n++) {
        struct memory memory;
        struct symbol_handle *handle;
        const struct symbol_object object = {.kind = SYMBOL_KERNEL, .path = scratch.path, .cache = folder};
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        if (kallsyms_symbol_source.open(&object, &memory, &handle) == SYMBOL_FOUND) {
            const char *name = name_at(&kallsyms_symbol_source, handle, BASE + 3 * STEP);
            assert_true(failing.has_failed || strcmp(name, "a_function_3") == 0);
            kallsyms_symbol_source.close(handle);
        }
        assert_int_equal(failing.blocks, 0);
        has_failed = failing.has_failed;
        if (n % 2) {
            char path[512];
            if (kept_file(folder, path))
                unlink(path);
        }
    }
    remove_all(&scratch, folder);
}

TEST(kept_kernel_symbols_need_a_folder_of_our_own) {
    struct scratch_file scratch;
    char folder[96], path[512], name[64];
    scratch_make(&scratch);
    folder_of(&scratch, folder);
    write_list(&scratch, 'b');
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_string_equal(name_of(&scratch, folder, BASE + STEP, name), "a_function_1");
    assert_false(kept_file(folder, path));
    remove_all(&scratch, folder);
}
