/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls an engine of stores without the core: pushes synthetic uploads and prints all tables, so that a test can
 * compare engines row by row and interrupt a push at a given place.
 *
 *     store_driver URL init
 *     store_driver URL push UPLOAD ROWS [stop|hang]    stops or hangs before `complete`; hang prints "hanging" first
 *     store_driver URL dump                            prints a line per row: query, values; texts as hexadecimal
 *     store_driver URL hold UPLOAD                     the same between calls of `hold`; drops UPLOAD after the uploads
 *     store_driver URL relabel UPLOAD SERVICE
 *     store_driver URL drop UPLOAD...
 *     store_driver URL collect | check | version
 *     store_driver URL sql STATEMENT
 *
 * STORE_DRIVER_SIZES is an argument of sizes_set. STORE_DRIVER_TIMEOUT is the timeout in ms (2000), STORE_DRIVER_MEMORY
 * the limit of memory in bytes. Exit status: 0, or 1 with the error on standard error.
 */
#include "base/memory/sizes.h"
#include "store/store_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACKS 300u
#define FRAMES 90u
#define DEPTH 7u
#define SUMS 60u
#define FIRST_DAY 20000u
#define DAY_NS UINT64_C(86400000000000)
#define UPLOADS_MOST 1000u

enum { UPLOAD_ID = 1, UPLOAD_SERVICE = 3, UPLOAD_LAST = 10 }; /* columns of table upload */

static const struct store_engine *engine;
static struct store_handle *handle;

static void must(pfr_status st, const pfr_error *err) {
    if (st >= 0)
        return;
    fprintf(stderr, "%s (%s, %s)\n", err->text, pfr_status_name(st), err->where);
    exit(1);
}

/* --- Synthetic rows. */

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Never 0, and sometimes above 2^63. */
static uint64_t id_of(unsigned kind, uint64_t number) {
    return mix(number * 16 + kind + 1) | 1;
}

/* Texts that contain every byte but NUL, and texts that could be read as SQL. */
static struct store_text text_of(uint64_t number) {
    static char texts[1024][48];
    static const char *const known[] = {"",         "'",      "\\",     "a'); DROP TABLE x; --",
                                        "\xff\xfe", "$d.x `", "\t\n\r", "\xc3\xa4"};
    char *to = texts[number % 1024];
    if (number < sizeof known / sizeof *known)
        return (struct store_text){known[number], strlen(known[number])};
    const int length = snprintf(to, sizeof texts[0], "f%" PRIu64 "%c%c", number, (char)(1 + number % 255),
                                (char)(1 + mix(number) % 255));
    return (struct store_text){to, (size_t)length};
}

static struct store_list list_of(uint64_t number, uint64_t (*value)(uint64_t, uint64_t)) {
    static uint64_t lists[STORE_BATCH_ROWS / 16][DEPTH];
    uint64_t *to = lists[number % (STORE_BATCH_ROWS / 16)];
    const size_t count = number % (DEPTH + 1);
    for (size_t i = 0; i < count; i++)
        to[i] = value(number, i);
    return (struct store_list){to, count};
}

static uint64_t frame_of(uint64_t stack, uint64_t level) {
    return id_of(3, mix(stack * 31 + level) % FRAMES);
}

static uint64_t any_value(uint64_t row, uint64_t index) {
    return mix(row + index);
}

struct made {
    uint64_t upload;
    enum store_table_number table;
};

static uint64_t day_of(uint64_t upload) {
    return FIRST_DAY + upload % 3;
}

