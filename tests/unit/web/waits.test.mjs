// SPDX-License-Identifier: Apache-2.0
// Sums of waits by thread, and by cause and function with their wakers.
import assert from 'node:assert/strict';
import test from 'node:test';

import {ThreadPainter} from '../../../web/timeline_paint.js';
import {BLOCKED, groupsOfWaits, libraryNote, partsOf, readWaits, REASONS, RUNNABLE, RUNNING, stateOfKind, STATES, threadSums, UNKNOWN, waitsWithin} from '../../../web/waits.js';

// Rows are [thread, state, reason, function + 1, waker + 1, its function + 1, ns, open, count, longest, start].
const ROWS = [
    [0, RUNNING, 0, 0, 0, 0, 700, 0, 7, 300, 0],
    [0, BLOCKED, 2, 5, 2, 9, 1000, 0, 4, 600, 50],
    [0, BLOCKED, 2, 5, 3, 9, 400, 100, 2, 300, 900],
    [1, BLOCKED, 2, 5, 3, 9, 900, 0, 3, 800, 40],
    [1, RUNNABLE, 0, 5, 0, 0, 30, 0, 1, 30, 10],
    [2, BLOCKED, 1, 0, 0, 0, 5000, 5000, 1, 5000, 0],
    [2, UNKNOWN, 0, 0, 0, 0, 11, 0, 1, 11, 3],
];
const NAMES = ['thread', 'state', 'reason', 'func', 'waker', 'by', 'ns', 'open', 'count', 'longest', 'start'];
const waits = readWaits(Object.fromEntries(NAMES.map((name, i) => [`wait.${name}`, Uint32Array.from(ROWS, (row) => row[i])])));

test('every ns of a thread is in one state; threads are sorted by the time of waits that ended', () => {
    const rows = threadSums(waits);
    assert.deepEqual(rows.map((row) => [row.thread, row.wall, row.ended]), [[0, 2100, 1300], [1, 930, 930], [2, 5011, 0]]);
    for (const row of rows) assert.equal(row.states.reduce((a, b) => a + b), row.wall);
    assert.deepEqual(partsOf(rows[0]), [['running', 700], ['lock', 1400]]);
    assert.deepEqual(partsOf(rows[2]), [['other', 5000], ['unknown', 11]]);
});

test('waits with the same cause and function are one row, with the longest wait and all wakers', () => {
    const [lock, cpu, open] = groupsOfWaits(waits, null);
    assert.deepEqual([lock.cause, lock.func, lock.ns, lock.open, lock.number, lock.threads.size], ['lock', 4, 2300, 100, 9, 2]);
    assert.deepEqual([...lock.threads], [[0, 1400], [1, 900]]);
    assert.deepEqual([lock.thread, lock.waker, lock.start, lock.longest], [1, 2, 40, 800]);
    assert.deepEqual(lock.wakers, [[2, 8, 1300], [1, 8, 1000]]);
    assert.deepEqual([cpu.cause, cpu.ns, cpu.wakers], ['runnable', 30, []]);
    assert.deepEqual([open.cause, open.func, open.ns - open.open], ['other', -1, 0]);
});

test('short intervals are drawn in the state with most of their time; if it is blocked, with the longest reason', () => {
    const ends = [40, 70, 95, 100], starts = [0, 40, 70, 95]; // running, lock, disk, other
    const painterOf = (wait) => new ThreadPainter({data: {intervals: {ranges: [0, 4], start: starts, end: ends, kind: [3, 0, 0, 0], wait}, waits: {reason: [0, 2, 5, 1]}}, marks: {count: 0, logged: 0}, themeColours: () => ({})});
    const painter = painterOf([0, 1, 2, 3]);
    assert.equal(painter.nameOf(painter.mainState(0, 4)), 'lock');
    assert.equal(painter.mainState(0, 2), RUNNING);
    assert.deepEqual([painter.stateAt(0, 10), painter.stateAt(0, 50), painter.stateAt(0, 80), painter.stateAt(0, 97), painter.stateAt(0, 100)], ['running', 'blocked: lock', 'blocked: disk', 'blocked: other', '']);
    const old = painterOf(null); // the page does not tell the reasons
    assert.deepEqual([old.mainState(0, 4), old.stateAt(0, 50)], [BLOCKED, 'blocked']);
});

test('waits can be limited to some threads', () => {
    assert.deepEqual(groupsOfWaits(waits, new Set([1])).map((row) => [row.cause, row.ns]), [['lock', 900], ['runnable', 30]]);
    assert.deepEqual(groupsOfWaits(waits, new Set()), []);
    assert.equal(readWaits({}).count, 0);
});

