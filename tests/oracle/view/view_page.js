// SPDX-License-Identifier: Apache-2.0
// usage: view_page.js chromium|firefox MODULE PROGRAM JOBS.json - drives pages of `perfray view` and prints their facts.
//
// JOBS.json is a list of {name, file, hash, steps, shot, width, height, scheme}. A step is a list: ["key", KEY], ["type", TEXT],
// ["tab", NAME], ["row", FUNCTION], ["click", SELECTOR], ["frame", FUNCTION], ["drag", FROM, TO], ["point", X, Y], ["reload"], ["facts", LABEL], ["focus", LABEL],
// ["read", LABEL, SELECTOR], ["tsv", LABEL], ["svg", LABEL], ["snapshot", LABEL], ["menu"]. Each result has the requested facts, and what a page must not cause: console messages, page errors,
// and requests other than the page itself.
'use strict';
const fs = require('fs');
const {press, start} = require('./browsers.js');
const [kind, module_, program, jobsFile] = process.argv.slice(2);

const READY = () => Boolean(document.documentElement.dataset.ready);
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));

// The facts of a page. Runs in the page.
function factsOfPage() {
    const texts = (selector) => [...document.querySelectorAll(selector)].map((element) => element.textContent);
    const rows = [...document.querySelectorAll('.latencies tbody tr')].map((row) => ({
        name: row.querySelector('.name').title, values: [...row.querySelectorAll('.number')].map((cell) => Number(cell.dataset.value)), marked: (row.querySelector('.mark') || {title: ''}).title}));
    const shown = [...document.querySelectorAll('.functions:not(.compact) tbody tr[data-func]')].map((row) => ({
        name: row.querySelector('.name').title, weights: [...row.querySelectorAll('.number')].map((cell) => Number(cell.dataset.weight))}));
    const changes = [...document.querySelectorAll('.changes tr[data-func]')].map((row) => {
        const [baseline, made] = [...row.querySelectorAll('[data-weight]')].map((cell) => Number(cell.dataset.weight));
        const [interval, verdict, name] = ['.interval', '.verdict', '.name'].map((part) => row.querySelector(part));
        return {baseline, new: made, points: Number(row.querySelector('[data-points]').dataset.points), interval: interval.textContent, verdict: verdict.textContent, name: name.title};
    });
    const waitRows = [...document.querySelectorAll('.wait-list tr[data-wait]')].map((row) => [...row.cells].map((cell) => cell.textContent));
    const bars = [...document.querySelectorAll('.wait-threads tr[data-thread]')].map((row) => [row.querySelector('.bar-of').getAttribute('aria-label'), row.dataset.parts]);
    const marks = [...document.querySelectorAll('.marks tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent.replace(/\u2009/g, ' ')));
    const rowInView = () => {
        const row = [...document.querySelectorAll('.functions tr.chosen')].find((each) => each.getClientRects().length), view = row && row.closest('.functions').getBoundingClientRect();
        return row && row.getBoundingClientRect().top >= view.top && row.getBoundingClientRect().bottom <= view.bottom ? row.querySelector('.name').title : null;
    };
    const terms = [...document.querySelectorAll('.details dt')].map((term) => [term.textContent, term.nextElementSibling.textContent]);
    const text = (selector) => (document.querySelector(selector) || {}).textContent;
    return {...(window.perfray ? {quality: perfray.quality, state: perfray.state, total: perfray.total, rows: perfray.rows, table: perfray.table, boxes: perfray.boxes, code: perfray.state.panel === 'code' ? perfray.code : null, waits: perfray.state.panel === 'waits' ? perfray.waits : null,
                                  drawn: perfray.drawn, events: perfray.events, threads: perfray.threads} : {}),
            ready: document.documentElement.dataset.ready, owned: window.owned, title: document.title, answer: text('#answer'), losses: text('#losses'), found: text('#found'),
            facts: text('#facts'), hash: location.hash, latencies: rows, omitted: texts('.omitted'), waitRows, bars, shown, changes, marks, listed: texts('.details [aria-label=Threads] li'), labels: [...document.querySelectorAll('.thread')].map((label) => label.title), heading: text('.distribution h2'), chosenRow: rowInView(), pointed: (document.querySelector('.times') || {}).title, named: [...document.querySelectorAll('.marks button')].map((button) => button.getAttribute('aria-label')), details: Object.fromEntries(terms), chips: texts('.chip > span'), callers: texts('.details [aria-label=Callers] li'),
            dialogs: [...document.querySelectorAll('dialog[open]')].map((dialog) => dialog.getAttribute('aria-label')), menu: texts('.menu:not([hidden]) [role=menuitem]'),
            tree: texts('[role=treeitem]').slice(0, 40), status: text('.status .message'), theme: document.documentElement.dataset.theme || 'system',
            codeShares: [...document.querySelectorAll('.codelines tr[data-row]')].map((row) => [...row.querySelectorAll('td[data-count]')].map((cell) => cell.textContent)),
            codeScroll: (document.querySelector('.codelines') || {}).scrollTop, codeNote: text('.codehead .dim'), codeRows: [...document.querySelectorAll('.codelines tr')].map((row) => row.textContent), empty: [...document.querySelectorAll('.empty')].filter((e) => !e.hidden && e.offsetParent).map((e) => e.textContent)};
}

// The center of the first visible element that matches; null if there is none.
function middleOf({selector, text, title}) {
    const wanted = [...document.querySelectorAll(selector)].find((element) => element.getClientRects().length &&
        (text === undefined || element.textContent === text) && (title === undefined || element.title === title));
    if (!wanted) return null;
    wanted.scrollIntoView({block: 'nearest'});
    const box = wanted.getBoundingClientRect();
    return {x: box.left + Math.min(box.width / 2, 200), y: box.top + box.height / 2};
}

async function click(page, wanted) {
    const at = await page.evaluate(middleOf, wanted);
    if (!at) throw new Error(`nothing is ${JSON.stringify(wanted)}`);
    await page.mouse.click(at.x, at.y);
}

// The focused element, as a screen reader names it. Runs in the page.
function focusOfPage() {
    const at = document.activeElement;
    return [at.getAttribute('role') || at.tagName.toLowerCase(), at.getAttribute('aria-label') || at.title || at.textContent.slice(0, 40)].join(' ');
}

const STEPS = {
    key: ({page}, key) => press(page, key),
    type: ({page}, text) => page.keyboard.type(text),
    tab: ({page}, text) => click(page, {selector: '[role=tab]', text}),
    row: ({page}, title) => click(page, {selector: 'tr[data-func] td.name', title}),
    click: ({page}, selector) => click(page, {selector}),
    drag: async ({page}, from, to) => {
        const box = await page.evaluate(() => { const {x, y, width} = document.querySelector('.times').getBoundingClientRect(); return {x, y, width}; });
        await page.mouse.move(box.x + box.width * from, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * to, box.y + 40, {steps: 4});
        await page.mouse.up();
    },
    point: async ({page}, at, y) => {
        const box = await page.evaluate(() => { const {x, y, width} = document.querySelector('.times').getBoundingClientRect(); return {x, y, width}; });
        await page.mouse.move(box.x + box.width * at, box.y + y);
    },
    reload: async ({page}) => {
        await page.reload();
        await page.waitForFunction(READY);
    },
    facts: async ({page, result}, label) => {
        await settle(page);
        result.facts[label] = await page.evaluate(factsOfPage);
    },
    focus: async ({page, result}, label) => { result.facts[label] = await page.evaluate(focusOfPage); },
    // The elements that Tab focuses, until it leaves the page or reaches one of them again.
    tour: async ({page, result}, label, most) => {
        const seen = [];
        await page.evaluate(() => document.activeElement.blur());
        for (let i = 0; i < most; i++) {
            await press(page, 'Tab');
            const name = await page.evaluate(focusOfPage);
            if (name.startsWith('body') || seen[0] === name && i > 3) break;
            seen.push(name);
        }
        result.facts[label] = seen;
    },
    // The text of the first visible element that matches, its place, and whether a click reaches it.
    read: async ({page, result}, label, selector) => {
        await settle(page);
        result.facts[label] = await page.evaluate((wanted) => {
            const found = [...document.querySelectorAll(wanted)].find((element) => element.getClientRects().length);
            if (!found) return null;
            const {left, right, top, bottom} = found.getBoundingClientRect();
            return {text: found.textContent.replace(/\u2009/g, ' '), scrollTop: found.scrollTop, left, right, reached: found.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))};
        }, selector);
    },
    tsv: async ({page, result}, label) => { result.facts[label] = await page.evaluate(() => perfray.tsv()); },
    svg: async ({page, result}, label) => { result.facts[label] = await page.evaluate(() => perfray.svg()); },
    snapshot: async ({snapshot, result}, label) => { if (snapshot) result.facts[label] = await snapshot(); },
};

