// SPDX-License-Identifier: Apache-2.0
// flame_page.js PLAYWRIGHT BROWSER PLAIN HOSTILE UPWARD SHOT - flame graphs in a browser, through the package playwright-core.
//
// PLAIN is the flame graph of a recording of main, sieve, scramble and measure; in HOSTILE, function names are markup and
// scripts; UPWARD is PLAIN with --upward. Prints `ok NAME` or `not ok NAME REASON` for each check. SHOT: file for a screenshot
// of PLAIN.
"use strict";
const fs = require("fs");
const path = require("path");
const [packageFolder, browserPath, plain, hostile, upward, shot] = process.argv.slice(2);
const { chromium } = require(path.resolve(packageFolder));

let failed = 0;
function tell(name, isGood, why) {
    failed += isGood ? 0 : 1;
    console.log(isGood ? "ok " + name : "not ok " + name + " " + why);
}
function same(name, found, expected) {
    tell(name, JSON.stringify(found) === JSON.stringify(expected), JSON.stringify(found) + " is not " + JSON.stringify(expected));
}

// Opens a flame graph and records dialogs, requests, console messages, errors and popups; it must cause none of these.
async function open(browser, file, options) {
    const page = await (await browser.newContext({viewport: {width: 1300, height: 500}, ...options})).newPage();
    const noted = [];
    page.on("dialog", dialog => { noted.push("dialog " + dialog.message()); dialog.dismiss(); });
    page.on("request", request => { if (request.url() !== "file://" + file) noted.push("request " + request.url()); });
    page.on("console", message => noted.push("console " + message.text()));
    page.on("pageerror", error => noted.push("error " + error.message));
    page.on("popup", () => noted.push("popup"));
    await page.goto("file://" + file);
    return {page, noted};
}

// [name, left, width] in pixels of what is shown, and what is written into it.
function shown(page) {
    return page.evaluate(() => Array.from(document.querySelectorAll(".frames > svg"))
        .filter(each => each.getAttribute("display") !== "none")
        .map(each => {
            const box = each.querySelector("rect").getBoundingClientRect();
            return {name: each.querySelector("title").textContent.split("\n")[0], left: Math.round(box.left),
                width: Math.round(box.width), text: each.querySelector("text").textContent, hit: each.classList.contains("hit")};
        }));
}

async function click(page, name) {
    const index = (await page.evaluate(() => Array.from(document.querySelectorAll(".frames > svg"))
        .map(each => each.querySelector("title").textContent.split("\n")[0]))).indexOf(name);
    const box = await page.locator(".frames > svg > rect").nth(index).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
}

const named = (boxes, name) => boxes.find(box => box.name === name);
const text = (page, what) => page.locator(what).textContent();

async function checkPlain(browser) {
    const {page, noted} = await open(browser, plain, {});
    same("title", [await page.title(), await text(page, ".head")], ["Flame graph", "Flame graph"]);
    const before = await shown(page);
    same("boxes", before.map(box => box.name), ["all", "busy", "[libc.so.6]", "main", "measure", "scramble", "sieve"]);
    same("width", [before[0].left, before[0].width], [12, 1276]);
    tell("order", named(before, "measure").left < named(before, "scramble").left
        && named(before, "scramble").left < named(before, "sieve").left, "boxes are not side by side");
    await page.locator(".frames > svg > rect").nth(6).hover();
    same("details", await text(page, ".details"), "sieve   busy   166 samples, 55.15 %");

    await click(page, "scramble");
    const zoomed = await shown(page);
    same("zoom", zoomed.map(box => [box.name, box.left, box.width]),
        ["all", "busy", "[libc.so.6]", "main", "scramble"].map(name => [name, 12, 1276]));
    same("reset is offered", await page.locator(".reset").getAttribute("display"), "inline");
    await page.locator(".reset").click();
    same("reset", await shown(page), before);
    await click(page, "sieve");
    await page.keyboard.press("Escape");
    same("escape resets", await shown(page), before);

    await page.keyboard.press("/");
    await page.keyboard.type("s");
    same("search", (await shown(page)).filter(box => box.hit).map(box => box.name),
        ["busy", "[libc.so.6]", "measure", "scramble", "sieve"]);
    same("matched counts once", await text(page, ".matched"), "matched: 100.00 %");
    await page.keyboard.type("[ci]");
    same("pattern", (await shown(page)).filter(box => box.hit).map(box => box.name), ["scramble", "sieve"]);
    same("matched", await text(page, ".matched"), "matched: 86.38 %");
    await page.screenshot({path: shot});
    await page.keyboard.press("Escape");
    same("escape clears", [(await shown(page)).filter(box => box.hit).length, await text(page, ".matched")], [0, ""]);

    await page.setViewportSize({width: 300, height: 400});
    await page.waitForFunction(() => parseFloat(document.querySelector(".frames").getAttribute("width")) < 300, null,
        {timeout: 20000}).catch(() => {}); // the browser tells of it when it likes
    const narrow = await shown(page);
    tell("text fits", narrow.every(box => box.text.length * 7 <= box.width + 7), JSON.stringify(narrow));
    same("narrow", [narrow[0].width, named(narrow, "measure").text, named(narrow, "sieve").text], [276, "me..", "sieve"]);
    same("quiet", noted, []);
}

