/* SPDX-License-Identifier: Apache-2.0 */
/* The engine of SQLite: see store_sqlite.h. */
#include "store/store_sqlite.h"

#include "base/memory/escape_bytes.h"
#include "store/store_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK_WAIT 10000 /* ms */
#define SQL_ROOM 2048u

pfr_status sqlite_run(struct store_handle *h, const char *sql, pfr_error *err) {
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK ? PFR_OK : sqlite_failed(h, "cannot change it", err);
}

/* --- Opening. */

static void close_handle(struct store_handle *h) {
    if (!h)
        return;
    for (size_t i = 0; i < STORE_TABLES; i++)
        sqlite3_finalize(h->inserts[i]);
    if (h->in_push)
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(h->db);
    mem_free(h->memory, h, 1, sizeof *h);
}

static pfr_status set_up(struct store_handle *h, const struct store_open_options *o, pfr_error *err) {
    sqlite3_busy_timeout(h->db, o->timeout_ms ? (int)o->timeout_ms : LOCK_WAIT);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_limit(h->db, SQLITE_LIMIT_ATTACHED, 0);
    /* Pages of 16 KB instead of 4 KB make a new store a tenth smaller and need fewer system calls. */
    if (o->create)
        PFR_TRY(sqlite_run(h, "PRAGMA page_size=16384; PRAGMA journal_mode=WAL", err));
    /* A view reads each page once, so a large cache would only cost page faults. */
    PFR_TRY(sqlite_run(h, o->read_only ? "PRAGMA cache_size=-2048" : "PRAGMA cache_size=-16384", err));
    return sqlite_run(h, "PRAGMA synchronous=FULL; PRAGMA temp_store=MEMORY", err);
}

/* Returns an error whose text names the command that creates this store. */
static pfr_status no_store(const char *path, pfr_error *err) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+=:,@%";
    const char *const quote = path[strspn(path, plain)] ? "'" : "";
    if (strchr(path, '\''))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                        "there is no store; perfray store init --store FILE makes one");
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                    "there is no store; make it: perfray store init --store %s%s%s", quote, path, quote);
}

static pfr_status open_file(struct store_handle *h, const char *path, const struct store_open_options *o,
                            pfr_error *err) {
    /* no mutex, because a handle belongs to one thread */
    const int flags =
        SQLITE_OPEN_NOMUTEX |
        (o->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (o->create ? SQLITE_OPEN_CREATE : 0));
    if (!o->create && access(path, F_OK) != 0)
        return no_store(path, err);
    if (sqlite3_open_v2(path, &h->db, flags, NULL) != SQLITE_OK)
        return h->db ? sqlite_failed(h, "cannot open it", err)
                     : pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "store", "no memory");
    sqlite3_extended_result_codes(h->db, 1);
    return set_up(h, o, err);
}

static pfr_status open_handle(struct store_handle **out, const char *path, const struct store_open_options *o,
                              pfr_error *err) {
    struct store_handle *h = mem_zeroed(o->memory, 1, sizeof *h);
    *out = NULL;
    if (!h)
        return mem_fail(o->memory, err, "store");
    h->memory = o->memory;
    const pfr_status st = open_file(h, path, o, err);
    if (st < 0)
        close_handle(h);
    else
        *out = h;
    return st < 0 ? st : PFR_OK;
}

/* --- The schema. */

static pfr_status read_version(struct store_handle *h, uint32_t *version, pfr_error *err) {
    sqlite3_stmt *s;
    *version = 0;
    PFR_TRY(sqlite_prepare(h, "SELECT count(*) FROM sqlite_master WHERE name='setting'", &s, err));
    bool there = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) > 0;
    if (sqlite3_finalize(s) != SQLITE_OK)
        return sqlite_failed(h, "cannot read it", err);
    if (!there)
        return PFR_OK;
    PFR_TRY(sqlite_prepare(h, "SELECT CAST(value AS INTEGER) FROM setting WHERE name='version'", &s, err));
    there = sqlite3_step(s) == SQLITE_ROW;
    *version = there ? (uint32_t)sqlite3_column_int64(s, 0) : 0;
    return sqlite3_finalize(s) == SQLITE_OK ? PFR_OK : sqlite_failed(h, "cannot read it", err);
}