function listen(page, result) {
    page.on('console', (message) => result.messages.push(message.text()));
    page.on('pageerror', (error) => result.messages.push(String(error.stack || error)));
    page.on('dialog', (dialog) => { result.messages.push('dialog: ' + dialog.message()); dialog.dismiss(); });
    page.on('request', (request) => { if (!/^(data|blob):/.test(request.url())) result.requests.push(request.url().replace(/#.*/, '')); });
}

async function run(browser, job) {
    const opened = await browser.open(job), {page} = opened, result = {name: job.name, facts: {}, messages: [], requests: []}, began = Date.now();
    listen(page, result);
    await opened.goto('file://' + job.file + (job.hash || ''));
    await page.waitForFunction(READY, {timeout: 60000}).catch(() => result.messages.push('the page is not ready after 60 s'));
    for (const [step, ...words] of job.steps || []) {
        await STEPS[step]({...opened, result}, ...words).catch((error) => result.messages.push(`step ${step} ${words}: ${error.message.slice(0, 300)}`));
    }
    if (job.shot) await page.screenshot({path: job.shot});
    result.ms = Date.now() - began;
    await opened.close();
    return result;
}

(async () => {
    const jobs = JSON.parse(fs.readFileSync(jobsFile, 'utf8')), results = [], browser = await start(kind, module_, program);
    for (const job of jobs) results.push(await run(browser, job));
    await browser.close();
    process.stdout.write(JSON.stringify(results));
})().catch((error) => {
    process.stderr.write(String(error.stack || error) + '\n');
    process.exit(1);
});
