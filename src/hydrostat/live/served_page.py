"""What browsers are given: viser's page with a script ahead of it, for pictures that are late as little as they can be.

The script does what viser offers no setting for:

- Messages are shown as they come. viser's page spreads them evenly, by which a picture may wait up to 100 ms; and it
  takes them in when it draws a frame, by which streamed vertices are seen in the frame after that. They are taken in on
  arrival, as viser's page does in a hidden tab.
- It says to the server when a picture is drawn, how long this browser takes from picture to picture, and whether it
  draws by the processor.
- Where WebGL is drawn by the processor, the scene is drawn once for each picture, and as the user moves the camera or
  a handle; else ten times a second. viser's page draws for a quarter of a second after each message, which keeps a
  slow browser busy with pictures that show nothing new while what is new waits. Edges are not smoothed there
  (multisampling costs more than all the rest).
- There, too, what a user does is seen in the next picture that is drawn: those that were under way before are not
  begun while the one that shows it, which the server marks, is about to come.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hydrostat.live.own_requests import guarded

REPORT = "hydrostat"
"""Key of the report in the page's local storage, as `client.local_storage.get_item` takes it."""
ANSWER = "/answer"
"""Name of the node in the scene that is moved by pictures that show what a user has done."""
_folders: set[Path] = set()  # of the pages of servers that have not stopped
_SCRIPT = """<script>(() => {
  const probe = document.createElement('canvas').getContext('webgl2');
  const info = probe && probe.getExtension('WEBGL_debug_renderer_info');
  const name = info ? probe.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  if (probe) probe.getExtension('WEBGL_lose_context')?.loseContext();
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  const askFrame = window.requestAnimationFrame.bind(window), cancelFrame = window.cancelAnimationFrame.bind(window);
  const hidden = Object.getOwnPropertyDescriptor(Document.prototype, 'hidden').get.bind(document);
  const isSeen = message => !/^Gui|^LocalStorage|Notification/.test(message.type);
  let arriving = false;  // while messages of the server are taken in
  let newsAt = 0, drawnAt = 0, news = () => {};  // called when there is something new to draw
  let did = () => {};  // called when the user has done something
  const isDone = message => /^(Gui|TransformControls|Scene)/.test(message?.type);
  const drawn = new MessageChannel(), answers = [];
  const answer = () => { for (const send of answers.splice(0)) send(); };
  drawn.port1.onmessage = answer;

  // The only short waits of viser's worker are those by which it spreads messages.
  const ahead = 'const wait = self.setTimeout;' +
    'self.setTimeout = (call, ms, ...rest) => ms < 150 ? (queueMicrotask(call), 0) : wait(call, ms, ...rest);';
  const BrowserWorker = window.Worker;
  window.Worker = class extends BrowserWorker {
    constructor(address, options) {
      const quoted = JSON.stringify(String(address));
      const load = options && options.type === 'module' ? `import ${quoted};` : `importScripts(${quoted});`;
      super(URL.createObjectURL(new Blob([ahead + load], {type: 'text/javascript'})), options);
    }
    set onmessage(take) {
      super.onmessage = event => {
        const messages = event.data?.type === 'message_batch' ? event.data.messages : [];
        const seen = messages.some(isSeen), camera = messages.some(one => /Camera/.test(one.type));
        if (seen) newsAt = performance.now();
        arriving = true;
        try { take.call(this, event); } finally { arriving = false; }
        if (seen) news(camera, messages.some(one => one.name === '%s'));
      };
    }
    postMessage(data, ...rest) {
      const send = () => super.postMessage(data, ...rest);
      if (data.type === 'send' && isDone(data.message)) did();
      const isReport = data.message?.type === 'LocalStorageGetItemResponseMessage';
      // A hidden tab draws nothing and answers late: it is not to be the fastest page, for which others are drawn.
      if (isReport && arriving && newsAt > drawnAt) {
        if (!answers.length) setTimeout(answer, 200);
        answers.push(send);
      } else send();
    }
  };
  Object.defineProperty(document, 'hidden', {configurable: true, get: () => arriving || hidden()});

  // Times from picture to picture while they follow one another, and the report that the server asks for.
  const gaps = [];
  let drew = false, before = -Infinity, said = -Infinity;
  const report = now => {
    if (now - before < 250) gaps.push(now - before);
    before = now;
    if (now - said < 500) return;
    said = now;
    const sorted = gaps.splice(0).sort((a, b) => a - b), middle = sorted[sorted.length >> 1] || 0;
    try {
      localStorage.setItem('viser-user:%s', JSON.stringify({software, frame_ms: middle}));
    } catch (refused) {}
  };
  const clear = WebGL2RenderingContext.prototype.clear;
  WebGL2RenderingContext.prototype.clear = function (mask) { drew = true; return clear.call(this, mask); };
  const drawing = new WeakSet();  // calls that draw the scene
  const followed = call => now => {
    const begun = performance.now();
    drew = false;
    call(now);
    if (!drew) return;
    drawing.add(call);
    drawnAt = begun;
    drawn.port2.postMessage(0);
    report(now);
  };
  if (software) {
    const context = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      return context.call(this, kind, /webgl/.test(kind) ? {...options, antialias: false} : options);
    };
    const held = new Map();  // by numbers that are none of the browser's, nor the -1 of those who have asked for none
    let count = 2 ** 30, fresh = true, lively = 0, timer = 0, asked = 0;
    // Until when the picture that shows what the user has done is awaited. After that one is drawn in any case.
    let awaited = 0, marks = false, mayAwait = true;
    const isAwaited = () => {
      const left = awaited - performance.now();
      if (left > 0 && !timer) timer = setTimeout(release, left + 1);
      return left > 0;
    };
    did = () => { if (marks && mayAwait) { awaited = performance.now() + 50; mayAwait = false; } };
    const release = () => {
      clearTimeout(timer);
      timer = 0;
      if (asked || !held.size || isAwaited()) return;
      asked = askFrame(now => {
        asked = 0;
        if (isAwaited()) return;
        fresh = false;
        mayAwait = true;
        const calls = [...held.values()];
        held.clear();
        for (const call of calls) followed(call)(now);
      });
    };
    news = (camera, answers) => {
      fresh = true;
      if (answers) { marks = true; awaited = 0; }
      camera ? move(1500) : release();
    };
    const move = ms => { lively = performance.now() + ms; release(); };
    for (const kind of 'pointerdown pointermove pointerup wheel keydown keyup resize touchmove'.split(' ')) {
      window.addEventListener(kind, () => move(600), {capture: true, passive: true});
    }
    window.requestAnimationFrame = call => {
      if (!drawing.has(call)) return askFrame(followed(call));
      held.set(++count, call);
      if (fresh || performance.now() < lively) release();
      else if (!timer) timer = setTimeout(release, 100);
      return count;
    };
    window.cancelAnimationFrame = number => { if (!held.delete(number)) cancelFrame(number); };
  } else {
    window.requestAnimationFrame = call => askFrame(followed(call));
  }
})();</script>"""


