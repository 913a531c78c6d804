/* SPDX-License-Identifier: Apache-2.0 */
/* A library that calls back: of several sizes of frame, so that what holds for one says nothing of another. */
#ifndef ROOM
#define ROOM 100
#endif
void call_back(void (*function)(void));
void call_back(void (*function)(void)) {
    volatile char room[ROOM];
    room[0] = 1;
    function();
    room[ROOM - 1] = room[0];
}