static const char *type_of(enum store_kind kind) {
    return kind == STORE_TEXT ? "TEXT" : kind == STORE_LIST ? "BLOB" : "INTEGER";
}

/* In a dictionary whose key is one number, that number is the rowid. */
static void write_ddl(const struct store_table *t, char *to, size_t room) {
    const bool by_rowid = !strchr(t->order, ',') && t->columns[t->partition == STORE_BY_DAY].kind != STORE_TEXT;
    size_t at = (size_t)snprintf(to, room, "CREATE TABLE IF NOT EXISTS \"%s\"(", t->name);
    for (uint32_t i = 0; i < t->nr_columns; i++) {
        const bool is_key = by_rowid && strcmp(t->columns[i].name, t->order) == 0;
        at += (size_t)snprintf(to + at, room - at, "%s\"%s\" %s%s NOT NULL", i ? ", " : "", t->columns[i].name,
                               type_of(t->columns[i].kind), is_key ? " PRIMARY KEY" : "");
    }
    snprintf(to + at, room - at, by_rowid ? ")" : ", PRIMARY KEY(%s)) WITHOUT ROWID", t->order);
}

/* Version 2 added sums by day. Uploads whose numbers SQL cannot add exactly get no sums. */
static const char fill_sums[] =
    "INSERT INTO daily SELECT s.day, s.upload, min(s.time), s.event, s.comm, coalesce(k.leaf, 0), sum(s.n), "
    "sum(s.weight) FROM sample s LEFT JOIN stack k ON k.stack=s.stack WHERE s.upload IN (SELECT upload FROM sample "
    "GROUP BY upload HAVING min(time)>=0 AND min(n)>=0 AND min(weight)>=0 AND total(n)<9e18 AND total(weight)<9e18) "
    "GROUP BY s.upload, s.time=0, s.time/86400000000000, s.event, s.comm, coalesce(k.leaf, 0);"
    "UPDATE upload SET sums=(SELECT count(*) FROM daily d WHERE d.upload=upload.upload)";

static pfr_status add_sums(struct store_handle *h, pfr_error *err) {
    PFR_TRY(sqlite_run(h, "ALTER TABLE upload ADD COLUMN sums INTEGER NOT NULL DEFAULT 0", err));
    return sqlite_run(h, fill_sums, err);
}

static pfr_status make_tables(struct store_handle *h, uint32_t from, uint32_t to, pfr_error *err) {
    char sql[SQL_ROOM];
    for (size_t i = 0; i < STORE_TABLES; i++) {
        write_ddl(&store_tables[i], sql, sizeof sql);
        PFR_TRY(sqlite_run(h, sql, err));
    }
    if (from == 1)
        PFR_TRY(add_sums(h, err));
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO setting VALUES('version','%" PRIu32 "')", to);
    return sqlite_run(h, sql, err);
}

static pfr_status migrate(struct store_handle *h, uint32_t from, uint32_t to, pfr_error *err) {
    if (from >= to)
        return PFR_OK;
    PFR_TRY(sqlite_run(h, "BEGIN IMMEDIATE", err));
    uint32_t found = from;
    pfr_status st = read_version(h, &found, err); /* another process may have upgraded the store meanwhile */
    if (st >= 0 && found < to)
        st = make_tables(h, found, to, err);
    if (st < 0) {
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
        return st;
    }
    return sqlite_run(h, "COMMIT", err);
}

/* --- Pushes. */