def with_script(page: str) -> str:
    """viser's page with the script ahead of everything that it loads."""
    begin = page.index("<head>") + len("<head>")
    return page[:begin] + _SCRIPT % (ANSWER, REPORT) + page[begin:]


def copied(root: Path) -> Path:
    """A new folder with the page that lies in a folder, and the script in it; `remove_folders` takes it away.

    Contents alone are copied, not modes: where packages are installed to be read only, so would be the copy.
    """
    folder = Path(tempfile.mkdtemp(prefix="hydrostat-page-"))
    _folders.add(folder)
    for file in root.rglob("*"):
        if file.is_file():
            copy = folder / file.relative_to(root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    page = folder / "index.html"
    page.write_text(with_script(page.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def remove_folders() -> None:
    """Take away the folders of all pages: for a program that is about to end without stopping its servers."""
    for folder in list(_folders):
        _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _folders.discard(folder)


@contextmanager
def served() -> Iterator[None]:
    """While this is open, servers of viser that start serve the page with the script, and answer to it alone.

    viser has no argument for the folder that it serves nor for whom it answers, and reads both when it starts.
    """
    from viser import infra
    from websockets.asyncio import server

    original, serve = infra.WebsockServer, server.serve

    def serve_ours(*args, process_request, **options):
        return serve(*args, process_request=guarded(process_request), **options)

    class Server(original):
        """A server whose page lies in a folder of its own, which goes when it stops."""

        def __init__(self, *args, http_server_root: Path, **options):
            self._folder = copied(http_server_root)
            super().__init__(*args, http_server_root=self._folder, **options)

        def stop(self) -> None:
            """Stop, and take the folder away."""
            super().stop()
            _remove(self._folder)

    infra.WebsockServer = Server  # type: ignore[misc]
    server.serve = serve_ours  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        infra.WebsockServer, server.serve = original, serve  # type: ignore[misc]