/* Values for columns with these names; all others are computed from row and column. */
static uint64_t number_of(const struct made *made, const char *name, uint64_t row, unsigned column) {
    if (strcmp(name, "day") == 0)
        return day_of(made->upload);
    if (strcmp(name, "upload") == 0)
        return made->upload;
    if (strcmp(name, "first") == 0)
        return day_of(made->upload) * DAY_NS + made->upload % 1000;
    if (strcmp(name, "time") == 0)
        return row % 50 ? day_of(made->upload) * DAY_NS + row / 7 * 1000000000 : 0;
    if (strcmp(name, "event") == 0)
        return id_of(0, made->table == STORE_TABLE_event ? row : row % 3);
    if (strcmp(name, "comm") == 0)
        return id_of(1, made->table == STORE_TABLE_comm ? row : row % 11);
    if (strcmp(name, "object") == 0)
        return id_of(2, made->table == STORE_TABLE_object ? row : row % 5);
    if (strcmp(name, "frame") == 0 || strcmp(name, "function") == 0)
        return id_of(3, row);
    if (strcmp(name, "stack") == 0)
        return id_of(4, made->table == STORE_TABLE_stack ? row : mix(row) % STACKS);
    if (strcmp(name, "rows") == 0)
        return row;
    if (strcmp(name, "sums") == 0)
        return SUMS;
    const uint64_t upload = store_tables[made->table].partition == STORE_SHARED ? 0 : made->upload;
    return mix(upload * 1000003 + row * 64 + column) >> (column % 40);
}

static void fill(const struct made *made, uint64_t first, uint32_t rows, void *const *columns) {
    const struct store_table *of = &store_tables[made->table];
    for (unsigned c = 0; c < of->nr_columns; c++)
        for (uint32_t i = 0; i < rows; i++) {
            const uint64_t row = first + i, number = number_of(made, of->columns[c].name, row, c);
            switch (of->columns[c].kind) {
            case STORE_U8:
                ((uint8_t *)columns[c])[i] = (uint8_t)number;
                break;
            case STORE_U32:
            case STORE_DAY:
                ((uint32_t *)columns[c])[i] = (uint32_t)number;
                break;
            case STORE_U64:
            case STORE_I64:
                ((uint64_t *)columns[c])[i] = number;
                break;
            case STORE_TEXT:
                ((struct store_text *)columns[c])[i] = text_of(row);
                break;
            case STORE_LIST:
                ((struct store_list *)columns[c])[i] =
                    list_of(row, made->table == STORE_TABLE_stack ? frame_of : any_value);
                break;
            }
        }
}

static void insert(const struct made *made, uint64_t rows, uint32_t at_once) {
    void *columns[STORE_COLUMNS_MOST];
    struct store_batch batch;
    pfr_error err;
    for (unsigned c = 0; c < STORE_COLUMNS_MOST; c++)
        batch.column[c] = columns[c] = calloc(at_once, sizeof(struct store_text));
    for (uint64_t first = 0; first < rows; first += at_once) {
        batch.rows = rows - first < at_once ? (uint32_t)(rows - first) : at_once;
        fill(made, first, batch.rows, columns);
        must(engine->insert(handle, made->table, &batch, &err), &err);
    }
    for (unsigned c = 0; c < STORE_COLUMNS_MOST; c++)
        free(columns[c]);
}

/* The row of upload; its column `rows` is its number. */
static void with_upload(uint64_t upload, uint64_t rows, const char *service,
                        void (*use)(const struct store_batch *batch)) {
    static uint64_t values[STORE_COLUMNS_MOST][2];
    const struct made made = {upload, STORE_TABLE_upload};
    void *columns[STORE_COLUMNS_MOST];
    struct store_batch batch = {.rows = 1};
    for (unsigned c = 0; c < STORE_COLUMNS_MOST; c++)
        batch.column[c] = columns[c] = values[c];
    fill(&made, rows, 1, columns);
    if (service)
        *(struct store_text *)columns[UPLOAD_SERVICE] = (struct store_text){service, strlen(service)};
    use(&batch);
}

static void complete(const struct store_batch *batch) {
    pfr_error err;
    bool already;
    must(engine->complete(handle, batch, &already, &err), &err);
    puts(already ? "already" : "stored");
}

static void relabel(const struct store_batch *batch) {
    pfr_error err;
    must(engine->relabel(handle, batch, &err), &err);
}