static pfr_status insert_of(struct store_handle *h, enum store_table_number table, sqlite3_stmt **statement,
                            pfr_error *err) {
    const struct store_table *t = &store_tables[table];
    char sql[SQL_ROOM];
    *statement = h->inserts[table];
    if (*statement)
        return PFR_OK;
    size_t at = (size_t)snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO \"%s\" VALUES(", t->name);
    for (uint32_t i = 0; i < t->nr_columns; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, "%s?", i ? "," : "");
    snprintf(sql + at, sizeof sql - at, ")");
    PFR_TRY(sqlite_prepare(h, sql, &h->inserts[table], err));
    *statement = h->inserts[table];
    return PFR_OK;
}

static bool is_utf8(const char *bytes, size_t length) {
    uint32_t code;
    for (size_t i = 0; i < length;) {
        const size_t one = utf8_take((const uint8_t *)bytes + i, length - i, &code);
        if (one == 0)
            return false;
        i += one;
    }
    return true;
}

static int bind_text(sqlite3_stmt *s, int at, struct store_text text) {
    const char *const bytes = text.length ? text.bytes : "";
    return is_utf8(bytes, text.length) ? sqlite3_bind_text64(s, at, bytes, text.length, SQLITE_STATIC, SQLITE_UTF8)
                                       : sqlite3_bind_blob64(s, at, bytes, text.length, SQLITE_STATIC);
}

/* Lists are stored in this machine's byte order; machines that share SQLite files are little-endian. */
static int bind_list(sqlite3_stmt *s, int at, struct store_list list) {
    return list.count ? sqlite3_bind_blob64(s, at, list.at, list.count * sizeof *list.at, SQLITE_STATIC)
                      : sqlite3_bind_zeroblob(s, at, 0);
}

static int bind_row(sqlite3_stmt *s, const struct store_table *t, const struct store_batch *b, uint32_t row) {
    int code = SQLITE_OK;
    for (uint32_t i = 0; i < t->nr_columns && code == SQLITE_OK; i++) {
        const int at = (int)i + 1;
        if (t->columns[i].kind == STORE_TEXT)
            code = bind_text(s, at, store_text_at(b, i, row));
        else if (t->columns[i].kind == STORE_LIST)
            code = bind_list(s, at, store_list_at(b, i, row));
        else
            code = sqlite3_bind_int64(s, at, (int64_t)store_number_at(t, b, i, row));
    }
    return code;
}

static pfr_status insert_row(struct store_handle *h, sqlite3_stmt *s, const struct store_table *t,
                             const struct store_batch *b, uint32_t row, pfr_error *err) {
    const bool bound = bind_row(s, t, b, row) == SQLITE_OK;
    const bool done = bound && sqlite3_step(s) == SQLITE_DONE;
    const pfr_status st = done ? PFR_OK : sqlite_failed(h, "cannot write into it", err);
    sqlite3_reset(s);
    return st;
}

static int by_rowid(const void *x, const void *y, void *ids) {
    const int64_t *of = ids, a = of[*(const uint32_t *)x], b = of[*(const uint32_t *)y];
    return a < b ? -1 : a > b;
}

/* Sorts rows of dictionaries by id. The ids are hashes, so in this order each page of the file is accessed only once
   per batch. */
static void set_order(const struct store_table *t, const struct store_batch *b, uint32_t *order) {
    for (uint32_t i = 0; i < b->rows; i++)
        order[i] = i;
    if (t->partition == STORE_SHARED && t->columns[0].kind == STORE_U64)
        qsort_r(order, b->rows, sizeof *order, by_rowid, (void *)(uintptr_t)b->column[0]);
}

static pfr_status insert(struct store_handle *h, enum store_table_number table, const struct store_batch *b,
                         pfr_error *err) {
    sqlite3_stmt *s;
    PFR_TRY(insert_of(h, table, &s, err));
    uint32_t *const order = mem_alloc(h->memory, b->rows, sizeof *order);
    pfr_status st = order ? PFR_OK : mem_fail(h->memory, err, "store");
    if (st >= 0)
        set_order(&store_tables[table], b, order);
    for (uint32_t i = 0; i < b->rows && st >= 0; i++)
        st = insert_row(h, s, &store_tables[table], b, order[i], err);
    mem_free(h->memory, order, order ? b->rows : 0, sizeof *order);
    return st;
}

