/* SPDX-License-Identifier: Apache-2.0 */
/* Finds tracepoints by name or glob. attr.config is read from events/SYSTEM/NAME/id in tracefs. Probes (perf probe,
 * uprobe_events) are listed there, too. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/event/event.h"

static bool is_glob(const char *name) {
    return strpbrk(name, "*?[") != NULL;
}

static pfr_status not_there(struct event_text *text, const char *system, const char *point, const char *at, int why) {
    if (why == EACCES || why == EPERM)
        return pfr_fail(text->err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "event",
                        "tracepoint %.50s:%.50s: %.40s is not readable for this user; run perfray as root", system,
                        point, text->kernel->tracing);
    return event_wrong(text, at, "there is no tracepoint %.60s:%.60s; see perfray list", system, point);
}

static pfr_status add_point(struct event_text *text, const char *system, const char *point, const char *at) {
    char name[520];
    const int64_t id = kernel_number(-1, text->kernel->tracing, "events/%s/%s/id", system, point);
    if (id < 0)
        return not_there(text, system, point, at, errno);
    const int length = snprintf(name, sizeof name, "%s:%s", system, point);
    struct typed_event *const event = event_list_add(text->list, name, (size_t)length);
    if (!event)
        return mem_fail(text->list->arena.memory, text->err, "events");
    event->system = arena_text(&text->list->arena, system, strlen(system));
    event->point = arena_text(&text->list->arena, point, strlen(point));
    if (!event->system || !event->point)
        return mem_fail(text->list->arena.memory, text->err, "events");
    event->attr.type = PERF_TYPE_TRACEPOINT;
    event->attr.config = (uint64_t)id;
    event->attr.sample_period = 1;
    event->attr.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
    event->fixed = true;
    return PFR_OK;
}

/* The sorted entries of events/FOLDER. */
struct folders {
    struct dirent **at;
    int count;
};

static bool list_folders(struct folders *found, const char *tracing, const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/events/%s", tracing, folder);
    found->count = scandir(path, &found->at, NULL, alphasort);
    return found->count >= 0;
}

static void free_folders(struct folders *found) {
    for (int i = 0; i < found->count; i++)
        free(found->at[i]);
    free(found->at);
}

static bool is_wanted(const char *glob, const struct dirent *entry) {
    return entry->d_name[0] != '.' && entry->d_type == DT_DIR && fnmatch(glob, entry->d_name, 0) == 0;
}

static pfr_status add_points(struct event_text *text, const char *system, const char *glob, const char *at) {
    struct folders found;
    pfr_status status = PFR_OK;
    if (!list_folders(&found, text->kernel->tracing, system))
        return not_there(text, system, glob, at, errno);
    for (int i = 0; i < found.count && status == PFR_OK; i++)
        if (is_wanted(glob, found.at[i]))
            status = add_point(text, system, found.at[i]->d_name, at);
    free_folders(&found);
    return status;
}

static pfr_status add_systems(struct event_text *text, const char *glob, const char *point, const char *at) {
    struct folders found;
    pfr_status status = PFR_OK;
    if (!list_folders(&found, text->kernel->tracing, ""))
        return not_there(text, glob, point, at, errno);
    for (int i = 0; i < found.count && status == PFR_OK; i++)
        if (is_wanted(glob, found.at[i]))
            status = add_points(text, found.at[i]->d_name, point, at);
    free_folders(&found);
    return status;
}

pfr_status event_tracepoints(struct event_text *text, const char *system, const char *point, const char *at) {
    const size_t before = text->list->count;
    if (!is_glob(system) && !is_glob(point))
        return add_point(text, system, point, at);
    PFR_TRY(is_glob(system) ? add_systems(text, system, point, at) : add_points(text, system, point, at));
    return text->list->count > before ? PFR_OK : not_there(text, system, point, at, ENOENT);
}