static void push(uint64_t upload, uint64_t rows, const char *end) {
    static const struct {
        enum store_table_number table;
        unsigned rows;
    } dictionaries[] = {{STORE_TABLE_event, 3},      {STORE_TABLE_comm, 11},      {STORE_TABLE_object, 5},
                        {STORE_TABLE_frame, FRAMES}, {STORE_TABLE_stack, STACKS}, {STORE_TABLE_latency, 40}};
    pfr_error err;
    must(engine->begin(handle, upload, &err), &err);
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++)
        insert(&(struct made){upload, dictionaries[i].table}, dictionaries[i].rows, 77);
    insert(&(struct made){upload, STORE_TABLE_sample}, rows, 1000);
    insert(&(struct made){upload, STORE_TABLE_daily}, SUMS, 50);
    if (strcmp(end, "hang") == 0) {
        puts("hanging");
        fflush(stdout);
        pause();
    }
    if (!*end)
        with_upload(upload, rows, NULL, complete);
}

/* --- Everything that queries return. */

struct dumping {
    enum store_table_number table;
    uint64_t uploads[UPLOADS_MOST];
    size_t nr_uploads;
};

static void print_text(const struct store_text *text) {
    putchar('"');
    for (size_t i = 0; i < text->length; i++)
        printf("%02x", (unsigned char)text->bytes[i]);
}

static void print_value(const struct store_table *of, const struct store_batch *batch, unsigned c, uint32_t row) {
    const struct store_list *list;
    switch (of->columns[c].kind) {
    case STORE_I64:
        printf("%" PRId64, ((const int64_t *)batch->column[c])[row]);
        break;
    case STORE_TEXT:
        print_text((const struct store_text *)batch->column[c] + row);
        break;
    case STORE_LIST:
        list = (const struct store_list *)batch->column[c] + row;
        for (size_t i = 0; i < list->count; i++)
            printf("%s%" PRIu64, i ? "," : "", list->at[i]);
        break;
    default:
        printf("%" PRIu64, store_number_at(of, batch, c, row));
    }
}

static pfr_status print_rows(void *context, const struct store_batch *batch, pfr_error *err) {
    struct dumping *dumping = context;
    const struct store_table *of = &store_tables[dumping->table];
    (void)err;
    for (uint32_t row = 0; row < batch->rows; row++) {
        printf("%s", of->name);
        for (unsigned c = 0; c < of->nr_columns; c++) {
            putchar(' ');
            print_value(of, batch, c, row);
        }
        putchar('\n');
        if (dumping->table == STORE_TABLE_upload && dumping->nr_uploads < UPLOADS_MOST)
            dumping->uploads[dumping->nr_uploads++] = ((const uint64_t *)batch->column[UPLOAD_ID])[row];
    }
    return PFR_OK;
}

