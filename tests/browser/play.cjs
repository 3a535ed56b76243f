// Opens an exported page in a headless browser without network, uses it as a person would, and prints what was seen as
// JSON:   node play.cjs BROWSER PAGE FOLDER-FOR-SCREENSHOTS
const path = require("path");
const { pathToFileURL } = require("url");
const { chromium } = require("playwright-core");

const [executablePath, page_file, folder] = process.argv.slice(2);
const ARGUMENTS = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];

(async () => {
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const seen = { requests: [], errors: [], shots: {} };
  try {
    const context = await browser.newContext({ viewport: { width: 1100, height: 640 }, offline: true });
    const page = await context.newPage();
    page.on("request", (request) => request.url().startsWith("data:") || seen.requests.push(request.url()));
    page.on("pageerror", (error) => seen.errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
    await page.goto(pathToFileURL(page_file).href);
    await page.waitForSelector("html[data-ready=true]", { state: "attached" });

    const time = async () => Number(/t = (\S+) s/.exec(await page.textContent("#time"))[1]);
    const shot = async (name) => {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      const file = path.join(folder, `${name}.png`);
      await page.screenshot({ path: file });
      seen.shots[name] = file;
    };
    const scrub = (fraction) =>
      page.$eval("#scrubber", (range, part) => {
        range.value = part * Number(range.max);
        range.dispatchEvent(new Event("input"));
      }, fraction);

    seen.title = await page.title();
    seen.plots = await page.$$eval("#plots canvas", (plots) => plots.map((plot) => plot.getAttribute("aria-label")));
    await shot("start");

    await page.click("#play");
    await page.waitForFunction(() => Number(document.getElementById("scrubber").value) > 0.3);
    seen.label_while_playing = await page.getAttribute("#play", "aria-label");
    await page.click("#play");
    seen.paused_at = await time();
    await page.waitForTimeout(300);
    seen.still_at = await time();

    await scrub(0.5);
    seen.middle = await time();
    await shot("middle");
    await page.keyboard.press("End");
    seen.end = await time();
    await scrub(0);
    seen.start = await time();

    await page.selectOption("#rate", "4");
    seen.rate = await page.inputValue("#rate");
    const stage = await (await page.$("#scene")).boundingBox();
    const [x, y] = [stage.x + stage.width / 2, stage.y + stage.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 160, y + 40, { steps: 4 });
    await page.mouse.up();
    await shot("orbited");
    await page.click("#fit");
    await shot("back");

    const plot = await page.$("#plots canvas");
    if (plot) {
      const box = await plot.boundingBox();
      await page.mouse.click(box.x + box.width - 13, box.y + box.height / 2);
      seen.clicked = await time();
    }
  } finally {
    await browser.close();
  }
  console.log(JSON.stringify(seen));
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
