// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {threadRows} from '../../../web/thread_rows.js';
import {Maker} from './make_data.mjs';

// Data of threads with these sample counts, pids and cgroups.
function made(counts, pids, cgroups, {commands = [], idle = []} = {}) {
    const maker = new Maker();
    counts.forEach((count, thread) => { for (let i = 0; i < count; i++) maker.sample('main', {thread, time: i}); });
    return Object.assign(maker, {pids, cgroups, commands, idle}).data();
}
const shown = (rows) => rows.map((row) => row.thread !== null ? row.thread : `${row.kind} ${row.kind === 'process' ? row.pid : row.name}: ${[...row.members].join(' ')}`);

test('threads of one process and one cgroup have no headings', () => {
    assert.deepEqual(shown(threadRows(made([1, 3, 2], [], []), 9).rows), [1, 2, 0]);
    assert.deepEqual(shown(threadRows(made([1, 3, 2], [], ['/a', '/a', '/a']), 9).rows), [1, 2, 0]);
    assert.deepEqual(shown(threadRows(made([1, 3, 2], [], ['/a', '', '/a']), 9).rows), [1, 2, 0]);
});

test('processes have headings if one of them has several threads', () => {
    assert.deepEqual(shown(threadRows(made([1, 3, 4], [7, 8, 7], []), 9).rows), ['process 7: 0 2', 2, 0, 1]);
    assert.deepEqual(shown(threadRows(made([1, 3], [7, 8], []), 9).rows), [1, 0]);
});

test('cgroup headings are above process headings, the heaviest first', () => {
    const data = made([1, 3, 4, 2], [7, 8, 7, 7], ['/user\u202e', '/system', '/user\u202e', '']);
    assert.deepEqual(shown(threadRows(data, 9).rows), ['cgroup /user\\u202e: 0 2', 'process 7: 0 2', 2, 0, 'cgroup /system: 1', 1, 'cgroup unknown cgroup: 3', 3]);
});

test('rows are indented below their headings', () => {
    const {rows} = threadRows(made([1, 3, 4, 2], [7, 8, 7, 9], ['/a', '/a', '/a', '/b']), 9);
    assert.deepEqual(rows.map((row) => `${row.depth} ${row.thread ?? row.kind}`), ['0 cgroup', '1 process', '2 2', '2 0', '1 1', '0 cgroup', '1 3']);
});

test('only the busiest threads have rows', () => {
    const {rows, hidden, threads} = threadRows(made([1, 3, 4, 2], [7, 8, 7, 7], []), 2);
    assert.deepEqual([shown(rows), hidden, threads], [['process 7: 0 2 3', 2, 3], 2, [2, 3]]);
});

test('threads of the recorded command come before the rest of the machine, the idle task last', () => {
    const data = made([9, 1, 2, 5], [7, 8, 8, 9], [], {commands: [1, 2], idle: [0]});
    const rows = ['command recorded command: 1 2', 'process 8: 1 2', 2, 1, 'command other threads: 0 3', 3, 0];
    assert.deepEqual(shown(threadRows(data, 9).rows), rows);
    assert.deepEqual(threadRows(data, 2).threads, [2, 1]);
});

test('the command has no heading if all threads of the page are its own', () => {
    assert.deepEqual(shown(threadRows(made([1, 3], [], [], {commands: [0, 1]}), 9).rows), [1, 0]);
});

test('the idle task comes last in each cgroup', () => {
    const data = made([9, 1, 5], [7, 8, 9], ['/a', '/a', '/b'], {idle: [0]});
    assert.deepEqual(shown(threadRows(data, 9).rows).filter((row) => typeof row === 'number'), [1, 0, 2]);
});
