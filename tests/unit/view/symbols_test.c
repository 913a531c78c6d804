/* SPDX-License-Identifier: Apache-2.0 */
/* pfr_symbol_options: rejected options, and the defaults for callers with an older header or with NULL. */
#include "../file/recording_builder.h"
#include "model/names/naming.h"

#include <perfray/symbols.h>

#include <sys/mman.h>

TEST(symbols_without_symbols_is_refused) {
    const pfr_symbol_options nothing = {.size = sizeof nothing, .no_symbols = true};
    const pfr_symbols_options options = {.size = sizeof options, .naming = &nothing};
    struct builder b = {0};
    pfr_error err = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    end_file(&b);
    pfr_reader *reader = open_built(&b, &err);
    pfr_output *out = pfr_output_open(memfd_create("out", MFD_CLOEXEC), false, &err);
    assert_int_equal(pfr_symbols_print(reader, &options, out, &err), PFR_ERR_USAGE);
    assert_non_null(strstr(err.text, "no_symbols"));
    pfr_output_close(out, NULL);
    pfr_close(reader);
    free(b.bytes);
}

TEST(naming_without_options_is_the_defaults) {
    const pfr_symbol_options none = naming_of(NULL), given = {.size = sizeof given};
    assert_memory_equal(&none, &given, sizeof none);
}

TEST(naming_takes_what_an_older_header_has) {
    const pfr_symbol_options given = {
        .size = offsetof(pfr_symbol_options, debug_dir), .symfs = "/a", .debug_dir = "/b", .mangled = true};
    const pfr_symbol_options taken = naming_of(&given);
    assert_string_equal(taken.symfs, "/a");
    assert_null(taken.debug_dir);
    assert_false(taken.mangled);
}