static int by_number(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static void query(struct dumping *dumping, enum store_query number, enum store_table_number table,
                  struct store_params *params) {
    pfr_error err;
    dumping->table = table;
    must(engine->query(handle, number, params, print_rows, dumping, &err), &err);
}

static void query_dictionary(struct dumping *dumping, enum store_query number, enum store_table_number table,
                             unsigned kind, unsigned count) {
    uint64_t ids[STACKS + 1];
    struct store_params params = {.last = UINT64_MAX, .ids = ids, .nr_ids = count + 1};
    for (unsigned i = 0; i <= count; i++) /* an id that does not exist */
        ids[i] = id_of(kind, i);
    qsort(ids, count + 1, sizeof *ids, by_number);
    query(dumping, number, table, &params);
    params.ids = NULL;
    params.nr_ids = 0;
    query(dumping, number, table, &params);
}

/* An upload that several queries must find. */
struct picking {
    uint64_t id, last;
    unsigned received, found;
    char service[512];
};

static pfr_status pick_row(void *context, const struct store_batch *batch, pfr_error *err) {
    struct picking *p = context;
    (void)err;
    p->received += batch->rows;
    for (uint32_t row = 0; row < batch->rows; row++)
        if (((const uint64_t *)batch->column[UPLOAD_ID])[row] == p->id) {
            const struct store_text *service = (const struct store_text *)batch->column[UPLOAD_SERVICE] + row;
            snprintf(p->service, sizeof p->service, "%.*s", (int)service->length, service->bytes);
            p->last = ((const uint64_t *)batch->column[UPLOAD_LAST])[row];
            p->found++;
        }
    return PFR_OK;
}

static unsigned found_by(struct picking *p, const struct store_params *params) {
    pfr_error err;
    p->found = 0;
    must(engine->query(handle, STORE_UPLOADS, params, pick_row, p, &err), &err);
    return p->found;
}

/* By id, service and time; only the first query must not return other uploads. */
static void pick(uint64_t id) {
    struct picking p = {.id = id};
    const unsigned by_id = found_by(&p, &(struct store_params){.ids = &id, .nr_ids = 1, .last = UINT64_MAX});
    printf("picked %u of %u", by_id, p.received);
    printf(" %u", found_by(&p, &(struct store_params){.service = p.service, .last = UINT64_MAX}));
    printf(" %u\n", found_by(&p, &(struct store_params){.first = p.last, .last = UINT64_MAX}));
}

static void drop(char **uploads, int count);

/* Drops an upload as another process would. */
static void drop_elsewhere(char *upload, const struct store_open_options *options, const char *url) {
    struct store_open_options other = *options;
    struct store_handle *const held = handle;
    pfr_error err;
    other.read_only = false;
    must(engine->open(&handle, url, &other, &err), &err);
    drop(&upload, 1);
    engine->close(handle);
    handle = held;
}

static void dump(char *dropped, const struct store_open_options *options, const char *url) {
    struct dumping dumping = {.nr_uploads = 0};
    struct store_params params = {.last = UINT64_MAX, .first_day = 0, .last_day = UINT32_MAX};
    query(&dumping, STORE_UPLOADS, STORE_TABLE_upload, &params);
    if (dropped)
        drop_elsewhere(dropped, options, url);
    qsort(dumping.uploads, dumping.nr_uploads, sizeof *dumping.uploads, by_number);
    params.uploads = dumping.uploads;
    params.nr_uploads = dumping.nr_uploads;
    query(&dumping, STORE_SAMPLES, STORE_TABLE_sample, &params);
    query(&dumping, STORE_DAILY, STORE_TABLE_daily, &params);
    query(&dumping, STORE_LATENCIES, STORE_TABLE_latency, &params);
    puts("from 3 s to 9 s of day 20001:");
    params.first = (FIRST_DAY + 1) * DAY_NS + UINT64_C(3000000000);
    params.last = params.first + UINT64_C(6000000000);
    query(&dumping, STORE_SAMPLES, STORE_TABLE_sample, &params);
    query(&dumping, STORE_DAILY, STORE_TABLE_daily, &params);
    puts("dictionaries:");
    query_dictionary(&dumping, STORE_EVENTS, STORE_TABLE_event, 0, 3);
    query_dictionary(&dumping, STORE_COMMS, STORE_TABLE_comm, 1, 11);
    query_dictionary(&dumping, STORE_OBJECTS, STORE_TABLE_object, 2, 5);
    query_dictionary(&dumping, STORE_FRAMES, STORE_TABLE_frame, 3, FRAMES);
    query_dictionary(&dumping, STORE_STACKS, STORE_TABLE_stack, 4, STACKS);
    for (size_t i = 0; i < dumping.nr_uploads && !dropped; i++)
        pick(dumping.uploads[i]);
}

/* --- The rest. */

static pfr_status print_sql(void *context, uint32_t columns, const struct store_text *const *values,
                            const char *const *names, pfr_error *err) {
    (void)context;
    (void)err;
    for (uint32_t i = 0; i < columns; i++) {
        putchar(i ? ' ' : '|');
        if (!values)
            fputs(names[i], stdout);
        else if (values[i])
            print_text(values[i]);
        else
            fputs("NULL", stdout);
    }
    putchar('\n');
    return PFR_OK;
}

static void say(void *context, const char *sentence) {
    (void)context;
    puts(sentence);
}

static void check(void) {
    pfr_error err;
    uint64_t bytes;
    const pfr_status st = engine->check(handle, &bytes, say, NULL, &err);
    must(st, &err);
    puts(st == PFR_HOLE ? "faults" : "fine");
}

static void drop(char **uploads, int count) {
    uint64_t ids[UPLOADS_MOST];
    pfr_error err;
    for (int i = 0; i < count; i++)
        ids[i] = strtoull(uploads[i], NULL, 0);
    qsort(ids, (size_t)count, sizeof *ids, by_number);
    const struct store_params params = {
        .uploads = ids, .nr_uploads = (size_t)count, .last_day = UINT32_MAX, .last = UINT64_MAX};
    must(engine->drop(handle, &params, &err), &err);
}

static void hold(char *dropped, const struct store_open_options *options, const char *url) {
    pfr_error err;
    must(engine->hold(handle, true, &err), &err);
    dump(dropped, options, url);
    must(engine->hold(handle, false, &err), &err);
}

static void init(void) {
    pfr_error err;
    uint32_t version;
    must(engine->version(handle, &version, &err), &err);
    must(engine->migrate(handle, version, STORE_VERSION, &err), &err);
}

static void print_version(void) {
    pfr_error err;
    uint32_t version;
    must(engine->version(handle, &version, &err), &err);
    printf("%" PRIu32 "\n", version);
}

static void run(char **words, int count, const struct store_open_options *options, const char *url) {
    pfr_error err;
    if (strcmp(words[0], "init") == 0)
        init();
    else if (strcmp(words[0], "version") == 0)
        print_version();
    else if (strcmp(words[0], "push") == 0 && count >= 3)
        push(strtoull(words[1], NULL, 0), strtoull(words[2], NULL, 0), count > 3 ? words[3] : "");
    else if (strcmp(words[0], "dump") == 0)
        dump(NULL, options, url);
    else if (strcmp(words[0], "hold") == 0 && count == 2)
        hold(words[1], options, url);
    else if (strcmp(words[0], "relabel") == 0 && count == 3)
        with_upload(strtoull(words[1], NULL, 0), 0, words[2], relabel);
    else if (strcmp(words[0], "drop") == 0 && count <= (int)UPLOADS_MOST)
        drop(words + 1, count - 1);
    else if (strcmp(words[0], "collect") == 0)
        must(engine->collect(handle, &err), &err);
    else if (strcmp(words[0], "check") == 0)
        check();
    else if (strcmp(words[0], "sql") == 0 && count == 2)
        must(engine->sql(handle, words[1], print_sql, NULL, &err), &err);
    else
        exit(2);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 0) : otherwise;
}

