/* SPDX-License-Identifier: Apache-2.0 */
/* Opens stores, and checks the version of their schema. */
#include "store/store_parts.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

uint64_t store_now(const struct pfr_store *store) {
    struct timespec t;
    if (store->now)
        return store->now;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

static pfr_status check_version(struct pfr_store *s, bool create, pfr_error *err) {
    uint32_t version;
    PFR_TRY(s->engine->version(s->handle, &version, err));
    if (version > STORE_VERSION)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "version",
                        "the store has version %" PRIu32 ", and this perfray knows up to %u: use a newer perfray",
                        version, STORE_VERSION);
    if (version == STORE_VERSION)
        return PFR_OK;
    if (create)
        return s->engine->migrate(s->handle, version, STORE_VERSION, err);
    return version ? pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "version",
                              "the store has version %" PRIu32 "; perfray store init brings it to %u", version,
                              STORE_VERSION)
                   : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "version",
                              "the database has no tables of perfray; perfray store init makes them");
}

static pfr_status open_store(struct pfr_store *s, const char *url, const pfr_store_options *o, pfr_error *err) {
    const char *rest;
    s->engine = store_engine_of(url, &rest);
    if (!s->engine)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "url",
                        "no engine for this URL: PATH, sqlite:PATH or clickhouse://HOST:PORT/DATABASE, as built in");
    const struct store_open_options how = {
        .memory = &s->memory, .create = o->create, .read_only = o->read_only, .timeout_ms = o->timeout_ms};
    PFR_TRY(s->engine->open(&s->handle, rest, &how, err));
    return check_version(s, o->create, err);
}

pfr_store *pfr_store_open(const char *url, const pfr_store_options *options, pfr_error *err) {
    pfr_store_options o = {.size = sizeof o};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    struct memory memory;
    memory_init(&memory, o.alloc, o.limits ? o.limits->memory : 0);
    struct pfr_store *s = mem_zeroed(&memory, 1, sizeof *s);
    if (!s) {
        mem_fail(&memory, err, "store");
        return NULL;
    }
    s->memory = memory;
    s->limits = o.limits ? *o.limits : (pfr_limits){.size = sizeof s->limits};
    s->now = o.now;
    s->read_only = o.read_only;
    if (open_store(s, url, &o, err) >= 0)
        return s;
    pfr_store_close(s);
    return NULL;
}

void pfr_store_close(pfr_store *s) {
    if (!s)
        return;
    if (s->handle)
        s->engine->close(s->handle);
    struct memory memory = s->memory;
    mem_free(&memory, s, 1, sizeof *s);
}

const char *pfr_store_engine(const pfr_store *s) {
    return s->engine->name;
}
