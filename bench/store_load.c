/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a store with a synthetic fleet: pushes generated uploads through an engine, and measures the query that views
 * use for the top functions of one service on one day.
 *
 *     store_load URL load ROWS UPLOADS [FIRST [STEP]]   ROWS samples in UPLOADS recordings; every STEP-th from FIRST
 *     store_load URL top SERVICE                        three times: samples, stacks and frames of the uploads of a day
 *     store_load URL daily SERVICE                      three times: sums by day and function, and frames
 *
 * 40 services on 200 hosts; each recording covers a day, with samples in slots of 10 s; 15 000 stacks of 3 000
 * functions, few of which are frequent: the stack number is proportional to x^3, for x from 0 to 1.
 */
#include "store/store_engine.h"

#include "base/tables/hashmap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SERVICES 40u
#define HOSTS 200u
#define STACKS 15000u
#define FRAMES 3000u
#define DEPTH 30u
#define FIRST_DAY 20000u
#define DAYS 2u
#define DAY_NS UINT64_C(86400000000000)
#define SLOT_NS UINT64_C(10000000000)
#define COMMS 20u
#define EVENT mix(5)
#define TIMES 3

static const struct store_engine *engine;
static struct store_handle *handle;
static struct memory memory;
static uint64_t state = UINT64_C(88172645463325252);

static void must(pfr_status st, const pfr_error *err) {
    if (st >= 0)
        return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return (x ^ x >> 33) | 1;
}

/* --- Columns are set by name, so that the schema may change. */

struct rows {
    enum store_table_number table;
    struct store_batch batch;
    void *columns[STORE_COLUMNS_MOST];
};

static void open_rows(struct rows *rows, enum store_table_number table) {
    *rows = (struct rows){.table = table};
    for (unsigned c = 0; c < store_tables[table].nr_columns; c++) {
        rows->columns[c] = calloc(STORE_BATCH_ROWS, sizeof(struct store_text));
        rows->batch.column[c] = rows->columns[c];
        if (store_tables[table].columns[c].kind == STORE_TEXT)
            for (unsigned i = 0; i < STORE_BATCH_ROWS; i++)
                ((struct store_text *)rows->columns[c])[i].bytes = "";
    }
}

static void close_rows(struct rows *rows) {
    for (unsigned c = 0; c < STORE_COLUMNS_MOST; c++)
        free(rows->columns[c]);
}

static void *column(const struct rows *rows, const char *name) {
    const struct store_table *of = &store_tables[rows->table];
    for (unsigned c = 0; c < of->nr_columns; c++)
        if (strcmp(of->columns[c].name, name) == 0)
            return rows->columns[c];
    fprintf(stderr, "no column %s\n", name);
    exit(1);
}

static unsigned column_number(enum store_table_number table, const char *name) {
    unsigned c = 0;
    while (strcmp(store_tables[table].columns[c].name, name) != 0)
        c++;
    return c;
}

static void insert(struct rows *rows, uint32_t count) {
    pfr_error err;
    rows->batch.rows = count;
    must(engine->insert(handle, rows->table, &rows->batch, &err), &err);
}

/* --- Dictionaries. */

static uint64_t frame_id(uint64_t number) {
    return mix(number * 4 + 1);
}

static uint64_t stack_id(uint64_t number) {
    return mix(number * 4 + 2);
}

static void put_frames(void) {
    static char names[FRAMES][24];
    struct rows rows;
    open_rows(&rows, STORE_TABLE_frame);
    for (unsigned i = 0; i < FRAMES; i++) {
        const int length = snprintf(names[i], sizeof names[i], "function_%u", i);
        ((uint64_t *)column(&rows, "frame"))[i] = frame_id(i);
        ((struct store_text *)column(&rows, "name"))[i] = (struct store_text){names[i], (size_t)length};
        ((uint64_t *)column(&rows, "address"))[i] = UINT64_C(64) * (i + 1);
        ((uint64_t *)column(&rows, "size"))[i] = 64;
        ((uint8_t *)column(&rows, "mode"))[i] = 2; /* user */
        ((uint8_t *)column(&rows, "named"))[i] = 1;
    }
    insert(&rows, FRAMES);
    close_rows(&rows);
}

/* Writes the event and the thread names. */
static void put_words(void) {
    static char names[COMMS][24];
    struct rows events, comms;
    open_rows(&events, STORE_TABLE_event);
    *(uint64_t *)column(&events, "event") = EVENT;
    *(struct store_text *)column(&events, "name") = (struct store_text){"cycles", 6};
    *(uint8_t *)column(&events, "chains") = 1;
    insert(&events, 1);
    close_rows(&events);
    open_rows(&comms, STORE_TABLE_comm);
    for (unsigned i = 0; i < COMMS; i++) {
        const int length = snprintf(names[i], sizeof names[i], "thread_%u", i);
        ((uint64_t *)column(&comms, "comm"))[i] = mix(6 + i);
        ((struct store_text *)column(&comms, "name"))[i] = (struct store_text){names[i], (size_t)length};
    }
    insert(&comms, COMMS);
    close_rows(&comms);
}

