// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

import {coarsen, firstEndingAfter, Pyramid} from '../../../web/pyramid.js';
import {Maker} from './make_data.mjs';

const row = (spans) => ({start: Float64Array.from(spans, (s) => s[0]), end: Float64Array.from(spans, (s) => s[1]), func: Int32Array.from(spans, (s) => s[2])});
const spansOf = (r) => Array.from(r.start, (start, i) => [start, r.end[i], r.func[i]]);

test('short spans with short gaps between them are merged; long spans and long gaps are kept', () => {
    assert.deepEqual(spansOf(coarsen(row([[0, 1, 5], [2, 3, 5], [20, 21, 5], [22, 90, 6], [91, 92, 5]]), 4)),
                     [[0, 3, -1], [20, 21, -1], [22, 90, 6], [91, 92, -1]]);
    assert.deepEqual(spansOf(coarsen(row([]), 4)), []);
});

test('every level covers all spans, and at most one quantum per span more', () => {
    const maker = new Maker();
    for (let i = 0, at = 0, seed = 7; i < 3000; i++) {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        maker.call('f', {start: at, duration: 1 + (seed >>> 9) % 50});
        at += 60 + (seed >>> 20) % (i % 100 ? 10 : 5000);
    }
    const {calls} = maker.data(), {levels} = new Pyramid(calls, 0, 8);
    assert.ok(levels[0].length > 2);
    for (const {quantum, row: level} of levels[0]) {
        for (let i = 0; i < calls.start.length; i++) {
            const at = firstEndingAfter(level, calls.start[i]);
            assert.ok(level.start[at] <= calls.start[i] && level.end[at] >= calls.start[i] + calls.duration[i]);
        }
        for (let i = 1; i < level.start.length; i++) assert.ok(level.start[i] >= level.end[i - 1]);
        const covered = spansOf(level).reduce((sum, [start, end]) => sum + end - start, 0), real = calls.duration.reduce((a, b) => a + b, 0);
        assert.ok(covered - real <= quantum * calls.start.length);
    }
});

test('rowFor selects the coarsest level whose quantum is at most a pixel', () => {
    const maker = new Maker();
    for (let i = 0; i < 5000; i++) maker.call('f', {start: i * 20, duration: 10});
    const pyramid = new Pyramid(maker.data().calls, 0, 1);
    assert.equal(pyramid.rowFor(0, 0.5).start.length, 5000);
    assert.ok(pyramid.rowFor(0, 1000).start.length < 10);
});
