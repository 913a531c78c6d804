/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORTED_H
#define PFR_EXPORTED_H
/*
 * What the shared library exports: the functions that the public headers declare, and nothing else.
 *
 * The library is compiled with hidden visibility, and the build includes this file at the start of each of its
 * sources. A function that was declared here, visible, stays visible where it is defined; so public headers need
 * no export macro, and an internal function cannot be exported by accident. tests/exports compares the result
 * with the headers.
 */
#pragma GCC visibility push(default)
#if __has_include(<perfray/perfray.h>)
#include <perfray/perfray.h>
#else
#include <perfray/alloc.h>
#include <perfray/error.h>
#endif
#pragma GCC visibility pop

#endif
