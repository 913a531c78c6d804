/* SPDX-License-Identifier: Apache-2.0 */
/* Converts errors of SQLite, and of tables that it reads, to errors of the library. */
#include "sql/sql_fail.h"

pfr_status sql_fail(pfr_sql *sql, int code, pfr_error *err) {
    const pfr_error failure = sql->failure;
    sql->failure = (pfr_error){.status = PFR_OK, .offset = PFR_NO_OFFSET, .where = ""};
    if (failure.status < 0) {
        if (err)
            *err = failure;
        return failure.status;
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "sql", "the query needs more memory than it may have");
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "sql", "%s", sqlite3_errmsg(sql->db));
    case SQLITE_AUTH:
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql",
                        "recordings are read-only: SELECT, WITH, VALUES and EXPLAIN are run (%s)",
                        sqlite3_errmsg(sql->db));
    default:
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "%s", sqlite3_errmsg(sql->db));
    }
}
