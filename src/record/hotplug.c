/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows CPUs that go online and offline while all CPUs are recorded. The kernel sends no notification, so
 * devices/system/cpu/online is read again every half second. When a CPU goes offline, only its counters stop. When a
 * CPU comes online, counters are opened for it and their ids are written to the file.
 */
#include <errno.h>
#include <string.h>
#include "record/hotplug.h"
#include "record/contents/begin_file.h"
#include "record/rings/counters.h"
#include "record/contents/machine.h"
#include "record/rings/recorder_note.h"
#include "record/rings/rings.h"
#include "record/rings/targets.h"

#define LOOK_NS 500000000u

/* --- a CPU that comes on line --- */

static bool is_recorded(const pfr_recorder *r, int32_t cpu) {
    for (size_t i = 0; i < r->targets.nr_cpus; i++)
        if (r->targets.cpus[i] == cpu)
            return true;
    return false;
}

static pfr_status write_new_ids(pfr_recorder *r, size_t first, pfr_error *err) {
    for (size_t i = first; i < r->nr_counters; i++)
        PFR_TRY(pfr_writer_ids(r->file.writer, r->counters[i].event, &r->counters[i].id, 1, err));
    PFR_TRY(file_put_ids(r, first, err));
    return machine_put_events(r, err);
}

static void start_counters(pfr_recorder *r, size_t first) {
    for (size_t i = first; i < r->nr_counters && r->control.enabled; i++)
        if (r->events.at[r->counters[i].event].leader == r->counters[i].event)
            r->kernel->control(r->kernel->context, r->counters[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

static pfr_status take_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err) {
    const size_t first = r->nr_counters;
    if (strcmp(r->file.path, "-") == 0) {
        recorder_note(r, "CPU %d came online and is not recorded: a stream lists its counters only at its start",
                      (int)cpu);
        return PFR_OK;
    }
    pfr_error why;
    if (counters_open_cpu(r, cpu, &why) != PFR_OK) {
        recorder_note(r, "CPU %d came online but cannot be recorded: %s", (int)cpu, why.text);
        return PFR_OK;
    }
    PFR_TRY(rings_map_from(r, first, err));
    PFR_TRY(write_new_ids(r, first, err));
    start_counters(r, first);
    recorder_note(r, "CPU %d came online and is recorded from now on", (int)cpu);
    return is_recorded(r, cpu) ? PFR_OK : targets_add_cpu(r, cpu, err);
}

/* --- all --- */

static bool is_listed(const struct cpu_list *list, int32_t cpu) {
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == cpu)
            return true;
    return false;
}

static pfr_status compare(pfr_recorder *r, const struct cpu_list *now, pfr_error *err) {
    for (size_t i = 0; i < r->targets.online.count; i++)
        if (!is_listed(now, r->targets.online.at[i]))
            recorder_note(r, "CPU %d went offline; the others are still recorded", (int)r->targets.online.at[i]);
    for (size_t i = 0; i < now->count; i++)
        if (!is_listed(&r->targets.online, now->at[i]))
            PFR_TRY(take_cpu(r, now->at[i], err));
    return PFR_OK;
}

static bool is_due(pfr_recorder *r, bool idle, uint64_t now_ns) {
    if (!r->targets.by_cpu || r->options.cpus || (!idle && now_ns - r->targets.looked_ns < LOOK_NS))
        return false;
    r->targets.looked_ns = now_ns;
    return true;
}

pfr_status hotplug_look(pfr_recorder *r, bool idle, uint64_t now_ns, pfr_error *err) {
    struct cpu_list now;
    if (!is_due(r, idle, now_ns) || !targets_online(r->kernel, &now))
        return PFR_OK;
    if (now.count == r->targets.online.count && memcmp(now.at, r->targets.online.at, now.count * sizeof *now.at) == 0)
        return PFR_OK;
    if (r->targets.online.count)
        PFR_TRY(compare(r, &now, err));
    r->targets.online = now;
    return PFR_OK;
}