// Positions of the header and footer in a window that is less high than the flame graph.
function pinned(page) {
    return page.evaluate(() => {
        const edge = name => document.querySelector(name + " > .page").getBoundingClientRect();
        return {y: Math.round(window.scrollY), top: Math.round(edge(".top").top),
            below: Math.round(edge(".bottom").bottom - document.documentElement.clientHeight)};
    });
}

async function scrollTo(page, y) {
    await page.evaluate(to => new Promise(done => { window.scrollTo(0, to); requestAnimationFrame(() => requestAnimationFrame(done)); }), y);
}

async function checkPinned(browser) {
    const low = {viewport: {width: 900, height: 150}};
    const {page, noted} = await open(browser, plain, low);
    same("opens at the whole", await pinned(page), {y: 0, top: 0, below: 0});
    await scrollTo(page, 40);
    same("head and foot stay", await pinned(page), {y: 40, top: 0, below: 0});
    const flames = await open(browser, upward, low);
    await scrollTo(flames.page, 10000);
    const end = await pinned(flames.page);
    same("flames open at the whole", [(await pinned((await open(browser, upward, low)).page)).y, end.top, end.below], [end.y, 0, 0]);
    const order = async of => (await of.evaluate(() => Array.from(document.querySelectorAll(".frames > svg"))
        .map(each => each.getBoundingClientRect().top))).slice(0, 3);
    const down = await order(page), up = await order(flames.page);
    tell("direction", down[0] < down[1] && down[1] < down[2] && up[0] > up[1] && up[1] > up[2], JSON.stringify([down, up]));
    same("quiet while scrolled", [noted, flames.noted], [[], []]);
}

async function checkShot(browser) {
    const page = await (await browser.newContext()).newPage();
    const colours = await page.evaluate(async data => {
        const image = new Image();
        image.src = "data:image/png;base64," + data;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = image.width;
        canvas.height = image.height;
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
        return new Set(pixels).size;
    }, fs.readFileSync(shot).toString("base64"));
    tell("painted", colours > 50, colours + " colours");
}

async function checkDark(browser) {
    const colour = async scheme => (await open(browser, plain, {colorScheme: scheme})).page
        .evaluate(() => getComputedStyle(document.querySelector(".page")).fill);
    same("dark", [await colour("light"), await colour("dark")], ["rgb(252, 252, 250)", "rgb(23, 25, 29)"]);
}

async function checkHostile(browser) {
    const {page, noted} = await open(browser, hostile, {});
    const names = (await shown(page)).map(box => box.name);
    tell("hostile names are shown", ["<script>", "onload", "]]>", "&amp;", "javascript:"].every(
        part => names.some(name => name.includes(part))), JSON.stringify(names).slice(0, 400));
    same("one script", await page.evaluate(() => document.querySelectorAll("script").length), 1);
    same("no element of theirs", await page.evaluate(() => document.querySelectorAll(
        "image, img, a, iframe, animate, set, use, object, embed, .frames > svg svg").length), 0);
    same("no attribute of theirs", await page.evaluate(() => Array.from(document.querySelectorAll("*")).filter(
        each => Array.from(each.attributes).some(attribute => /^on|href/i.test(attribute.name))).length), 0);
    for (const name of names.slice(1)) {
        await click(page, name).catch(() => {});
        await page.keyboard.press("Escape");
    }
    for (const term of ["<script>", "(", "[", "\\", "on.*=", "</title>"]) {
        await page.keyboard.press("/");
        await page.keyboard.type(term);
        await page.keyboard.press("Escape");
    }
    await page.waitForTimeout(300);
    same("hostile names do nothing", noted, []);
    same("nothing ran", await page.evaluate(() => typeof window.owned), "undefined");
}

async function main() {
    const browser = await chromium.launch({executablePath: browserPath, args: ["--headless", "--no-sandbox", "--disable-gpu",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"]});
    try {
        for (const check of [checkPlain, checkPinned, checkShot, checkDark, checkHostile])
            await check(browser);
    } finally {
        await browser.close();
    }
    process.exit(failed ? 1 : 0);
}

main().catch(error => { console.log("not ok run " + String(error.message).split("\n")[0]); process.exit(1); });