static uint64_t stack_frames[STACKS][DEPTH];

static void put_stacks(void) {
    uint64_t(*const frames)[DEPTH] = stack_frames;
    struct rows rows;
    open_rows(&rows, STORE_TABLE_stack);
    for (unsigned i = 0; i < STACKS; i++) {
        const unsigned depth = 5 + (unsigned)(mix(i) >> 20) % (DEPTH - 4);
        for (unsigned d = 0; d < depth; d++) /* outer frames are shared by many stacks */
            frames[i][d] = frame_id((mix(i >> (depth - d) / 3) >> 7) % FRAMES);
        ((uint64_t *)column(&rows, "stack"))[i] = stack_id(i);
        ((uint64_t *)column(&rows, "leaf"))[i] = frames[i][0];
        ((struct store_list *)column(&rows, "frames"))[i] = (struct store_list){frames[i], depth};
    }
    insert(&rows, STACKS);
    close_rows(&rows);
}

/* --- Uploads. */

struct upload {
    uint64_t id, day, service;
};

static struct upload upload_of(uint64_t number) {
    const uint64_t host = number % HOSTS;
    return (struct upload){mix(number * 4 + 3), FIRST_DAY + number / HOSTS % DAYS, host % SERVICES};
}

/* Writes samples as perfray does: summed by slot, so rows are in time order. */
static void put_samples(const struct upload *upload, uint64_t count, struct u64_map *sums) {
    static struct rows rows;
    if (!rows.columns[0])
        open_rows(&rows, STORE_TABLE_sample);
    uint32_t *day = column(&rows, "day");
    uint64_t *id = column(&rows, "upload"), *time = column(&rows, "time"), *event = column(&rows, "event"),
             *comm = column(&rows, "comm"), *stack = column(&rows, "stack"), *n = column(&rows, "n"),
             *weight = column(&rows, "weight");
    for (uint64_t done = 0; done < count;) {
        uint32_t i = 0;
        for (; i < STORE_BATCH_ROWS && done < count; i++, done++) {
            const uint64_t drawn = draw();
            const double x = (double)(drawn >> 40) / (double)(1u << 24);
            day[i] = (uint32_t)upload->day;
            id[i] = upload->id;
            time[i] = upload->day * DAY_NS + (uint64_t)((double)done / (double)count * 8640) * SLOT_NS;
            const uint64_t number = ((uint64_t)(x * x * x * STACKS) + upload->service * 97) % STACKS;
            event[i] = EVENT;
            stack[i] = stack_id(number);
            comm[i] = mix(6 + stack[i] % COMMS);
            n[i] = 1 + (drawn >> 20) % 8 * ((drawn >> 23) % 4 == 0);
            weight[i] = n[i] * 10101010;
            *u64_map_at(sums, number * COMMS + stack[i] % COMMS, 0, NULL) += n[i];
        }
        insert(&rows, i);
    }
}

/* Writes the sums of a day, with the time of one slot, by thread and innermost function. Returns the number of rows. */
static uint64_t put_sums(const struct upload *upload, const struct u64_map *by_stack) {
    struct rows rows;
    struct u64_map sums;
    uint32_t count = 0;
    uint64_t n;
    open_rows(&rows, STORE_TABLE_daily);
    u64_map_init(&sums, &memory);
    for (uint64_t stack = 0; stack < STACKS; stack++)
        for (uint64_t comm = 0; comm < COMMS; comm++)
            if (u64_map_get(by_stack, stack * COMMS + comm, &n))
                *u64_map_at(&sums, mix(stack_frames[stack][0] + comm), 0, NULL) += n;
    for (uint64_t stack = 0; stack < STACKS; stack++)
        for (uint64_t comm = 0; comm < COMMS; comm++) {
            uint64_t *const left = u64_map_get(by_stack, stack * COMMS + comm, &n)
                                       ? u64_map_at(&sums, mix(stack_frames[stack][0] + comm), 0, NULL)
                                       : NULL;
            if (!left || !*left)
                continue;
            ((uint32_t *)column(&rows, "day"))[count] = (uint32_t)upload->day;
            ((uint64_t *)column(&rows, "upload"))[count] = upload->id;
            ((uint64_t *)column(&rows, "time"))[count] = upload->day * DAY_NS;
            ((uint64_t *)column(&rows, "event"))[count] = EVENT;
            ((uint64_t *)column(&rows, "comm"))[count] = mix(6 + comm);
            ((uint64_t *)column(&rows, "frame"))[count] = stack_frames[stack][0];
            ((uint64_t *)column(&rows, "n"))[count] = *left;
            ((uint64_t *)column(&rows, "weight"))[count++] = *left * 10101010;
            *left = 0;
        }
    insert(&rows, count);
    u64_map_free(&sums);
    close_rows(&rows);
    return count;
}

