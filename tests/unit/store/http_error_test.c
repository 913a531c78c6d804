/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages of old and new servers, and of servers that are no ClickHouse. */
#include "../test.h"

#include "store/clickhouse/http_error.h"

#include <string.h>

static void assert_error(long status, const char *answer, pfr_status wanted, const char *text) {
    pfr_error err = {0};
    assert_int_equal(http_check_status("h:1", status, answer, strlen(answer), &err), wanted);
    assert_string_equal(err.text, text);
}

TEST(http_errors_have_the_words_of_the_server) {
    assert_int_equal(http_check_status("h:1", 200, "", 0, NULL), PFR_OK);
    assert_error(404, "Code: 60, e.displayText() = DB::Exception: Table d.x doesn't exist., e.what() = DB::Exception\n",
                 PFR_ERR_USAGE, "h:1: code 60: Table d.x doesn't exist.");
    assert_error(404,
                 "Code: 60. DB::Exception: Table d.x does not exist. (UNKNOWN_TABLE) (version 24.3.1 (official))\n",
                 PFR_ERR_USAGE, "h:1: code 60: Table d.x does not exist. (UNKNOWN_TABLE)");
    assert_error(500, "Code: 164, e.displayText() = DB::Exception: Cannot insert, e.what() = DB::Exception",
                 PFR_ERR_PERMISSION, "h:1: code 164: Cannot insert");
    assert_error(500, "Code: 241. DB::Exception: Memory limit exceeded", PFR_ERR_LIMIT,
                 "h:1: code 241: Memory limit exceeded");
    assert_error(500,
                 "Code: 75, e.displayText() = DB::ErrnoException: Cannot write to file /a/b, errno: 28, strerror: No "
                 "space left on device, e.what() = DB::ErrnoException",
                 PFR_ERR_IO, "h:1: code 75: No space left on device");
}

TEST(http_errors_of_other_servers) {
    assert_error(301, "", PFR_ERR_IO, "h:1: answers with a redirect (status 301), which is not followed");
    assert_error(502, "Bad gateway\x1b[2J", PFR_ERR_IO, "h:1: status 502: Bad gateway\\x1b[2J");
    assert_error(204, "", PFR_ERR_IO, "h:1: status 204: no text");
}
