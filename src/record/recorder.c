/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder from open to close; recorder_parts.h lists the steps. */
#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include "record/recorder.h"
#include "record/contents/begin_file.h"
#include "record/contents/bpf_programs.h"
#include "record/child_command.h"
#include "record/control.h"
#include "record/rings/counters.h"
#include "record/contents/finish_file.h"
#include "record/loop.h"
#include "record/option_lists.h"
#include "record/plan.h"
#include "record/privileges.h"
#include "record/rings/recorder_note.h"
#include "record/rings/rings.h"
#include "record/rings/targets.h"
#include "record/contents/tracing_data.h"

#define HITS_MEMORY ((uint64_t)64 << 20)

static pfr_recorder *make(const struct kernel *kernel, const pfr_recorder_options *options, pfr_error *err) {
    struct memory memory;
    memory_init(&memory, options->alloc, 0);
    pfr_recorder *const r = mem_zeroed(&memory, 1, sizeof *r);
    if (!r) {
        mem_fail(&memory, err, "recorder");
        return NULL;
    }
    memcpy(&r->options, options, options->size < sizeof r->options ? options->size : sizeof r->options);
    r->kernel = kernel;
    r->memory = memory;
    r->file.hits_memory = HITS_MEMORY;
    r->control.watch = r->control.wake = r->control.in = r->control.out = -1;
    r->command.go = r->command.failed = r->command.watched = -1;
    event_list_init(&r->events, &r->memory);
    arena_init(&r->file.part, &r->memory);
    return r;
}

static pfr_status open_watch(pfr_recorder *r, pfr_error *err) {
    r->control.watch = r->kernel->watch(r->kernel->context, -1, -1);
    r->control.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->control.watch < 0 || r->control.wake < 0)
        return pfr_fail_errno(err, errno, "watch", "rings");
    if (r->kernel->watch(r->kernel->context, r->control.watch, r->control.wake) < 0)
        return pfr_fail_errno(err, errno, "watch", "signals");
    if (r->command.watched >= 0 && r->kernel->watch(r->kernel->context, r->control.watch, r->command.watched) < 0)
        return pfr_fail_errno(err, errno, "watch", r->options.command[0]);
    return PFR_OK;
}

/* --- a separate thread --- */

static void *run_thread(void *recorder) {
    pfr_recorder *const r = recorder;
    r->worker.tid = (pid_t)syscall(SYS_gettid);
    sem_post(&r->worker.is_there);
    while (sem_wait(&r->worker.goes) != 0) {
    }
    if (!r->worker.given_over)
        r->worker.ended_by.status = loop_run(r, &r->worker.ended_by);
    return NULL;
}

/* The thread must be created before the counters are opened: a later thread would inherit the counters. */
static pfr_status make_thread(pfr_recorder *r, pfr_error *err) {
    sem_init(&r->worker.is_there, 0, 0);
    sem_init(&r->worker.goes, 0, 0);
    const int why = pthread_create(&r->worker.thread, NULL, run_thread, r);
    if (why != 0)
        return pfr_fail_errno(err, why, "start", "a thread");
    r->worker.exists = true;
    while (sem_wait(&r->worker.is_there) != 0) {
    }
    return PFR_OK;
}

static void join_thread(pfr_recorder *r) {
    pthread_join(r->worker.thread, NULL);
    r->worker.exists = r->worker.runs = false;
    sem_destroy(&r->worker.is_there);
    sem_destroy(&r->worker.goes);
}

static pfr_status output_can_be(const pfr_recorder *r, pfr_error *err) {
    const char *const output = r->options.output;
    if (output && !*output)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output", "--output names no file");
    if (output && strcmp(output, "-") == 0 && r->options.parts)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output",
                        "--switch-output needs a file; a stream (-o -) cannot be split");
    return PFR_OK;
}

static pfr_status open_steps(pfr_recorder *r, pfr_error *err) {
    PFR_TRY(output_can_be(r, err));
    if (r->options.self)
        PFR_TRY(make_thread(r, err));
    PFR_TRY(targets_find(r, err));
    PFR_TRY(plan_events(r, err));
    if (r->options.command)
        PFR_TRY(command_start(r, err));
    PFR_TRY(open_watch(r, err));
    PFR_TRY(counters_open(r, err));
    PFR_TRY(rings_map(r, err));
    PFR_TRY(plan_drain(r, err));
    PFR_TRY(tracing_blob_read(r, err));
    PFR_TRY(privileges_end(r, err));
    PFR_TRY(control_open(r, err));
    return file_begin(r, err);
}