static void put_upload(const struct upload *upload, uint64_t count, uint64_t sums) {
    static struct rows rows;
    char service[24];
    pfr_error err;
    bool already;
    if (!rows.columns[0])
        open_rows(&rows, STORE_TABLE_upload);
    const int length = snprintf(service, sizeof service, "service_%" PRIu64, upload->service);
    *(uint32_t *)column(&rows, "day") = (uint32_t)upload->day;
    *(uint64_t *)column(&rows, "upload") = upload->id;
    *(uint64_t *)column(&rows, "first") = upload->day * DAY_NS;
    *(uint64_t *)column(&rows, "last") = upload->day * DAY_NS + DAY_NS - 1;
    *(uint64_t *)column(&rows, "slot") = SLOT_NS;
    *(uint64_t *)column(&rows, "rows") = count;
    *(uint64_t *)column(&rows, "sums") = sums;
    *(struct store_text *)column(&rows, "kind") = (struct store_text){"samples", 7};
    *(struct store_text *)column(&rows, "service") = (struct store_text){service, (size_t)length};
    rows.batch.rows = 1;
    must(engine->complete(handle, &rows.batch, &already, &err), &err);
}

static void load(uint64_t rows, uint64_t uploads, uint64_t first, uint64_t step) {
    const double begin = now();
    uint64_t done = 0;
    for (uint64_t number = first; number < uploads; number += step) {
        const struct upload upload = upload_of(number);
        pfr_error err;
        must(engine->begin(handle, upload.id, &err), &err);
        struct u64_map sums;
        u64_map_init(&sums, &memory);
        put_words();
        put_frames();
        put_stacks();
        put_samples(&upload, rows / uploads, &sums);
        put_upload(&upload, rows / uploads, put_sums(&upload, &sums));
        u64_map_free(&sums);
        done += rows / uploads;
    }
    const double seconds = now() - begin;
    printf("%" PRIu64 " rows in %.2f s: %.2f M rows/s\n", done, seconds, (double)done / seconds / 1e6);
}

/* --- The query. */

struct question {
    char service[24];
    uint64_t uploads[4096];
    size_t nr_uploads, rows;
    struct u64_map stacks, functions;
    uint64_t *ids;
    size_t nr_ids;
};

static pfr_status take_uploads(void *context, const struct store_batch *batch, pfr_error *err) {
    struct question *question = context;
    const uint64_t *id = batch->column[column_number(STORE_TABLE_upload, "upload")];
    const uint32_t *day = batch->column[column_number(STORE_TABLE_upload, "day")];
    const struct store_text *service = batch->column[column_number(STORE_TABLE_upload, "service")];
    (void)err;
    for (uint32_t i = 0; i < batch->rows; i++)
        if (day[i] == FIRST_DAY && service[i].length == strlen(question->service) &&
            memcmp(service[i].bytes, question->service, service[i].length) == 0 && question->nr_uploads < 4096)
            question->uploads[question->nr_uploads++] = id[i];
    return PFR_OK;
}

static void list_uploads(struct question *question) {
    const struct store_params params = {
        .service = question->service, .first = FIRST_DAY * DAY_NS, .last = FIRST_DAY * DAY_NS + DAY_NS - 1};
    pfr_error err;
    must(engine->query(handle, STORE_UPLOADS, &params, take_uploads, question, &err), &err);
}

static pfr_status take_samples(void *context, const struct store_batch *batch, pfr_error *err) {
    struct question *question = context;
    const uint64_t *stack = batch->column[column_number(STORE_TABLE_sample, "stack")];
    const uint64_t *weight = batch->column[column_number(STORE_TABLE_sample, "weight")];
    (void)err;
    question->rows += batch->rows;
    for (uint32_t i = 0; i < batch->rows; i++) {
        bool is_new;
        *u64_map_at(&question->stacks, stack[i], 0, &is_new) += weight[i];
        if (is_new) {
            question->ids = realloc(question->ids, (question->nr_ids + 1) * sizeof *question->ids);
            question->ids[question->nr_ids++] = stack[i];
        }
    }
    return PFR_OK;
}

