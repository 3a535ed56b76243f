// Plays an animated glTF model beside plots of signals. The page carries everything: nothing is fetched.
"use strict";

(async () => {
  const element = (id) => document.getElementById(id);
  const settings = JSON.parse(element("settings").textContent);
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // --- time: one value that everything else follows; seconds of playing time ---------------------------------------

  let time = 0;
  let playing = false;
  const followers = [];

  const modelTime = (t) => settings.start + t * settings.speed;

  function seek(t) {
    time = Math.min(Math.max(t, 0), settings.duration);
    for (const follow of followers) follow();
  }

  function setPlaying(on) {
    playing = on && settings.duration > 0;
    if (playing && time >= settings.duration) seek(0);
    element("play").textContent = playing ? "❚❚" : "▶";
    element("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  // --- the legend of colours -------------------------------------------------------------------------------------

  function makeLegend({ title, ticks, colors }) {
    const legend = element("legend");
    legend.querySelector("figcaption").textContent = title;
    legend.querySelector("i").style.background = `linear-gradient(to top, ${colors.join(", ")})`;
    const numbers = legend.querySelector("ol");
    for (const tick of [...ticks].reverse()) {
      numbers.appendChild(document.createElement("li")).textContent = tick;
    }
    legend.hidden = false;
  }

  if (settings.legend) makeLegend(settings.legend);

  // --- the scene ---------------------------------------------------------------------------------------------------

  const canvas = element("scene");

  function say(message) {
    element("message").textContent = message;
    element("message").hidden = false;
  }

  async function makeScene() {
    const renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true });
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    const scene = new THREE.Scene();
    const up = new THREE.Vector3(...settings.up);
    const [low, high] = settings.bounds.map((corner) => new THREE.Vector3(...corner));
    const size = settings.grid.room || Math.max(high.distanceTo(low), 1e-6);

    const camera = new THREE.PerspectiveCamera(settings.camera.angle, 1, size / 100, size * 20);
    const lamp = new THREE.DirectionalLight(0xffffff, 2.2);
    lamp.position.set(-0.6, 1.2, 1.5);
    camera.add(lamp, lamp.target);
    lamp.target.position.set(0, 0, -1);
    const sky = new THREE.HemisphereLight(0xffffff, 0x9aa5b1, 1.5);
    sky.position.copy(up);
    const grid = makeGrid(low, high);
    scene.add(camera, sky, grid);

    const controls = new THREE.OrbitControls(prepared(camera, up), canvas);
    // Where the camera is meant to look at the present time, and from how far: it goes along with what moves.
    const chosen = () => {
      const { times, focus, distance } = settings.camera;
      const at = (k) => valueAt(times, focus.map((point) => point[k]), time);
      return { focus: new THREE.Vector3(at(0), at(1), at(2)), distance: valueAt(times, distance, time) };
    };
    let last = chosen();
    const lookAgain = () => {
      last = chosen();
      controls.target.copy(last.focus);
      camera.position.set(...settings.camera.towards).multiplyScalar(last.distance).add(last.focus);
      controls.update();
      bringGrid(grid, last.focus);
    };
    // A view that was turned by hand stays turned: what it looks at moves, and it comes nearer in the same measure.
    const goAlong = () => {
      if (settings.camera.times.length < 2) return;
      const now = chosen();
      const arm = camera.position.clone().sub(controls.target).multiplyScalar(now.distance / last.distance);
      controls.target.add(now.focus.clone().sub(last.focus));
      camera.position.copy(controls.target).add(arm);
      last = now;
      controls.update();
      bringGrid(grid, controls.target);
    };

    const bytes = Uint8Array.from(atob(element("motion").textContent), (c) => c.charCodeAt(0));
    const model = await new THREE.GLTFLoader().parseAsync(bytes.buffer, "");
    model.scene.children[0].quaternion.identity(); // glTF turns y up; here the model keeps its own axes
    scene.add(model.scene);
    const mixer = new THREE.AnimationMixer(model.scene);
    const action = model.animations.length ? mixer.clipAction(model.animations[0]).play() : null;

    let stale = true;
    const touch = () => (stale = true);
    controls.addEventListener("change", touch);
    followers.push(() => {
      if (action) action.time = time;
      mixer.update(0);
      goAlong();
      touch();
    });
    new ResizeObserver(() => {
      const { width, height } = element("stage").getBoundingClientRect();
      if (!width || !height) return;
      renderer.setSize(width, height, false);
      camera.aspect = width / height;
      // A window narrower than the view was chosen for sees as much to the sides, and more above and below.
      const half = Math.tan((settings.camera.angle * Math.PI) / 360);
      camera.fov = (360 / Math.PI) * Math.atan(half * Math.max(1, settings.camera.aspect / camera.aspect));
      camera.updateProjectionMatrix();
      touch();
    }).observe(element("stage"));
    element("fit").addEventListener("click", lookAgain);
    lookAgain();
    return () => {
      if (!stale) return;
      stale = false;
      renderer.render(scene, camera);
    };
  }

  function prepared(camera, up) {
    camera.up.copy(up); // OrbitControls reads it when it is made
    return camera;
  }

  function makeGrid(low, high) {
    const size = settings.grid.room || Math.max(high.distanceTo(low), 1e-6);
    const cells = 2 * Math.ceil((0.9 * size) / settings.grid.spacing);
    const line = new THREE.Color(color("--line"));
    const grid = new THREE.GridHelper(cells * settings.grid.spacing, cells, line, line);
    const normal = new THREE.Vector3(...settings.grid.normal);
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const height = new THREE.Vector3(...settings.grid.point).sub(middle).dot(normal);
    grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
    grid.position.copy(middle).addScaledVector(normal, height);
    grid.userData.origin = grid.position.clone();
    return grid;
  }

  // A grid that goes along does so by whole cells, as if it had no end.
  function bringGrid(grid, focus) {
    if (!settings.grid.room) return;
    const local = focus.clone().sub(grid.userData.origin).applyQuaternion(grid.quaternion.clone().invert());
    const step = (x) => Math.round(x / settings.grid.spacing) * settings.grid.spacing;
    grid.position.set(step(local.x), 0, step(local.z)).applyQuaternion(grid.quaternion).add(grid.userData.origin);
  }

  // --- plots -------------------------------------------------------------------------------------------------------

  const CURVES = settings.palette;
  const MARGIN = { left: 62, right: 12, top: 26, bottom: 22 };

  function ticks(low, high, wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5, 10].find((f) => f * power >= rough) || 10);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  const shown = (value) => (Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(4))));

  function valueAt(times, values, t) {
    let low = 0;
    let high = times.length - 1;
    if (high === 0) return values[0];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle;
      else high = middle;
    }
    const span = times[high] - times[low];
    const s = span > 0 ? Math.min(Math.max((t - times[low]) / span, 0), 1) : 0;
    return (1 - s) * values[low] + s * values[high];
  }

  function makePlot(signal) {
    const plot = document.createElement("canvas");
    plot.setAttribute("aria-label", signal.label);
    element("plots").append(plot);
    const pen = plot.getContext("2d");
    const finite = signal.curves.flat().filter(Number.isFinite);
    let low = Math.min(...finite, Infinity);
    let high = Math.max(...finite, -Infinity);
    if (!(low <= high)) [low, high] = [0, 1];
    const slack = 0.06 * (high - low) || 0.06 * Math.abs(high) || 1;
    low -= slack;
    high += slack;
    const [first, last] = [modelTime(0), modelTime(settings.duration)];
    let area = { x: 0, y: 0, width: 1, height: 1 };
    const across = (t) => area.x + (area.width * (t - first)) / (last - first || 1);
    const upward = (value) => area.y + area.height * (1 - (value - low) / (high - low));

    function draw() {
      const { width, height } = plot.getBoundingClientRect();
      const ratio = window.devicePixelRatio;
      plot.width = width * ratio;
      plot.height = height * ratio;
      pen.scale(ratio, ratio);
      area = {
        x: MARGIN.left, y: MARGIN.top,
        width: Math.max(width - MARGIN.left - MARGIN.right, 1), height: Math.max(height - MARGIN.top - MARGIN.bottom, 1),
      };
      pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
      pen.lineWidth = 1;
      drawTicks();
      signal.curves.forEach(drawCurve);
      drawCursor();
    }

    function drawTicks() {
      pen.strokeStyle = color("--line");
      pen.fillStyle = color("--faint");
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      for (const value of ticks(low, high, Math.max(area.height / 40, 2))) {
        line(area.x, upward(value), area.x + area.width, upward(value));
        pen.fillText(shown(value), area.x - 6, upward(value));
      }
      pen.textBaseline = "top";
      pen.textAlign = "center";
      if (last > first) {
        for (const t of ticks(first, last, Math.max(area.width / 80, 2))) {
          line(across(t), area.y, across(t), area.y + area.height);
          pen.fillText(`${shown(t)} s`, across(t), area.y + area.height + 6);
        }
      }
      pen.fillStyle = color("--text");
      pen.textBaseline = "alphabetic";
      pen.textAlign = "left";
      pen.fillText(signal.label, area.x, MARGIN.top - 9);
    }

    function line(x0, y0, x1, y1) {
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
    }

    function drawCurve(values, number) {
      pen.strokeStyle = CURVES[number % CURVES.length];
      pen.lineWidth = 1.5;
      pen.beginPath();
      let down = false;
      values.forEach((value, k) => {
        if (!Number.isFinite(value)) {
          down = false;
          return;
        }
        pen[down ? "lineTo" : "moveTo"](across(signal.times[k]), upward(value));
        down = true;
      });
      pen.stroke();
    }

    function drawCursor() {
      const t = modelTime(time);
      pen.strokeStyle = color("--text");
      pen.lineWidth = 1;
      line(across(t), area.y, across(t), area.y + area.height);
      const values = signal.curves.map((curve) => valueAt(signal.times, curve, t));
      values.forEach((value, number) => {
        pen.fillStyle = CURVES[number % CURVES.length];
        pen.beginPath();
        pen.arc(across(t), upward(value), 3.5, 0, 2 * Math.PI);
        pen.fill();
      });
      pen.fillStyle = color("--text");
      pen.textAlign = "right";
      pen.fillText(values.map(shown).join("   "), area.x + area.width, MARGIN.top - 9);
    }

    function scrubTo(event) {
      if (event.type === "pointerdown") plot.setPointerCapture(event.pointerId);
      else if (!event.buttons) return;
      const fraction = (event.clientX - plot.getBoundingClientRect().left - area.x) / area.width;
      setPlaying(false);
      seek(fraction * settings.duration);
    }

    plot.addEventListener("pointerdown", scrubTo);
    plot.addEventListener("pointermove", scrubTo);
    followers.push(draw);
    new ResizeObserver(draw).observe(plot);
  }

  // --- controls ----------------------------------------------------------------------------------------------------

  const scrubber = element("scrubber");
  element("time").hidden = !settings.showTime;
  scrubber.max = settings.duration || 1;
  scrubber.disabled = element("play").disabled = !settings.duration;
  followers.push(() => {
    scrubber.value = time;
    element("time").textContent = `t = ${modelTime(time).toFixed(settings.digits)} s`;
  });
  scrubber.addEventListener("input", () => {
    setPlaying(false);
    seek(Number(scrubber.value));
  });
  element("play").addEventListener("click", () => setPlaying(!playing));
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("select") || (event.key === " " && event.target.closest("button"))) return;
    const actions = {
      " ": () => setPlaying(!playing),
      ArrowRight: () => (setPlaying(false), seek(time + 1 / settings.fps)),
      ArrowLeft: () => (setPlaying(false), seek(time - 1 / settings.fps)),
      Home: () => seek(0),
      End: () => seek(settings.duration),
      f: () => element("fit").click(),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });

  // --- begin -------------------------------------------------------------------------------------------------------

  setPlaying(false);
  settings.signals.forEach(makePlot);
  let render = () => {};
  try {
    render = await makeScene();
  } catch (error) {
    say(`The model cannot be drawn (${error.message}). The page needs a browser with WebGL 2.`);
  }
  seek(0);
  let before = performance.now();
  (function frame(now) {
    if (playing) {
      const elapsed = Math.max(now - before, 0) / 1000;
      seek(time + elapsed * Number(element("rate").value));
      if (time >= settings.duration) seek(0);
    }
    before = now;
    render();
    requestAnimationFrame(frame);
  })(before);
  document.documentElement.dataset.ready = "true";
})();
