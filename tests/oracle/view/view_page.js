// SPDX-License-Identifier: Apache-2.0
// usage: view_page.js PLAYWRIGHT CHROMIUM JOBS.json - drives pages of `perfray view` and prints what they say as JSON.
//
// JOBS.json is a list of {name, file, steps, shot, width, height, scheme}. A step is a list: ["key", KEY], ["type", TEXT],
// ["tab", NAME], ["click", ROLE, NAME], ["row", FUNCTION], ["reload"], ["undo"], ["facts", LABEL]. Each result has the
// facts that steps asked for, and what must not be there: console messages, page errors, requests other than the page.
'use strict';
const fs = require('fs');
const [playwright, chromium, jobsFile] = process.argv.slice(2);
const {chromium: browserType} = require(playwright);

const READY = () => Boolean(document.documentElement.dataset.ready);

// What a page says about itself. Runs in the page.
function factsOfPage() {
    const rows = [...document.querySelectorAll('.latencies tbody tr')].map((row) => ({
        name: row.querySelector('.name').title, values: [...row.querySelectorAll('.number')].map((cell) => Number(cell.dataset.value))}));
    return {ready: document.documentElement.dataset.ready, owned: window.owned, title: document.title,
            quality: window.perfray && window.perfray.quality,
            answer: (document.getElementById('answer') || {}).textContent, losses: (document.getElementById('losses') || {}).textContent,
            hash: location.hash, found: (document.getElementById('found') || {}).textContent, latencies: rows,
            chips: [...document.querySelectorAll('.chip > span')].map((chip) => chip.textContent),
            state: window.perfray && window.perfray.state, total: window.perfray && window.perfray.total, rows: window.perfray && window.perfray.rows,
            table: window.perfray && window.perfray.table, boxes: window.perfray && window.perfray.boxes, svg: window.perfray && window.perfray.svg().length,
            tree: [...document.querySelectorAll('[role=treeitem]')].slice(0, 40).map((item) => item.textContent),
            empty: [...document.querySelectorAll('.empty')].filter((e) => !e.hidden && e.offsetParent).map((e) => e.textContent)};
}

const STEPS = {
    key: (page, key) => page.keyboard.press(key),
    type: (page, text) => page.keyboard.type(text),
    tab: (page, name) => page.getByRole('tab', {name, exact: true}).click(),
    click: (page, role, name) => page.getByRole(role, {name, exact: true}).first().click(),
    starts: (page, role, name) => page.getByRole(role, {name: new RegExp('^' + name)}).first().click(),
    row: (page, name) => page.locator(`tr[data-func] td.name[title="${name}"]`).first().click(),
    drag: async (page, from, to) => {
        const box = await page.locator('.times').boundingBox();
        await page.mouse.move(box.x + box.width * from, box.y + 40);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * to, box.y + 40, {steps: 4});
        await page.mouse.up();
    },
    reload: async (page) => {
        await page.reload();
        await page.waitForFunction(READY);
    },
};

async function run(browser, job) {
    const context = await browser.newContext({viewport: {width: job.width || 1440, height: job.height || 900}, colorScheme: job.scheme || 'light', offline: true});
    const page = await context.newPage(), result = {name: job.name, facts: {}, messages: [], requests: []};
    page.on('console', (message) => result.messages.push(message.text()));
    page.on('pageerror', (error) => result.messages.push(String(error.stack || error)));
    page.on('dialog', (dialog) => { result.messages.push('dialog: ' + dialog.message()); dialog.dismiss(); });
    page.on('request', (request) => { if (!/^(data|blob):/.test(request.url())) result.requests.push(request.url()); });
    await page.goto('file://' + job.file);
    await page.waitForFunction(READY, null, {timeout: 60000}).catch(() => result.messages.push('the page is not ready after 60 s'));
    for (const [step, ...words] of job.steps || []) {
        if (step === 'facts') result.facts[words[0]] = await page.evaluate(factsOfPage);
        else await STEPS[step](page, ...words).catch((error) => result.messages.push(`step ${step} ${words}: ${error.message.slice(0, 300)}`));
    }
    if (job.shot) await page.screenshot({path: job.shot});
    await context.close();
    return result;
}

(async () => {
    const jobs = JSON.parse(fs.readFileSync(jobsFile, 'utf8')), results = [];
    const browser = await browserType.launch({executablePath: chromium, args: ['--no-sandbox']});
    for (const job of jobs) results.push(await run(browser, job));
    await browser.close();
    process.stdout.write(JSON.stringify(results));
})().catch((error) => {
    process.stderr.write(String(error.stack || error) + '\n');
    process.exit(1);
});