static pfr_status take_stacks(void *context, const struct store_batch *batch, pfr_error *err) {
    struct question *question = context;
    const uint64_t *stack = batch->column[column_number(STORE_TABLE_stack, "stack")];
    const struct store_list *frames = batch->column[column_number(STORE_TABLE_stack, "frames")];
    (void)err;
    for (uint32_t i = 0; i < batch->rows; i++) {
        uint64_t weight = 0;
        u64_map_get(&question->stacks, stack[i], &weight);
        for (size_t f = 0; f < frames[i].count; f++)
            *u64_map_at(&question->functions, frames[i].at[f], 0, NULL) += weight;
    }
    return PFR_OK;
}

static int by_number(const void *a, const void *b) {
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static void ask_once(const char *service) {
    struct question question = {.nr_uploads = 0};
    struct store_params params = {.last_day = UINT32_MAX, .last = UINT64_MAX};
    pfr_error err;
    const double begin = now();
    snprintf(question.service, sizeof question.service, "service_%s", service);
    u64_map_init(&question.stacks, &memory);
    u64_map_init(&question.functions, &memory);
    list_uploads(&question);
    const double listed = now();
    qsort(question.uploads, question.nr_uploads, sizeof *question.uploads, by_number);
    params.uploads = question.uploads;
    params.nr_uploads = question.nr_uploads;
    must(engine->query(handle, STORE_SAMPLES, &params, take_samples, &question, &err), &err);
    const double sampled = now();
    qsort(question.ids, question.nr_ids, sizeof *question.ids, by_number);
    params.ids = question.ids;
    params.nr_ids = question.nr_ids;
    must(engine->query(handle, STORE_STACKS, &params, take_stacks, &question, &err), &err);
    const double end = now();
    printf("%zu uploads %.0f ms, %zu rows %.0f ms, %zu stacks %.0f ms, %zu functions; %.0f ms\n", question.nr_uploads,
           (listed - begin) * 1e3, question.rows, (sampled - listed) * 1e3, question.nr_ids, (end - sampled) * 1e3,
           u64_map_count(&question.functions), (end - begin) * 1e3);
    u64_map_free(&question.stacks);
    u64_map_free(&question.functions);
    free(question.ids);
}

static pfr_status take_sums(void *context, const struct store_batch *batch, pfr_error *err) {
    struct question *question = context;
    const uint64_t *frame = batch->column[column_number(STORE_TABLE_daily, "frame")];
    const uint64_t *weight = batch->column[column_number(STORE_TABLE_daily, "weight")];
    (void)err;
    question->rows += batch->rows;
    for (uint32_t i = 0; i < batch->rows; i++)
        *u64_map_at(&question->functions, frame[i], 0, NULL) += weight[i];
    return PFR_OK;
}

static void ask_daily(const char *service) {
    struct question question = {.nr_uploads = 0};
    struct store_params params = {.last_day = UINT32_MAX, .last = UINT64_MAX};
    pfr_error err;
    const double begin = now();
    snprintf(question.service, sizeof question.service, "service_%s", service);
    u64_map_init(&question.functions, &memory);
    list_uploads(&question);
    const double listed = now();
    qsort(question.uploads, question.nr_uploads, sizeof *question.uploads, by_number);
    params.uploads = question.uploads;
    params.nr_uploads = question.nr_uploads;
    must(engine->query(handle, STORE_DAILY, &params, take_sums, &question, &err), &err);
    const double end = now();
    printf("daily: %zu uploads %.0f ms, %zu rows %.0f ms, %zu functions; %.0f ms\n", question.nr_uploads,
           (listed - begin) * 1e3, question.rows, (end - listed) * 1e3, u64_map_count(&question.functions),
           (end - begin) * 1e3);
    u64_map_free(&question.functions);
}

int main(int argc, char **argv) {
    pfr_error err;
    const char *rest = NULL;
    if (argc < 4)
        return 2;
    const bool loads = strcmp(argv[2], "load") == 0;
    const struct store_open_options options = {.memory = &memory, .create = loads, .read_only = !loads};
    memory_init(&memory, NULL, UINT64_C(4) << 30);
    engine = store_engine_of(argv[1], &rest);
    if (!engine)
        return 2;
    must(engine->open(&handle, rest, &options, &err), &err);
    if (loads && argc > 4) {
        must(engine->migrate(handle, 0, STORE_VERSION, &err), &err);
        load(strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0), argc > 5 ? strtoull(argv[5], NULL, 0) : 0,
             argc > 6 ? strtoull(argv[6], NULL, 0) : 1);
    } else {
        for (int i = 0; i < TIMES; i++)
            (strcmp(argv[2], "daily") == 0 ? ask_daily : ask_once)(argv[3]);
    }
    engine->close(handle);
    return 0;
}
