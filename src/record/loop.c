/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop. It waits until a ring is half full, a counter hangs up, another thread sends a request, or half a
 * second has passed. Then it writes the contents of all rings and FINISHED_ROUND, which promises that no older record
 * follows. Each round is written to the file immediately, so at most half a second is lost if the recorder is killed.
 */
#include <errno.h>
#include <sched.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "record/loop.h"
#include "record/child_command.h"
#include "record/control.h"
#include "record/rings/counters.h"
#include "record/contents/finish_file.h"
#include "record/hotplug.h"
#include "record/rings/put_record.h"
#include "record/rings/recorder_note.h"
#include "record/rings/rings.h"
#include "record/rings/targets.h"

#define TURN_MS 500
#define PATIENCE_MS 600 /* how long to wait for a command after SIGTERM */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static pfr_status end_round(pfr_recorder *r, pfr_error *err) {
    r->result.wakes++;
    PFR_TRY(put_record(r, PFR_RECORD_FINISHED_ROUND, 0, &(struct pfr_rec_finished_round){0},
                       sizeof(struct pfr_rec_finished_round), err));
    return pfr_writer_flush(r->file.writer, err);
}

static pfr_status turn(pfr_recorder *r, bool *any, pfr_error *err) {
    PFR_TRY(rings_drain(r, any, err));
    return *any ? end_round(r, err) : PFR_OK;
}

/* --- requests --- */

static void take_orders(pfr_recorder *r) {
    uint64_t calls;
    const ssize_t got = read(r->control.wake, &calls, sizeof calls); /* does not block: EFD_NONBLOCK */
    (void)got;
    control_obey(r);
    if (r->control.wants_on || r->control.wants_off)
        counters_switch(r, r->control.wants_on);
    r->control.wants_on = r->control.wants_off = 0;
}

static bool part_is_full(const pfr_recorder *r) {
    const pfr_recorder_options *const o = &r->options;
    struct timespec wall;
    if (!o->parts)
        return false;
    clock_gettime(CLOCK_REALTIME, &wall);
    const uint64_t now = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    return (o->part_bytes && pfr_writer_size(r->file.writer) >= o->part_bytes) ||
           (o->part_ns && now - r->file.part_start_ns >= o->part_ns);
}

static pfr_status take_snapshots(pfr_recorder *r, pfr_error *err) {
    bool any;
    if (r->control.snapshots == 0 && !part_is_full(r))
        return PFR_OK;
    r->control.snapshots = 0;
    r->drain_least = 0;
    if (r->options.overwrite) {
        PFR_TRY(rings_snapshot(r, err));
        PFR_TRY(end_round(r, err));
    }
    PFR_TRY(turn(r, &any, err));
    r->drain_least = r->options.drain_least;
    return r->options.parts ? file_next(r, err) : PFR_OK;
}

/* --- the end --- */

static bool is_full(pfr_recorder *r) {
    const uint64_t most = r->options.max_bytes;
    if (!most || pfr_writer_size(r->file.writer) < most)
        return false;
    r->result.is_full = true;
    return true;
}

static bool is_over(pfr_recorder *r) {
    if (r->control.stops || is_full(r))
        return true;
    if (r->command.pid)
        return command_ended(&r->command);
    return r->targets.by_task && targets_are_gone(r);
}

/* Sends SIGTERM to the command, as perf does, and records until it ends. A command that does not end keeps running. */
static pfr_status dismiss_command(pfr_recorder *r, pfr_error *err) {
    struct recorder_command *const command = &r->command;
    const uint64_t until = now_ns() + PATIENCE_MS * 1000000ull;
    if (!command->pid || command_ended(command))
        return PFR_OK;
    kill(command->pid, SIGTERM);
    while (now_ns() < until && r->control.stops < 2 && !command_ended(command)) {
        usleep(10000);
        PFR_TRY(rings_drain_filling(r, err));
    }
    if (!command_ended(command))
        recorder_note(r, "the command continues to run as process %d", (int)command->pid);
    return PFR_OK;
}

static pfr_status drain_all(pfr_recorder *r, pfr_error *err) {
    bool any = true;
    r->drain_least = 0;
    for (unsigned i = 0; i < 16 && any; i++)
        PFR_TRY(turn(r, &any, err));
    if (!r->options.overwrite)
        return PFR_OK;
    PFR_TRY(rings_snapshot(r, err));
    return end_round(r, err);
}

