// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {Marks} from '../../../web/marks.js';
import {Maker} from './make_data.mjs';

const thin = (text) => text.replace(/\u2009/g, ' ');
const withMarks = () => new Maker().call('main', {start: 0, duration: 100}).call('main', {thread: 1, start: 10, duration: 50})
    .mark('lost', {time: 20, thread: 0, number: 1234}).mark('event', {time: 30, thread: 0, number: 5, text: 'begin'}).mark('typed event', {time: 40, thread: 1, number: 7, type: 9})
    .mark('event', {time: 40, thread: 1, number: 1, text: 'a\u202e</script>\n'}).mark('throttled', {time: 90, thread: -1});

test('each kind of mark has a description', () => {
    const marks = new Marks(withMarks().data());
    assert.deepEqual([0, 1, 2, 3, 4].map((i) => thin(marks.describe(i))), ['lost 1 234 records', 'event “begin”', 'typed event 9: 7 bytes', 'event “a\\u202e</script>”', 'throttled']);
    assert.deepEqual([0, 1, 2, 3, 4].map((i) => marks.isLogged(i)), [false, true, true, true, false]);
    assert.equal(marks.logged, 3);
});

test('a selection contains the marks in its time range and threads, and marks without a thread', () => {
    const marks = new Marks(withMarks().data());
    assert.deepEqual(marks.within({time: null, threads: null}), [0, 1, 2, 3, 4]);
    assert.deepEqual(marks.within({time: [30, 40], threads: null}), [1, 2, 3]);
    assert.deepEqual(marks.within({time: null, threads: new Set([1])}), [2, 3, 4]);
    assert.deepEqual(marks.within({time: [41, 89], threads: null}), []);
});

test('the nearest mark of a thread is found within a distance', () => {
    const marks = new Marks(withMarks().data());
    assert.deepEqual([marks.near(0, 24, 4), marks.near(0, 26, 4), marks.near(0, 25, 4), marks.near(1, 40, 4), marks.near(0, 88, 4)], [0, 1, -1, 2, 4]);
});

test('a recording without marks has none', () => {
    const marks = new Marks(new Maker().sample('main').data());
    assert.deepEqual([marks.count, marks.logged, marks.within({time: null, threads: null}), marks.near(0, 0, 9)], [0, 0, [], -1]);
});
