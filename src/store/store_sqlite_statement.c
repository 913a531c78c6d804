/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite statements, and conversion of SQLite's errors to pfr_error. */
#include "store/store_sqlite.h"

/* --- Errors. */

pfr_status sqlite_failed(struct store_handle *h, const char *what, pfr_error *err) {
    const int code = sqlite3_errcode(h->db), kind = code & 0xff;
    const bool away = kind == SQLITE_BUSY || kind == SQLITE_LOCKED;
    const pfr_status status = kind == SQLITE_NOMEM                             ? PFR_ERR_MEMORY
                              : kind == SQLITE_PERM || kind == SQLITE_READONLY ? PFR_ERR_PERMISSION
                              : kind == SQLITE_NOTADB                          ? PFR_ERR_FORMAT
                                                                               : PFR_ERR_IO;
    return pfr_fail(err, status, PFR_NO_OFFSET, 0, away ? STORE_AWAY : "store", "%s: %s", what,
                    away ? "another process is writing into it" : sqlite3_errmsg(h->db));
}

pfr_status sqlite_prepare(struct store_handle *h, const char *sql, sqlite3_stmt **statement, pfr_error *err) {
    return sqlite3_prepare_v2(h->db, sql, -1, statement, NULL) == SQLITE_OK ? PFR_OK
                                                                            : sqlite_failed(h, "cannot query it", err);
}
