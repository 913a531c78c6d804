// SPDX-License-Identifier: Apache-2.0
// The comparison of two recordings: widths add up, equal recordings are neutral, exchanged ones mirror each other.
import assert from 'node:assert/strict';
import test from 'node:test';

import {baselineEvent, changeOf, changeText, compareTotals, stepOfRatio, widthsOf} from '../../../web/diff.js';

const a = Float64Array.from([1000, 600, 400, 300]), b = Float64Array.from([2000, 1200, 800, 0]);

const stepsOf = (totals) => Array.from(totals.a, (_, i) => changeOf(totals.a[i], totals.b[i], totals.countsA[i], totals.countsB[i], totals).step);

test('a recording beside itself is neutral', () => {
    assert.deepEqual(stepsOf(compareTotals(a, a, a, a, false)), [0, 0, 0, 0]);
    assert.equal(changeText(changeOf(5, 5, 5, 5, compareTotals(a, a, a, a, false))), '▲ +0.00 pp');
});

test('twice as long is the same in shares, and twice as much in absolute numbers', () => {
    assert.deepEqual(stepsOf(compareTotals(a, b, a, b, false)), [0, 0, 0, -3]);
    assert.deepEqual(stepsOf(compareTotals(a, b, a, b, true)).slice(0, 3), [3, 3, 3]);
});

test('exchanged recordings mirror each other', () => {
    const there = compareTotals(a, b, a, b, true), back = compareTotals(b, a, b, a, true);
    assert.deepEqual(stepsOf(there), stepsOf(back).map((step) => step ? -step : 0));
    assert.ok(changeOf(0, 9, 0, 9, there).isNew && changeOf(9, 0, 9, 0, there).isGone);
});

test('few samples are within noise', () => {
    const totals = compareTotals(a, a, a, a, false);
    assert.ok(changeOf(38, 44, 38, 44, totals).isNoise);
    assert.ok(!changeOf(380, 540, 380, 540, totals).isNoise);
});

test('widths of children fit into their parent in every mode', () => {
    const totals = compareTotals(a, b, a, b, false);
    for (const mode of ['both', 'new', 'baseline']) {
        const widths = widthsOf(totals, mode);
        assert.ok(widths[1] + widths[2] <= widths[0] + 1e-9, mode);
    }
});

test('events are found by name', () => {
    const events = [{name: 'cycles'}, {name: 'faults'}, {name: 'faults', baseline: true}, {name: 'cycles', baseline: true}];
    assert.deepEqual([0, 1].map((event) => baselineEvent(events, event)), [3, 2]);
    assert.equal(baselineEvent(events.slice(0, 2), 0), -1);
    assert.equal(baselineEvent([{name: 'x'}, events[2]], 0), 1);
});

test('ratios are coloured by doublings', () => {
    assert.deepEqual([1, 1.05, 1.2, 1.5, 2, 0.5, 0.7].map((ratio) => stepOfRatio(ratio, 1)), [0, 0, 1, 2, 3, -3, -2]);
    assert.equal(Math.abs(stepOfRatio(0, 1)), 0);
});
