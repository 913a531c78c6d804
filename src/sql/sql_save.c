/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves the tables of a schema as an SQLite database. It is written to a temporary name and renamed when it is
 * complete. An existing file is replaced only if its application id shows that it was written by this code.
 */
#include "sql/sql_tables.h"

#include "base/io/descriptor.h"
#include "base/memory/cursor.h"
#include "sql/sql_fail.h"
#include "sql/sql_source.h"
#include "sql/sql_schema.h"
#include "sql/sql_tracepoints.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x70667279u /* "pfry" */
#define APPLICATION_ID_AT 68       /* offset in an SQLite file; the id is big-endian */
#define FILE_HEAD 100

/* --- May the file be written? */

static bool is_ours(int fd) {
    uint8_t head[FILE_HEAD];
    if (pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return false;
    uint32_t id = 0;
    for (unsigned i = 0; i < 4; i++)
        id = id * 256 + head[APPLICATION_ID_AT + i];
    return id == APPLICATION_ID;
}

static pfr_status check_target(const char *path, pfr_error *err) {
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? PFR_OK : pfr_fail_errno(err, errno, "look at", path);
    const int fd = S_ISREG(st.st_mode) ? descriptor_open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0) : -1;
    const bool fits = fd >= 0 && is_ours(fd);
    if (fd >= 0)
        close(fd);
    return fits ? PFR_OK
                : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql",
                           "the file exists and is not a database written by perfray sql");
}

/* --- Tables. */

static pfr_status run(pfr_sql *sql, char *statement, pfr_error *err) {
    const int code = statement ? sqlite3_exec(sql->db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(statement);
    if (code == SQLITE_OK)
        return PFR_OK;
    if (sql->interrupted)
        return pfr_fail(err, PFR_END, PFR_NO_OFFSET, 0, "sql", "interrupted");
    return sql_fail(sql, code, err);
}

/* Lists the columns of a table, as they are declared and as they are selected. The list includes hidden columns, but
   not the arguments of table-valued functions. */
static pfr_status list_columns(pfr_sql *sql, const char *schema, const char *table, sqlite3_str *declared,
                               sqlite3_str *names, pfr_error *err) {
    sqlite3_stmt *statement;
    char *text = sqlite3_mprintf("SELECT name, type, cid FROM pragma_table_xinfo(%Q, %Q)", table, schema);
    int code = text ? sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code != SQLITE_OK)
        return sql_fail(sql, code, err);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const char *type = (const char *)sqlite3_column_text(statement, 1);
        const bool is_first = sqlite3_column_int(statement, 2) == 0;
        const bool is_key = is_first && (strcmp(name, "id") == 0 || strcmp(table, "function") == 0);
        sqlite3_str_appendf(declared, "%s\"%w\" %s%s", is_first ? "" : ", ", name, type, is_key ? " PRIMARY KEY" : "");
        sqlite3_str_appendf(names, "%s\"%w\"", is_first ? "" : ", ", name);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? PFR_OK : sql_fail(sql, code, err);
}

static pfr_status copy_table(pfr_sql *sql, const char *schema, const char *table, pfr_error *err) {
    sqlite3_str *declared = sqlite3_str_new(sql->db), *names = sqlite3_str_new(sql->db);
    pfr_status st = list_columns(sql, schema, table, declared, names, err);
    char *columns = sqlite3_str_finish(declared), *selected = sqlite3_str_finish(names);
    if (st >= 0 && (!columns || !selected))
        st = pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "sql", "out of memory");
    if (st >= 0)
        st = run(sql, sqlite3_mprintf("CREATE TABLE perfray_out.\"%w\"(%s)", table, columns), err);
    if (st == PFR_OK)
        st = run(sql,
                 sqlite3_mprintf("INSERT INTO perfray_out.\"%w\" SELECT %s FROM \"%w\".\"%w\"", table, selected, schema,
                                 table),
                 err);
    sqlite3_free(columns);
    sqlite3_free(selected);
    return st;
}

/* The record tables that have rows, found in one pass: checking each table separately would take one pass per table. */
struct found_layouts {
    bool at[LAYOUTS];
};

