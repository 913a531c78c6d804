/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CURL_API_H
#define PFR_STORE_CURL_API_H
/*
 * libcurl, loaded when a ClickHouse store is opened. If it were linked, every run of perfray would load 33 shared
 * libraries, which takes 7 ms; a short report takes only 10 ms.
 */
#include <curl/curl.h>
#include <perfray/error.h>

/* The list of functions, which is expanded to the members of the table and to the symbols to look up. */
#define CURL_FUNCTIONS(F)                                                                                              \
    F(curl_global_init)                                                                                                \
    F(curl_easy_init)                                                                                                  \
    F(curl_easy_cleanup)                                                                                               \
    F(curl_easy_reset)                                                                                                 \
    F(curl_easy_setopt)                                                                                                \
    F(curl_easy_getinfo)                                                                                               \
    F(curl_easy_strerror)                                                                                              \
    F(curl_easy_escape)                                                                                                \
    F(curl_free)                                                                                                       \
    F(curl_slist_append)                                                                                               \
    F(curl_slist_free_all)                                                                                             \
    F(curl_mime_init)                                                                                                  \
    F(curl_mime_addpart)                                                                                               \
    F(curl_mime_name)                                                                                                  \
    F(curl_mime_data)                                                                                                  \
    F(curl_mime_filename)                                                                                              \
    F(curl_mime_free)                                                                                                  \
    F(curl_multi_init)                                                                                                 \
    F(curl_multi_cleanup)                                                                                              \
    F(curl_multi_add_handle)                                                                                           \
    F(curl_multi_remove_handle)                                                                                        \
    F(curl_multi_perform)                                                                                              \
    F(curl_multi_poll)                                                                                                 \
    F(curl_multi_info_read)                                                                                            \
    F(curl_multi_strerror)

struct curl_api {
#define CURL_MEMBER(name) __typeof__(name) *p_##name;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

/* Returns NULL with *err USAGE if the library is not installed or too old. Any thread may call this. The library stays
   loaded. */
const struct curl_api *curl_api_load(pfr_error *err);

#endif
