// SPDX-License-Identifier: Apache-2.0
// Comparison of two recordings: widths add up, equal recordings show no change, and swapping them flips the sign of changes.
import assert from 'node:assert/strict';
import test from 'node:test';

import {baselineEvent, byChange, changeOf, changeText, compareTotals, intervalText, stepOfRatio, widthsOf} from '../../../web/diff.js';

const a = Float64Array.from([1000, 600, 400, 300]), b = Float64Array.from([2000, 1200, 800, 0]);

const stepsOf = (totals) => Array.from(totals.a, (_, i) => changeOf(totals.a[i], totals.b[i], totals, null).step);

test('comparing a recording with itself shows no change', () => {
    assert.deepEqual(stepsOf(compareTotals(a, a, a, a, false)), [0, 0, 0, 0]);
    assert.equal(changeText(changeOf(5, 5, compareTotals(a, a, a, a, false), null)), '▲ +0.00 pp');
});

test('a recording twice as long changes absolute weights but not shares', () => {
    assert.deepEqual(stepsOf(compareTotals(a, b, a, b, false)), [0, 0, 0, -3]);
    assert.deepEqual(stepsOf(compareTotals(a, b, a, b, true)).slice(0, 3), [3, 3, 3]);
});

test('swapping the recordings flips the sign of each change', () => {
    const there = compareTotals(a, b, a, b, true), back = compareTotals(b, a, b, a, true);
    assert.deepEqual(stepsOf(there), stepsOf(back).map((step) => step ? -step : 0));
    assert.ok(changeOf(0, 9, there, null).isNew && changeOf(9, 0, there, null).isGone);
});

test('changes use the verdicts and intervals of perfray diff', () => {
    const totals = compareTotals(a, b, a, b, true), known = (verdict) => ({verdict, delta: 30, low: 29.5, high: -0.25, known: true});
    assert.equal(changeOf(400, 800, totals, known('noise')).step, 0);
    assert.equal(changeOf(400, 800, totals, known('slower')).step, 3);
    assert.equal(intervalText(known('slower')), '[+29.50, −0.25]');
    assert.equal(intervalText({...known('noise'), known: false}), '');
    const rows = [{func: 0, change: changeOf(400, 800, totals, known('noise'))}, {func: 1, change: changeOf(600, 700, totals, known('slower'))}, {func: 2, change: changeOf(600, 900, totals, null)}];
    assert.deepEqual(rows.sort(byChange).map((row) => row.func), [2, 1, 0]);
});

test('widths of children fit into their parent in every mode', () => {
    const totals = compareTotals(a, b, a, b, false);
    for (const mode of ['both', 'new', 'baseline']) {
        const widths = widthsOf(totals, mode);
        assert.ok(widths[1] + widths[2] <= widths[0] + 1e-9, mode);
    }
});

test('the baseline event has the same name, else is the first one', () => {
    const events = [{name: 'cycles'}, {name: 'faults'}, {name: 'faults', baseline: true}, {name: 'cycles', baseline: true}];
    assert.deepEqual([0, 1].map((event) => baselineEvent(events, event)), [3, 2]);
    assert.equal(baselineEvent(events.slice(0, 2), 0), -1);
    assert.equal(baselineEvent([{name: 'x'}, events[2]], 0), 1);
});

test('a ratio of 1 is neutral; doubling and halving have the strongest colours', () => {
    assert.deepEqual([1, 1.05, 1.2, 1.5, 2, 0.5, 0.7].map((ratio) => stepOfRatio(ratio, 1)), [0, 0, 1, 2, 3, -3, -2]);
    assert.equal(Math.abs(stepOfRatio(0, 1)), 0);
});