static pfr_status end_recording(pfr_recorder *r, pfr_error *err) {
    if (r->control.stops || r->result.is_full)
        PFR_TRY(dismiss_command(r, err));
    counters_switch(r, false);
    PFR_TRY(drain_all(r, err));
    return r->control.stops < 2 ? file_finish(r, err) : PFR_OK;
}

/* True if the stream is written to a pipe whose reader has closed it. */
static bool nobody_reads(const pfr_recorder *r) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return r->file.path && strcmp(r->file.path, "-") == 0 && poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

/* If recording fails, the command continues, and the recorder waits for its end. It does not wait if a stream is
 * written to a pipe whose reader has closed it. */
static void wait_for_command(pfr_recorder *r) {
    if (nobody_reads(r) && r->command.pid && r->command.go < 0 && !command_ended(&r->command)) {
        recorder_note(r, "the command continues to run as process %d", (int)r->command.pid);
        return;
    }
    while (r->command.pid && r->command.go < 0 && !r->control.stops && !command_ended(&r->command))
        usleep(10000);
}

/* --- the start --- */

/* Enables the counters that enable_on_exec does not enable. *begun is the time of the start. */
static pfr_status start(pfr_recorder *r, uint64_t *begun, pfr_error *err) {
    const bool late = r->options.delay_ms != 0 || r->control.nr_turns > 0;
    if (!late && !r->targets.of_command)
        counters_switch(r, true);
    if (late && !r->command.pid)
        counters_track(r);
    if (r->command.pid)
        PFR_TRY(command_go(r, err));
    *begun = now_ns();
    return PFR_OK;
}

static int milliseconds_to(uint64_t when) {
    const uint64_t now = now_ns();
    if (when == 0 || when > now + TURN_MS * 1000000ull)
        return TURN_MS;
    return when <= now ? 0 : (int)((when - now) / 1000000 + 1);
}

/* Switches counting on or off when the next time of control.turns has come. */
static void take_turns(pfr_recorder *r, uint64_t begun, size_t *next) {
    for (; *next < r->control.nr_turns && now_ns() >= begun + r->control.turns[*next]; ++*next)
        counters_switch(r, *next % 2 == 0);
}

static pfr_status recording(pfr_recorder *r, pfr_error *err) {
    uint64_t begun;
    size_t next = 0;
    PFR_TRY(start(r, &begun, err));
    for (bool any; !is_over(r);) {
        const int due = milliseconds_to(next < r->control.nr_turns ? begun + r->control.turns[next] : 0);
        const int most = r->command.pid && r->command.watched < 0 ? 20 : due;
        const int events = r->kernel->wait(r->kernel->context, r->control.watch, most);
        if (events < 0 && errno != EINTR)
            return pfr_fail_errno(err, errno, "wait for", "rings");
        take_orders(r);
        take_turns(r, begun, &next);
        PFR_TRY(turn(r, &any, err));
        PFR_TRY(hotplug_look(r, events == 0, now_ns(), err));
        PFR_TRY(take_snapshots(r, err));
    }
    return end_recording(r, err);
}

static pfr_status rise(const pfr_recorder *r, pfr_error *err) {
    const struct sched_param how = {.sched_priority = (int)r->options.realtime};
    if (!r->options.realtime || sched_setscheduler(0, SCHED_FIFO, &how) == 0)
        return PFR_OK;
    if (errno == EINVAL)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "realtime",
                        "real-time priority %u is not in the range 1 to 99", r->options.realtime);
    return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "realtime",
                    "real-time priority %u is not permitted: it needs CAP_SYS_NICE, or a higher ulimit -r",
                    r->options.realtime);
}

pfr_status loop_run(pfr_recorder *r, pfr_error *err) {
    pfr_status status = rise(r, err);
    if (status >= 0)
        status = recording(r, err);
    if (status < 0) {
        counters_switch(r, false);
        counters_close(r);
        wait_for_command(r);
    }
    r->result.has_status = r->command.has_status;
    r->result.status = r->command.status;
    return status;
}