pfr_recorder *recorder_open_on(const struct kernel *kernel, const pfr_recorder_options *options, pfr_error *err) {
    pfr_recorder *const r = make(kernel, options, err);
    if (r && open_steps(r, err) < 0) {
        pfr_recorder_close(r);
        return NULL;
    }
    return r;
}

pfr_recorder *pfr_recorder_open(const pfr_recorder_options *options, pfr_error *err) {
    return recorder_open_on(&real_kernel, options, err);
}

/* --- dry run: prints the counters that would be opened --- */

static void report_event(const pfr_recorder *r, uint32_t number) {
    const struct typed_event *const e = &r->events.at[number];
    const size_t counters =
        (r->options.per_thread ? 1 : r->targets.nr_cpus) * (r->targets.by_task ? r->targets.nr_tasks : 1);
    recorder_note(r, "event %u %s: type %u config %#llx %s %llu sample_type %#llx, %zu counters%s%s", number, e->name,
                  e->attr.type, (unsigned long long)e->attr.config, e->attr.freq ? "frequency" : "period",
                  (unsigned long long)e->attr.sample_period, (unsigned long long)e->attr.sample_type, counters,
                  e->filter ? ", filter " : "", e->filter ? e->filter : "");
}

pfr_status pfr_recorder_plan(const pfr_recorder_options *options, pfr_error *err) {
    pfr_recorder *const r = make(&real_kernel, options, err);
    if (!r)
        return PFR_ERR_MEMORY;
    pfr_status status = targets_find(r, err);
    if (status >= 0 && r->targets.of_command)
        status = targets_add_task(r, 0, err);
    if (status >= 0)
        status = plan_events(r, err);
    for (uint32_t i = 0; i < r->events.count && status >= 0; i++)
        report_event(r, i);
    pfr_recorder_close(r);
    return status;
}

/* --- running --- */

pfr_status pfr_recorder_run(pfr_recorder *r, pfr_error *err) {
    return loop_run(r, err);
}

pfr_status pfr_recorder_begin(pfr_recorder *r, pfr_error *err) {
    if (!r->worker.exists)
        PFR_TRY(make_thread(r, err));
    if (r->options.delay_ms == 0 && r->control.nr_turns == 0 && !r->options.command)
        counters_switch(r, true);
    r->worker.runs = true;
    sem_post(&r->worker.goes);
    return PFR_OK;
}

pfr_status pfr_recorder_end(pfr_recorder *r, pfr_error *err) {
    if (!r->worker.runs)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "recorder", "the recording was not started");
    if (r->control.stops == 0)
        pfr_recorder_stop(r);
    join_thread(r);
    if (r->worker.ended_by.status < 0 && err)
        *err = r->worker.ended_by;
    return r->worker.ended_by.status;
}

static void call(pfr_recorder *r) {
    const int kept = errno;
    const uint64_t one = 1;
    const ssize_t written = write(r->control.wake, &one, sizeof one);
    (void)written; /* EAGAIN: the eventfd is already signalled */
    errno = kept;
}

void pfr_recorder_stop(pfr_recorder *r) {
    if (r->control.stops < 2)
        r->control.stops++;
    call(r);
}

void pfr_recorder_snapshot(pfr_recorder *r) {
    r->control.snapshots = 1;
    call(r);
}

void pfr_recorder_enable(pfr_recorder *r, bool on) {
    r->control.wants_on = on;
    r->control.wants_off = !on;
    call(r);
}

void pfr_recorder_get_result(const pfr_recorder *r, pfr_recorder_result *result) {
    *result = r->result;
}

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

void pfr_recorder_close(pfr_recorder *r) {
    if (!r)
        return;
    if (r->worker.runs) {
        pfr_recorder_end(r, NULL);
    } else if (r->worker.exists) {
        r->worker.given_over = true;
        sem_post(&r->worker.goes);
        join_thread(r);
    }
    pfr_writer_close(r->file.writer);
    rings_free(r);
    counters_close(r);
    command_end(&r->command);
    control_close(r);
    close_if_open(r->control.wake);
    if (r->control.watch >= 0)
        r->kernel->close(r->kernel->context, r->control.watch);
    bpf_forget(r);
    targets_free(r);
    event_list_free(&r->events);
    parts_forget(r);
    mem_free(&r->memory, r->control.turns, r->control.turns_room, sizeof *r->control.turns);
    arena_free(&r->file.part);
    struct memory memory = r->memory;
    mem_free(&memory, r, 1, sizeof *r);
}