static pfr_status begin(struct store_handle *h, uint64_t upload, pfr_error *err) {
    (void)upload; /* an unfinished push left no rows */
    PFR_TRY(sqlite_run(h, "BEGIN IMMEDIATE", err));
    h->in_push = true;
    return PFR_OK;
}

/* Begins or ends a read transaction. Without it, each lookup in a dictionary would lock and unlock the file. */
static pfr_status hold(struct store_handle *h, bool begin, pfr_error *err) {
    return h->in_push ? PFR_OK : sqlite_run(h, begin ? "BEGIN" : "COMMIT", err);
}

static pfr_status run_for(struct store_handle *h, const char *sql, const uint64_t *ids, size_t count, pfr_error *err) {
    sqlite3_stmt *s;
    pfr_status st = PFR_OK;
    PFR_TRY(sqlite_prepare(h, sql, &s, err));
    for (size_t i = 0; i < count && st >= 0; i++) {
        sqlite3_bind_int64(s, 1, (int64_t)ids[i]);
        st = sqlite3_step(s) == SQLITE_DONE ? PFR_OK : sqlite_failed(h, "cannot change it", err);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return st;
}

static pfr_status has_upload(struct store_handle *h, uint64_t upload, bool *there, pfr_error *err) {
    sqlite3_stmt *s;
    PFR_TRY(sqlite_prepare(h, "SELECT 1 FROM upload WHERE upload=?", &s, err));
    sqlite3_bind_int64(s, 1, (int64_t)upload);
    *there = sqlite3_step(s) == SQLITE_ROW;
    return sqlite3_finalize(s) == SQLITE_OK ? PFR_OK : sqlite_failed(h, "cannot read it", err);
}

static pfr_status finish(struct store_handle *h, pfr_error *err) {
    PFR_TRY(sqlite_run(h, "COMMIT", err));
    h->in_push = false;
    return PFR_OK;
}

/* If another process completed the upload after the core looked for it and before `begin`, the rows of that process are
   kept, and the rows of this push are rolled back. */
static pfr_status complete(struct store_handle *h, const struct store_batch *upload, bool *already, pfr_error *err) {
    PFR_TRY(has_upload(h, store_u64(upload, 1, 0), already, err));
    if (!*already) {
        PFR_TRY(insert(h, STORE_TABLE_upload, upload, err));
        return finish(h, err);
    }
    PFR_TRY(sqlite_run(h, "ROLLBACK", err));
    h->in_push = false;
    return PFR_OK;
}

static pfr_status in_transaction(struct store_handle *h, const char *const *statements, const uint64_t *ids,
                                 size_t count, pfr_error *err) {
    PFR_TRY(begin(h, 0, err));
    for (size_t i = 0; statements[i]; i++)
        PFR_TRY(run_for(h, statements[i], ids, count, err));
    return PFR_OK;
}

static pfr_status relabel(struct store_handle *h, const struct store_batch *upload, pfr_error *err) {
    static const char *const statements[] = {"DELETE FROM upload WHERE upload=?", NULL};
    const uint64_t id = store_u64(upload, 1, 0);
    PFR_TRY(in_transaction(h, statements, &id, 1, err));
    PFR_TRY(insert(h, STORE_TABLE_upload, upload, err));
    return finish(h, err);
}

static pfr_status drop(struct store_handle *h, const struct store_params *p, pfr_error *err) {
    static const char *const statements[] = {"DELETE FROM upload WHERE upload=?", "DELETE FROM sample WHERE upload=?",
                                             "DELETE FROM daily WHERE upload=?", "DELETE FROM latency WHERE upload=?",
                                             NULL};
    PFR_TRY(in_transaction(h, statements, p->uploads, p->nr_uploads, err));
    return finish(h, err);
}

/* Puts the frames of all stacks, each once, into a temporary table. */
static pfr_status list_frames(struct store_handle *h, sqlite3_stmt *stacks, sqlite3_stmt *put, pfr_error *err) {
    while (sqlite3_step(stacks) == SQLITE_ROW) {
        const uint8_t *const list = sqlite3_column_blob(stacks, 0);
        const size_t count = (size_t)sqlite3_column_bytes(stacks, 0) / sizeof(uint64_t);
        for (size_t i = 0; i < count; i++) {
            int64_t frame;
            memcpy(&frame, list + i * sizeof frame, sizeof frame);
            sqlite3_bind_int64(put, 1, frame);
            const bool done = sqlite3_step(put) == SQLITE_DONE;
            sqlite3_reset(put);
            if (!done)
                return sqlite_failed(h, "cannot change it", err);
        }
    }
    return PFR_OK;
}

static pfr_status list_used(struct store_handle *h, pfr_error *err) {
    sqlite3_stmt *stacks = NULL, *put = NULL;
    PFR_TRY(sqlite_run(h,
                       "CREATE TEMP TABLE used AS SELECT function AS frame FROM latency"
                       " UNION SELECT caller FROM latency; CREATE UNIQUE INDEX temp.used_frame ON used(frame)",
                       err));
    pfr_status st = sqlite_prepare(h, "SELECT frames FROM stack", &stacks, err);
    if (st >= 0)
        st = sqlite_prepare(h, "INSERT OR IGNORE INTO used VALUES(?)", &put, err);
    if (st >= 0)
        st = list_frames(h, stacks, put, err);
    sqlite3_finalize(put);
    if (sqlite3_finalize(stacks) != SQLITE_OK && st >= 0)
        st = sqlite_failed(h, "cannot read it", err);
    return st;
}

/* Removes stacks, comms and events that no sample uses; then frames that are neither in a stack nor in `latency`; then
   objects to which no frame refers. */
static pfr_status collect(struct store_handle *h, pfr_error *err) {
    PFR_TRY(begin(h, 0, err));
    PFR_TRY(sqlite_run(h,
                       "DELETE FROM stack WHERE stack NOT IN (SELECT stack FROM sample);"
                       "DELETE FROM comm WHERE comm NOT IN (SELECT comm FROM sample);"
                       "DELETE FROM event WHERE event NOT IN (SELECT event FROM sample)",
                       err));
    PFR_TRY(list_used(h, err));
    PFR_TRY(sqlite_run(h,
                       "DELETE FROM frame WHERE frame NOT IN (SELECT frame FROM used);"
                       "DELETE FROM object WHERE object NOT IN (SELECT object FROM frame);"
                       "DROP TABLE used",
                       err));
    return finish(h, err);
}

static pfr_status check(struct store_handle *h, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                        void *context, pfr_error *err) {
    sqlite3_stmt *s;
    pfr_status st = PFR_OK;
    PFR_TRY(sqlite_prepare(h, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", &s, err));
    *bytes = sqlite3_step(s) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    PFR_TRY(sqlite_prepare(h, "PRAGMA integrity_check(10)", &s, err));
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *const line = (const char *)sqlite3_column_text(s, 0);
        if (!line || strcmp(line, "ok") == 0)
            continue;
        say(context, line);
        st = PFR_HOLE;
    }
    return sqlite3_finalize(s) == SQLITE_OK ? st : sqlite_failed(h, "cannot read it", err);
}

const struct store_engine store_sqlite = {.name = "sqlite",
                                          .prefix = "sqlite:",
                                          .open = open_handle,
                                          .close = close_handle,
                                          .version = read_version,
                                          .migrate = migrate,
                                          .begin = begin,
                                          .insert = insert,
                                          .complete = complete,
                                          .relabel = relabel,
                                          .drop = drop,
                                          .collect = collect,
                                          .hold = hold,
                                          .query = sqlite_query,
                                          .sql = sqlite_user_query,
                                          .check = check};
