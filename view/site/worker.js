// worker runs the program in its own thread, so that the program cannot block the page.
import "./wasm_exec.js";

const early = []; // messages that arrive before the program listens
let listen;

// kinform is the program's interface to the page. listen sets the function that gets each message,
// and say sends a message.
globalThis.kinform = {
  listen(f) { listen = f; for (const m of early.splice(0)) f(m); },
  say(message, transfer) { postMessage(message, transfer); },
};

onmessage = ({ data }) => {
  if (data.program) start(data).then((text) => postMessage({ ended: text }), (e) => postMessage({ ended: e.message }));
  else if (listen) listen(data);
  else early.push(data);
};

async function start({ program, size }) {
  const answer = await fetch(new URL(program, import.meta.url));
  if (!answer.ok) throw new Error(`the program could not be loaded: ${answer.status} ${answer.statusText}`);
  const code = new Response(await plain(counted(answer.body, size)), { headers: { "Content-Type": "application/wasm" } });
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiateStreaming(code, go.importObject);
  postMessage({ progress: "the program starts" });
  await go.run(instance);
  return "the program has ended: reload the page to start it again";
}

// counted reports to the page how many bytes have arrived.
function counted(body, size) {
  let arrived = 0, said = 0;
  return body.pipeThrough(new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      arrived += chunk.length;
      const percent = Math.min(Math.floor((100 * arrived) / size), 100);
      if (percent >= said + 5) postMessage({ progress: `loading the program: ${(said = percent)} % of ${(size / 1e6).toFixed(1)} MB` });
    },
  }));
}

// plain decompresses the body. If the host's headers have made the browser decompress it already,
// plain returns it unchanged.
async function plain(body) {
  const reader = body.getReader(), first = await reader.read();
  const whole = new ReadableStream({
    start(controller) { if (!first.done) controller.enqueue(first.value); },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close(); else controller.enqueue(value);
    },
  });
  return first.value?.[0] === 0x1f ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}
