// SPDX-License-Identifier: Apache-2.0
// A page that compares two recordings: threads 0 and 1 belong to the new recording, threads 2 and 3 to the baseline.
import assert from 'node:assert/strict';
import test from 'node:test';

import {Derivations, Functions} from '../../../web/derive.js';
import {latencyRows} from '../../../web/latencies.js';
import {Marks} from '../../../web/marks.js';
import {initialState} from '../../../web/state.js';
import {threadRows} from '../../../web/thread_rows.js';
import {Maker} from './make_data.mjs';

const [NEW, OLD] = [0, 2]; // events of samples
function compared() {
    const maker = new Maker();
    [[0, NEW, 4], [1, NEW, 2], [2, OLD, 3], [3, OLD, 5]].forEach(([thread, event, weight]) => maker.sample('main f', {thread, event, weight, time: 10 * thread}));
    [[0, 20], [1, 8], [2, 30], [3, 5]].forEach(([thread, duration]) => maker.call('main', {thread, start: 5, duration}));
    maker.sample('main', {thread: 3, event: OLD, weight: 0, time: 99}); // so that the baseline has more samples
    maker.mark('lost', {thread: 0, time: 7, number: 2}).mark('lost', {thread: -1, time: 8, number: 3, isOld: true}).mark('throttled', {thread: -1, time: 9});
    return Object.assign(maker, {pids: [7, 7, 8, 8], cgroups: ['/a', '/b', '/a', '/a'], baseline: [2, 3]}).data();
}
const data = compared(), derived = () => new Derivations(data, new Functions(data)), totals = (state) => derived().diffOf({...initialState(), ...state}).totals;

test('the threads of each recording are below its heading', () => {
    const rows = threadRows(data, 9).rows.map((row) => row.thread ?? `${row.kind} ${row.name} ${[...row.members].join(' ')}`);
    assert.deepEqual(rows.filter((row) => String(row).startsWith('recording')), ['recording new 0 1', 'recording baseline 2 3']);
    assert.deepEqual(rows.filter((row) => String(row).startsWith('cgroup')), ['cgroup /a 0', 'cgroup /b 1', 'cgroup /a 2 3']);
});

test('a recording without cgroups has no heading of an unknown cgroup', () => {
    const other = Object.assign(new Maker().sample('f', {thread: 0}).sample('f', {thread: 1}).sample('f', {thread: 2, event: 1}), {pids: [7, 8, 9], cgroups: ['/a', '/b', ''], baseline: [2]}).data();
    assert.deepEqual(threadRows(other, 9).rows.map((row) => row.thread ?? row.name), ['new', '/a', 0, '/b', 1, 'baseline', 2]);
});

test('marks are those of their recording', () => {
    const marks = new Marks(data);
    assert.deepEqual([0, 1, 2].map((i) => marks.describe(i)), ['lost 2 records', 'baseline: lost 3 records', 'throttled']);
    assert.deepEqual([[0], [1], [2], [3], [1, 3]].map((threads) => marks.within({time: null, threads: new Set(threads)})), [[0, 2], [2], [1], [1], [1, 2]]);
});

test('a selection of threads applies to the recordings of these threads', () => {
    const both = (state) => [totals(state).totalA, totals(state).totalB];
    assert.deepEqual(both({}), [8, 6]);
    assert.deepEqual(both({threads: new Set([1])}), [8, 2]);
    assert.deepEqual(both({threads: new Set([3])}), [5, 6]);
    assert.deepEqual(both({threads: new Set([0, 2])}), [3, 4]);
    const same = derived(), state = {...initialState(), threads: null};
    assert.deepEqual([state, {...state, threads: new Set([3])}, state].map((each) => same.diffOf(each).totals.totalA), [8, 5, 8]);
});

test('calls of both recordings are compared, and latencies are those of the new one', () => {
    const {totalA, totalB} = totals({event: 1});
    assert.deepEqual([totalA, totalB], [35, 28]);
    assert.deepEqual(latencyRows(data, {time: null, threads: null}).map((row) => [row.count, row.sum]), [[2, 28]]);
});

test('thread weights are those of the new recording', () => {
    assert.deepEqual(derived().threadsOf(initialState(), null, [0, 1, 2, 3]).map(({thread}) => thread), [0, 1]);
});

test('samples without a thread are of the recording of their event', () => {
    const maker = new Maker().sample('f', {thread: 0, event: NEW, weight: 3}).sample('f', {thread: 0, event: 1, weight: 2}).sample('f', {thread: 1, event: 1, weight: 4}); // no calls: event 1 is the baseline's
    const both = new Derivations(...((shared) => [shared, new Functions(shared)])(Object.assign(maker, {unknown: [0], baseline: [1]}).data()));
    const of = (state) => ((sums) => [sums.totalA, sums.totalB])(both.diffOf({...initialState(), ...state}).totals);
    assert.deepEqual(of({}), [6, 3]);
    assert.deepEqual(of({threads: new Set([0])}), [2, 3]);
});

test('data of a version that did not say whose threads they are', () => {
    const older = compared();
    older.threads.baseline = null;
    const {totalA, totalB} = new Derivations(older, new Functions(older)).diffOf(initialState()).totals;
    assert.deepEqual([totalA, totalB], [8, 6]);
});
