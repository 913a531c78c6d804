// SPDX-License-Identifier: Apache-2.0
// usage: view_speed.js PLAYWRIGHT CHROMIUM PAGE… - prints the speed of pages as JSON, in ms and frames per second.
//
// Each figure is the best of three runs, because other programs use the machine as well.
'use strict';
const [playwright, chromium, ...pages] = process.argv.slice(2);
const {chromium: browserType} = require(playwright);
const ROUNDS = 3;

// Runs in the page: presses a key in the flame graph and waits for the frame that shows the change.
function pressAndWait(key) {
    const target = document.querySelector('[role=tree]'), began = performance.now();
    target.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    return new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - began))));
}

// Runs in the page: moves the timeline a little in each of 120 frames.
async function panTimeline() {
    const surface = document.querySelector('.times'), frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < 10; i++) await frame();
    const began = performance.now();
    for (let i = 0; i < 120; i++) {
        surface.dispatchEvent(new WheelEvent('wheel', {shiftKey: true, deltaY: i % 40 < 20 ? 9 : -9, bubbles: true, cancelable: true}));
        await frame();
    }
    return 120000 / (performance.now() - began);
}

const zoomTimeline = () => document.querySelector('.times').dispatchEvent(new KeyboardEvent('keydown', {key: 'w', bubbles: true, cancelable: true}));

const SELECTIONS = [['drop', 'd'], ['undo', 'Backspace'], ['merge', 'm'], ['undo', 'Backspace'], ['focus', 'f'], ['undo', 'Backspace'], ['collapse', 'c'], ['undo', 'Backspace'],
                    ['recursion', 'r'], ['undo', 'Backspace'], ['kernel', 'k'], ['undo', 'Backspace'], ['next thread', ']'], ['undo', 'Backspace'], ['counts', 'u'], ['undo', 'Backspace'],
                    ['invert', 'v'], ['undo', 'Backspace'], ['table', '3'], ['sandwich', '2'], ['latency', '4'], ['flame', '1']];

async function measure(browser, file) {
    const context = await browser.newContext({viewport: {width: 1440, height: 900}, offline: true}), page = await context.newPage();
    await page.goto('file://' + file);
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 120000});
    const result = {ready: Number(await page.evaluate(() => document.documentElement.dataset.ready)), selections: {}};
    await page.locator('.flame[role=tabpanel]').click({position: {x: 300, y: 50}});
    for (const [name, key] of SELECTIONS) {
        const took = await page.evaluate(pressAndWait, key);
        result.selections[name] = Math.max(result.selections[name] || 0, Math.round(took));
    }
    result.pan = await page.evaluate(panTimeline);
    for (let i = 0; i < 4; i++) await page.evaluate(zoomTimeline);
    result.panNear = await page.evaluate(panTimeline);
    await context.close();
    return result;
}

function better(a, b) {
    const selections = Object.fromEntries(Object.entries(a.selections).map(([name, ms]) => [name, Math.min(ms, b.selections[name])]));
    return {ready: Math.min(a.ready, b.ready), pan: Math.max(a.pan, b.pan), panNear: Math.max(a.panNear, b.panNear), selections};
}

(async () => {
    const browser = await browserType.launch({executablePath: chromium, args: ['--no-sandbox']}), results = [];
    for (const page of pages) {
        let best = null;
        for (let round = 0; round < ROUNDS; round++) {
            const result = await measure(browser, page);
            best = best ? better(best, result) : result;
        }
        results.push(best);
    }
    await browser.close();
    process.stdout.write(JSON.stringify(results));
})().catch((error) => {
    process.stderr.write(String(error.stack || error) + '\n');
    process.exit(1);
});
