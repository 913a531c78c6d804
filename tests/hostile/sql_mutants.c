/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads every SQL table of damaged recordings: sql_mutants COUNT FILE... makes COUNT copies of the files, alternately,
 * changes a few bytes of each, and reads all rows of all tables. It must not crash, which the program that runs it
 * detects, and a query may fail only with an error that has a sentence.
 */
#include <perfray/sql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMES_MOST 200
#define FILE_MOST (1 << 20)

struct tables {
    char names[NAMES_MOST][120];
    unsigned count;
};

static uint64_t state = 88172645463325252u;
static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static bool add_name(void *context, unsigned count, const char *const *names, const char *const *values) {
    struct tables *t = context;
    (void)count, (void)names;
    if (t->count < NAMES_MOST && strlen(values[0]) < sizeof t->names[0] && strcmp(values[0], "stack_symbol") != 0)
        strcpy(t->names[t->count++], values[0]);
    return true;
}

static bool take_row(void *context, unsigned count, const char *const *names, const char *const *values) {
    (void)names;
    for (unsigned i = 0; i < count; i++)
        *(uint64_t *)context += values[i] ? strlen(values[i]) : 0;
    return true;
}

static bool read_tables(pfr_sql *sql, uint64_t *read) {
    struct tables tables = {.count = 0};
    pfr_error err;
    pfr_sql_each(sql, "SELECT name FROM pragma_table_list WHERE schema='f' AND name NOT LIKE 'sqlite%'", add_name,
                 &tables, &err);
    for (unsigned i = 0; i < tables.count; i++) {
        char query[200];
        err.text[0] = '\0';
        snprintf(query, sizeof query, "SELECT * FROM \"%s\"", tables.names[i]);
        if (pfr_sql_each(sql, query, take_row, read, &err) < 0 && !err.text[0])
            return false;
    }
    return tables.count > 0;
}

/* Returns false if something failed without a message. */
static bool run_mutant(const uint8_t *bytes, size_t length, uint64_t *read) {
    const pfr_symbol_options naming = {.size = sizeof naming, .no_symbols = true};
    const pfr_model_options model = {.size = sizeof model, .jobs = 1, .naming = &naming};
    const pfr_sql_options options = {.size = sizeof options, .model = &model};
    char path[40];
    pfr_error err = {.text = ""};
    const int fd = memfd_create("mutant", 0);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    pfr_sql *sql = pfr_sql_open(&options, &err);
    bool fine = sql != NULL;
    if (fine && pfr_sql_attach(sql, path, "f", &err) >= 0)
        fine = read_tables(sql, read);
    else
        fine = fine && err.text[0];
    pfr_sql_close(sql);
    close(fd);
    return fine;
}

static size_t read_file(const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    const size_t length = file ? fread(bytes, 1, FILE_MOST, file) : 0;
    if (file)
        fclose(file);
    return length;
}

int main(int argc, char **argv) {
    static uint8_t bytes[FILE_MOST];
    const unsigned long count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    uint64_t read = 0;
    for (unsigned long i = 0; i < count; i++) {
        size_t length = read_file(argv[2 + i % (unsigned long)(argc - 2)], bytes);
        for (uint64_t n = i ? 1 + next_random() % 8 : 0; n && length; n--)
            bytes[next_random() % (n % 2 ? length : length < 600 ? length : 600)] = (uint8_t)next_random();
        length -= next_random() % 8 == 0 ? next_random() % (length + 1) : 0;
        if (!run_mutant(bytes, length, &read)) {
            printf("not ok sql_mutants: mutant %lu failed without a word\n", i);
            return 1;
        }
    }
    printf("%s sql_mutants\n", count && read ? "ok" : "not ok");
    return !(count && read);
}