static pfr_status find_layouts(struct sql_source *source, struct found_layouts *found, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    pfr_reader *reader = source_open_reader(source, err);
    if (!reader)
        return err->status;
    while ((st = pfr_next(reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_OK)
            found->at[layout_of_type(rec.context, rec.type)] = true;
    pfr_close(reader);
    return st < 0 ? st : PFR_OK;
}

static pfr_status copy_records(struct sql_source *source, pfr_error *err) {
    struct found_layouts found = {0};
    pfr_sql *sql = source->sql;
    if (!source->reader)
        return PFR_OK;
    PFR_TRY(find_layouts(source, &found, err));
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        if (found.at[n] && n != L_sample && n != L_fdr_function && n != L_basic_function)
            PFR_TRY(copy_table(sql, source->schema, layout_at(n)->name, err));
    for (unsigned i = 0; i < source->nr_tracepoints; i++)
        PFR_TRY(copy_table(sql, source->schema, tracepoint_name(source, i), err));
    return PFR_OK;
}

static pfr_status copy_all(struct sql_source *source, pfr_error *err) {
    pfr_sql *sql = source->sql;
    for (unsigned i = 0; i < nr_model_tables; i++)
        PFR_TRY(copy_table(sql, source->schema, model_tables[i].name, err));
    PFR_TRY(copy_table(sql, source->schema, "sample", err));
    PFR_TRY(copy_table(sql, source->schema, "call", err));
    PFR_TRY(copy_records(source, err));
    PFR_TRY(run(sql, sqlite3_mprintf("CREATE VIEW perfray_out.sample_text%s", schema_view()), err));
    PFR_TRY(run(sql, sqlite3_mprintf("CREATE INDEX perfray_out.stack_symbol ON stack(symbol_id)"), err));
    return run(sql, sqlite3_mprintf("CREATE INDEX perfray_out.stack_parent ON stack(parent_id)"), err);
}

/* --- The file. */

static pfr_status write_attached(struct sql_source *source, pfr_error *err) {
    pfr_sql *sql = source->sql;
    PFR_TRY(run(sql,
                sqlite3_mprintf("PRAGMA perfray_out.synchronous=OFF; PRAGMA perfray_out.journal_mode=MEMORY; "
                                "PRAGMA perfray_out.cache_size=-65536; "
                                "PRAGMA perfray_out.application_id=%u; BEGIN",
                                APPLICATION_ID),
                err));
    const pfr_status st = copy_all(source, err);
    if (st != PFR_OK) {
        sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
        return st;
    }
    return run(sql, sqlite3_mprintf("COMMIT"), err);
}

/* SQLite sorts the rows of an index either in memory, with one allocation per row, or in temporary files, in pieces
   that fit into a cache. For 3 million rows, temporary files take a quarter of the time and half of the memory.
   Changing this setting deletes the tables of the schema temp, which belong to the caller if the connection is
   borrowed. */
static void sort_in(pfr_sql *sql, const char *where) {
    char *statement = sql->borrowed ? NULL : sqlite3_mprintf("PRAGMA temp_store=%s", where);
    if (statement)
        sqlite3_exec(sql->db, statement, NULL, NULL, NULL);
    sqlite3_free(statement);
}

static pfr_status write_file(struct sql_source *source, const char *path, pfr_error *err) {
    pfr_sql *sql = source->sql;
    PFR_TRY(run(sql, sqlite3_mprintf("ATTACH %Q AS perfray_out", path), err));
    sort_in(sql, "FILE");
    const pfr_status st = write_attached(source, err);
    sort_in(sql, "MEMORY");
    sqlite3_exec(sql->db, "DETACH perfray_out", NULL, NULL, NULL);
    return st;
}

static pfr_status settle(const char *own, const char *path, pfr_error *err) {
    const int fd = descriptor_open(AT_FDCWD, own, O_RDONLY | O_NOFOLLOW, 0);
    const bool is_kept = fd >= 0 && fsync(fd) == 0;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (!is_kept)
        return pfr_fail_errno(err, why, "write", own);
    return rename(own, path) == 0 ? PFR_OK : pfr_fail_errno(err, errno, "write", path);
}

static pfr_status save(struct sql_source *source, const char *own, const char *path, pfr_error *err) {
    pfr_sql *sql = source->sql;
    const int fd = descriptor_open(AT_FDCWD, own, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pfr_fail_errno(err, errno, "write", own);
    close(fd);
    sql->guarded = false;
    sql->portable = true;
    pfr_status st = write_file(source, own, err);
    sql->guarded = !sql->borrowed;
    sql->portable = sql->borrowed;
    if (st == PFR_OK)
        st = settle(own, path, err);
    if (st != PFR_OK)
        unlink(own);
    return st;
}

pfr_status pfr_sql_save(pfr_sql *sql, const char *path, pfr_error *err) {
    char own[4096];
    if (!sql->nr_sources)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "no recording is attached");
    const int length = snprintf(own, sizeof own, "%s.%ld.tmp", path, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof own)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "the path is too long");
    PFR_TRY(check_target(path, err));
    sql->interrupted = 0;
    sql->failure = (pfr_error){.status = PFR_OK, .offset = PFR_NO_OFFSET, .where = ""};
    return save(sql->sources[0], own, path, err);
}
