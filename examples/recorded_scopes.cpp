/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder in C++: scopes are objects, so a scope that an exception leaves ends in the trace too.
 *
 *     g++ -O1 -finstrument-functions recorded_scopes.cpp $(pkg-config --cflags --libs perfray-rt) -o scopes
 *     perfray trace ./scopes
 */
#include <perfray/runtime.h>

#include <cstdio>
#include <stdexcept>

static const pfr_rt_place reading{"reading"};

static int read_number(int number) {
    perfray::scope here(reading);
    if (number % 10 == 0)
        throw std::runtime_error("no number");
    return number;
}

int main() {
    int sum = 0, missing = 0;
    for (int i = 1; i <= 100; i++) {
        try {
            sum += read_number(i);
        } catch (const std::runtime_error &) {
            missing++;
        }
    }
    std::printf("%d, %d missing\n", sum, missing);
}
