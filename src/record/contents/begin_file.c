/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the start of the file: events with their ids, facts about the machine, the ring of each counter, the kernel's
 * map, and running tasks. The order is that of perf record, because some readers expect it.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/io/descriptor.h"
#include "record/contents/begin_file.h"
#include "record/rings/aux_areas.h"
#include "record/contents/bpf_programs.h"
#include "record/contents/machine.h"
#include "record/rings/put_record.h"
#include "record/contents/tasks.h"
#include "record/contents/tracing_data.h"
#include "wire/feature_bits.h"
#include "wire/layout_write.h"

#define DEFAULT_OUTPUT "perf.data"

static void *take(pfr_recorder *r, size_t count, size_t size) {
    return arena_zeroed(&r->file.part, count ? count : 1, size);
}

static pfr_status no_memory(pfr_recorder *r, pfr_error *err) {
    return mem_fail(&r->memory, err, "records");
}

/* --- the file itself --- */

/* An existing file that is not empty is renamed to PATH.old. A link or device is refused. */
static pfr_status clear_way(const char *path, pfr_error *err) {
    char old[4096];
    struct stat facts;
    if (lstat(path, &facts) != 0)
        return errno == ENOENT ? PFR_OK : pfr_fail_errno(err, errno, "look at", path);
    if (!S_ISREG(facts.st_mode))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output",
                        "%.80s is not a regular file and is not replaced", path);
    if (snprintf(old, sizeof old, "%s.old", path) >= (int)sizeof old || (facts.st_size > 0 && rename(path, old) != 0))
        return pfr_fail_errno(err, errno, "rename", path);
    if (facts.st_size == 0 && unlink(path) != 0)
        return pfr_fail_errno(err, errno, "replace", path);
    return PFR_OK;
}

static size_t name_part(const char *output, char *name, size_t room) {
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    const int length =
        snprintf(name, room, "%s.%04d%02d%02d%02d%02d%02d%02d", output, parts.tm_year + 1900, parts.tm_mon + 1,
                 parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, (int)(now.tv_nsec / 10000000));
    return length < (int)room ? (size_t)length : room - 1;
}

/* The path of a file: OUTPUT; with parts or a date, OUTPUT.YYYYMMDDhhmmssCC, the name that perf uses. `before` is the
 * path of the previous part, or NULL for the first part. If the name would be the same, waits until the time gives
 * another. */
static char *path_of_part(pfr_recorder *r, const char *before) {
    const char *const output = r->options.output ? r->options.output : DEFAULT_OUTPUT;
    char name[4096];
    if ((!r->options.parts && !r->options.dated) || strcmp(output, "-") == 0)
        return arena_text(&r->file.part, output, strlen(output));
    size_t length = name_part(output, name, sizeof name);
    for (unsigned tries = 0; before && strcmp(name, before) == 0 && tries < 10; tries++) {
        usleep(5000);
        length = name_part(output, name, sizeof name);
    }
    return arena_text(&r->file.part, name, length);
}

/* Makes the output file. The descriptor is kept: at its end the file is read again, and then its path may lead to
 * another file. */
