"""What browsers are given: viser's page with a script ahead of it, for pictures that are late as little as they can be.

The script does three things that viser offers no setting for:

- Where WebGL is drawn by the processor, edges are not smoothed (multisampling costs more than all the rest there).
- Messages are shown as they come. viser's page spreads them evenly, by which a picture may wait up to 100 ms.
- It says to the server how long this browser takes from picture to picture, and whether it draws by the processor.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPORT = "hydrostat"
"""Key of the report in the page's local storage, as `client.local_storage.get_item` takes it."""
_SCRIPT = """<script>(() => {
  const probe = document.createElement('canvas').getContext('webgl2');
  const info = probe && probe.getExtension('WEBGL_debug_renderer_info');
  const name = info ? probe.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  if (probe) probe.getExtension('WEBGL_lose_context')?.loseContext();
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  if (software) {
    const context = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      return context.call(this, kind, /webgl/.test(kind) ? {...options, antialias: false} : options);
    };
  }
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
  };
  const gaps = [];
  let before = performance.now(), said = before;
  const look = now => {
    gaps.push(now - before);
    before = now;
    if (now - said > 500) {
      said = now;
      const sorted = gaps.splice(0).sort((a, b) => a - b), middle = sorted[sorted.length >> 1];
      try {
        localStorage.setItem('viser-user:%s', JSON.stringify({software, frame_ms: middle}));
      } catch (refused) {}
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();</script>"""


def with_script(page: str) -> str:
    """viser's page with the script ahead of everything that it loads."""
    begin = page.index("<head>") + len("<head>")
    return page[:begin] + _SCRIPT % REPORT + page[begin:]


@contextmanager
def served() -> Iterator[None]:
    """While this is open, servers of viser that start serve the page with the script.

    viser has no argument for the folder that it serves, and reads it when it starts.
    """
    from viser import infra

    original = infra.WebsockServer

    class Server(original):
        """A server whose page lies in a folder of its own, which goes when it stops."""

        def __init__(self, *args, http_server_root: Path, **options):
            self._folder = Path(tempfile.mkdtemp(prefix="hydrostat-page-"))
            shutil.copytree(http_server_root, self._folder, dirs_exist_ok=True)
            page = self._folder / "index.html"
            page.write_text(with_script(page.read_text(encoding="utf-8")), encoding="utf-8")
            super().__init__(*args, http_server_root=self._folder, **options)

        def stop(self) -> None:
            """Stop, and take the folder away."""
            super().stop()
            shutil.rmtree(self._folder, ignore_errors=True)

    infra.WebsockServer = Server  # type: ignore[misc]
    try:
        yield
    finally:
        infra.WebsockServer = original  # type: ignore[misc]