test('states and reasons have the numbers of the library', () => {
    assert.deepEqual([0, 1, 2, 3, 4, 9].map((kind) => STATES[stateOfKind(kind)]), ['blocked', 'runnable', 'runnable', 'running', 'unknown', 'unknown']);
    assert.equal(REASONS.length, 10);
});

// Intervals of two threads as [start, end, row, open]: the rows above have other sums, because only these intervals count.
const PARTS = [[[0, 100, 0, 0], [100, 700, 1, 0], [700, 900, 0, 0], [900, 1200, 2, 1]], [[40, 840, 3, 0], [840, 870, 4, 0]]];
const column = (at) => PARTS.flat().map((part) => part[at]);
const intervals = {ranges: [0, 4, 6], start: column(0), end: column(1), wait: column(2), open: column(3)};

test('a selection of time has the sums of the parts of intervals inside it', () => {
    const within = waitsWithin(waits, intervals, [650, 1000]);
    assert.deepEqual([...within.ns], [200, 50, 100, 190, 30, 0, 0]);
    assert.deepEqual([...within.open], [0, 0, 100, 0, 0, 0, 0]);
    assert.deepEqual([...within.number], [1, 1, 1, 1, 1, 0, 0]);
    assert.deepEqual([...within.start], [700, 650, 900, 650, 840, 0, 0]);
    assert.deepEqual(threadSums(within).map((row) => [row.thread, row.wall]), [[1, 220], [0, 350]]);
    const [lock] = groupsOfWaits(within, null);
    assert.deepEqual([lock.cause, lock.ns, lock.open, lock.number, lock.longest, lock.thread], ['lock', 340, 100, 3, 190, 1]);
});

test('parts of adjacent selections add up to the whole', () => {
    const all = waitsWithin(waits, intervals, [0, 1200]), parts = [[0, 333], [333, 850], [850, 1200]].map((time) => waitsWithin(waits, intervals, time));
    for (let i = 0; i < waits.count; i++) assert.equal(parts.reduce((sum, part) => sum + part.ns[i], 0), all.ns[i]);
    assert.deepEqual([...waitsWithin(waits, intervals, [1200, 1300]).ns], [0, 0, 0, 0, 0, 0, 0]);
    assert.equal(waitsWithin(waits, {...intervals, wait: null}, [0, 1]), null);
});

test('a group knows its lines, the longest wait first, and whether its stacks end in the C library', () => {
    const of = (rows) => groupsOfWaits({...waits, line: Uint32Array.from(rows), inLibrary: Uint32Array.of(0, 1, 1, 1, 0, 0, 0)}, null)[0];
    assert.deepEqual(of([0, 18, 20, 20, 0, 0, 0]).lines, [[20, 1300], [18, 1000]]);
    assert.deepEqual([of([0, 0, 0, 0, 0, 0, 0]).lines, of([0, 0, 0, 0, 0, 0, 0]).inLibrary], [[], true]);
});

test('threads of the recorded command come first', () => {
    const threads = {pid: [1, 1, 2], tid: [1, 2, 3], command: [0, 0, 1]};
    assert.deepEqual(threadSums(waits, {threads}).map((row) => row.thread), [2, 0, 1]);
});

test('the sentence on the C library is about the chosen threads', () => {
    const [stacked, library] = [[0, 1000, 0, 800, 0, 0, 0], [0, 30, 0, 400, 0, 0, 0]], known = {...waits, stacked, library}, meta = {library_text: 'of it', library_least: 20};
    const note = (chosen) => libraryNote(meta, known, chosen && new Set(chosen));
    assert.deepEqual([note(null), note([0]), note([1]), note([2])], ['24% of it', null, '50% of it', null]);
    assert.equal(libraryNote({...meta, library_text: null}, known, null), null);
    assert.equal(libraryNote({}, waits, null), null);
});

test('a selected time has its part of the waits with call chains', () => {
    const whole = {...waits, stacked: Float64Array.from(ROWS, (row) => row[6]), library: Float64Array.from(ROWS, () => 0)};
    const intervals = {ranges: Uint32Array.of(0, 1, 1, 1), start: Float64Array.of(50), end: Float64Array.of(650), open: [0], wait: [1]};
    const {stacked, ns} = waitsWithin(whole, intervals, [100, 300]);
    assert.deepEqual([stacked[1], ns[1], stacked[2]], [200, 200, 0]);
});