static pfr_status make_output(pfr_recorder *r, pfr_error *err) {
    PFR_TRY(clear_way(r->file.path, err));
    r->file.output = descriptor_open(AT_FDCWD, r->file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    return r->file.output < 0 ? pfr_fail_errno(err, errno, "make", r->file.path) : PFR_OK;
}

static pfr_status open_writer(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    r->file.path = path_of_part(r, r->file.path);
    if (!r->file.path)
        return no_memory(r, err);
    const bool stream = strcmp(r->file.path, "-") == 0;
    r->file.output = -1;
    if (!stream)
        PFR_TRY(make_output(r, err));
    const pfr_write_options how = {
        .size = sizeof how,
        .alloc = o->alloc,
        .container = stream ? PFR_PIPE : PFR_FILE,
        .compression = o->compress ? PFR_ZSTD_FRAMES : PFR_PLAIN,
        .level = o->level,
        .attr_size = sizeof(struct perf_event_attr),
    };
    r->file.writer = stream ? pfr_writer_open(r->file.path, &how, err)
                            : pfr_writer_open_fd(r->file.output, true, r->file.path, &how, err);
    return r->file.writer ? PFR_OK : err ? err->status : PFR_ERR_IO;
}

/* --- events --- */

static pfr_status attr_of(const struct perf_event_attr *attr, struct pfr_rec_attr *to, pfr_error *err) {
    const struct pfr_context context = {.swap = false};
    struct cursor in = cursor_on(attr, sizeof *attr, 0, false);
    return layout_read(layout_at(L_attr), &context, &in, to, err);
}

static pfr_status put_event(pfr_recorder *r, uint32_t number, uint64_t *ids, pfr_error *err) {
    struct pfr_rec_attr attr;
    size_t count = 0;
    for (size_t i = 0; i < r->nr_counters; i++)
        if (r->counters[i].event == number)
            ids[count++] = r->counters[i].id;
    PFR_TRY(attr_of(&r->events.at[number].attr, &attr, err));
    return pfr_writer_event(r->file.writer, &attr, ids, count, err);
}

static pfr_status put_events(pfr_recorder *r, pfr_error *err) {
    uint64_t *const ids = take(r, r->nr_counters, sizeof *ids);
    if (!ids)
        return no_memory(r, err);
    for (uint32_t i = 0; i < r->events.count; i++)
        PFR_TRY(put_event(r, i, ids, err));
    return PFR_OK;
}

/* --- records before the tasks --- */

/* At most this many ids fit in one record of 64 KB. */
#define IDS_AT_ONCE 2000u

pfr_status file_put_ids(pfr_recorder *r, size_t first, pfr_error *err) {
    uint64_t *const entries = take(r, r->nr_counters * 4, sizeof *entries);
    if (!entries)
        return no_memory(r, err);
    for (size_t i = 0; i < r->nr_counters; i++) {
        const struct open_counter *const c = &r->counters[i];
        const uint64_t row[4] = {c->id, c->ring, (uint64_t)(int64_t)c->cpu, (uint64_t)(int64_t)c->tid};
        memcpy(entries + 4 * i, row, sizeof row);
    }
    struct pfr_context *const plain = take(r, 1, sizeof *plain);
    if (!plain)
        return no_memory(r, err);
    for (size_t i = first; i < r->nr_counters; i += IDS_AT_ONCE) {
        const size_t count = r->nr_counters - i < IDS_AT_ONCE ? r->nr_counters - i : IDS_AT_ONCE;
        const struct pfr_rec_id_index index = {.nr = count,
                                               .entries = {.at = (const uint8_t *)(entries + 4 * i),
                                                           .length = 32 * count,
                                                           .count = count,
                                                           .of = L_id_index_entry,
                                                           .context = plain}};
        PFR_TRY(put_record(r, PFR_RECORD_ID_INDEX, 0, &index, sizeof index, err));
    }
    return PFR_OK;
}

static pfr_status put_thread_map(pfr_recorder *r, pfr_error *err) {
    const size_t count = r->targets.by_task ? r->targets.nr_tasks : 1;
    uint8_t *const entries = take(r, count, 24);
    struct pfr_context *const plain = take(r, 1, sizeof *plain);
    if (!entries || !plain)
        return no_memory(r, err);
    for (size_t i = 0; i < count && i < IDS_AT_ONCE; i++) {
        const uint64_t tid = r->targets.by_task ? (uint64_t)r->targets.tasks[i].tid : UINT64_MAX;
        memcpy(entries + 24 * i, &tid, 8);
        if (r->targets.by_task && !r->targets.of_command)
            kernel_text((char *)entries + 24 * i + 8, 16, r->kernel->proc, "%d/comm", (int)r->targets.tasks[i].tid);
    }
    const size_t shown = count < IDS_AT_ONCE ? count : IDS_AT_ONCE;
    const struct pfr_rec_thread_map map = {
        .nr = shown,
        .entries = {.at = entries, .length = 24 * shown, .count = shown, .of = L_thread_map_entry, .context = plain}};
    return put_record(r, PFR_RECORD_THREAD_MAP, 0, &map, sizeof map, err);
}

/* Writes the list of CPUs: u16 type 0, u16 count, and a u16 for each CPU (perf_record_cpu_map_data in the perf/event.h
 * of linux). */
static pfr_status put_cpu_map(pfr_recorder *r, pfr_error *err) {
    const size_t count = r->options.per_thread ? 1 : r->targets.nr_cpus;
    uint16_t *const words = take(r, count + 1, sizeof *words);
    struct pfr_context *const plain = take(r, 1, sizeof *plain);
    if (!words || !plain)
        return no_memory(r, err);
    words[0] = (uint16_t)count;
    for (size_t i = 0; i < count; i++)
        words[i + 1] = r->options.per_thread ? UINT16_MAX : (uint16_t)r->targets.cpus[i];
    const struct pfr_rec_cpu_map map = {.data = {.type = 0,
                                                 .map = {.at = (const uint8_t *)words,
                                                         .length = 2 * (count + 1),
                                                         .count = 1,
                                                         .of = L_cpu_map_cpus,
                                                         .context = plain}}};
    return put_record(r, PFR_RECORD_CPU_MAP, 0, &map, sizeof map, err);
}

/* Writes the unit and scale of a clock event: it counts ns and is shown in ms. */
static pfr_status put_unit(pfr_recorder *r, const struct typed_event *e, uint64_t id, pfr_error *err) {
    static const char unit[] = "msec";
    static const double scale = 1e-6;
    static const struct pfr_context plain;
    const struct pfr_rec_event_update units = {.type = 0,
                                               .id = id,
                                               .data = {.at = (const uint8_t *)unit,
                                                        .length = sizeof unit,
                                                        .count = 1,
                                                        .of = L_event_update_unit,
                                                        .context = &plain}};
    const struct pfr_rec_event_update scales = {.type = 1,
                                                .id = id,
                                                .data = {.at = (const uint8_t *)&scale,
                                                         .length = sizeof scale,
                                                         .count = 1,
                                                         .of = L_event_update_scale,
                                                         .context = &plain}};
    const bool clock = e->attr.config == PERF_COUNT_SW_CPU_CLOCK || e->attr.config == PERF_COUNT_SW_TASK_CLOCK;
    if (e->attr.type != PERF_TYPE_SOFTWARE || !clock || e->stands_in)
        return PFR_OK;
    PFR_TRY(put_record(r, PFR_RECORD_EVENT_UPDATE, 0, &units, sizeof units, err));
    return put_record(r, PFR_RECORD_EVENT_UPDATE, 0, &scales, sizeof scales, err);
}

static uint64_t first_id(const pfr_recorder *r, uint32_t number) {
    for (size_t c = 0; c < r->nr_counters; c++)
        if (r->counters[c].event == number)
            return r->counters[c].id;
    return 0;
}

static pfr_status put_units(pfr_recorder *r, pfr_error *err) {
    for (uint32_t i = 0; i < r->events.count; i++)
        PFR_TRY(put_unit(r, &r->events.at[i], first_id(r, i), err));
    return PFR_OK;
}

/* In a stream, event names are stored only in these records. */
static pfr_status put_names(pfr_recorder *r, pfr_error *err) {
    struct pfr_context *const plain = take(r, 1, sizeof *plain);
    if (!plain)
        return no_memory(r, err);
    for (uint32_t i = 0; i < r->events.count; i++) {
        const struct typed_event *const e = &r->events.at[i];
        const size_t length = strlen(e->name) + 1;
        const struct pfr_rec_event_update update = {.type = 2,
                                                    .id = first_id(r, i),
                                                    .data = {.at = (const uint8_t *)e->name,
                                                             .length = length,
                                                             .count = 1,
                                                             .of = L_event_update_name,
                                                             .context = plain}};
        PFR_TRY(put_record(r, PFR_RECORD_EVENT_UPDATE, 0, &update, sizeof update, err));
    }
    return PFR_OK;
}

static uint64_t read_clock(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_clocks(pfr_recorder *r) {
    r->clock.wall_ns = read_clock(CLOCK_REALTIME);
    r->clock.ns = read_clock((clockid_t)r->clock.id);
}

pfr_status file_put_clocks(pfr_recorder *r, pfr_error *err) {
    struct pfr_rec_feature_clock_data data = {.version = 1,
                                              .clockid = (uint32_t)r->clock.id,
                                              .wall_clock_ns = r->clock.wall_ns,
                                              .clockid_time_ns = r->clock.ns,
                                              .end_wall_clock_ns = read_clock(CLOCK_REALTIME),
                                              .end_clockid_time_ns = read_clock((clockid_t)r->clock.id)};
    if (!r->options.clock || strcmp(r->file.path, "-") == 0)
        return PFR_OK;
    return pfr_writer_put_feature(r->file.writer, BIT_CLOCK_DATA, &data, sizeof data, err);
}

static pfr_status put_start(pfr_recorder *r, pfr_error *err) {
    PFR_TRY(aux_put_clock(r, err));
    PFR_TRY(file_put_ids(r, 0, err));
    PFR_TRY(aux_put_info(r, err));
    PFR_TRY(tasks_put_kernel(r, err));
    PFR_TRY(put_units(r, err));
    if (strcmp(r->file.path, "-") == 0)
        PFR_TRY(put_names(r, err));
    PFR_TRY(put_thread_map(r, err));
    PFR_TRY(put_cpu_map(r, err));
    PFR_TRY(bpf_put_all(r, err));
    PFR_TRY(tasks_put_all(r, err));
    PFR_TRY(put_record(r, PFR_RECORD_FINISHED_INIT, 0, &(struct pfr_rec_finished_init){0},
                       sizeof(struct pfr_rec_finished_init), err));
    return pfr_writer_flush(r->file.writer, err);
}

pfr_status file_begin(pfr_recorder *r, pfr_error *err) {
    read_clocks(r);
    PFR_TRY(open_writer(r, err));
    PFR_TRY(put_events(r, err));
    PFR_TRY(machine_put(r, err));
    PFR_TRY(tracing_blob_put(r, err));
    r->result.parts++;
    r->file.raw_bytes = 0;
    r->file.part_start_ns = r->clock.wall_ns;
    return put_start(r, err);
}
