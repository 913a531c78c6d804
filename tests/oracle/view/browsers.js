// SPDX-License-Identifier: Apache-2.0
// Chromium (playwright-core) or Firefox (puppeteer-core), with one interface for pages, mouse and keyboard.
'use strict';

// {open(job), close()}: open gives {page, close, setSize}.
async function startChromium(module, program) {
    const browser = await require(module).chromium.launch({executablePath: program, args: ['--no-sandbox']});
    return {
        close: () => browser.close(),
        open: async (job) => {
            const context = await browser.newContext({viewport: {width: job.width || 1440, height: job.height || 900}, colorScheme: job.scheme || 'light', offline: true,
                                                      forcedColors: job.forced ? 'active' : 'none', reducedMotion: 'reduce', acceptDownloads: true});
            const page = await context.newPage();
            return {page, close: () => context.close(), goto: (url) => page.goto(url), snapshot: () => page.locator('body').ariaSnapshot()};
        },
    };
}

async function startFirefox(module, program) {
    const browser = await require(module).launch({browser: 'firefox', executablePath: program, headless: true, timeout: 120000});
    return {
        close: () => browser.close(),
        open: async (job) => {
            const page = await browser.newPage();
            await page.setViewport({width: job.width || 1440, height: job.height || 900});
            return {page, close: () => page.close(), goto: (url) => page.goto(url, {waitUntil: 'load'}), snapshot: null};
        },
    };
}

// In 'Control+Shift+z' the last key is pressed while the others are held; '+' is the key +.
async function press(page, combination) {
    const parts = combination.length > 1 ? combination.split('+') : [combination], key = parts.pop();
    for (const held of parts) await page.keyboard.down(held);
    await page.keyboard.press(key);
    for (const held of parts.reverse()) await page.keyboard.up(held);
}

module.exports = {press, start: (kind, module, program) => (kind === 'firefox' ? startFirefox : startChromium)(module, program)};