int main(int argc, char **argv) {
    struct memory memory;
    pfr_error err;
    if (argc < 3)
        return 2;
    const char *const reading[] = {"dump", "hold", "sql"};
    bool read_only = false;
    for (size_t i = 0; i < sizeof reading / sizeof *reading; i++)
        read_only = read_only || strcmp(argv[2], reading[i]) == 0;
    const struct store_open_options options = {.memory = &memory,
                                               .create = strcmp(argv[2], "init") == 0,
                                               .read_only = read_only,
                                               .timeout_ms = (uint32_t)setting("STORE_DRIVER_TIMEOUT", 2000)};
    must(sizes_set(getenv("STORE_DRIVER_SIZES") ? getenv("STORE_DRIVER_SIZES") : "", &err), &err);
    memory_init(&memory, NULL, setting("STORE_DRIVER_MEMORY", 0));
    const char *rest;
    engine = store_engine_of(argv[1], &rest);
    if (!engine)
        return 2;
    must(engine->open(&handle, rest, &options, &err), &err);
    if (!options.create) { /* as the core does */
        uint32_t version;
        must(engine->version(handle, &version, &err), &err);
    }
    run(argv + 2, argc - 2, &options, rest);
    engine->close(handle);
    if (memory.used)
        fprintf(stderr, "%" PRIu64 " bytes are still held\n", memory.used);
    return memory.used || fclose(stdout) ? 1 : 0;
}
